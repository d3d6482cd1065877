"""What the machine gives to the runs: worktrees and room on the disk, looked at once a minute at most (R171, R193)."""

import threading
import time
from contextlib import suppress
from math import inf
from typing import NamedTuple

from lionstudio.doctor.disk_usage import DiskUsage, measure_disk
from lionstudio.doctor.failures import Failures
from lionstudio.doctor.worktrees import Worktrees, list_worktrees
from lionstudio.services.context import Context
from lionstudio.settings import Settings

KEPT_FOR = 60.0  # seconds; R193


class Resources(NamedTuple):
    """What was seen, and when."""

    observed_at: float
    took_seconds: float
    worktrees: Worktrees
    disk: DiskUsage


class ResourceView:
    """Looks at most once a minute, whoever asks and however many; safe from any thread."""

    def __init__(self, ctx: Context, settings: Settings, *, kept_for: float = KEPT_FOR) -> None:
        self._ctx = ctx
        self._settings = settings
        self._kept_for = kept_for
        self._looking = threading.Lock()
        self._found: Resources | None = None
        self._looked_at = -inf  # by a clock that does not jump; also when it failed, so that it is not tried at once
        self._found_at = -inf
        self._failures = Failures(ctx)

    def read(self) -> Resources:
        """What there is. While somebody looks, others get what was seen before; only the first ones wait."""
        found = self._fresh()
        if found is not None:
            return found
        if self._found is not None:
            if not self._looking.acquire(blocking=False):
                return self._found
        else:
            self._looking.acquire()
        try:
            with self._failures.noted(raised=True):
                return self._fresh() or self._look()
        finally:
            self._looked_at = time.monotonic()
            self._looking.release()

    def read_soon(self, seconds: float) -> Resources | None:
        """What was seen last; None while the first look goes on, or when it failed: `problem` says which.

        Who begins a look waits for it, but not for long.
        """
        if time.monotonic() - self._looked_at >= self._kept_for and not self._looking.locked():
            look = threading.Thread(target=self._read_quietly, name="lionstudio-resources", daemon=True)
            look.start()
            look.join(seconds)
        return self._found

    @property
    def problem(self) -> str | None:
        """Why the last look failed, if it did."""
        last = self._failures.last
        return None if last is None or not self._failures.in_a_row else last.sentence

    def _read_quietly(self) -> None:
        with suppress(Exception):  # it is kept in `problem`
            self.read()

    def _fresh(self) -> Resources | None:
        return self._found if time.monotonic() - self._found_at < self._kept_for else None

    def _look(self) -> Resources:
        began_at, began = self._ctx.now(), time.monotonic()
        roots = (self._settings.worktrees_folder, self._settings.shows_folder)
        worktrees = list_worktrees(roots, now=began_at)
        disk = measure_disk(self._ctx, self._settings)
        self._found = Resources(began_at, time.monotonic() - began, worktrees, disk)
        self._found_at = time.monotonic()
        return self._found
