"""Messages between sessions (R8): who was sent what, numbered in the order of commits."""

from collections.abc import Mapping

from lionstudio.domain.conversation import Message
from lionstudio.store.dialect import Row
from lionstudio.store.messages import MESSAGE_COLUMNS, fitting, size_of_message, to_message
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
    return [to_message(tx, row, row[10]) for row in _read(tx, MESSAGE_COLUMNS, wanted, after=after, limit=limit)]


def count_fitting(tx: Tx, wanted: Mapping[str, str | None], *, after: int, limit: int, budget: int) -> int:
    """How many of them a page of so many bytes takes: one at least, `limit` at most."""
    rows = _read(tx, size_of_message(tx), wanted, after=after, limit=limit)
    return fitting((row[0] for row in rows), limit=limit, budget=budget)


def _read(tx: Tx, columns: str, wanted: Mapping[str, str | None], *, after: int, limit: int) -> list[Row]:
    names = {column: text_in(name) for column, name in wanted.items() if name is not None}
    conditions = " AND ".join(f"box.{column} = :{column}" for column in names)
    return tx.all(READ_EXCHANGE.format(columns=columns, conditions=conditions), after=after, limit=limit, **names)
