"""What went wrong in the background, kept where somebody can see it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from lionstudio.domain.errors import Error
from lionstudio.services.context import Context


class Failure(NamedTuple):
    """The last thing that went wrong."""

    at: float
    sentence: str


class Failures:
    """Counts failures in a row, so that a background thread can go on after each of them."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._lock = threading.Lock()
        self.last: Failure | None = None
        self.in_a_row = 0

    @contextmanager
    def noted(self, *, raised: bool = False) -> Iterator[None]:
        """Do something that may fail; what it raises is noted, and goes no further unless asked for."""
        try:
            yield
        except Exception as error:
            with self._lock:
                self.last = Failure(self._ctx.now(), _sentence(error))
                self.in_a_row += 1
            if raised:
                raise
        else:
            with self._lock:
                self.in_a_row = 0


def _sentence(error: Exception) -> str:
    """What went wrong, in words for people."""
    if isinstance(error, Error):
        return " ".join(filter(None, (error.message, error.hint)))
    return f"{type(error).__name__}: {error}"
