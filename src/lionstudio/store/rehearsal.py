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
