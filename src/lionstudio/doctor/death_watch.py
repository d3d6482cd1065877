"""Watching the processes of running runs, so that a death is seen at once and not at the next round."""

import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from lionstudio import machine
from lionstudio.doctor.death_notices import DeathNotices
from lionstudio.doctor.failures import Failures
from lionstudio.domain.process import ProcessRecord, ProcessState
from lionstudio.services.change_feed import newest_number, read_changed_sessions
from lionstudio.services.context import Context
from lionstudio.services.examination import list_local_processes
from lionstudio.services.health import look_at_process

LOOK_EVERY = (
    1.0  # seconds between looks at the news, and at processes whose death nobody tells: half of what is promised
)
LAST_WORD_AFTER = 1.0  # seconds in which a recorder that outlives its agent may write how the run ended
SHARE_OF_DESCRIPTORS = 4  # a quarter of what a process may open; the rest is for those who are served


class Identity(NamedTuple):
    """A process of this system, told from a later one with its pid."""

    pid: int
    start_time: float | int | None


class DeathWatch:
    """One thread that knows which runs have lost a process, and has them examined. It writes nothing itself."""

    def __init__(
        self, ctx: Context, examine: Callable[[Collection[str]], None], *, most_notices: int | None = None
    ) -> None:
        self._ctx = ctx
        self._examine = examine
        limit = machine.most_descriptors() // SHARE_OF_DESCRIPTORS if most_notices is None else most_notices
        self._notices = DeathNotices(at_most=limit)
        self._thread = threading.Thread(target=self._run, name="lionstudio-death-watch", daemon=True)
        self._stopping = threading.Event()
        self._all_may_be_new = threading.Event()
        self._all_may_be_new.set()
        self._looking = Failures(ctx)
        self._waiting = Failures(ctx)  # which works while looking fails, and the other way round
        self.failures = (self._looking, self._waiting)
        # What follows is touched by the thread alone.
        self._cursor: int | None = None
        self._runs: dict[str, dict[Identity, ProcessRecord]] = {}
        self._living: dict[Identity, set[str]] = {}  # watched processes, and the runs that they do something for
        self._told: dict[int, Identity] = {}  # those of them whose death is told, by pid
        self._held_unseen: set[Identity] = set()
        self._dead: set[Identity] = set()  # seen dead while their runs still run
        self._due: dict[str, float] = {}  # runs to examine, and when
        self._look_at = 0.0

    def start(self) -> None:
        self._thread.start()

    def stop(self, seconds: float) -> bool:
        """End the thread; whether it ended in time."""
        self._stopping.set()
        self._notices.wake()
        if self._thread.ident is not None:
            self._thread.join(seconds)
        if self._thread.is_alive():
            return False
        self._notices.close()
        return True

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def look_at_all(self) -> None:
        """Compare what is watched with everything that runs, soon; safe from any thread."""
        self._all_may_be_new.set()
        self._notices.wake()

    def __len__(self) -> int:
        """How many processes are watched."""
        return len(self._living)

    def _run(self) -> None:
        while not self._stopping.is_set():
            now = time.monotonic()
            if now >= self._look_at or self._all_may_be_new.is_set():
                self._look_at = now + LOOK_EVERY  # also when it fails, so that it is not tried without a pause
                with self._looking.noted():
                    self._learn()
                    self._sweep()
            if any(at <= now for at in self._due.values()):
                with self._looking.noted():
                    self._examine_due(now)
            with self._waiting.noted():
                self._wait()
            if self._waiting.in_a_row:
                self._stopping.wait(LOOK_EVERY)  # so that it is not tried without a pause

    def _wait(self) -> None:
        """Until somebody dies, or it is time to look."""
        pause = min([self._look_at, *self._due.values()]) - time.monotonic()
        for pid in self._notices.wait(pause):
            self._has_died(self._told[pid])

    def _examine_due(self, now: float) -> None:
        due = [session_id for session_id, at in self._due.items() if at <= now]
        self._due |= dict.fromkeys(due, now + LOOK_EVERY)  # if it fails
        self._examine(due)
        for session_id in due:
            del self._due[session_id]

    def _learn(self) -> None:
        """Find out which processes are to be watched."""
        try:
            if self._cursor is None or self._all_may_be_new.is_set():
                self._learn_all()
            else:
                self._learn_news(self._cursor)
        except BaseException:
            self._all_may_be_new.set()  # what was read and not taken up is not told again
            raise

    def _learn_all(self) -> None:
        self._all_may_be_new.clear()
        self._cursor = newest_number(self._ctx)
        processes = list_local_processes(self._ctx)
        for identity in self._untold():
            self._hold(identity)  # there may be room by now
        self._take_up({*self._runs, *(process.session_id for process in processes)}, processes)

    def _learn_news(self, cursor: int) -> None:
        news = read_changed_sessions(self._ctx, cursor)
        if news.reload:
            self._learn_all()
            return
        self._cursor = news.cursor
        if news.ids:
            self._take_up(news.ids, list_local_processes(self._ctx, news.ids))

    def _take_up(self, session_ids: Iterable[str], processes: Iterable[ProcessRecord]) -> None:
        """Watch these processes of these runs, and no others of theirs."""
        wanted: dict[str, dict[Identity, ProcessRecord]] = {session_id: {} for session_id in session_ids}
        for process in processes:
            wanted[process.session_id][Identity(process.pid, process.start_time)] = process
        for session_id, identities in wanted.items():
            known = self._runs.pop(session_id, {})
            for identity in known.keys() - identities.keys():
                self._let_go(identity, session_id)
            if not identities:
                self._due.pop(session_id, None)  # it has ended, and says itself how
                continue
            self._runs[session_id] = identities
            for identity in identities.keys() - known.keys():
                self._watch(identity, session_id)
        # Looked at after they were taken hold of: a pid may have been given to another process in between.
        self._look_for_death(self._held_unseen)
        self._held_unseen.clear()

    def _watch(self, identity: Identity, session_id: str) -> None:
        is_watched = identity in self._living
        self._living.setdefault(identity, set()).add(session_id)
        if identity in self._dead:
            self._has_died(identity)
        elif not is_watched:
            self._hold(identity)

    def _hold(self, identity: Identity) -> None:
        try:
            if identity.pid not in self._told and self._notices.add(identity.pid):
                self._told[identity.pid] = identity
            self._held_unseen.add(identity)
        except ProcessLookupError:
            self._has_died(identity)

    def _let_go(self, identity: Identity, session_id: str) -> None:
        self._dead.discard(identity)
        sessions = self._living.get(identity, set())
        sessions.discard(session_id)
        if not sessions:
            self._forget(identity)

    def _forget(self, identity: Identity) -> set[str]:
        if self._told.get(identity.pid) == identity:
            self._notices.remove(identity.pid)
            del self._told[identity.pid]
        return self._living.pop(identity, set())

    def _sweep(self) -> None:
        """Look at those whose death nobody tells."""
        self._look_for_death(self._untold())

    def _untold(self) -> list[Identity]:
        return [identity for identity in self._living if self._told.get(identity.pid) != identity]

    def _look_for_death(self, identities: Iterable[Identity]) -> None:
        here = machine.here()
        for identity in [one for one in identities if one in self._living]:
            process = self._runs[next(iter(self._living[identity]))][identity]
            if look_at_process(process, here).state is ProcessState.DEAD:
                self._has_died(identity)

    def _has_died(self, identity: Identity) -> None:
        now = time.monotonic()
        self._dead.add(identity)
        for session_id in self._forget(identity):
            others = self._runs[session_id].keys() - self._dead
            at = now + LAST_WORD_AFTER if others else now
            self._due[session_id] = min(at, self._due.get(session_id, at))
