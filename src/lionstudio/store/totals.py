"""How many of each thing are stored."""

from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.store.transaction import Tx

COUNT = """
    SELECT 'sessions', '', count(*) FROM sessions
    UNION ALL SELECT 'shows', status, count(*) FROM shows GROUP BY status
    UNION ALL SELECT 'teams', status, count(*) FROM teams GROUP BY status
"""


class Stored(NamedTuple):
    """Sessions; shows and teams by their status. A status that none has is not named."""

    sessions: int
    shows: Mapping[str, int]
    teams: Mapping[str, int]


def count_stored(tx: Tx) -> Stored:
    """What there is, in one question."""
    rows = tx.all(COUNT)
    counts = {what: {status: count for of, status, count in rows if of == what} for what in Stored._fields}
    return Stored(counts["sessions"][""], counts["shows"], counts["teams"])
