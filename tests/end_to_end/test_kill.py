"""Acknowledged means stored: kill -9 at any moment loses nothing that was acknowledged."""

import random
import signal
from pathlib import Path

from lionstudio.services.context import Context, open_context
from lionstudio.services.messages import list_messages
from lionstudio.settings import load_settings
from tests.postgres_server import PostgresServer
from tests.recorders.agents import Agent, stock_sqlite

APPENDING = """
import sys, lionstudio
with lionstudio.record("killed", db=sys.argv[1]) as run:
    print(run.session_id, flush=True)
    number = 0
    while True:
        number += 1
        run.user(str(number))
        print(number, flush=True)
"""
MOST_ACKNOWLEDGED = 120


def kill_a_writer(location: object) -> tuple[str, int]:
    """A run whose process was killed at a random moment, and how many messages it knew to be stored."""
    with Agent(APPENDING, location) as agent:
        session_id = agent.line()
        for _ in range(random.randrange(MOST_ACKNOWLEDGED)):
            agent.line()
        agent.signal(signal.SIGKILL)
        ended = agent.end()
        assert (ended.returncode, ended.stderr) == (-signal.SIGKILL, "")
        lines = ended.stdout.splitlines()
    return session_id, int(lines[-1]) if lines else 0


def require_all_acknowledged(ctx: Context, session_id: str, acknowledged: int) -> None:
    said = [int(message.content["instruction"]) for message in list_messages(ctx, session_id, limit=10_000)]
    assert said == list(range(1, len(said) + 1))
    assert len(said) >= acknowledged


def test_a_process_killed_at_a_hundred_moments_loses_no_acknowledged_message(home: Path, sqlite_path: Path) -> None:
    settings = load_settings(db=str(sqlite_path))
    killed = []
    for _ in range(100):
        killed.append(kill_a_writer(sqlite_path))
        ctx = open_context(settings)  # nobody else has it open: this must recover what the killed one left
        require_all_acknowledged(ctx, *killed[-1])
        with ctx.db.read() as tx:
            assert tx.value("PRAGMA integrity_check") == "ok"
        ctx.db.close()
    ctx = open_context(settings)
    for session_id, acknowledged in killed:
        require_all_acknowledged(ctx, session_id, acknowledged)
    ctx.db.close()
    assert stock_sqlite(sqlite_path, "PRAGMA integrity_check") == [["ok"]]
    assert stock_sqlite(sqlite_path, "PRAGMA foreign_key_check") == []


def test_the_same_holds_on_a_server(home: Path, postgres: PostgresServer) -> None:
    with postgres.new_database() as url:
        ctx = open_context(load_settings(db=url))
        for _ in range(10):
            require_all_acknowledged(ctx, *kill_a_writer(url))
        ctx.db.close()
