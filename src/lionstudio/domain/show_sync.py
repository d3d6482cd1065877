"""What a show folder as a whole makes of a show and its plays: files on disk are the authored truth (R71).

A file that is there and silent about a fact takes it back. A file that is missing or cannot be read takes nothing: what
is known stays, and where the files say less than that, the difference is a complaint for a person.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from lionstudio.domain.play_graph import PlayGraph
from lionstudio.domain.show import (
    AGENT_WORKS,
    Play,
    PlayStatus,
    Show,
    ShowStatus,
    StatusSource,
    derive_play_status,
    derive_show_status,
)
from lionstudio.domain.show_files import META, PLAN, VERDICT, FinalVerdict, Told
from lionstudio.domain.show_plan import ShowPlan

JUDGED = frozenset({PlayStatus.GATED, PlayStatus.GATE_FAILED, PlayStatus.MERGED, PlayStatus.ESCALATED})


class Complaint(NamedTuple):
    """Something that is wrong on disk, or that only the database knows."""

    where: str  # a file or a folder, seen from the folder of the show
    message: str


class PlayOnDisk(NamedTuple):
    """What there is of a play: a place in the plan, a folder, or both."""

    name: str
    number: int  # its place in the order of the show
    depends_on: tuple[str, ...] | None = None  # as the plan says; None: the plan does not name this play
    has_folder: bool = True
    meta: Told | None = None  # None: there is no such file
    verdict: Told | None = None
    exit_code: int | None = None
    process_alive: bool | None = None  # None: nobody knows
    created_at: float | None = None  # for a play that is new


class ShowOnDisk(NamedTuple):
    """What there is of a show."""

    topic: str
    folder: str
    plan: ShowPlan | None = None  # None: it cannot be read
    has_plan: bool = True
    final_verdict: FinalVerdict | None = None
    abort_requested: bool = False
    plays: tuple[PlayOnDisk, ...] = ()
    created_at: float | None = None  # for a show that is new


def play_as_on_disk(disk: PlayOnDisk, known: Play, *, is_new: bool) -> tuple[Play, list[Complaint]]:
    """The play that the files describe. `known` is what the database holds, or an empty play if it is new."""
    placed = known._replace(sort_order=disk.number)
    if disk.depends_on is not None:
        placed = placed._replace(depends_on=disk.depends_on)
    if disk.meta is None and not is_new and known.status is not PlayStatus.PENDING:
        gone = META if disk.has_folder else "its folder"
        return placed, [Complaint(disk.name, f"The database knows it as {known.status}, but {gone} is not there.")]
    play = _with_meta(disk, placed)
    play, complaints = _with_verdict(disk, play, known)
    if disk.meta is None or "status" in disk.meta.facts or is_new:
        told = disk.meta.facts.get("status") if disk.meta else None
        play = play._replace(status=told or _status(disk, play))
    if play.status not in JUDGED and disk.verdict is None:
        play = play._replace(gate_passed=None, gate_feedback=None)
        complaints = []
    return play, complaints


def _with_meta(disk: PlayOnDisk, play: Play) -> Play:
    facts: dict[str, Any] = dict(disk.meta.facts) if disk.meta else {}
    facts.pop("status", None)
    facts.pop("session_id", None)  # it is linked where runs are known
    if facts.get("depends_on", ()) is None:
        del facts["depends_on"]  # then the plan says it
    if facts.get("attempt", 1) is None:
        facts["attempt"] = 1
    play = play._replace(**facts)
    if play.exit_code is None and not disk.process_alive:  # what lies there while an agent works is from before
        play = play._replace(exit_code=disk.exit_code)
    return play


def _with_verdict(disk: PlayOnDisk, play: Play, known: Play) -> tuple[Play, list[Complaint]]:
    if disk.verdict is not None:
        return play._replace(**disk.verdict.facts), []
    if known.gate_passed is None or play.attempt != known.attempt:
        return play._replace(gate_passed=None, gate_feedback=None), []
    said = "passed" if known.gate_passed else "failed"
    return play, [Complaint(disk.name, f"The database knows that its gate {said}, but {VERDICT} is not there.")]


def _status(disk: PlayOnDisk, play: Play) -> PlayStatus:
    return derive_play_status(
        merge_sha=play.merge_sha,
        gate_passed=play.gate_passed if disk.verdict is not None else None,
        exit_code=play.exit_code,
        started_at=play.started_at,
        process_alive=disk.process_alive,
        worktree=play.worktree,
        attempt=play.attempt,
    )


def show_as_on_disk(
    disk: ShowOnDisk, known: Show, plays: Sequence[Play], *, is_new: bool
) -> tuple[Show, str, list[Complaint]]:
    """The show that the files and its plays describe, the reason of its status, and what is wrong with its plan."""
    show = known._replace(show_dir=disk.folder)
    complaints = []
    if disk.plan is not None:
        show = show._replace(
            goal=disk.plan.goal,
            repo=disk.plan.repo,
            base_branch=disk.plan.base_branch,
            integration_branch=disk.plan.integration_branch,
        )
    elif known.goal and not disk.has_plan:
        complaints.append(Complaint(PLAN, "The database knows the goal of this show, but its plan is not there."))
    status, reason = _show_status(disk, plays)
    unreadable = disk.final_verdict is not None and disk.final_verdict.show_passed is None
    if status is not known.status and (is_new or not unreadable):
        show = show._replace(status=status, status_source=StatusSource.FILESYSTEM)
    if is_new:
        show = show._replace(status_source=StatusSource.FILESYSTEM)
    graph = PlayGraph.of(plays)
    for lost in graph.unknown:
        complaints.append(Complaint(PLAN, f"{lost.play} depends on {lost.depends_on}, which is no play of this show."))
    cycle = graph.find_cycle()
    if cycle:
        complaints.append(Complaint(PLAN, f"These plays wait for each other: {' -> '.join((*cycle, cycle[0]))}."))
    return show, reason, complaints


def _show_status(disk: ShowOnDisk, plays: Sequence[Play]) -> tuple[ShowStatus, str]:
    gone = {play.name for play in disk.plays if play.process_alive is False}
    # The word of a play whose agent is known to be gone says that it runs, and nothing does.
    words = [
        PlayStatus.RUNNING_COMPLETE if play.status in AGENT_WORKS and play.name in gone else play.status
        for play in plays
    ]
    passed = disk.final_verdict.show_passed if disk.final_verdict else None
    status = derive_show_status(words, abort_requested=disk.abort_requested, final_gate_passed=passed)
    if status is ShowStatus.ABORTED:
        return status, "show.failed.final_gate" if passed is False else "show.aborted.abort_file"
    return status, "show.completed.all_merged" if status is ShowStatus.COMPLETED else "show.active.plays"
