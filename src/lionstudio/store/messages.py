"""Messages: atomic content that belongs to no one; progressions put it in order."""

from collections.abc import Iterable, Sequence
from typing import Any

from lionstudio.domain.conversation import SEEDED_CLASSES, UNKNOWN_CLASS, Message, MessageDraft
from lionstudio.store.dialect import Row
from lionstudio.store.encoding import json_in, json_out, optional_json_in, texts_in
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

SEEDED_IDS = {lion_class: number for number, lion_class in enumerate(SEEDED_CLASSES)}

FIND_TYPE = "SELECT type_id FROM message_types WHERE lion_class = :lion_class"
INSERT_TYPE = """
    INSERT INTO message_types (type_id, lion_class)
    SELECT max(type_id) + 1, CAST(:lion_class AS text) FROM message_types WHERE true
    ON CONFLICT DO NOTHING
"""


def class_id(tx: Tx, lion_class: str) -> int:
    """The number of a class, given out at its first use."""
    lion_class = text_in(lion_class) or UNKNOWN_CLASS
    known = SEEDED_IDS.get(lion_class)
    while known is None:
        known = tx.value(FIND_TYPE, lion_class=lion_class)
        if known is None:
            tx.run(INSERT_TYPE, lion_class=lion_class)
    return known


INSERT_MESSAGE = """
    INSERT INTO messages (
        id, created_at, node_metadata, content, embedding, sender, recipient, channel, role, lion_class)
    VALUES (:id, :created_at, :node_metadata, :content, :embedding, :sender, :recipient, :channel, :role, :lion_class)
"""
INSERT_NEW_MESSAGE = INSERT_MESSAGE + "ON CONFLICT (id) DO NOTHING"
REPLACE_MESSAGE = """
    UPDATE messages
       SET created_at = :created_at, node_metadata = :node_metadata, content = :content, embedding = :embedding,
           sender = :sender, recipient = :recipient, channel = :channel, role = :role, lion_class = :lion_class
     WHERE id = :id
"""


def message_row(tx: Tx, draft: MessageDraft, *, id: str, created_at: float) -> dict[str, Any]:
    """A draft as the columns of one row."""
    role, content, lion_class, sender, recipient, channel, node_metadata, embedding, _, _ = draft
    names = {"sender": sender, "recipient": recipient, "channel": channel, "role": role}
    row, node_metadata = texts_in(node_metadata, names)
    row["id"] = id
    row["created_at"] = created_at
    row["node_metadata"] = optional_json_in(node_metadata)
    row["content"] = json_in(content)
    row["embedding"] = None if embedding is None else tx.dialect.embedding_in(embedding)
    row["lion_class"] = SEEDED_IDS.get(lion_class) or class_id(tx, lion_class)
    return row


def insert(tx: Tx, row: dict[str, Any]) -> bool:
    """Store a message unless its id is there already; whether it was new."""
    return tx.run(INSERT_NEW_MESSAGE, row) == 1


def replace(tx: Tx, row: dict[str, Any]) -> None:
    """Overwrite a message that is there (R29)."""
    tx.run(REPLACE_MESSAGE, row)


READ_ROW = """
    SELECT created_at, node_metadata, content, embedding, sender, recipient, channel, role, lion_class
      FROM messages WHERE id = :id
"""
ROW_COLUMNS = (
    "created_at", "node_metadata", "content", "embedding", "sender", "recipient", "channel", "role", "lion_class",
)  # fmt: skip


def is_stored(tx: Tx, row: dict[str, Any]) -> bool:
    """Whether a message is there exactly as it is. Of one with an embedding that is not asked: it is written again."""
    found = tx.one(READ_ROW, id=row["id"])
    return row["embedding"] is None and found is not None and tuple(found) == tuple(row[name] for name in ROW_COLUMNS)


def insert_many(tx: Tx, rows: Iterable[dict[str, Any]]) -> None:
    """Store messages all at once, leaving those that are there already as they are."""
    tx.many(INSERT_NEW_MESSAGE, rows)


MESSAGE_COLUMNS = """
    message.id, message.created_at, message.role, message.content, type.lion_class, message.sender, message.recipient,
    message.channel, message.node_metadata, message.embedding
"""  # in the order to_message takes them
FIND_MESSAGE = f"""
    SELECT {MESSAGE_COLUMNS}
      FROM messages AS message
      JOIN message_types AS type ON type.type_id = message.lion_class
     WHERE message.id = :id
"""


def find(tx: Tx, message_id: str) -> Message | None:
    row = tx.one(FIND_MESSAGE, id=message_id)
    return None if row is None else to_message(tx, row)


def to_message(tx: Tx, row: Row, position: int | None = None) -> Message:
    return Message(
        id=row[0],
        created_at=row[1],
        role=row[2],
        content=json_out(row[3]),
        lion_class=row[4],
        sender=row[5],
        recipient=row[6],
        channel=row[7],
        node_metadata=json_out(row[8]),
        embedding=None if row[9] is None else tx.dialect.embedding_out(row[9]),
        position=position,
    )


def size_of_message(tx: Tx) -> str:
    """SQL for how many bytes of JSON a message has, about; it is told without reading them."""
    content, metadata = (tx.dialect.json_size.format(f"message.{name}") for name in ("content", "node_metadata"))
    return f"{content} + COALESCE({metadata}, 0)"


def fitting(sizes: Iterable[int], *, limit: int, budget: int) -> int:
    """How many of a page's messages are read at once; `limit` if all of them are."""
    total = 0
    for number, size in enumerate(sizes):
        total += size
        if number and total > budget:
            return number
    return limit


READ_EMBEDDINGS = (
    "SELECT id, embedding FROM messages WHERE embedding IS NOT NULL AND id > :after ORDER BY id LIMIT :limit"
)
READ_NEAREST = """
    SELECT id, {distance} AS distance
      FROM messages
     WHERE embedding IS NOT NULL AND {same_size}
     ORDER BY distance, id
     LIMIT :limit
"""


def nearest_ids(tx: Tx, vector: Sequence[float], *, limit: int) -> list[tuple[str, float]] | None:
    """Ids and cosine distances of the nearest embeddings, where the database itself can compute them."""
    distance = tx.dialect.nearest(tx.connection)
    if distance is None:
        return None
    sql = READ_NEAREST.format(distance=distance, same_size=tx.dialect.same_size)
    stored = tx.dialect.embedding_in(vector)
    return [(row[0], row[1]) for row in tx.all(sql, vector=stored, limit=limit)]


def list_embeddings(tx: Tx, *, after: str, limit: int) -> list[tuple[str, tuple[float, ...]]]:
    """Embeddings in the order of their ids, a page at a time."""
    rows = tx.all(READ_EMBEDDINGS, after=after, limit=limit)
    return [(row[0], tx.dialect.embedding_out(row[1])) for row in rows]
