"""Another program's SQLite file, read as it is at one moment and never written: whatever tables and columns it has."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import apsw

from lionstudio.domain.errors import DatabaseDamaged, DatabaseGone, Error, InvalidRequest
from lionstudio.domain.json_text import to_json
from lionstudio.store.sqlite_errors import explain
from lionstudio.store.sqlite_file import has_log, is_database, is_ours, read_header, unwritten
from lionstudio.store.sqlite_turn import BUSY_SECONDS

PAGE = 500  # rows a statement; each is fetched whole
ForeignRow = Mapping[str, Any]

LIST_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
LIST_COLUMNS = "SELECT name FROM pragma_table_info(:table)"
COUNT = "SELECT count(*) FROM {table}"
# Ids come as bytes, so that one that is not UTF-8 does not keep the others out.
LIST_IDS = "SELECT CAST({column} AS BLOB), typeof({column}) FROM {table} ORDER BY {order}"
LIST_ROWS = "SELECT * FROM {table} ORDER BY {order}"
LIST_WHERE = "SELECT * FROM {table} WHERE {column} = :value ORDER BY {order}"
LIST_BY_ID = 'SELECT * FROM {table} WHERE "id" IN (SELECT value FROM json_each(:ids))'
# Messages that stand in no order of a session or a branch. {owners} selects the ids of those orders.
LIST_UNHELD = """
    SELECT CAST(message.id AS BLOB), typeof(message.id) FROM messages AS message
     WHERE message.id NOT IN (
           SELECT held.value
             FROM progressions AS progression,
                  json_each(CASE WHEN json_valid(progression.collection) THEN progression.collection ELSE '[]' END)
                  AS held
            WHERE progression.id IN ({owners}) AND held.value IS NOT NULL)
     ORDER BY message.id
"""
LIST_OWNED = "SELECT progression_id FROM {table}"
# Text that is not UTF-8 comes as bytes, so that the rest of its row can be read.
AS_BYTES = "CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) ELSE {column} END, typeof({column})"


class ForeignFile:
    """An open file of another program. Every answer is of the moment in which it was opened."""

    def __init__(self, path: str) -> None:
        """Open it; raises DatabaseGone, DatabaseDamaged, and InvalidRequest for a file that is ours."""
        self.path = path
        self._connection = _connect(path)
        try:
            self.tables: Mapping[str, Sequence[str]] = {
                table: [str(name) for (name,) in self._all(LIST_COLUMNS, {"table": table})]
                for (table,) in self._all(LIST_TABLES)
            }
        except BaseException:
            self.close()
            raise

    def has(self, table: str, *columns: str) -> bool:
        return table in self.tables and set(columns) <= set(self.tables[table])

    def count(self, table: str) -> int:
        return int(self._all(COUNT.format(table=_name(table)))[0][0]) if self.has(table) else 0

    def ids(self, table: str, *order: str, column: str = "id") -> list[Any]:
        """The ids in a table, each once, in the order of those of the columns that it has."""
        if not self.has(table, column):
            return []
        sql = LIST_IDS.format(table=_name(table), column=_name(column), order=self._order(table, order))
        return list(dict.fromkeys(_usable(self._all(sql))))

    def count_without_id(self, table: str) -> int:
        """How many rows have no id, or none that could be looked for."""
        if not self.has(table, "id"):
            return self.count(table)
        found = self._all(LIST_IDS.format(table=_name(table), column=_name("id"), order="1"))
        return len(found) - len(_usable(found))

    def rows(self, table: str, *order: str) -> list[ForeignRow]:
        """Every row of a table; none if there is no such table."""
        if not self.has(table):
            return []
        return self._rows(table, LIST_ROWS.format(table=_name(table), order=self._order(table, order)))

    def rows_where(self, table: str, column: str, value: object, *order: str) -> list[ForeignRow]:
        """The rows of a table with this value in a column; none if there is no such table or column."""
        if not self.has(table, column):
            return []
        sql = LIST_WHERE.format(table=_name(table), column=_name(column), order=self._order(table, order))
        return self._rows(table, sql, {"value": value})

    def rows_by_id(self, table: str, ids: Iterable[Any]) -> Iterator[ForeignRow]:
        """The rows of a table that have these ids, in their order, a page at a time."""
        wanted = list(ids) if self.has(table, "id") else []
        sql = LIST_BY_ID.format(table=_name(table))
        for first in range(0, len(wanted), PAGE):
            page = wanted[first : first + PAGE]
            found = {row["id"]: row for row in self._rows(table, sql, {"ids": to_json(page)})}
            yield from (found[id] for id in page if id in found)

    def unheld_message_ids(self) -> list[Any]:
        """Ids of messages that stand in no order of a session or a branch."""
        owners = [table for table in ("sessions", "branches") if self.has(table, "progression_id")]
        if not owners or not self.has("messages", "id") or not self.has("progressions", "id", "collection"):
            return self.ids("messages", "created_at", "id")
        owned = " UNION ALL ".join(LIST_OWNED.format(table=table) for table in owners)
        return _usable(self._all(LIST_UNHELD.format(owners=owned)))

    def lost_session_ids(self) -> list[Any]:
        """Ids of sessions that have branches, but no row of their own."""
        known = set(self.ids("sessions"))
        return [id for id in self.ids("branches", "created_at", column="session_id") if id not in known]

    def close(self) -> None:
        with suppress(OSError, apsw.Error):
            if os.path.getsize(f"{self.path}-wal"):
                # The last to close a file moves its log into it; here that would be writing.
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._connection.close()

    def _order(self, table: str, columns: Iterable[str]) -> str:
        return ", ".join(_name(column) for column in columns if self.has(table, column)) or "1"

    def _rows(self, table: str, sql: str, params: Mapping[str, Any] | None = None) -> list[ForeignRow]:
        columns = self.tables[table]
        try:
            return [dict(zip(columns, row, strict=True)) for row in self._fetch(sql, params)]
        except UnicodeDecodeError:
            pairs = ", ".join(AS_BYTES.format(column=_name(column)) for column in columns)
            found = self._all(f"SELECT {pairs} FROM ({sql})", params)
        return [
            {name: _decoded(value, kind) for name, value, kind in zip(columns, row[::2], row[1::2], strict=True)}
            for row in found
        ]

    def _all(self, sql: str, params: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        try:
            return self._fetch(sql, params)
        except UnicodeDecodeError as error:
            raise DatabaseDamaged(f"{self.path} holds text that is not UTF-8 ({error}).") from error

    def _fetch(self, sql: str, params: Mapping[str, Any] | None) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(sql, params or {}).fetchall()
        except apsw.Error as error:
            raise _explained(error, self.path) from error


def _connect(path: str) -> apsw.Connection:
    """A connection that sees one moment of the file, and leaves nothing behind."""
    _require_file(path)
    try:
        header = read_header(path)
        if not is_database(header):
            raise DatabaseDamaged(f"{path} is not an SQLite database.", hint="Name the state.db of lionagi.")
        if is_ours(header):
            raise InvalidRequest(
                f"{path} is a database of Lion Studio already.", hint=f"To look into it: li state ls --db {path}"
            )
        # A file with a log whose last user is gone has no log beside it. SQLite makes one to read it, and only a
        # connection that might write takes it away again.
        clean = has_log(header) and not os.path.exists(f"{path}-wal")
        try:
            return _begin(path, apsw.SQLITE_OPEN_READWRITE if clean else apsw.SQLITE_OPEN_READONLY)
        except (apsw.CantOpenError, apsw.ReadOnlyError):  # the folder may only be read
            if not clean:
                raise
            return _begin(unwritten(path), apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    except apsw.Error as error:
        raise _explained(error, path) from error


def _begin(name: str, flags: int) -> apsw.Connection:
    connection = apsw.Connection(name, flags=flags)
    try:
        connection.set_busy_timeout(int(1000 * BUSY_SECONDS))
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        connection.execute(LIST_TABLES).fetchall()  # only now is the moment chosen
    except BaseException:
        connection.close()
        raise
    return connection


def _require_file(path: str) -> None:
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise DatabaseGone(f"There is no file {path} ({why}).", hint="Name the state.db of lionagi.") from error
    if stat.S_ISDIR(kind):
        raise InvalidRequest(f"{path} is a folder.", hint="Name the file in it: state.db")
    if not stat.S_ISREG(kind):
        raise InvalidRequest(f"{path} is a pipe, a socket or a device, not a database file.")


def _explained(error: apsw.Error, path: str) -> Error:
    known = explain(error, path)
    return (
        DatabaseDamaged(known.message, hint="Only a whole SQLite file can be read.")
        if isinstance(known, DatabaseDamaged)
        else known
    )


def _usable(found: Iterable[tuple[bytes | None, str]]) -> list[Any]:
    """Ids that are text or whole numbers."""
    ids: list[Any] = []
    for value, kind in found:
        with suppress(UnicodeDecodeError):
            if value is not None and kind in ("text", "integer"):
                ids.append(int(value) if kind == "integer" else value.decode())
    return ids


def _decoded(value: Any, kind: str) -> Any:
    return value.decode(errors="replace") if kind == "text" else value


def _name(word: str) -> str:
    """A name of a table or a column, in quotes."""
    return '"' + word.replace('"', '""') + '"'
