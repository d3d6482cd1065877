"""The doctor in the background: a round every few minutes, and a look at once when a process dies.

It observes and writes down. No status is ever changed from here (R195).
"""

import threading
import time
from collections.abc import Collection
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from lionstudio.doctor.death_watch import DeathWatch
from lionstudio.doctor.failures import Failure, Failures
from lionstudio.doctor.scan import Scan, scan
from lionstudio.services.context import Context
from lionstudio.services.examination import (
    DOCTOR_EVERY,
    KEPT_AT_ONCE,
    examine_ended,
    examine_still_running,
    keep_examined,
)

RETRY_AFTER = 15.0  # seconds after a round that failed
STOP_WITHIN = 5.0  # seconds
# Of ended runs, in one round: more wait for the next, those first that nobody looked at for longest.
ENDED_AT_ONCE, ENDED_SECONDS = 500, 2.0


class Round(NamedTuple):
    """The last round that went through."""

    began_at: float
    ended_at: float
    took_seconds: float  # by a clock that does not jump
    looked_at: int  # runs, running and ended
    changed: int  # runs that are doing otherwise than at the last look


class DoctorReport(NamedTuple):
    """What the doctor does, and whether it can."""

    is_running: bool
    every_seconds: float
    last_round: Round | None  # None until the first one is through
    last_failure: Failure | None  # of a round, of the watch, or of a look at a dead process
    failures_in_a_row: int  # 0: it works
    watched_processes: int
    deaths_seen: int  # runs that were looked at because a process of theirs had died


class Doctor:
    """Scans at start, every few minutes and when asked, and watches the processes of this machine. Start it once."""

    def __init__(self, ctx: Context, *, every: float = DOCTOR_EVERY, most_notices: int | None = None) -> None:
        self._ctx = ctx
        self._every = every
        self._watch = DeathWatch(ctx, self._examine, most_notices=most_notices)
        self._thread = threading.Thread(target=self._run, name="lionstudio-doctor", daemon=True)
        self._stopping = threading.Event()
        self._scanning = threading.Lock()
        self._failures = Failures(ctx)
        self._last_round: Round | None = None
        self._deaths_seen = 0

    def start(self) -> None:
        """Begin, in the background: the first round has not been made when this returns."""
        self._watch.start()
        self._thread.start()

    def stop(self, seconds: float = STOP_WITHIN) -> bool:
        """End the background work; whether it ended in time. What was begun is finished or left as it was before."""
        give_up = time.monotonic() + seconds
        self._stopping.set()
        watch_ended = self._watch.stop(seconds)
        if self._thread.ident is not None:
            self._thread.join(max(0.0, give_up - time.monotonic()))
        return watch_ended and not self._thread.is_alive()

    def scan_now(self, *, requested_by: str | None = None) -> Scan:
        """Make a round now, and say what it found; safe from any thread, one round at a time. Raises what failed."""
        with self._scanning, self._failures.noted(raised=True):
            began_at, began = self._ctx.now(), time.monotonic()
            self._watch.look_at_all()
            found = scan(self._ctx, requested_by=requested_by)
            ended = (
                []
                if self._stopping.is_set()
                else examine_ended(self._ctx, at_most=ENDED_AT_ONCE, seconds=ENDED_SECONDS)
            )
            changed = found.changed + keep_examined(self._ctx, ended, requested_by=requested_by)
            looked_at, took = len(found.examined) + len(ended), time.monotonic() - began
            self._last_round = Round(began_at, self._ctx.now(), took, looked_at, changed)
        return found

    def report(self) -> DoctorReport:
        """How the doctor itself is doing; safe from any thread."""
        each = (self._failures, *self._watch.failures)
        failures = [failures.last for failures in each if failures.last is not None]
        return DoctorReport(
            is_running=self._thread.is_alive() and self._watch.is_running and not self._stopping.is_set(),
            every_seconds=self._every,
            last_round=self._last_round,
            last_failure=max(failures, default=None),
            failures_in_a_row=sum(failures.in_a_row for failures in each),
            watched_processes=len(self._watch),
            deaths_seen=self._deaths_seen,
        )

    def _run(self) -> None:
        while not self._stopping.is_set():
            with suppress(Exception):  # it is in the report; the next round may work
                self.scan_now()
            failed = self._failures.in_a_row > 0
            self._stopping.wait(min(self._every, RETRY_AFTER) if failed else self._every)

    def _examine(self, session_ids: Collection[str]) -> None:
        """Look at runs that lost a process, and at no folder of one that ended well: the next round does that."""
        rest = iter(session_ids)
        while batch := list(islice(rest, KEPT_AT_ONCE)):
            examined = examine_still_running(self._ctx, batch)
            keep_examined(self._ctx, examined)
            self._deaths_seen += len(examined)
