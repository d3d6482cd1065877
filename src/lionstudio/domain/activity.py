"""Activity: what a running run is doing right now, beside how it is doing (D5)."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from lionstudio.domain.asking import ASKING_TOOLS, INTERACTIVE
from lionstudio.domain.conversation import Branch, BranchTip, MessageKind, OpenCall
from lionstudio.domain.health_words import GONE, Health
from lionstudio.domain.session import Session, SessionStatus


class ActivityKind(StrEnum):
    """Whom a run waits for."""

    HUMAN = "human"  # a person who can answer
    TOOL = "tool"  # a call without its result
    MODEL = "model"  # a user message or a tool result without its answer
    UNKNOWN = "unknown"  # the messages do not say


class Activity(NamedTuple):
    """What a run or one of its branches waits for, and since when."""

    kind: ActivityKind
    tool: str | None = None
    since: float | None = None
    branch_id: str | None = None


class HumanWait(NamedTuple):
    """An open question to a person: a permission request, or a human gate. Without a branch it concerns the run."""

    since: float
    branch_id: str | None = None
    tool: str | None = None  # what permission is asked for


# Most urgent first: a person can act on the first, knows what runs by the second, and only waits for the third.
ACTIVITY_ORDER = (ActivityKind.HUMAN, ActivityKind.TOOL, ActivityKind.MODEL, ActivityKind.UNKNOWN)

# What a branch without an open call waits for, by what was said last.
_WAITS_FOR: Mapping[MessageKind | None, ActivityKind] = {
    MessageKind.USER: ActivityKind.MODEL,
    MessageKind.TOOL_RESULT: ActivityKind.MODEL,
    MessageKind.TOOL_CALL: ActivityKind.TOOL,  # nothing came after the call, so its result did not either
}


def derive_branch_activity(
    branch: Branch | BranchTip, open_calls: Sequence[OpenCall] = (), *, interactive: bool = False
) -> Activity:
    """What a branch waits for: its oldest open call, else whoever has to speak next."""
    calls = [_call_activity(call) for call in open_calls if call.branch_id == branch.id]
    if calls:
        return min(calls, key=_urgency)
    if interactive and branch.last_kind is MessageKind.ASSISTANT:
        return Activity(ActivityKind.HUMAN, None, branch.last_at, branch.id)
    kind = _WAITS_FOR.get(branch.last_kind, ActivityKind.UNKNOWN)
    tool = branch.last_tool if kind is ActivityKind.TOOL else None
    return Activity(kind, tool, branch.last_at, branch.id)


def derive_branch_activities(
    session: Session, branches: Sequence[Branch | BranchTip], open_calls: Sequence[OpenCall] = ()
) -> list[Activity]:
    """What each branch of a run waits for. A person talks to the first one; the others answer to their agents."""
    interactive = is_interactive(session)
    return [
        derive_branch_activity(branch, open_calls, interactive=interactive and number == 0)
        for number, branch in enumerate(branches)
    ]


def derive_activity(
    session: Session,
    branches: Sequence[Branch | BranchTip],
    open_calls: Sequence[OpenCall] = (),
    *,
    human_waits: Sequence[HumanWait] = (),
    health: Health = Health.HEALTHY,
) -> Activity | None:
    """What a run is doing: human before tool before model, longest first. None for one that does nothing any more."""
    if not is_at_work(session, health):
        return None
    activities = [Activity(ActivityKind.HUMAN, wait.tool, wait.since, wait.branch_id) for wait in human_waits]
    activities += derive_branch_activities(session, branches, open_calls)
    if not activities:
        return Activity(ActivityKind.UNKNOWN, since=session.started_at)
    return activities[0] if len(activities) == 1 else min(activities, key=_urgency)


def is_at_work(session: Session, health: Health) -> bool:
    """Whether a run does anything: not once it has ended, or is gone, when nobody can answer it any more."""
    return session.status is SessionStatus.RUNNING and health not in GONE


def is_interactive(session: Session) -> bool:
    """Whether a person sits in front of the run, so that an answer of its agent waits for one."""
    return session.node_metadata is not None and session.node_metadata.get(INTERACTIVE) is True


def _call_activity(call: OpenCall) -> Activity:
    kind = ActivityKind.HUMAN if call.tool in ASKING_TOOLS else ActivityKind.TOOL
    return Activity(kind, call.tool, call.since, call.branch_id)


def _urgency(activity: Activity) -> tuple[int, bool, float]:
    # A wait without a time cannot claim to be the longest.
    return ACTIVITY_ORDER.index(activity.kind), activity.since is None, activity.since or 0.0
