import pytest

from lionstudio.domain.chain import play_chain, show_chain, state_chain, team_chain
from lionstudio.domain.health import classify_health
from lionstudio.domain.labels import DISPLAY_MAP
from lionstudio.domain.state import derive_play_state
from tests.domain.factories import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    make_evidence,
    make_look,
    make_play,
    make_session,
    make_show,
    make_team,
)


def chain_of(session, evidence=None, **facts):
    return state_chain(session, classify_health(session, evidence or make_evidence(), now=NOW), **facts)


ENDED = {"started_at": NOW - HOUR, "ended_at": NOW - HOUR + 14 * MINUTE + 22}


@pytest.mark.parametrize(
    ("session", "evidence", "chain"),
    [
        (make_session(), make_evidence(), ("Running", "process alive", "42 messages")),
        (make_session(), make_evidence("unknown"), ("Running", "process unknown", "42 messages")),
        (
            make_session(message_count=0, last_message_at=None, updated_at=NOW),
            make_evidence(),
            ("Running", "process alive", "no message yet"),
        ),
        (
            make_session(last_message_at=NOW - 80 * MINUTE),
            make_evidence(),
            ("Running", "quiet 1h 20m", "process alive", "42 messages"),
        ),
        (
            make_session(last_message_at=NOW - 7.5 * HOUR),
            make_evidence(),
            ("Running", "quiet 7h", "process alive", "42 messages"),
        ),
        (
            make_session(last_message_at=NOW - 9 * HOUR),
            make_evidence("dead"),
            ("Running", "quiet 9h", "process gone", "42 messages"),
        ),
        (
            make_session(last_message_at=NOW - 7 * HOUR),
            make_evidence("unknown"),
            ("Running", "quiet 7h", "process unknown", "42 messages"),
        ),
        (
            make_session(message_count=0, last_message_at=None),
            make_evidence("dead", has_artifacts=False),
            ("Running", "no output", "process gone"),
        ),
        (
            make_session(),
            make_evidence(make_look("alive", recorder_gone=True)),
            ("Running", "process alive", "recorder gone", "42 messages"),
        ),
        (make_session("completed", exit_code=0, **ENDED), None, ("Completed", "14m 22s", "42 messages")),
        (make_session("completed"), None, ("Completed", "42 messages")),
        (
            make_session("completed"),
            make_evidence(stale_locks=("a.lock", "b.lock"), temp_files=("c.tmp",)),
            ("Completed", "2 stale locks", "1 unfinished file", "42 messages"),
        ),
        (make_session("failed", exit_code=3, **ENDED), None, ("Failed", "exit 3", "42 messages")),
        (make_session("failed", exit_code=137), None, ("Failed", "signal 9", "42 messages")),
        (make_session("failed", exit_code=127), None, ("Failed", "command not found", "42 messages")),
        (make_session("failed", message_count=0), None, ("Failed", "0 messages")),
        (make_session("failed", end_reason="run.failed.exit_nonzero"), None, ("Failed", "42 messages")),
        (make_session("aborted", exit_code=130), None, ("Aborted", "interrupted", "42 messages")),
        (make_session("cancelled", end_actor="mira"), None, ("Cancelled", "by mira", "42 messages")),
        (
            make_session("cancelled", end_actor="mira", ended_at=NOW - DAY, messages_lost=1),
            None,
            ("Cancelled", "by mira", "wrote after end", "1 message lost", "42 messages"),
        ),
        (make_session("timed_out", exit_code=124), None, ("Timed out", "42 messages")),
        (make_session(None), None, ("Legacy", "unclassified", "42 messages")),
    ],
    ids=lambda value: " · ".join(value) if type(value) is tuple else "",
)
def test_a_runs_state_as_one_chain_of_words(session, evidence, chain):
    assert chain_of(session, evidence) == chain


@pytest.mark.parametrize(
    ("session", "facts", "word"),
    [
        (make_session("timed_out", exit_code=124), {"deadline_seconds": 3600}, "deadline 60m"),
        (make_session("timed_out", exit_code=124), {"deadline_seconds": 90}, "deadline 1m 30s"),
        (make_session("timed_out", exit_code=124), {"deadline_seconds": 9 * HOUR}, "deadline 9h"),
        (make_session("aborted", end_actor="ana"), {"viewer": "ana"}, "by you"),
        (make_session("aborted", end_actor="ana"), {"viewer": "mira"}, "by ana"),
    ],
)
def test_a_chain_uses_what_the_reader_knows(session, facts, word):
    assert chain_of(session, **facts)[1] == word


@pytest.mark.parametrize(
    ("status", "code", "word"),
    [
        ("failed", "run.failed.exception", "exception"),
        ("failed", "run.failed.not_executable", "not executable"),
        ("aborted", "run.aborted.hangup", "terminal closed"),
        ("cancelled", "run.cancelled.terminated", "terminated"),
        ("cancelled", "run.cancelled.task", "task cancelled"),
    ],
)
def test_a_stored_reason_has_its_word_in_the_chain(status, code, word):
    assert chain_of(make_session(status, end_reason=code)) == (DISPLAY_MAP[status], word, "42 messages")


def test_a_single_tool_error_is_said():
    assert "1 tool error" in chain_of(make_session("completed"), tool_errors=1)


def test_tool_errors_come_before_the_number_of_messages():
    chain = chain_of(make_session("failed", exit_code=1), tool_errors=3)
    assert chain == ("Failed", "exit 1", "3 tool errors", "42 messages")


@pytest.mark.parametrize(
    ("play", "chain"),
    [
        (make_play("pending"), ("Pending",)),
        (make_play("redoing", attempt=2), ("Redoing", "attempt 2")),
        (make_play("gated", gate_passed=True, exit_code=0), ("Gated", "gate passed")),
        (
            make_play("escalated", gate_passed=False, exit_code=1, attempt=3),
            ("Escalated", "gate failed", "exit 1", "attempt 3"),
        ),
        (make_play("gate_failed", gate_passed=False), ("Gate failed",)),
    ],
)
def test_a_plays_state_as_one_chain_of_words(play, chain):
    assert play_chain(play, derive_play_state(play)) == chain


def test_a_shows_state_as_one_chain_of_words():
    plays = [make_play(status).status for status in ("merged", "merged", "blocked", "escalated", "running")]
    assert show_chain(make_show(), plays) == ("Active", "1 escalated", "1 blocked", "2 of 5 merged")
    assert show_chain(make_show("completed"), []) == ("Completed",)


def test_a_teams_state_as_one_chain_of_words():
    assert team_chain(make_team(), message_count=128) == ("Active", "2 members", "128 messages")
    assert team_chain(make_team("archived", members=("ana",))) == ("Archived", "1 member")


@pytest.mark.parametrize("status", ["pending", "prepared"])
def test_a_play_that_was_skipped_says_that_its_show_ended(status):
    play = make_play(status)
    assert play_chain(play, derive_play_state(play, show_status=make_show("aborted").status))[1:] == ("show ended",)


@pytest.mark.parametrize(
    ("found", "invalid", "word"),
    [
        ([], [], "nothing delivered"),
        (["out/a.md"], [], "partly delivered"),
        (["out/a.md", "log.txt"], ["log.txt"], "delivery unusable"),
        (["out/a.md", "log.txt"], [], None),
    ],
)
def test_files_that_were_expected_and_are_not_there_are_said(found, invalid, word):
    facts = {"expected": ["out/*.md", "log.txt"], "found": found, "invalid": invalid}
    chain = chain_of(make_session("completed", node_metadata={"delivery": facts}, **ENDED))
    assert chain == ("Completed", "14m 22s", *([word] if word else []), "42 messages")
