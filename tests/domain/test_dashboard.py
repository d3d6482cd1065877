"""The numbers of the dashboard, against sums that can be done by hand."""

import pytest

from lionstudio.domain.dashboard import (
    EndedRun,
    Execution,
    OutcomeNumbers,
    derive_executions,
    derive_histogram,
    derive_hours,
    derive_latency,
    derive_outcomes,
    durations_of,
    sum_executions,
)
from lionstudio.domain.health import Health
from lionstudio.domain.session import SessionStatus
from tests.domain.factories import DAY, HOUR, MINUTE, NOW, make_play, make_session


def ended(status: str = "completed", *, ago: float = HOUR, took: float | None = MINUTE) -> EndedRun:
    at = NOW - ago
    return EndedRun(SessionStatus(status), None if took is None else at - took, at)


def test_outcomes_are_counted_by_their_word():
    words = ["completed"] * 3 + ["failed"] * 2 + ["timed_out", "aborted", "cancelled"]
    assert derive_outcomes(map(ended, words), request_changes=4) == OutcomeNumbers(3, 2, 1, 1, 1, 4)


@pytest.mark.parametrize(
    ("numbers", "rate"),
    [
        pytest.param(OutcomeNumbers(37, 0, 0, 0, 0, 1), 37 / 38, id="a refused play counts against it"),
        pytest.param(OutcomeNumbers(1, 1, 2, 0, 0, 0), 1 / 4, id="so does a failure and a missed deadline"),
        pytest.param(OutcomeNumbers(1, 0, 0, 5, 5, 0), 1.0, id="what a person stopped came to no verdict"),
        pytest.param(OutcomeNumbers(0, 0, 0, 0, 0, 1), 0.0, id="nothing passed"),
        pytest.param(OutcomeNumbers(0, 0, 0, 1, 1, 0), None, id="nothing came to a verdict"),
    ],
)
def test_the_pass_rate(numbers, rate):
    assert numbers.pass_rate == rate


@pytest.mark.parametrize(
    ("seconds", "p95", "median"),
    [
        ([], None, None),
        ([7.0], 7.0, 7.0),
        ([1.0, 2.0, 3.0, 100.0], 100.0, 2.5),
        ([float(n) for n in range(1, 101)], 95.0, 50.5),
    ],
)
def test_the_tail_and_the_middle_of_the_durations(seconds, p95, median):
    latency = derive_latency(seconds, over_60m=2)
    assert latency == (len(seconds), p95, median, 2)


def test_a_duration_is_never_negative_and_needs_a_beginning():
    runs = [ended(took=90.0), ended(took=None), ended(took=-500.0)]
    assert durations_of(runs) == [0.0, 90.0]


def test_every_run_of_the_day_is_in_one_hour():
    runs = [
        ended(ago=DAY - 0.001),
        ended("failed", ago=23 * HOUR),
        ended(ago=23 * HOUR + 0.001),
        ended("aborted", ago=0.001),
        ended("timed_out", ago=0),
        ended("cancelled", ago=-2 * HOUR),
    ]
    hours = derive_hours(runs, now=NOW)
    assert [hour.starts_at for hour in hours] == [NOW - DAY + number * HOUR for number in range(24)]
    found = {
        number: {status.value: count for status, count in hour.by_status.items() if count}
        for number, hour in enumerate(hours)
        if any(hour.by_status.values())
    }
    assert found == {0: {"completed": 2}, 1: {"failed": 1}, 23: {"aborted": 1, "timed_out": 1, "cancelled": 1}}


def test_every_duration_is_in_one_bar_and_a_limit_belongs_to_the_bar_below_it():
    seconds = sorted([0.0, 10.0, 10.001, 3600.0, 3600.001, 7200.0, 21600.0, 1e9])
    bars = derive_histogram(seconds)
    assert [(bar.above, bar.up_to) for bar in bars][:2] == [(0, 10), (10, 30)]
    assert {bar.up_to: bar.runs for bar in bars if bar.runs} == {10: 2, 30: 1, 3600: 1, 7200: 2, 21600: 1, None: 1}
    assert sum(bar.runs for bar in bars if bar.above >= 3600) == sum(1 for length in seconds if length > 3600)


def test_an_invocation_is_a_show_or_a_run_outside_of_shows():
    running = [
        make_session(id="a", show_topic="ledger", started_at=NOW - HOUR),
        make_session(id="b", show_topic="ledger", started_at=NOW - 2 * HOUR),
        make_session(id="c", started_at=NOW - 3 * HOUR),
        make_session(id="d", started_at=None, created_at=NOW - MINUTE),
    ]
    plays = [
        ("ledger", make_play("running", started_at=NOW - 90 * MINUTE)),
        ("docs", make_play("redoing", started_at=None, updated_at=NOW - 30)),
    ]
    found = derive_executions(running, plays, {"c": "docs", "a": "another"})
    assert found == [
        Execution("docs", None, (running[2],), 1, NOW - 3 * HOUR),
        Execution("ledger", None, (running[0], running[1]), 1, NOW - 2 * HOUR),
        Execution(None, running[3], (running[3],), 0, NOW - MINUTE),
    ]
    numbers = sum_executions(found, [Health.HEALTHY, Health.STALE, Health.STALE, Health.IDLE])
    assert numbers[:3] == (3, 4, 2)
    assert numbers.oldest_at == NOW - 3 * HOUR
    assert sum(numbers.by_health.values()) == numbers.sessions


def test_where_nothing_runs_nothing_is_oldest():
    assert sum_executions([], []).oldest_at is None
