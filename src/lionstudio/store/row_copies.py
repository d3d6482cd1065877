"""Copying row by row into a new SQLite file of ours: all of them from another database, or those of some runs."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from itertools import repeat

import apsw

from lionstudio.store.copies import META, TABLES, columns_of
from lionstudio.store.encoding import IDS, ids_in
from lionstudio.store.migrate import read_meta
from lionstudio.store.row_sums import PIECE, TableSum, quoted, select_columns
from lionstudio.store.sqlite import SqliteDialect
from lionstudio.store.sqlite_connection import SqliteConnection
from lionstudio.store.sqlite_copies import make_single_file
from lionstudio.store.sqlite_errors import explain

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lionstudio.store.copies import OnRows
    from lionstudio.store.dialect import Connection, Dialect, Row
    from lionstudio.store.transaction import Tx

PROGRESSIONS = f"""
    (SELECT progression_id FROM sessions WHERE id IN {IDS}
     UNION SELECT progression_id FROM branches WHERE session_id IN {IDS})
"""
MESSAGES = f"""
    (SELECT message_id FROM progression_entries WHERE progression_id IN {PROGRESSIONS}
     UNION SELECT system_msg_id FROM branches WHERE session_id IN {IDS})
"""
ALL = "1 = 1"
OF_SESSION = f"session_id IN {IDS}"
# What belongs to runs. Shows, teams, events and the news are not theirs alone.
OF_RUNS = {
    "message_types": ALL,
    "messages": f"id IN {MESSAGES}",
    "progression_heads": f"id IN {PROGRESSIONS}",
    "progression_entries": f"progression_id IN {PROGRESSIONS}",
    "sessions": f"id IN {IDS}",
    "session_words": OF_SESSION,
    "branches": OF_SESSION,
    "open_calls": f"branch_id IN (SELECT id FROM branches WHERE {OF_SESSION})",
    "exchange": f"message_id IN {MESSAGES}",
    "session_processes": OF_SESSION,
    "session_evidence": OF_SESSION,
    "session_usage": OF_SESSION,
    "status_transitions": f"entity = 'session' AND entity_id IN {IDS}",
}
# A run may have been started by one that is not among them.
INSTEAD = {"sessions": {"parent_session_id": f"CASE WHEN parent_session_id IN {IDS} THEN parent_session_id END"}}
# A fork begins with messages of the branch it was forked from, which may belong to another run.
LIST_NEEDED = f"""
    WITH RECURSIVE needed (id) AS (
        SELECT id FROM sessions WHERE id IN {IDS}
        UNION
        SELECT owner.id
          FROM needed
          JOIN branches AS child ON child.session_id = needed.id
          JOIN branches AS parent ON parent.id = child.parent_branch_id
          JOIN sessions AS owner ON owner.id = parent.session_id
    )
    SELECT id FROM needed
"""
WRITE_META = "INSERT INTO schema_meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = :value"


def list_needed(tx: Tx, session_ids: Sequence[str]) -> list[str]:
    """The sessions, and those from which their branches were forked."""
    return sorted(row[0] for row in tx.all(LIST_NEEDED, ids=ids_in(session_ids)))


def write_sessions(tx: Tx, session_ids: Sequence[str], path: str, on_rows: OnRows) -> dict[str, TableSum]:
    """Write some sessions, with all that is theirs, into a new database of ours; what it then holds, by table."""
    ids = ids_in(session_ids)
    with _new_file(path) as file:
        found = _copy(tx.connection, tx.dialect, file, where=OF_RUNS, ids=ids, on_rows=on_rows)
        found[META] = TableSum().plus(sorted(read_meta(file).items()))
        file.commit()
    make_single_file(path)
    return found


def write_all(source: Connection, dialect: Dialect, path: str, on_rows: OnRows) -> dict[str, TableSum]:
    """Write everything that a read sees into a new file that stands for the same database."""
    with _new_file(path) as file:
        found = _copy(source, dialect, file, where=dict.fromkeys(TABLES, ALL), ids=None, on_rows=on_rows)
        for key, value in read_meta(source).items():
            file.run(WRITE_META, {"key": key, "value": value})
        found[META] = TableSum().plus(sorted(read_meta(source).items()))
        file.commit()
    make_single_file(path)
    return found


def stored_alike(dialect: Dialect, columns: Sequence[str]) -> Callable[[Sequence[Row]], Sequence[Row]]:
    """Turns rows of a database into what an SQLite file holds; only embeddings differ."""
    if dialect.name == SqliteDialect.name or "embedding" not in columns:
        return lambda rows: rows
    place, into = list(columns).index("embedding"), SqliteDialect("").embedding_in

    def alike(row: Row) -> Row:
        return row if row[place] is None else (*row[:place], into(row[place]), *row[place + 1 :])

    return lambda rows: [alike(row) for row in rows]


@contextmanager
def _new_file(path: str) -> Iterator[SqliteConnection]:
    """A database at a path where none is, with a transaction begun."""
    SqliteDialect(path, backups=os.path.dirname(path)).prepare()
    make_single_file(path)  # so that what is written is not written to a log first
    with closing(SqliteConnection(path, writing=True, synchronous="FULL")) as file:
        file.begin_write()
        file.script("PRAGMA defer_foreign_keys = ON; DELETE FROM message_types")
        yield file


def _copy(
    source: Connection,
    dialect: Dialect,
    file: SqliteConnection,
    *,
    where: Mapping[str, str],
    ids: str | None,
    on_rows: OnRows,
) -> dict[str, TableSum]:
    found = dict.fromkeys((*TABLES, META), TableSum())
    columns = columns_of(file)
    for table, condition in where.items():
        alike = stored_alike(dialect, columns[table])
        instead = {} if ids is None else INSTEAD.get(table, {})
        sql = f"{select_columns(table, columns[table], instead)} WHERE {condition}"
        for piece in source.pieces(sql, {"ids": ids} if ":ids" in sql else {}, size=PIECE):
            rows = alike(piece)
            _insert(file, table, columns[table], rows)
            found[table] = found[table].plus(rows)
            on_rows(len(rows))
    return found


def _insert(file: SqliteConnection, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    names, places = ", ".join(map(quoted, columns)), ", ".join(repeat("?", len(columns)))
    try:
        file.raw.executemany(f"INSERT INTO {quoted(table)} ({names}) VALUES ({places})", rows)
    except apsw.Error as error:
        raise explain(error, file.raw.filename) from error
