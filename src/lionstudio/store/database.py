"""An open database: many readers at once, one writer, every transaction whole or not at all."""

from __future__ import annotations

import os
import time
import weakref

from lionstudio.domain.errors import DatabaseGone
from lionstudio.store.pool import OwnTransaction, Pool
from lionstudio.store.writer import SharedWrite, Writer

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    from lionstudio.store.dialect import Connection, Dialect, Watch
    from lionstudio.store.transaction import Tx


FORK_PATIENCE = 10.0  # seconds that a fork waits for the transactions of other threads


class Database:
    """A database that is ours, at the schema this version knows. Safe to use from any thread."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._watches: weakref.WeakSet[Watch] = weakref.WeakSet()
        self._begin_in_this_process()
        _OPEN.add(self)

    def _begin_in_this_process(self) -> None:
        self._readers = Pool(self.dialect, writing=False)
        self._writers = Pool(self.dialect, writing=True)
        self._bulk_writers = Pool(self.dialect, writing=True, bulk=True)
        self._writer = Writer(self.dialect)

    def read(self) -> AbstractContextManager[Tx]:
        """A transaction that sees one moment, changes nothing and never waits for a writer."""
        return OwnTransaction(self._readers)

    def write(self) -> AbstractContextManager[Tx]:
        """A transaction that is committed when the block ends, or undone if it raises.

        Where the database has one writer at a time, concurrent writes of one process share a commit; each is in its
        own savepoint and fails alone.
        """
        return SharedWrite(self._writer) if self.dialect.one_writer else OwnTransaction(self._writers)

    def write_in_bulk(self) -> AbstractContextManager[Tx]:
        """A write that changes very much, on a connection that takes more memory for it; see `end_bulk`."""
        return OwnTransaction(self._bulk_writers)

    def end_bulk(self) -> None:
        """Give back what bulk writes needed."""
        self._bulk_writers.close()

    def watch(self) -> Watch:
        """Something that wakes when anyone has committed."""
        watch = self.dialect.watch()
        self._watches.add(watch)
        return watch

    def close(self) -> None:
        self._writer.close()
        self._writers.close()
        self._bulk_writers.close()
        self._readers.close()

    def _before_fork(self, give_up: float) -> bool:
        """Close everything: the child of a fork must not inherit an open SQLite file or a server's socket."""
        paused: list[Writer | Pool] = []
        for part in (self._writer, self._writers, self._bulk_writers, self._readers):
            if not part.pause(patience=max(0.0, give_up - time.monotonic())):
                for earlier in paused:
                    earlier.resume()
                return False
            paused.append(part)
        for watch in list(self._watches):
            watch.pause()
        return True

    def _after_fork(self) -> None:
        for watch in list(self._watches):
            watch.resume()
        for part in (self._readers, self._bulk_writers, self._writers, self._writer):
            part.resume()

    def _after_fork_in_child(self, *, clean: bool) -> None:
        # Locks may have been held by threads that are not here, and closing an inherited connection harms the parent.
        _INHERITED.extend((self._writer, self._writers, self._bulk_writers, self._readers))
        if not clean:
            if self.dialect.local:
                _TORN.add(os.path.realpath(self.dialect.location))
            self.dialect = Unusable(self.dialect)
        self._begin_in_this_process()
        for watch in list(self._watches):
            watch.resume()


class Unusable:
    """Stands for a database that a fork tore out of an open transaction: nothing can be done with it any more."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dialect, name)

    def connect(self, *, writing: bool) -> Connection:
        raise _torn()


def require_whole(path: str) -> None:
    """Raise DatabaseGone for a file that a fork tore out of an open transaction, however it is opened again.

    SQLite would believe in this process that it holds the parent's locks, and what is written would be lost.
    """
    if _TORN and os.path.realpath(path) in _TORN:
        raise _torn()


def _torn() -> DatabaseGone:
    return DatabaseGone(
        "This process was forked in the middle of a transaction, so it cannot use that database.",
        hint="Fork outside of any use of the database.",
    )


_OPEN: weakref.WeakSet[Database] = weakref.WeakSet()
_TORN: set[str] = set()  # files
_PAUSED: list[Database] = []
_INHERITED: list[object] = []


def _before_fork() -> None:
    give_up = time.monotonic() + FORK_PATIENCE
    _PAUSED[:] = [database for database in list(_OPEN) if database._before_fork(give_up)]


def _after_fork_in_parent() -> None:
    while _PAUSED:
        _PAUSED.pop()._after_fork()


def _after_fork_in_child() -> None:
    for database in list(_OPEN):
        database._after_fork_in_child(clean=database in _PAUSED)
    _PAUSED.clear()


# SQLite keeps its file locks per process in memory that a fork copies: a child that opens the same file then believes
# it holds locks which only its parent has. With everything closed at the moment of the fork both start clean.
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
