"""What becomes of a command if we are killed: a shell that waits for our end sees to it.

Who writes to a pipe that nobody reads dies of it, and that we were killed is no reason for a command to end.
"""

import fcntl
import os
import signal
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

from lionstudio.recorders.left_writers import inherited

# It hears of our end as its 3: a line if we are done with the command, nothing if we were killed.
WAIT = "cd /; read -r _ <&3 && exit; exec 3<&-; "
WAKE = '[ -z "$1" ] || kill -CONT "-$1"; '  # a group that stood still because we did
PASS_ON = WAIT + WAKE + "exec cat /dev/fd/4"  # opened anew, because we read it without waiting
TELL_TO_END = WAIT + 'kill -TERM "-$1"; ' + WAKE
ABOVE = 10  # where descriptors are not in the way of those that a shell can name


class LastWill:
    """For a command that lasts; torn up when it has ended."""

    def __init__(self, script: str, *, streams: Mapping[int, int], group: int | None = None) -> None:
        """`streams` says which of our descriptors is which for the shell: 4 is read, and 1 hears it, or nobody."""
        self._words = ["sh", "-c", script, "sh", "" if group is None else str(group)]
        self._streams = streams
        self._pid: int | None = None
        self._control: int | None = None

    def __enter__(self) -> None:
        """From now on it holds. Without a shell, or descriptors for it, there is none, and no harm is done."""
        with suppress(OSError, NotImplementedError), ExitStack() as opened:
            hears, control = os.pipe()
            opened.callback(os.close, hears)
            unless_it_works = opened.enter_context(ExitStack())
            unless_it_works.callback(os.close, control)
            self._pid = _spawn(self._words, {**self._streams, 3: hears})
            self._control = control
            unless_it_works.pop_all()

    def __exit__(self, *_: object) -> None:
        self.tear_up()

    def tear_up(self) -> None:
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
