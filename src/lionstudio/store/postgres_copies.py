"""Copies of a PostgreSQL database: into an SQLite file of ours, and back, row by row in one transaction (ADR 0022)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from lionstudio.store.copies import META, TABLES, Numbers, columns_of, read_numbers, require_same
from lionstudio.store.dialect import Dialect, Row
from lionstudio.store.postgres import PostgresConnection, explain
from lionstudio.store.row_copies import stored_alike, write_all
from lionstudio.store.row_sums import PIECE, TableSum, quoted, read_plainly, select_columns, sum_tables
from lionstudio.store.sqlite import SqliteDialect
from lionstudio.store.sqlite_connection import SqliteConnection

# The server hears nothing while the last backup is made and the copy compared; that takes as long as they are large.
PATIENCE = "SET LOCAL lock_timeout = '30s'; SET LOCAL idle_in_transaction_session_timeout = 0"
# Writers wait, readers read on and see what was there until all of the copy is there.
LOCK = f"LOCK TABLE {META}, {', '.join(TABLES)} IN SHARE ROW EXCLUSIVE MODE"
HISTORY = ("admin_events", "status_transitions")  # triggers refuse to change them; a restore is the one exception
# A number that is given once is never given again, though its row is gone.
NUMBERED = ("changes", "exchange")
CONTINUE = """
    SELECT setval(numbers, GREATEST((SELECT COALESCE(max(seq), 1) FROM {table}), nextval(numbers)))
      FROM (SELECT pg_get_serial_sequence('{table}', 'seq')::regclass AS numbers) AS sequence
"""


class PostgresCopies:
    """Copies of one PostgreSQL database."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def write(self, path: str, on_rows: Callable[[int], None]) -> dict[str, TableSum]:
        with self._connected(writing=False) as source:
            source.begin_read()
            return write_all(source, self._dialect, path, on_rows)

    def salvage(self, path: str, on_rows: Callable[[int], None]) -> None:
        self.write(path, on_rows)  # a server looks after its own files: what it gives is what there is

    def take(
        self, staged: str, settle: Callable[[Numbers], None], on_rows: Callable[[int], None]
    ) -> dict[str, TableSum]:
        with self._connected(writing=True) as live:
            live.begin_write()
            live.script(PATIENCE)
            if self._dialect.migration_lock is not None:  # each of our writes holds it for a moment: none is under way
                live.all(self._dialect.migration_lock, {})
            live.script(LOCK)  # for other programs
            settle(read_numbers(live, self._dialect))
            with closing(SqliteConnection(staged, writing=False, synchronous="FULL")) as copy:
                columns = columns_of(copy)
                self._replace(live, copy, columns, on_rows)
                found = sum_tables(columns, self._reading(live), on_rows)
                wanted = sum_tables(columns, read_plainly(copy), on_rows)
            require_same(found, wanted, what=f"The database {self._dialect.location}")
            if self._dialect.news_call is not None:
                live.all(self._dialect.news_call, {})
            live.commit()
        return found

    def _replace(
        self,
        live: PostgresConnection,
        copy: SqliteConnection,
        columns: dict[str, list[str]],
        on_rows: Callable[[int], None],
    ) -> None:
        for table in HISTORY:
            live.script(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for table in (META, *reversed(TABLES)):
            live.script(f"DELETE FROM {table}")
        for table in (*TABLES, META):
            self._fill(live, copy, table, columns[table], on_rows)
        for table in HISTORY:
            live.script(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        for table in NUMBERED:
            live.script(CONTINUE.format(table=table))

    def _fill(
        self,
        live: PostgresConnection,
        copy: SqliteConnection,
        table: str,
        columns: Sequence[str],
        on_rows: Callable[[int], None],
    ) -> None:
        place = list(columns).index("embedding") if "embedding" in columns else None
        names = ", ".join(map(quoted, columns))
        try:
            with live.raw.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN".encode()) as target:
                for rows in copy.pieces(select_columns(table, columns), {}, size=PIECE):
                    for row in rows:
                        target.write_row(row if place is None or row[place] is None else _with_array(row, place))
                    on_rows(len(rows))
        except psycopg.Error as error:
            raise explain(error, self._dialect.location) from error

    def _reading(self, live: PostgresConnection) -> Callable[[str, Sequence[str]], Iterator[Sequence[Row]]]:
        read = read_plainly(live)
        return lambda table, columns: map(stored_alike(self._dialect, columns), read(table, columns))

    @contextmanager
    def _connected(self, *, writing: bool) -> Iterator[PostgresConnection]:
        connection = self._dialect.connect(writing=writing)
        assert isinstance(connection, PostgresConnection)
        try:
            yield connection
        finally:
            connection.close()


def _with_array(row: Row, place: int) -> tuple[Any, ...]:
    return (*row[:place], list(SqliteDialect("").embedding_out(row[place])), *row[place + 1 :])
