"""A state as one chain of words, most telling first, for people: "Failed · exit 3 · 42 messages" (D4)."""

from collections import Counter
from collections.abc import Iterable, Mapping

from lionstudio.domain.delivery import Delivery, read_delivered
from lionstudio.domain.health import Health, HealthVerdict
from lionstudio.domain.labels import PLAY_LABELS, SHOW_LABELS, TEAM_LABELS, count_of, format_duration, status_label
from lionstudio.domain.process import ProcessState
from lionstudio.domain.reasons import signal_of
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.show import Play, PlayStatus, Show
from lionstudio.domain.state import SHOW_TROUBLES, NormalizedState, Outcome, end_reason_code
from lionstudio.domain.team import Team

CHAIN_PARTS_IN_LISTS = 3  # a list shows the first parts of a chain, a run's own page all of them

_PROCESS_WORDS: Mapping[ProcessState, str] = {
    ProcessState.ALIVE: "process alive",
    ProcessState.DEAD: "process gone",
    ProcessState.UNKNOWN: "process unknown",
}
_CAUSE_WORDS: Mapping[str, str] = {
    "run.failed.exception": "exception",
    "run.failed.not_found": "command not found",
    "run.failed.not_executable": "not executable",
    "run.failed.output_lost": "output lost",
    "run.aborted.interrupt": "interrupted",
    "run.aborted.hangup": "terminal closed",
    "run.cancelled.terminated": "terminated",
    "run.cancelled.task": "task cancelled",
}
_DELIVERY_WORDS: Mapping[Delivery, str] = {
    Delivery.MISSING: "nothing delivered",
    Delivery.PARTIAL: "partly delivered",
    Delivery.INVALID: "delivery unusable",
}
_HEALTH_WORDS: Mapping[str, str] = {
    "run.health.wrote_after_end": "wrote after end",
    "run.recording.recorder_gone": "recorder gone",
}
_LEFTOVER_NOUNS: Mapping[str, str] = {
    "run.health.stale_locks": "stale lock",
    "run.health.temp_files": "unfinished file",
}


def state_chain(
    session: Session,
    verdict: HealthVerdict,
    *,
    tool_errors: int = 0,
    deadline_seconds: float | None = None,
    viewer: str | None = None,
) -> tuple[str, ...]:
    """A run's state as words to join by a dot: its status, then the facts that matter most for it, in that order."""
    status = status_label(session.status)
    if session.status is None:
        facts = [*_leftover_words(verdict), "unclassified"]
    elif session.status is SessionStatus.RUNNING:
        facts = _running_words(verdict) + _health_words(verdict)
    else:
        facts = [*_leftover_words(verdict), *_cause_words(session, deadline_seconds, viewer), *_delivery_words(session)]
        facts += _health_words(verdict)
    if session.messages_lost > 0:
        facts.append(f"{count_of(session.messages_lost, 'message')} lost")
    if tool_errors > 0:
        facts.append(count_of(tool_errors, "tool error"))
    if verdict.health is not Health.ORPHANED:
        facts.append("no message yet" if _has_yet_to_speak(session) else count_of(session.message_count, "message"))
    return (status, *facts)


def play_chain(play: Play, state: NormalizedState) -> tuple[str, ...]:
    """A play's state as words: its status, then what its gate and its agent said."""
    facts = []
    if state.outcome is Outcome.SKIPPED:
        facts.append("show ended")
    if play.status in (PlayStatus.GATED, PlayStatus.ESCALATED) and play.gate_passed is not None:
        facts.append("gate passed" if play.gate_passed else "gate failed")
    if play.exit_code:
        facts.append(f"exit {play.exit_code}")
    if play.attempt > 1:
        facts.append(f"attempt {play.attempt}")
    return (PLAY_LABELS[play.status], *facts)


def show_chain(show: Show, plays: Iterable[PlayStatus]) -> tuple[str, ...]:
    """A show's state as words: its status, then the plays that trouble it and how many are merged."""
    counts = Counter(plays)
    troubles = [f"{counts[status]:,} {PLAY_LABELS[status].lower()}" for status in SHOW_TROUBLES if counts[status]]
    merged = [f"{counts[PlayStatus.MERGED]:,} of {counts.total():,} merged"] if counts else []
    return (SHOW_LABELS[show.status], *troubles, *merged)


def team_chain(team: Team, *, message_count: int | None = None) -> tuple[str, ...]:
    """A team's state as words: its status and its size."""
    messages = [] if message_count is None else [count_of(message_count, "message")]
    return (TEAM_LABELS[team.status], count_of(team.member_count, "member"), *messages)


def _has_yet_to_speak(session: Session) -> bool:
    return session.status is SessionStatus.RUNNING and session.message_count == 0


def _running_words(verdict: HealthVerdict) -> list[str]:
    process = _PROCESS_WORDS[verdict.process]
    if verdict.health is Health.ORPHANED:
        return ["no output", process]
    idle = verdict.idle_seconds
    if idle is None or verdict.health is Health.HEALTHY:
        return [process]
    return [f"quiet {format_duration(idle, brief=True)}", process]


def _cause_words(session: Session, deadline_seconds: float | None, viewer: str | None) -> list[str]:
    code = end_reason_code(session)
    if code == "run.ended.by_operator":
        return [by_whom(session.end_actor, viewer)]
    if session.status is SessionStatus.COMPLETED:
        return [] if session.duration_ms is None else [format_duration(session.duration_ms / 1000)]
    if code == "run.timed_out.deadline" and deadline_seconds is not None:
        return [f"deadline {_deadline_word(deadline_seconds)}"]
    if code == "run.failed.exit_nonzero" and session.exit_code is not None:
        return [f"exit {session.exit_code}"]
    if code == "run.failed.signal" and (signal := signal_of(session.exit_code)) is not None:
        return [f"signal {signal}"]
    return [_CAUSE_WORDS[code]] if code is not None and code in _CAUSE_WORDS else []


def _delivery_words(session: Session) -> list[str]:
    delivery = read_delivered(session.node_metadata).delivery
    return [_DELIVERY_WORDS[delivery]] if delivery in _DELIVERY_WORDS else []


def by_whom(actor: str | None, viewer: str | None) -> str:
    """Who ended a run, as the viewer reads it."""
    return "by you" if actor == viewer else f"by {actor}"


def _deadline_word(seconds: float) -> str:
    # People set deadlines in minutes, so that is how they look for them.
    minutes = seconds / 60
    return f"{minutes:.0f}m" if minutes.is_integer() and minutes < 120 else format_duration(seconds)


def _leftover_words(verdict: HealthVerdict) -> list[str]:
    return [
        count_of(len(reason.evidence), _LEFTOVER_NOUNS[reason.code])
        for reason in verdict.reasons
        if reason.code in _LEFTOVER_NOUNS
    ]


def _health_words(verdict: HealthVerdict) -> list[str]:
    return [_HEALTH_WORDS[reason.code] for reason in verdict.reasons if reason.code in _HEALTH_WORDS]
