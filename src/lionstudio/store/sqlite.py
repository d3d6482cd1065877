"""SQLite, through apsw: its wheel carries a current engine, free of the WAL bugs of older ones (ADR 0002)."""

from __future__ import annotations

import os
import struct
import time
from contextlib import contextmanager, suppress
from itertools import count, islice

import apsw

from lionstudio import machine
from lionstudio.domain.errors import (
    AlreadyExists,
    AppendOnly,
    Conflict,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseGone,
    DatabaseReadOnly,
    Error,
    ForeignDatabase,
    InvalidRequest,
    Unavailable,
    UnusablePlace,
)
from lionstudio.store.migrate import (
    READ_VERSION,
    create_or_upgrade,
    latest_number,
    no_database,
    read_meta,
    require_known,
)
from lionstudio.store.sqlite_turn import WriteTurn, pause
from lionstudio.store.transaction import ConnectionLost

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from lionstudio.store.copies import Copies
    from lionstudio.store.dialect import Connection, Params, Row, Watch
    from lionstudio.store.figures import Checkpointed, Figures

APPLICATION_ID = 0x4C695374  # "LiSt", in every file that is ours
HEADER_SIZE = 100
APPLICATION_ID_AT = 68  # its place in the file header, see the SQLite file format
WRITE_VERSION_AT, WAL_VERSION = 18, 2
MAGIC = b"SQLite format 3\x00"

FileIdentity = tuple[int, int]
STATEMENTS = 48  # prepared and kept by a connection; apsw looks through them one by one, so more made an append slower
BUSY_SECONDS = 5.0
PRAGMAS = """
    PRAGMA busy_timeout = 5000;
    PRAGMA foreign_keys = ON;
    PRAGMA synchronous = {synchronous};
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -{cache};
"""
# Ids in no order, as imports bring them, touch most pages of an index in one transaction; what does not fit into the
# writer's cache is written and read several times. Only what is used is taken.
WRITER_CACHE, READER_CACHE = 32_000, 16_000  # KiB
# A transaction that deletes at random places of the indexes touches most of their pages.
BULK_CACHE = 256_000
# Autocheckpoints never find a quiet moment when many processes write at once, so the log would grow without end. Past
# this size whoever notices empties it, looking every few commits.
WAL_LIMIT = 8 * 1024 * 1024
WAL_LOOK_EVERY = 8
WAL_LOOK_AFTER_FAILURE = 16  # a long read keeps the log from being emptied; then trying often would only cost time
WAL_PATIENCE = 0.1  # seconds, because everyone else waits meanwhile


def explain(error: apsw.Error, location: str) -> Error:
    """Our name for what SQLite reports."""
    extended = getattr(error, "extendedresult", 0)
    match getattr(error, "result", 0) & 0xFF:
        case apsw.SQLITE_BUSY | apsw.SQLITE_LOCKED | apsw.SQLITE_PROTOCOL:
            return DatabaseBusy(f"The database {location} was busy for more than {BUSY_SECONDS:.0f} s.")
        case apsw.SQLITE_FULL:
            return DatabaseFull(f"There is no room left for the database {location}.")
        case apsw.SQLITE_READONLY | apsw.SQLITE_PERM | apsw.SQLITE_AUTH:
            return DatabaseReadOnly(f"The database {location} may only be read.")
        case apsw.SQLITE_CANTOPEN | apsw.SQLITE_IOERR:
            return DatabaseGone(f"The database {location} cannot be read or written ({error}).")
        case apsw.SQLITE_CORRUPT | apsw.SQLITE_NOTADB:
            return DatabaseDamaged(f"The file {location} is not a whole database ({error}).")
        case apsw.SQLITE_TOOBIG:
            return InvalidRequest("A single value may not be larger than 1 GB.")
        case apsw.SQLITE_CONSTRAINT:
            if extended == apsw.SQLITE_CONSTRAINT_TRIGGER:
                return AppendOnly(f"{error}: history is kept as it was written.")
            if extended in (apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_UNIQUE):
                return AlreadyExists(f"This is there already ({error}).")
            return Conflict(f"The database refuses this ({error}).")
    return Unavailable(f"The database {location} reports: {error}")


def _identity(path: str) -> FileIdentity | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _read_header(path: str) -> bytes:
    """The first bytes of a file, which may be fewer.

    Read through SQLite, though it is a plain read: closing any other descriptor of the file would make the operating
    system drop all of this process's locks on it, and the next process that closes the database would delete the log
    under our feet.
    """
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        whole, header = connection.read("main", 0, 0, HEADER_SIZE)
    finally:
        connection.close()
    return header if whole else header.rstrip(b"\0")


def _nearest_folder(path: str) -> str:
    """The closest folder above a path that exists."""
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return folder


class SqliteConnection:
    """One apsw connection with our settings."""

    def __init__(
        self, path: str, *, writing: bool, synchronous: str, create: bool = False, schema: int | None = None
    ) -> None:
        """Open it. With the newest schema that is known, a write is refused once the database has a newer one."""
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._path = path
        self._schema = schema
        self._wal = f"{path}-wal"
        # Not the same for all, so that many short-lived writers look as often as one that stays.
        self._look_in = 1 + time.perf_counter_ns() % WAL_LOOK_EVERY
        self._patience = BUSY_SECONDS
        self._bulk = False
        try:
            try:
                self._raw = apsw.Connection(path, flags=flags, statementcachesize=STATEMENTS)
                # Fetched, because apsw stops a script at its first row until someone asks for the next.
                cache = WRITER_CACHE if writing else READER_CACHE
                self._raw.execute(PRAGMAS.format(synchronous=synchronous, cache=cache)).fetchall()
            except apsw.ReadOnlyError:
                # A file we may only read is still worth reading.
                self._raw = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, statementcachesize=STATEMENTS)
            if not writing:
                self._raw.execute("PRAGMA query_only = ON")
            self._cursor = self._raw.cursor()
            self.identity = _identity(path)
        except apsw.Error as error:
            raise self._explained(error) from error
        self._turn = WriteTurn(path) if writing else None
        if writing:
            self._raw.set_busy_handler(self._wait_for_others)
        self._busy_since = 0.0

    @property
    def raw(self) -> apsw.Connection:
        return self._raw

    def all(self, sql: str, params: Params) -> list[Row]:
        try:
            return self._cursor.execute(sql, params).fetchall()
        except (apsw.Error, UnicodeEncodeError) as error:
            raise self._explained(error) from error

    def pieces(self, sql: str, params: Params, *, size: int) -> Iterator[list[Row]]:
        cursor = self._raw.cursor()
        try:
            rows = cursor.execute(sql, params)
            while piece := list(islice(rows, size)):
                yield piece
        except apsw.Error as error:
            raise self._explained(error) from error
        finally:
            cursor.close()

    def run(self, sql: str, params: Params) -> int:
        try:
            self._cursor.execute(sql, params)
        except apsw.Error as error:
            raise self._explained(error) from error
        return self._raw.changes()

    def _execute(self, sql: str) -> None:
        try:
            self._cursor.execute(sql)
        except apsw.Error as error:
            raise self._explained(error) from error

    def many(self, sql: str, rows: Iterable[Params]) -> None:
        try:
            self._cursor.executemany(sql, rows)
        except apsw.Error as error:
            raise self._explained(error) from error

    def script(self, sql: str) -> None:
        self.all(sql, {})

    def begin_read(self) -> None:
        self._require_file()
        self._execute("BEGIN")

    def begin_write(self) -> None:
        self._require_file()
        self._take_turn()
        try:
            self._execute("BEGIN IMMEDIATE")
        except BaseException:
            self._pass_turn()
            raise
        if self._schema is None:
            return
        try:  # someone may have upgraded the database while it was open here (D10)
            require_known(int(self.all(READ_VERSION, {})[0][0]), self._schema, location=self._path)
        except BaseException:
            self.rollback()
            raise

    def commit(self) -> None:
        self._execute("COMMIT")
        if self._bulk:
            self._pass_turn()
            self._checkpoint_beside_others()
            return
        try:
            self._look_in -= 1
            if not self._look_in:
                self._look_in = self._bound_wal()
        finally:
            self._pass_turn()

    def rollback(self) -> None:
        try:
            if self._raw.in_transaction:  # SQLite itself undid it if the disk was full
                self._execute("ROLLBACK")
        finally:
            self._pass_turn()

    def savepoint(self) -> None:
        self._execute("SAVEPOINT use_case")

    def release(self) -> None:
        self._execute("RELEASE use_case")

    def rollback_to_savepoint(self) -> None:
        self.all("ROLLBACK TO use_case; RELEASE use_case", {})

    @property
    def in_transaction(self) -> bool:
        return self._raw.in_transaction

    def close(self) -> None:
        self._raw.close()
        if self._turn is not None:
            self._turn.close()

    def _require_file(self) -> None:
        # A deleted or replaced file would take our rows into nowhere, and show old ones, without an error from SQLite.
        try:
            status = os.stat(self._path)
            if (status.st_dev, status.st_ino) == self.identity:
                return
        except OSError:
            pass
        raise ConnectionLost(f"The database file {self._path} was removed or replaced.")

    def _wait_for_others(self, tries: int) -> bool:
        """Asked by SQLite while a program that knows no turns writes; whether to try again."""
        now = time.monotonic()
        if tries == 0:
            self._busy_since = now
        elif now - self._busy_since > self._patience:
            return False
        time.sleep(pause(now - self._busy_since))
        return True

    @contextmanager
    def alone(self, *, patience: float = BUSY_SECONDS) -> Iterator[None]:
        """Keep our other writers out, without a transaction, for work that none may be open around."""
        self._require_file()
        self._take_turn()
        try:
            with self.patience(patience):
                yield
        finally:
            self._pass_turn()

    @contextmanager
    def patience(self, seconds: float) -> Iterator[None]:
        """Wait for whoever is in the way only so long."""
        self._patience = seconds
        try:
            yield
        finally:
            self._patience = BUSY_SECONDS

    @property
    def is_wanted(self) -> bool:
        return self._turn is None or self._turn.is_wanted()

    def expect_bulk(self) -> None:
        self.all(f"PRAGMA cache_size = -{BULK_CACHE}; PRAGMA wal_autocheckpoint = 0", {})
        self._bulk = True

    def _take_turn(self) -> None:
        if self._turn is not None and not self._turn.take(patience=BUSY_SECONDS):
            raise DatabaseBusy(f"The database {self._path} was busy for more than {BUSY_SECONDS:.0f} s.")

    def _pass_turn(self) -> None:
        if self._turn is not None:
            self._turn.pass_on()

    def _checkpoint_beside_others(self) -> None:
        """Move what a large transaction wrote into the file while others may write; else the next of them had to."""
        with suppress(apsw.Error):  # the transaction is safe in the log, and somebody else moves it later
            self._raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _bound_wal(self) -> int:
        """Empty the log if it has grown too large; after how many commits to look again."""
        try:
            if os.stat(self._wal).st_size <= WAL_LIMIT:
                return WAL_LOOK_EVERY
        except OSError:
            return WAL_LOOK_EVERY
        self._patience = WAL_PATIENCE
        give_up = time.monotonic() + WAL_PATIENCE
        try:
            while True:
                try:
                    self._raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                    return WAL_LOOK_EVERY
                except apsw.BusyError:
                    # At once while another process checkpoints, which among many writers is most of the time: SQLite
                    # does not wait for that. Later because a reader is in the way.
                    if time.monotonic() > give_up:
                        return WAL_LOOK_AFTER_FAILURE
                except apsw.Error:  # a full disk: what was committed is safe in the log
                    return WAL_LOOK_AFTER_FAILURE
                time.sleep(0.0005)
        finally:
            self._patience = BUSY_SECONDS

    def _explained(self, error: apsw.Error | UnicodeEncodeError) -> Error:
        if isinstance(error, UnicodeEncodeError):
            return InvalidRequest("Half a character (a lone surrogate) is not text that can be looked for.")
        return explain(error, self._path)


def _create_beside(stem: str) -> str:
    """A new, empty file that only its owner may read; an earlier one of the name is kept."""
    for number in count(1):
        path = f"{stem}.db" if number == 1 else f"{stem}-{number}.db"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            return path
        except FileExistsError:
            continue
    raise AssertionError


def copy_database(source: apsw.Connection, target: str) -> None:
    """Copy a live database into `target`, as of one moment."""
    copy = apsw.Connection(target)
    try:
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(1000)
    finally:
        copy.close()


class SqliteDialect:
    """One SQLite file."""

    name = "sqlite"
    database_id = ""
    local = True
    one_writer = True
    lock_session: str | None = None  # a write transaction already keeps every other writer out
    news_lock: str | None = None
    news_call: str | None = None  # the file watch wakes who listens
    same_size = "length(embedding) = length(:vector)"
    migration_lock: str | None = None
    list_tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    list_foreign_keys = """
        SELECT known.name, reference."from", reference."table", reference."to"
          FROM sqlite_master AS known, pragma_foreign_key_list(known.name) AS reference
         WHERE known.type = 'table' ORDER BY known.name, reference."from"
    """
    check_integrity: str | None = "PRAGMA integrity_check"
    list_huge_tables: str | None = None  # counting goes through the smallest index, and SQLite keeps no estimates

    def __init__(self, path: str, *, synchronous: str = "NORMAL", backups: str | None = None) -> None:
        self.path = path
        self.location = path
        self._synchronous = synchronous
        self._backups = backups
        self._schema: int | None = None
        self._identity: FileIdentity | None = None  # of the file that was found to be this database

    def connect(self, *, writing: bool) -> Connection:
        if not os.path.exists(self.path):
            self._identity = None  # a new file may get the same inode
            raise DatabaseGone(f"There is no database file {self.path}.")
        if self._identity != _identity(self.path):
            self.require_ours()
        connection = SqliteConnection(self.path, writing=writing, synchronous=self._synchronous, schema=self._schema)
        if self._identity != connection.identity:
            self._require_same_database(connection)
        return connection

    def prepare(self, *, create: bool = True) -> None:
        if os.path.isdir(self.path):
            raise UnusablePlace(
                f"{self.path} is a folder, not a database file.", hint="Give the path of a file: LIONAGI_DB=…/state.db"
            )
        if machine.is_network_filesystem(_nearest_folder(self.path)):
            raise UnusablePlace(
                f"{self.path} is on a network file system, where SQLite loses data.",
                hint="Use a local disk, or a PostgreSQL server: LIONAGI_DB=postgresql://…",
            )
        if not os.path.exists(self.path) or os.path.getsize(self.path) == 0:
            if not create:
                raise no_database(self.path)
            self._create()
        self.require_ours()
        self._require_wal()
        create_or_upgrade(self, create=create)
        self._schema = latest_number(self)

    def require_ours(self) -> None:
        """Raise unless the file is ours, reading its header only: a file that is not ours is never touched."""
        try:
            header = _read_header(self.path)
        except apsw.Error as error:
            raise explain(error, self.path) from error
        if len(header) < HEADER_SIZE or not header.startswith(MAGIC):
            raise DatabaseDamaged(f"The file {self.path} is not an SQLite database.")
        (application_id,) = struct.unpack_from(">I", header, APPLICATION_ID_AT)
        if application_id != APPLICATION_ID:
            raise ForeignDatabase(
                f"{self.path} belongs to another program and is never written.",
                hint=f"Bring its runs in with: li state import-db {self.path}",
            )

    def _require_same_database(self, connection: SqliteConnection) -> None:
        """A file that took the place of ours, unseen, is welcome only if it is the same database: a restored copy."""
        if self.database_id and read_meta(connection).get("database_id") != self.database_id:
            connection.close()
            raise DatabaseGone(f"Another database has taken the place of {self.path}.")
        self._identity = connection.identity

    def _create(self) -> None:
        """Make an empty file ours. In rollback mode, so that the header says so before anyone can meet the file."""
        try:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
        except OSError as error:
            raise DatabaseReadOnly(f"The folder of {self.path} cannot be made ({error.strerror}).") from error
        with suppress(OSError):  # SQLite says it better
            os.close(os.open(self.path, os.O_CREAT | os.O_CLOEXEC, 0o600))  # what agents say is nobody else's business
        connection = SqliteConnection(self.path, writing=True, synchronous=self._synchronous, create=True)
        try:
            connection.all("BEGIN EXCLUSIVE", {})
            if not connection.all("SELECT 1 FROM sqlite_master LIMIT 1", {}):
                connection.script(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.commit()
        finally:
            connection.close()

    def _require_wal(self) -> None:
        """Switch a new file to WAL. That needs the file for oneself, so while others open it too it is tried again."""
        header = _read_header(self.path)
        if header[WRITE_VERSION_AT] == WAL_VERSION:
            return
        give_up = time.monotonic() + BUSY_SECONDS
        while True:
            connection = SqliteConnection(self.path, writing=True, synchronous=self._synchronous)
            try:
                connection.script("PRAGMA journal_mode = WAL")
                return
            except DatabaseBusy:
                if time.monotonic() > give_up:
                    raise
            finally:
                connection.close()

    def watch(self) -> Watch:
        from lionstudio.store.sqlite_watch import SqliteWatch  # few who open a database follow it

        return SqliteWatch(self.path, lambda: self.connect(writing=False))

    def embedding_in(self, vector: Sequence[float]) -> Any:
        return struct.pack(f"<{len(vector)}f", *vector)

    def embedding_out(self, stored: Any) -> tuple[float, ...]:
        return struct.unpack(f"<{len(stored) // 4}f", stored)

    def nearest(self, connection: Connection) -> str | None:
        if not isinstance(connection, SqliteConnection):
            return None
        with suppress(ImportError, apsw.Error):
            import sqlite_vec

            connection.raw.enable_load_extension(True)
            connection.raw.load_extension(sqlite_vec.loadable_path())
            connection.raw.enable_load_extension(False)
            return "vec_distance_cosine(embedding, :vector)"
        return None

    def back_up_before_upgrade(self, connection: Connection, version: int) -> None:
        folder = self._backups or os.path.join(os.path.dirname(os.path.abspath(self.path)), "backups")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        stem = os.path.splitext(os.path.basename(self.path))[0]
        target = _create_beside(os.path.join(folder, f"{stem}-before-upgrade-from-{version:04}"))
        if isinstance(connection, SqliteConnection):
            copy_database(connection.raw, target)

    def copies(self) -> Copies:
        from lionstudio.store.sqlite_copies import SqliteCopies  # few who open a database copy it

        return SqliteCopies(self)

    def read_figures(self, connection: Connection) -> Figures:
        from lionstudio.store import sqlite_upkeep  # few who open a database look after it

        return sqlite_upkeep.read_figures(connection, self.path)

    def checkpoint(self, mode: str) -> Checkpointed:
        from lionstudio.store import sqlite_upkeep

        with self._connection_of_its_own() as connection:
            return sqlite_upkeep.checkpoint(connection, self.path, mode)

    def vacuum(self) -> None:
        from lionstudio.store import sqlite_upkeep

        with self._connection_of_its_own() as connection:
            sqlite_upkeep.vacuum(connection, self.path)

    @contextmanager
    def _connection_of_its_own(self) -> Iterator[SqliteConnection]:
        connection = self.connect(writing=True)
        assert isinstance(connection, SqliteConnection)
        try:
            yield connection
        finally:
            connection.close()
