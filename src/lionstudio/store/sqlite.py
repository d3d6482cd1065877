"""SQLite, through apsw: its wheel carries a current engine, free of the WAL bugs of older ones (ADR 0002)."""

from __future__ import annotations

import os
import struct
import time
from contextlib import closing, suppress

import apsw

from lionstudio import machine
from lionstudio.domain.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseGone,
    DatabaseReadOnly,
    ForeignDatabase,
    UnusablePlace,
)
from lionstudio.store import sqlite_turn
from lionstudio.store.migrate import create_or_upgrade, latest_number, no_database, read_meta
from lionstudio.store.sqlite_connection import SqliteConnection
from lionstudio.store.sqlite_errors import explain
from lionstudio.store.sqlite_file import APPLICATION_ID, find_identity, has_log, is_database, is_ours, read_header

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lionstudio.store.copies import Copies
    from lionstudio.store.dialect import Connection, Watch
    from lionstudio.store.figures import Checkpointed, Figures
    from lionstudio.store.sqlite_file import FileIdentity


def _nearest_folder(path: str) -> str:
    """The closest folder above a path that exists."""
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return folder


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
    json_size = "octet_length({})"
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

    def connect(self, *, writing: bool) -> SqliteConnection:
        if not os.path.exists(self.path):
            self._identity = None  # a new file may get the same inode
            raise DatabaseGone(f"There is no database file {self.path}.")
        if self._identity != find_identity(self.path):
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
            header = read_header(self.path)
        except apsw.Error as error:
            raise explain(error, self.path) from error
        if not is_database(header):
            raise DatabaseDamaged(f"The file {self.path} is not an SQLite database.")
        if not is_ours(header):
            from shlex import quote  # few are told

            raise ForeignDatabase(
                f"{self.path} belongs to another program and is never written.",
                hint=f"To bring its runs into a database of ours: li --db OURS state import-db {quote(self.path)}",
            )

    def _require_same_database(self, connection: SqliteConnection) -> None:
        """A file that took the place of ours, unseen, is welcome only if it is the same database: a restored copy."""
        if self.database_id and read_meta(connection).get("database_id") != self.database_id:
            connection.close()
            raise DatabaseGone(
                f"Another database has taken the place of {self.path}.",
                hint="Start again whatever had the old one open, li studio for one.",
            )
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
        if has_log(read_header(self.path)):
            return
        give_up = time.monotonic() + sqlite_turn.BUSY_SECONDS
        while True:
            connection = SqliteConnection(self.path, writing=True, synchronous=self._synchronous)
            try:
                connection.script("PRAGMA journal_mode = WAL")
                return
            except (DatabaseReadOnly, DatabaseFull):  # a backup that can only be read where it lies needs no log
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
        from lionstudio.store.sqlite_copies import keep_copy  # few who open a database upgrade it

        folder = self._backups or os.path.join(os.path.dirname(os.path.abspath(self.path)), "backups")
        if isinstance(connection, SqliteConnection):
            keep_copy(connection, self.path, folder, f"before-upgrade-from-{version:04}")

    def copies(self) -> Copies:
        from lionstudio.store.sqlite_copies import SqliteCopies  # few who open a database copy it

        return SqliteCopies(self)

    def read_figures(self, connection: Connection) -> Figures:
        from lionstudio.store import sqlite_upkeep  # few who open a database look after it

        return sqlite_upkeep.read_figures(connection, self.path)

    def read_log_pending(self) -> int | None:
        from lionstudio.store import sqlite_upkeep

        with closing(self.connect(writing=False)) as connection:
            return sqlite_upkeep.read_log_pending(connection)

    def checkpoint(self, mode: str) -> Checkpointed:
        from lionstudio.store import sqlite_upkeep

        with closing(self.connect(writing=True)) as connection:
            return sqlite_upkeep.checkpoint(connection, self.path, mode)

    def vacuum(self) -> None:
        from lionstudio.store import sqlite_upkeep

        with closing(self.connect(writing=True)) as connection:
            sqlite_upkeep.vacuum(connection, self.path)
