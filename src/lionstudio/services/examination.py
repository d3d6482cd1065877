"""Looking at every run that runs: what can be seen of each now, what that means, and keeping what is new about it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from lionstudio.domain.audit import AdminEvent
from lionstudio.domain.change import Topic
from lionstudio.domain.health import Evidence, Health, HealthVerdict, classify_health
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.session_list import PAGE_LIMIT, SessionFilter
from lionstudio.services.admin import CLOCK_MARGIN
from lionstudio.services.context import Context
from lionstudio.services.health import glance
from lionstudio.services.session_list import list_sessions
from lionstudio.store import audit, maintenance
from lionstudio.store import evidence as evidence_rows
from lionstudio.store.evidence import StoredEvidence
from lionstudio.store.transaction import Tx

DOCTOR_ACTOR = "doctor_auto"  # R191
KEPT_AT_ONCE = 500  # in one transaction, so that other writers get their turn


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
        now = ctx.now()
        with ctx.db.read() as tx:
            seen = list(glance(tx, page.items, now=now))
        for session, evidence in seen:
            yield Examined(session, evidence, classify_health(session, evidence, now=now))
        cursor = page.next_cursor
        if cursor is None:
            return


def keep_examined(ctx: Context, examined: Sequence[Examined], *, actor: str = DOCTOR_ACTOR) -> int:
    """Keep what is new about runs for those who only list them; how many of them are doing otherwise than before.

    Each of those is one event and one line of news. A run that nobody had looked at counts as healthy before.
    """
    changed, rest = 0, iter(examined)
    while batch := list(islice(rest, KEPT_AT_ONCE)):
        ids = [one.session.id for one in batch]
        with ctx.db.read() as tx:
            known = evidence_rows.find_many(tx, ids)
        news = [one for one in batch if _says_something_new(one, known.get(one.session.id))]
        if news:
            with ctx.db.write() as tx:
                changed += _keep(ctx, tx, news, actor)
    return changed


def _says_something_new(one: Examined, known: StoredEvidence | None) -> bool:
    if known is None:
        return True
    return known.health is not one.verdict.health or known.evidence.process.state is not one.evidence.process.state


def _keep(ctx: Context, tx: Tx, news: Sequence[Examined], actor: str) -> int:
    now, changed = ctx.now(), 0
    ids = [one.session.id for one in news]
    present, known = maintenance.list_present(tx, ids), evidence_rows.find_many(tx, ids)
    for session, evidence, verdict in news:
        if session.id not in present:  # it was pruned meanwhile
            continue
        observed_at = now if evidence.observed_at is None else evidence.observed_at
        evidence_rows.put(tx, session, evidence, health=verdict.health, observed_at=observed_at)
        previous = known[session.id].health if session.id in known else Health.HEALTHY
        if previous is not verdict.health:
            changed += 1
            details = {"health": verdict.health.value, "previous_health": previous.value}
            audit.add_event(tx, AdminEvent(ctx.new_id(), now, "classify", session.id, details, actor))
            tx.tell(Topic.SESSION, session.id, session_id=session.id, at=now)
    if changed:
        audit.trim_events(tx, now=now - CLOCK_MARGIN)
    return changed
