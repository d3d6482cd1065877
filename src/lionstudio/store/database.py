"""An open database: many readers at once, one writer, every transaction whole or not at all."""

import os
import threading
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lionstudio.domain.errors import DatabaseGone
from lionstudio.store.dialect import Connection, ConnectionLost, Dialect, Row, Watch
from lionstudio.store.texts import text_in

if TYPE_CHECKING:
    from lionstudio.domain.change import Topic

GROUP_LIMIT = 64  # use cases that may share one commit; bounds how long the first of them waits
IDLE_CONNECTIONS = 4  # kept for the next transaction
MOST_CONNECTIONS = 16  # of one kind at once: servers have few to give, and whoever comes later waits a moment

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

    def run(self, sql: str, **params: Any) -> int:
        """Execute one statement; the number of rows it changed."""
        return self._connection.run(sql, params)

    def many(self, sql: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Execute one statement for each row."""
        self._connection.many(sql, rows)

    @property
    def connection(self) -> Connection:
        """What is underneath, for the few statements that are not SQL on rows."""
        return self._connection

    def tell(self, topic: "Topic", entity_id: str, *, at: float, session_id: str | None = None) -> None:
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


class _Group:
    """Use cases that share one commit. `done` exists once somebody waits for it."""

    __slots__ = ("done", "error", "size")

    def __init__(self) -> None:
        self.size = 0
        self.done: threading.Event | None = None
        self.error: BaseException | None = None

    def finish(self, error: BaseException | None = None) -> None:
        self.error = error
        if self.done is not None:
            self.done.set()


class _Writer:
    """The one writing connection of this process, passed from use case to use case.

    A use case that finishes while others wait hands the open transaction on, and returns when the last of the group has
    committed. Whoever holds the turn always passes it on or commits, whatever happens to it in between.
    """

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._connection: Connection | None = None
        self._mutex = threading.Lock()
        self._queue: deque[threading.Lock] = deque()
        self._taken = False
        self._group: _Group | None = None
        self._holder: int | None = None

    def __enter__(self) -> Tx:
        self._take_turn()
        try:
            if self._group is None:
                connection = self._begin()
                self._group = _Group()
            else:
                connection = self._open()
                connection.savepoint()
            return Tx(connection, self._dialect)
        except BaseException as error:
            self._abandon(error)
            raise

    def succeed(self, tx: Tx) -> None:
        """End a use case that went well: returns when its rows are committed."""
        try:
            tx.write_news()
            group = self._group
            assert group is not None
            if group.size:
                self._open().release()
            with self._mutex:
                group.size += 1
                successor = self._queue.popleft() if self._queue and group.size < GROUP_LIMIT else None
                if successor is not None and group.done is None:
                    group.done = threading.Event()
        except BaseException as error:  # whatever interrupts this, the turn is passed on
            self.fail(error)
            raise
        if successor is None:
            self._commit(group)
        else:
            self._holder = None
            successor.release()
            assert group.done is not None
            group.done.wait()
        if group.error is not None:
            raise group.error

    def fail(self, error: BaseException) -> None:
        """End a use case that went wrong: its rows vanish, those of the others stay."""
        if self._group is None or self._group.size == 0:
            self._roll_back()
        elif self._connection is not None:
            with suppress(Exception):  # a lost connection or transaction is seen by _abandon
                self._connection.rollback_to_savepoint()
        self._abandon(error)

    def _abandon(self, error: BaseException) -> None:
        """Leave without having changed anything, keeping the promise to those who already did."""
        group = self._group
        if group is None:
            self._roll_back()  # perhaps it was interrupted just after it had begun
            self._pass_turn()
        elif self._connection is None or not self._connection.in_transaction:
            # Some errors (disk full, I/O) make the database drop the whole transaction, so the group has lost its rows.
            self._group = None
            self._roll_back()
            group.finish(error)
            self._pass_turn()
        else:
            with self._mutex:
                successor = self._queue.popleft() if self._queue else None
            if successor is None:
                self._commit(group)
            else:
                self._holder = None
                successor.release()

    def _commit(self, group: _Group) -> None:
        try:
            self._commit_group(group)
        finally:
            self._pass_turn()

    def _commit_group(self, group: _Group) -> None:
        self._group = None
        try:
            self._open().commit()
        except BaseException as error:  # noqa: BLE001  whoever waits for the group is told
            self._roll_back()
            group.finish(error)
        else:
            group.finish()

    def _begin(self) -> Connection:
        """Begin on the kept connection, or on a new one if that has died since (a server that was restarted)."""
        kept = self._connection
        if kept is not None:
            try:
                kept.begin_write()
                return kept
            except ConnectionLost:
                self._drop()
        connection = self._open()
        connection.begin_write()
        return connection

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = self._dialect.connect(writing=True)
        return self._connection

    def _roll_back(self) -> None:
        self._group = None
        if self._connection is None:
            return
        try:
            if self._connection.in_transaction:
                self._connection.rollback()
        except Exception:  # noqa: BLE001  a connection that cannot even roll back is of no use
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _take_turn(self) -> None:
        me = threading.get_ident()
        if self._holder == me:
            raise RuntimeError("A write inside a write would wait for itself; pass the transaction on instead.")
        with self._mutex:
            if not self._taken:
                self._taken = True
                self._holder = me
                return
            turn = threading.Lock()
            turn.acquire()
            self._queue.append(turn)
        try:
            turn.acquire()
        except BaseException as error:  # Ctrl-C while waiting
            with self._mutex:
                if turn in self._queue:
                    self._queue.remove(turn)
                    raise
            self._abandon(error)
            raise
        self._holder = me

    def _pass_turn(self) -> None:
        self._holder = None
        with self._mutex:
            if self._queue:
                self._queue.popleft().release()
            else:
                self._taken = False

    def _take_turn_alone(self) -> None:
        """Take the turn with no transaction open: whoever handed one on waits for its commit."""
        self._take_turn()
        if self._group is not None:
            self._commit_group(self._group)

    def close(self) -> None:
        self._take_turn_alone()
        self._drop()
        self._pass_turn()

    def pause(self) -> bool:
        """Close the connection and keep everyone out until `resume`; False if this very thread is inside a write."""
        if self._holder == threading.get_ident():
            return False
        self._take_turn_alone()
        self._drop()
        return True

    def resume(self) -> None:
        self._pass_turn()


class _SharedWrite:
    """A write on the one connection that all writers of this process share."""

    __slots__ = ("_tx", "_writer")

    def __init__(self, writer: _Writer) -> None:
        self._writer = writer

    def __enter__(self) -> Tx:
        self._tx = self._writer.__enter__()
        return self._tx

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is None:
            self._writer.succeed(self._tx)
        else:
            self._writer.fail(error)


class _OwnTransaction:
    """A read, or a write, on a connection of its own."""

    __slots__ = ("_connection", "_pool", "_tx")

    def __init__(self, pool: "_Pool") -> None:
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


class _Pool:
    """Connections for transactions that run side by side."""

    def __init__(self, dialect: Dialect, *, writing: bool) -> None:
        self.dialect = dialect
        self.writing = writing
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
            self._begin(connection)
            return connection
        except BaseException:
            self._leave()
            raise

    def give_back(self, connection: Connection) -> None:
        try:
            if connection.in_transaction:
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

    def pause(self) -> bool:
        """Close every connection and keep everyone out until `resume`; False if this very thread is inside."""
        with self._state:
            if threading.get_ident() in self._users:
                return False
            self._paused = True
            while self._users:
                self._state.wait()
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


class Database:
    """A database that is ours, at the schema this version knows. Safe to use from any thread."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._watches: weakref.WeakSet[Watch] = weakref.WeakSet()
        self._begin_in_this_process()
        _OPEN.add(self)

    def _begin_in_this_process(self) -> None:
        self._readers = _Pool(self.dialect, writing=False)
        self._writers = _Pool(self.dialect, writing=True)
        self._writer = _Writer(self.dialect)

    def read(self) -> AbstractContextManager[Tx]:
        """A transaction that sees one moment, changes nothing and never waits for a writer."""
        return _OwnTransaction(self._readers)

    def write(self) -> AbstractContextManager[Tx]:
        """A transaction that is committed when the block ends, or undone if it raises.

        Where the database has one writer at a time, concurrent writes of one process share a commit; each is in its
        own savepoint and fails alone.
        """
        return _SharedWrite(self._writer) if self.dialect.one_writer else _OwnTransaction(self._writers)

    def watch(self) -> Watch:
        """Something that wakes when anyone has committed."""
        watch = self.dialect.watch()
        self._watches.add(watch)
        return watch

    def close(self) -> None:
        self._writer.close()
        self._writers.close()
        self._readers.close()

    def _before_fork(self) -> bool:
        """Close everything: the child of a fork must not inherit an open SQLite file or a server's socket."""
        paused: list[_Writer | _Pool] = []
        for part in (self._writer, self._writers, self._readers):
            if not part.pause():
                for earlier in paused:
                    earlier.resume()
                return False
            paused.append(part)
        for watch in list(self._watches):
            watch.pause()
        return True

    def _after_fork(self) -> None:
        for watch in list(self._watches):
            watch.resume()
        for part in (self._readers, self._writers, self._writer):
            part.resume()

    def _after_fork_in_child(self, *, clean: bool) -> None:
        # Locks may have been held by threads that are not here, and closing an inherited connection harms the parent.
        _INHERITED.extend((self._writer, self._writers, self._readers))
        if not clean:
            self.dialect = Unusable(self.dialect)
        self._begin_in_this_process()
        for watch in list(self._watches):
            watch.resume()


class Unusable:
    """Stands for a database that a fork tore out of an open transaction: nothing can be done with it any more."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dialect, name)

    def connect(self, *, writing: bool) -> Connection:
        raise DatabaseGone(
            "This process was forked in the middle of a transaction, so it cannot use that database.",
            hint="Fork outside of any use of the database.",
        )


_OPEN: "weakref.WeakSet[Database]" = weakref.WeakSet()
_PAUSED: list[Database] = []
_INHERITED: list[object] = []


def _before_fork() -> None:
    _PAUSED[:] = [database for database in list(_OPEN) if database._before_fork()]


def _after_fork_in_parent() -> None:
    while _PAUSED:
        _PAUSED.pop()._after_fork()


def _after_fork_in_child() -> None:
    for database in list(_OPEN):
        database._after_fork_in_child(clean=database in _PAUSED)
    _PAUSED.clear()


# SQLite keeps its file locks per process in memory that a fork copies: a child that opens the same file then believes
# it holds locks which only its parent has. With everything closed at the moment of the fork both start clean.
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
