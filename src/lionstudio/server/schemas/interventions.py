"""What an operator does to runs by hand: the orders, and what came of them."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from lionstudio.domain.health import Health
from lionstudio.domain.reasons import EndReason
from lionstudio.domain.session import ADMIN_TARGETS, SessionStatus
from lionstudio.server.schemas.states import ReasonOut
from lionstudio.server.schemas.texts import Length
from lionstudio.services.cleanup import CleanedUp
from lionstudio.services.interventions import Intervention
from lionstudio.services.prune import KeptSession, PrunePlan, PruneResult, WhyKept
from lionstudio.services.prune_selected import Pruned
from lionstudio.services.refusing import MOST_AT_ONCE
from lionstudio.services.repair import Repaired, Step

IDS_SHOWN = 1_000  # of what a prune by age takes; the history of each run says that it was pruned

# Ids from elsewhere may look like anything, but no database keeps a NUL.
SessionId = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]+$")]
SessionIds = Annotated[list[SessionId], Field(min_length=1, max_length=MOST_AT_ONCE)]
Sentence = Annotated[str, Length(4_000)]
DryRun = Annotated[bool, Field(description="say what would be done, and do nothing")]


class TransitionIn(BaseModel):
    """Runs to end by hand: all of them or none."""

    model_config = ConfigDict(extra="forbid")

    session_ids: SessionIds
    target_status: str = Field(max_length=100, json_schema_extra={"enum": [*sorted(ADMIN_TARGETS)]})
    reason: EndReason | Annotated[str, Length(4_000, at_least=1)] = Field(
        description="why, as a sentence or as the code of one; it is kept in the audit log"
    )
    note: Sentence | None = None
    dry_run: DryRun = False
    force: bool = Field(False, description="end an unresponsive run too, whose process lives; needs a note")


class Transitioned(BaseModel):
    """One run that was ended by hand, or would be."""

    session_id: str
    previous_status: SessionStatus
    status: SessionStatus | None = Field(description="afterwards; of a dry run, as it is")
    health: Health
    reasons: list[ReasonOut] = Field(description="why it was held to be dead")
    event_id: str | None = Field(description="of the audit log; null for a dry run")

    @classmethod
    def of(cls, done: Intervention) -> Self:
        return cls(
            session_id=done.session.id,
            previous_status=done.previous_status,
            status=done.session.status,
            health=done.verdict.health,
            reasons=[ReasonOut.of(reason) for reason in done.verdict.reasons],
            event_id=done.event_id,
        )


class Transitions(BaseModel):
    """What became of each run, in the order asked for."""

    dry_run: bool
    items: list[Transitioned]


class PruneIn(BaseModel):
    """Runs to delete: either those named, all or none, or all that ended more than `keep_days` ago.

    A run that is needed only since all were looked at is kept, and told.
    """

    model_config = ConfigDict(extra="forbid")

    session_ids: SessionIds | None = None
    reason: Sentence | None = Field(None, description="why, with session_ids")
    keep_days: float | None = Field(None, ge=0, le=1_000_000, allow_inf_nan=False)
    keep_n: int | None = Field(None, ge=0, le=2**53, description="so many of the newest stay (default: 100)")
    plan: str | None = Field(
        None, max_length=100, description="with keep_days or keep_n: the plan that was agreed to; another is refused"
    )
    dry_run: DryRun = False


class RemovedOut(BaseModel):
    """How many rows went, or would go."""

    sessions: int
    branches: int
    progressions: int
    entries: int
    messages: int


class KeptOut(BaseModel):
    """A run that is old enough, or was chosen, and stays all the same."""

    session_id: str
    why: WhyKept
    sentence: str

    @classmethod
    def of(cls, kept: KeptSession) -> Self:
        return cls(**kept._asdict())


class PrunedOut(BaseModel):
    """What was deleted, or would be, and what stays."""

    dry_run: bool
    removed: RemovedOut
    session_ids: list[str] = Field(description=f"of what went; the first {IDS_SHOWN:,}")
    kept: list[KeptOut] = Field(description="old enough or chosen, and still needed")
    kept_newest: int = Field(description="old enough, but among the newest")
    plan: str | None = Field(description="names the runs of a plan by age, all of them")
    event_id: str | None

    @classmethod
    def of_selected(cls, done: Pruned, *, dry_run: bool) -> Self:
        return cls(
            dry_run=dry_run,
            removed=RemovedOut(**done.removed._asdict()),
            session_ids=list(done.session_ids),
            kept=[KeptOut.of(one) for one in done.kept],
            kept_newest=0,
            plan=None,
            event_id=done.event_id,
        )

    @classmethod
    def of_old(cls, plan: PrunePlan, done: PruneResult, *, dry_run: bool) -> Self:
        kept = {one.session_id for one in done.kept}
        return cls(
            dry_run=dry_run,
            removed=RemovedOut(**done.removed._asdict()),
            session_ids=[id for id in plan.session_ids if id not in kept][:IDS_SHOWN],
            kept=[KeptOut.of(one) for one in done.kept],
            kept_newest=plan.kept_newest,
            plan=plan.name,
            event_id=done.event_id,
        )


class CleanupIn(BaseModel):
    """Ended runs whose leftovers are to go."""

    model_config = ConfigDict(extra="forbid")

    session_ids: SessionIds
    only: list[Annotated[str, Field(max_length=10_000)]] | None = Field(
        None, max_length=100_000, description="the files that were agreed to, as a dry run told them; others stay"
    )
    dry_run: DryRun = False


class KeptFileOut(BaseModel):
    """A leftover that stays, and why."""

    path: str
    why: str


class CleanedUpOut(BaseModel):
    """What was removed after a run, or would be."""

    session_id: str
    removed: list[str]
    kept: list[KeptFileOut]
    bytes: int
    health: Health = Field(description="afterwards; of a dry run, as it is")
    event_id: str | None

    @classmethod
    def of(cls, done: CleanedUp) -> Self:
        return cls(
            session_id=done.session.id,
            removed=list(done.removed),
            kept=[KeptFileOut(path=kept.path, why=kept.why) for kept in done.kept],
            bytes=done.size,
            health=done.verdict.health,
            event_id=done.event_id,
        )


class Cleanups(BaseModel):
    """What became of each run, in the order asked for."""

    dry_run: bool
    items: list[CleanedUpOut]

    @classmethod
    def of(cls, done: Sequence[CleanedUp], *, dry_run: bool) -> Self:
        return cls(dry_run=dry_run, items=[CleanedUpOut.of(one) for one in done])


class RepairIn(BaseModel):
    """Runs whose process is gone, and that may have left something outside of the database."""

    model_config = ConfigDict(extra="forbid")

    session_ids: SessionIds
    dry_run: DryRun = False


class RepairStepOut(BaseModel):
    """One thing that was found."""

    step: Step
    sentence: str
    changes: bool = Field(description="it was, or would be, acted on")


class RepairedOut(BaseModel):
    """What became of a run, or would. Its status is never changed by a repair."""

    session_id: str
    status: SessionStatus | None
    health_before: Health
    health: Health
    steps: list[RepairStepOut]
    way_on: str = Field(description="what is left for the operator")
    event_id: str | None

    @classmethod
    def of(cls, done: Repaired) -> Self:
        return cls(
            session_id=done.session.id,
            status=done.session.status,
            health_before=done.before.health,
            health=done.after.health,
            steps=[RepairStepOut(**step._asdict()) for step in done.steps],
            way_on=done.way_on,
            event_id=done.event_id,
        )


class Repairs(BaseModel):
    """What became of each run, in the order asked for."""

    dry_run: bool
    items: list[RepairedOut]

    @classmethod
    def of(cls, done: Sequence[Repaired], *, dry_run: bool) -> Self:
        return cls(dry_run=dry_run, items=[RepairedOut.of(one) for one in done])
