"""Reasons: why a thing is in its state, as a registered code, a sentence and the evidence behind it (D4)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session import SessionStatus
from lionstudio.domain.words import unknown_word

# Every code that may be stored or sent, and when it is given. A code is never renamed: histories keep it for ever.
REASON_CODES: Mapping[str, str] = {
    "run.started": "A recorder began the run.",
    "run.imported": "The run was imported with the status its source gives it.",
    "run.completed.normal": "The run ended by itself with exit code 0 or left its block normally.",
    "run.completed.reported": "The run said that it completed, although its exit code was not 0.",
    "run.failed.exit_nonzero": "The command ended with an exit code that means failure.",
    "run.failed.exception": "An exception left the recorded block.",
    "run.failed.not_found": "The command to record does not exist (exit 127).",
    "run.failed.not_executable": "The command to record exists but may not be executed (exit 126).",
    "run.failed.signal": "A signal that nobody forwarded killed the command.",
    "run.failed.reported": "The run itself said that it failed, whatever its exit code.",
    "run.failed.output_lost": "The command ended well, but not all of its output reached its target.",
    "run.failed.step": "A step of the run did not complete, and what needs it was skipped.",
    "run.timed_out.deadline": "The deadline passed and the command was stopped.",
    "run.timed_out.reported": "The run itself said that its time was up.",
    "run.aborted.interrupt": "A person interrupted the run (SIGINT).",
    "run.aborted.hangup": "The terminal of the run was closed (SIGHUP).",
    "run.aborted.reported": "The run itself said that it was aborted.",
    "run.cancelled.terminated": "The run was told to stop (SIGTERM).",
    "run.cancelled.task": "The task that recorded the run was cancelled.",
    "run.cancelled.killed": "An operator ended the run's process, and the run with it.",
    "run.cancelled.reported": "The run itself said that it was cancelled.",
    "run.ended.by_operator": "An operator gave the run its final status.",
    "run.ended.unexplained": "The run has a final status, and what ended it was not recorded.",
    "run.ended.late_report": "The run reported another end after it had ended already; the status stayed.",
    "run.backfilled.by_operator": "An operator gave a legacy run a status.",
    "run.legacy.unclassified": "The run predates the status vocabulary and counts as ended.",
    "run.health.ended": "The run has ended, and no file was found that it should have removed.",
    "run.health.process_alive": "The run's process was seen, the same one that was recorded.",
    "run.health.process_dead": "Its process was gone and it never said how it ended.",
    "run.health.process_unknown": "Nobody could look at the run's process, or none was recorded.",
    "run.health.heartbeat_fresh": "The process cannot be seen, but its recorder sent a sign of life just now.",
    "run.health.quiet": "The run has been quiet for longer than an hour.",
    "run.health.quiet_too_long": "The run has been quiet for longer than its kind may be.",
    "run.health.slow": "The run has been running for more than 60 minutes.",
    "run.health.no_output": "A run whose process is dead has neither messages nor artifacts.",
    "run.health.too_young": "A dead run without output is too young to be called orphaned.",
    "run.health.artifacts_unknown": "A dead run without messages may have artifacts; nobody could look.",
    "run.health.clock_ahead": "The run's last activity is dated in the future.",
    "run.health.stale_locks": "An ended run left lock files behind.",
    "run.health.temp_files": "An ended run left unfinished files behind.",
    "run.health.wrote_after_end": "Messages arrived after an operator had ended the run; they were kept.",
    "run.recording.lost": "Some messages could be stored nowhere and are gone.",
    "run.recording.spooled": "Messages wait in the spool until the database can be written.",
    "run.recording.recorder_gone": "The agent works on, but the process that recorded it is gone.",
    "run.delivery.missing": "None of the expected files was found.",
    "run.delivery.partial": "Some of the expected files were not found.",
    "run.delivery.invalid": "An expected file was found but cannot be used.",
    "run.delivery.passed": "Every expected file was found.",
    "play.waiting.dependencies": "The play waits for the plays it depends on.",
    "play.prepared.worktree": "The play's worktree is ready and its agent has not started.",
    "play.running.agent": "The play's agent works.",
    "play.running.redo": "The play is done again with the gate's feedback.",
    "play.skipped.show_ended": "The show ended before the play began.",
    "play.blocked.dependency_failed": "A play it depends on will not be merged.",
    "play.failed.agent": "The play's agent ended badly.",
    "play.gate.awaiting": "The play's agent is done and its gate has not spoken.",
    "play.gate.passed": "The gate accepted the play.",
    "play.gate.failed": "The gate refused the play.",
    "play.merged.integrated": "The play was merged into the integration branch.",
    "play.escalated.attempts_used": "The play failed as often as it may; a person has to decide.",
    "play.escalated.merge_conflict": "The play could not be merged; a person has to decide.",
    "play.escalated.by_operator": "An operator escalated the play.",
    "play.escalated.needs_decision": "The play was escalated; a person has to decide.",
    "play.aborted.after_finish": "The play was given up after its agent had finished.",
    "play.health.no_run": "No run is linked to the play, so its health cannot be known.",
    "show.active.plays": "The show has plays that run or wait.",
    "show.blocked.play_escalated": "A play of the show waits for a person.",
    "show.blocked.play_blocked": "A play of the show cannot start any more.",
    "show.degraded.gate_failed": "A gate refused a play of the show.",
    "show.completed.all_merged": "Every play was merged and the final gate passed, or was inferred.",
    "show.failed.final_gate": "The final gate refused the show.",
    "show.aborted.by_operator": "An operator aborted the show.",
    "show.aborted.abort_file": "The show's folder holds an abort file.",
    "show.imported.unclassified": "The show was imported and its files do not say how it ended.",
    "team.active.open": "The team takes messages.",
    "team.archived.by_operator": "The team was archived.",
}


class EndReason(StrEnum):
    """What an operator can give as the reason for ending a run by hand; the sentence is that of the registry."""

    PROCESS_DEAD = "run.health.process_dead"  # its process is gone
    QUIET_TOO_LONG = "run.health.quiet_too_long"  # nothing was heard for longer than its kind may be quiet
    NO_OUTPUT = "run.health.no_output"  # it never wrote a message or a file
    DELIVERY_MISSING = "run.delivery.missing"  # the files that were expected of it are not there
    PROCESS_UNKNOWN = "run.health.process_unknown"  # nobody can see its process any more
    BY_OPERATOR = "run.ended.by_operator"  # none of these; a note may say more


class EvidenceKind(StrEnum):
    """What an evidence reference points to."""

    MESSAGE = "message"  # ref is a message id
    FILE = "file"  # ref is a path
    PROCESS = "process"  # ref is a pid, or "none"
    FACT = "fact"  # ref is the name of a stored fact


class EvidenceRef(NamedTuple):
    """One thing to look at behind a reason."""

    kind: EvidenceKind
    ref: str
    detail: str | None = None


class _Reason(NamedTuple):
    code: str
    sentence: str
    evidence: tuple[EvidenceRef, ...] = ()


class Reason(_Reason):
    """Why something is in its state. Raises UnknownWord for a code that is not registered."""

    __slots__ = ()

    def __new__(cls, code: str, sentence: str, evidence: tuple[EvidenceRef, ...] = ()) -> "Reason":
        # Not by way of `super`: a list makes hundreds of them.
        return tuple.__new__(cls, (require_reason_code(code), sentence, evidence))


def require_reason_code(code: str) -> str:
    """The code itself; raises UnknownWord when it is not registered."""
    if code not in REASON_CODES:
        family = code.split(".", 1)[0] + "."
        near = [known for known in REASON_CODES if known.startswith(family)]
        raise unknown_word(code, what="registered reason code", allowed=near or REASON_CODES)
    return code


_SIGNALS = range(1, 65)
_SIGNAL_BASE = 128  # a shell says 128 + n for signal n; `subprocess` says -n
_EXIT_REASONS: Mapping[SessionStatus, Mapping[int | None, str]] = {
    SessionStatus.COMPLETED: {None: "run.completed.normal", 0: "run.completed.normal"},
    SessionStatus.TIMED_OUT: {None: "run.timed_out.reported"},
    SessionStatus.ABORTED: {None: "run.aborted.reported", 129: "run.aborted.hangup"},
    SessionStatus.CANCELLED: {None: "run.cancelled.reported"},
    SessionStatus.FAILED: {
        None: "run.failed.reported",
        0: "run.failed.reported",
        126: "run.failed.not_executable",
        127: "run.failed.not_found",
        **{_SIGNAL_BASE + signal: "run.failed.signal" for signal in _SIGNALS},
    },
}
_OTHERWISE: Mapping[SessionStatus, str] = {
    SessionStatus.COMPLETED: "run.completed.reported",
    SessionStatus.TIMED_OUT: "run.timed_out.deadline",
    SessionStatus.ABORTED: "run.aborted.interrupt",
    SessionStatus.CANCELLED: "run.cancelled.terminated",
    SessionStatus.FAILED: "run.failed.exit_nonzero",
}


def reason_for_exit(status: SessionStatus, exit_code: int | None) -> str:
    """The code for a run that ends now. Without an exit code there is only the run's word, and nobody knows a cause."""
    if status is SessionStatus.RUNNING:
        raise InvalidRequest("A running run has no reason for its end.")
    code = None if exit_code is None else as_shell_code(exit_code)
    return _EXIT_REASONS[status].get(code, _OTHERWISE[status])


def as_shell_code(exit_code: int) -> int:
    """An exit code as a shell reports it, where `subprocess` says a signal as a negative number."""
    return _SIGNAL_BASE - exit_code if exit_code < 0 else exit_code


def signal_of(exit_code: int | None) -> int | None:
    """The signal that an exit code reports, if it reports one."""
    if exit_code is None:
        return None
    signal = as_shell_code(exit_code) - _SIGNAL_BASE
    return signal if signal in _SIGNALS else None
