"""PostgreSQL, through psycopg 3."""

import logging
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
from psycopg.types.string import TextLoader

from lionstudio.domain.errors import (
    AlreadyExists,
    AppendOnly,
    Conflict,
    DatabaseBusy,
    DatabaseFull,
    DatabaseGone,
    DatabaseReadOnly,
    Error,
    InvalidRequest,
    NewerDatabase,
    Unavailable,
)
from lionstudio.store import postgres_upkeep
from lionstudio.store.dialect import Connection, Params, Row, Watch
from lionstudio.store.figures import Checkpointed, Figures
from lionstudio.store.migrate import READ_VERSION, create_or_upgrade, latest_number, require_known
from lionstudio.store.transaction import ConnectionLost, Undone

if TYPE_CHECKING:
    from lionstudio.store.copies import Copies

# What fails is raised, and said by whoever asked; psycopg would tell the user about its own cleaning up as well.
logging.getLogger("psycopg").setLevel(logging.ERROR)

CONNECT_SECONDS = 5
CHANNEL = "lionstudio_news"
NEWS_LOCK = 0x4C695374_01  # advisory locks are shared by the whole database: any two numbers of our own
MIGRATION_LOCK = 0x4C695374_02
# A writer that waits longer than this for a row gives up, and one that hangs inside a transaction is thrown out, so
# that nobody can hold back the others for ever.
SETTINGS = (
    "-c lock_timeout=5s -c idle_in_transaction_session_timeout=60s -c timezone=UTC -c client_min_messages=warning"
)

# Someone may upgrade the database while it is open here. One round trip begins a write, keeps upgrades away until it is
# done, and reads the number of the schema (D10).
BEGIN_WRITE = f"""
    BEGIN;
    SELECT pg_advisory_xact_lock_shared({MIGRATION_LOCK});
    {READ_VERSION}
""".encode()

CURSORS = count(1)
APPEND_ONLY_STATE = "LS001"  # raised by our own triggers

# `:name` outside of strings, quoted names, comments and casts.
_PLACEHOLDER = re.compile(r"('(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|::)|:([a-z_][a-z0-9_]*)|(%)")


@lru_cache(maxsize=512)
def to_psycopg(sql: str) -> bytes:
    """The same statement with `%(name)s` placeholders."""
    return _PLACEHOLDER.sub(
        lambda match: match[1].replace("%", "%%") if match[1] else f"%({match[2]})s" if match[2] else "%%", sql
    ).encode()


def explain(error: psycopg.Error, location: str) -> Error:
    """Our name for what PostgreSQL reports."""
    state = error.sqlstate or ""
    if state == APPEND_ONLY_STATE:
        return AppendOnly(f"{error.diag.message_primary}: history is kept as it was written.")
    if state == "23505":
        return AlreadyExists(f"This is there already ({error.diag.message_detail}).")
    if state.startswith("23"):
        return Conflict(f"The database refuses this ({error.diag.message_primary}).")
    if state in ("40001", "40P01"):
        return Undone(f"The database {location} was busy: {error.diag.message_primary}.")
    if state == "55P03":
        return DatabaseBusy(f"The database {location} was busy: {error.diag.message_primary}.")
    if state in ("53100", "53200"):
        return DatabaseFull(f"There is no room left for the database {location}.")
    if state in ("25006", "42501"):
        return DatabaseReadOnly(f"The database {location} may only be read ({error.diag.message_primary}).")
    if state in ("54000", "54001"):
        return InvalidRequest(f"A value is too large for the database ({error.diag.message_primary}).")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) or state.startswith(("08", "57P", "53")):
        return DatabaseGone(f"The database {location} cannot be reached ({_first_line(error)}).")
    if isinstance(error, psycopg.DataError):
        return InvalidRequest(f"The database does not take this value ({_first_line(error)}).")
    return Unavailable(f"The database {location} reports: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]


class PostgresConnection:
    """One psycopg connection with our settings."""

    def __init__(self, url: str, location: str, *, schema: int | None = None) -> None:
        """Open it. With the newest schema that is known, a write is refused once the database has a newer one."""
        self._location = location
        self._schema = schema
        try:
            self._raw = psycopg.connect(
                url, autocommit=True, connect_timeout=CONNECT_SECONDS, options=SETTINGS, application_name="lionstudio"
            )
        except (psycopg.Error, OSError) as error:
            raise DatabaseGone(f"The database {location} cannot be reached ({_first_line(error)}).") from error
        # JSON comes back as it was written; decoding is done in one place for both databases.
        self._raw.adapters.register_loader("json", TextLoader)
        self._cursor = self._raw.cursor()

    @property
    def raw(self) -> psycopg.Connection[Row]:
        return self._raw

    def all(self, sql: str, params: Params) -> list[Row]:
        self._execute(to_psycopg(sql), params)
        return self._cursor.fetchall() if self._cursor.description is not None else []

    def pieces(self, sql: str, params: Params, *, size: int) -> Iterator[list[Row]]:
        try:
            # Named apart, because several may be read side by side.
            with self._raw.cursor(name=f"pieces_{next(CURSORS)}") as cursor:
                cursor.execute(to_psycopg(sql), params)
                while piece := cursor.fetchmany(size):
                    yield piece
        except psycopg.Error as error:
            raise self._explained(error) from error

    def run(self, sql: str, params: Params) -> int:
        self._execute(to_psycopg(sql), params)
        return self._cursor.rowcount

    def many(self, sql: str, rows: Iterable[Params]) -> None:
        try:
            self._cursor.executemany(to_psycopg(sql), list(rows))
        except psycopg.Error as error:
            raise self._explained(error) from error

    def script(self, sql: str) -> None:
        self._execute(sql.encode(), None)

    def begin_read(self) -> None:
        self._begin(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def begin_write(self, *, waited: float = 0.0) -> None:  # many write at once, and nobody waits
        if self._schema is None:
            self._begin(b"BEGIN")
            return
        self._begin(BEGIN_WRITE)
        while self._cursor.nextset():
            pass
        row = self._cursor.fetchone()
        try:
            require_known(0 if row is None else int(row[0]), self._schema, location=self._location)
        except NewerDatabase:
            self._raw.close()
            raise

    def commit(self) -> None:
        self._execute(b"COMMIT", None)

    def rollback(self) -> None:
        if self.in_transaction:
            self._execute(b"ROLLBACK", None)

    def savepoint(self) -> None:
        self._execute(b"SAVEPOINT use_case", None)

    def release(self) -> None:
        self._execute(b"RELEASE use_case", None)

    def rollback_to_savepoint(self) -> None:
        self._execute(b"ROLLBACK TO use_case", None)
        self._execute(b"RELEASE use_case", None)

    @property
    def in_transaction(self) -> bool:
        status = self._raw.info.transaction_status
        return status in (psycopg.pq.TransactionStatus.INTRANS, psycopg.pq.TransactionStatus.INERROR)

    @property
    def is_wanted(self) -> bool:
        return True  # who waits for a row of ours cannot be told apart from who waits for another's

    def expect_bulk(self) -> None:
        """Nothing to do: the server has its own memory."""

    def close(self) -> None:
        self._raw.close()

    def _begin(self, sql: bytes) -> None:
        try:
            self._cursor.execute(sql)
        except psycopg.Error as error:
            lost = self._raw.broken or error.sqlstate is None
            self._raw.close()
            if lost:
                raise ConnectionLost(f"The database {self._location} was gone ({_first_line(error)}).") from error
            raise explain(error, self._location) from error

    def _execute(self, sql: bytes, params: Params | None) -> None:
        try:
            self._cursor.execute(sql, params)
        except psycopg.Error as error:
            raise self._explained(error) from error
        except UnicodeEncodeError:
            raise InvalidRequest("Half a character (a lone surrogate) is not text that can be looked for.") from None

    def _explained(self, error: psycopg.Error) -> Error:
        if self._raw.broken and not self._raw.closed:
            self._raw.close()
        return explain(error, self._location)


class PostgresWatch:
    """Listens for the call that every commit with news makes."""

    def __init__(self, connect: Callable[[], PostgresConnection]) -> None:
        self._connect = connect
        self._connection: PostgresConnection | None = None
        self._inherited: list[object] = []  # what belongs to the parent of a fork: never used and never closed
        self._pid = os.getpid()
        self._listen()

    def wait(self, timeout: float) -> bool:
        if self._connection is None:
            self._listen()
            return True  # something may have been missed meanwhile
        try:
            for _ in self._connection.raw.notifies(timeout=timeout, stop_after=1):
                return True
        except psycopg.Error as error:
            self.close()
            raise ConnectionLost(f"The database stopped answering ({_first_line(error)}).") from error
        return False

    def pause(self) -> None:
        """The socket stays the parent's: another thread may be waiting on it right now."""

    def resume(self) -> None:
        if self._pid != os.getpid():
            self._inherited.append(self._connection)
            self._connection, self._pid = None, os.getpid()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _listen(self) -> None:
        self._connection = self._connect()
        self._connection.script(f"LISTEN {CHANNEL}")


class PostgresDialect:
    """One PostgreSQL database."""

    name = "postgres"
    database_id = ""
    local = False
    # Writers of other processes hold locks on rows. A transaction that several use cases share would keep the first
    # one's locks while the next one waits for a row: two processes doing so wait for each other (ADR 0006).
    one_writer = False
    lock_session: str | None = "SELECT 1 FROM sessions WHERE id = :session_id FOR NO KEY UPDATE"
    # One writer at a time gives out numbers and commits, so a number is never visible before a lower one (ADR 0004).
    news_lock: str | None = f"SELECT pg_advisory_xact_lock({NEWS_LOCK})"
    news_call: str | None = f"SELECT pg_notify('{CHANNEL}', '')"
    same_size = "cardinality(embedding) = cardinality(CAST(:vector AS real[]))"
    json_size = "octet_length(CAST({} AS text))"
    migration_lock: str | None = f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"
    list_tables = (
        "SELECT table_name FROM information_schema.tables "
        "WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
    )
    list_foreign_keys = """
        SELECT reference.conrelid::regclass::text, own.attname, reference.confrelid::regclass::text, other.attname
          FROM pg_constraint AS reference
          JOIN pg_attribute AS own ON own.attrelid = reference.conrelid AND own.attnum = reference.conkey[1]
          JOIN pg_attribute AS other ON other.attrelid = reference.confrelid AND other.attnum = reference.confkey[1]
         WHERE reference.contype = 'f' AND reference.connamespace = current_schema()::regnamespace
         ORDER BY 1, 2
    """
    check_integrity: str | None = None  # a server looks after its own files
    list_huge_tables: str | None = postgres_upkeep.LIST_HUGE_TABLES

    def __init__(self, url: str) -> None:
        self._url = url
        parts = urlsplit(url)
        self.location = f"postgresql://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._schema: int | None = None

    def connect(self, *, writing: bool) -> Connection:
        return PostgresConnection(self._url, self.location, schema=self._schema)

    def prepare(self, *, create: bool = True) -> None:
        create_or_upgrade(self, create=create)
        self._schema = latest_number(self)

    def watch(self) -> Watch:
        return PostgresWatch(lambda: PostgresConnection(self._url, self.location))

    def embedding_in(self, vector: Sequence[float]) -> Any:
        return array("f", vector).tolist()  # float32 before it gets there: the server refuses what would become 0

    def embedding_out(self, stored: Any) -> tuple[float, ...]:
        return tuple(stored)

    def nearest(self, connection: Connection) -> str | None:
        if connection.all("SELECT 1 FROM pg_extension WHERE extname = 'vector'", {}):
            return "embedding::vector <=> CAST(:vector AS real[])::vector"
        return None

    def back_up_before_upgrade(self, connection: Connection, version: int) -> None:
        """Nothing to do: a server has its own backups, and a failed migration is rolled back whole."""

    def copies(self) -> "Copies":
        from lionstudio.store.postgres_copies import PostgresCopies

        return PostgresCopies(self)

    def read_figures(self, connection: Connection) -> Figures:
        return postgres_upkeep.read_figures(connection)

    def read_log_pending(self) -> int | None:
        return None

    def checkpoint(self, mode: str) -> Checkpointed:
        raise Conflict(
            "A PostgreSQL server does its checkpoints itself; there is nothing to do here.",
            hint="To let it use the room of deleted rows again: li state vacuum",
        )

    def vacuum(self) -> None:
        connection = self.connect(writing=True)
        try:
            postgres_upkeep.vacuum(connection, self.list_tables)
        finally:
            connection.close()
