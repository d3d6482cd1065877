"""Trying things out while everyone else goes on."""

import subprocess
import sys
import tempfile
from pathlib import Path

import apsw
import pytest

from lionstudio.domain.errors import DatabaseFull
from lionstudio.importers.lionagi_db import import_lionagi_db
from lionstudio.importers.report import ImportReport
from lionstudio.services.context import Context
from lionstudio.services.foreign import open_foreign
from lionstudio.services.imports import ROWS_AT_ONCE
from lionstudio.services.rehearsal import open_rehearsal
from lionstudio.services.sessions import get_session
from lionstudio.settings import load_settings
from tests.factories import start_run

RUNS, MESSAGES = 70, 100
BIG = f"""
    CREATE TABLE sessions (id TEXT PRIMARY KEY, created_at REAL, name TEXT, progression_id TEXT);
    CREATE TABLE branches (id TEXT PRIMARY KEY, created_at REAL, session_id TEXT, progression_id TEXT);
    CREATE TABLE progressions (id TEXT PRIMARY KEY, created_at REAL, collection TEXT);
    CREATE TABLE messages (id TEXT PRIMARY KEY, created_at REAL, content TEXT, role TEXT);
    CREATE TABLE numbers (n INTEGER);
    WITH RECURSIVE count (n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM count WHERE n < {99 + max(RUNS, MESSAGES)})
    INSERT INTO numbers SELECT n FROM count;
    INSERT INTO messages SELECT run.n || '-' || one.n, 1700000000.0 + one.n, '{{"instruction": "go"}}', 'user'
      FROM numbers AS run, numbers AS one WHERE run.n < {100 + RUNS} AND one.n < {100 + MESSAGES};
    INSERT INTO progressions SELECT 'order-' || run.n, 1700000000.0,
           (SELECT json_group_array(run.n || '-' || one.n) FROM numbers AS one WHERE one.n < {100 + MESSAGES})
      FROM numbers AS run WHERE run.n < {100 + RUNS};
    INSERT INTO sessions SELECT 'run-' || n, 1700000000.0 + n, 'before', 'order-' || n
      FROM numbers WHERE n < {100 + RUNS};
    INSERT INTO branches SELECT 'branch-' || n, 1700000000.0 + n, 'run-' || n, 'order-' || n
      FROM numbers WHERE n < {100 + RUNS};
    DROP TABLE numbers;
"""
# The very row that the import has just brought up to date.
WRITE = """if True:
    import sys
    from lionstudio.store.open import open_database

    db = open_database(sys.argv[1])
    with db.write() as tx:
        assert tx.run("UPDATE sessions SET name = 'after' WHERE id = 'run-100'") == 1
    db.close()
"""


# One of its runs, before it has said anything.
SMALL = """
    DELETE FROM sessions WHERE id != 'run-100';
    DELETE FROM branches WHERE session_id != 'run-100';
    UPDATE progressions SET collection = '[]';
    DELETE FROM messages;
"""


def make_file(path: Path, sql: str) -> Path:
    connection = apsw.Connection(str(path))
    connection.execute(sql).fetchall()
    connection.close()
    return path


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A database of lionagi that takes more than one transaction to bring in."""
    assert RUNS * MESSAGES > ROWS_AT_ONCE
    return make_file(tmp_path / "lionagi.db", BIG)


def bring(ctx: Context, path: Path, step=lambda done: None) -> ImportReport:
    with open_foreign(str(path)) as source:
        return import_lionagi_db(ctx, source, shows_root="/shows", step=step)


def test_others_write_while_a_large_import_is_tried(ctx: Context, location: str, big: Path, home: Path) -> None:
    bring(ctx, make_file(big.with_name("small.db"), BIG + SMALL))
    others: list[int] = []

    def write_as_another_process(done: int) -> None:
        if done == RUNS - 1:
            command = [sys.executable, "-c", WRITE, location]
            others.append(subprocess.run(command, timeout=60).returncode)

    with open_rehearsal(load_settings(db=location), whole=True) as trial:
        rehearsed = bring(trial, big, write_as_another_process)
    assert others == [0]
    found = get_session(ctx, "run-100")
    assert (found.name, found.message_count) == ("after", 0)
    assert rehearsed == bring(ctx, big)
    assert rehearsed.counts["messages added"] == RUNS * MESSAGES


def test_what_was_tried_leaves_nothing_behind(
    ctx: Context, location: str, big: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(ctx)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with open_rehearsal(load_settings(db=location), whole=True) as trial:
        bring(trial, big)
        assert list((tmp_path / "temporary").iterdir()) != []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_copy_that_has_no_room_says_where_it_may_have(
    ctx: Context, location: str, big: Path, home: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(ctx)
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    with (
        pytest.raises(DatabaseFull, match=f"no room in {small_disk}") as caught,
        open_rehearsal(load_settings(db=location), whole=True) as trial,
    ):
        bring(trial, big)
    assert "TMPDIR=/another/disk" in (caught.value.hint or "")
    assert list(small_disk.iterdir()) == []
