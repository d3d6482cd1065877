"""The health report: every run counted once, those that are not well with evidence, the database with its figures."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.conversation import Line
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.health import HEALTH_ACTIONS, HOUR, MINUTE, Health
from lionstudio.domain.session import SessionStatus
from lionstudio.services import maintenance, sessions
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context
from lionstudio.services.examination import examine_sessions, keep_examined
from lionstudio.services.health_report import HealthReport, read_health
from lionstudio.services.messages import append_message
from lionstudio.services.sessions import SessionDraft, start_session
from lionstudio.store.figures import COUNT_WITH_LEFTOVERS
from tests.factories import NOW, Clock, assistant_says, line_of, start_run
from tests.services.prune_world import put_session
from tests.services.test_health import child as child  # noqa: PLC0414  a fixture
from tests.services.test_health import end_run, record_dead_process, record_process, say_something, write

ALL = ("unresponsive", "idle", "stale", "orphaned", "zombie")


def start_zombie(ctx: Context, folder: Path, session_id: str = "zombie") -> None:
    start_run(ctx, session_id, artifacts_path=str(folder))
    write(folder / "half.tmp", age_seconds=NOW - ctx.now() + 2 * MINUTE)  # while it ran
    end_run(ctx, session_id)
    keep_examined(ctx, examine_sessions(ctx, [session_id]))


def put_one_of_each(ctx: Context, clock: Clock, child: subprocess.Popen[bytes], folder: Path) -> None:
    start_run(ctx, "unresponsive", kind="agent")
    record_process(ctx, child.pid, "unresponsive")
    clock.pass_seconds(6 * HOUR)
    start_run(ctx, "idle", kind="agent")
    clock.pass_seconds(2 * HOUR)
    start_run(ctx, "stale", kind="play", agent="architect")
    say_something(ctx, "stale")
    record_dead_process(ctx, "stale")
    start_run(ctx, "orphaned")
    record_dead_process(ctx, "orphaned")
    clock.pass_seconds(61)
    start_run(ctx, "healthy")
    start_zombie(ctx, folder)
    put_session(ctx, "done", status="failed")
    put_session(ctx, "old", status=None, ended_days_ago=None, touched_days_ago=60)


def ids(report: HealthReport) -> list[str]:
    return [item.session.id for item in report.unhealthy.items]


def test_every_run_is_counted_by_status_and_health_with_empty_words_too(
    ctx: Context, clock: Clock, child: subprocess.Popen[bytes], tmp_path: Path
):
    put_one_of_each(ctx, clock, child, tmp_path / "out")
    counts = read_health(ctx).sessions
    assert counts.total == 8
    assert counts.by_status == {
        "running": 5, "completed": 1, "failed": 1, "timed_out": 0, "aborted": 0, "cancelled": 0,
    }  # fmt: skip
    assert counts.legacy == 1
    assert counts.by_health == {
        Health.HEALTHY: 3, Health.IDLE: 1, Health.UNRESPONSIVE: 1, Health.STALE: 1, Health.ORPHANED: 1,
        Health.ZOMBIE: 1,
    }  # fmt: skip
    assert (sum(counts.by_health.values()), counts.ended) == (counts.total, 2)


def test_an_empty_database_has_every_word_and_no_run(ctx: Context):
    report = read_health(ctx)
    assert set(report.sessions.by_status) == set(SessionStatus)
    assert set(report.sessions.by_health) == set(Health)
    assert {*report.sessions.by_status.values(), *report.sessions.by_health.values()} == {0}
    assert report.unhealthy == ((), 0, None)
    assert report.diagnostic_run_at == NOW


def test_runs_that_are_not_well_are_listed_the_most_urgent_first_with_what_may_be_done(
    ctx: Context, clock: Clock, child: subprocess.Popen[bytes], tmp_path: Path
):
    put_one_of_each(ctx, clock, child, tmp_path / "out")
    report = read_health(ctx)
    assert ids(report) == ["stale", "orphaned", "unresponsive", "zombie", "idle"]
    assert (report.unhealthy.total, report.unhealthy.next_cursor) == (5, None)
    assert {item.session.id: item.actions for item in report.unhealthy.items} == {
        name: HEALTH_ACTIONS[Health(name)] for name in ALL
    }
    alive = {item.session.id: item.process_alive for item in report.unhealthy.items}
    assert alive == {"stale": False, "orphaned": False, "unresponsive": True, "zombie": None, "idle": None}


def test_a_run_that_is_not_well_comes_with_its_evidence(ctx: Context, clock: Clock):
    draft = SessionDraft(line_of("run-1"), name="nightly", kind="play", agent="architect")
    start_session(ctx, draft._replace(branch_metadata={"model": "claude/claude-sonnet-4-6"}))
    say_something(ctx)
    record_dead_process(ctx)
    clock.pass_seconds(90)
    (item,) = read_health(ctx).unhealthy.items
    assert (item.name, item.model, item.process_alive) == ("nightly", "claude/claude-sonnet-4-6", False)
    assert (item.session.agent_name, item.session.invocation_kind, item.session.message_count) == (
        "architect",
        "play",
        1,
    )
    assert (item.verdict.health, item.verdict.idle_seconds, item.observed_at) == (Health.STALE, 90.0, NOW + 90)
    assert item.verdict.reasons[0].code == "run.health.process_dead"


def test_the_model_of_a_run_that_named_none_is_the_one_that_answered_most(ctx: Context):
    start_run(ctx)
    for model, tokens in (("small", 10), ("large", 500)):
        metadata = {"model": model, "usage": {"output_tokens": tokens}}
        say(ctx, line_of("run-1"), node_metadata=metadata)
    record_dead_process(ctx)
    assert [item.model for item in read_health(ctx).unhealthy.items] == ["large"]


def say(ctx: Context, line: Line, **more: Any) -> None:
    append_message(ctx, line, assistant_says("well", **more))


def test_the_list_is_bounded_and_read_on_without_a_gap(
    ctx: Context, clock: Clock, child: subprocess.Popen[bytes], tmp_path: Path
):
    put_one_of_each(ctx, clock, child, tmp_path / "out")
    for number in range(3):
        clock.pass_seconds(1)
        start_zombie(ctx, tmp_path / f"more-{number}", f"zombie-{number}")
    whole = ids(read_health(ctx))
    assert whole[3:7] == ["zombie-2", "zombie-1", "zombie-0", "zombie"]
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(10):
        page = read_health(ctx, cursor=cursor, limit=3)
        assert (len(page.unhealthy.items) <= 3, page.unhealthy.total) == (True, 8)
        seen += ids(page)
        cursor = page.unhealthy.next_cursor
        if cursor is None:
            break
    assert seen == whole


def test_a_cursor_that_is_none_is_refused(ctx: Context):
    with pytest.raises(InvalidRequest, match="cursor"):
        read_health(ctx, cursor="%%%")


def test_a_report_changes_nothing(ctx: Context, clock: Clock, child: subprocess.Popen[bytes], tmp_path: Path):
    put_one_of_each(ctx, clock, child, tmp_path / "out")
    before = newest_number(ctx), [sessions.get_session(ctx, name) for name in ALL]
    read_health(ctx)
    assert (newest_number(ctx), [sessions.get_session(ctx, name) for name in ALL]) == before


def test_the_database_tells_its_own_figures(ctx: Context):
    database = read_health(ctx).database
    own = database.figures
    assert (database.database_id, database.schema_version >= 1) == (ctx.db.dialect.database_id, True)
    assert own.size > 0
    if own.engine == "SQLite":
        assert own.page_count is not None and own.free_pages == 0 and own.log_size is not None
        assert own.page_count * 4096 >= own.size > 0
        assert {name: own.settings[name] for name in ("journal_mode", "wal_autocheckpoint", "foreign_keys")} == {
            "journal_mode": "wal", "wal_autocheckpoint": 1000, "foreign_keys": 1,
        }  # fmt: skip
    else:
        assert (own.page_count, own.free_pages, own.log_size) == (None, None, None)
        assert own.connections is not None and own.connections >= 1
        assert own.live_rows is not None and own.dead_rows is not None


def test_the_advice_knows_what_was_done_last(ctx: Context, clock: Clock):
    before = read_health(ctx).maintenance
    assert (before.last_checkpoint, before.last_vacuum) == (None, None)
    clock.pass_seconds(5)
    maintenance.vacuum(ctx, actor="ana")
    after = read_health(ctx).maintenance
    assert after.last_vacuum is not None
    assert (after.last_vacuum.created_at, after.last_vacuum.actor) == (NOW + 5, "ana")
    assert not after.vacuum.recommended and not after.checkpoint.recommended
    assert after.export_size > 0


def test_the_plan_of_counting_leftovers_begins_with_the_leftovers(ctx: Context):
    """A million ended runs must not be walked through for a few that left something behind."""
    if ctx.db.dialect.local:
        with ctx.db.read() as tx:
            plan = " ".join(str(row) for row in tx.all(f"EXPLAIN QUERY PLAN {COUNT_WITH_LEFTOVERS}"))
        assert "ix_session_evidence__leftovers" in plan and "ix_sessions__active" not in plan
