"""What pages about teams need: messages by any filter and in both directions, and who wrote how much."""

from collections.abc import Iterable
from typing import Any

from lionstudio.domain.team import TeamMessage
from lionstudio.domain.team_list import MessageFilter, Written
from lionstudio.store.encoding import IDS, ids_in, json_in, json_out
from lionstudio.store.pages import Key
from lionstudio.store.team_counts import IS_FIRST
from lionstudio.store.teams import IS_FOR_MEMBER, SELECT_MESSAGE, to_message
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

UNREAD = "replace(CAST(message.read_by AS TEXT), :reader, '') = CAST(message.read_by AS TEXT)"
BESIDE = """
    message.team_id IN (SELECT own.team_id FROM team_messages AS own WHERE own.session_id = :beside_id)
    AND message.created_at >= :since AND message.created_at <= :until
"""


def list_messages(
    tx: Tx, wanted: MessageFilter, *, newest_first: bool, key: Key | None, limit: int
) -> list[TeamMessage]:
    """Messages that match, from the one after `key`, in either direction."""
    conditions, params = _conditions(wanted)
    if key is not None:
        conditions.append(f"(message.created_at, message.id) {'<' if newest_first else '>'} (:key_at, :key_id)")
        params |= {"key_at": key[0], "key_id": text_in(key[1])}
    way = "DESC" if newest_first else "ASC"
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = f"""
        {SELECT_MESSAGE} {where}
         ORDER BY message.created_at {way}, message.id {way} LIMIT :limit
    """
    return [to_message(row) for row in tx.all(sql, limit=limit, **params)]


def _conditions(wanted: MessageFilter) -> tuple[list[str], dict[str, Any]]:
    conditions: list[str] = []
    params: dict[str, Any] = {}
    for column in ("team_id", "session_id", "sender", "recipient"):
        value = getattr(wanted, column)
        if value is not None:
            conditions.append(f"message.{column} = :{column}")
            params[column] = text_in(value)
    if wanted.member is not None:
        conditions.append(IS_FOR_MEMBER)
        params["member"] = text_in(wanted.member)
        if wanted.is_unread:
            conditions.append(UNREAD)
            params["reader"] = json_in(text_in(wanted.member))  # as it stands in the list of readers
    if wanted.beside is not None:
        conditions.append(BESIDE)
        params |= {"beside_id": wanted.beside.session_id, "since": wanted.beside.since, "until": wanted.beside.until}
    return conditions, params


LIST_WRITTEN = f"""
    SELECT message.sender, message.recipient, CAST(message.read_by AS TEXT), count(*), max(message.created_at),
           count(*) FILTER (WHERE {IS_FIRST})
      FROM team_messages AS message WHERE message.team_id = :team_id
     GROUP BY message.sender, message.recipient, CAST(message.read_by AS TEXT)
"""
FIND_NAME = "SELECT 1 FROM team_messages WHERE team_id = :team_id AND (sender = :name OR recipient = :name) LIMIT 1"
LIST_NAMES_OF = f"SELECT id, name FROM teams WHERE id IN {IDS}"


def list_written(tx: Tx, team_id: str) -> list[Written]:
    """Who wrote how much to whom in a team."""
    rows = tx.all(LIST_WRITTEN, team_id=team_id)
    return [Written(row[0], row[1], tuple(json_out(row[2])), *row[3:]) for row in rows]


def has_name(tx: Tx, team_id: str, name: str) -> bool:
    """Whether anyone of this name wrote in a team, or was written to."""
    return tx.value(FIND_NAME, team_id=team_id, name=text_in(name)) is not None


def find_names(tx: Tx, team_ids: Iterable[str]) -> dict[str, str]:
    """The names of these teams, by id."""
    return dict(tx.all(LIST_NAMES_OF, ids=ids_in(team_ids)))
