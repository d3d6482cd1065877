"""Looking after the database while others use it."""

import threading

import pytest

from lionstudio.domain.errors import Conflict, UnknownWord
from lionstudio.domain.health import HOUR, Health
from lionstudio.services import admin, maintenance, messages
from lionstudio.services.context import Context
from tests.factories import Clock, line_of, start_run, user_says
from tests.services.prune_world import put_session
from tests.services.test_health import record_dead_process, say_something

WHO = "ana"


def test_runs_are_counted_by_status_and_by_health(ctx: Context, clock: Clock) -> None:
    start_run(ctx, "quiet", kind="agent")
    clock.pass_seconds(2 * HOUR)
    start_run(ctx, "dead")
    say_something(ctx, "dead")
    record_dead_process(ctx, "dead")
    put_session(ctx, "done")
    put_session(ctx, "broken", status="failed")
    put_session(ctx, "old", status=None, ended_days_ago=None, touched_days_ago=60)
    stats = maintenance.read_stats(ctx)
    assert {status: count for status, count in stats.statuses.items() if count} == {
        "running": 2, "completed": 1, "failed": 1, None: 1,
    }  # fmt: skip
    assert stats.ended == 3  # which are neither well nor ill
    assert stats.healths == {
        Health.HEALTHY: 0, Health.IDLE: 1, Health.UNRESPONSIVE: 0, Health.STALE: 1, Health.ORPHANED: 0,
        Health.ZOMBIE: 0,
    }  # fmt: skip
    assert admin.list_events(ctx) == []  # counting writes nothing


def test_every_table_is_counted(ctx: Context) -> None:
    put_session(ctx, "done", says=["a", "b"])
    rows = {table.name: table.rows for table in maintenance.read_stats(ctx).tables}
    assert (rows["sessions"], rows["messages"], rows["progression_entries"], rows["teams"]) == (1, 2, 4, 0)
    with ctx.db.read() as tx:
        assert set(rows) == {row[0] for row in tx.all(ctx.db.dialect.list_tables)}


def test_an_unknown_mode_names_the_known_ones(ctx: Context) -> None:
    with pytest.raises(UnknownWord, match="PASSIVE, FULL, RESTART, TRUNCATE"):
        maintenance.checkpoint(ctx, "quick", actor=WHO)
    assert admin.list_events(ctx) == []


def test_others_write_on_while_the_log_is_moved_and_the_file_is_written_anew(ctx: Context) -> None:
    start_run(ctx)
    stop = threading.Event()
    written: list[str] = []
    errors: list[BaseException] = []

    def write() -> None:
        try:
            while not stop.is_set():
                written.append(messages.append_message(ctx, line_of("run-1"), user_says("meanwhile")))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(3):
            if ctx.db.dialect.one_writer:
                maintenance.checkpoint(ctx, actor=WHO)
            maintenance.vacuum(ctx, actor=WHO)
    finally:
        stop.set()
        thread.join()
    assert errors == []
    with ctx.db.read() as tx:
        assert {row[0] for row in tx.all("SELECT id FROM messages")} == set(written)


def test_a_server_does_its_checkpoints_itself(ctx: Context) -> None:
    if ctx.db.dialect.one_writer:
        pytest.skip("SQLite is no server")
    with pytest.raises(Conflict, match="itself"):
        maintenance.checkpoint(ctx, actor=WHO)
