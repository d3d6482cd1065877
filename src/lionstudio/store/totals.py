"""How many of each thing are stored."""

from lionstudio.store.transaction import Tx

COUNT = "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM shows), (SELECT count(*) FROM teams)"


def count_stored(tx: Tx) -> tuple[int, int, int]:
    """Sessions, shows and teams."""
    sessions, shows, teams = tx.all(COUNT)[0]
    return sessions, shows, teams
