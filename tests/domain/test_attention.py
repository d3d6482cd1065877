"""What needs a look: which signals a thing gives, how much it matters, and where it stands in the list."""

import pytest

from lionstudio.domain.attention import (
    Concern,
    Signal,
    Subject,
    count_signals,
    derive_ended_concern,
    derive_running_concern,
    derive_show_concerns,
    place_of,
    play_address,
    session_address,
    show_address,
    slow_reason,
)
from lionstudio.domain.health import Health, HealthVerdict
from lionstudio.domain.session import SessionStatus
from lionstudio.domain.state import Severity, derive_session_state
from tests.domain.factories import DAY, HOUR, MINUTE, NOW, make_play, make_session


@pytest.mark.parametrize(
    ("health", "is_slow", "signals"),
    [
        (Health.HEALTHY, False, None),
        (Health.IDLE, False, None),
        (Health.UNRESPONSIVE, False, None),
        (Health.STALE, False, [Signal.STALE]),
        (Health.ORPHANED, False, [Signal.ORPHANED]),
        (Health.HEALTHY, True, [Signal.SLOW]),
        (Health.UNRESPONSIVE, True, [Signal.SLOW]),
        (Health.STALE, True, [Signal.STALE, Signal.SLOW]),
        (Health.ORPHANED, True, [Signal.ORPHANED, Signal.SLOW]),
    ],
)
def test_a_run_that_runs_is_one_concern_with_every_signal_it_gives(health, is_slow, signals):
    concern = derive_running_concern(make_session(started_at=NOW - HOUR), health, is_slow=is_slow)
    assert (None if concern is None else list(concern.signals)) == signals
    assert concern is None or (concern.subject, concern.since) == (Subject.SESSION, NOW - HOUR)


def test_a_run_that_never_said_when_it_began_is_as_old_as_its_row():
    session = make_session(started_at=None, created_at=NOW - DAY)
    concern = derive_running_concern(session, Health.STALE, is_slow=False)
    assert concern is not None
    assert concern.since == NOW - DAY


@pytest.mark.parametrize(("has_failed", "left_files"), [(True, False), (False, True), (True, True)])
def test_an_ended_run_is_one_concern_too(has_failed, left_files):
    concern = derive_ended_concern("run", SessionStatus.FAILED, NOW, has_failed=has_failed, left_files=left_files)
    assert (Signal.FAILED_24H in concern.signals, Signal.ZOMBIE in concern.signals) == (has_failed, left_files)
    assert concern.since == NOW


ENDINGS = [status for status in SessionStatus if status is not SessionStatus.RUNNING]
POSSIBLE = [  # only an ended run leaves something behind, and it is healthy otherwise
    *((SessionStatus.RUNNING, health) for health in Health if health is not Health.ZOMBIE),
    *((status, health) for status in ENDINGS for health in (Health.HEALTHY, Health.ZOMBIE)),
]


@pytest.mark.parametrize(("status", "health"), POSSIBLE)
def test_a_concern_is_as_severe_as_the_state_of_its_run(status, health):
    session = make_session(status)
    if status is SessionStatus.RUNNING:
        concern = derive_running_concern(session, health, is_slow=True)
    else:
        concern = derive_ended_concern("run", status, NOW, has_failed=True, left_files=health is Health.ZOMBIE)
    assert concern is not None
    assert concern.severity is derive_session_state(session, HealthVerdict(health, ())).severity


def test_plays_that_wait_for_a_person_are_concerns_and_block_their_show():
    plays = [
        (make_play("escalated", "a"), NOW - HOUR),
        (make_play("blocked", "b"), NOW - MINUTE),
        (make_play("gate_failed", "c"), NOW - DAY),
        (make_play("gate_failed", "d", show_id="show-2"), NOW - DAY),
        (make_play("gated", "e", show_id="show-3"), NOW - DAY),
    ]
    assert derive_show_concerns(plays) == [
        Concern(Subject.PLAY, "play-a", (Signal.ESCALATED,), NOW - HOUR, Severity.CRITICAL),
        Concern(Subject.PLAY, "play-c", (Signal.GATE_FAILED,), NOW - DAY, Severity.WARNING),
        Concern(Subject.PLAY, "play-d", (Signal.GATE_FAILED,), NOW - DAY, Severity.WARNING),
        Concern(Subject.SHOW, "show-1", (Signal.BLOCKED,), NOW - HOUR, Severity.CRITICAL),
    ]


def test_what_can_be_helped_comes_first_and_then_what_failed_last():
    def concern(id: str, since: float, *signals: Signal, severity: Severity = Severity.CRITICAL) -> Concern:
        return Concern(Subject.SESSION, id, signals, since, severity)

    in_order = [
        concern("gate", NOW - 3 * HOUR, Signal.GATE_FAILED, severity=Severity.WARNING),
        concern("a", NOW - 2 * HOUR, Signal.STALE, Signal.SLOW),
        concern("b", NOW - 2 * HOUR, Signal.SLOW),
        concern("orphan", NOW - HOUR, Signal.ORPHANED),
        concern("escalated", NOW - MINUTE, Signal.ESCALATED),
        concern("0", NOW, Signal.BLOCKED),
        concern("timed out", NOW - MINUTE, Signal.FAILED_24H, severity=Severity.WARNING),
        concern("failed", NOW - DAY, Signal.FAILED_24H, Signal.ZOMBIE),
        concern("old and slow", NOW - 2 * DAY, Signal.SLOW, severity=Severity.INFO),
        concern("slow", NOW - HOUR, Signal.SLOW, severity=Severity.INFO),
        concern("left files", NOW - HOUR, Signal.ZOMBIE, severity=Severity.WARNING),
        concern("left files before", NOW - DAY, Signal.ZOMBIE, severity=Severity.WARNING),
    ]
    assert sorted(sorted(in_order, key=lambda one: one.id), key=place_of) == in_order


def test_a_thing_counts_in_each_of_its_signals():
    two = Concern(Subject.SESSION, "a", (Signal.STALE, Signal.SLOW), NOW, Severity.CRITICAL)
    one = two._replace(id="b", signals=(Signal.SLOW,))
    counts = count_signals([two, one])
    assert {signal: count for signal, count in counts.items() if count} == {Signal.STALE: 1, Signal.SLOW: 2}
    assert set(counts) == set(Signal)


def test_a_slow_run_says_for_how_long_it_has_been_running():
    reason = slow_reason(make_session(started_at=NOW - 2 * HOUR), now=NOW)
    assert (reason.code, reason.sentence) == ("run.health.slow", "It has been running for 2h; more than 60m is slow.")


def test_an_address_cannot_be_left_by_a_name():
    assert session_address("../x?y") == "/api/sessions/..%2Fx%3Fy"
    assert show_address("a/b") == "/api/shows/a%2Fb"
    assert play_address("a b", "../c#d") == "/api/shows/a%20b/plays/..%2Fc%23d"
