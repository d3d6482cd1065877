"""Teams: who gets which message, who read it, and how a long one is shortened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.errors import IllegalTransition
from lionstudio.domain.team import (
    SUMMARY_FROM,
    SUMMARY_LENGTH,
    Team,
    TeamMessage,
    TeamStatus,
    is_for,
    mark_read,
    require_team_move,
    summarise,
)


def message(sender: str, recipient: str, **more: object) -> TeamMessage:
    return TeamMessage(id="m", team_id="t", created_at=1.0, sender=sender, recipient=recipient, content="hello", **more)


@pytest.mark.parametrize(
    ("sender", "recipient", "expected"),
    [
        pytest.param("lead", "dev", True, id="sent to them"),
        pytest.param("lead", "all", True, id="sent to all"),
        pytest.param("system", "all", True, id="a notice to all"),
        pytest.param("lead", "ops", False, id="sent to someone else"),
        pytest.param("dev", "all", False, id="their own message to all"),
        pytest.param("dev", "dev", True, id="their own note to themselves"),
    ],
)
def test_a_member_gets_what_is_meant_for_them(sender, recipient, expected):
    assert is_for(message(sender, recipient), "dev") is expected


def test_a_reader_is_named_once_however_often_they_read():
    once = mark_read(message("lead", "all"), "dev")
    assert once.read_by == ("dev",)
    assert mark_read(once, "dev") is once
    assert mark_read(once, "ops").read_by == ("dev", "ops")


def test_a_message_goes_to_all_unless_it_names_someone():
    assert TeamMessage(id="m", team_id="t", created_at=1.0, sender="lead", content="hi").recipient == "all"


def test_a_team_counts_its_members():
    assert Team(id="t", name="alpha", created_at=1.0, updated_at=1.0, members=("lead", "dev")).member_count == 2


def test_a_team_can_be_archived_and_taken_up_again():
    require_team_move(TeamStatus.ACTIVE, TeamStatus.ARCHIVED)
    require_team_move(TeamStatus.ARCHIVED, TeamStatus.ACTIVE)


@pytest.mark.parametrize("status", list(TeamStatus))
def test_archiving_what_is_archived_is_refused(status):
    with pytest.raises(IllegalTransition, match=f"that is {status} cannot become {status}"):
        require_team_move(status, status)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("x" * SUMMARY_FROM, None, id="short enough to be shown whole"),
        pytest.param("word " * 60, ("word " * 23).strip() + "…", id="cut between words"),
        pytest.param("x" * 300, "x" * (SUMMARY_LENGTH - 1) + "…", id="nothing to cut at"),
        pytest.param("# Plan\n\n" + "\n" * 250 + "done", "Plan done", id="a heading loses its sign, lines become one"),
        pytest.param(
            "All tests pass." + " " * 10 + "y" * 300,
            "All tests pass. " + "y" * 103 + "…",
            id="one long word after others",
        ),
    ],
)
def test_a_long_message_is_summarised_in_one_line(content, expected):
    assert summarise(content) == expected


@given(st.text(min_size=SUMMARY_FROM + 1, max_size=600))
def test_a_summary_is_one_short_line(content):
    summary = summarise(content)
    assert summary is not None
    assert len(summary) <= SUMMARY_LENGTH
    assert len(summary.splitlines()) <= 1
