"""Copies of a whole database, and what is compared to know that they are right."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.domain.errors import DatabaseDamaged
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from lionstudio.services.sessions import get_session
from lionstudio.store import postgres as postgres_store
from lionstudio.store.checks import list_damage
from lionstudio.store.copies import META, TABLES, Numbers, columns_of, require_same
from lionstudio.store.open import open_database
from lionstudio.store.row_sums import TableSum, differing, read_plainly, sum_tables
from lionstudio.store.sqlite_copies import sum_file
from tests.factories import line_of, start_run, user_says
from tests.postgres_server import PostgresServer
from tests.services.archive_world import fill


def ignore(_: int) -> None:
    pass


def test_every_table_is_copied(ctx: Context) -> None:
    with ctx.db.read() as tx:
        tables = {name for (name,) in tx.all(tx.dialect.list_tables)}
    assert tables == {*TABLES, META}


def test_no_table_refers_to_one_that_is_copied_after_it(ctx: Context) -> None:
    with ctx.db.read() as tx:
        references = tx.all(tx.dialect.list_foreign_keys)
    assert references
    assert [row for row in references if TABLES.index(row[0]) < TABLES.index(row[2])] == []


def test_a_copy_holds_every_row_of_every_table(ctx: Context, tmp_path: Path) -> None:
    fill(ctx)
    source = ctx.db.dialect.copies().write(str(tmp_path / "copy.db"), ignore)
    assert differing(source, sum_file(str(tmp_path / "copy.db"), ignore)) == []
    empty = {table for table, found in source.items() if not found.rows}
    assert empty == {"session_evidence"}


def test_a_copy_is_the_same_database_and_opens_as_one(ctx: Context, tmp_path: Path) -> None:
    fill(ctx)
    ctx.db.dialect.copies().write(str(tmp_path / "copy.db"), ignore)
    copy = open_database(str(tmp_path / "copy.db"), create=False)
    assert copy.dialect.database_id == ctx.db.dialect.database_id
    copy.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE messages SET content = '{\"instruction\":\"forged\"}' WHERE id = 'm-2'",
        "UPDATE messages SET created_at = created_at + 0.000001 WHERE id = 'm-2'",
        "DELETE FROM open_calls",
        "INSERT INTO message_types (type_id, lion_class) VALUES (99, 'another')",
    ],
)
def test_a_row_that_differs_is_seen(ctx: Context, tmp_path: Path, change: str) -> None:
    fill(ctx)
    ctx.db.dialect.copies().write(str(tmp_path / "copy.db"), ignore)
    before = sum_file(str(tmp_path / "copy.db"), ignore)
    copy = open_database(str(tmp_path / "copy.db"))
    with copy.write() as tx:
        tx.run(change)
        after = sum_tables(columns_of(tx.connection), read_plainly(tx.connection), ignore)
    copy.close()
    assert len(differing(before, after)) == 1
    with pytest.raises(DatabaseDamaged, match="does not hold the same rows"):
        require_same(after, before, what="The copy")


def test_the_order_of_rows_does_not_matter_and_their_number_does() -> None:
    rows = [(1, "a"), (2, None), (2, None)]
    assert TableSum().plus(rows) == TableSum().plus(rows[1:]).plus(rows[:1])
    assert TableSum().plus(rows) != TableSum().plus(rows[:2])


def test_a_restore_may_take_longer_than_a_server_lets_a_transaction_hang(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.new_database() as url:
        db = open_database(url)
        start_run(Context(db), "run-1")
        copies = db.dialect.copies()
        copies.write(str(tmp_path / "copy.db"), ignore)
        monkeypatch.setattr(postgres_store, "SETTINGS", "-c idle_in_transaction_session_timeout=50ms")

        def settle(_: Numbers) -> None:
            with db.read() as tx:
                tx.all("SELECT CAST(pg_sleep(0.5) AS text)")

        assert copies.take(str(tmp_path / "copy.db"), settle, ignore)["sessions"].rows == 1
        db.close()


KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from lionstudio.store.open import open_database

location, copy = sys.argv[1:]
settled = []

def on_rows(count):
    if settled:
        os.kill(os.getpid(), signal.SIGKILL)

open_database(location).dialect.copies().take(copy, settled.append, on_rows)
"""


def test_a_restore_that_is_killed_in_the_middle_leaves_what_was_there(
    ctx: Context, location: str, tmp_path: Path
) -> None:
    start_run(ctx, "before")
    source = Context(open_database(str(tmp_path / "source.db")))
    fill(source)
    for number in range(40):  # more than is copied in one step
        append_message(source, line_of("run-3"), user_says("x" * 100_000, id=f"large-{number}"))
    source.db.dialect.copies().write(str(tmp_path / "copy.db"), ignore)
    source.db.close()
    command = [sys.executable, "-c", KILLED_IN_THE_MIDDLE, location, str(tmp_path / "copy.db")]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert get_session(ctx, "before").status == "running"
    append_message(ctx, line_of("before"), user_says("and on", id="next"))
    with ctx.db.read() as tx:
        assert list_damage(tx.connection, tx.dialect) == []
        assert [row[0] for row in tx.all("SELECT id FROM sessions")] == ["before"]
