"""How many messages there are in teams, as people count them: one to several members is one message.

It is a row for each of them. The first has the message's own id, the others that id, a colon and a number; a row that
was copied from another team's file has its team at the end (`domain.team_entries` makes these ids).
"""

from collections.abc import Iterable

from lionstudio.store.encoding import IDS, ids_in
from lionstudio.store.transaction import Tx

OWN_ID = "replace(message.id, '@' || message.team_id, '')"
BEGINNING = f"rtrim({OWN_ID}, '0123456789')"  # of the id of a row to a further member: the message's own, and a colon
FIRST_ID = f"rtrim({BEGINNING}, ':')"
IS_FIRST = f"""NOT (
    message.id LIKE '%:%' AND {BEGINNING} LIKE '%:' AND {BEGINNING} <> {OWN_ID} AND EXISTS (
        SELECT 1 FROM team_messages AS first
         WHERE first.team_id = message.team_id AND first.id IN ({FIRST_ID}, {FIRST_ID} || '@' || message.team_id)))"""
COUNT = f"""
    SELECT message.team_id, count(*) FILTER (WHERE {IS_FIRST}), max(message.created_at)
      FROM team_messages AS message {{where}}
     GROUP BY message.team_id
"""
COUNT_ALL = COUNT.format(where="")
COUNT_IN = COUNT.format(where=f"WHERE message.team_id IN {IDS}")
COUNT_BY_RUN = f"""
    SELECT message.session_id, count(*) FROM team_messages AS message
     WHERE message.team_id = :team_id AND message.session_id IS NOT NULL AND {IS_FIRST}
     GROUP BY message.session_id
"""
COUNT_OF_SESSION = f"""
    SELECT count(*) FROM team_messages AS message WHERE message.session_id = :session_id AND {IS_FIRST}
"""
NTH_LAST = f"""
    SELECT message.created_at FROM team_messages AS message
     WHERE message.team_id = :team_id AND {IS_FIRST}
     ORDER BY message.created_at DESC, message.id DESC
     LIMIT 1 OFFSET :skipped
"""


def count_in_all(tx: Tx) -> dict[str, tuple[int, float]]:
    """How many messages each team has that has any, and when the last one was written."""
    return {team_id: (count, last_at) for team_id, count, last_at in tx.all(COUNT_ALL)}


def count_in(tx: Tx, team_ids: Iterable[str]) -> dict[str, tuple[int, float]]:
    """The same of these teams."""
    return {team_id: (count, last_at) for team_id, count, last_at in tx.all(COUNT_IN, ids=ids_in(team_ids))}


def count_in_one(tx: Tx, team_id: str) -> tuple[int, float | None]:
    """The same of one team."""
    return count_in(tx, [team_id]).get(team_id, (0, None))


def count_by_run(tx: Tx, team_id: str) -> dict[str, int]:
    """How many messages each session wrote to a team that wrote any."""
    return dict(tx.all(COUNT_BY_RUN, team_id=team_id))


def count_of_session(tx: Tx, session_id: str) -> int:
    """How many messages a run wrote to its teams."""
    return int(tx.value(COUNT_OF_SESSION, session_id=session_id))


def find_nth_last(tx: Tx, team_id: str, number: int) -> float | None:
    """When the last message but so many was written, if there are as many."""
    row = tx.one(NTH_LAST, team_id=team_id, skipped=number - 1)
    return None if row is None else row[0]
