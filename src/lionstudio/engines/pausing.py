"""Ctrl-Z: agents stand still while we do, and go on with us. What else the keys of a terminal mean reaches them, too.

Each has a session of its own, so the terminal stops us alone. They would go on, and spend, for somebody who believes
that everything stands still, or has ended.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from lionstudio.engines.engine import Process
from lionstudio.recorders.running import FORWARDED

OnProcess = Callable[[Process], None]


class Pausing:
    """The agents of this process that are at work."""

    def __init__(self) -> None:
        self._pids: set[int] = set()

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Inside, SIGTSTP stops the agents, too, and signals that mean nothing to us reach them.

        Only in the main thread; who ignores one goes on ignoring it.
        """
        acts = {signal.SIGTSTP: self._pause, **dict.fromkeys(FORWARDED, self._pass_on)}
        heard = [number for number in acts if signal.getsignal(number) is signal.SIG_DFL]
        for number in heard:
            signal.signal(number, acts[number])
        try:
            yield
        finally:
            for number in heard:
                signal.signal(number, signal.SIG_DFL)

    @property
    def has_agents(self) -> bool:
        """Whether one is at work."""
        return bool(self._pids)

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

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        if self._pids:
            self._send(number)
            return
        signal.signal(number, signal.SIG_DFL)  # it is meant for us
        signal.raise_signal(number)

    def _send(self, number: int) -> None:
        for pid in tuple(self._pids):
            with suppress(ChildProcessError, ProcessLookupError, PermissionError):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # raises where the number is not ours
                os.killpg(pid, number)


pausing = Pausing()
