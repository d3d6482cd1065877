"""Signs of life, only where nobody can look at the process."""

from pathlib import Path

import pytest

import lionstudio
from lionstudio import machine
from lionstudio.recorders import keeper
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context
from lionstudio.services.sessions import list_processes
from tests.postgres_server import PostgresServer
from tests.recorders.agents import let_go, locked
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "HEARTBEAT_EVERY", 0.05)
    monkeypatch.setattr(keeper, "RETRY_EVERY", 0.01)


def heartbeat_at(ctx: Context, run: lionstudio.Run) -> float | None:
    (process,) = list_processes(ctx, run.session_id)
    return process.heartbeat_at


def test_a_quiet_run_on_a_server_shows_that_it_lives(home: Path, postgres: PostgresServer) -> None:
    with postgres.new_database() as url, lionstudio.record(db=url) as run:
        ctx = run._recording.keeper.ctx
        run.user("one")
        news = newest_number(ctx)
        wait_until(lambda: heartbeat_at(ctx, run))
        first = heartbeat_at(ctx, run)
        wait_until(lambda: heartbeat_at(ctx, run) != first)
        assert newest_number(ctx) == news  # it is no news to anyone


@pytest.mark.usefixtures("impatient")
def test_a_run_that_can_be_looked_at_needs_no_heartbeat(
    sqlite_ctx: Context, sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "may_be_unseen", lambda: False)
    with lionstudio.record(db=sqlite_path) as run:
        assert run._recording.keeper._helper is None
        with locked(sqlite_path) as locker:
            run.user("set aside, so that there is a thread that could beat")
            let_go(locker)
        helper = run._recording.keeper._helper
        assert helper is not None
        wait_until(lambda: not run._recording.keeper._backlog.waiting)
        helper.join(timeout=0.2)  # a few times as long as a heartbeat takes
        assert heartbeat_at(sqlite_ctx, run) is None
