"""Looking at runs on behalf of everyone: what can be seen of each now, what that means, and keeping what is new."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from lionstudio import machine
from lionstudio.domain.audit import AdminEvent
from lionstudio.domain.change import Topic
from lionstudio.domain.health import LEFTOVERS_LOOKED_FOR, Evidence, Health, HealthVerdict, classify_health
from lionstudio.domain.process import ProcessRecord, ProcessState
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.session_list import PAGE_LIMIT, SessionFilter
from lionstudio.services import sessions
from lionstudio.services.admin import trim_events
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.folders_in_use import FoldersInUse
from lionstudio.services.health import Seen, find_evidence, glance, look_at_files, observe_session
from lionstudio.services.session_list import list_sessions
from lionstudio.store import audit
from lionstudio.store import evidence as evidence_rows
from lionstudio.store import processes as process_rows
from lionstudio.store import sessions as session_rows
from lionstudio.store.evidence import Sight, StoredEvidence
from lionstudio.store.transaction import Tx

DOCTOR_ACTOR = "doctor_auto"  # R191
DOCTOR_EVERY = 300.0  # seconds; R194
KEPT_AT_ONCE = 500  # in one transaction, so that other writers get their turn
# For so many seconds who cannot see a process leaves its run to a doctor who could: two rounds of that one, and a bit.
SIGHT_HOLDS_FOR = 2 * DOCTOR_EVERY + 60
PROCESS_ALIVE: Mapping[ProcessState, bool | None] = {
    ProcessState.ALIVE: True,
    ProcessState.DEAD: False,
    ProcessState.UNKNOWN: None,
}


class Examined(NamedTuple):
    """A run, what was seen of it, and what that means."""

    session: Session
    evidence: Evidence
    verdict: HealthVerdict


def examine_running(ctx: Context) -> Iterator[Examined]:
    """Look at every run that runs, newest first. Processes are looked at now, files only where they decide."""
    cursor: str | None = None
    while True:
        page = list_sessions(ctx, SessionFilter(status=SessionStatus.RUNNING), cursor=cursor, limit=PAGE_LIMIT)
        yield from _examine_running(ctx, page.items)
        cursor = page.next_cursor
        if cursor is None:
            return


def examine_sessions(ctx: Context, session_ids: Collection[str]) -> list[Examined]:
    """Look at these runs, whether they run or have ended; those that are gone are left out."""
    running, ended = _split(ctx, session_ids)
    return _examine_running(ctx, running) + _examine_ended(ctx, ended, FoldersInUse(ctx))


def examine_still_running(ctx: Context, session_ids: Collection[str]) -> list[Examined]:
    """Look at those of these runs that run: one that has ended said itself how, and its files can wait."""
    return _examine_running(ctx, _split(ctx, session_ids)[0])


def examine_ended(ctx: Context, *, at_most: int, seconds: float) -> list[Examined]:
    """Look at what ended runs left on this host, those first that nobody looked at for longest (D3).

    It ends early when it took so many seconds; the next call goes on with the others.
    """
    give_up, since = time.monotonic() + seconds, ctx.now() - LEFTOVERS_LOOKED_FOR
    with ctx.db.read() as tx:
        rows = evidence_rows.list_unsettled(tx, since=since, host=machine.here().host, limit=at_most)
    found: list[Examined] = []
    in_use = FoldersInUse(ctx)
    for session in rows:
        if time.monotonic() > give_up:
            break
        found += _examine_ended(ctx, [session], in_use)
    return found


def list_local_processes(ctx: Context, session_ids: Collection[str] | None = None) -> list[ProcessRecord]:
    """The processes of all running runs, or of these, that this system can tell anything about."""
    with ctx.db.read() as tx:
        return process_rows.list_of_running(tx, machine.here(), session_ids=session_ids)


def keep_examined(ctx: Context, examined: Sequence[Examined], *, requested_by: str | None = None) -> int:
    """Keep what was seen of runs, with its date; how many of them are doing otherwise than before.

    Each of those is one event of the doctor, which says who asked for it, and one line of news. A run that nobody had
    looked at counts as healthy before.
    """
    changed, rest = 0, iter(examined)
    while batch := list(islice(rest, KEPT_AT_ONCE)):
        changed += _keep_batch(ctx, batch, requested_by)
    if changed:
        trim_events(ctx)
    return changed


def share_look(ctx: Context, one: Examined) -> None:
    """Keep a look at an ended run where lists say otherwise: two pages must not disagree."""
    if one.session.status is SessionStatus.RUNNING:
        return
    stored = find_evidence(ctx, one.session.id)
    says_otherwise = one.verdict.health is not (Health.HEALTHY if stored is None else stored.health)
    if says_otherwise and not _is_overtaken(one.evidence, stored, now=ctx.now()):  # who only reads writes nothing
        keep_examined(ctx, [one])


def _split(ctx: Context, session_ids: Collection[str]) -> tuple[list[Session], list[Session]]:
    """Those that run, and those that have ended."""
    with ctx.db.read() as tx:
        rows = session_rows.find_many(tx, session_ids).values()
    running = [session for session in rows if session.status is SessionStatus.RUNNING]
    return running, [session for session in rows if session.status is not SessionStatus.RUNNING]


def _examine_running(ctx: Context, rows: Sequence[Session]) -> list[Examined]:
    began_at = ctx.now()
    with ctx.db.read() as tx:
        glanced = list(glance(tx, rows, now=began_at))
    seen_at = ctx.now()
    return _judged(ctx, look_at_files((session, _dated(evidence, seen_at)) for session, evidence in glanced))


def _examine_ended(ctx: Context, rows: Sequence[Session], in_use: FoldersInUse) -> list[Examined]:
    with ctx.db.read() as tx:
        processes = process_rows.find_many(tx, [session.id for session in rows])
    looks = (
        (session, observe_session(ctx, session, processes=processes.get(session.id, ()), in_use=in_use))
        for session in rows
    )
    return _judged(ctx, ((session, _dated(evidence, ctx.now())) for session, evidence in looks))


def _dated(evidence: Evidence, seen_at: float) -> Evidence:
    """Dated so that the later date is right: who was seen alive was so when the look began, who was seen dead is dead
    at its end. Of two doctors that look at once, the slower one does not bring back to life who died in between."""
    return evidence._replace(observed_at=seen_at) if evidence.process.state is ProcessState.DEAD else evidence


def _judged(ctx: Context, seen: Iterable[Seen]) -> list[Examined]:
    return [
        Examined(session, evidence, classify_health(session, evidence, now=ctx.now())) for session, evidence in seen
    ]


@again_if_undone
def _keep_batch(ctx: Context, batch: Sequence[Examined], requested_by: str | None) -> int:
    with ctx.db.read() as tx:
        known = evidence_rows.find_many(tx, [one.session.id for one in batch])
    news = [one for one in batch if _says_something_new(one, known.get(one.session.id))]
    told = {one.session.id for one in news}
    same = [one for one in batch if one.session.id not in told]
    with ctx.db.write() as tx:
        if same:  # only the date is new; that of the first is true for all of them
            at = min(_seen_at(ctx, one.evidence) for one in same)
            evidence_rows.date(tx, [one.session.id for one in same], observed_at=at, now=ctx.now())
        return _keep(ctx, tx, news, requested_by) if news else 0


def _says_something_new(one: Examined, stored: StoredEvidence | None) -> bool:
    if stored is None or stored.health is not one.verdict.health:
        return True
    before, seen = stored.evidence, one.evidence
    return (
        (before.process.state, before.process.sentence) != (seen.process.state, seen.process.sentence)
        or before.has_artifacts is not seen.has_artifacts
        or (before.stale_locks, before.temp_files) != (seen.stale_locks, seen.temp_files)
    )


def _keep(ctx: Context, tx: Tx, news: Sequence[Examined], requested_by: str | None) -> int:
    """Judged by the rows as they are now: a run may have ended, and another doctor may have said the same."""
    ids = [one.session.id for one in news]
    sessions.lock_sessions(tx, ids)
    rows, known, now = session_rows.find_many(tx, ids), evidence_rows.find_many(tx, ids), ctx.now()
    sights: list[Sight] = []
    events: list[AdminEvent] = []
    asked = {} if requested_by is None else {"requested_by": requested_by}
    for looked_at, evidence, _ in news:
        session, stored = rows.get(looked_at.id), known.get(looked_at.id)
        if session is None or session.status is not looked_at.status or _is_overtaken(evidence, stored, now=now):
            continue
        verdict = classify_health(session, evidence, now=now)
        sights.append(Sight(session, evidence, verdict.health, _seen_at(ctx, evidence)))
        before = None if stored is None else stored.health
        if verdict.health is not (before or Health.HEALTHY):
            details = _details(session, verdict, before) | asked
            events.append(AdminEvent(ctx.new_id(), now, "classify", session.id, details, DOCTOR_ACTOR))
            tx.tell(Topic.SESSION, session.id, session_id=session.id, at=now)
    evidence_rows.put_many(tx, sights)
    if events:
        audit.add_events(tx, events)
        tx.tell(Topic.ADMIN, events[-1].id, at=now)  # once: who shows events reads the newest of them again
    return len(events)


def _is_overtaken(evidence: Evidence, stored: StoredEvidence | None, *, now: float) -> bool:
    """Whether somebody knows better: by a later look, or by a recent one from where the process can be seen."""
    if stored is None or stored.evidence.observed_at is None or evidence.observed_at is None:
        return False
    seen_at, unseen = stored.evidence.observed_at, ProcessState.UNKNOWN
    if evidence.observed_at < seen_at <= now:  # what was seen in the future was seen by a clock that jumped back since
        return True
    blind = evidence.process.state is unseen and stored.evidence.process.state is not unseen
    return blind and abs(now - seen_at) <= SIGHT_HOLDS_FOR


def _seen_at(ctx: Context, evidence: Evidence) -> float:
    return ctx.now() if evidence.observed_at is None else evidence.observed_at


def _details(session: Session, verdict: HealthVerdict, before: Health | None) -> dict[str, Any]:
    """What ADR-0024 wants to know about a change of health; nobody knows the one before of a run never looked at."""
    return {
        "health": verdict.health.value,
        "previous_health": None if before is None else before.value,
        "idle_seconds": None if verdict.idle_seconds is None else round(verdict.idle_seconds),
        "process_alive": PROCESS_ALIVE[verdict.process],
        "message_count": session.message_count,
    }
