"""What a table holds, as a few numbers: how many rows, and a sum that changes with any of them."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lionstudio.store.dialect import Connection, Row

PIECE = 1_000  # rows read at once
ROW_BYTES = 16
WRAP = 1 << (8 * ROW_BYTES)

NOTHING: Mapping[str, str] = {}


class TableSum(NamedTuple):
    """Two tables with the same sum hold the same rows, in whatever order."""

    rows: int = 0
    total: int = 0

    def plus(self, rows: Sequence[Row]) -> TableSum:
        """The sum with these rows too."""
        total = self.total
        for row in rows:
            digest = blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=ROW_BYTES).digest()
            total += int.from_bytes(digest, "little")
        return TableSum(self.rows + len(rows), total % WRAP)


def select_columns(table: str, columns: Sequence[str], instead: Mapping[str, str] = NOTHING) -> str:
    """SQL that reads these columns of all rows, some of them as another expression."""
    return f"SELECT {', '.join(instead.get(name, quoted(name)) for name in columns)} FROM {quoted(table)}"


def quoted(name: str) -> str:
    return f'"{name}"'


def sum_pieces(pieces: Iterable[Sequence[Row]], on_rows: Callable[[int], None]) -> TableSum:
    """The sum of rows that come in pieces."""
    found = TableSum()
    for rows in pieces:
        found = found.plus(rows)
        on_rows(len(rows))
    return found


def sum_tables(
    columns: Mapping[str, Sequence[str]],
    read: Callable[[str, Sequence[str]], Iterator[Sequence[Row]]],
    on_rows: Callable[[int], None],
) -> dict[str, TableSum]:
    """The sum of each table, read by a function that gives its rows in pieces."""
    return {table: sum_pieces(read(table, names), on_rows) for table, names in columns.items()}


def read_plainly(connection: Connection) -> Callable[[str, Sequence[str]], Iterator[Sequence[Row]]]:
    """Rows as a connection gives them."""
    return lambda table, columns: connection.pieces(select_columns(table, columns), {}, size=PIECE)


def differing(one: Mapping[str, TableSum], other: Mapping[str, TableSum]) -> list[str]:
    """The tables that do not hold the same."""
    return sorted(table for table in {*one, *other} if one.get(table) != other.get(table))
