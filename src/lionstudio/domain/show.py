"""Shows and plays: what each is called on its way, and which words may follow which.

The moves bind everyone who acts on a show: the director and operators. Reading a show folder again is not a move: files
on disk are the authored truth, so a re-sync sets whatever word they give (R71).
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from lionstudio.domain.errors import IllegalTransition


class ShowStatus(StrEnum):
    """How far a show has come."""

    ACTIVE = "active"  # plays wait, run or need a person
    COMPLETED = "completed"  # the final gate passed, or every play is merged and there is no final gate
    ABORTED = "aborted"  # a person stopped it and nothing runs any more, or the final gate failed
    IMPORTED = "imported"  # it came from elsewhere, with nothing that tells how it ended


class StatusSource(StrEnum):
    """Where a show's status was read: the contract's words, so `sqlite` stands for whichever database is used."""

    SQLITE = "sqlite"  # a row: written at each step
    FILESYSTEM = "filesystem"  # derived from the folder alone


class PlayStatus(StrEnum):
    """How far a play has come."""

    PENDING = "pending"  # waits for its dependencies, or for a free place
    PREPARED = "prepared"  # its worktree and prompt are written
    RUNNING = "running"  # the agent of the first attempt works
    RUNNING_COMPLETE = "running_complete"  # the agent exited, well or badly; the gate has not judged it
    GATED = "gated"  # the gate passed and it is about to be merged, or it waits for a human gate
    GATE_FAILED = "gate_failed"  # the gate refused this attempt
    REDOING = "redoing"  # the agent of a later attempt works, with the gate's feedback
    MERGED = "merged"  # it is in the integration branch
    ESCALATED = "escalated"  # the attempts are used up, or it cannot go on: a person must decide
    BLOCKED = "blocked"  # a dependency failed or was escalated
    ABORTED_AFTER_FINISH = (
        "aborted_after_finish"  # it was allowed to finish after the show was aborted, and was not merged
    )


PLAY_MOVES: Mapping[PlayStatus, frozenset[PlayStatus]] = {
    PlayStatus.PENDING: frozenset({PlayStatus.PREPARED, PlayStatus.BLOCKED, PlayStatus.ESCALATED}),
    # back to pending: its worktree was cleaned away before it ran; blocked: the plan was edited meanwhile
    PlayStatus.PREPARED: frozenset({PlayStatus.RUNNING, PlayStatus.PENDING, PlayStatus.BLOCKED, PlayStatus.ESCALATED}),
    # An exit is always followed by the gate, so a failing agent takes the same way as a successful one.
    PlayStatus.RUNNING: frozenset({PlayStatus.RUNNING_COMPLETE, PlayStatus.ABORTED_AFTER_FINISH}),
    PlayStatus.REDOING: frozenset({PlayStatus.RUNNING_COMPLETE, PlayStatus.ABORTED_AFTER_FINISH, PlayStatus.ESCALATED}),
    # escalated: the gate itself could not run; redoing: an operator does not want this attempt judged
    PlayStatus.RUNNING_COMPLETE: frozenset(
        {
            PlayStatus.GATED,
            PlayStatus.GATE_FAILED,
            PlayStatus.REDOING,
            PlayStatus.ESCALATED,
            PlayStatus.ABORTED_AFTER_FINISH,
        }
    ),
    # gate_failed: a human gate says no; escalated: it cannot be merged
    PlayStatus.GATED: frozenset(
        {PlayStatus.MERGED, PlayStatus.GATE_FAILED, PlayStatus.ESCALATED, PlayStatus.ABORTED_AFTER_FINISH}
    ),
    # gated: a person overrules the gate
    PlayStatus.GATE_FAILED: frozenset({PlayStatus.REDOING, PlayStatus.ESCALATED, PlayStatus.GATED}),
    # A person decides: another attempt from scratch, another with feedback, or good as it is.
    PlayStatus.ESCALATED: frozenset({PlayStatus.PENDING, PlayStatus.REDOING, PlayStatus.GATED}),
    PlayStatus.BLOCKED: frozenset({PlayStatus.PENDING}),
    # resumed: the finished work goes to its gate, or is done again
    PlayStatus.ABORTED_AFTER_FINISH: frozenset({PlayStatus.RUNNING_COMPLETE, PlayStatus.REDOING}),
    PlayStatus.MERGED: frozenset(),
}

SHOW_MOVES: Mapping[ShowStatus, frozenset[ShowStatus]] = {
    ShowStatus.ACTIVE: frozenset({ShowStatus.COMPLETED, ShowStatus.ABORTED}),
    # resumed after an abort, retried after a failed final gate, or continued with a new play
    ShowStatus.ABORTED: frozenset({ShowStatus.ACTIVE}),
    ShowStatus.COMPLETED: frozenset({ShowStatus.ACTIVE}),
    # more became known; nothing ever becomes imported again
    ShowStatus.IMPORTED: frozenset({ShowStatus.ACTIVE, ShowStatus.COMPLETED, ShowStatus.ABORTED}),
}

AGENT_WORKS = frozenset({PlayStatus.RUNNING, PlayStatus.REDOING})
NEEDS_PERSON = frozenset({PlayStatus.GATED, PlayStatus.ESCALATED, PlayStatus.BLOCKED})  # R103


class Show(NamedTuple):
    """A plan of plays with dependencies (R50). Its prose stays in files under `show_dir`."""

    id: str
    topic: str
    show_dir: str
    created_at: float
    updated_at: float
    status: ShowStatus = ShowStatus.ACTIVE
    status_source: StatusSource | None = None
    goal: str | None = None
    repo: str | None = None
    base_branch: str | None = None
    integration_branch: str | None = None


class Play(NamedTuple):
    """One piece of work of a show, in its own worktree and branch (R54)."""

    id: str
    show_id: str
    name: str
    created_at: float
    updated_at: float
    status: PlayStatus = PlayStatus.PENDING
    attempt: int = 1
    playbook: str | None = None
    effort: str | None = None
    session_id: str | None = None  # of the latest attempt
    started_at: float | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    worktree: str | None = None
    branch: str | None = None
    merge_sha: str | None = None
    merged_at: float | None = None
    gate_passed: bool | None = None  # None: not judged yet
    gate_feedback: str | None = None
    depends_on: tuple[str, ...] = ()  # names of plays; a name that does not exist is kept, and reported by the graph
    sort_order: int = 0

    @property
    def duration_ms(self) -> float | None:
        """How long the latest attempt took; nothing while its agent works or when a time is missing."""
        if self.status in AGENT_WORKS or self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at) * 1000


def require_play_move(before: PlayStatus, after: PlayStatus) -> None:
    """Raise IllegalTransition unless a play in `before` may become `after`."""
    _require(PLAY_MOVES[before], "play", before, after)


def require_show_move(before: ShowStatus, after: ShowStatus) -> None:
    """Raise IllegalTransition unless a show in `before` may become `after`."""
    _require(SHOW_MOVES[before], "show", before, after)


def derive_show_status(
    plays: Iterable[PlayStatus], *, abort_requested: bool, final_gate_passed: bool | None
) -> ShowStatus:
    """What a show is called, from its plays and what stands in its folder (R72); an abort waits until nothing runs."""
    words = set(plays)
    if final_gate_passed is False or (abort_requested and not words & AGENT_WORKS):
        return ShowStatus.ABORTED
    if final_gate_passed or words == {PlayStatus.MERGED}:
        return ShowStatus.COMPLETED
    return ShowStatus.ACTIVE


def derive_play_status(
    *,
    merge_sha: str | None = None,
    gate_passed: bool | None = None,
    exit_code: int | None = None,
    started_at: float | None = None,
    process_alive: bool | None = None,
    worktree: str | None = None,
    attempt: int = 1,
) -> PlayStatus:
    """What a play is called when its files do not say: the furthest step that left a trace."""
    if merge_sha is not None:
        return PlayStatus.MERGED
    if gate_passed is not None:
        return PlayStatus.GATED if gate_passed else PlayStatus.GATE_FAILED
    if exit_code is not None:
        return PlayStatus.RUNNING_COMPLETE
    if started_at is not None or process_alive:
        return PlayStatus.REDOING if attempt > 1 else PlayStatus.RUNNING
    return PlayStatus.PREPARED if worktree is not None else PlayStatus.PENDING


def _require(allowed: frozenset[StrEnum], what: str, before: StrEnum, after: StrEnum) -> None:
    if after in allowed:
        return
    words = ", ".join(sorted(allowed))
    hint = f"From {before} it can become: {words}." if words else f"{before} is final."
    raise IllegalTransition(f"A {before} {what} cannot become {after}.", hint=hint)
