"""Ctrl-Z: agents stand still while we do, and go on with us.

Each has a session of its own, so the terminal stops us alone. They would go on, and spend, for somebody who believes
that everything stands still.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from lionstudio.engines.engine import Process

OnProcess = Callable[[Process], None]


class Pausing:
    """The agents of this process that are at work."""

    def __init__(self) -> None:
        self._pids: set[int] = set()

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Inside, SIGTSTP stops the agents, too. Only in the main thread; who ignores it goes on ignoring it."""
        if signal.getsignal(signal.SIGTSTP) is not signal.SIG_DFL:
            yield
            return
        signal.signal(signal.SIGTSTP, self._pause)
        try:
            yield
        finally:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)

    @contextmanager
    def joined(self, tell: OnProcess | None) -> Iterator[OnProcess]:
        """Inside, a process that is told is an agent at work; `tell` is told, too."""
        own: list[int] = []

        def begun(process: Process) -> None:
            own.append(process.pid)
            self._pids.add(process.pid)
            if tell is not None:
                tell(process)

        try:
            yield begun
        finally:
            self._pids.difference_update(own)

    def _pause(self, number: int, frame: FrameType | None) -> None:
        self._send(signal.SIGSTOP)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTSTP)  # here we stand still, unless there is no shell that could let us go on
        signal.signal(signal.SIGTSTP, self._pause)
        self._send(signal.SIGCONT)

    def _send(self, number: int) -> None:
        for pid in tuple(self._pids):
            with suppress(ChildProcessError, ProcessLookupError, PermissionError):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # raises where the number is not ours
                os.killpg(pid, number)


pausing = Pausing()
