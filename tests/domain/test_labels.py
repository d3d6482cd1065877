import pytest

from lionstudio.domain.labels import (
    DISPLAY_MAP,
    KIND_LABELS,
    LEGACY_TOOLTIP,
    SHOW_LABELS,
    SOURCE_LABELS,
    TEAM_LABELS,
    PlayBadges,
    play_badges,
    status_label,
)
from lionstudio.domain.phrases import NAME_LENGTH, count_of, display_name, format_duration, short_id
from lionstudio.domain.session import FOREIGN_STATUSES, InvocationKind, SessionStatus, SourceKind
from lionstudio.domain.show import PlayStatus, ShowStatus
from lionstudio.domain.team import TeamStatus
from tests.domain.factories import make_play, make_session


def test_the_display_map_knows_the_words_of_sessions_and_plays_and_no_others():
    assert set(DISPLAY_MAP) == {*SessionStatus, *PlayStatus}
    assert not set(DISPLAY_MAP) & {*FOREIGN_STATUSES, "finished", "stale", "active"}


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("running", "Running"),
        ("completed", "Completed"),
        ("failed", "Failed"),
        ("timed_out", "Timed out"),
        ("aborted", "Aborted"),
        ("cancelled", "Cancelled"),
        ("running_complete", "Awaiting gate"),
        ("gate_failed", "Gate failed"),
        ("aborted_after_finish", "Aborted after finish"),
    ],
)
def test_how_a_stored_word_reads(word, label):
    assert DISPLAY_MAP[word] == label


def test_a_run_without_a_status_is_legacy():
    assert (status_label(None), LEGACY_TOOLTIP) == ("Legacy", "Legacy unclassified")


def test_every_other_vocabulary_has_a_label_for_each_word():
    assert set(KIND_LABELS) == set(InvocationKind)
    assert set(SOURCE_LABELS) == set(SourceKind)
    assert set(SHOW_LABELS) == set(ShowStatus)
    assert set(TEAM_LABELS) == set(TeamStatus)


@pytest.mark.parametrize(
    ("status", "gate_passed", "badges"),
    [
        ("pending", None, ("pending", None, None)),
        ("prepared", None, ("prepared", None, None)),
        ("running", None, ("running", None, None)),
        ("running_complete", None, ("awaiting gate", None, None)),
        ("gated", True, ("completed", "passed", "local")),
        ("gated", None, ("awaiting gate", None, "needs you")),
        ("gate_failed", False, ("failed", "gate failed", None)),
        ("redoing", False, ("running", "redo", None)),
        ("merged", True, ("completed", "passed", "merged")),
        ("merged", None, ("completed", "gate skipped", "merged")),
        ("merged", False, ("completed", "gate failed", "merged")),
        ("escalated", False, ("failed", "gate failed", "needs you")),
        ("escalated", None, ("failed", None, "needs you")),
        ("blocked", None, ("blocked", None, None)),
        ("aborted_after_finish", None, ("aborted", None, None)),
    ],
)
def test_a_plays_state_cell(status, gate_passed, badges):
    assert play_badges(make_play(status, gate_passed=gate_passed)) == PlayBadges(*badges)


def test_a_play_whose_show_ended_before_it_began_is_skipped_not_pending():
    assert play_badges(make_play("pending"), is_skipped=True) == PlayBadges("skipped")


@pytest.mark.parametrize("status", PlayStatus)
@pytest.mark.parametrize("gate_passed", [True, False, None])
def test_every_play_has_a_pill(status, gate_passed):
    assert play_badges(make_play(status, gate_passed=gate_passed)).pill


NAMES = {
    "name": "triage",
    "show_topic": "ledger",
    "show_play_name": "schema-map",
    "playbook_name": "review.yaml",
    "agent_name": "architect",
}


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ((), "triage"),
        (("name",), "ledger / schema-map"),
        (("name", "show_play_name"), "ledger"),
        (("name", "show_topic"), "schema-map"),
        (("name", "show_topic", "show_play_name"), "review.yaml"),
        (("name", "show_topic", "show_play_name", "playbook_name"), "architect"),
        (tuple(NAMES), "Find the failing test"),
    ],
)
@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_a_run_goes_by_the_best_name_it_has(missing, expected, blank):
    session = make_session(**{**NAMES, **dict.fromkeys(missing, blank)})
    assert display_name(session, first_instruction="Find the failing\ntest") == expected


def test_a_run_without_any_name_goes_by_its_short_id():
    assert display_name(make_session()) == short_id(make_session().id) == "7c1f93d2"


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        pytest.param("word " * 12, ("word " * 12).strip(), id="just fits"),
        pytest.param("word " * 30, ("word " * 11).strip() + "…", id="cut between words"),
        pytest.param("x" * 200, "x" * (NAME_LENGTH - 1) + "…", id="cut where it must be"),
    ],
)
def test_a_long_instruction_is_cut_to_its_first_words(instruction, expected):
    name = display_name(make_session(), first_instruction=instruction)
    assert name == expected
    assert len(name) <= NAME_LENGTH


@pytest.mark.parametrize(
    ("seconds", "text", "brief"),
    [
        (0, "0s", "0s"),
        (8.9, "8s", "8s"),
        (59.99, "59s", "59s"),
        (60, "1m", "1m"),
        (96, "1m 36s", "1m 36s"),
        (192, "3m 12s", "3m"),
        (364, "6m 04s", "6m"),
        (47 * 60, "47m", "47m"),
        (3599, "59m 59s", "59m"),
        (3600, "1h", "1h"),
        (4800, "1h 20m", "1h 20m"),
        (9000, "2h 30m", "2h"),
        (9 * 3600 + 14 * 60 + 59, "9h 14m", "9h"),
        (47 * 3600 + 3599, "47h 59m", "47h"),
        (48 * 3600, "2d", "2d"),
        (2000 * 86400, "2,000d", "2,000d"),
        (-5, "0s", "0s"),
        (float("inf"), "unknown", "unknown"),
        (float("nan"), "unknown", "unknown"),
    ],
)
def test_how_a_length_of_time_reads(seconds, text, brief):
    assert format_duration(seconds) == text
    assert format_duration(seconds, brief=True) == brief


@pytest.mark.parametrize(("number", "text"), [(0, "0 messages"), (1, "1 message"), (12806, "12,806 messages")])
def test_how_a_count_reads(number, text):
    assert count_of(number, "message") == text


def test_a_count_agrees_with_its_noun_and_its_verb() -> None:
    assert [count_of(number, "branch is", "branches are") for number in (0, 1, 2_000)] == [
        "0 branches are", "1 branch is", "2,000 branches are",
    ]  # fmt: skip
