"""Connections for transactions that run side by side: reads, and writes where the database has many writers."""

from __future__ import annotations

import threading

from lionstudio.store.transaction import ConnectionLost, Tx

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from types import TracebackType

    from lionstudio.store.dialect import Connection, Dialect

IDLE_CONNECTIONS = 4  # kept for the next transaction
MOST_CONNECTIONS = 16  # of one kind at once: servers have few to give, and whoever comes later waits a moment


class OwnTransaction:
    """A read, or a write, on a connection of its own."""

    __slots__ = ("_connection", "_pool", "_tx")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __enter__(self) -> Tx:
        self._connection = self._pool.take()
        self._tx = Tx(self._connection, self._pool.dialect)
        return self._tx

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if error is None and self._pool.writing:
                self._tx.write_news()
                self._connection.commit()
        finally:
            self._pool.give_back(self._connection)


class Pool:
    """Connections for transactions that run side by side."""

    def __init__(self, dialect: Dialect, *, writing: bool, bulk: bool = False) -> None:
        self.dialect = dialect
        self.writing = writing
        self._bulk = bulk
        self._idle: list[Connection] = []
        self._users: list[int] = []  # threads that are inside, as often as they are
        self._state = threading.Condition()
        self._paused = False

    def take(self) -> Connection:
        with self._state:
            while self._paused or self._is_full():
                self._state.wait()
            self._users.append(threading.get_ident())
            connection = self._idle.pop() if self._idle else None
        try:
            if connection is not None:
                try:
                    self._begin(connection)
                    return connection
                except ConnectionLost:
                    connection.close()
            connection = self.dialect.connect(writing=self.writing)
            if self._bulk:
                connection.expect_bulk()
            self._begin(connection)
            return connection
        except BaseException:
            if connection is not None:
                connection.close()
            self._leave()
            raise

    def give_back(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except Exception:  # noqa: BLE001  a connection that cannot even roll back is of no use
            connection.close()
            self._leave()
            return
        self._leave(connection)

    def close(self) -> None:
        with self._state:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def pause(self, *, patience: float) -> bool:
        """Close every connection and keep everyone out until `resume`.

        False, with nothing changed, if this very thread is inside, or if others do not leave within the patience.
        """
        with self._state:
            if threading.get_ident() in self._users:
                return False
            self._paused = True
            if not self._state.wait_for(lambda: not self._users, patience):
                self._paused = False
                self._state.notify_all()
                return False
        self.close()
        return True

    def resume(self) -> None:
        with self._state:
            self._paused = False
            self._state.notify_all()

    def _is_full(self) -> bool:
        # A thread that is inside already must not wait for itself.
        return len(self._users) >= MOST_CONNECTIONS and threading.get_ident() not in self._users

    def _begin(self, connection: Connection) -> None:
        if self.writing:
            connection.begin_write()
        else:
            connection.begin_read()

    def _leave(self, connection: Connection | None = None) -> None:
        with self._state:
            self._users.remove(threading.get_ident())
            self._state.notify_all()
            if connection is None:
                return
            if len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()
