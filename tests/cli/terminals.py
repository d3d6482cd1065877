"""A person in front of a terminal: types, reads, resizes the window, closes it. The terminal is a real one."""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping
from contextlib import suppress

DEADLINE = 60.0
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\r")
CTRL_C, CTRL_D, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x04", "\x1a", "\x1c"


class Person:
    """A command on a terminal of its own, and who types there. Whatever happens, it is gone when the block is left."""

    def __init__(self, *argv: str, env: Mapping[str, str], size: tuple[int, int] = (24, 80)) -> None:
        self._ours, theirs = os.openpty()
        self.resize(*size)
        self.process = subprocess.Popen(
            argv,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env=env,
        )
        os.close(theirs)
        self._seen = b""
        self._read = b""

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def read(self, wanted: str) -> str:
        """What comes on the screen up to some words, which have to come."""
        give_up = time.monotonic() + DEADLINE
        while wanted.encode() not in (seen := ESCAPES.sub(b"", self._seen)):
            assert time.monotonic() < give_up, f"{wanted!r} did not come: {seen!r}"
            if select.select([self._ours], [], [], 0.1)[0]:
                self._seen += self._read_some(wanted)
        before, _, self._seen = seen.partition(wanted.encode())
        self._read += before + wanted.encode()
        return before.decode()

    @property
    def all_seen(self) -> str:
        """Everything that came on the screen up to the last words that were read."""
        return self._read.decode()

    def _read_some(self, wanted: str) -> bytes:
        try:
            return os.read(self._ours, 65_536)
        except OSError:
            raise AssertionError(f"{wanted!r} did not come before the end: {self._seen!r}") from None

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, as a shell expects it."""
        return bool(termios.tcgetattr(self._ours)[3] & termios.ECHO)

    def close_window(self) -> None:
        os.close(self._ours)
        self._ours = -1

    def __enter__(self) -> "Person":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self._ours >= 0:
            self.close_window()
        self.process.wait()
