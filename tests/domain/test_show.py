"""Shows and plays: which word may follow which, and which word the traces on disk give."""

import pytest

from lionstudio.domain.errors import IllegalTransition
from lionstudio.domain.show import (
    PLAY_MOVES,
    SHOW_MOVES,
    PlayStatus,
    ShowStatus,
    StatusSource,
    derive_play_status,
    derive_show_status,
    require_play_move,
    require_show_move,
)

PLAY_STORIES = {
    "straight to the merge": "pending prepared running running_complete gated merged",
    "redone once": "pending prepared running running_complete gate_failed redoing running_complete gated merged",
    "escalated on the last attempt": "running_complete gate_failed redoing running_complete gate_failed escalated",
    "retried after escalation": "gate_failed escalated redoing running_complete gated merged",
    "started over after escalation": "escalated pending prepared running",
    "a person overrules the gate": "gate_failed gated merged",
    "a person accepts what was escalated": "escalated gated merged",
    "a human gate says no": "gated gate_failed redoing",
    "cannot be merged": "gated escalated",
    "cannot be prepared": "pending escalated",
    "blocked and freed": "pending blocked pending prepared",
    "finishes after an abort": "running aborted_after_finish",
    "finishes a redo after an abort": "redoing aborted_after_finish",
    "resumed after an abort": "aborted_after_finish running_complete gated merged",
    "its process died and the director resumes": "running running_complete gate_failed",
    "cleaned before it ran": "prepared pending",
}
SHOW_STORIES = {
    "done": "active completed",
    "stopped and resumed": "active aborted active completed",
    "continued with one more play": "completed active",
    "an import that learnt more": "imported completed",
}


def steps(stories: dict[str, str]) -> list[object]:
    return [
        pytest.param(before, after, id=f"{name}: {before} -> {after}")
        for name, story in stories.items()
        for before, after in zip(story.split(), story.split()[1:], strict=False)
    ]


@pytest.mark.parametrize(("before", "after"), steps(PLAY_STORIES))
def test_a_play_can_take_every_step_of_its_stories(before, after):
    require_play_move(PlayStatus(before), PlayStatus(after))


@pytest.mark.parametrize(("before", "after"), steps(SHOW_STORIES))
def test_a_show_can_take_every_step_of_its_stories(before, after):
    require_show_move(ShowStatus(before), ShowStatus(after))


def test_every_allowed_move_of_a_play_or_show_is_told_by_a_story_or_listed_here():
    told = {
        (before, after)
        for story in PLAY_STORIES.values()
        for before, after in zip(story.split(), story.split()[1:], strict=False)
    }
    allowed = {(before.value, after.value) for before, moves in PLAY_MOVES.items() for after in moves}
    assert allowed - told == {
        ("prepared", "blocked"),  # the plan was edited meanwhile
        ("prepared", "escalated"),  # the agent could not be started
        ("redoing", "escalated"),
        ("running_complete", "redoing"),  # an operator does not want it judged
        ("running_complete", "escalated"),  # the gate itself could not run
        ("running_complete", "aborted_after_finish"),
        ("gated", "aborted_after_finish"),
        ("aborted_after_finish", "redoing"),
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("merged", "redoing", id="what is merged stays merged"),
        pytest.param("merged", "pending", id="what is merged is not planned again"),
        pytest.param("pending", "running", id="nothing runs unprepared"),
        pytest.param("running", "merged", id="nothing is merged without its gate"),
        pytest.param("running_complete", "merged", id="not even when it exited well"),
        pytest.param("gate_failed", "merged", id="nor when the gate refused it"),
        pytest.param("blocked", "running", id="a blocked play waits its turn again"),
        pytest.param("running", "running", id="staying is not a move"),
    ],
)
def test_a_play_cannot_skip_steps(before, after):
    with pytest.raises(IllegalTransition, match=f"A {before} play cannot become {after}"):
        require_play_move(PlayStatus(before), PlayStatus(after))


def test_the_refusal_names_the_words_that_are_allowed():
    with pytest.raises(IllegalTransition) as refused:
        require_play_move(PlayStatus.RUNNING, PlayStatus.MERGED)
    assert refused.value.hint == "From running it can become: aborted_after_finish, running_complete."


def test_the_refusal_says_when_a_word_is_final():
    with pytest.raises(IllegalTransition) as refused:
        require_play_move(PlayStatus.MERGED, PlayStatus.PENDING)
    assert refused.value.hint == "merged is final."


@pytest.mark.parametrize("before", list(ShowStatus))
def test_no_show_becomes_imported_again(before):
    with pytest.raises(IllegalTransition):
        require_show_move(before, ShowStatus.IMPORTED)


def test_every_word_has_its_row_of_moves():
    assert set(PLAY_MOVES) == set(PlayStatus)
    assert set(SHOW_MOVES) == set(ShowStatus)


def test_the_words_are_those_of_the_contract():
    assert [word.value for word in ShowStatus] == ["active", "completed", "aborted", "imported"]
    assert [word.value for word in StatusSource] == ["sqlite", "filesystem"]
    assert [word.value for word in PlayStatus] == [
        *("pending", "prepared", "running", "running_complete", "gated", "gate_failed", "redoing", "merged"),
        *("escalated", "blocked", "aborted_after_finish"),
    ]


@pytest.mark.parametrize(
    ("plays", "abort", "final_gate", "expected"),
    [
        pytest.param("merged running", False, None, "active", id="one still runs"),
        pytest.param("merged pending", False, None, "active", id="one still waits"),
        pytest.param("merged escalated", False, None, "active", id="one needs a person"),
        pytest.param("merged merged", False, None, "completed", id="all merged and no final gate"),
        pytest.param("merged merged", False, True, "completed", id="all merged and the final gate passed"),
        pytest.param("merged escalated", False, True, "completed", id="the final gate passed in spite of one"),
        pytest.param("merged merged", False, False, "aborted", id="the final gate failed"),
        pytest.param("merged running", True, None, "active", id="aborted, but one still runs"),
        pytest.param("merged redoing", True, None, "active", id="aborted, but one is still redone"),
        pytest.param("merged pending", True, None, "aborted", id="aborted, and nothing runs"),
        pytest.param("merged aborted_after_finish", True, None, "aborted", id="aborted, and the last one finished"),
        pytest.param("", False, None, "active", id="planned, without plays yet"),
        pytest.param("", True, None, "aborted", id="aborted before there was a play"),
    ],
)
def test_a_show_is_called_what_its_plays_and_files_say(plays, abort, final_gate, expected):
    words = [PlayStatus(word) for word in plays.split()]
    found = derive_show_status(words, abort_requested=abort, final_gate_passed=final_gate)
    assert found is ShowStatus(expected)


@pytest.mark.parametrize(
    ("traces", "expected"),
    [
        pytest.param({}, "pending", id="no trace: planned"),
        pytest.param({"worktree": "/w"}, "prepared", id="a worktree"),
        pytest.param({"worktree": "/w", "started_at": 1.0}, "running", id="started"),
        pytest.param({"worktree": "/w", "process_alive": True}, "running", id="a live pid file"),
        pytest.param({"worktree": "/w", "process_alive": False}, "prepared", id="a dead pid file alone says nothing"),
        pytest.param({"started_at": 1.0, "attempt": 2}, "redoing", id="a later attempt started"),
        pytest.param({"started_at": 1.0, "exit_code": 0}, "running_complete", id="exited well"),
        pytest.param({"started_at": 1.0, "exit_code": 3}, "running_complete", id="exited badly: the gate judges"),
        pytest.param({"exit_code": 0, "gate_passed": True}, "gated", id="verdict true"),
        pytest.param({"exit_code": 0, "gate_passed": False}, "gate_failed", id="verdict false"),
        pytest.param({"gate_passed": False, "merge_sha": "abc"}, "merged", id="merged, whatever the verdict"),
    ],
)
def test_a_play_without_a_status_is_called_after_its_furthest_trace(traces, expected):
    assert derive_play_status(**traces) is PlayStatus(expected)
