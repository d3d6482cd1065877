"""Figures of a database: its size and settings as it tells them itself, its rows, and how its sessions are split."""

from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.domain.session import SessionStatus
from lionstudio.store.legacy import count_legacy
from lionstudio.store.migrate import READ_VERSION
from lionstudio.store.transaction import Tx


class Figures(NamedTuple):
    """What a database says about itself; None where it has no such thing."""

    engine: str
    version: str
    size: int  # bytes, without the log
    log_size: int | None = None  # bytes that wait in SQLite's write-ahead log
    page_count: int | None = None
    free_pages: int | None = None
    free_size: int | None = None  # bytes that a vacuum can give back
    live_rows: int | None = None  # by its own estimate, like the next
    dead_rows: int | None = None  # rows that were deleted or replaced and take room until a vacuum
    connections: int | None = None
    settings: Mapping[str, str | int] = {}


class Checkpointed(NamedTuple):
    """What a checkpoint came to. Pages are those of the write-ahead log."""

    busy: bool  # somebody was in the way, so that the log could not be moved or emptied as asked
    pages_moved: int
    pages_left: int  # that are in the log only
    log_size_before: int
    log_size_after: int


class TableRows(NamedTuple):
    """How many rows a table has; estimated where counting a huge one would take the server too long."""

    name: str
    rows: int
    estimated: bool = False


def read_figures(tx: Tx) -> Figures:
    """What the database says about itself."""
    return tx.dialect.read_figures(tx.connection)


def count_rows(tx: Tx) -> list[TableRows]:
    """Every table with its rows, by name."""
    huge: dict[str, int] = {}
    if tx.dialect.list_huge_tables is not None:
        huge = {row[0]: int(row[1]) for row in tx.all(tx.dialect.list_huge_tables)}
    names = sorted(row[0] for row in tx.all(tx.dialect.list_tables))
    return [
        TableRows(name, huge[name], estimated=True)
        if name in huge
        else TableRows(name, int(tx.value(f'SELECT count(*) FROM "{name}"')))
        for name in names
    ]


# To count all rows is cheaper than to tell them apart, and nearly all of them have one status.
COUNT_ALL = "SELECT count(*) FROM sessions"
MOST_FREQUENT = SessionStatus.COMPLETED
COUNT_OTHERS = f"""
    SELECT status, count(*) FROM sessions
     WHERE status IN ({", ".join(f"'{status}'" for status in SessionStatus if status is not MOST_FREQUENT)})
     GROUP BY status
"""
# CROSS JOIN keeps SQLite from beginning with the sessions, nearly all of which have ended.
COUNT_WITH_LEFTOVERS = """
    SELECT count(*)
      FROM session_evidence AS evidence CROSS JOIN sessions AS session
     WHERE session.id = evidence.session_id AND evidence.leftovers > 0 AND session.is_running = 0
"""


def count_by_status(tx: Tx) -> dict[SessionStatus | None, int]:
    """Sessions by their status, those that nobody has too; None are legacy."""
    found = {row[0]: int(row[1]) for row in tx.all(COUNT_OTHERS)}
    found[None] = count_legacy(tx)
    found[MOST_FREQUENT] = int(tx.value(COUNT_ALL)) - sum(found.values())
    return {status: found.get(status, 0) for status in (*SessionStatus, None)}


def count_with_leftovers(tx: Tx) -> int:
    """Ended sessions that left something behind, as far as anyone looked."""
    return int(tx.value(COUNT_WITH_LEFTOVERS))


def read_schema_number(tx: Tx) -> int:
    """The number of the schema."""
    return int(tx.value(READ_VERSION))
