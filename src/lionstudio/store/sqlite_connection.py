"""One connection to an SQLite file: our settings, waiting for others, a bounded log, and errors by our names."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from itertools import islice

import apsw

from lionstudio.domain.errors import Error, InvalidRequest
from lionstudio.store import sqlite_turn
from lionstudio.store.migrate import READ_VERSION, require_known
from lionstudio.store.sqlite_errors import busy, explain, no_room, read_only
from lionstudio.store.sqlite_file import find_identity, find_moment, log_size
from lionstudio.store.sqlite_opening import open_raw
from lionstudio.store.sqlite_turn import WriteTurn, pause
from lionstudio.store.transaction import ConnectionLost

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import NoReturn

    from lionstudio.store.dialect import Params, Row

# A transaction that deletes at random places of the indexes touches most of their pages.
BULK_CACHE = 256_000
# Autocheckpoints never find a quiet moment when many processes write at once, so the log would grow without end. Past
# this size whoever notices empties it, looking every few commits.
WAL_LIMIT = 8 * 1024 * 1024
WAL_LOOK_EVERY = 8
WAL_LOOK_AFTER_FAILURE = 16  # a long read keeps the log from being emptied; then trying often would only cost time
WAL_PATIENCE = 0.1  # seconds, because everyone else waits meanwhile


class SqliteConnection:
    """One apsw connection with our settings."""

    def __init__(
        self, path: str, *, writing: bool, synchronous: str, create: bool = False, schema: int | None = None
    ) -> None:
        """Open it. With the newest schema that is known, a write is refused once the database has a newer one."""
        flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
        self._path = path
        self._schema = schema
        # Not the same for all, so that many short-lived writers look as often as one that stays.
        self._look_in = 1 + time.perf_counter_ns() % WAL_LOOK_EVERY
        self._patience = sqlite_turn.BUSY_SECONDS
        self._bulk = False
        self._lacks_room = self._refused = False
        try:
            # A moment, if SQLite cannot see that the file is written.
            self._raw, self._moment, self._lacks_room = open_raw(path, flags, writing=writing, synchronous=synchronous)
            if not writing:
                self._raw.execute("PRAGMA query_only = ON")
            self._cursor = self._raw.cursor()
            self._is_read_only = self._raw.readonly("main")
            self.identity = find_identity(path)
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

    def begin_write(self, *, waited: float = 0.0) -> None:
        began = time.monotonic() - waited
        self._require_file()
        if self._is_read_only:  # SQLite would say so at the first change only
            self._refuse()
        self._take_turn(waited=waited)
        try:
            # One patience for all that is waited for: the line of this process, the turn, and the file.
            with self.patience(sqlite_turn.BUSY_SECONDS - (time.monotonic() - began)):
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

    def _refuse(self) -> NoReturn:
        if not self._lacks_room:
            raise read_only(self._path)
        if self._refused:  # there may be room by now, which only a new connection finds out
            raise ConnectionLost(f"There was no room for the database {self._path}.")
        self._refused = True
        raise no_room(self._path)

    def commit(self) -> None:
        self._execute("COMMIT")
        if self._bulk:
            self._pass_turn()
            self.empty_log_beside_others()
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
            if (status.st_dev, status.st_ino) == self.identity and not self.is_outdated:
                return
        except OSError:
            pass
        raise ConnectionLost(f"The database file {self._path} was removed, replaced or written.")

    @property
    def is_outdated(self) -> bool:
        """Whether somebody writes the file, and SQLite does not see it here."""
        return self._moment is not None and self._moment != find_moment(self._path)

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
    def alone(self, *, patience: float = sqlite_turn.BUSY_SECONDS) -> Iterator[None]:
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
            self._patience = sqlite_turn.BUSY_SECONDS

    @property
    def is_wanted(self) -> bool:
        return self._turn is None or self._turn.is_wanted()

    def expect_bulk(self) -> None:
        self.all(f"PRAGMA cache_size = -{BULK_CACHE}; PRAGMA wal_autocheckpoint = 0", {})
        self._bulk = True

    def _take_turn(self, *, waited: float = 0.0) -> None:
        if self._turn is not None and not self._turn.take(patience=sqlite_turn.BUSY_SECONDS - waited):
            raise busy(self._path)

    def _pass_turn(self) -> None:
        if self._turn is not None:
            self._turn.pass_on()

    def empty_log_beside_others(self) -> None:
        """Move what a large transaction wrote into the file while others may write; else the next of them had to."""
        with suppress(apsw.Error):  # the transaction is safe in the log, and somebody else moves it later
            self._raw.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _bound_wal(self) -> int:
        """Empty the log if it has grown too large; after how many commits to look again."""
        if log_size(self._path) <= WAL_LIMIT:
            return WAL_LOOK_EVERY
        give_up = time.monotonic() + WAL_PATIENCE
        with self.patience(WAL_PATIENCE):
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

    def _explained(self, error: apsw.Error | UnicodeEncodeError) -> Error:
        if isinstance(error, UnicodeEncodeError):
            return InvalidRequest("Half a character (a lone surrogate) is not text that can be looked for.")
        if self._lacks_room and isinstance(error, apsw.ReadOnlyError):
            return no_room(self._path)
        return explain(error, self._path)
