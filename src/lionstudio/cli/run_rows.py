"""Runs as lines of a list and as JSON: what `li runs ls` shows of each."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from lionstudio.cli.operator import operator
from lionstudio.cli.output import Cell, Column
from lionstudio.domain.activity import Activity, ActivityKind
from lionstudio.domain.chain import CHAIN_PARTS_IN_LISTS, state_chain
from lionstudio.domain.health import HealthVerdict
from lionstudio.domain.labels import KIND_LABELS, format_duration, short_id
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.services.runs import SessionSummary

COLUMNS = (
    Column("RUN"),
    Column("NAME", grows=True, readable=20),
    Column("KIND", leaves=2),
    Column("STATE", grows=True, readable=40),  # its last word tells what is gone from what is not known
    Column("ACTIVITY", grows=True, leaves=1, readable=16),
    Column("SIZE", right=True, leaves=4),
    Column("TOOK", right=True, leaves=3),
    Column("UPDATED", right=True),
)
UNKNOWN_TIME = "unknown"  # a foreign row may hold any float


def list_rows(summaries: Sequence[SessionSummary], *, now: float, whole_ids: bool) -> Iterable[Sequence[str | Cell]]:
    """The rows of a table. An id is as short as it can be and still mean one of these runs."""
    ids = shown_ids([summary.session.id for summary in summaries], whole=whole_ids)
    for summary, shown_id in zip(summaries, ids, strict=True):
        session = summary.session
        chain = chain_words(session, summary.verdict)[:CHAIN_PARTS_IN_LISTS]
        yield (
            shown_id,
            Cell(summary.display_name, "strong"),
            "" if session.invocation_kind is None else KIND_LABELS[session.invocation_kind],
            Cell(" · ".join(chain), summary.state.tone),
            _activity_cell(summary.activity, now=now),
            f"{session.branch_count:,} br · {session.message_count:,} msg",
            took(session, now=now),
            age(session.updated_at, now=now),
        )


def chain_words(session: Session, verdict: HealthVerdict, *, tool_errors: int = 0) -> tuple[str, ...]:
    """A run's state in words, for the person who types."""
    return state_chain(session, verdict, tool_errors=tool_errors, viewer=operator())


def shown_ids(ids: Sequence[str], *, whole: bool) -> list[str]:
    """Ids for a list: whole for programs, for people as short as they can be and still mean one of these runs."""
    length = max((len(short_id(id)) for id in ids), default=0)
    while len({id[:length] for id in ids}) < len(set(ids)):
        length += 1
    return list(ids) if whole else [id[:length] for id in ids]


def activity_object(activity: Activity | None) -> dict[str, Any] | None:
    return None if activity is None else activity._asdict()


def activity_text(activity: Activity, *, now: float) -> str:
    """What a run waits for, as a sentence begins: "waits for bash since 3m"."""
    whom = {
        ActivityKind.HUMAN: "waits for a person",
        ActivityKind.TOOL: f"waits for the tool {activity.tool or 'it called'}",
        ActivityKind.MODEL: "waits for the model",
        ActivityKind.UNKNOWN: "what it waits for is not known",
    }[activity.kind]
    if activity.since is None or activity.kind is ActivityKind.UNKNOWN:
        return whom
    return f"{whom} since {format_duration(now - activity.since)}"


def _activity_cell(activity: Activity | None, *, now: float) -> str | Cell:
    if activity is None or activity.kind is ActivityKind.UNKNOWN:
        return ""
    whom = {ActivityKind.HUMAN: "person", ActivityKind.TOOL: activity.tool or "tool", ActivityKind.MODEL: "model"}
    since = "" if activity.since is None else f" {format_duration(now - activity.since, brief=True)}"
    style = "person" if activity.kind is ActivityKind.HUMAN else "neutral"
    return Cell(f"{whom[activity.kind]}{since}", style)


def took(session: Session, *, now: float) -> str:
    """How long a run took, or takes so far."""
    if session.duration_ms is not None:
        return format_duration(session.duration_ms / 1000)
    if session.status is SessionStatus.RUNNING and session.started_at is not None:
        return format_duration(now - session.started_at)
    return ""


def age(at: float, *, now: float) -> str:
    return f"{format_duration(now - at, brief=True)} ago"


def moment(at: float | None, *, now: float) -> str:
    """A time as the reader's clock shows it, and how long ago that was."""
    if at is None:
        return ""
    return f"{clock_time(at, '%Y-%m-%d %H:%M:%S')} ({age(at, now=now)})"


def clock_time(at: float, form: str) -> str:
    """A time in the reader's time zone."""
    try:
        return time.strftime(form, time.localtime(at))
    except (ValueError, OverflowError, OSError):
        return UNKNOWN_TIME
