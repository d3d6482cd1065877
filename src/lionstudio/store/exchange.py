"""Messages between sessions (R8): who was sent what, numbered in the order of commits."""

from collections.abc import Mapping

from lionstudio.domain.conversation import Message
from lionstudio.store.messages import MESSAGE_COLUMNS, to_message
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

READ_EXCHANGE = """
    SELECT {columns}, box.seq
      FROM exchange AS box
      JOIN messages AS message ON message.id = box.message_id
      JOIN message_types AS type ON type.type_id = message.lion_class
     WHERE {conditions} AND box.seq > :after
     ORDER BY box.seq
     LIMIT :limit
"""


def list_exchanged(tx: Tx, box: str, name: str, *, channel: str | None, after: int, limit: int) -> list[Message]:
    """What was delivered to (`recipient`) or sent by (`sender`) a name, in the order of commits."""
    return list_where(tx, {box: name, "channel": channel}, after=after, limit=limit)


def list_where(tx: Tx, wanted: Mapping[str, str | None], *, after: int, limit: int) -> list[Message]:
    """What was exchanged with this recipient, sender and channel, of which at least one is named."""
    names = {column: text_in(name) for column, name in wanted.items() if name is not None}
    conditions = " AND ".join(f"box.{column} = :{column}" for column in names)
    sql = READ_EXCHANGE.format(columns=MESSAGE_COLUMNS, conditions=conditions)
    return [to_message(tx, row, row[10]) for row in tx.all(sql, after=after, limit=limit, **names)]
