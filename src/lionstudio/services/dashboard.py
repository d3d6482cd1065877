"""The dashboard: every number in one answer, and the lists that no other page has.

Each number is the length of a list: of runs by a filter or a view, of plays, shows or teams by their status, or of what
`list_attention`, `list_executions` and `list_request_changes` give.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.attention import Signal, Subject, runs_of_show_address, session_address, show_address
from lionstudio.domain.chain import state_chain
from lionstudio.domain.dashboard import (
    AttentionNumbers,
    DurationNumbers,
    Execution,
    ExecutionNumbers,
    HourNumbers,
    LatencyNumbers,
    OutcomeNumbers,
    derive_attention,
    derive_executions,
    derive_histogram,
    derive_hours,
    derive_latency,
    derive_outcomes,
    durations_of,
    execution_place,
    sum_executions,
)
from lionstudio.domain.health import Evidence, classify_health, derive_health, last_activity_at
from lionstudio.domain.health_words import GONE, URGENCY
from lionstudio.domain.session import Session
from lionstudio.domain.session_list import PAGE_LIMIT, Cursor, View, decode_cursor
from lionstudio.domain.show import AGENT_WORKS
from lionstudio.domain.state import NormalizedState, derive_session_state
from lionstudio.services.attention import RunningRun, find_concerns, look_at_running
from lionstudio.services.context import Context
from lionstudio.services.health import glance
from lionstudio.services.naming import names_in
from lionstudio.services.runs import SessionSummary, summarise
from lionstudio.store import dashboard, show_list, shows
from lionstudio.store.dashboard import EVERY
from lionstudio.store.shows import PlayWithTopic
from lionstudio.store.transaction import Tx

RECENT_SHOWN = 10


class Stats(NamedTuple):
    """Everything the dashboard says, at one moment. Times are unix seconds; a rate is between 0 and 1."""

    at: float
    attention: AttentionNumbers
    executions: ExecutionNumbers
    outcomes: OutcomeNumbers
    latency: LatencyNumbers
    running: int
    failed_24h: int
    slow: int
    waiting: int
    needs_review: int
    stale: int
    shows_active: int
    teams_active: int
    legacy: int  # in no other number, but for runs whose play needs a review
    hours: tuple[HourNumbers, ...]
    durations: tuple[DurationNumbers, ...]
    recent: tuple[SessionSummary, ...]  # the runs that ended last


class ExecutionRow(NamedTuple):
    """An invocation that is at work."""

    subject: Subject  # a show, or a run outside of shows
    id: str  # the topic of a show, the id of a run
    title: str
    sessions: int  # of it that run
    plays: int  # of it whose agent works
    since: float
    leads_to: str
    session_id: str | None = None  # of its run that is worst off: whose state this is
    state: NormalizedState | None = None
    chain: tuple[str, ...] = ()  # that state in words
    heard_at: float | None = None


class ExecutionPage(NamedTuple):
    """One page of what is at work, and where the next one begins."""

    items: tuple[ExecutionRow, ...]
    next_cursor: str | None


class RefusedPage(NamedTuple):
    """One page of plays that a gate refused, and where the next one begins."""

    items: tuple[PlayWithTopic, ...]
    next_cursor: str | None


def get_stats(ctx: Context, *, recent: int = RECENT_SHOWN) -> Stats:
    """Every number of the dashboard, all of the same moment."""
    now = ctx.now()
    with ctx.db.read() as tx:
        running = look_at_running(tx, now=now)
        attention = derive_attention(find_concerns(tx, running, now=now).concerns)
        executions = _executions(tx, [one.session for one in running])
        ended = dashboard.list_ended_runs(tx, now=now)
        durations = durations_of(ended)
        healths = [one.health for one in running]
        last_ended = dashboard.list_last_ended(tx, now=now, limit=recent)
        stats = Stats(
            at=now,
            attention=attention,
            executions=sum_executions(executions, healths),
            outcomes=derive_outcomes(ended, request_changes=dashboard.count_refused_plays(tx, now=now)),
            latency=derive_latency(durations, over_60m=dashboard.count_view(tx, View.OVER_60M, now=now)),
            running=len(running),
            failed_24h=attention.by_signal[Signal.FAILED_24H],
            slow=attention.by_signal[Signal.SLOW],
            waiting=_count_waiting(tx, running, now=now),
            needs_review=dashboard.count_view(tx, View.NEEDS_REVIEW, now=now),
            stale=attention.by_signal[Signal.STALE],
            shows_active=dashboard.count_active_shows(tx),
            teams_active=dashboard.count_active_teams(tx),
            legacy=dashboard.count_view(tx, View.LEGACY, now=now),
            hours=derive_hours(ended, now=now),
            durations=derive_histogram(durations),
            recent=(),
        )
    return stats._replace(recent=tuple(summarise(ctx, last_ended)))


def _count_waiting(tx: Tx, running: Sequence[RunningRun], *, now: float) -> int:
    asking = dashboard.list_ids(tx, View.WAITING, now=now)
    return sum(one.session.id in asking and one.health not in GONE for one in running)


def list_executions(ctx: Context, *, cursor: str | None = None, limit: int = 100) -> ExecutionPage:
    """What is at work, the oldest first; raises InvalidRequest for a bad cursor."""
    limit = max(1, min(limit, PAGE_LIMIT))
    after = None if cursor is None else decode_cursor(cursor)
    with ctx.db.read() as tx:
        found = _executions(tx, dashboard.list_running(tx))
        if after is not None:
            found = [one for one in found if execution_place(one) > after[1:]]
        items = _rows(tx, found[:limit], now=ctx.now())
    following = Cursor(0, *execution_place(found[limit - 1])).encode() if len(found) > limit else None
    return ExecutionPage(items, following)


def list_request_changes(ctx: Context, *, cursor: str | None = None, limit: int = 100) -> RefusedPage:
    """Plays that a gate refused in the last 24 h, newest first; raises InvalidRequest for a bad cursor."""
    limit = max(1, min(limit, PAGE_LIMIT))
    before = None if cursor is None else decode_cursor(cursor)[1:]
    with ctx.db.read() as tx:
        found = dashboard.list_refused_plays(tx, now=ctx.now(), before=before, limit=limit + 1)
    last = found[limit - 1].play if len(found) > limit else None
    following = None if last is None else Cursor(0, last.created_at, last.id).encode()
    return RefusedPage(tuple(found[:limit]), following)


def _executions(tx: Tx, running: Sequence[Session]) -> list[Execution]:
    plays = shows.list_newest_plays(tx, statuses=sorted(AGENT_WORKS), before=None, limit=EVERY)
    return derive_executions(running, plays, dashboard.find_topics_of_running(tx))


def _rows(tx: Tx, executions: Sequence[Execution], *, now: float) -> tuple[ExecutionRow, ...]:
    seen = {
        session.id: evidence
        for session, evidence in glance(tx, [run for one in executions for run in one.runs], now=now)
    }
    names = names_in(tx, [one.session for one in executions if one.session is not None])
    known = show_list.list_known_topics(tx, [one.topic for one in executions if one.topic is not None])
    return tuple(_with_state(_row(one, names, known), one.runs, seen, now=now) for one in executions)


def _with_state(
    row: ExecutionRow, runs: Sequence[Session], seen: Mapping[str, Evidence], *, now: float
) -> ExecutionRow:
    """The row with the state of its run that is worst off, the first of them; a show may have none that runs."""
    if not runs:
        return row
    session = min(runs, key=lambda run: URGENCY.index(derive_health(run, seen[run.id], now=now)))
    verdict = classify_health(session, seen[session.id], now=now)
    return row._replace(
        session_id=session.id,
        state=derive_session_state(session, verdict),
        chain=state_chain(session, verdict),
        heard_at=last_activity_at(session),
    )


def _row(execution: Execution, names: Mapping[str, str], known: Collection[str]) -> ExecutionRow:
    session, topic = execution.session, execution.topic
    numbers = (len(execution.runs), execution.plays, execution.since)
    if session is not None:
        return ExecutionRow(
            Subject.SESSION, session.id, names[session.id], *numbers, leads_to=session_address(session.id)
        )
    assert topic is not None  # an execution is one or the other
    # A run may name a show that nobody stored; then its runs are all there is to see.
    leads_to = show_address(topic) if topic in known else runs_of_show_address(topic)
    return ExecutionRow(Subject.SHOW, topic, topic, *numbers, leads_to=leads_to)
