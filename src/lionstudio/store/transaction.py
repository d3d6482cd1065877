"""One transaction: its statements, and the news it writes last."""

from __future__ import annotations

from lionstudio.domain.errors import DatabaseBusy, DatabaseGone
from lionstudio.store.texts import text_in

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from lionstudio.domain.change import Topic
    from lionstudio.store.dialect import Connection, Dialect, Row


class Undone(DatabaseBusy):
    """The database undid this transaction so that another one could go on; the same again may work."""


class ConnectionLost(DatabaseGone):
    """This connection is dead; a new one may work."""


INSERT_NEWS = """
    INSERT INTO changes (at, topic, entity_id, session_id) VALUES (:at, :topic, :entity_id, :session_id)
"""
INSERT_DELIVERY = """
    INSERT INTO exchange (message_id, sender, recipient, channel) VALUES (:message_id, :sender, :recipient, :channel)
    ON CONFLICT (message_id) DO NOTHING
"""


class Tx:
    """One transaction. Statements take `:name` parameters and give back plain rows."""

    __slots__ = ("_connection", "_deliveries", "_news", "dialect")

    def __init__(self, connection: Connection, dialect: Dialect) -> None:
        self._connection = connection
        self.dialect = dialect
        self._news: list[Mapping[str, Any]] = []
        self._deliveries: list[Mapping[str, Any]] = []

    def all(self, sql: str, **params: Any) -> list[Row]:
        return self._connection.all(sql, params)

    def one(self, sql: str, **params: Any) -> Row | None:
        rows = self._connection.all(sql, params)
        return rows[0] if rows else None

    def value(self, sql: str, **params: Any) -> Any:
        """The first column of the first row, or None."""
        rows = self._connection.all(sql, params)
        return rows[0][0] if rows else None

    def run(self, sql: str, row: Mapping[str, Any] | None = None, /, **params: Any) -> int:
        """Execute one statement with named parameters, or with those of a row; the number of rows it changed."""
        return self._connection.run(sql, row or params)

    def many(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Execute one statement for each row."""
        self._connection.many(sql, rows)

    @property
    def connection(self) -> Connection:
        """What is underneath, for the few statements that are not SQL on rows."""
        return self._connection

    def tell(self, topic: Topic, entity_id: str, *, at: float, session_id: str | None = None) -> None:
        """Say in the news that something changed. Written as the last statement of the use case."""
        self._news.append({"at": at, "topic": topic.value, "entity_id": entity_id, "session_id": session_id})

    def deliver(self, message_id: str, *, sender: str | None, recipient: str, channel: str | None) -> None:
        """Put a message into its recipient's inbox, numbered in the order of commits."""
        names = {"sender": text_in(sender), "recipient": text_in(recipient), "channel": text_in(channel)}
        self._deliveries.append({"message_id": message_id, **names})

    def write_news(self) -> None:
        """Write what was told. Numbers are given under the news lock, so they become visible in their order."""
        if not self._news and not self._deliveries:
            return
        if self.dialect.news_lock is not None:
            self._connection.all(self.dialect.news_lock, {})
        for delivery in self._deliveries:
            self._connection.run(INSERT_DELIVERY, delivery)
        if len(self._news) == 1:
            self._connection.run(INSERT_NEWS, self._news[0])
        elif self._news:
            self._connection.many(INSERT_NEWS, self._news)
        if self.dialect.news_call is not None:
            self._connection.all(self.dialect.news_call, {})
