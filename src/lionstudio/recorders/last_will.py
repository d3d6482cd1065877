"""What becomes of a command if we are killed: a shell that waits for our end sees to it.

Who writes to a pipe that nobody reads dies of it, and that we were killed is no reason for a command to end.
"""

import fcntl
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from lionstudio.recorders.left_writers import inherited

# It hears of our end as its 3: a line if we are done with the command, nothing if we were killed.
WAIT = "cd /; read -r _ <&3 && exit; exec 3<&-; "
PASS_ON = WAIT + "cat /dev/fd/4 5<&- & exec cat /dev/fd/5 4<&- >&2"  # read anew, because we read without waiting
TELL_TO_END = WAIT + 'kill -TERM "-$1"'
ABOVE = 10  # where descriptors are not in the way of those that a shell can name


class LastWill:
    """For a command that lasts; torn up when it has ended."""

    def __init__(self, script: str, *, streams: Mapping[int, int], argument: str = "") -> None:
        """`streams` says which of our descriptors is which for the shell; where 1 and 2 are left out, nobody hears."""
        self._words = ["sh", "-c", script, "sh", argument]
        self._streams = streams
        self._pid: int | None = None
        self._control: int | None = None

    def __enter__(self) -> None:
        """From now on it holds. Without a shell, or descriptors for it, there is none."""
        hears, control = os.pipe()
        try:
            self._pid = _spawn(self._words, {**self._streams, 3: hears})
            self._control = control
        except OSError:
            os.close(control)
        finally:
            os.close(hears)

    def __exit__(self, *_: object) -> None:
        """We are done with the command, or its output is no longer ours to pass on."""
        if self._control is None or self._pid is None:
            return
        with suppress(OSError):
            os.write(self._control, b"\n")
        os.close(self._control)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        self._control = self._pid = None


def _spawn(words: list[str], streams: Mapping[int, int]) -> int:
    """A shell with these descriptors and no other, in a session of its own: keys are not meant for it."""
    copies: dict[int, int] = {}
    try:
        for number, descriptor in streams.items():
            copies[number] = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, ABOVE)
        nobody = [number for number in (0, 1, 2) if number not in streams]
        actions: list[Any] = [
            *((os.POSIX_SPAWN_CLOSE, descriptor) for descriptor in inherited()),
            *((os.POSIX_SPAWN_DUP2, copy, number) for number, copy in copies.items()),
            *((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in nobody),
        ]
        return os.posix_spawn("/bin/sh", words, {}, file_actions=actions, setsigdef=[signal.SIGPIPE], setsid=True)
    finally:
        for copy in copies.values():
            os.close(copy)
