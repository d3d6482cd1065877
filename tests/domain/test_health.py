import pytest

from lionstudio.domain import health as rules
from lionstudio.domain.health import (
    DEFAULT_STALE_AFTER,
    HEALTH_ACTIONS,
    HEALTH_COLOURS,
    HEALTH_LABELS,
    Health,
    Leftover,
    classify_health,
    derive_health,
    last_activity_at,
    leftover_kind,
    may_be,
    should_look_for_leftovers,
    stale_after,
    wrote_after_end,
)
from lionstudio.domain.process import ProcessState
from lionstudio.domain.session import RUN_ACTOR, TERMINAL_STATUSES, InvocationKind
from tests.domain.factories import DAY, HOUR, MINUTE, NOW, make_evidence, make_look, make_session


def codes(verdict):
    return [reason.code for reason in verdict.reasons]


@pytest.mark.parametrize(
    ("quiet_for", "process", "expected", "deciding"),
    [
        pytest.param(0, "alive", Health.HEALTHY, "run.health.process_alive", id="alive and writing"),
        pytest.param(HOUR, "alive", Health.HEALTHY, "run.health.process_alive", id="alive, quiet for exactly an hour"),
        pytest.param(HOUR + 1, "alive", Health.IDLE, "run.health.quiet", id="alive but quiet for over an hour"),
        pytest.param(6 * HOUR, "alive", Health.IDLE, "run.health.quiet", id="alive, at its threshold"),
        pytest.param(
            6 * HOUR + 1, "alive", Health.UNRESPONSIVE, "run.health.quiet_too_long", id="alive, past its threshold"
        ),
        pytest.param(0, "dead", Health.STALE, "run.health.process_dead", id="dead, wrote just now"),
        pytest.param(5 * MINUTE, "dead", Health.STALE, "run.health.process_dead", id="dead for minutes"),
        pytest.param(17 * HOUR, "dead", Health.STALE, "run.health.process_dead", id="dead past its threshold"),
        pytest.param(0, "unknown", Health.HEALTHY, "run.health.process_unknown", id="unseen and writing"),
        pytest.param(HOUR + 1, "unknown", Health.IDLE, "run.health.quiet", id="unseen, quiet for over an hour"),
        pytest.param(6 * HOUR, "unknown", Health.IDLE, "run.health.quiet", id="unseen, at its threshold"),
        pytest.param(
            6 * HOUR + 1, "unknown", Health.STALE, "run.health.quiet_too_long", id="unseen, past its threshold"
        ),
    ],
)
def test_health_of_a_running_agent(quiet_for, process, expected, deciding):
    session = make_session(last_message_at=NOW - quiet_for)
    verdict = classify_health(session, make_evidence(process), now=NOW)
    assert verdict.health is expected
    assert codes(verdict)[0] == deciding
    assert verdict.idle_seconds == quiet_for


@pytest.mark.parametrize(
    ("kind", "hours"),
    [("agent", 6), ("play", 6), ("flow", 12), ("fanout", 12), ("show-play", 12), ("command", 6), (None, 6)],
)
def test_each_kind_may_be_quiet_for_its_own_time(kind, hours):
    at_threshold = make_session(kind=kind, last_message_at=NOW - hours * HOUR)
    past_threshold = make_session(kind=kind, last_message_at=NOW - hours * HOUR - 1)
    assert classify_health(at_threshold, make_evidence("alive"), now=NOW).health is Health.IDLE
    assert classify_health(past_threshold, make_evidence("alive"), now=NOW).health is Health.UNRESPONSIVE
    assert classify_health(past_threshold, make_evidence("unknown"), now=NOW).health is Health.STALE


def test_every_kind_has_a_threshold_and_no_kind_the_default():
    assert {stale_after(kind) for kind in InvocationKind} == {6 * HOUR, 12 * HOUR}
    assert stale_after(None) == DEFAULT_STALE_AFTER


def test_the_other_limits_are_the_ones_that_were_decided():
    limits = (rules.IDLE_AFTER, rules.SLOW_AFTER, rules.HEARTBEAT_EVERY, rules.HEARTBEAT_FRESH_FOR)
    assert limits == (HOUR, HOUR, 15, MINUTE)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("flow", "Nothing was heard for 2h; flow runs may be quiet for 12h."),
        (None, "Nothing was heard for 2h; runs may be quiet for 6h."),
    ],
)
def test_a_quiet_run_says_how_long_its_kind_may_be_quiet(kind, sentence):
    session = make_session(kind=kind, last_message_at=NOW - 2 * HOUR)
    assert classify_health(session, make_evidence(), now=NOW).reasons[0].sentence == sentence


@pytest.mark.parametrize(
    ("messages", "artifacts", "age", "expected", "code"),
    [
        pytest.param(0, False, HOUR, Health.ORPHANED, "run.health.no_output", id="no output at all"),
        pytest.param(0, False, MINUTE, Health.ORPHANED, "run.health.no_output", id="no output after a minute"),
        pytest.param(0, False, MINUTE - 1, Health.STALE, "run.health.too_young", id="younger than a minute"),
        pytest.param(0, False, -HOUR, Health.STALE, "run.health.too_young", id="begins in the future"),
        pytest.param(1, False, HOUR, Health.STALE, "run.health.process_dead", id="a message is output"),
        pytest.param(0, True, HOUR, Health.STALE, "run.health.process_dead", id="an artifact is output"),
        pytest.param(0, None, HOUR, Health.STALE, "run.health.artifacts_unknown", id="nobody looked for artifacts"),
    ],
)
def test_a_dead_run_is_orphaned_only_if_it_is_known_to_have_produced_nothing(messages, artifacts, age, expected, code):
    session = make_session(message_count=messages, last_message_at=None, updated_at=NOW, started_at=NOW - age)
    verdict = classify_health(session, make_evidence("dead", has_artifacts=artifacts), now=NOW)
    assert verdict.health is expected
    assert codes(verdict)[0] == "run.health.process_dead"
    assert code in codes(verdict)


def test_a_run_without_a_start_counts_its_age_from_its_creation():
    facts = {"message_count": 0, "last_message_at": None, "started_at": None}
    evidence = make_evidence("dead", has_artifacts=False)
    assert classify_health(make_session(created_at=NOW - HOUR, **facts), evidence, now=NOW).health is Health.ORPHANED
    assert classify_health(make_session(created_at=NOW - 5, **facts), evidence, now=NOW).health is Health.STALE


@pytest.mark.parametrize("process", ["alive", "unknown"])
def test_a_run_whose_process_is_not_dead_is_never_orphaned(process):
    session = make_session(message_count=0, last_message_at=None)
    verdict = classify_health(session, make_evidence(process, has_artifacts=False), now=NOW)
    assert verdict.health is not Health.ORPHANED


@pytest.mark.parametrize("artifacts", [True, False, None])
@pytest.mark.parametrize("process", ["alive", "unknown"])
def test_missing_artifacts_alone_are_not_unhealthy(process, artifacts):
    evidence = make_evidence(process, has_artifacts=artifacts)
    assert classify_health(make_session(), evidence, now=NOW).health is Health.HEALTHY


@pytest.mark.parametrize(
    ("heartbeat_age", "quiet_for", "expected"),
    [
        pytest.param(5, 0, Health.HEALTHY, id="beating and writing"),
        pytest.param(60, 2 * HOUR, Health.IDLE, id="beating but quiet"),
        pytest.param(60, 7 * HOUR, Health.UNRESPONSIVE, id="beating proves life, so it is not stale"),
        pytest.param(61, 7 * HOUR, Health.STALE, id="an old heartbeat proves nothing"),
        pytest.param(-60, 7 * HOUR, Health.UNRESPONSIVE, id="a clock a little ahead"),
        pytest.param(-61, 7 * HOUR, Health.STALE, id="a clock far ahead proves nothing"),
        pytest.param(None, 7 * HOUR, Health.STALE, id="no heartbeat"),
    ],
)
def test_a_fresh_heartbeat_proves_life_where_nobody_can_look(heartbeat_age, quiet_for, expected):
    heartbeat_at = None if heartbeat_age is None else NOW - heartbeat_age
    session = make_session(last_message_at=NOW - quiet_for)
    verdict = classify_health(session, make_evidence("unknown", heartbeat_at=heartbeat_at), now=NOW)
    assert verdict.health is expected
    assert ("run.health.heartbeat_fresh" in codes(verdict)) is (verdict.process is ProcessState.ALIVE)


def test_a_heartbeat_does_not_revive_a_process_seen_dead():
    verdict = classify_health(make_session(), make_evidence("dead", heartbeat_at=NOW), now=NOW)
    assert (verdict.health, verdict.process) == (Health.STALE, ProcessState.DEAD)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param((4.0, 3.0, 2.0, 1.0), 4.0, id="its last message"),
        pytest.param((0.0, 3.0, 2.0, 1.0), 0.0, id="zero is a time"),
        pytest.param((None, 3.0, 2.0, 1.0), 3.0, id="its row's last change"),
        pytest.param((None, None, 2.0, 1.0), 2.0, id="its start"),
        pytest.param((None, None, None, 1.0), 1.0, id="its creation"),
    ],
)
def test_a_run_that_never_spoke_is_judged_by_the_next_best_time(times, expected):
    names = ("last_message_at", "updated_at", "started_at", "created_at")
    assert last_activity_at(make_session(**dict(zip(names, times, strict=True)))) == expected


def test_a_clock_that_jumped_back_does_not_make_a_run_unwell_and_is_said():
    session = make_session(last_message_at=NOW + 3 * HOUR)
    verdict = classify_health(session, make_evidence("alive"), now=NOW)
    assert (verdict.health, verdict.idle_seconds) == (Health.HEALTHY, 0)
    assert codes(verdict) == ["run.health.process_alive", "run.health.clock_ahead"]
    assert verdict.reasons[1].sentence == "Its last activity is dated 3h in the future; two clocks differ."


@pytest.mark.parametrize("status", [*sorted(TERMINAL_STATUSES), None])
@pytest.mark.parametrize(
    ("left", "expected", "code"),
    [
        pytest.param({"stale_locks": ("a.lock",)}, Health.ZOMBIE, "run.health.stale_locks", id="a lock"),
        pytest.param({"temp_files": ("a.tmp", "b.part")}, Health.ZOMBIE, "run.health.temp_files", id="two files"),
        pytest.param({}, Health.HEALTHY, None, id="nothing"),
        pytest.param({"has_artifacts": False}, Health.HEALTHY, None, id="no artifacts either"),
    ],
)
@pytest.mark.parametrize("process", ["alive", "dead", "unknown"])
def test_an_ended_run_is_a_zombie_only_by_what_it_left_behind(status, left, expected, code, process):
    session = make_session(status=status, last_message_at=NOW - 30 * DAY, message_count=0)
    verdict = classify_health(session, make_evidence(process, **left), now=NOW)
    assert (verdict.health, verdict.idle_seconds) == (expected, None)
    assert codes(verdict)[0] == code or code is None


def test_a_zombie_names_every_file_it_left_behind():
    evidence = make_evidence(stale_locks=("a.lock", "b.lock"), temp_files=("c.tmp",))
    verdict = classify_health(make_session(status="completed"), evidence, now=NOW)
    assert [ref.ref for reason in verdict.reasons for ref in reason.evidence] == ["a.lock", "b.lock", "c.tmp"]
    assert verdict.reasons[0].sentence == "The run has ended and left 2 stale locks behind."


def test_a_legacy_run_counts_as_ended_and_says_so():
    verdict = classify_health(make_session(status=None), make_evidence("dead"), now=NOW)
    assert (verdict.health, codes(verdict)) == (Health.HEALTHY, ["run.legacy.unclassified"])


@pytest.mark.parametrize(
    ("status", "actor", "last_message_at", "expected"),
    [
        pytest.param("failed", "mira", NOW + 1, True, id="written after an operator ended it"),
        pytest.param("failed", "mira", NOW, False, id="written in the same moment"),
        pytest.param("failed", "mira", NOW - 1, False, id="written before"),
        pytest.param("failed", "mira", None, False, id="never written"),
        pytest.param("completed", RUN_ACTOR, NOW + 1, False, id="the run ended itself"),
        pytest.param("completed", None, NOW + 1, False, id="nobody knows who ended it"),
        pytest.param("running", "mira", NOW + 1, False, id="not ended"),
    ],
)
def test_late_writers_are_noticed_only_after_an_operator_ended_the_run(status, actor, last_message_at, expected):
    session = make_session(status=status, end_actor=actor, ended_at=NOW, last_message_at=last_message_at)
    verdict = classify_health(session, make_evidence(), now=NOW)
    assert wrote_after_end(session) is expected
    assert ("run.health.wrote_after_end" in codes(verdict)) is expected


@pytest.mark.parametrize("status", ["running", "completed", None])
def test_lost_messages_are_said_on_the_run(status):
    verdict = classify_health(make_session(status=status, messages_lost=3), make_evidence(), now=NOW)
    assert verdict.reasons[-1].sentence == "3 messages could be stored nowhere."
    assert codes(verdict)[-1] == "run.recording.lost"


def test_a_gone_recorder_is_said_and_leaves_the_run_healthy():
    verdict = classify_health(make_session(), make_evidence(make_look("alive", recorder_gone=True)), now=NOW)
    assert verdict.health is Health.HEALTHY
    assert "run.recording.recorder_gone" in codes(verdict)


def test_a_verdict_shows_the_facts_behind_it():
    session = make_session(last_message_at=NOW - 9 * HOUR - 14 * MINUTE, last_msg_id="m42")
    verdict = classify_health(session, make_evidence("dead", observed_at=NOW - 8), now=NOW)
    dead, quiet = verdict.reasons
    assert dead.sentence == "The process ended and the run never said how."
    assert [(ref.ref, ref.detail) for ref in dead.evidence] == [
        ("9120", "pid 9120 is gone from atlas-02."),
        ("observed_at", str(NOW - 8)),
    ]
    assert quiet.sentence == "Nothing was heard for 9h 14m."
    assert quiet.evidence[0].ref == "m42"


@pytest.mark.parametrize(
    ("health", "colour", "actions"),
    [
        ("healthy", "green", ("inspect",)),
        ("idle", "blue", ("inspect",)),
        ("unresponsive", "amber", ("inspect", "logs")),
        ("stale", "orange", ("inspect", "transition")),
        ("orphaned", "purple", ("inspect", "repair", "transition")),
        ("zombie", "red", ("inspect", "cleanup", "prune")),
    ],
)
def test_each_health_has_its_colour_and_its_actions(health, colour, actions):
    assert HEALTH_COLOURS[Health(health)] == colour
    assert HEALTH_ACTIONS[Health(health)] == actions


def test_the_tables_know_every_health():
    assert set(HEALTH_COLOURS) == set(HEALTH_ACTIONS) == set(HEALTH_LABELS) == set(Health)
    assert len(Health) == len(set(HEALTH_COLOURS.values())) == 6


@pytest.mark.parametrize(
    ("name", "age", "expected"),
    [
        pytest.param("run.lock", HOUR + 1, Leftover.STALE_LOCK, id="a lock older than an hour"),
        pytest.param("run.lock", HOUR, None, id="a lock of an hour"),
        pytest.param("run.lock", -HOUR, None, id="a lock from the future"),
        pytest.param("state.tmp", MINUTE + 1, Leftover.TEMP_FILE, id="an unfinished file"),
        pytest.param("state.tmp", MINUTE, None, id="a file that may be written in this moment"),
        pytest.param("video.part", DAY, Leftover.TEMP_FILE, id="half a download"),
        pytest.param("poetry.lock", DAY, None, id="a result of a package manager"),
        pytest.param("Cargo.lock", DAY, None, id="whatever its case"),
        pytest.param("report.md", DAY, None, id="an artifact"),
        pytest.param("tmp", DAY, None, id="only the ending counts"),
    ],
)
def test_which_files_are_left_over(name, age, expected):
    assert leftover_kind(name, NOW - age, began_at=None, now=NOW) is expected


def test_an_unfinished_file_that_is_older_than_the_run_is_not_left_over_from_it():
    def kind(name: str, *, before_it_began: float) -> Leftover | None:
        return leftover_kind(name, NOW - DAY - before_it_began, began_at=NOW - DAY, now=NOW)

    assert kind("notes.tmp", before_it_began=HOUR + 1) is None
    assert kind("notes.tmp", before_it_began=HOUR) is Leftover.TEMP_FILE  # clocks may not agree
    assert kind("run.lock", before_it_began=HOUR + 1) is Leftover.STALE_LOCK


@pytest.mark.parametrize(
    ("facts", "found_before", "expected"),
    [
        pytest.param({"ended_at": NOW - 7 * DAY}, False, True, id="ended 7 days ago"),
        pytest.param({"ended_at": NOW - 7 * DAY - 1}, False, False, id="ended longer ago"),
        pytest.param({"ended_at": NOW - 7 * DAY - 1}, True, True, id="until it is clean"),
        pytest.param({"ended_at": None, "updated_at": NOW - DAY}, False, True, id="an end nobody recorded"),
        pytest.param({"ended_at": None, "updated_at": NOW - 8 * DAY}, False, False, id="long unchanged"),
        pytest.param({"status": "running"}, True, False, id="still running"),
        pytest.param({"ended_at": NOW, "artifacts_path": None}, True, False, id="no folder to look in"),
    ],
)
def test_leftovers_are_looked_for_in_the_days_after_the_end(facts, found_before, expected):
    session = make_session(**{"status": "completed", "artifacts_path": "out", **facts})
    assert should_look_for_leftovers(session, found_before=found_before, now=NOW) is expected


@pytest.mark.parametrize("status", ["running", "completed", None])
@pytest.mark.parametrize("process", ["alive", "dead", "unknown"])
@pytest.mark.parametrize("artifacts", [None, False, True])
@pytest.mark.parametrize("messages", [0, 42])
@pytest.mark.parametrize("quiet_for", [0, 30, 2 * HOUR, 7 * HOUR, 13 * HOUR])
@pytest.mark.parametrize("heartbeat_at", [None, NOW])
def test_lists_judge_by_the_same_rule_and_look_at_every_run_that_could_match(
    status, process, artifacts, messages, quiet_for, heartbeat_at
):
    at = NOW - quiet_for
    session = make_session(status, message_count=messages, last_message_at=at, started_at=at)
    left = {"temp_files": ("a.tmp",)} if artifacts else {}
    evidence = make_evidence(process, has_artifacts=artifacts, heartbeat_at=heartbeat_at, **left)
    health = classify_health(session, evidence, now=NOW).health
    assert derive_health(session, evidence, now=NOW) is health
    assert may_be(session, health, now=NOW)


def test_a_run_that_cannot_be_so_is_not_looked_at():
    busy, quiet = make_session(), make_session(last_message_at=NOW - 13 * HOUR)
    assert [health for health in Health if may_be(busy, health, now=NOW)] == [Health.HEALTHY, Health.STALE]
    assert [health for health in Health if may_be(quiet, health, now=NOW)] == [Health.UNRESPONSIVE, Health.STALE]
    ended = make_session(status="failed")
    assert [health for health in Health if may_be(ended, health, now=NOW)] == [Health.HEALTHY, Health.ZOMBIE]
