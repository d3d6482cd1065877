"""Runs as people look at them: what a list shows of each, and one in full."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lionstudio import machine
from lionstudio.domain.activity import (
    Activity,
    HumanWait,
    derive_activity,
    derive_branch_activities,
    is_at_work,
    is_interactive,
)
from lionstudio.domain.audit import AdminEvent, StatusTransition
from lionstudio.domain.conversation import Branch, Message, MessagePlace
from lionstudio.domain.files_touched import FILES_SHOWN, FileTouched, list_files_touched
from lionstudio.domain.health import Evidence, HealthVerdict, classify_health
from lionstudio.domain.process import ProcessLook, ProcessRecord
from lionstudio.domain.reasons import EvidenceKind
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.state import NormalizedState, derive_session_state
from lionstudio.domain.timeline import Span, Step, derive_spans, spans_allowed, steps_allowed, telling_steps
from lionstudio.domain.tool_errors import KINDS_SHOWN, ToolErrors, failures_shown, first_failure, group_tool_errors
from lionstudio.domain.usage import NO_USAGE, Usage
from lionstudio.services import health, sessions
from lionstudio.services.context import Context
from lionstudio.services.health import look_at_process
from lionstudio.services.naming import name_in, names_in
from lionstudio.store import audit, branches, processes, progressions, shows, team_counts, tool_messages, usage
from lionstudio.store import sessions as session_rows
from lionstudio.store.shows import PlayWithTopic
from lionstudio.store.transaction import Tx

CHILDREN_SHOWN = 100
EVENTS_SHOWN = 100


class SessionSummary(NamedTuple):
    """What a list shows of a run."""

    session: Session
    display_name: str
    verdict: HealthVerdict
    state: NormalizedState
    activity: Activity | None
    usage: Usage


class SessionDetail(NamedTuple):
    """One run in full."""

    summary: SessionSummary
    branches: tuple[tuple[Branch, Activity | None], ...]  # each with what it waits for, or did when it was last seen
    tool_errors: tuple[ToolErrors, ...]
    files: tuple[FileTouched, ...]
    places: dict[str, MessagePlace]  # of the messages that the errors and files shown and the reasons name, by id
    evidence: Evidence  # that its health was judged by
    usage: dict[str, Usage]
    processes: tuple[tuple[ProcessRecord, ProcessLook], ...]
    plays: tuple[PlayWithTopic, ...]
    parent: Session | None
    children: tuple[Session, ...]
    names: dict[str, str]  # of its parent and its children
    team_messages: int  # that it wrote
    history: tuple[StatusTransition, ...]
    events: tuple[AdminEvent, ...]  # what operators did to it, newest first


def summarise(ctx: Context, rows: Sequence[Session]) -> list[SessionSummary]:
    """What a list shows of each of these runs."""
    with ctx.db.read() as tx:
        verdicts = health.judge_many(ctx, tx, rows)
        used = usage.totals(tx, [session.id for session in rows])
        names = names_in(tx, rows)
        activities = _activities(tx, rows, verdicts)
    return [
        SessionSummary(
            session,
            names[session.id],
            verdicts[session.id],
            derive_session_state(session, verdicts[session.id]),
            activities.get(session.id),
            used.get(session.id, NO_USAGE),
        )
        for session in rows
    ]


def _activities(tx: Tx, rows: Iterable[Session], verdicts: Mapping[str, HealthVerdict]) -> dict[str, Activity | None]:
    """What those are doing that do anything."""
    at_work = {session.id: session for session in rows if is_at_work(session, verdicts[session.id].health)}
    if not at_work:
        return {}
    tips, calls = branches.list_tips(tx, at_work), branches.list_open_calls_in(tx, at_work)
    in_shows = [id for id, session in at_work.items() if session.show_topic is not None]
    gates = shows.find_gates_of_people(tx, in_shows) if in_shows else {}
    waits = {id: [HumanWait(since)] for id, since in gates.items()}
    return {
        id: derive_activity(
            session,
            tips.get(id, []),
            calls.get(id, []),
            human_waits=waits.get(id, ()),
            health=verdicts[id].health,
        )
        for id, session in at_work.items()
    }


def get_detail(ctx: Context, session_id: str) -> SessionDetail:
    """One run in full, its process looked at now; raises SessionNotFound."""
    session, evidence = health.look(ctx, session_id)
    verdict = classify_health(session, evidence, now=ctx.now())
    here = machine.here()
    with ctx.db.read() as tx:
        called = tool_messages.list_calls_and_failures(tx, session_id)
        tool_errors = tuple(group_tool_errors(called))
        files = tuple(list_files_touched(called))
        state = derive_session_state(session, verdict)
        used = usage.by_model(tx, session_id)
        open_calls = branches.list_open_calls(tx, session_id)
        lines, is_running = branches.list_in_session(tx, session_id), session.status is SessionStatus.RUNNING
        # Also of a run that is gone: the timeline shows what it was doing at its last sign of life.
        activities = derive_branch_activities(session, lines, open_calls) if is_running else [None] * len(lines)
        parent_id = session.parent_session_id
        parent = None if parent_id is None else session_rows.find(tx, parent_id)
        children = tuple(session_rows.list_children(tx, session_id, limit=CHILDREN_SHOWN))
        return SessionDetail(
            summary=SessionSummary(
                session,
                name_in(tx, session),
                verdict,
                state,
                _activities(tx, [session], {session_id: verdict}).get(session_id),
                _sum(used.values()),
            ),
            branches=tuple(zip(lines, activities, strict=True)),
            tool_errors=tool_errors,
            files=files,
            places=progressions.find_places(tx, session_id, _named_messages(tool_errors, files, state)),
            evidence=evidence,
            usage=used,
            processes=tuple(
                (record, look_at_process(record, here)) for record in processes.list_of_session(tx, session_id)
            ),
            plays=tuple(shows.list_plays_of_session(tx, session_id)),
            parent=parent,
            children=children,
            names={other.id: name_in(tx, other) for other in (parent, *children) if other is not None},
            team_messages=team_counts.count_of_session(tx, session_id),
            history=tuple(audit.list_transitions(tx, "session", session_id)),
            events=tuple(audit.list_events(tx, target_id=session_id, before=None, limit=EVENTS_SHOWN)),
        )


def _named_messages(
    tool_errors: Sequence[ToolErrors], files: Sequence[FileTouched], state: NormalizedState
) -> Iterable[str]:
    limit, first = failures_shown(len(tool_errors)), first_failure(tool_errors)
    if first is not None:
        yield first.message_id
    for errors in tool_errors[:KINDS_SHOWN]:
        yield from (failure.message_id for failure in errors.latest(limit))
    yield from (file.last_message_id for file in files[:FILES_SHOWN])
    for reason in state.reasons:
        yield from (ref.ref for ref in reason.evidence if ref.kind is EvidenceKind.MESSAGE)


class Lane(NamedTuple):
    """Who was busy when, in one branch."""

    branch_id: str
    spans: tuple[Span, ...]


def read_timeline(ctx: Context, session_id: str) -> tuple[Lane, ...]:
    """Who was busy when, branch by branch in the order they began; raises SessionNotFound."""
    with ctx.db.read() as tx:
        interactive = is_interactive(sessions.get(tx, session_id))
        lines = branches.list_in_session(tx, session_id)
        limit = steps_allowed([line.message_count for line in lines])
        steps = progressions.list_steps(tx, [line.id for line in lines if line.message_count <= limit])
        steps |= {line.id: _telling_steps(tx, line, limit) for line in lines if line.message_count > limit}
    limit = spans_allowed(len(lines))
    lanes = []
    for line in lines:
        asks = interactive and line is lines[0]  # the branch that a person talks to
        spans = derive_spans(steps.get(line.id, ()), began_at=line.created_at, interactive=asks, limit=limit)
        lanes.append(Lane(line.id, tuple(spans)))
    return tuple(lanes)


def _telling_steps(tx: Tx, line: Branch, limit: int) -> list[Step]:
    inherited = line.forked_at_ord or 0

    def read(positions: list[int]) -> list[Step]:
        return progressions.list_steps_at(tx, line.id, [position - inherited for position in positions])

    return telling_steps(read, inherited + 1, inherited + line.message_count, limit=limit)


class Stretch(NamedTuple):
    """Messages of a run that follow each other, each with the branches it stands in."""

    messages: tuple[Message, ...]
    places: dict[str, tuple[tuple[str, int], ...]]  # by message: its branches, and its place among the own ones of each


def read_stretch(ctx: Context, session_id: str, *, after: int, limit: int) -> Stretch:
    """A run's messages from position `after` + 1; raises SessionNotFound."""
    with ctx.db.read() as tx:
        sessions.get(tx, session_id)
        found = progressions.list_in_session(tx, session_id, after=after, limit=limit)
        places = progressions.list_places(tx, session_id, after=after, limit=limit)
    return Stretch(tuple(found), {id: tuple(found_at) for id, found_at in places.items()})


def _sum(parts: Iterable[Usage]) -> Usage:
    total = NO_USAGE
    for part in parts:
        total = total.plus(part)
    return total
