"""Migrations: every older schema becomes the newest one, once, after a backup."""

import resource
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.errors import DatabaseBusy, DatabaseReadOnly, NewerDatabase, Unavailable
from lionstudio.services.context import Context
from lionstudio.store import sqlite, sqlite_turn
from lionstudio.store.dialect import Connection, Dialect
from lionstudio.store.migrate import FOLDER, Migration, create_or_upgrade, load_migrations
from lionstudio.store.open import is_postgres, open_database
from tests.factories import start_run
from tests.postgres_server import PostgresServer
from tests.waiting import wait_until

SCHEMA = {
    "sqlite": "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name",
    "postgres": """
        SELECT 'column', table_name, column_name, data_type || is_nullable || COALESCE(column_default, '') ||
               COALESCE(generation_expression, '') || COALESCE(collation_name, '')
          FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
          FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid)
          FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT 'function', proname, '', prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL SELECT 'view', viewname, '', definition FROM pg_views WHERE schemaname = 'public'
        ORDER BY 1, 2, 3, 4
    """,
}
NUMBERS = sorted(int(path.name[:4]) for path in Path(FOLDER, "sqlite").glob("*.sql"))
NEXT = NUMBERS[-1] + 1
ADDED = Migration(NEXT, f"{NEXT:04}_test.sql", "CREATE TABLE added_by_test (id TEXT PRIMARY KEY)")
BROKEN = Migration(NEXT, f"{NEXT:04}_test.sql", "CREATE TABLE half (id TEXT); CREATE TABLE half (id TEXT)")


def dialect_at(location: str) -> Dialect:
    if is_postgres(location):
        from lionstudio.store.postgres import PostgresDialect

        return PostgresDialect(location)
    from lionstudio.store.sqlite import SqliteDialect

    return SqliteDialect(location)


def read(dialect: Dialect, sql: str) -> list[Any]:
    connection = dialect.connect(writing=False)
    try:
        return [tuple(row) for row in connection.all(sql, {})]
    finally:
        connection.close()


def version(dialect: Dialect) -> str:
    return str(read(dialect, "SELECT value FROM schema_meta WHERE key = 'version'")[0][0])


def test_both_databases_have_the_same_numbers_and_names() -> None:
    names = {kind: sorted(path.name for path in Path(FOLDER, kind).glob("*.sql")) for kind in ("sqlite", "postgres")}
    assert names["sqlite"] == names["postgres"]
    assert list(range(1, len(NUMBERS) + 1)) == NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
def test_a_schema_of_any_age_becomes_the_same_as_a_fresh_one(location: str, number: int, tmp_path: Path) -> None:
    old = dialect_at(location)
    prepare_empty(location)
    create_or_upgrade(old, steps=[step for step in load_migrations(old) if step.number <= number])
    open_database(location).close()
    migrated = read(old, SCHEMA[old.name])
    with fresh_copy(location, tmp_path) as fresh:
        assert migrated == read(fresh, SCHEMA[fresh.name])
    assert version(old) == str(NUMBERS[-1])


def test_an_upgrade_keeps_the_data_and_leaves_a_backup(location: str, tmp_path: Path) -> None:
    db = open_database(location)
    start_run(Context(db))
    db.close()
    dialect = dialect_at(location)
    create_or_upgrade(dialect, steps=[*load_migrations(dialect), ADDED])
    assert version(dialect) == str(NEXT)
    assert read(dialect, "SELECT id FROM sessions") == [("run-1",)]
    if dialect.name == "sqlite":
        (backup,) = (tmp_path / "backups").iterdir()
        copy = dialect_at(str(backup))
        assert read(copy, "SELECT id FROM sessions") == [("run-1",)]
        assert version(copy) == str(NUMBERS[-1])


def test_a_backup_holds_what_was_there_before_whoever_upgrades_in_the_same_moment(
    sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_turn, "BUSY_SECONDS", 0.2)
    open_database(str(sqlite_path)).close()
    steps = [*load_migrations(dialect_at(str(sqlite_path))), ADDED]

    class OvertakenDialect(sqlite.SqliteDialect):
        """Someone else opens the database just when this one is about to back it up."""

        def back_up_before_upgrade(self, connection: Connection, version: int) -> None:
            with suppress(DatabaseBusy):
                create_or_upgrade(dialect_at(self.path), steps=steps)
            super().back_up_before_upgrade(connection, version)

    create_or_upgrade(OvertakenDialect(str(sqlite_path)), steps=steps)
    assert version(dialect_at(str(sqlite_path))) == str(NEXT)
    (backup,) = (sqlite_path.parent / "backups").iterdir()
    assert version(dialect_at(str(backup))) == str(NUMBERS[-1])


def test_without_a_place_for_the_backup_nothing_is_upgraded(sqlite_path: Path) -> None:
    open_database(str(sqlite_path)).close()
    dialect = dialect_at(str(sqlite_path))
    sqlite_path.with_name("backups").write_text("no folder")
    with pytest.raises(
        DatabaseReadOnly, match=r"cannot be backed up to .*backups .*has to be upgraded first"
    ) as caught:
        create_or_upgrade(dialect, steps=[*load_migrations(dialect), ADDED])
    assert "Copy it to a place" in (caught.value.hint or "")
    assert version(dialect) == str(NUMBERS[-1])


def test_a_backup_that_fails_halfway_is_not_left_behind_and_nothing_is_upgraded(sqlite_path: Path) -> None:
    open_database(str(sqlite_path)).close()
    dialect = dialect_at(str(sqlite_path))
    steps = [*load_migrations(dialect), ADDED]
    room, most = 100_000, resource.getrlimit(resource.RLIMIT_FSIZE)
    assert sqlite_path.stat().st_size > room
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, most[1]))
    try:
        with pytest.raises(Unavailable, match="backups"):  # our error, not the driver's
            create_or_upgrade(dialect, steps=steps)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert list(sqlite_path.with_name("backups").iterdir()) == []
    assert version(dialect) == str(NUMBERS[-1])


def test_an_upgrade_that_fails_changes_nothing(location: str) -> None:
    open_database(location).close()
    dialect = dialect_at(location)
    before = read(dialect, SCHEMA[dialect.name])
    with pytest.raises(Exception, match="half"):
        create_or_upgrade(dialect, steps=[*load_migrations(dialect), BROKEN])
    assert read(dialect, SCHEMA[dialect.name]) == before
    assert version(dialect) == str(NUMBERS[-1])


def test_a_database_of_a_newer_version_is_not_written(location: str) -> None:
    db = open_database(location)
    with db.write() as tx:
        tx.run("UPDATE schema_meta SET value = '9999' WHERE key = 'version'")
    db.close()
    with pytest.raises(NewerDatabase, match="schema 9999") as caught:
        open_database(location)
    assert "pip install --upgrade" in (caught.value.hint or "")


def test_a_database_that_a_newer_version_upgrades_while_it_is_open_is_only_read(location: str) -> None:
    db = open_database(location)
    start_run(Context(db))
    create_or_upgrade(dialect_at(location), steps=[*load_migrations(db.dialect), ADDED])
    for _ in range(2):
        with pytest.raises(NewerDatabase, match=f"schema {NEXT}"):
            start_run(Context(db), "run-2")
    with db.read() as tx:
        assert tx.value("SELECT count(*) FROM sessions") == 1
    db.close()


def test_an_upgrade_waits_for_who_is_writing(postgres: PostgresServer) -> None:
    with postgres.new_database() as url:
        db = open_database(url)
        steps = [*load_migrations(db.dialect), ADDED]
        upgrade = threading.Thread(target=lambda: create_or_upgrade(dialect_at(url), steps=steps))
        with db.write() as tx:
            upgrade.start()
            wait_until(lambda: tx.value("SELECT count(*) FROM pg_locks WHERE NOT granted"))
            assert tx.value("SELECT value FROM schema_meta WHERE key = 'version'") == str(NUMBERS[-1])
        upgrade.join()
        assert version(db.dialect) == str(NEXT)
        db.close()


def test_the_whole_schema_opens_in_the_stock_sqlite3(sqlite_path: Path) -> None:
    db = open_database(str(sqlite_path))
    start_run(Context(db))
    db.close()
    script = """if True:
        import sqlite3, sys
        c = sqlite3.connect(sys.argv[1])
        for (name,) in c.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall():
            c.execute(f'SELECT * FROM "{name}"').fetchall()
        (whole,), (array,) = c.execute("PRAGMA integrity_check").fetchone(), c.execute(
            "SELECT collection FROM progressions").fetchone()
        print(whole, array)
    """
    answer = subprocess.run(
        [sys.executable, "-c", script, str(sqlite_path)], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "ok []\n"


def prepare_empty(location: str) -> None:
    """An SQLite file must be ours before it can be migrated; a PostgreSQL database is there already."""
    dialect = dialect_at(location)
    if dialect.name == "sqlite":
        from lionstudio.store.sqlite import SqliteDialect

        assert isinstance(dialect, SqliteDialect)
        dialect._create()
        dialect._require_wal()


class fresh_copy:  # noqa: N801  reads as a sentence
    """A new database of the same kind with the whole schema."""

    def __init__(self, location: str, folder: Path) -> None:
        self._location = location
        self._folder = folder
        self._name = "fresh_for_comparison"

    def __enter__(self) -> Dialect:
        if not is_postgres(self._location):
            path = str(self._folder / f"{self._name}.db")
            open_database(path).close()
            return dialect_at(path)
        self._execute(f"CREATE DATABASE {self._name}")
        url = self._location.replace(self._database(), self._name)
        open_database(url).close()
        return dialect_at(url)

    def __exit__(self, *_: object) -> None:
        if is_postgres(self._location):
            self._execute(f"DROP DATABASE {self._name} WITH (FORCE)")

    def _database(self) -> str:
        return self._location.split("?")[0].rsplit("/", 1)[1]

    def _execute(self, sql: str) -> None:
        import psycopg

        with psycopg.connect(self._location, autocommit=True) as connection:
            connection.execute(sql.encode())
