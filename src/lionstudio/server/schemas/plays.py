"""Plays: rows of lists, one in full, and what a person says at a gate."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from lionstudio.domain.labels import GateWord, IntegrationWord, PillWord, play_badges
from lionstudio.domain.show import Play, PlayStatus
from lionstudio.domain.show_sync import Complaint
from lionstudio.domain.state import Outcome
from lionstudio.server.schemas.links import RunLink
from lionstudio.server.schemas.runs import Transition
from lionstudio.server.schemas.states import StateOut
from lionstudio.server.schemas.texts import Length
from lionstudio.services.gating import Judged, Judgement
from lionstudio.services.show_list import PlayDetail, PlaySummary
from lionstudio.services.show_pages import PlayOnlyOnDisk, PlayPages

Feedback = Annotated[str, Length(100_000)]
Chain = Annotated[list[str], Field(description="the state in words, most telling first")]


class Problem(BaseModel):
    """A file that cannot be read, and why."""

    where: str
    message: str

    @classmethod
    def of(cls, complaint: Complaint) -> Self:
        return cls(where=complaint.where, message=complaint.message)


class PlayMeta(BaseModel):
    """The facts of a play's latest attempt."""

    worktree: str | None
    branch: str | None
    attempt: int
    started_at: float | None
    ended_at: float | None
    exit_code: int | None
    merged_at: float | None
    merge_sha: str | None
    status: PlayStatus

    @classmethod
    def of(cls, play: Play) -> Self:
        return cls(**{name: getattr(play, name) for name in cls.model_fields})


class VerdictOut(BaseModel):
    """What the gate said last."""

    gate_passed: bool | None = Field(description="null: it has not spoken")
    feedback: str | None


class FullVerdictOut(VerdictOut):
    """What the gate said last, with everything else that is in _verdict.json."""

    model_config = ConfigDict(extra="allow")


class BadgesOut(BaseModel):
    """The state of a play as one pill and up to two badges."""

    pill: PillWord = Field(description="how far its work has come")
    gate: GateWord | None
    integration: IntegrationWord | None


class PlayRow(BaseModel):
    """A play as lists show it."""

    topic: str
    name: str
    meta: PlayMeta
    verdict: VerdictOut
    playbook: str | None
    effort: str | None
    duration_ms: float | None = Field(description="of the latest attempt; null until it ended")
    session_id: str | None
    session_name: str | None
    session: RunLink | None
    depends_on: list[str]
    chain: Chain
    state: StateOut
    badges: BadgesOut
    created_at: float
    updated_at: float

    @classmethod
    def of(cls, summary: PlaySummary) -> Self:
        return cls(**_play(summary))


def _play(summary: PlaySummary) -> dict[str, Any]:
    play, run = summary.play, summary.run
    badges = play_badges(play, is_skipped=summary.state.outcome is Outcome.SKIPPED)
    return {
        "topic": summary.topic,
        "name": play.name,
        "meta": PlayMeta.of(play),
        "verdict": VerdictOut(gate_passed=play.gate_passed, feedback=play.gate_feedback),
        "playbook": play.playbook,
        "effort": play.effort,
        "duration_ms": play.duration_ms,
        "session_id": play.session_id,
        "session_name": None if run is None else run.session.name,
        "session": None if run is None else RunLink.of(run),
        "depends_on": list(play.depends_on),
        "chain": list(summary.chain),
        "state": StateOut.of(summary.state),
        "badges": BadgesOut(**badges._asdict()),
        "created_at": play.created_at,
        "updated_at": play.updated_at,
    }


class PlayInShow(PlayRow):
    """A play of one show, with what it is meant to do."""

    intent: str | None

    @classmethod
    def told(cls, summary: PlaySummary, intent: str | None) -> Self:
        return cls(**_play(summary), intent=intent)


class PlayFull(PlayInShow):
    """One play in full, with its files."""

    status_source: Literal["sqlite"] = "sqlite"
    verdict: FullVerdictOut
    full_verdict: dict[str, Any] | None = Field(description="_verdict.json as it is")
    prompt: str | None
    escalation: str | None = Field(description="what a person has to decide")
    history: list[Transition]
    problems: list[Problem]

    @classmethod
    def full(cls, detail: PlayDetail, pages: PlayPages) -> Self:
        own = _play(detail.summary)
        own["verdict"] = FullVerdictOut(**{**(pages.verdict or {}), **dict(own["verdict"])})
        return cls(
            **own,
            intent=pages.intent,
            full_verdict=None if pages.verdict is None else dict(pages.verdict),
            prompt=pages.prompt,
            escalation=pages.escalation,
            history=[Transition.of(step) for step in detail.history],
            problems=[Problem.of(complaint) for complaint in pages.complaints],
        )


class DiskPlay(BaseModel):
    """A play that only its files know."""

    name: str
    meta: dict[str, Any] = Field(description="_meta.json as it is")
    verdict: dict[str, Any] | None = Field(description="_verdict.json as it is")
    updated_at: float

    @classmethod
    def of(cls, play: PlayOnlyOnDisk) -> Self:
        return cls(**_disk_play(play))


def _disk_play(play: PlayOnlyOnDisk) -> dict[str, Any]:
    return {
        "name": play.name,
        "meta": dict(play.meta),
        "verdict": None if play.verdict is None else dict(play.verdict),
        "updated_at": play.updated_at,
    }


class DiskPlayFull(DiskPlay):
    """One play that only its files know, with what it is meant to do."""

    status_source: Literal["filesystem"] = "filesystem"
    topic: str
    intent: str | None
    prompt: str | None
    escalation: str | None
    problems: list[Problem]

    @classmethod
    def full(cls, topic: str, play: PlayOnlyOnDisk, pages: PlayPages) -> Self:
        return cls(
            **_disk_play(play),
            topic=topic,
            intent=pages.intent,
            prompt=pages.prompt,
            escalation=pages.escalation,
            problems=[Problem.of(complaint) for complaint in pages.complaints],
        )


class GateIn(BaseModel):
    """A person's judgement of a play."""

    model_config = ConfigDict(extra="forbid")

    passed: bool
    feedback: Feedback | None = Field(None, description="for the agent of the next attempt")
    note: Feedback | None = Field(None, description="for people")
    dry_run: bool = Field(False, description="only say what would happen")

    def judgement(self) -> Judgement:
        return Judgement(self.passed, _said(self.feedback), _said(self.note))


def _said(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


class GateOut(BaseModel):
    """What a judgement came to, or would come to."""

    dry_run: bool
    topic: str
    name: str
    from_status: PlayStatus
    to_status: PlayStatus
    verdict: VerdictOut
    files: list[str] = Field(description="that were written, seen from the folder of the show")
    problems: list[Problem]
    event_id: str | None = Field(description="of the audit log; null if it was only tried")

    @classmethod
    def of(cls, topic: str, judged: Judged) -> Self:
        play = judged.play
        return cls(
            dry_run=judged.event is None,
            topic=topic,
            name=play.name,
            from_status=judged.before,
            to_status=play.status,
            verdict=VerdictOut(gate_passed=play.gate_passed, feedback=play.gate_feedback),
            files=list(judged.files),
            problems=[Problem.of(complaint) for complaint in judged.complaints],
            event_id=None if judged.event is None else judged.event.id,
        )
