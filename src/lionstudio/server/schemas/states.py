"""How a thing is doing, and why: the same for runs, plays, shows and teams (D4)."""

from typing import Self

from pydantic import BaseModel

from lionstudio.domain.delivery import Delivery
from lionstudio.domain.reasons import EvidenceKind, Reason
from lionstudio.domain.state import Lifecycle, NormalizedState, Outcome, Severity, StateHealth, Tone
from lionstudio.services.run_values import state_values


class EvidenceRefOut(BaseModel):
    """What a reason rests on: a message, a file, a fact about a process."""

    kind: EvidenceKind
    ref: str
    detail: str | None


class ReasonOut(BaseModel):
    """Why a thing is in its state."""

    code: str
    sentence: str
    evidence: list[EvidenceRefOut]

    @classmethod
    def of(cls, reason: Reason) -> Self:
        evidence = [EvidenceRefOut(kind=ref.kind, ref=ref.ref, detail=ref.detail) for ref in reason.evidence]
        return cls(code=reason.code, sentence=reason.sentence, evidence=evidence)


class StateOut(BaseModel):
    """The state of a thing on the axes that all of them share."""

    lifecycle: Lifecycle
    outcome: Outcome
    health: StateHealth
    delivery: Delivery
    severity: Severity
    tone: Tone
    reasons: list[ReasonOut]

    @classmethod
    def of(cls, state: NormalizedState) -> Self:
        return cls(**state_values(state))
