"""What people read: labels for our words, names for runs, lengths of time."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.domain.session import InvocationKind, Session, SessionStatus, SourceKind
from lionstudio.domain.show import Play, PlayStatus, ShowStatus
from lionstudio.domain.team import TeamStatus

SESSION_LABELS: Mapping[SessionStatus, str] = {
    SessionStatus.RUNNING: "Running",
    SessionStatus.COMPLETED: "Completed",
    SessionStatus.FAILED: "Failed",
    SessionStatus.TIMED_OUT: "Timed out",
    SessionStatus.ABORTED: "Aborted",
    SessionStatus.CANCELLED: "Cancelled",
}
PLAY_LABELS: Mapping[PlayStatus, str] = {
    PlayStatus.PENDING: "Pending",
    PlayStatus.PREPARED: "Prepared",
    PlayStatus.RUNNING: "Running",
    PlayStatus.RUNNING_COMPLETE: "Awaiting gate",
    PlayStatus.GATED: "Gated",
    PlayStatus.GATE_FAILED: "Gate failed",
    PlayStatus.REDOING: "Redoing",
    PlayStatus.MERGED: "Merged",
    PlayStatus.ESCALATED: "Escalated",
    PlayStatus.BLOCKED: "Blocked",
    PlayStatus.ABORTED_AFTER_FINISH: "Aborted after finish",
}
# R109: for display only, never a gate, and only for the two closed vocabularies; `running` reads the same in both.
DISPLAY_MAP: Mapping[str, str] = {
    **{word.value: label for word, label in PLAY_LABELS.items()},
    **{word.value: label for word, label in SESSION_LABELS.items()},
}
SHOW_LABELS: Mapping[ShowStatus, str] = {
    ShowStatus.ACTIVE: "Active",
    ShowStatus.COMPLETED: "Completed",
    ShowStatus.ABORTED: "Aborted",
    ShowStatus.IMPORTED: "Imported",
}
TEAM_LABELS: Mapping[TeamStatus, str] = {TeamStatus.ACTIVE: "Active", TeamStatus.ARCHIVED: "Archived"}

KIND_LABELS: Mapping[InvocationKind, str] = {
    InvocationKind.AGENT: "Agent",
    InvocationKind.PLAY: "Play",
    InvocationKind.FLOW: "Flow",
    InvocationKind.FANOUT: "Fan-out",
    InvocationKind.SHOW_PLAY: "Show play",
    InvocationKind.COMMAND: "Command",
}
SOURCE_LABELS: Mapping[SourceKind, str] = {
    SourceKind.LIVE: "Recorded live",
    SourceKind.IMPORTED_FS: "Imported from a run folder",
    SourceKind.IMPORTED_DB: "Imported from a database",
    SourceKind.IMPORTED_CLAUDE: "Imported from Claude Code",
    SourceKind.IMPORTED_CODEX: "Imported from Codex",
    SourceKind.DEMO: "Demo",
}

LEGACY_LABEL = "Legacy"  # R187: a session without a status
LEGACY_TOOLTIP = "Legacy unclassified"
LEGACY_EXPLANATION = (
    "Runs created before the current status vocabulary. Excluded from live operational metrics."  # ADR-0024
)

SHORT_ID_LENGTH = 8  # what a table has room for, and what people compare by eye
NAME_LENGTH = 60  # as much of an instruction as one table line shows

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_DAYS_FROM = 2 * _DAY  # `26h 10m` says more than `1d 2h`; past two days the hours no longer matter


class PlayBadges(NamedTuple):
    """A play's state cell: one filled pill, then outlined badges for its gate and its integration (R79, R82)."""

    pill: str
    gate: str | None = None
    integration: str | None = None


_BADGES: Mapping[PlayStatus, PlayBadges] = {
    PlayStatus.PENDING: PlayBadges("pending"),
    PlayStatus.PREPARED: PlayBadges("prepared"),
    PlayStatus.RUNNING: PlayBadges("running"),
    PlayStatus.RUNNING_COMPLETE: PlayBadges("awaiting gate"),
    PlayStatus.GATED: PlayBadges("awaiting gate"),
    PlayStatus.GATE_FAILED: PlayBadges("failed", "gate failed"),
    PlayStatus.REDOING: PlayBadges("running", "redo"),
    PlayStatus.MERGED: PlayBadges("completed", "gate skipped", "merged"),
    PlayStatus.ESCALATED: PlayBadges("failed", None, "needs you"),
    PlayStatus.BLOCKED: PlayBadges("blocked"),
    PlayStatus.ABORTED_AFTER_FINISH: PlayBadges("aborted"),
}
# Where the gate's verdict changes what the status alone would say.
_BADGES_BY_GATE: Mapping[tuple[PlayStatus, bool | None], PlayBadges] = {
    (PlayStatus.GATED, True): PlayBadges("completed", "passed", "local"),
    (PlayStatus.MERGED, True): PlayBadges("completed", "passed", "merged"),
    (PlayStatus.MERGED, False): PlayBadges("completed", "gate failed", "merged"),
    (PlayStatus.ESCALATED, False): PlayBadges("failed", "gate failed", "needs you"),
}


def status_label(status: SessionStatus | None) -> str:
    """The word for a run's status; a run without one is legacy."""
    return LEGACY_LABEL if status is None else SESSION_LABELS[status]


def play_badges(play: Play) -> PlayBadges:
    """What a play's state cell shows."""
    return _BADGES_BY_GATE.get((play.status, play.gate_passed), _BADGES[play.status])


def display_name(session: Session, *, first_instruction: str | None = None) -> str:
    """The best name people have for a run: the first of its names that says anything."""
    show_play = " / ".join(part for part in (_tidy(session.show_topic), _tidy(session.show_play_name)) if part)
    candidates = (
        _tidy(session.name),
        show_play,
        _tidy(session.playbook_name),
        _tidy(session.agent_name),
        _first_words(_tidy(first_instruction)),
    )
    return next((name for name in candidates if name), short_id(session.id))


def short_id(full_id: str) -> str:
    """The part of an id that is shown; the whole of it is what gets copied."""
    return full_id[:SHORT_ID_LENGTH]


def format_duration(seconds: float, *, brief: bool = False) -> str:
    """A length of time as `8s`, `3m 12s`, `47m`, `9h 14m` or `2d`; `brief` keeps one unit once there are two of it."""
    if not math.isfinite(seconds):
        return "unknown"  # a foreign row may hold any float
    whole = max(0, int(seconds))  # whole seconds, rounded down: nothing is shown as over before it is
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return _two_units(whole, _MINUTE, "m", 1, "s", brief=brief)
    if whole < _DAYS_FROM:
        return _two_units(whole, _HOUR, "h", _MINUTE, "m", brief=brief)
    return f"{whole // _DAY:,}d"


def count_of(number: int, noun: str) -> str:
    """A number with its noun: `1 message`, `12,806 messages`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _two_units(whole: int, large: int, large_name: str, small: int, small_name: str, *, brief: bool) -> str:
    count, rest = whole // large, whole % large // small
    if rest == 0 or (brief and count > 1):
        return f"{count}{large_name}"
    return f"{count}{large_name} {rest:02d}{small_name}"  # two digits, so that a column of them lines up


def _tidy(text: str | None) -> str:
    return " ".join(text.split()) if text else ""


def _first_words(text: str) -> str:
    if len(text) <= NAME_LENGTH:
        return text
    cut = text[: NAME_LENGTH - 1]
    words = cut.rpartition(" ")[0]
    # A text without spaces (a URL, many languages) is cut where it must be.
    return (words if len(words) > NAME_LENGTH // 2 else cut).rstrip(" ,;:.") + "…"
