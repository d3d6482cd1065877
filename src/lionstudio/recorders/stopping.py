"""Why and by whom a run is asked to stop, told to everything that works for it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Act = Callable[[int], None]


class Stopping:
    """Whether a run is to stop. The cause is the exit code that says why: 124, 129, 130 or 143. Safe in any thread."""

    def __init__(self, timeout: float | None = None) -> None:
        self.timeout = timeout
        self.cause: int | None = None
        self._lock = threading.Lock()
        self._acts: list[Act] = []

    def stop(self, cause: int) -> None:
        """Ask everything to stop; the first cause is the one that counts, and later ones are passed on, too."""
        with self._lock:
            self.cause = self.cause or cause
            acts = tuple(self._acts)
        for act in acts:
            act(cause)

    @contextmanager
    def each(self, act: Act) -> Iterator[None]:
        """Inside, `act` is called with the cause whenever somebody asks to stop; at once if that was before."""
        with self._lock:
            self._acts.append(act)
            cause = self.cause
        if cause is not None:
            act(cause)
        try:
            yield
        finally:
            with self._lock, suppress(ValueError):
                self._acts.remove(act)
