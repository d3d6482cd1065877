"""Normalized state: one answer on the same axes for every session, play, show and team (D4)."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from lionstudio.domain.delivery import Delivered, Delivery, read_delivered
from lionstudio.domain.health import Health, HealthVerdict
from lionstudio.domain.process import ProcessState
from lionstudio.domain.reasons import REASON_CODES, EvidenceKind, EvidenceRef, Reason, reason_for_exit, signal_of
from lionstudio.domain.session import RUN_ACTOR, Session, SessionStatus
from lionstudio.domain.show import Play, PlayStatus, Show, ShowStatus, StatusSource
from lionstudio.domain.team import Team, TeamStatus


class Lifecycle(StrEnum):
    """Where a thing stands on its way."""

    PENDING = "pending"
    RUNNING = "running"  # it works, or is in use
    AWAITING_GATE = "awaiting_gate"
    BLOCKED = "blocked"  # it cannot go on without a person
    ENDED = "ended"
    ARCHIVED = "archived"
    LEGACY = "legacy"  # it predates the vocabulary, or came without saying


class Outcome(StrEnum):
    """What came of it."""

    NONE = "none"  # nothing yet, or nothing known
    COMPLETED = "completed"
    MERGED = "merged"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    ABORTED = "aborted"
    CANCELLED = "cancelled"
    GATE_FAILED = "gate_failed"
    ESCALATED = "escalated"
    SKIPPED = "skipped"


class StateHealth(StrEnum):
    """How it is doing, in words that fit all four kinds of thing; best first."""

    OK = "ok"  # nothing runs and nothing is wrong
    RUNNING = "running"
    IDLE = "idle"
    DEGRADED = "degraded"
    STALLED = "stalled"
    ORPHANED = "orphaned"
    PROCESS_DEAD = "process_dead"


class Severity(StrEnum):
    """How much it matters, least first."""

    NEUTRAL = "neutral"
    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class Tone(StrEnum):
    """How it looks."""

    DANGER = "danger"
    WARNING = "warning"
    INFO = "info"
    SUCCESS = "success"
    NEUTRAL = "neutral"


# What is not listed is neutral. The worst of the four axes wins.
LIFECYCLE_SEVERITY: Mapping[Lifecycle, Severity] = {
    Lifecycle.BLOCKED: Severity.CRITICAL,
    Lifecycle.RUNNING: Severity.INFO,
    Lifecycle.AWAITING_GATE: Severity.INFO,
}
OUTCOME_SEVERITY: Mapping[Outcome, Severity] = {
    Outcome.FAILED: Severity.CRITICAL,
    Outcome.ESCALATED: Severity.CRITICAL,
    Outcome.TIMED_OUT: Severity.WARNING,
    Outcome.GATE_FAILED: Severity.WARNING,
    Outcome.SKIPPED: Severity.INFO,
}
HEALTH_SEVERITY: Mapping[StateHealth, Severity] = {
    StateHealth.PROCESS_DEAD: Severity.CRITICAL,
    StateHealth.ORPHANED: Severity.CRITICAL,
    StateHealth.STALLED: Severity.CRITICAL,
    StateHealth.DEGRADED: Severity.WARNING,
    StateHealth.IDLE: Severity.WARNING,
    StateHealth.RUNNING: Severity.INFO,
}
DELIVERY_SEVERITY: Mapping[Delivery, Severity] = {
    Delivery.MISSING: Severity.CRITICAL,
    Delivery.PARTIAL: Severity.WARNING,
    Delivery.INVALID: Severity.WARNING,
}
SEVERITY_ORDER = tuple(Severity)
_HEALTH_ORDER = tuple(StateHealth)
SEVERITY_TONE: Mapping[Severity, Tone] = {
    Severity.CRITICAL: Tone.DANGER,
    Severity.WARNING: Tone.WARNING,
    Severity.INFO: Tone.INFO,
    Severity.NEUTRAL: Tone.NEUTRAL,
}
GOOD_OUTCOMES = frozenset({Outcome.COMPLETED, Outcome.MERGED})


class NormalizedState(NamedTuple):
    """The state of one thing. Severity and tone follow from the axes, so they can never disagree with them."""

    lifecycle: Lifecycle
    outcome: Outcome
    health: StateHealth
    delivery: Delivery = Delivery.NOT_EXPECTED
    reasons: tuple[Reason, ...] = ()

    @property
    def severity(self) -> Severity:
        return severity_of(self.lifecycle, self.outcome, self.health, self.delivery)

    @property
    def tone(self) -> Tone:
        return tone_of(self.severity, self.outcome)


@cache  # there are few combinations, and a list asks for each row
def severity_of(lifecycle: Lifecycle, outcome: Outcome, health: StateHealth, delivery: Delivery) -> Severity:
    """How much a state matters: the worst of what its axes say."""
    # Files are promised for the end: while it works, a missing one is only not there yet.
    delivered = DELIVERY_SEVERITY.get(delivery) if lifecycle is Lifecycle.ENDED else None
    found = (LIFECYCLE_SEVERITY.get(lifecycle), OUTCOME_SEVERITY.get(outcome), HEALTH_SEVERITY.get(health), delivered)
    return max((severity or Severity.NEUTRAL for severity in found), key=SEVERITY_ORDER.index)


def tone_of(severity: Severity, outcome: Outcome) -> Tone:
    """How a state looks: as severe as it is, and good where there is nothing to say against a good outcome."""
    if severity is Severity.NEUTRAL and outcome in GOOD_OUTCOMES:
        return Tone.SUCCESS
    return SEVERITY_TONE[severity]


STATE_HEALTH: Mapping[Health, StateHealth] = {
    Health.HEALTHY: StateHealth.RUNNING,
    Health.IDLE: StateHealth.IDLE,
    Health.UNRESPONSIVE: StateHealth.STALLED,
    Health.STALE: StateHealth.PROCESS_DEAD,
    Health.ORPHANED: StateHealth.ORPHANED,
    Health.ZOMBIE: StateHealth.DEGRADED,
}
_SESSION_AXES: Mapping[SessionStatus | None, tuple[Lifecycle, Outcome]] = {
    None: (Lifecycle.LEGACY, Outcome.NONE),
    SessionStatus.RUNNING: (Lifecycle.RUNNING, Outcome.NONE),
    SessionStatus.COMPLETED: (Lifecycle.ENDED, Outcome.COMPLETED),
    SessionStatus.FAILED: (Lifecycle.ENDED, Outcome.FAILED),
    SessionStatus.TIMED_OUT: (Lifecycle.ENDED, Outcome.TIMED_OUT),
    SessionStatus.ABORTED: (Lifecycle.ENDED, Outcome.ABORTED),
    SessionStatus.CANCELLED: (Lifecycle.ENDED, Outcome.CANCELLED),
}


def derive_session_state(session: Session, verdict: HealthVerdict, delivery: Delivery | None = None) -> NormalizedState:
    """The state of a run, from its row, its health and what it delivered, which its row says."""
    delivered = read_delivered(session.node_metadata) if delivery is None else Delivered(delivery)
    lifecycle, outcome = _SESSION_AXES[session.status]
    health = STATE_HEALTH[verdict.health]
    if verdict.health is Health.STALE and verdict.process is not ProcessState.DEAD:
        health = StateHealth.STALLED  # nobody saw the process die
    if verdict.health is Health.HEALTHY and lifecycle is not Lifecycle.RUNNING:
        health = StateHealth.OK
    reasons = (*_end_reasons(session), *_delivery_reasons(lifecycle, delivered), *verdict.reasons)
    return NormalizedState(lifecycle, outcome, health, delivered.delivery, reasons)


_PLAY_AXES: Mapping[PlayStatus, tuple[Lifecycle, Outcome, str]] = {
    PlayStatus.PENDING: (Lifecycle.PENDING, Outcome.NONE, "play.waiting.dependencies"),
    PlayStatus.PREPARED: (Lifecycle.PENDING, Outcome.NONE, "play.prepared.worktree"),
    PlayStatus.RUNNING: (Lifecycle.RUNNING, Outcome.NONE, "play.running.agent"),
    PlayStatus.RUNNING_COMPLETE: (Lifecycle.AWAITING_GATE, Outcome.NONE, "play.gate.awaiting"),
    PlayStatus.GATED: (Lifecycle.AWAITING_GATE, Outcome.NONE, "play.gate.awaiting"),
    PlayStatus.GATE_FAILED: (Lifecycle.ENDED, Outcome.GATE_FAILED, "play.gate.failed"),
    PlayStatus.REDOING: (Lifecycle.RUNNING, Outcome.NONE, "play.running.redo"),
    PlayStatus.MERGED: (Lifecycle.ENDED, Outcome.MERGED, "play.merged.integrated"),
    PlayStatus.ESCALATED: (Lifecycle.BLOCKED, Outcome.ESCALATED, "play.escalated.needs_decision"),
    PlayStatus.BLOCKED: (Lifecycle.BLOCKED, Outcome.NONE, "play.blocked.dependency_failed"),
    PlayStatus.ABORTED_AFTER_FINISH: (Lifecycle.ENDED, Outcome.ABORTED, "play.aborted.after_finish"),
}
_ENDED_SHOWS = frozenset({ShowStatus.COMPLETED, ShowStatus.ABORTED})


def derive_play_state(
    play: Play,
    session_state: NormalizedState | None = None,
    delivery: Delivery = Delivery.NOT_EXPECTED,
    *,
    show_status: ShowStatus = ShowStatus.ACTIVE,
) -> NormalizedState:
    """The state of a play, from its row, its run's state and whether its show still goes on."""
    lifecycle, outcome, code = _PLAY_AXES[play.status]
    if play.status is PlayStatus.GATED and play.gate_passed:
        lifecycle, outcome, code = Lifecycle.ENDED, Outcome.COMPLETED, "play.gate.passed"
    if lifecycle is Lifecycle.PENDING and show_status in _ENDED_SHOWS:
        lifecycle, outcome, code = Lifecycle.ENDED, Outcome.SKIPPED, "play.skipped.show_ended"
    own = Reason(code, REASON_CODES[code], _play_refs(play))
    health, inherited = _play_health(lifecycle, session_state)
    reasons = (own, *_delivery_reasons(lifecycle, Delivered(delivery)), *inherited)
    return NormalizedState(lifecycle, outcome, health, delivery, reasons)


def _play_health(lifecycle: Lifecycle, session_state: NormalizedState | None) -> tuple[StateHealth, tuple[Reason, ...]]:
    """A play is as well as its run while the run counts: as long as it works, and for what it left behind."""
    if lifecycle is Lifecycle.RUNNING:
        if session_state is None:
            return StateHealth.RUNNING, (Reason("play.health.no_run", REASON_CODES["play.health.no_run"]),)
        return session_state.health, session_state.reasons
    if session_state is not None and session_state.health is StateHealth.DEGRADED:
        return session_state.health, session_state.reasons
    return StateHealth.OK, ()


def _play_refs(play: Play) -> tuple[EvidenceRef, ...]:
    facts = {
        "session_id": play.session_id,
        "exit_code": play.exit_code,
        "gate_feedback": play.gate_feedback,
        "merge_sha": play.merge_sha,
    }
    return _fact_refs(facts)


_SHOW_AXES: Mapping[ShowStatus, tuple[Lifecycle, Outcome, str]] = {
    ShowStatus.COMPLETED: (Lifecycle.ENDED, Outcome.COMPLETED, "show.completed.all_merged"),
    ShowStatus.ABORTED: (Lifecycle.ENDED, Outcome.ABORTED, "show.aborted.by_operator"),
    ShowStatus.IMPORTED: (Lifecycle.LEGACY, Outcome.NONE, "show.imported.unclassified"),
}
# Plays that trouble an active show, most severe first: what the show is then, and why.
SHOW_TROUBLES: Mapping[PlayStatus, tuple[Lifecycle, StateHealth, str]] = {
    PlayStatus.ESCALATED: (Lifecycle.BLOCKED, StateHealth.RUNNING, "show.blocked.play_escalated"),
    PlayStatus.BLOCKED: (Lifecycle.BLOCKED, StateHealth.RUNNING, "show.blocked.play_blocked"),
    PlayStatus.GATE_FAILED: (Lifecycle.RUNNING, StateHealth.DEGRADED, "show.degraded.gate_failed"),
}


def derive_show_state(
    show: Show, plays: Sequence[tuple[Play, NormalizedState]] = (), *, final_gate_passed: bool | None = None
) -> NormalizedState:
    """The state of a show, from its row, its plays and its final gate."""
    if show.status is ShowStatus.ACTIVE:
        return _active_show_state(plays, "show.active.plays")
    lifecycle, outcome, code = _SHOW_AXES[show.status]
    if show.status is ShowStatus.IMPORTED and any(play.status in SHOW_TROUBLES for play, _ in plays):
        return _active_show_state(plays, code)  # nothing tells that it ended, so somebody has to look at them
    if show.status is ShowStatus.ABORTED and final_gate_passed is False:
        outcome, code = Outcome.FAILED, "show.failed.final_gate"
    elif show.status is ShowStatus.ABORTED and show.status_source is StatusSource.FILESYSTEM:
        code = "show.aborted.abort_file"
    return NormalizedState(lifecycle, outcome, StateHealth.OK, reasons=(Reason(code, REASON_CODES[code]),))


def _active_show_state(plays: Sequence[tuple[Play, NormalizedState]], code: str) -> NormalizedState:
    """An active show is as well as the worst of its plays, and blocked as soon as one of them needs a person."""
    lifecycle = Lifecycle.RUNNING
    healths = [StateHealth.RUNNING, *(state.health for _, state in plays)]
    reasons: list[Reason] = []
    for status, (stage, health, trouble) in SHOW_TROUBLES.items():
        names = [play.name for play, _ in plays if play.status is status]
        if names:
            lifecycle = stage if lifecycle is Lifecycle.RUNNING else lifecycle
            healths.append(health)
            refs = tuple(EvidenceRef(EvidenceKind.FACT, "play", name) for name in names)
            reasons.append(Reason(trouble, REASON_CODES[trouble], refs))
    reasons.append(Reason(code, REASON_CODES[code]))
    worst = max(healths, key=_HEALTH_ORDER.index)
    return NormalizedState(lifecycle, Outcome.NONE, worst, reasons=tuple(reasons))


def derive_team_state(team: Team) -> NormalizedState:
    """The state of a team: in use or archived; a team runs no process that could be ill."""
    if team.status is TeamStatus.ARCHIVED:
        code, lifecycle = "team.archived.by_operator", Lifecycle.ARCHIVED
    else:
        code, lifecycle = "team.active.open", Lifecycle.RUNNING
    return NormalizedState(lifecycle, Outcome.NONE, StateHealth.OK, reasons=(Reason(code, REASON_CODES[code]),))


def _delivery_reasons(lifecycle: Lifecycle, delivered: Delivered) -> tuple[Reason, ...]:
    if lifecycle is not Lifecycle.ENDED or delivered.delivery is Delivery.NOT_EXPECTED:
        return ()
    code = f"run.delivery.{delivered.delivery}"
    lacking = [EvidenceRef(EvidenceKind.FACT, "expected", glob) for glob in delivered.lacking]
    files = [EvidenceRef(EvidenceKind.FILE, name) for name in delivered.invalid or delivered.found]
    return (Reason(code, REASON_CODES[code], (*lacking, *files)),)


def end_reason_code(session: Session) -> str | None:
    """Why a run ended, as far as its row says; None while it runs and for a legacy run."""
    if session.status is None or session.status is SessionStatus.RUNNING:
        return None
    if session.end_actor not in (None, RUN_ACTOR):
        return "run.ended.by_operator"
    if session.end_reason in REASON_CODES:
        return session.end_reason
    # Without a stored reason and an exit code, any cause we named would be a guess.
    return "run.ended.unexplained" if session.exit_code is None else reason_for_exit(session.status, session.exit_code)


def _end_reasons(session: Session) -> tuple[Reason, ...]:
    code = end_reason_code(session)
    if code is None:
        return ()
    facts = {"exit_code": session.exit_code, "end_actor": session.end_actor, "ended_at": session.ended_at}
    return (Reason(code, _end_sentence(session, code), _fact_refs(facts)),)


def _end_sentence(session: Session, code: str) -> str:
    if code == "run.ended.by_operator":
        return f"{session.end_actor} gave the run its final status."
    if code == "run.failed.exit_nonzero" and session.exit_code is not None:
        return f"The command ended with exit code {session.exit_code}."
    if code == "run.failed.signal" and (signal := signal_of(session.exit_code)) is not None:
        return f"Signal {signal} killed the command."
    return REASON_CODES[code]


def _fact_refs(facts: Mapping[str, object]) -> tuple[EvidenceRef, ...]:
    return tuple(EvidenceRef(EvidenceKind.FACT, name, str(fact)) for name, fact in facts.items() if fact is not None)
