"""The databases that tests are given on a server: each is as new, whatever the test before did to it."""

import psycopg
import pytest

from tests.postgres_server import PostgresServer


def execute(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def test_the_next_one_finds_no_row(postgres: PostgresServer) -> None:
    with postgres.clean_database() as url:
        execute(url, "INSERT INTO message_types (type_id, lion_class) VALUES (999, 'x')")
    again = ""
    while again != url:  # others of the run may wait for their turn before it
        with postgres.clean_database() as again, psycopg.connect(again) as connection:
            assert connection.execute(b"SELECT count(*) FROM message_types WHERE type_id = 999").fetchone() == (0,)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE sessions ALTER name SET DEFAULT 'x'",
        "ALTER TABLE sessions ADD CONSTRAINT few CHECK (length(name) < 5)",
        "CREATE INDEX one_more ON sessions (name)",
        "CREATE OR REPLACE VIEW progressions AS SELECT id, created_at, '[]'::json AS collection FROM progression_heads",
        "ALTER TABLE sessions RENAME TO away",
    ],
)
def test_one_whose_schema_was_changed_is_given_to_nobody(postgres: PostgresServer, change: str) -> None:
    with postgres.clean_database() as changed:
        execute(changed, change)
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(changed)
