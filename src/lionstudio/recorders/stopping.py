"""Why and by whom a run is asked to stop, told to everything that works for it."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType

from lionstudio.recorders.signals import signals

DEADLINE = 124  # the cause of a run whose time is over, as timeout(1) says it
CAUSES: Mapping[int, int] = {signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGTERM: 143}
# What a process is told for each cause. One whose time is over is asked as politely as any other.
SIGNALS: Mapping[int, int] = {DEADLINE: signal.SIGTERM, **{cause: number for number, cause in CAUSES.items()}}

LONGEST_TIMEOUT = 1e9  # seconds: some thirty years, and within what a clock can wait for

Act = Callable[[int], None]


def check_timeout(seconds: float | None) -> None:
    """Raises InvalidRequest for a time that nobody can wait for."""
    if seconds is not None and not 0 < seconds <= LONGEST_TIMEOUT:
        from lionstudio.domain.errors import InvalidRequest

        raise InvalidRequest(
            "--timeout must be more than 0 seconds" + (f", and at most {LONGEST_TIMEOUT:,.0f}." if seconds > 0 else ".")
        )


class Stopping:
    """Whether a run is to stop. The cause is the exit code that says why: 124, 129, 130 or 143. Safe in any thread."""

    def __init__(self) -> None:
        self.cause: int | None = None
        # Not a plain lock: a signal may come while the main thread itself holds it.
        self._lock = threading.RLock()
        self._acts: list[Act] = []

    def stop(self, cause: int) -> None:
        """Ask everything to stop; the first cause is the one that counts, and later ones are passed on, too."""
        with self._lock:
            self.cause = self.cause or cause
            for act in tuple(self._acts):  # while nobody can leave `each` and close what its act uses
                act(cause)

    @contextmanager
    def each(self, act: Act) -> Iterator[None]:
        """Inside, `act` is called with the cause whenever somebody asks to stop; at once if that was before.

        It may be called in the middle of anything, so it should do no more than wake who works.
        """
        with self._lock:
            self._acts.append(act)
            if self.cause is not None:
                act(self.cause)
        try:
            yield
        finally:
            with self._lock, suppress(ValueError):
                self._acts.remove(act)

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Inside, SIGINT, SIGTERM and SIGHUP ask to stop, and end nothing by themselves.

        Only in the main thread. A signal that is ignored stays so: whoever began us with nohup meant it.
        """
        heard = [number for number in CAUSES if signal.getsignal(number) not in (signal.SIG_IGN, None)]
        before = {number: signal.signal(number, self._hear) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signals.someone_heard = False

    @contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        """Inside, it is asked to stop when so many seconds have passed, if there is a limit."""
        if seconds is None:
            yield
            return
        deadline = threading.Timer(seconds, self.stop, (DEADLINE,))
        deadline.daemon = True
        deadline.start()
        try:
            yield
        finally:
            deadline.cancel()

    def _hear(self, number: int, frame: FrameType | None) -> None:
        signals.someone_heard = True
        self.stop(CAUSES[number])
