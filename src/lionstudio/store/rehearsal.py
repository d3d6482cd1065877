"""A database in which everything can be tried and nothing is kept: one transaction, undone at the end."""

from __future__ import annotations

from contextlib import contextmanager

from lionstudio.store.database import Database

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Iterator

    from lionstudio.store.transaction import Tx


class Rehearsal(Database):
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


class Enough(Exception):
    """Raised to leave a transaction without keeping it."""


@contextmanager
def rehearse(database: Database) -> Iterator[Database]:
    """The same database to try things in. Others cannot write meanwhile where there is one writer at a time."""
    try:
        with database.write() as tx:
            yield Rehearsal(tx)
            raise Enough
    except Enough:
        pass
