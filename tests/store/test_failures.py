"""A write that fails harms nobody else: the turn is passed on, and nothing is left open."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lionstudio.domain.errors import DatabaseBusy, DatabaseFull
from lionstudio.store import sqlite_turn
from lionstudio.store.database import Database
from lionstudio.store.open import open_database
from lionstudio.store.sqlite_turn import WriteTurn

INSERT = "INSERT INTO schema_meta (key, value) VALUES (:key, :value)"


@pytest.fixture
def file_db(sqlite_path: Path):
    db = open_database(str(sqlite_path))
    yield db
    db.close()


def the_turn_is_free(path: Path) -> bool:
    turn = WriteTurn(str(path))
    try:
        return turn.take(patience=0.0)
    finally:
        turn.close()


def test_a_full_database_does_not_keep_the_turn(file_db: Database, sqlite_path: Path) -> None:
    with pytest.raises(DatabaseFull), file_db.write() as tx:
        tx.all("PRAGMA max_page_count = 1")  # as full as it can be
        for number in range(1_000):
            tx.run(INSERT, key=f"key {number}", value="x" * 3_000)
    assert the_turn_is_free(sqlite_path)


def test_a_log_that_cannot_be_emptied_makes_no_commit_fail(sqlite_path: Path) -> None:
    open_database(str(sqlite_path)).close()
    script = f"""if True:
        import resource, sys
        from lionstudio.store.open import open_database
        db = open_database(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, resource.RLIM_INFINITY))
        stored = 0
        try:
            for number in range(3_000):
                with db.write() as tx:
                    tx.run({INSERT!r}, key=f"key {{number}}", value="x" * 9_000)
                stored += 1
        except Exception as error:
            print(type(error).__name__, stored)
        with db.read() as tx:
            print(tx.value("SELECT count(*) FROM schema_meta WHERE key LIKE 'key %'") - stored)
    """
    asked = subprocess.run([sys.executable, "-c", script, sqlite_path], capture_output=True, text=True)
    assert asked.stderr == ""
    name, count, unacknowledged = asked.stdout.split()
    assert name.startswith("Database")  # ours, not the driver's
    assert int(count) > 100
    assert unacknowledged == "0"
    assert the_turn_is_free(sqlite_path)


def test_a_busy_write_leaves_no_file_open(
    file_db: Database, sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_turn, "BUSY_SECONDS", 0.01)
    turn = WriteTurn(str(sqlite_path))
    assert turn.take(patience=0.0)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(DatabaseBusy), file_db.write_in_bulk():
            pass
    assert len(os.listdir("/proc/self/fd")) == before
    turn.close()


def test_who_stands_in_line_gives_up_as_soon_as_who_waits_for_the_file(
    file_db: Database, sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_turn, "BUSY_SECONDS", 0.5)
    turn = WriteTurn(str(sqlite_path))
    assert turn.take(patience=0.0)
    outcomes: list[tuple[str, float]] = []

    def write() -> None:
        began = time.monotonic()
        try:
            with file_db.write():
                outcomes.append(("stored", 0.0))
        except DatabaseBusy as error:
            outcomes.append((error.message, time.monotonic() - began))

    writers = [threading.Thread(target=write) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    turn.close()
    assert {message for message, _ in outcomes} == {f"The database {sqlite_path} was busy for more than 0 s."}
    assert max(waited for _, waited in outcomes) < 2 * 0.5  # one after the other they would need eight times as long
    with file_db.write() as tx:  # nobody who gave up has kept the turn
        tx.run(INSERT, key="after", value="all")
    assert the_turn_is_free(sqlite_path)


def test_a_backup_before_an_upgrade_is_its_owners_and_overwrites_nothing(file_db: Database, tmp_path: Path) -> None:
    connection = file_db.dialect.connect(writing=True)
    for _ in range(2):
        file_db.dialect.back_up_before_upgrade(connection, 1)
    connection.close()
    names = sorted((tmp_path / "backups").iterdir())
    assert [name.name for name in names] == ["state-before-upgrade-from-0001-2.db", "state-before-upgrade-from-0001.db"]
    assert {name.stat().st_mode & 0o777 for name in names} == {0o600}
