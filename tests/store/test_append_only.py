"""History is kept as it was written: the database itself refuses everything else, whoever asks."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lionstudio.domain.audit import EVENT_RETENTION_COUNT, AdminEvent, StatusTransition
from lionstudio.domain.errors import AlreadyExists, AppendOnly, Conflict
from lionstudio.store import audit
from lionstudio.store.database import Database
from lionstudio.store.open import open_database
from tests.postgres_server import PostgresServer

DAY = 24 * 3600.0
INSERTS = {
    "admin_events": """
        INSERT INTO admin_events (id, created_at, action, details, actor)
        VALUES ('first', 0, 'forged', '{}', 'mallory')
    """,
    "status_transitions": """
        INSERT INTO status_transitions (id, entity, entity_id, at, actor)
        VALUES ('first', 'session', 'run-1', 0, 'mallory')
    """,
}


@pytest.fixture(params=sorted(INSERTS))
def table(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sqlite_db(sqlite_path: Path) -> Iterator[Database]:
    database = open_database(str(sqlite_path))
    yield database
    database.close()


@pytest.fixture
def postgres_db(postgres: PostgresServer) -> Iterator[Database]:
    with postgres.new_database() as url:
        database = open_database(url)
        yield database
        database.close()


def keep_one_of_each(db: Database, *, at: float | None = None) -> None:
    at = time.time() if at is None else at
    with db.write() as tx:
        audit.add_event(tx, AdminEvent("first", at, "vacuum", None, {"freed": 3}, "ana"))
        audit.add_transitions(tx, [StatusTransition("first", "session", "run-1", "running", "failed", at, "ana")])


def keep_events(db: Database, count: int, *, age_seconds: float) -> None:
    """Events of about this age; a higher number is older."""
    newest = time.time() - age_seconds
    with db.write() as tx:
        for number in range(count):
            audit.add_event(tx, AdminEvent(f"event-{number:05}", newest - number, "classify", None, {}, "doctor_auto"))


def rows_of(db: Database, table: str) -> list[tuple[object, ...]]:
    with db.read() as tx:
        return tx.all(f"SELECT id, actor FROM {table} ORDER BY id")


def refused(db: Database, sql: str, **params: object) -> Conflict:
    with pytest.raises(Conflict) as caught, db.write() as tx:
        tx.run(sql, **params)
    return caught.value


def test_a_kept_row_cannot_be_updated(db: Database, table: str):
    keep_one_of_each(db)
    error = refused(db, f"UPDATE {table} SET actor = 'mallory' WHERE id = 'first'")
    assert (type(error), rows_of(db, table)) == (AppendOnly, [("first", "ana")])


def test_a_kept_row_cannot_be_deleted(db: Database, table: str):
    keep_one_of_each(db)
    error = refused(db, f"DELETE FROM {table}")
    assert (type(error), rows_of(db, table)) == (AppendOnly, [("first", "ana")])


def test_a_kept_row_cannot_be_inserted_a_second_time(db: Database, table: str):
    keep_one_of_each(db)
    error = refused(db, INSERTS[table])
    assert isinstance(error, AppendOnly | AlreadyExists)
    assert rows_of(db, table) == [("first", "ana")]


def test_a_kept_row_cannot_be_overwritten_by_an_upsert(db: Database, table: str):
    keep_one_of_each(db)
    error = refused(db, INSERTS[table] + "ON CONFLICT (id) DO UPDATE SET actor = excluded.actor")
    assert (type(error), rows_of(db, table)) == (AppendOnly, [("first", "ana")])


def test_a_kept_row_cannot_be_replaced_in_sqlite(sqlite_db: Database, table: str):
    keep_one_of_each(sqlite_db)
    error = refused(sqlite_db, INSERTS[table].replace("INSERT INTO", "INSERT OR REPLACE INTO"))
    assert (type(error), rows_of(sqlite_db, table)) == (AppendOnly, [("first", "ana")])


def test_a_table_of_history_cannot_be_truncated_in_postgres(postgres_db: Database, table: str):
    keep_one_of_each(postgres_db)
    error = refused(postgres_db, f"TRUNCATE {table}")
    assert (type(error), rows_of(postgres_db, table)) == (AppendOnly, [("first", "ana")])


def test_the_history_of_a_status_is_never_old_enough_to_go(db: Database):
    keep_one_of_each(db, at=time.time() - 4000 * DAY)
    error = refused(db, "DELETE FROM status_transitions")
    assert (type(error), rows_of(db, "status_transitions")) == (AppendOnly, [("first", "ana")])


def test_an_old_event_among_the_newest_thousand_cannot_be_deleted(db: Database):
    keep_events(db, EVENT_RETENTION_COUNT, age_seconds=40 * DAY)
    oldest = f"event-{EVENT_RETENTION_COUNT - 1:05}"
    error = refused(db, "DELETE FROM admin_events WHERE id = :id", id=oldest)
    assert (type(error), len(rows_of(db, "admin_events"))) == (AppendOnly, EVENT_RETENTION_COUNT)


def test_a_young_event_beyond_the_newest_thousand_cannot_be_deleted(db: Database):
    keep_events(db, EVENT_RETENTION_COUNT + 5, age_seconds=20 * DAY)
    oldest = f"event-{EVENT_RETENTION_COUNT + 4:05}"
    error = refused(db, "DELETE FROM admin_events WHERE id = :id", id=oldest)
    assert (type(error), len(rows_of(db, "admin_events"))) == (AppendOnly, EVENT_RETENTION_COUNT + 5)


def test_an_old_event_beyond_the_newest_thousand_can_be_deleted(db: Database):
    keep_events(db, EVENT_RETENTION_COUNT + 5, age_seconds=40 * DAY)
    with db.write() as tx:
        deleted = tx.run("DELETE FROM admin_events WHERE id = :id", id=f"event-{EVENT_RETENTION_COUNT + 4:05}")
    assert (deleted, len(rows_of(db, "admin_events"))) == (1, EVENT_RETENTION_COUNT + 4)


def test_one_event_that_must_stay_keeps_all_of_a_deletion_from_happening(db: Database):
    keep_events(db, EVENT_RETENTION_COUNT + 5, age_seconds=40 * DAY)
    error = refused(db, "DELETE FROM admin_events")
    assert (type(error), len(rows_of(db, "admin_events"))) == (AppendOnly, EVENT_RETENTION_COUNT + 5)
