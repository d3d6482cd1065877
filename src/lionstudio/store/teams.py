"""Teams and what their members wrote to each other."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.team import ALL_RECIPIENTS, MESSAGE_TEXTS, Team, TeamMessage, TeamStatus
from lionstudio.store import pages
from lionstudio.store.dialect import Row
from lionstudio.store.encoding import json_in, json_out, optional_json_in, texts_in
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionstudio.domain.session import Session

SELECT_TEAM = "SELECT id, name, created_at, updated_at, members, status, node_metadata FROM teams "
FIND_TEAM = SELECT_TEAM + "WHERE id = :team_id"
# Names are not unique: the one in use wins, then the newest.
LIST_BY_NAME = SELECT_TEAM + "WHERE name = :name ORDER BY status, created_at DESC, id DESC"
FIND_BY_NAME = LIST_BY_NAME + " LIMIT 1"
# Writing a row as it is keeps other writers of the same row away until this use case is done, on both databases.
LOCK_TEAM = "UPDATE teams SET status = status WHERE id = :team_id"
# A name that nobody has yet has no row to write: who looks whether a name is free takes turns at one that is there.
LOCK_NAMES = "UPDATE schema_meta SET value = value WHERE key = 'version'"


def _team(row: Row) -> Team:
    columns: list[Any] = [*row[:4], tuple(json_out(row[4])), TeamStatus(row[5]), json_out(row[6])]
    return Team(*columns)


def find(tx: Tx, team_id: str, *, lock: bool = False) -> Team | None:
    """The team of this id, kept from other writers if asked."""
    if lock:
        tx.run(LOCK_TEAM, team_id=text_in(team_id))
    row = tx.one(FIND_TEAM, team_id=text_in(team_id))
    return None if row is None else _team(row)


def find_by_name(tx: Tx, name: str) -> Team | None:
    """The newest team of this name, an active one before an archived one."""
    row = tx.one(FIND_BY_NAME, name=text_in(name))
    return None if row is None else _team(row)


def list_by_name(tx: Tx, name: str) -> list[Team]:
    """Every team of this name, the newest first, active ones before archived ones."""
    return [_team(row) for row in tx.all(LIST_BY_NAME, name=text_in(name))]


def lock_names(tx: Tx) -> None:
    """Keep others who call this away until this use case is done, so that two cannot take one name."""
    tx.run(LOCK_NAMES)


def list_newest(tx: Tx, *, status: TeamStatus | None, before: pages.Key | None, limit: int) -> list[Team]:
    """Teams newest first, from the one after `before`."""
    return [_team(row) for row in pages.list_newest(tx, SELECT_TEAM, before=before, limit=limit, status=status)]


LIST_BY_PREFIX = SELECT_TEAM + "WHERE substr(id, 1, :length) = :prefix ORDER BY created_at DESC, id DESC LIMIT :limit"
LIST_NAMES = "SELECT id, name FROM teams ORDER BY created_at DESC, id DESC LIMIT :limit"
LIST_ARCHIVED = SELECT_TEAM + "WHERE status = 'archived' AND updated_at < :before ORDER BY updated_at, id"


def list_by_prefix(tx: Tx, prefix: str, *, limit: int) -> list[Team]:
    """Teams whose id begins so, newest first."""
    wanted = text_in(prefix) or ""
    return [_team(row) for row in tx.all(LIST_BY_PREFIX, prefix=wanted, length=len(wanted), limit=limit)]


def list_names(tx: Tx, *, limit: int) -> list[tuple[str, str]]:
    """Ids and names of teams, newest first."""
    return [(id, name) for id, name in tx.all(LIST_NAMES, limit=limit)]


def list_archived(tx: Tx, *, before: float) -> list[Team]:
    """Archived teams that nothing happened to since, oldest first."""
    return [_team(row) for row in tx.all(LIST_ARCHIVED, before=before)]


def team_as_stored(team: Team) -> Team:
    """The team as it will come back: texts that both databases take, each member once."""
    texts, node_metadata = texts_in(team.node_metadata, {"name": team.name})
    return team._replace(
        name=texts["name"] or "",
        members=_names(team.members),
        node_metadata=json_out(optional_json_in(node_metadata)),
    )


INSERT_TEAM = """
    INSERT INTO teams (id, name, created_at, updated_at, member_count, members, node_metadata, status)
    VALUES (:id, :name, :created_at, :updated_at, :member_count, :members, :node_metadata, :status)
    ON CONFLICT (id) DO NOTHING
"""
UPDATE_TEAM = """
    UPDATE teams
       SET name = :name, created_at = :created_at, updated_at = :updated_at, member_count = :member_count,
           members = :members, node_metadata = :node_metadata, status = :status
     WHERE id = :id
"""
TOUCH_TEAM = "UPDATE teams SET updated_at = :at WHERE id = :team_id AND updated_at < :at"
DELETE_TEAM = "DELETE FROM teams WHERE id = :team_id"


def insert(tx: Tx, team: Team) -> bool:
    """Store a team unless its id is taken; whether it was new."""
    return tx.run(INSERT_TEAM, **_team_params(team)) == 1


def update(tx: Tx, team: Team) -> None:
    """Store a team over the row that has its id."""
    tx.run(UPDATE_TEAM, **_team_params(team))


def touch(tx: Tx, team_id: str, *, at: float) -> None:
    """A message came in."""
    tx.run(TOUCH_TEAM, team_id=team_id, at=at)


def delete(tx: Tx, team_id: str) -> None:
    """Forget a team and, with it, its messages (R113)."""
    tx.run(DELETE_TEAM, team_id=team_id)


def _team_params(team: Team) -> dict[str, Any]:
    return {
        "id": team.id,
        "name": team.name,
        "created_at": team.created_at,
        "updated_at": team.updated_at,
        "member_count": team.member_count,
        "members": json_in(list(team.members), what="list of members"),
        "node_metadata": optional_json_in(team.node_metadata),
        "status": team.status,
    }


MESSAGE_COLUMNS = """
    message.id, message.team_id, message.created_at, message.sender, message.content, message.recipient,
    message.summary, message.read_by, message.session_id, message.node_metadata
"""
SELECT_MESSAGE = f"SELECT {MESSAGE_COLUMNS} FROM team_messages AS message "
FIND_MESSAGE = SELECT_MESSAGE + "WHERE message.id = :message_id"
LOCK_MESSAGE = "UPDATE team_messages SET recipient = recipient WHERE id = :message_id"
LIST_MESSAGES = f"""
    {SELECT_MESSAGE}
     WHERE message.team_id = :team_id AND (message.created_at, message.id) > (:after_at, :after_id) {{condition}}
     ORDER BY message.created_at, message.id
     LIMIT :limit
"""
IS_FOR_MEMBER = f"""
    (message.recipient = :member OR (message.recipient = '{ALL_RECIPIENTS}' AND message.sender <> :member))
"""
FOR_MEMBER = f"AND {IS_FOR_MEMBER}"
FROM_THE_FIRST = (-1e300, "")
LIST_MESSAGES_SINCE = f"""
    {SELECT_MESSAGE}
     WHERE message.team_id = :team_id AND message.created_at >= :since
     ORDER BY message.created_at, message.id
"""
LIST_MARKS = "SELECT id, read_by, session_id, node_metadata FROM team_messages WHERE team_id = :team_id"
RUNS_OF_TEAM = """
    {select}
     WHERE session.id IN (SELECT message.session_id FROM team_messages AS message WHERE message.team_id = :team_id)
     ORDER BY session.created_at DESC, session.id DESC
     LIMIT :limit
"""


def to_message(row: Row) -> TeamMessage:
    """A message from the columns of SELECT_MESSAGE."""
    columns: list[Any] = [*row[:7], tuple(json_out(row[7])), row[8], json_out(row[9])]
    return TeamMessage(*columns)


def find_message(tx: Tx, message_id: str, *, lock: bool = False) -> TeamMessage | None:
    """The message of this id, kept from other writers if asked."""
    if lock:
        tx.run(LOCK_MESSAGE, message_id=text_in(message_id))
    row = tx.one(FIND_MESSAGE, message_id=text_in(message_id))
    return None if row is None else to_message(row)


def list_messages(
    tx: Tx, team_id: str, *, member: str | None = None, after: tuple[float, str] | None, limit: int
) -> list[TeamMessage]:
    """A team's messages, or those for one member, oldest first, from the one after `after`."""
    after_at, after_id = FROM_THE_FIRST if after is None else after
    sql = LIST_MESSAGES.format(condition="" if member is None else FOR_MEMBER)
    params = {} if member is None else {"member": text_in(member)}
    rows = tx.all(sql, team_id=team_id, after_at=after_at, after_id=after_id, limit=limit, **params)
    return [to_message(row) for row in rows]


def list_messages_since(tx: Tx, team_id: str, since: float) -> list[TeamMessage]:
    """A team's messages from then on, oldest first."""
    return [to_message(row) for row in tx.all(LIST_MESSAGES_SINCE, team_id=team_id, since=since)]


class Marks(NamedTuple):
    """What may still change about a message: who has read it, which run it came from, and what its file says of it."""

    read_by: tuple[str, ...] = ()
    session_id: str | None = None
    node_metadata: Mapping[str, Any] | None = None


def list_marks(tx: Tx, team_id: str) -> dict[str, Marks]:
    """What may still change, of each message of a team."""
    return {
        id: Marks(tuple(json_out(read_by)) if read_by != "[]" else (), session_id, json_out(metadata))
        for id, read_by, session_id, metadata in tx.all(LIST_MARKS, team_id=team_id)
    }


def list_runs(tx: Tx, team_id: str, *, limit: int) -> "list[Session]":
    """Sessions that wrote to a team, newest first (R122)."""
    from lionstudio.store.sessions import SELECT_SESSION, to_session  # sending a message does not need it

    sql = RUNS_OF_TEAM.format(select=SELECT_SESSION)
    return [to_session(row) for row in tx.all(sql, team_id=team_id, limit=limit)]


INSERT_MESSAGE = """
    INSERT INTO team_messages (
        id, team_id, created_at, sender, recipient, content, summary, read_by, session_id, node_metadata)
    VALUES (
        :id, :team_id, :created_at, :sender, :recipient, :content, :summary, :read_by, :session_id, :node_metadata)
    ON CONFLICT (id) DO NOTHING
"""
UPDATE_MESSAGE = """
    UPDATE team_messages
       SET read_by = :read_by, session_id = :session_id, node_metadata = :node_metadata
     WHERE id = :id
"""


def message_as_stored(message: TeamMessage) -> TeamMessage:
    """The message as it will come back: texts that both databases take, each reader once."""
    texts, node_metadata = texts_in(message.node_metadata, {name: getattr(message, name) for name in MESSAGE_TEXTS})
    return message._replace(
        **texts, read_by=_names(message.read_by), node_metadata=json_out(optional_json_in(node_metadata))
    )


def insert_message(tx: Tx, message: TeamMessage) -> bool:
    """Store a message unless its id is taken; whether it was new."""
    inserted = tx.run(
        INSERT_MESSAGE,
        id=message.id,
        team_id=message.team_id,
        created_at=message.created_at,
        sender=message.sender,
        recipient=message.recipient,
        content=message.content,
        summary=message.summary,
        **_marks_in(message),
    )
    return inserted == 1


def update_message(tx: Tx, message: TeamMessage) -> None:
    """Store what may change about a message; the rest of it never does."""
    tx.run(UPDATE_MESSAGE, id=message.id, **_marks_in(message))


def _marks_in(message: TeamMessage) -> dict[str, Any]:
    return {
        "read_by": json_in(list(message.read_by), what="list of readers"),
        "session_id": message.session_id,
        "node_metadata": optional_json_in(message.node_metadata),
    }


def _names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text_in(name) or "" for name in names))
