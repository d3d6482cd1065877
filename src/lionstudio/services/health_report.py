"""The health report: how every run is doing, what needs somebody, and how the database is kept (R154 to R162, R176)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.audit import AdminEvent
from lionstudio.domain.health import (
    HEALTH_ACTIONS,
    Health,
    HealthVerdict,
    OperatorAction,
    classify_health,
    derive_health,
)
from lionstudio.domain.health_words import URGENCY
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.session_list import PAGE_LIMIT, Cursor, SessionFilter, decode_cursor
from lionstudio.domain.upkeep import (
    Advice,
    advise_checkpoint,
    advise_vacuum_of_file,
    advise_vacuum_on_server,
    estimate_export,
)
from lionstudio.services.context import Context
from lionstudio.services.examination import PROCESS_ALIVE
from lionstudio.services.health import Seen, glance, look_at_files
from lionstudio.services.naming import names_in
from lionstudio.store import audit, figures, models, session_list, sessions
from lionstudio.store.figures import Figures
from lionstudio.store.session_list import RUNNING
from lionstudio.store.transaction import Tx

UNHEALTHY_SHOWN = 100
FILES_WITHIN = 1.0  # seconds, for the files of dead runs that said nothing; then the last look counts
UNHEALTHY = tuple(health for health in URGENCY if health is not Health.HEALTHY)


class SessionCounts(NamedTuple):
    """All runs, by each word, those that nobody has too."""

    total: int  # legacy ones too
    by_status: Mapping[SessionStatus, int]
    legacy: int  # without a status (R187)
    by_health: Mapping[Health, int]  # of all; a legacy one counts as ended
    ended: int  # of the healthy ones: how those ended is told by their status


class UnhealthySession(NamedTuple):
    """A run that is not well, why, and what an operator is offered for it (R153, R156)."""

    session: Session
    name: str
    verdict: HealthVerdict
    process_alive: bool | None  # None is unknown
    model: str | None
    observed_at: float | None  # when that was seen: now for a run that runs, the last look for one that has ended
    actions: tuple[OperatorAction, ...]


class UnhealthyPage(NamedTuple):
    """Some of the runs that are not well: those that need somebody first, then newest first."""

    items: tuple[UnhealthySession, ...]
    total: int  # of all of them
    next_cursor: str | None


class DatabaseReport(NamedTuple):
    """How the database is kept; None where it has no such thing (R158, R159)."""

    database_id: str
    location: str  # for people, without a password
    schema_version: int
    figures: Figures
    log_pending: int | None  # bytes that are in the log only


class MaintenanceReport(NamedTuple):
    """What may be done for the database, by which numbers (R176)."""

    checkpoint: Advice
    last_checkpoint: AdminEvent | None
    vacuum: Advice
    last_vacuum: AdminEvent | None
    export_size: int  # bytes, about


class HealthReport(NamedTuple):
    """Everything, as of one moment."""

    sessions: SessionCounts
    unhealthy: UnhealthyPage
    database: DatabaseReport
    maintenance: MaintenanceReport
    diagnostic_run_at: float


def read_health(ctx: Context, *, cursor: str | None = None, limit: int = UNHEALTHY_SHOWN) -> HealthReport:
    """How everything is. Runs that run are looked at now; for ended ones the last look counts.

    Raises InvalidRequest for a cursor that is none.
    """
    start = None if cursor is None else decode_cursor(cursor)
    limit = max(1, min(limit, PAGE_LIMIT))
    now = ctx.now()
    files = _look_at_files(ctx, now=now)
    pending = ctx.db.dialect.read_log_pending()  # not within a transaction, where SQLite does not tell
    with ctx.db.read() as tx:
        running = _look_at_running(tx, files, now=now)
        counts = _count(tx, running)
        found = list(_list_unhealthy(tx, running, start, limit + 1, now=now))
        items = tuple(_describe(tx, found[:limit], now=now))
        database = _read_database(ctx, tx, pending)
        maintenance = _advise(tx, database.figures)
    following = Cursor(*_key(items[-1])).encode() if len(found) > limit else None
    total = sum(counts.by_health[health] for health in UNHEALTHY)
    return HealthReport(counts, UnhealthyPage(items, total, following), database, maintenance, now)


def _look_at_files(ctx: Context, *, now: float) -> Mapping[str, bool | None]:
    """Whether those left files of which only that decides how they are doing, by id."""
    with ctx.db.read() as tx:
        glanced = list(glance(tx, sessions.list_silent(tx), now=now))
    return {session.id: seen.has_artifacts for session, seen in look_at_files(glanced, seconds=FILES_WITHIN)}


def _look_at_running(tx: Tx, files: Mapping[str, bool | None], *, now: float) -> Mapping[Health, Sequence[Seen]]:
    """Every run that runs, newest first, by how it is doing now."""
    found: dict[Health, list[Seen]] = {health: [] for health in Health}
    question = session_list.ask(tx, SessionFilter(status=SessionStatus.RUNNING), now=now)
    before: tuple[float, str] | None = None
    while rows := session_list.list_group(tx, question, RUNNING, before=before, limit=PAGE_LIMIT):
        for session, glanced in glance(tx, rows, now=now):
            evidence = glanced._replace(has_artifacts=files.get(session.id, glanced.has_artifacts))
            found[derive_health(session, evidence, now=now)].append((session, evidence))
        before = (rows[-1].created_at, rows[-1].id)
    return found


def _count(tx: Tx, running: Mapping[Health, Sequence[Seen]]) -> SessionCounts:
    statuses = figures.count_by_status(tx)
    legacy = statuses.pop(None)
    by_status = {status: statuses[status] for status in SessionStatus}
    total = legacy + sum(by_status.values())
    by_health = {health: len(running[health]) for health in Health}
    by_health[Health.ZOMBIE] += figures.count_with_leftovers(tx)
    ended = total - sum(by_health.values())  # the rest, which left nothing behind
    by_health[Health.HEALTHY] += ended
    return SessionCounts(total, by_status, legacy, by_health, ended)


def _list_unhealthy(
    tx: Tx, running: Mapping[Health, Sequence[Seen]], start: Cursor | None, limit: int, *, now: float
) -> Iterator[Seen]:
    left = limit
    for rank, health in enumerate(UNHEALTHY):
        if left == 0 or (start is not None and rank < start.group):
            continue
        before = (start.at, start.id) if start is not None and rank == start.group else None
        if health is Health.ZOMBIE:
            question = session_list.ask(tx, SessionFilter(), now=now)
            rows = session_list.list_with_leftovers(tx, question, before=before, limit=left)
            page = list(glance(tx, rows, now=now))
        else:
            page = [one for one in running[health] if before is None or (one[0].created_at, one[0].id) < before][:left]
        left -= len(page)
        yield from page


def _describe(tx: Tx, found: Sequence[Seen], *, now: float) -> Iterator[UnhealthySession]:
    used = models.find_models(tx, [session.id for session, _ in found])
    names = names_in(tx, [session for session, _ in found])
    for session, evidence in found:
        verdict = classify_health(session, evidence, now=now)
        yield UnhealthySession(
            session=session,
            name=names[session.id],
            verdict=verdict,
            process_alive=PROCESS_ALIVE[verdict.process],
            model=used.get(session.id),
            observed_at=evidence.observed_at,
            actions=HEALTH_ACTIONS[verdict.health],
        )


def _key(item: UnhealthySession) -> tuple[int, float, str]:
    return UNHEALTHY.index(item.verdict.health), item.session.created_at, item.session.id


def _read_database(ctx: Context, tx: Tx, pending: int | None) -> DatabaseReport:
    dialect = ctx.db.dialect
    own, schema = figures.read_figures(tx), figures.read_schema_number(tx)
    return DatabaseReport(dialect.database_id, dialect.location, schema, own, pending)


def _advise(tx: Tx, own: Figures) -> MaintenanceReport:
    if own.log_size is None or own.free_size is None:
        checkpoint = Advice(False, "The server checkpoints by itself.")
        vacuum = advise_vacuum_on_server(live_rows=own.live_rows or 0, dead_rows=own.dead_rows or 0)
    else:
        checkpoint = advise_checkpoint(log_size=own.log_size)
        vacuum = advise_vacuum_of_file(size=own.size, free_size=own.free_size)
    return MaintenanceReport(
        checkpoint=checkpoint,
        last_checkpoint=_find_last(tx, "checkpoint"),
        vacuum=vacuum,
        last_vacuum=_find_last(tx, "vacuum"),
        export_size=estimate_export(size=own.size, log_size=own.log_size, free_size=own.free_size),
    )


def _find_last(tx: Tx, action: str) -> AdminEvent | None:
    return next(iter(audit.list_events(tx, action=action, before=None, limit=1)), None)
