"""What needs a person's look: one concern for each distinct thing, however many signals it gives."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import quote

from lionstudio.domain.delivery import Delivery
from lionstudio.domain.health import Health, began_at
from lionstudio.domain.phrases import format_duration
from lionstudio.domain.reasons import EvidenceKind, EvidenceRef, Reason
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.show import Play, PlayStatus
from lionstudio.domain.state import (
    SHOW_TROUBLES,
    STATE_HEALTH,
    Lifecycle,
    Outcome,
    Severity,
    StateHealth,
    derive_play_state,
    severity_of,
)


class Signal(StrEnum):
    """Why something needs a look."""

    STALE = "stale"  # a run whose process is gone, or that has been quiet for too long
    ORPHANED = "orphaned"  # a run whose process is gone and that never produced anything
    SLOW = "slow"  # a run that has been running for more than 60 minutes
    FAILED_24H = "failed_24h"  # a run that failed or timed out in the last 24 h
    ZOMBIE = "zombie"  # a run that ended and left locks or unfinished files behind
    ESCALATED = "escalated"  # a play that cannot go on without a person
    GATE_FAILED = "gate_failed"  # a play that its gate refused
    BLOCKED = "blocked"  # a show with a play that cannot go on without a person


class Subject(StrEnum):
    """What kind of thing it is."""

    SESSION = "session"
    PLAY = "play"
    SHOW = "show"


class Concern(NamedTuple):
    """One thing that needs a look: as much of it as counting and sorting take."""

    subject: Subject
    id: str
    signals: tuple[Signal, ...]
    since: float  # a run that runs: its beginning; anything else: when it came to this
    severity: Severity


# Plays that need a look themselves, and those that stop their show. Both only while the show goes on: who ended a show
# has decided about its plays.
PLAY_SIGNALS: Mapping[PlayStatus, Signal] = {
    PlayStatus.ESCALATED: Signal.ESCALATED,
    PlayStatus.GATE_FAILED: Signal.GATE_FAILED,
}
BLOCKS_SHOW = frozenset(status for status, (stage, _, _) in SHOW_TROUBLES.items() if stage is Lifecycle.BLOCKED)
# What still runs or waits for a person can be helped; what has failed can only be looked at.
_URGENCY: Mapping[Signal, int] = {
    Signal.STALE: 0,
    Signal.ORPHANED: 0,
    Signal.ESCALATED: 0,
    Signal.GATE_FAILED: 0,
    Signal.BLOCKED: 0,
    Signal.FAILED_24H: 1,
    Signal.SLOW: 2,
    Signal.ZOMBIE: 3,
}
_ENDED = frozenset({_URGENCY[Signal.FAILED_24H], _URGENCY[Signal.ZOMBIE]})
_HEALTH_SIGNALS: Mapping[Health, Signal] = {Health.STALE: Signal.STALE, Health.ORPHANED: Signal.ORPHANED}


def derive_running_concern(session: Session, health: Health, *, is_slow: bool) -> Concern | None:
    """What is wrong with a run that runs, if anything is."""
    signals = [_HEALTH_SIGNALS[health]] if health in _HEALTH_SIGNALS else []
    if is_slow:
        signals.append(Signal.SLOW)
    if not signals:
        return None
    severity = _SEVERITIES[SessionStatus.RUNNING, health]
    return Concern(Subject.SESSION, session.id, tuple(signals), began_at(session), severity)


def derive_ended_concern(
    session_id: str, status: SessionStatus, ended_at: float, *, has_failed: bool, left_files: bool
) -> Concern:
    """What is wrong with a run that has ended."""
    signals = ((Signal.FAILED_24H, has_failed), (Signal.ZOMBIE, left_files))
    severity = _SEVERITIES[status, Health.ZOMBIE if left_files else Health.HEALTHY]
    given = tuple(signal for signal, is_given in signals if is_given)
    return Concern(Subject.SESSION, session_id, given, ended_at, severity)


def derive_show_concerns(plays: Iterable[tuple[Play, float]]) -> list[Concern]:
    """What is wrong with plays of shows that go on, each with since when, and with those shows."""
    found: list[Concern] = []
    blocked: dict[str, float] = {}
    for play, since in plays:
        if play.status in PLAY_SIGNALS:
            severity = derive_play_state(play).severity
            found.append(Concern(Subject.PLAY, play.id, (PLAY_SIGNALS[play.status],), since, severity))
        if play.status in BLOCKS_SHOW:
            blocked[play.show_id] = min(since, blocked.get(play.show_id, since))
    severity = severity_of(Lifecycle.BLOCKED, Outcome.NONE, StateHealth.RUNNING, Delivery.NOT_EXPECTED)
    return found + [
        Concern(Subject.SHOW, show_id, (Signal.BLOCKED,), since, severity) for show_id, since in blocked.items()
    ]


def place_of(concern: Concern) -> tuple[int, float, str]:
    """Where a concern stands in the list: by its urgency, then what waits longest, and what has ended last."""
    stuck = Signal.SLOW in concern.signals and concern.severity is Severity.CRITICAL  # alive, and answers nobody
    urgency = 0 if stuck else min(_URGENCY[signal] for signal in concern.signals)
    has_ended = urgency in _ENDED
    return urgency, -concern.since if has_ended else concern.since, f"{concern.subject}:{concern.id}"


def count_signals(concerns: Iterable[Concern]) -> dict[Signal, int]:
    """How many things give each signal, those that nothing gives too. A thing with two signals counts in both."""
    counts = dict.fromkeys(Signal, 0)
    for concern in concerns:
        for signal in concern.signals:
            counts[signal] += 1
    return counts


def slow_reason(session: Session, *, now: float) -> Reason:
    """Why a slow run is listed: its state alone does not say so."""
    began = began_at(session)
    sentence = f"It has been running for {format_duration(now - began)}; more than 60m is slow."
    return Reason("run.health.slow", sentence, (EvidenceRef(EvidenceKind.FACT, "started_at", str(began)),))


def session_address(session_id: str) -> str:
    return f"/api/sessions/{quote(session_id, safe='')}"


def show_address(topic: str) -> str:
    return f"/api/shows/{quote(topic, safe='')}"


def runs_of_show_address(topic: str) -> str:
    return f"/api/sessions?status=running&show={quote(topic, safe='')}"


def play_address(topic: str, name: str) -> str:
    return f"{show_address(topic)}/plays/{quote(name, safe='')}"


def _severity(status: SessionStatus, health: Health) -> Severity:
    if status is SessionStatus.RUNNING:
        return severity_of(Lifecycle.RUNNING, Outcome.NONE, STATE_HEALTH[health], Delivery.NOT_EXPECTED)
    state_health = STATE_HEALTH[health] if health is Health.ZOMBIE else StateHealth.OK
    return severity_of(Lifecycle.ENDED, Outcome(status), state_health, Delivery.NOT_EXPECTED)


# What `derive_session_state` comes to, without the reasons: finding words for thousands of runs takes too long.
_SEVERITIES = {(status, health): _severity(status, health) for status in SessionStatus for health in Health}
