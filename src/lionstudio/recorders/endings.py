"""How a recorded block ends: by itself, by an exception, or by a signal."""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from lionstudio.domain.session import SessionStatus, status_from_exit_code

SENTENCE_LIMIT = 500

Ending = dict[str, Any]  # the arguments of finish_session


def normal_ending() -> Ending:
    return {"status": SessionStatus.COMPLETED.value, "reason": "run.completed.normal"}


def ending_of_exit_code(exit_code: int) -> Ending:
    return {"status": status_from_exit_code(exit_code).value, "exit_code": exit_code}


def ending_of_exception(error: BaseException | None) -> Ending:
    """What leaving the block with this exception says about the run (SPEC section 5)."""
    if error is None:
        return normal_ending()
    if isinstance(error, SystemExit):
        if error.code is None:
            return ending_of_exit_code(0)
        return ending_of_exit_code(error.code if isinstance(error.code, int) else 1)
    if isinstance(error, KeyboardInterrupt):
        return {"status": SessionStatus.ABORTED.value, "exit_code": 130, "reason": "run.aborted.interrupt"}
    if isinstance(error, GeneratorExit) or type(error).__name__ == "CancelledError":  # asyncio need not be loaded
        return {"status": SessionStatus.CANCELLED.value, "reason": "run.cancelled.task"}
    sentence = f"{type(error).__name__}: {error}"[:SENTENCE_LIMIT]
    return {"status": SessionStatus.FAILED.value, "reason": "run.failed.exception", "sentence": sentence}


SIGNAL_ENDINGS: dict[int, Ending] = {
    signal.SIGTERM: {"status": SessionStatus.CANCELLED.value, "exit_code": 143, "reason": "run.cancelled.terminated"},
    signal.SIGHUP: {"status": SessionStatus.ABORTED.value, "exit_code": 129, "reason": "run.aborted.hangup"},
}

Finish = Callable[[Ending], None]


class SignalWatch:
    """Ends the runs of this process when it is told to stop, and then lets it die of that signal.

    Handlers are set only in the main thread and only over the default action. A signal that arrives while the main
    thread is writing waits until that write is done: finishing a run inside its own write would wait for itself.
    """

    def __init__(self) -> None:
        self._runs: dict[str, Finish] = {}
        self._set: list[int] = []
        self._pid = 0
        self._writing = 0
        self._pending: int | None = None
        self._main = threading.main_thread().ident

    def add(self, session_id: str, finish: Finish) -> None:
        if self._pid != os.getpid():
            self._runs.clear()
            self._set.clear()
            self._pid = os.getpid()
        self._runs[session_id] = finish
        if threading.get_ident() != threading.main_thread().ident:
            return
        self._main = threading.get_ident()
        for number in SIGNAL_ENDINGS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._on_signal)
                self._set.append(number)

    def remove(self, session_id: str) -> None:
        if self._pid != os.getpid():
            return
        self._runs.pop(session_id, None)
        if not self._runs and threading.get_ident() == self._main:
            self._restore()

    def __enter__(self) -> None:
        """The main thread begins to write."""
        if threading.get_ident() == self._main:
            self._writing += 1

    def __exit__(self, *_: object) -> None:
        if threading.get_ident() == self._main:
            self._writing -= 1
            if not self._writing and self._pending is not None:
                number, self._pending = self._pending, None
                self._die(number)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._writing and self._pid == os.getpid():
            self._pending = number
        else:
            self._die(number)

    def _die(self, number: int) -> None:
        if self._pid == os.getpid():  # the child of a fork does not end its parent's runs
            for finish in reversed(list(self._runs.values())):
                finish(dict(SIGNAL_ENDINGS[number]))
        self._restore()
        os.kill(os.getpid(), number)

    def _restore(self) -> None:
        for number in self._set:
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, signal.SIG_DFL)
        self._set.clear()


signals = SignalWatch()
