"""Sessions: one row a run, and the words that find it."""

import re
from collections.abc import Collection, Mapping

from lionstudio.domain.session import InvocationKind, Session, SessionStatus, SourceKind
from lionstudio.store.dialect import Row
from lionstudio.store.encoding import IDS, ids_in, json_out, optional_json_in, texts_in
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

# In the order of the fields of a Session; the number of branches comes last.
SESSION_FACTS = """
    session.id, session.created_at, session.updated_at, session.progression_id, session.name, session."user",
    session.status, session.started_at, session.ended_at, session.exit_code, session.end_actor, session.end_reason,
    session.first_msg_id, session.last_msg_id, session.last_message_at, session.messages_lost,
    session.invocation_kind, session.source_kind, session.playbook_name, session.agent_name, session.show_topic,
    session.show_play_name, session.artifacts_path, session.parent_session_id, session.node_metadata, head.length
"""
SESSION_COLUMNS = f"""
    {SESSION_FACTS}, (SELECT count(*) FROM branches AS branch WHERE branch.session_id = session.id)
"""
SELECT_SESSION = f"""
    SELECT {SESSION_COLUMNS}
      FROM sessions AS session
      JOIN progression_heads AS head ON head.id = session.progression_id
"""
STATUS_WORDS: Mapping[str | None, SessionStatus | None] = {None: None, **{word.value: word for word in SessionStatus}}
KIND_WORDS: Mapping[str | None, InvocationKind | None] = {None: None, **{word.value: word for word in InvocationKind}}
SOURCE_WORDS: Mapping[str | None, SourceKind | None] = {None: None, **{word.value: word for word in SourceKind}}


STATUS, KIND, SOURCE, METADATA = map(
    Session._fields.index, ("status", "invocation_kind", "source_kind", "node_metadata")
)


def to_session(row: Row) -> Session:
    """A session from the columns of SELECT_SESSION."""
    # Naming each of so many fields would take longer than reading them from the database.
    fields = list(row)
    fields[STATUS] = STATUS_WORDS[row[STATUS]]
    fields[KIND] = KIND_WORDS[row[KIND]]
    fields[SOURCE] = SOURCE_WORDS[row[SOURCE]]
    fields[METADATA] = json_out(row[METADATA])
    return Session._make(fields)


FIND_SESSION = SELECT_SESSION + "WHERE session.id = :session_id"
LIST_BY_NAME = (
    SELECT_SESSION + "WHERE session.name = :name ORDER BY session.created_at DESC, session.id DESC LIMIT :limit"
)
NEWEST_NAMES = "SELECT id, name FROM sessions ORDER BY is_running DESC, created_at DESC, id DESC LIMIT :limit"
FIND_BY_PREFIX = (
    SELECT_SESSION + "WHERE session.id >= :prefix AND session.id < :beyond ORDER BY session.id LIMIT :limit"
)


def find(tx: Tx, session_id: str) -> Session | None:
    row = tx.one(FIND_SESSION, session_id=session_id)
    return None if row is None else to_session(row)


FIND_SESSIONS = SELECT_SESSION + f"WHERE session.id IN {IDS}"


def find_many(tx: Tx, session_ids: Collection[str]) -> dict[str, Session]:
    """Those of the sessions that are there, by id."""
    if not session_ids:
        return {}
    return {row[0]: to_session(row) for row in tx.all(FIND_SESSIONS, ids=ids_in(session_ids))}


LIST_SILENT = SELECT_SESSION + "WHERE session.is_running = 1 AND head.length = 0"


def list_silent(tx: Tx) -> list[Session]:
    """The sessions that run and have no message."""
    return [to_session(row) for row in tx.all(LIST_SILENT)]


def find_newest_by_name(tx: Tx, name: str) -> Session | None:
    """The newest session of this name (R61)."""
    return next(iter(list_by_name(tx, name, limit=1)), None)


FIND_OF_PLAY = (
    SELECT_SESSION
    + """WHERE session.show_topic = :topic AND session.show_play_name = :play
         ORDER BY session.created_at DESC, session.id DESC LIMIT 1"""
)


def find_newest_of_play(tx: Tx, topic: str, play: str) -> Session | None:
    """The newest session that says it works for this play (D9)."""
    row = tx.one(FIND_OF_PLAY, topic=text_in(topic), play=text_in(play))
    return None if row is None else to_session(row)


def list_by_name(tx: Tx, name: str, *, limit: int) -> list[Session]:
    """Sessions of this name, newest first."""
    return [to_session(row) for row in tx.all(LIST_BY_NAME, name=text_in(name), limit=limit)]


def list_newest_names(tx: Tx, *, limit: int) -> list[tuple[str, str | None]]:
    """Ids and names: of those that run first, then of the newest."""
    return [(row[0], row[1]) for row in tx.all(NEWEST_NAMES, limit=limit)]


def list_by_prefix(tx: Tx, prefix: str, *, limit: int) -> list[Session]:
    """Sessions whose id begins so, for people who type the first characters only."""
    rows = tx.all(FIND_BY_PREFIX, prefix=prefix, beyond=prefix + "\U0010ffff", limit=limit)
    return [to_session(row) for row in rows]


LIST_CHILDREN = (
    SELECT_SESSION
    + "WHERE session.parent_session_id = :session_id ORDER BY session.created_at, session.id LIMIT :limit"
)


def list_children(tx: Tx, session_id: str, *, limit: int) -> list[Session]:
    """Sessions that this one started, oldest first."""
    return [to_session(row) for row in tx.all(LIST_CHILDREN, session_id=session_id, limit=limit)]


INSERT_SESSION = """
    INSERT INTO sessions (
        id, created_at, updated_at, node_metadata, name, "user", progression_id, first_msg_id, last_msg_id,
        last_message_at, messages_lost, status, started_at, ended_at, exit_code, end_actor, end_reason,
        invocation_kind, source_kind, playbook_name, agent_name, show_topic, show_play_name, artifacts_path,
        parent_session_id)
    VALUES (
        :id, :created_at, :updated_at, :node_metadata, :name, :user, :progression_id, :first_msg_id, :last_msg_id,
        :last_message_at, :messages_lost, :status, :started_at, :ended_at, :exit_code, :end_actor, :end_reason,
        :invocation_kind, :source_kind, :playbook_name, :agent_name, :show_topic, :show_play_name, :artifacts_path,
        :parent_session_id)
    ON CONFLICT (id) DO NOTHING
"""
INSERT_WORD = """
    INSERT INTO session_words (word, created_at, session_id) VALUES (:word, :created_at, :session_id)
    ON CONFLICT DO NOTHING
"""
TEXT_COLUMNS = (
    "name", "user", "playbook_name", "agent_name", "show_topic", "show_play_name", "artifacts_path", "end_actor",
    "end_reason",
)  # fmt: skip


def insert(tx: Tx, session: Session) -> bool:
    """Store a session unless its id is taken; whether it was new. Its progression must be there."""
    texts, node_metadata = texts_in(session.node_metadata, {name: getattr(session, name) for name in TEXT_COLUMNS})
    inserted = tx.run(
        INSERT_SESSION,
        id=session.id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        node_metadata=optional_json_in(node_metadata),
        progression_id=session.progression_id,
        first_msg_id=session.first_msg_id,
        last_msg_id=session.last_msg_id,
        last_message_at=session.last_message_at,
        messages_lost=session.messages_lost,
        status=session.status,
        started_at=session.started_at,
        ended_at=session.ended_at,
        exit_code=session.exit_code,
        invocation_kind=session.invocation_kind,
        source_kind=session.source_kind,
        parent_session_id=session.parent_session_id,
        **texts,
    )
    if inserted:
        put_words(tx, session)
    return inserted == 1


def put_words(tx: Tx, session: Session) -> None:
    """Let a session be found by its words."""
    words = [
        {"word": word, "created_at": session.created_at, "session_id": session.id} for word in search_words(session)
    ]
    tx.many(INSERT_WORD, words)


_WORDS = re.compile(r"[^\W_]+")
WORD_LIMIT = 64  # characters of a word that are searched


def words_of(text: str) -> list[str]:
    """The words of a text as the search knows them: lower case, letters and digits only."""
    return [word[:WORD_LIMIT] for word in _WORDS.findall(text.casefold())]


def search_words(session: Session) -> set[str]:
    """Every word a session can be found by."""
    texts = (session.name, session.agent_name, session.playbook_name, session.show_topic, session.show_play_name)
    words = {word for text in texts if text for word in words_of(text)}
    words.add(session.id.casefold()[:WORD_LIMIT])
    return {word for word in words if text_in(word) == word}


TOUCH = """
    UPDATE sessions
       SET updated_at = CASE WHEN updated_at > :at THEN updated_at ELSE :at END,
           last_msg_id = COALESCE(:message_id, last_msg_id),
           first_msg_id = COALESCE(first_msg_id, :message_id),
           last_message_at = CASE WHEN last_message_at > :at THEN last_message_at ELSE :at END
     WHERE id = :session_id
"""


def touch(tx: Tx, session_id: str, *, message_id: str | None, at: float) -> None:
    """A message came in, new or changed: the bookmarks of R17 and the time of R128."""
    tx.run(TOUCH, session_id=session_id, message_id=message_id, at=at)


END_SESSION = """
    UPDATE sessions
       SET status = :status, ended_at = :ended_at, exit_code = :exit_code, end_actor = :actor, end_reason = :reason,
           updated_at = CASE WHEN updated_at > :ended_at THEN updated_at ELSE :ended_at END
     WHERE id = :session_id AND status = 'running'
"""
FORGET_OPEN_CALLS = """
    DELETE FROM open_calls WHERE branch_id IN (SELECT id FROM branches WHERE session_id = :session_id)
"""


def end(
    tx: Tx, session_id: str, *, status: SessionStatus, at: float, exit_code: int | None, actor: str, reason: str | None
) -> bool:
    """Give a running session its final status; False if it was not running."""
    ended = tx.run(
        END_SESSION, session_id=session_id, status=status, ended_at=at, exit_code=exit_code, actor=actor, reason=reason
    )
    if ended:
        tx.run(FORGET_OPEN_CALLS, session_id=session_id)
    return ended == 1


ADD_LOST = "UPDATE sessions SET messages_lost = messages_lost + :count, updated_at = :at WHERE id = :session_id"


def add_lost(tx: Tx, session_id: str, *, count: int, at: float) -> None:
    """Remember that messages could be kept nowhere."""
    tx.run(ADD_LOST, session_id=session_id, count=count, at=at)
