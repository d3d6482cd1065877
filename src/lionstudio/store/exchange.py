"""Messages between sessions (R8): who was sent what, numbered in the order of commits."""

from typing import Any

from lionstudio.domain.conversation import Message
from lionstudio.store.messages import MESSAGE_COLUMNS, to_message
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

READ_EXCHANGE = """
    SELECT {columns}, box.seq
      FROM exchange AS box
      JOIN messages AS message ON message.id = box.message_id
      JOIN message_types AS type ON type.type_id = message.lion_class
     WHERE {box} = :name AND box.seq > :after {channel}
     ORDER BY box.seq
     LIMIT :limit
"""
BOXES = {
    (box, by_channel): READ_EXCHANGE.format(
        columns=MESSAGE_COLUMNS, box=f"box.{box}", channel="AND box.channel = :channel" if by_channel else ""
    )
    for box in ("recipient", "sender")
    for by_channel in (False, True)
}


def list_exchanged(tx: Tx, box: str, name: str, *, channel: str | None, after: int, limit: int) -> list[Message]:
    """What was delivered to (`recipient`) or sent by (`sender`) a name, in the order of commits."""
    params: dict[str, Any] = {"name": text_in(name), "after": after, "limit": limit}
    if channel is not None:
        params["channel"] = text_in(channel)
    rows = tx.all(BOXES[box, channel is not None], **params)
    return [to_message(tx, row, row[10]) for row in rows]
