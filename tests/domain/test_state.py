import pytest

from lionstudio.domain.delivery import Delivery, derive_delivery
from lionstudio.domain.health import classify_health
from lionstudio.domain.session import RUN_ACTOR
from lionstudio.domain.show import StatusSource
from lionstudio.domain.state import (
    Lifecycle,
    Outcome,
    Severity,
    StateHealth,
    Tone,
    derive_play_state,
    derive_session_state,
    derive_show_state,
    derive_team_state,
    end_reason_code,
    severity_of,
)
from tests.domain.factories import (
    HOUR,
    NOW,
    make_evidence,
    make_play,
    make_session,
    make_show,
    make_team,
)


def state_of(session, evidence=None, delivery=Delivery.NOT_EXPECTED):
    return derive_session_state(session, classify_health(session, evidence or make_evidence(), now=NOW), delivery)


def codes(state):
    return [reason.code for reason in state.reasons]


@pytest.mark.parametrize(
    ("status", "lifecycle", "outcome", "health", "severity", "tone"),
    [
        ("running", "running", "none", "running", "info", "info"),
        ("completed", "ended", "completed", "ok", "neutral", "success"),
        ("failed", "ended", "failed", "ok", "critical", "danger"),
        ("timed_out", "ended", "timed_out", "ok", "warning", "warning"),
        ("aborted", "ended", "aborted", "ok", "neutral", "neutral"),
        ("cancelled", "ended", "cancelled", "ok", "neutral", "neutral"),
        (None, "legacy", "none", "ok", "neutral", "neutral"),
    ],
)
def test_the_state_of_a_run_that_is_well(status, lifecycle, outcome, health, severity, tone):
    state = state_of(make_session(status))
    assert (state.lifecycle, state.outcome, state.health) == (lifecycle, outcome, health)
    assert (state.severity, state.tone) == (severity, tone)


@pytest.mark.parametrize(
    ("quiet_for", "evidence", "health", "severity", "tone"),
    [
        pytest.param(0, make_evidence("alive"), "running", "info", "info", id="healthy"),
        pytest.param(2 * HOUR, make_evidence("alive"), "idle", "warning", "warning", id="idle"),
        pytest.param(7 * HOUR, make_evidence("alive"), "stalled", "critical", "danger", id="unresponsive"),
        pytest.param(7 * HOUR, make_evidence("dead"), "process_dead", "critical", "danger", id="stale"),
        pytest.param(7 * HOUR, make_evidence("unknown"), "stalled", "critical", "danger", id="stale, but unseen"),
    ],
)
def test_how_health_reads_on_the_state_of_a_running_run(quiet_for, evidence, health, severity, tone):
    state = state_of(make_session(last_message_at=NOW - quiet_for), evidence)
    assert (state.health, state.severity, state.tone) == (health, severity, tone)


def test_an_orphaned_run_is_critical():
    state = state_of(make_session(message_count=0, last_message_at=None), make_evidence("dead", has_artifacts=False))
    assert (state.health, state.severity) == (StateHealth.ORPHANED, Severity.CRITICAL)


def test_a_zombie_is_degraded_and_a_warning():
    state = state_of(make_session("completed"), make_evidence(temp_files=("a.tmp",)))
    assert (state.health, state.severity, state.tone) == (StateHealth.DEGRADED, Severity.WARNING, Tone.WARNING)


@pytest.mark.parametrize(
    ("delivery", "severity", "tone"),
    [
        ("passed", "neutral", "success"),
        ("not_expected", "neutral", "success"),
        ("partial", "warning", "warning"),
        ("invalid", "warning", "warning"),
        ("missing", "critical", "danger"),
    ],
)
def test_what_a_completed_run_delivered_weighs(delivery, severity, tone):
    state = state_of(make_session("completed", exit_code=0), delivery=Delivery(delivery))
    assert (state.severity, state.tone) == (severity, tone)
    assert (f"run.delivery.{delivery}" in codes(state)) is (delivery != "not_expected")


@pytest.mark.parametrize("delivery", Delivery)
def test_files_are_not_missed_before_the_run_has_ended(delivery):
    state = state_of(make_session("running"), delivery=delivery)
    assert state.severity is Severity.INFO
    assert not any(code.startswith("run.delivery") for code in codes(state))


def test_the_most_severe_axis_wins():
    mild = (Lifecycle.ENDED, Outcome.COMPLETED, StateHealth.DEGRADED, Delivery.MISSING)
    assert severity_of(*mild) is Severity.CRITICAL
    assert severity_of(*mild[:3], Delivery.PASSED) is Severity.WARNING


@pytest.mark.parametrize(
    ("expected", "found", "invalid", "delivery"),
    [
        pytest.param([], ["a.md"], [], "not_expected", id="nothing was promised"),
        pytest.param(["a.md"], ["a.md"], [], "passed", id="the file is there"),
        pytest.param(["*.md", "out/*.csv"], ["a.md", "out/b.csv"], [], "passed", id="every glob is met"),
        pytest.param(["*.md", "out/*.csv"], ["a.md"], [], "partial", id="one glob is not met"),
        pytest.param(["*.md"], [], [], "missing", id="no file at all"),
        pytest.param(["*.md"], ["out/a.md"], [], "missing", id="a star stays in its folder"),
        pytest.param(["**/*.md"], ["out/deep/a.md"], [], "passed", id="two stars do not"),
        pytest.param(["**/*.md"], ["a.md"], [], "passed", id="two stars may stand for no folder"),
        pytest.param(["out/**"], ["out/deep/a.md"], [], "passed", id="everything below a folder"),
        pytest.param(["*.MD"], ["a.md"], [], "missing", id="case matters"),
        pytest.param(["a.json", "b.md"], ["a.json"], ["a.json"], "invalid", id="a promised file cannot be used"),
        pytest.param(["b.md"], ["a.json", "b.md"], ["a.json"], "passed", id="a broken file nobody asked for"),
    ],
)
def test_what_came_of_the_expected_files(expected, found, invalid, delivery):
    assert derive_delivery(expected, found, invalid) is Delivery(delivery)


@pytest.mark.parametrize(
    ("status", "facts", "code"),
    [
        pytest.param("running", {}, None, id="running"),
        pytest.param(None, {}, None, id="legacy"),
        pytest.param("failed", {"exit_code": 3}, "run.failed.exit_nonzero", id="from its exit code"),
        pytest.param("failed", {}, "run.ended.unexplained", id="nothing says why"),
        pytest.param("failed", {"end_reason": "run.failed.exception"}, "run.failed.exception", id="as stored"),
        pytest.param("failed", {"end_reason": "boom", "exit_code": 9}, "run.failed.exit_nonzero", id="a foreign code"),
        pytest.param("aborted", {"end_actor": "mira", "exit_code": 0}, "run.ended.by_operator", id="an operator"),
        pytest.param("aborted", {"end_actor": RUN_ACTOR, "exit_code": 130}, "run.aborted.interrupt", id="itself"),
    ],
)
def test_why_a_run_ended(status, facts, code):
    session = make_session(status, **facts)
    assert end_reason_code(session) == code
    assert code is None or codes(state_of(session))[0] == code


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({"exit_code": 3}, "The command ended with exit code 3."),
        ({"exit_code": -9}, "Signal 9 killed the command."),
        ({"end_actor": "mira"}, "mira gave the run its final status."),
        ({"end_reason": "run.failed.exit_nonzero"}, "The command ended with an exit code that means failure."),
    ],
)
def test_the_sentence_of_an_end_names_its_facts(facts, sentence):
    assert state_of(make_session("failed", **facts)).reasons[0].sentence == sentence


@pytest.mark.parametrize(
    ("status", "gate_passed", "lifecycle", "outcome", "severity", "tone", "code"),
    [
        ("pending", None, "pending", "none", "neutral", "neutral", "play.waiting.dependencies"),
        ("prepared", None, "pending", "none", "neutral", "neutral", "play.prepared.worktree"),
        ("running", None, "running", "none", "info", "info", "play.running.agent"),
        ("running_complete", None, "awaiting_gate", "none", "info", "info", "play.gate.awaiting"),
        ("gated", None, "awaiting_gate", "none", "info", "info", "play.gate.awaiting"),
        ("gated", True, "ended", "completed", "neutral", "success", "play.gate.passed"),
        ("gate_failed", False, "ended", "gate_failed", "warning", "warning", "play.gate.failed"),
        ("redoing", False, "running", "none", "info", "info", "play.running.redo"),
        ("merged", True, "ended", "merged", "neutral", "success", "play.merged.integrated"),
        ("escalated", False, "blocked", "escalated", "critical", "danger", "play.escalated.needs_decision"),
        ("blocked", None, "blocked", "none", "critical", "danger", "play.blocked.dependency_failed"),
        ("aborted_after_finish", None, "ended", "aborted", "neutral", "neutral", "play.aborted.after_finish"),
    ],
)
def test_the_state_of_a_play(status, gate_passed, lifecycle, outcome, severity, tone, code):
    state = derive_play_state(make_play(status, gate_passed=gate_passed))
    assert (state.lifecycle, state.outcome, state.severity, state.tone) == (lifecycle, outcome, severity, tone)
    assert codes(state)[0] == code


def test_a_running_play_is_as_well_as_its_run():
    dead_run = state_of(make_session(), make_evidence("dead"))
    state = derive_play_state(make_play("running"), dead_run)
    assert (state.health, state.severity) == (StateHealth.PROCESS_DEAD, Severity.CRITICAL)
    assert "run.health.process_dead" in codes(state)


def test_a_running_play_without_a_run_says_that_its_health_is_not_known():
    assert "play.health.no_run" in codes(derive_play_state(make_play("running")))


def test_a_merged_play_does_not_inherit_the_death_of_its_run():
    dead_run = state_of(make_session(), make_evidence("dead"))
    assert derive_play_state(make_play("merged"), dead_run).health is StateHealth.OK


def test_a_merged_play_shows_what_its_run_left_behind():
    zombie = state_of(make_session("completed"), make_evidence(stale_locks=("a.lock",)))
    state = derive_play_state(make_play("merged"), zombie)
    assert (state.health, state.severity) == (StateHealth.DEGRADED, Severity.WARNING)


@pytest.mark.parametrize("show", ["completed", "aborted"])
@pytest.mark.parametrize("status", ["pending", "prepared"])
def test_a_play_that_never_began_is_skipped_once_its_show_has_ended(status, show):
    play = make_play(status)
    state = derive_play_state(play, show_status=make_show(show).status)
    assert (state.outcome, state.severity) == (Outcome.SKIPPED, Severity.INFO)


def test_a_play_that_delivered_nothing_is_critical():
    assert derive_play_state(make_play("merged"), delivery=Delivery.MISSING).severity is Severity.CRITICAL


@pytest.mark.parametrize(
    ("status", "facts", "final_gate_passed", "outcome", "severity", "code"),
    [
        ("completed", {}, True, "completed", "neutral", "show.completed.all_merged"),
        ("aborted", {}, None, "aborted", "neutral", "show.aborted.by_operator"),
        ("aborted", {"status_source": "filesystem"}, None, "aborted", "neutral", "show.aborted.abort_file"),
        ("aborted", {}, False, "failed", "critical", "show.failed.final_gate"),
        ("imported", {}, None, "none", "neutral", "show.imported.unclassified"),
    ],
)
def test_the_state_of_a_show_that_has_ended(status, facts, final_gate_passed, outcome, severity, code):
    facts = {name: StatusSource(value) for name, value in facts.items()}
    state = derive_show_state(make_show(status, **facts), final_gate_passed=final_gate_passed)
    assert (state.outcome, state.severity, codes(state)) == (outcome, severity, [code])


@pytest.mark.parametrize(
    ("plays", "lifecycle", "health", "severity", "code"),
    [
        pytest.param([], "running", "running", "info", "show.active.plays", id="no plays yet"),
        pytest.param(["running", "pending"], "running", "running", "info", "show.active.plays", id="under way"),
        pytest.param(
            ["gate_failed", "running"], "running", "degraded", "warning", "show.degraded.gate_failed", id="gate failed"
        ),
        pytest.param(
            ["blocked", "running"],
            "blocked",
            "running",
            "critical",
            "show.blocked.play_blocked",
            id="a play is blocked",
        ),
        pytest.param(
            ["gate_failed", "blocked", "escalated"],
            "blocked",
            "degraded",
            "critical",
            "show.blocked.play_escalated",
            id="the most severe trouble is named first",
        ),
    ],
)
def test_an_active_show_is_as_well_as_its_plays(plays, lifecycle, health, severity, code):
    rows = [make_play(status, name=f"p{at}") for at, status in enumerate(plays)]
    state = derive_show_state(make_show(), [(play, derive_play_state(play)) for play in rows])
    assert (state.lifecycle, state.health, state.severity) == (lifecycle, health, severity)
    assert codes(state)[0] == code


def test_a_dead_run_of_a_play_shows_on_its_show():
    play = make_play("running")
    state = derive_show_state(
        make_show(), [(play, derive_play_state(play, state_of(make_session(), make_evidence("dead"))))]
    )
    assert (state.health, state.severity) == (StateHealth.PROCESS_DEAD, Severity.CRITICAL)


def test_a_blocked_show_names_the_plays_that_need_a_person():
    rows = [make_play("escalated", name="cutover"), make_play("escalated", name="backfill")]
    state = derive_show_state(make_show(), [(play, derive_play_state(play)) for play in rows])
    assert [ref.detail for ref in state.reasons[0].evidence] == ["cutover", "backfill"]


@pytest.mark.parametrize(
    ("status", "lifecycle", "severity"), [("active", "running", "info"), ("archived", "archived", "neutral")]
)
def test_the_state_of_a_team(status, lifecycle, severity):
    state = derive_team_state(make_team(status))
    assert (state.lifecycle, state.severity) == (lifecycle, severity)


def test_the_end_of_a_run_and_the_state_of_a_play_carry_their_facts():
    session = make_session("failed", exit_code=3, end_actor=RUN_ACTOR, ended_at=NOW)
    end = state_of(session).reasons[0]
    assert {ref.ref: ref.detail for ref in end.evidence} == {
        "exit_code": "3",
        "end_actor": RUN_ACTOR,
        "ended_at": str(NOW),
    }
    facts = {"session_id": "s1", "exit_code": "0", "gate_feedback": "fine", "merge_sha": "abc"}
    own = derive_play_state(make_play("merged", **facts)).reasons[0]
    assert {ref.ref: ref.detail for ref in own.evidence} == facts
