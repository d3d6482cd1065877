"""Fifty processes that write at once, with readers and checkpoints among them."""

from pathlib import Path

from lionstudio.services.context import open_context
from lionstudio.services.messages import list_messages
from lionstudio.settings import load_settings
from tests.postgres_server import PostgresServer
from tests.recorders.agents import Agent, spool_files, stock_sqlite

WRITERS, MESSAGES = 50, 40
WRITERS_ON_A_SERVER = 20  # each loads its driver, which takes longer than all it writes
LARGEST_LOG = 64 * 1024 * 1024

WRITING = """
import sys, lionstudio
from lionstudio.recorders import recorder  # loaded before the start
print("ready", flush=True)
sys.stdin.readline()
with lionstudio.record("writer", db=sys.argv[1]) as run:
    for number in range(int(sys.argv[2])):
        run.user(str(number))
print(run.session_id)
"""
READING = """
import sys, threading, lionstudio
enough = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), enough.set()), daemon=True).start()
reads = 0
with lionstudio.open(sys.argv[1]) as reader:
    print("ready", flush=True)
    while not enough.wait(0.05):
        for session in reader.sessions(limit=20):
            said = [message.content["instruction"] for message in reader.messages(session.id)]
            assert said == [str(number) for number in range(len(said))], said
            assert len(said) >= session.message_count
            reads += 1
print(reads)
"""
# By the library we use: older ones have a bug with checkpoints by several processes.
CHECKPOINTING = """
import apsw, os, sys, threading
enough = threading.Event()
threading.Thread(target=lambda: (sys.stdin.readline(), enough.set()), daemon=True).start()
connection = apsw.Connection(sys.argv[1])
connection.set_busy_timeout(200)  # while it waits for readers, no writer gets on
connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
largest = 0
print("ready", flush=True)
while not enough.wait(0.25):
    largest = max(largest, os.stat(sys.argv[1] + "-wal").st_size)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        pass
print(largest)
"""


def write_together(location: object, writers: int) -> list[str]:
    """The runs of many processes that began to write at the same time."""
    agents = [Agent(WRITING, location, MESSAGES) for _ in range(writers)]
    try:
        for agent in agents:
            assert agent.line() == "ready"
        for agent in agents:
            agent.tell()
        ends = [agent.end() for agent in agents]
    finally:
        for agent in agents:
            agent.__exit__(None, None, None)
    assert {(ended.returncode, ended.stderr) for ended in ends} == {(0, "")}
    return [ended.stdout.strip() for ended in ends]


def stop(companion: Agent) -> int:
    """End a process that ran beside the writers; the number that it found."""
    companion.tell()
    ended = companion.end()
    assert (ended.returncode, ended.stderr) == (0, "")
    return int(ended.stdout)


def require_everything(location: str, session_ids: list[str]) -> None:
    ctx = open_context(load_settings(db=location))
    for session_id in session_ids:
        said = [message.content["instruction"] for message in list_messages(ctx, session_id)]
        assert said == [str(number) for number in range(MESSAGES)]
    ctx.db.close()


def test_fifty_processes_with_readers_and_checkpoints_lose_nothing(home: Path, sqlite_path: Path) -> None:
    open_context(load_settings(db=str(sqlite_path))).db.close()
    with (
        Agent(READING, sqlite_path) as first,
        Agent(READING, sqlite_path) as second,
        Agent(CHECKPOINTING, sqlite_path) as checkpoints,
    ):
        assert [first.line(), second.line(), checkpoints.line()] == ["ready"] * 3
        session_ids = write_together(sqlite_path, WRITERS)
        assert min(stop(first), stop(second)) > 0
        assert stop(checkpoints) < LARGEST_LOG
    require_everything(str(sqlite_path), session_ids)
    assert spool_files(home) == []  # nobody had to wait so long that it set something aside
    assert stock_sqlite(sqlite_path, "PRAGMA integrity_check") == [["ok"]]


def test_the_log_stays_bounded_without_anyones_checkpoints(home: Path, sqlite_path: Path) -> None:
    script = """
    import os, sys, lionstudio
    largest = 0
    with lionstudio.record("large", db=sys.argv[1]) as run, lionstudio.open(sys.argv[1]) as reader:
        for number in range(300):
            run.user("x" * 300_000)
            largest = max(largest, os.stat(sys.argv[1] + "-wal").st_size)
    print(largest)
    """
    with Agent(script, sqlite_path) as agent:
        ended = agent.end()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert int(ended.stdout) < LARGEST_LOG


def test_many_processes_on_a_server_lose_nothing(home: Path, postgres: PostgresServer) -> None:
    with postgres.new_database() as url:
        open_context(load_settings(db=url)).db.close()
        with Agent(READING, url) as reader:
            assert reader.line() == "ready"
            session_ids = write_together(url, WRITERS_ON_A_SERVER)
            assert stop(reader) > 0
        require_everything(url, session_ids)
    assert spool_files(home) == []
