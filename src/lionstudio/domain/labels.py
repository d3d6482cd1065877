"""What people read: labels for our words. Names for runs and lengths of time are in phrases.py, which loads less."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from lionstudio.domain.phrases import count_of as count_of  # noqa: PLC0414
from lionstudio.domain.phrases import display_name as display_name  # noqa: PLC0414
from lionstudio.domain.phrases import format_duration as format_duration  # noqa: PLC0414
from lionstudio.domain.phrases import short_id as short_id  # noqa: PLC0414
from lionstudio.domain.session import InvocationKind, SessionStatus, SourceKind
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


PillWord = Literal[
    "pending", "prepared", "running", "awaiting gate", "completed", "failed", "blocked", "aborted", "skipped"
]
GateWord = Literal["passed", "gate failed", "gate skipped", "redo"]
IntegrationWord = Literal["merged", "local", "needs you"]


class PlayBadges(NamedTuple):
    """A play's state cell: one filled pill, then outlined badges for its gate and its integration (R79, R82)."""

    pill: PillWord
    gate: GateWord | None = None
    integration: IntegrationWord | None = None


_BADGES: Mapping[PlayStatus, PlayBadges] = {
    PlayStatus.PENDING: PlayBadges("pending"),
    PlayStatus.PREPARED: PlayBadges("prepared"),
    PlayStatus.RUNNING: PlayBadges("running"),
    PlayStatus.RUNNING_COMPLETE: PlayBadges("awaiting gate"),
    PlayStatus.GATED: PlayBadges("awaiting gate", None, "needs you"),  # nobody but a person judges it now
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


def play_badges(play: Play, *, is_skipped: bool = False) -> PlayBadges:
    """What a play's state cell shows; `is_skipped` when its show ended before it began."""
    if is_skipped:
        return PlayBadges("skipped")
    return _BADGES_BY_GATE.get((play.status, play.gate_passed), _BADGES[play.status])
