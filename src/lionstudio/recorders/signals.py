"""Signals: a run ends when its process is told to stop, and then the process dies of that signal."""

import os
import signal
import threading

# `signal` wraps these in enumerations, which costs 12 µs a message; typeshed does not know the module underneath.
from _signal import getsignal  # type: ignore[import-not-found]
from _signal import signal as set_handler
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from lionstudio.recorders.endings import SIGNAL_ENDINGS, Ending

DEADLY = (signal.SIGTERM, signal.SIGHUP)  # SIGINT becomes KeyboardInterrupt, which leaves the block by itself

Finish = Callable[[Ending], None]


class SignalWatch:
    """The signals of this process while it records.

    Handlers are set only in the main thread and only over the default action. A signal that arrives while the main
    thread is writing waits until that write is done: a run cannot be finished inside its own write, and an interrupt
    in the middle of a transaction could leave it open.
    """

    def __init__(self) -> None:
        self._runs: dict[str, Finish] = {}
        self._set: list[int] = []
        self._main = threading.main_thread().ident
        self._writing = 0
        self._holds_interrupts = False
        self._pending: int | None = None
        self._dying = False
        self._hold = self._on_interrupt  # one object, so that it can be recognised
        self.someone_heard = False  # a signal came while somebody else listens, who ends the run

    @property
    def told_to_stop(self) -> bool:
        """Whether the process is about to end, so that nobody should wait for anything."""
        return self._dying or self._pending is not None or self.someone_heard

    def add(self, session_id: str, finish: Finish) -> None:
        """Call `finish` when the process is told to stop."""
        self._runs[session_id] = finish
        if threading.get_ident() != self._main:
            return
        for number in DEADLY:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._on_signal)
                self._set.append(number)

    def remove(self, session_id: str) -> None:
        self._runs.pop(session_id, None)
        if self._runs or threading.get_ident() != self._main:
            return  # a handler that stays behind does what the default action does
        for number in self._set:
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, signal.SIG_DFL)
        self._set.clear()

    def __enter__(self) -> None:
        """The main thread begins to write."""
        if threading.get_ident() != self._main:
            return
        # Held only for the write: asyncio puts its own handler over the default one, and must still find that.
        if not self._writing and getsignal(signal.SIGINT) is signal.default_int_handler:
            set_handler(signal.SIGINT, self._hold)
            self._holds_interrupts = True
        self._writing += 1

    def __exit__(self, *_: object) -> None:
        if threading.get_ident() != self._main:
            return
        self._writing -= 1
        if self._writing:
            return
        if self._holds_interrupts:
            self._holds_interrupts = False
            if getsignal(signal.SIGINT) is self._hold:
                set_handler(signal.SIGINT, signal.default_int_handler)
        if self._pending == signal.SIGINT:
            self._pending = None
            raise KeyboardInterrupt
        if self._pending is not None:
            number, self._pending = self._pending, None
            self._die(number)

    def forget_parent(self) -> None:
        """In the child of a fork: the runs are its parent's, and the thread that forked is the main thread."""
        self._runs.clear()
        self._main = threading.get_ident()
        self._writing = 0
        self._pending = None
        self._dying = False

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        self._pending = self._pending or number

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._writing and not self._dying:
            self._pending = number
        else:
            self._die(number)

    def _die(self, number: int) -> None:
        runs, self._runs = self._runs, {}  # a second signal while they finish kills at once
        self._dying = True
        try:
            for finish in reversed(runs.values()):
                with suppress(Exception):
                    finish(SIGNAL_ENDINGS[number])
        finally:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


signals = SignalWatch()
os.register_at_fork(after_in_child=signals.forget_parent)
