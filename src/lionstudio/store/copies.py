"""Copying a whole database out, and back in: what both databases do alike.

A copy is always an SQLite file of ours, whatever it comes from, so that one database can be put back into another.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import SYSTEM_CLASS, MessageDraft
from lionstudio.domain.errors import DatabaseDamaged
from lionstudio.store import changes, messages
from lionstudio.store.migrate import UPDATE_META
from lionstudio.store.row_sums import differing
from lionstudio.store.transaction import Tx

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lionstudio.store.dialect import Connection, Dialect
    from lionstudio.store.row_sums import TableSum

    OnRows = Callable[[int], None]  # told how many more rows, or pages, are done

# In an order in which each refers only to itself and to those before it. What the database says about itself is apart.
META = "schema_meta"
TABLES = (
    "message_types", "messages", "progression_heads", "progression_entries", "sessions", "session_words", "branches",
    "open_calls", "exchange", "session_processes", "session_evidence", "session_usage", "shows", "plays", "teams",
    "team_messages", "changes", "admin_events", "status_transitions",
)  # fmt: skip
LIST_COLUMNS = "SELECT name FROM pragma_table_info(:table)"


class Numbers(NamedTuple):
    """The highest numbers that were ever given."""

    changes: int
    deliveries: int


class Copies(Protocol):
    """Copies of one database."""

    def write(self, path: str, on_rows: OnRows) -> dict[str, TableSum]:
        """Write all there is, as of one moment, into a new file; what was there in that moment, by table."""
        ...

    def salvage(self, path: str, on_rows: OnRows) -> None:
        """Write what is there into a new file as it is, though it may be damaged."""
        ...

    def take(self, staged: str, settle: Callable[[Numbers], None], on_rows: OnRows) -> dict[str, TableSum]:
        """Put a copy in the place of all there is, in one transaction, without closing anyone's database.

        While nobody can write any more, `settle` is told the numbers up to then, and may still change the copy. Gives
        what is there afterwards, by table; raises DatabaseDamaged if that is not what the copy holds.
        """
        ...


READ_NEWEST_DELIVERY = "SELECT max(seq) FROM exchange"


def read_numbers(connection: Connection, dialect: Dialect) -> Numbers:
    """The highest numbers that a database has given."""
    tx = Tx(connection, dialect)
    return Numbers(changes.span(tx)[1], int(tx.value(READ_NEWEST_DELIVERY) or 0))


FORGET_NEWS = "DELETE FROM changes"
INSERT_FIRST_NEWS = "INSERT INTO changes (seq, at, topic, entity_id) VALUES (:seq, :at, :topic, '')"
INSERT_LAST_DELIVERY = """
    INSERT INTO exchange (seq, message_id, sender, recipient, channel)
    VALUES (:seq, :message_id, NULL, :recipient, NULL)
"""
RESTORED = "What was delivered under the numbers up to this one was undone: the database was restored."
NOBODY = "system"


def continue_numbers(tx: Tx, given: Numbers, *, at: float, new_id: Callable[[], str]) -> None:
    """Let the numbers of a copy go on above those that a database has given, so that whoever follows it reloads.

    The news are forgotten up to a number that nobody has seen: every cursor lies below it, and is told to reload.
    """
    forgotten = max(changes.span(tx)[1], given.changes) + 1
    tx.run(FORGET_NEWS)
    tx.run(changes.REMEMBER_TRIMMED, value=str(forgotten))
    tx.run(INSERT_FIRST_NEWS, seq=forgotten + 1, at=at, topic=Topic.RELOAD.value)
    if int(tx.value(READ_NEWEST_DELIVERY) or 0) < given.deliveries:
        # SQLite goes on from the highest number that is there. A run that has read further than the copy goes would
        # miss what it is sent under numbers that it believes to have read.
        draft = MessageDraft("system", {"system_message": RESTORED}, SYSTEM_CLASS, recipient=NOBODY)
        row = messages.message_row(tx, draft, id=new_id(), created_at=at)
        messages.insert(tx, row)
        tx.run(INSERT_LAST_DELIVERY, seq=given.deliveries, message_id=row["id"], recipient=NOBODY)


def keep_identity(tx: Tx, database_id: str) -> None:
    """Let a copy be the database that it goes into: what waits in the spool for that one finds it."""
    tx.run(UPDATE_META, key="database_id", value=database_id)


def columns_of(file: Connection) -> dict[str, list[str]]:
    """The columns of every table of an SQLite file that hold something, without those that are computed."""
    return {table: [name for (name,) in file.all(LIST_COLUMNS, {"table": table})] for table in (*TABLES, META)}


def require_same(found: Mapping[str, TableSum], wanted: Mapping[str, TableSum], *, what: str) -> None:
    """Raise DatabaseDamaged, naming the tables, unless two databases hold the same."""
    if tables := differing(found, wanted):
        raise DatabaseDamaged(f"{what} does not hold the same rows as its source: {', '.join(tables)}.")
