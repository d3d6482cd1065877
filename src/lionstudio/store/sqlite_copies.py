"""Copies of an SQLite file by SQLite's own backup interface: page by page, while others read and write.

A restore writes into the file that is open everywhere, as one transaction of an ordinary writer. Renaming another file
to its place would leave whoever has it open with a file that no longer has a name.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from itertools import count

import apsw

from lionstudio.domain.errors import DatabaseBusy, DatabaseDamaged, DatabaseReadOnly
from lionstudio.store.checks import list_broken_references, list_damage
from lionstudio.store.copies import Numbers, columns_of, read_numbers, require_same
from lionstudio.store.row_sums import read_plainly, sum_tables
from lionstudio.store.sqlite import SqliteDialect
from lionstudio.store.sqlite_connection import SqliteConnection
from lionstudio.store.sqlite_errors import explain
from lionstudio.store.sqlite_opening import NO_ROOM
from lionstudio.store.sqlite_places import open_unwritten

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Callable

    from lionstudio.store.copies import OnRows
    from lionstudio.store.row_sums import TableSum

PAGES_AT_ONCE = 500
RESTORE_PATIENCE = 30.0  # seconds to wait for the turn of whoever writes
SEE_NOW = "SELECT 1 FROM schema_meta LIMIT 1"  # a read begins with its first statement
OUT_OF_REACH = 1 << 40  # 34 years of a thousand a second; small enough to be exact in JSON after many restores
SHOWN = 5  # sentences about what is wrong with a file


class SqliteCopies:
    """Copies of one SQLite file."""

    def __init__(self, dialect: SqliteDialect) -> None:
        self._dialect = dialect

    def write(self, path: str, on_rows: OnRows) -> dict[str, TableSum]:
        with closing(self._dialect.connect(writing=False)) as source:
            source.begin_read()
            source.all(SEE_NOW, {})
            copy_pages(source.raw, path, on_rows)
            found = _sums(source, on_rows)
        make_single_file(path)
        return found

    def salvage(self, path: str, on_rows: OnRows) -> None:
        with closing(self._dialect.connect(writing=False)) as source:
            copy_pages(source.raw, path, on_rows)

    def take(self, staged: str, settle: Callable[[Numbers], None], on_rows: OnRows) -> dict[str, TableSum]:
        connect = self._dialect.connect
        with closing(connect(writing=True)) as live, closing(connect(writing=False)) as seen:
            with live.alone(patience=RESTORE_PATIENCE):
                given = self._find_numbers(seen)
                settle(given or _numbers_beyond(staged))
                make_single_file(staged, page_size=live.raw.pragma("page_size"))
                self._overwrite(live, staged, lambda: self._find_numbers(seen) == given, on_rows)
                seen.begin_read()
                seen.all(SEE_NOW, {})  # before anyone else writes
            found = _sums(seen, on_rows)
            live.empty_log_beside_others()  # it has grown by the whole copy
        with closing(SqliteConnection(staged, writing=False, synchronous="FULL")) as copy:
            require_same(found, _sums(copy, on_rows), what=f"The database {self._dialect.location}")
        return found

    def _find_numbers(self, seen: SqliteConnection) -> Numbers | None:
        try:
            return read_numbers(seen, self._dialect)
        except DatabaseDamaged:
            return None

    def _overwrite(self, live: SqliteConnection, staged: str, nothing_new: Callable[[], bool], on_rows: OnRows) -> None:
        source = apsw.Connection(staged)
        try:
            with live.raw.backup("main", source, "main") as backup:
                backup.step(0)  # takes the write lock, which other programs know too
                if not nothing_new():
                    raise DatabaseBusy(f"Another program wrote to {self._dialect.location} just now.")
                _step_through(backup, on_rows)
        except apsw.Error as error:
            raise explain(error, self._dialect.location) from error
        finally:
            source.close()


def _numbers_beyond(staged: str) -> Numbers:
    """Numbers that a database which is too damaged to tell its own has surely not reached."""
    with closing(SqliteConnection(staged, writing=False, synchronous="FULL")) as copy:
        known = read_numbers(copy, SqliteDialect(staged))
    return Numbers(known.changes + OUT_OF_REACH, known.deliveries + OUT_OF_REACH)


def stage(path: str, staged: str, on_rows: OnRows) -> None:
    """Copy a file that is said to be a backup, which is only read; raises unless the copy is whole and ours."""
    SqliteDialect(path).require_ours()
    try:
        source = _open_to_read(path)
        try:
            copy_pages(source, staged, on_rows)
        finally:
            source.close()
    except apsw.Error as error:
        raise explain(error, path) from error
    make_single_file(staged)
    require_whole(staged, named=path, hint="Use another backup.")


def require_whole(path: str, *, named: str, hint: str) -> None:
    """Raise DatabaseDamaged unless the pages of a file and the references between its rows are right."""
    dialect = SqliteDialect(path)
    try:
        with closing(SqliteConnection(path, writing=False, synchronous="FULL")) as file:
            wrong = list_damage(file, dialect)
            wrong = wrong or [broken.sentence for broken in list_broken_references(file, dialect)]
    except DatabaseDamaged as error:  # too much of it to be looked through
        wrong = [str(error.__cause__)]
    if wrong:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise DatabaseDamaged(f"{named} is not whole: {'; '.join(wrong[:SHOWN])}{more}.", hint=hint)


def sum_file(path: str, on_rows: OnRows) -> dict[str, TableSum]:
    """What a file holds, by table."""
    with closing(SqliteConnection(path, writing=False, synchronous="FULL")) as file:
        return _sums(file, on_rows)


def make_single_file(path: str, *, page_size: int | None = None) -> None:
    """Leave a copy as one file without a log, which can be read from anywhere, a read-only disk too."""
    connection = apsw.Connection(path)
    try:
        # Alone, so that SQLite needs no shared memory for the log that it is about to give up.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE").fetchall()
        if page_size not in (None, connection.pragma("page_size")):  # SQLite restores only pages of the same size
            connection.execute(f"PRAGMA page_size = {page_size}; VACUUM").fetchall()
    except apsw.Error as error:
        raise explain(error, path) from error
    finally:
        connection.close()


def _sums(connection: SqliteConnection, on_rows: OnRows) -> dict[str, TableSum]:
    return sum_tables(columns_of(connection), read_plainly(connection), on_rows)


def copy_pages(source: apsw.Connection, path: str, on_rows: OnRows) -> None:
    """Copy a live database into the file at `path`, as of one moment."""
    try:
        copy = apsw.Connection(path)
        try:
            with copy.backup("main", source, "main") as backup:
                _step_through(backup, on_rows)
        finally:
            copy.close()
    except apsw.Error as error:
        raise explain(error, path) from error


def keep_copy(source: SqliteConnection, path: str, folder: str, occasion: str) -> None:
    """Copy a database into a folder, whole or not at all; raises Unavailable, DatabaseReadOnly for want of a place."""
    stem = os.path.splitext(os.path.basename(path))[0]
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        target = _create_beside(os.path.join(folder, f"{stem}-{occasion}"))
    except OSError as error:
        raise DatabaseReadOnly(f"The database {path} cannot be backed up to {folder} ({error.strerror}).") from error
    try:
        copy_pages(source.raw, target, lambda _: None)
    except BaseException:
        with suppress(OSError):
            os.unlink(target)  # half a copy would look like a backup
        raise


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


def _step_through(backup: apsw.Backup, on_rows: OnRows) -> None:
    while not backup.done:
        backup.step(PAGES_AT_ONCE)
        on_rows(PAGES_AT_ONCE)


def _open_to_read(path: str) -> apsw.Connection:
    lacks_room = False
    try:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.execute(SEE_NOW).fetchall()
            return connection
        except apsw.Error:
            lacks_room = connection.system_errno in NO_ROOM
            connection.close()
            raise
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        return open_unwritten(path, lacks_room=lacks_room)
    except (apsw.IOError, apsw.FullError):
        if not lacks_room:
            raise
        return open_unwritten(path, lacks_room=True)
