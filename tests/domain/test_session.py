"""Sessions: which status may follow which, and what exit codes and other tools' words mean."""

import itertools

import pytest

from lionstudio.domain.errors import IllegalTransition
from lionstudio.domain.session import (
    ADMIN_TARGETS,
    TERMINAL_STATUSES,
    SessionStatus,
    exit_code_of,
    require_move,
    status_from_exit_code,
    status_from_foreign,
)
from tests.domain.factories import NOW, make_session

EVERY = [None, *SessionStatus]
ALLOWED = {(SessionStatus.RUNNING, after) for after in SessionStatus if after is not SessionStatus.RUNNING}


@pytest.mark.parametrize(
    ("before", "after"), [(before, after) for before, after in itertools.product(EVERY, SessionStatus)]
)
def test_only_a_running_session_moves_and_only_to_an_end(before, after):
    if (before, after) in ALLOWED:
        require_move(before, after)
        return
    with pytest.raises(IllegalTransition, match=f"A {before or 'legacy'} session cannot become {after}") as caught:
        require_move(before, after)
    assert caught.value.hint == "Only a running session can change its status."


def test_every_status_but_running_is_final():
    assert set(SessionStatus) - TERMINAL_STATUSES == {SessionStatus.RUNNING}


def test_an_operator_may_not_say_that_a_run_completed_or_timed_out():
    assert {SessionStatus.FAILED, SessionStatus.ABORTED, SessionStatus.CANCELLED} == ADMIN_TARGETS


@pytest.mark.parametrize(
    ("exit_code", "status"),
    [
        (0, "completed"),
        (1, "failed"),
        (2, "failed"),
        (124, "timed_out"),
        (126, "failed"),
        (127, "failed"),
        (128, "failed"),
        (129, "aborted"),
        (130, "aborted"),
        (137, "failed"),
        (143, "cancelled"),
        (255, "failed"),
        (-1, "aborted"),
        (-2, "aborted"),
        (-9, "failed"),
        (-11, "failed"),
        (-15, "cancelled"),
    ],
)
def test_what_an_exit_code_says_about_its_run(exit_code, status):
    assert status_from_exit_code(exit_code) is SessionStatus(status)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        *((status.value, status.value) for status in SessionStatus),
        ("done", "completed"),
        ("success", "completed"),
        ("completed_empty", "completed"),
        ("error", "failed"),
        ("timeout", "timed_out"),
        ("interrupted", "aborted"),
    ],
)
def test_what_another_tool_calls_the_same(word, status):
    assert status_from_foreign(word) is SessionStatus(status)


@pytest.mark.parametrize("word", [None, "", "Completed", "queued", "legacy", "ok"])
def test_a_word_that_says_nothing_we_know_means_legacy(word):
    assert status_from_foreign(word) is None


@pytest.mark.parametrize(
    ("status", "started_at", "ended_at", "expected"),
    [
        pytest.param("completed", NOW, NOW + 1.5, 1500.0, id="ended"),
        pytest.param("failed", NOW, NOW, 0.0, id="ended at once"),
        pytest.param(None, NOW, NOW + 2, 2000.0, id="legacy with both times"),
        pytest.param("running", NOW, None, None, id="running"),
        pytest.param("running", NOW, NOW + 1, None, id="running, whatever its end says"),
        pytest.param("completed", None, NOW, None, id="nobody knows when it began"),
        pytest.param("completed", NOW, None, None, id="nobody knows when it ended"),
    ],
)
def test_duration_is_computed_from_start_and_end(status, started_at, ended_at, expected):
    assert make_session(status, started_at=started_at, ended_at=ended_at).duration_ms == expected


@pytest.mark.parametrize(
    ("status", "exit_code", "expected"),
    [
        ("completed", None, 0),
        ("completed", 3, 0),
        ("failed", None, 1),
        ("failed", 0, 1),
        ("failed", 3, 3),
        ("failed", -9, 137),
        ("failed", 70_000, 1),
        ("timed_out", None, 124),
        ("timed_out", 0, 124),
        ("aborted", None, 130),
        ("aborted", 129, 129),
        ("cancelled", None, 143),
        ("cancelled", -15, 143),
        (None, None, 1),
    ],
)
def test_the_exit_code_that_says_how_a_run_ended(status, exit_code, expected):
    assert exit_code_of(make_session(status=status, exit_code=exit_code)) == expected
