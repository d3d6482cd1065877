"""What a database holds as a whole, in short, and the pieces that no other aggregate lists."""

from lionstudio.domain.contents import Contents
from lionstudio.domain.conversation import Message
from lionstudio.store.messages import MESSAGE_COLUMNS, to_message
from lionstudio.store.transaction import Tx

COUNT = """
    SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM sessions WHERE is_running = 1),
           (SELECT count(*) FROM messages), (SELECT count(*) FROM shows), (SELECT count(*) FROM teams),
           (SELECT value FROM schema_meta WHERE key = 'version')
"""
FIND_NEWEST = """
    SELECT id, name, created_at FROM (
        SELECT id, name, created_at FROM (SELECT id, name, created_at FROM sessions WHERE is_running = 1
                                           ORDER BY created_at DESC, id DESC LIMIT 1) AS running
        UNION ALL
        SELECT id, name, created_at FROM (SELECT id, name, created_at FROM sessions WHERE is_running = 0
                                           ORDER BY created_at DESC, id DESC LIMIT 1) AS ended
    ) AS newest ORDER BY created_at DESC, id DESC LIMIT 1
"""


def read_contents(tx: Tx) -> Contents:
    """What is in the database now."""
    sessions, running, messages, shows, teams, schema = map(int, tx.all(COUNT)[0])
    newest = tx.one(FIND_NEWEST) or (None, None, None)
    return Contents(sessions, running, messages, shows, teams, newest[0], newest[1], newest[2], schema)


LIST_RUNNING = "SELECT id FROM sessions WHERE is_running = 1 ORDER BY created_at, id"


def list_running(tx: Tx) -> list[str]:
    """The sessions that are running."""
    return [row[0] for row in tx.all(LIST_RUNNING)]


LIST_SESSIONS = """
    SELECT created_at, id FROM sessions
     WHERE is_running = :running AND (created_at, id) > (:created_at, :id) ORDER BY created_at, id LIMIT :limit
"""
PAGE = 500


def list_session_ids(tx: Tx, *, running: bool, after: tuple[float, str] | None) -> list[tuple[float, str]]:
    """A page of the creation times and ids of sessions, oldest first: the running ones, or the others."""
    created_at, id = after or (float("-inf"), "")
    rows = tx.all(LIST_SESSIONS, running=int(running), created_at=created_at, id=id, limit=PAGE)
    return [(row[0], row[1]) for row in rows]


LIST_FREE_MESSAGES = f"""
    SELECT {MESSAGE_COLUMNS}, exchange.seq
      FROM messages AS message
      JOIN message_types AS type ON type.type_id = message.lion_class
      LEFT JOIN exchange ON exchange.message_id = message.id
     WHERE message.id > :after
       AND NOT EXISTS (SELECT 1 FROM progression_entries WHERE message_id = message.id)
     ORDER BY message.id LIMIT :limit
"""


def list_free_messages(tx: Tx, *, after: str) -> list[Message]:
    """A page of messages that stand in no order; the position of one that was delivered is its number."""
    return [to_message(tx, row, row[10]) for row in tx.all(LIST_FREE_MESSAGES, after=after, limit=PAGE)]
