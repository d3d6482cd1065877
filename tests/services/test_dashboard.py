"""The dashboard: every number is the length of a list, and a sum that can be done by hand."""

import random
from typing import Any

import pytest

from lionstudio.domain.attention import Signal, Subject
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.health import HOUR, Health
from lionstudio.domain.session import SessionStatus
from lionstudio.domain.session_list import View
from lionstudio.domain.show import PlayStatus
from lionstudio.services import sessions, shows, teams
from lionstudio.services.context import Context
from lionstudio.services.dashboard import (
    ExecutionRow,
    Stats,
    get_stats,
    list_executions,
    list_request_changes,
)
from lionstudio.services.show_list import page_plays, page_shows
from lionstudio.store.shows import PlayWithTopic
from tests.factories import NOW, Clock
from tests.services.dashboard_world import (
    WHO,
    every_row,
    every_session,
    fill,
    leave_files,
    let_die,
    put_play,
    put_run,
)


def every_execution(ctx: Context, *, limit: int = 1) -> list[ExecutionRow]:
    found: list[ExecutionRow] = []
    page = list_executions(ctx, limit=limit)
    found += page.items
    while page.next_cursor is not None:
        page = list_executions(ctx, cursor=page.next_cursor, limit=limit)
        found += page.items
    return found


def every_refused(ctx: Context, *, limit: int = 1) -> list[PlayWithTopic]:
    found: list[PlayWithTopic] = []
    page = list_request_changes(ctx, limit=limit)
    found += page.items
    while page.next_cursor is not None:
        page = list_request_changes(ctx, cursor=page.next_cursor, limit=limit)
        found += page.items
    return found


# Each number of the dashboard beside the filter of the list that it leads to.
LISTS: dict[str, tuple[Any, dict[str, Any]]] = {
    "running": (lambda s: s.running, {"status": SessionStatus.RUNNING}),
    "active runs": (lambda s: s.executions.sessions, {"status": SessionStatus.RUNNING}),
    "slow": (lambda s: s.slow, {"view": View.SLOW}),
    "failed in 24 h": (lambda s: s.failed_24h, {"view": View.FAILED_24H}),
    "waiting": (lambda s: s.waiting, {"view": View.WAITING}),
    "needs review": (lambda s: s.needs_review, {"view": View.NEEDS_REVIEW}),
    "stale": (lambda s: s.stale, {"health": Health.STALE}),
    "legacy": (lambda s: s.legacy, {"view": View.LEGACY}),
    "over 60 m": (lambda s: s.latency.over_60m, {"view": View.OVER_60M}),
    **{
        f"{status} today": (
            lambda s, name=status: getattr(s.outcomes, name),
            {"status": status, "view": View.ENDED_24H},
        )
        for status in SessionStatus
        if status is not SessionStatus.RUNNING
    },
    **{
        f"running and {health}": (
            lambda s, word=health: s.executions.by_health[word],
            {"status": SessionStatus.RUNNING, "health": health},
        )
        for health in Health
        if health is not Health.ZOMBIE
    },
}


def assert_numbers_are_lengths_of_lists(ctx: Context) -> Stats:
    stats = get_stats(ctx)
    for name, (number, wanted) in LISTS.items():
        assert number(stats) == len(every_session(ctx, **wanted)), name
    assert stats.executions.invocations == len(every_execution(ctx))
    assert stats.executions.plays == len(page_plays(ctx, ["running", "redoing"], limit=500).items)
    assert stats.outcomes.request_changes == len(every_refused(ctx))
    assert stats.shows_active == len(page_shows(ctx, None, status="active", limit=500).items)
    assert stats.teams_active == len(teams.list_teams(ctx, status="active"))
    ended = every_session(ctx, view=View.ENDED_24H)
    assert sum(sum(hour.by_status.values()) for hour in stats.hours) == len(ended)
    assert stats.failed_24h == stats.outcomes.failed + stats.outcomes.timed_out
    assert sum(bar.runs for bar in stats.durations) == stats.latency.measured
    assert sum(bar.runs for bar in stats.durations if bar.above >= HOUR) == stats.latency.over_60m
    return stats


def test_every_number_is_the_length_of_its_list(ctx: Context) -> None:
    fill(ctx)
    teams.put_team(ctx, "team-1", actor=WHO, name="builders", members=["ana"])
    teams.put_team(ctx, "team-2", actor=WHO, name="gone", members=["ana"])
    teams.archive_team(ctx, "team-2", actor=WHO)
    stats = assert_numbers_are_lengths_of_lists(ctx)
    assert (stats.shows_active, stats.teams_active) == (3, 1)
    assert all(number(stats) > 0 for name, (number, _) in LISTS.items() if "unresponsive" not in name)


def test_numbers_and_lists_agree_whichever_way_the_clock_jumps(ctx: Context, clock: Clock) -> None:
    fill(ctx)
    for jump in (-30 * HOUR, 60 * HOUR, -HOUR):
        clock.pass_seconds(jump)
        assert_numbers_are_lengths_of_lists(ctx)


EDGES = (0.0, 60.0, HOUR, HOUR + 0.5, 2 * HOUR, 24 * HOUR - 0.5, 24 * HOUR, 25 * HOUR, 48 * HOUR, -HOUR)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_and_lists_agree_on_any_mixture(ctx: Context, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(60):
        status = chance.choice([None, *SessionStatus])
        ended = chance.choice(EDGES) if status is not SessionStatus.RUNNING and chance.random() < 0.9 else None
        began = None if chance.random() < 0.1 else chance.choice(EDGES)
        heard = chance.choice([None, *EDGES])
        topic = chance.choice([None, None, "ledger", "docs"])
        messages = chance.randint(0, 1)
        session = put_run(
            ctx, f"run-{number}", status, began=began, ended=ended, heard=heard, messages=messages, show_topic=topic
        )
        if chance.random() < 0.3:
            let_die(ctx, session.id)
        if chance.random() < 0.3:
            leave_files(ctx, session)
        if chance.random() < 0.3:
            ended_at = None if chance.random() < 0.5 else NOW - chance.choice(EDGES)
            play_status = chance.choice(list(PlayStatus))
            put_play(ctx, chance.choice("abc"), f"play-{number}", play_status, session_id=session.id, ended_at=ended_at)
    stats = assert_numbers_are_lengths_of_lists(ctx)
    rows = every_row(ctx)
    assert stats.attention.total == len(rows) == len({(row.subject, row.id) for row in rows})
    assert stats.attention.by_signal == {signal: len(every_row(ctx, signal=signal)) for signal in Signal}


def test_the_numbers_of_a_hand_built_day(ctx: Context) -> None:
    fill(ctx)
    stats = get_stats(ctx)
    assert stats.at == NOW
    assert every_session(ctx, view=View.SLOW) == ["over-60m", "quiet-7h"]
    assert sorted(every_session(ctx, view=View.FAILED_24H)) == [
        "failed", "failed-just-now", "failed-tomorrow", "failed-within-24h", "failed-zombie",
    ]  # fmt: skip
    assert every_session(ctx, view=View.OVER_60M) == ["took-longer"]
    assert sorted(every_session(ctx, view=View.NEEDS_REVIEW)) == ["escalated", "gated"]
    assert sorted(every_session(ctx, health=Health.STALE)) == ["dead", "quiet-7h"]
    assert (stats.running, stats.slow, stats.failed_24h, stats.needs_review) == (11, 2, 5, 2)
    assert (stats.stale, stats.legacy, stats.latency.over_60m) == (2, 3, 1)
    assert stats.outcomes == (5, 3, 2, 1, 1, 2)
    assert stats.outcomes.pass_rate == 5 / 12


def test_a_legacy_run_is_in_no_number_but_its_own(ctx: Context) -> None:
    put_run(ctx, "legacy", None, began=3 * HOUR, heard=1)
    put_run(ctx, "legacy-ended", None, began=3 * HOUR, ended=60)
    stats = get_stats(ctx)
    assert stats.legacy == 2
    assert (stats.running, stats.slow, stats.failed_24h, stats.stale) == (0, 0, 0, 0)
    assert (stats.attention.total, stats.executions[:3], stats.latency) == (0, (0, 0, 0), (0, None, None, 0))
    assert sum(sum(hour.by_status.values()) for hour in stats.hours) == 0


def test_an_empty_database_has_zeros_and_no_rate(ctx: Context) -> None:
    stats = assert_numbers_are_lengths_of_lists(ctx)
    assert stats.outcomes.pass_rate is None
    assert stats.executions.oldest_at is None
    assert stats.recent == ()


def test_what_is_at_work_is_shows_and_runs_outside_of_them(ctx: Context) -> None:
    put_run(ctx, "alone", "running", began=50, name="triage")
    put_run(ctx, "of-play", "running", began=40)
    put_run(ctx, "of-show", "running", began=30, show_topic="nobody stored it")
    put_run(ctx, "ended", "completed", began=100, ended=50)
    put_play(ctx, "ledger", "writes", "running", session_id="of-play", started_at=NOW - 45)
    put_play(ctx, "ledger", "more", "redoing", started_at=NOW - 44)
    put_play(ctx, "calm", "done", "merged", session_id="ended")
    stranger = "/api/sessions?status=running&show=nobody%20stored%20it"
    plain = {"session_id": None, "state": None, "chain": (), "heard_at": None}
    assert [row._replace(**plain) for row in every_execution(ctx)] == [
        ExecutionRow(Subject.SESSION, "alone", "triage", 1, 0, NOW - 50, "/api/sessions/alone"),
        ExecutionRow(Subject.SHOW, "ledger", "ledger", 1, 2, NOW - 45, "/api/shows/ledger"),
        ExecutionRow(Subject.SHOW, "nobody stored it", "nobody stored it", 1, 0, NOW - 30, stranger),
    ]
    numbers = get_stats(ctx).executions
    assert (numbers.invocations, numbers.sessions, numbers.plays, numbers.oldest_at) == (3, 3, 2, NOW - 50)


def test_what_is_at_work_has_the_state_of_its_run_that_is_worst_off(ctx: Context) -> None:
    put_run(ctx, "dead", "running", began=50, heard=45)
    put_run(ctx, "well", "running", began=40, heard=1, show_topic="ledger")
    put_run(ctx, "silent", "running", began=7 * HOUR, heard=7 * HOUR, show_topic="ledger")
    put_play(ctx, "docs", "no run yet", "running", started_at=NOW - 30)
    let_die(ctx, "dead")
    told = {row.id: (row.session_id, row.chain, row.heard_at) for row in every_execution(ctx)}
    assert told == {
        "dead": ("dead", ("Running", "quiet 45s", "process gone", "1 message"), NOW - 45),
        "ledger": ("silent", ("Running", "quiet 7h", "process unknown", "1 message"), NOW - 7 * HOUR),
        "docs": (None, (), None),
    }


@pytest.mark.parametrize("limit", [1, 2, 500])
def test_plays_that_a_gate_refused_today_are_listed_newest_first(ctx: Context, clock: Clock, limit: int) -> None:
    for name in ("first", "second", "third"):
        clock.pass_seconds(1)
        put_play(ctx, "ledger", name, "gate_failed")
    put_play(ctx, "ledger", "yesterday", "gate_failed", ended_at=clock.now - 24 * HOUR)
    assert [play.name for _, play in every_refused(ctx, limit=limit)] == ["third", "second", "first"]


def test_a_refusal_counts_from_when_the_gate_refused_not_from_when_the_agent_ended(ctx: Context, clock: Clock) -> None:
    put_play(ctx, "ledger", "schema", "gated", ended_at=NOW)
    clock.pass_seconds(60 * HOUR)
    shows.move_play(ctx, "ledger", "schema", "gate_failed", actor=WHO)
    assert get_stats(ctx).outcomes.request_changes == 1
    assert [play.name for _, play in every_refused(ctx)] == ["schema"]
    assert [row.since for row in every_row(ctx)] == [clock.now]
    clock.pass_seconds(24 * HOUR)
    assert get_stats(ctx).outcomes.request_changes == len(every_refused(ctx)) == 0


def test_recent_runs_are_those_that_ended_last(ctx: Context, clock: Clock) -> None:
    for number in range(4):
        put_run(ctx, f"run-{number}", "running", began=100)
    for number in (2, 0, 3):
        clock.pass_seconds(1)
        sessions.finish_session(ctx, f"run-{number}", "completed", exit_code=0)
    recent = get_stats(ctx, recent=2).recent
    assert [summary.session.id for summary in recent] == ["run-3", "run-0"]
    assert recent[0].state.outcome == "completed"


@pytest.mark.parametrize("cursor", ["", "nonsense", "W10", "eyJhIjoxfQ"])
def test_a_cursor_that_is_none_is_refused(ctx: Context, cursor: str) -> None:
    for list_something in (list_executions, list_request_changes):
        with pytest.raises(InvalidRequest, match="is not a cursor"):
            list_something(ctx, cursor=cursor)


def test_a_run_that_somebody_ended_hours_after_its_death_took_no_known_time(ctx: Context) -> None:
    put_run(ctx, "by-itself", "failed", began=120, ended=60, end_actor="run")
    put_run(ctx, "by-ana", "failed", began=9 * HOUR, ended=HOUR, end_actor="ana")
    stats = get_stats(ctx)
    assert (stats.latency.measured, stats.latency.p95_seconds, stats.latency.over_60m) == (1, 60.0, 0)
    assert stats.outcomes.failed == 2  # what came of it is known
    assert every_session(ctx, view=View.OVER_60M) == []
