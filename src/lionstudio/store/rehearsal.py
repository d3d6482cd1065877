"""A database in which everything can be tried and nothing is kept."""

from __future__ import annotations

from contextlib import contextmanager

from lionstudio.store.database import Database

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from lionstudio.store.transaction import Tx


class Enough(Exception):
    """Raised to leave a transaction without keeping it."""


class Rehearsal(Database):
    """Stands for a database in which each write is undone as soon as it ends: nobody waits for more than one of them.

    What needs the writes before it has to repeat them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database  # and nothing of its own: what is open belongs to the database itself
        self.dialect = database.dialect

    def read(self) -> AbstractContextManager[Tx]:
        return self._database.read()

    @contextmanager
    def write(self) -> Iterator[Tx]:
        try:
            with self._database.write() as tx:
                yield tx
                raise Enough
        except Enough:
            pass

    def close(self) -> None:
        """Nothing to close."""


def is_rehearsal(database: Database) -> bool:
    """Whether each write is undone as soon as it ends."""
    return isinstance(database, Rehearsal)


class WholeRehearsal(Database):
    """Stands for a database within one of its transactions: each write is a step of it, each read sees them all."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx  # and nothing of its own: what is open belongs to the database itself
        self.dialect = tx.dialect

    @contextmanager
    def read(self) -> Iterator[Tx]:
        yield self._tx

    @contextmanager
    def write(self) -> Iterator[Tx]:
        self._tx.connection.savepoint()
        try:
            yield self._tx
        except BaseException:
            self._tx.connection.rollback_to_savepoint()
            raise
        self._tx.connection.release()

    def close(self) -> None:
        """Nothing to close."""


@contextmanager
def rehearse(database: Database) -> Iterator[Database]:
    """The same database to try things in that build on each other: one transaction, undone at the end.

    Others cannot write meanwhile where there is one writer at a time.
    """
    try:
        with database.write() as tx:
            yield WholeRehearsal(tx)
            raise Enough
    except Enough:
        pass
