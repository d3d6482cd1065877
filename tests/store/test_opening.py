"""Opening a database: what is not ours, not whole or not there is named, and never touched."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from lionstudio.domain.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseGone,
    ForeignDatabase,
)
from lionstudio.services.context import Context, open_context
from lionstudio.services.messages import append_message
from lionstudio.settings import load_settings
from lionstudio.store import sqlite_connection, sqlite_turn
from lionstudio.store.open import open_database
from lionstudio.store.postgres import PostgresDialect
from tests.factories import line_of, start_run, user_says
from tests.postgres_server import PostgresServer
from tests.waiting import wait_until


def fingerprint(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def run_sqlite3(path: Path, sql: str) -> None:
    """SQL by the stock `sqlite3`, in a process of its own: two SQLite libraries in one process lose data."""
    script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.commit()"
    subprocess.run([sys.executable, "-c", script, str(path), sql], check=True)


def test_a_new_file_is_created_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "state.db"
    open_database(str(path)).close()
    assert path.exists()


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_a_file_of_another_program_is_named_and_not_touched(sqlite_path: Path, journal: str) -> None:
    run_sqlite3(
        sqlite_path, f"PRAGMA journal_mode={journal}; CREATE TABLE sessions (id TEXT); INSERT INTO sessions VALUES (1)"
    )
    before = fingerprint(sqlite_path.parent)
    with pytest.raises(ForeignDatabase) as caught:
        open_database(str(sqlite_path))
    assert f"li --db OURS state import-db {sqlite_path}" in (caught.value.hint or "")
    assert fingerprint(sqlite_path.parent) == before


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"hello, I am a text file", id="short text"),
        pytest.param(b"x" * 10_000, id="long text"),
        pytest.param(b"SQLite format 3\0 cut", id="a cut header"),
    ],
)
def test_a_file_that_is_no_database_is_named_and_not_touched(sqlite_path: Path, content: bytes) -> None:
    sqlite_path.write_bytes(content)
    with pytest.raises(DatabaseDamaged, match="not an SQLite database"):
        open_database(str(sqlite_path))
    assert sqlite_path.read_bytes() == content


def test_a_truncated_file_is_named_and_not_touched(sqlite_path: Path) -> None:
    db = open_database(str(sqlite_path))
    start_run(Context(db))
    db.close()
    sqlite_path.write_bytes(sqlite_path.read_bytes()[:6000])
    before = fingerprint(sqlite_path.parent)
    with pytest.raises(DatabaseDamaged, match="not a whole database"):
        open_database(str(sqlite_path))
    assert fingerprint(sqlite_path.parent)["state.db"] == before["state.db"]


def test_a_folder_is_not_a_database(tmp_path: Path) -> None:
    with pytest.raises(DatabaseGone, match="is a folder"):
        open_database(str(tmp_path))


def test_an_empty_file_becomes_a_database(sqlite_path: Path) -> None:
    sqlite_path.touch()
    db = open_database(str(sqlite_path))
    start_run(Context(db))
    db.close()


def test_a_default_path_of_another_program_leads_to_the_file_beside_it(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    run_sqlite3(home / "state.db", "CREATE TABLE sessions (id TEXT)")
    for _ in range(2):
        ctx = open_context(load_settings())
        assert ctx.db.dialect.location == str(home / "lionstudio.db")
        ctx.db.close()
    said = capsys.readouterr().err
    assert said.count("Using") == 1
    assert f"li state import-db {home / 'state.db'}" in said


def test_an_explicit_path_of_another_program_stops(home: Path, sqlite_path: Path) -> None:
    run_sqlite3(sqlite_path, "CREATE TABLE sessions (id TEXT)")
    with pytest.raises(ForeignDatabase):
        open_context(load_settings(db=str(sqlite_path)))


def test_twenty_processes_may_create_one_database_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from lionstudio.store.open import open_database as o; print(o(sys.argv[1]).dialect.database_id)"
    )
    path = str(tmp_path / "state.db")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", script, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(20)
    ]
    answers = [worker.communicate(timeout=60) for worker in workers]
    assert [error for _, error in answers if error] == []
    assert len({answer.strip() for answer, _ in answers}) == 1


def test_a_database_locked_by_another_process_is_busy_and_says_so_in_our_words(
    sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_turn, "BUSY_SECONDS", 1.0)
    db = open_database(str(sqlite_path))
    ctx = Context(db)
    start_run(ctx)
    with locked(sqlite_path):
        with pytest.raises(DatabaseBusy) as caught:
            append_message(ctx, line_of("run-1"), user_says("x"))
        assert "is locked" not in str(caught.value)
        assert "Try again" in (caught.value.hint or "")
    append_message(ctx, line_of("run-1"), user_says("afterwards"))
    db.close()


def test_reading_works_while_another_process_holds_the_writer_lock(sqlite_path: Path) -> None:
    db = open_database(str(sqlite_path))
    start_run(Context(db))
    with locked(sqlite_path), db.read() as tx:
        assert tx.value("SELECT count(*) FROM sessions") == 1
    db.close()


class locked:  # noqa: N801  reads as a sentence
    """Another process that holds the writer lock."""

    def __init__(self, path: Path) -> None:
        script = (
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
            "print('locked', flush=True); sys.stdin.read(); c.execute('ROLLBACK')"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> None:
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "locked\n"

    def __exit__(self, *_: object) -> None:
        self._process.communicate("", timeout=20)


def test_a_full_disk_is_named_and_what_was_stored_stays(small_disk: Path) -> None:
    db = open_database(str(small_disk / "state.db"))
    ctx = Context(db)
    start_run(ctx)
    kept = 0
    with pytest.raises(DatabaseFull):
        for _ in range(100):
            append_message(ctx, line_of("run-1"), user_says("x" * 100_000))
            kept += 1
    with db.read() as tx:
        assert tx.value("SELECT count(*) FROM messages") == kept > 0
        assert tx.value("PRAGMA integrity_check") == "ok"
    db.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become someone else")
def test_a_file_that_may_only_be_read_can_be_read_and_says_so_when_written(tmp_path: Path) -> None:
    """As a user who owns neither the file nor its folder."""
    path = tmp_path / "state.db"
    db = open_database(str(path))
    start_run(Context(db))
    db.close()
    path.chmod(0o644)
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path("/"):
            break
        folder.chmod(folder.stat().st_mode | 0o055)
    script = """if True:
        import os, sys
        from lionstudio.domain.errors import DatabaseReadOnly
        from lionstudio.services.context import Context
        from lionstudio.store.open import open_database
        from lionstudio.store import sqlite
        from tests.factories import start_run
        os.setgid(65534); os.setuid(65534)
        try:
            db = open_database(sys.argv[1])
            start_run(Context(db), "run-2")
        except DatabaseReadOnly as error:
            print("read-only:", error.hint)
    """
    answer = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60, cwd=Path.cwd()
    )
    assert answer.stdout.startswith("read-only: Check who owns the file"), answer.stderr


def test_a_file_that_was_deleted_takes_no_message_into_nowhere(sqlite_path: Path) -> None:
    db = open_database(str(sqlite_path))
    ctx = Context(db)
    start_run(ctx)
    for path in sqlite_path.parent.glob("state.db*"):
        path.unlink()
    with pytest.raises(DatabaseGone):
        append_message(ctx, line_of("run-1"), user_says("lost?"))
    db.close()


def test_a_server_that_is_away_is_named_without_its_password() -> None:
    with pytest.raises(DatabaseGone) as caught:
        open_database("postgresql://ana:secret@127.0.0.1:1/nowhere")
    assert "postgresql://127.0.0.1:1/nowhere" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_server_database_of_another_program_is_named_and_not_touched(postgres: PostgresServer) -> None:
    with postgres.new_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE schema_meta (key text, value text)")
        with pytest.raises(ForeignDatabase):
            open_database(url)
        with psycopg.connect(url) as connection:
            tables = connection.execute(
                "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
            ).fetchone()
        assert tables == (1,)


def test_a_connection_that_the_server_dropped_is_replaced_at_the_next_use(postgres: PostgresServer) -> None:
    with postgres.new_database() as url:
        db = open_database(url)
        ctx = Context(db)
        start_run(ctx)
        postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lionstudio'")
        append_message(ctx, line_of("run-1"), user_says("after"))
        with db.read() as tx:
            assert tx.value("SELECT count(*) FROM messages") == 1
        db.close()


def test_the_log_of_a_busy_database_stays_small(sqlite_path: Path) -> None:
    db = open_database(str(sqlite_path))
    ctx = Context(db)
    start_run(ctx)
    with db.read() as tx:  # a reader that keeps autocheckpoints from emptying the log
        tx.value("SELECT count(*) FROM messages")
        for number in range(300):
            append_message(ctx, line_of("run-1"), user_says(f"{number} " * 25_000, id=f"m{number % 3}"))
    wal = sqlite_path.with_name("state.db-wal")
    assert wal.stat().st_size > sqlite_connection.WAL_LIMIT
    for number in range(sqlite_connection.WAL_LOOK_AFTER_FAILURE):
        append_message(ctx, line_of("run-1"), user_says("y", id=f"n{number}"))
    wait_until(lambda: wal.stat().st_size < sqlite_connection.WAL_LIMIT)
    db.close()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ana:secret@db:5433/lion", "postgresql://db:5433/lion"),
        ("postgresql://ana:secret@one:1,two:2/lion?target_session_attrs=any", "postgresql://one:1,two:2/lion"),
        ("postgres:///lion?host=/run/postgresql", "postgresql:///lion"),
    ],
)
def test_a_server_is_shown_without_its_password(url: str, shown: str) -> None:
    assert PostgresDialect(url).location == shown
