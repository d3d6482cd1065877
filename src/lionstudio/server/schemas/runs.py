"""Runs: a row of a list, and one in full."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Self

from pydantic import BaseModel, Field

from lionstudio.domain.activity import Activity, ActivityKind
from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.conversation import Branch, MessagePlace
from lionstudio.domain.files_touched import FILES_SHOWN, FileTouched, HowTouched
from lionstudio.domain.health import HEALTH_ACTIONS, Health, OperatorAction
from lionstudio.domain.session import InvocationKind, Session, SessionStatus, SourceKind
from lionstudio.domain.tool_errors import KINDS_SHOWN, Failure, ToolErrors, failures_shown, first_failure
from lionstudio.domain.usage import Usage
from lionstudio.server.schemas.evidence import EvidenceOut, ProcessOut
from lionstudio.server.schemas.states import StateOut
from lionstudio.services.forking import history_length
from lionstudio.services.run_values import row_values
from lionstudio.services.runs import Lane, SessionDetail, SessionSummary


class UsageOut(BaseModel):
    """Tokens by kind, and what they cost where that was said."""

    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost_usd: float | None

    @classmethod
    def of(cls, usage: Usage) -> Self:
        return cls(**usage._asdict())


class ActivityOut(BaseModel):
    """What a running run waits for, and since when (D5)."""

    kind: ActivityKind
    tool: str | None
    since: float | None
    branch_id: str | None

    @classmethod
    def of(cls, activity: Activity) -> Self:
        return cls(kind=activity.kind, tool=activity.tool, since=activity.since, branch_id=activity.branch_id)


class Provenance(BaseModel):
    """Where a run came from."""

    source: SourceKind | None
    kind: InvocationKind | None
    agent: str | None
    playbook: str | None
    show: str | None
    play: str | None
    parent: str | None


class SessionRow(BaseModel):
    """A run as lists show it."""

    id: str
    name: str | None
    display_name: str
    status: SessionStatus | None = Field(description="null for a legacy run, which predates the vocabulary")
    effective_health: Health
    chain: list[str] = Field(description="the state in words, most telling first")
    state: StateOut
    activity: ActivityOut | None
    created_at: float
    updated_at: float
    started_at: float | None
    ended_at: float | None
    last_message_at: float | None
    message_count: int
    branch_count: int
    duration_ms: float | None = Field(description="null while it runs")
    usage: UsageOut
    provenance: Provenance

    @classmethod
    def of(cls, summary: SessionSummary) -> Self:
        return cls(**row_values(summary))


class BranchOut(BaseModel):
    """A line of messages; a fork begins with part of its parent's."""

    id: str
    name: str | None
    created_at: float
    parent_branch_id: str | None
    forked_at: int | None = Field(description="how many messages of the parent's history it begins with")
    message_count: int = Field(description="its own messages")
    history_length: int = Field(description="with those it inherited")
    system_msg_id: str | None
    model: str | None = Field(description="that it was begun with, where that was said")
    last_at: float | None
    activity: ActivityOut | None

    @classmethod
    def of(cls, branch: Branch, activity: Activity | None = None) -> Self:
        return cls(
            id=branch.id,
            name=branch.name,
            created_at=branch.created_at,
            parent_branch_id=branch.parent_branch_id,
            forked_at=branch.forked_at_ord,
            message_count=branch.message_count,
            history_length=history_length(branch),
            system_msg_id=branch.system_msg_id,
            model=branch.model,
            last_at=branch.last_at,
            activity=None if activity is None else ActivityOut.of(activity),
        )


class MessagePlaceOut(BaseModel):
    """Where a message stands."""

    branch_id: str
    position: int = Field(description="in the history of that branch, counted from 1")


class ToolFailure(BaseModel):
    """One time that a tool failed."""

    message_id: str
    at: float
    place: MessagePlaceOut | None

    @classmethod
    def of(cls, failure: Failure, places: Mapping[str, MessagePlace]) -> Self:
        place = places.get(failure.message_id)
        told = None if place is None else MessagePlaceOut(**place._asdict())
        return cls(message_id=failure.message_id, at=failure.at, place=told)


class ToolErrorsOut(BaseModel):
    """Times that one tool failed in the same way; ids and numbers make no difference."""

    tool: str | None
    sentence: str = Field(description="the line of what it said the last time that tells most")
    times: int
    first_at: float
    last_at: float
    last_message_id: str
    by_branch: dict[str, int] = Field(description="how many of the latest, by the id of the branch")
    latest: list[ToolFailure] = Field(description="the last hundred, newest first; twenty where there are many kinds")

    @classmethod
    def of(cls, errors: ToolErrors, places: Mapping[str, MessagePlace], limit: int) -> Self:
        latest = [ToolFailure.of(failure, places) for failure in errors.latest(limit)]
        return cls(
            tool=errors.tool,
            sentence=errors.sentence,
            times=errors.times,
            first_at=errors.first_at,
            last_at=errors.last_at,
            last_message_id=errors.last_message_id,
            by_branch=Counter(failure.place.branch_id for failure in latest if failure.place is not None),
            latest=latest,
        )


class SpanOut(BaseModel):
    """A time in which a branch waited for one of them."""

    kind: ActivityKind
    from_at: float
    to_at: float
    position: int = Field(description="of the message to look at, in the branch's history")
    tool: str | None


class LaneOut(BaseModel):
    """Who was busy when, in one branch."""

    branch_id: str
    spans: list[SpanOut] = Field(description="oldest first, at most 500; short ones are joined where there are more")


class TimelineOut(BaseModel):
    """Who was busy when, in a run. What a branch waits for now is in its activity."""

    lanes: list[LaneOut]

    @classmethod
    def of(cls, lanes: Iterable[Lane]) -> Self:
        return cls(
            lanes=[
                LaneOut(branch_id=lane.branch_id, spans=[SpanOut(**span._asdict()) for span in lane.spans])
                for lane in lanes
            ]
        )


class FileOut(BaseModel):
    """A file that tool calls name."""

    path: str
    how: HowTouched
    times: int
    last_at: float
    last_message_id: str

    @classmethod
    def of(cls, file: FileTouched) -> Self:
        return cls(**file._asdict())


class OtherRun(BaseModel):
    """A run that this one started, or was started by."""

    id: str
    display_name: str
    status: SessionStatus | None

    @classmethod
    def of(cls, session: Session, names: dict[str, str]) -> Self:
        return cls(id=session.id, display_name=names[session.id], status=session.status)


class SourcePlay(BaseModel):
    """The play that a run was made for (R78)."""

    topic: str
    play: str
    status: str
    attempt: int


class Transition(BaseModel):
    """One step in the life of a thing, as it was written down then."""

    at: float
    from_status: str | None
    to_status: str | None = Field(description="null: it was deleted")
    actor: str
    reason_code: str | None
    sentence: str | None
    evidence: dict[str, Any] | None

    @classmethod
    def of(cls, step: StatusTransition) -> Self:
        return cls(
            at=step.at,
            from_status=step.from_status,
            to_status=step.to_status,
            actor=step.actor,
            reason_code=step.reason_code,
            sentence=step.telling,
            evidence=None if step.evidence is None else dict(step.evidence),
        )


class SessionFull(SessionRow):
    """One run in full."""

    user: str | None
    exit_code: int | None
    ended_by: str | None
    end_reason: str | None
    messages_lost: int
    artifacts_path: str | None
    node_metadata: dict[str, Any] | None
    actions: list[OperatorAction] = Field(description="what an operator is offered for it")
    evidence: EvidenceOut
    processes: list[ProcessOut]
    branches: list[BranchOut]
    tool_errors: list[ToolErrorsOut] = Field(description="the fifty most frequent kinds")
    tool_error_kinds_left_out: int
    first_tool_error: ToolFailure | None = Field(description="of any kind")
    tool_error_count: int = Field(description="how often tools failed, of all kinds")
    files: list[FileOut]
    files_left_out: int
    places: dict[str, MessagePlaceOut] = Field(description="where messages stand that files and reasons name, by id")
    usage_by_model: dict[str, UsageOut]
    plays: list[SourcePlay]
    parent: OtherRun | None
    children: list[OtherRun]
    team_messages: int = Field(description="how many it wrote to its teams; see /team-messages")

    @classmethod
    def full(cls, detail: SessionDetail) -> Self:
        summary = detail.summary
        session = summary.session
        tool_errors = detail.tool_errors
        failed = sum(errors.times for errors in tool_errors)
        latest, first = failures_shown(len(tool_errors)), first_failure(tool_errors)
        return cls(
            **row_values(summary, tool_errors=failed),
            user=session.user,
            exit_code=session.exit_code,
            ended_by=session.end_actor,
            end_reason=session.end_reason,
            messages_lost=session.messages_lost,
            artifacts_path=session.artifacts_path,
            node_metadata=None if session.node_metadata is None else dict(session.node_metadata),
            actions=list(HEALTH_ACTIONS[summary.verdict.health]),
            evidence=EvidenceOut.of(detail.evidence),
            processes=[ProcessOut.of(record, look) for record, look in detail.processes],
            branches=[BranchOut.of(branch, activity) for branch, activity in detail.branches],
            tool_errors=[ToolErrorsOut.of(errors, detail.places, latest) for errors in tool_errors[:KINDS_SHOWN]],
            first_tool_error=None if first is None else ToolFailure.of(first, detail.places),
            tool_error_kinds_left_out=max(0, len(tool_errors) - KINDS_SHOWN),
            tool_error_count=failed,
            files=[FileOut.of(file) for file in detail.files[:FILES_SHOWN]],
            files_left_out=max(0, len(detail.files) - FILES_SHOWN),
            places=_named_places(detail),
            usage_by_model={model: UsageOut.of(used) for model, used in detail.usage.items()},
            plays=[
                SourcePlay(topic=topic, play=play.name, status=play.status, attempt=play.attempt)
                for topic, play in detail.plays
            ],
            parent=None if detail.parent is None else OtherRun.of(detail.parent, detail.names),
            children=[OtherRun.of(child, detail.names) for child in detail.children],
            team_messages=detail.team_messages,
        )


def _named_places(detail: SessionDetail) -> dict[str, MessagePlaceOut]:
    named = {file.last_message_id for file in detail.files[:FILES_SHOWN]}
    for reason in detail.summary.state.reasons:
        named.update(ref.ref for ref in reason.evidence)
    return {id: MessagePlaceOut(**place._asdict()) for id, place in detail.places.items() if id in named}
