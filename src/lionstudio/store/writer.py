"""Group commit: the writes of one process share a connection, and those that wait share a commit."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress

from lionstudio.domain.errors import DatabaseBusy
from lionstudio.store import sqlite_turn
from lionstudio.store.transaction import ConnectionLost, Tx

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from types import TracebackType

    from lionstudio.store.dialect import Connection, Dialect

GROUP_LIMIT = 64  # use cases that may share one commit; bounds how long the first of them waits


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


class Writer:
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
        waited = self._take_turn(patience=sqlite_turn.BUSY_SECONDS)
        try:
            if self._group is None:
                connection = self._begin(waited)
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

    def _begin(self, waited: float) -> Connection:
        """Begin on the kept connection, or on a new one if that has died since (a server that was restarted)."""
        kept = self._connection
        if kept is not None:
            try:
                kept.begin_write(waited=waited)
                return kept
            except ConnectionLost:
                self._drop()
        connection = self._open()
        connection.begin_write(waited=waited)
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
            self._connection.rollback()
        except Exception:  # noqa: BLE001  a connection that cannot even roll back is of no use
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _take_turn(self, *, patience: float | None = None) -> float:
        """Wait in line, and say for how long; raises DatabaseBusy when that was more than `patience`."""
        me = threading.get_ident()
        if self._holder == me:
            raise RuntimeError("A write inside a write would wait for itself; pass the transaction on instead.")
        with self._mutex:
            if not self._taken:
                self._taken = True
                self._holder = me
                return 0.0
            turn = threading.Lock()
            turn.acquire()
            self._queue.append(turn)
        began = time.monotonic()
        try:
            if not turn.acquire(timeout=-1 if patience is None else patience):
                self._leave_line(turn)
        except BaseException as error:  # Ctrl-C while waiting
            with self._mutex:
                if turn in self._queue:
                    self._queue.remove(turn)
                    raise
            self._abandon(error)
            raise
        self._holder = me
        return time.monotonic() - began

    def _leave_line(self, turn: threading.Lock) -> None:
        """Wait no longer; raises DatabaseBusy, unless the turn came in this very moment."""
        with self._mutex:
            if turn not in self._queue:
                return
        from lionstudio.store.sqlite_errors import busy  # only when something is wrong

        raise busy(self._dialect.location)

    def _pass_turn(self) -> None:
        self._holder = None
        with self._mutex:
            if self._queue:
                self._queue.popleft().release()
            else:
                self._taken = False

    def _take_turn_alone(self, *, patience: float | None = None) -> None:
        """Take the turn with no transaction open: whoever handed one on waits for its commit."""
        self._take_turn(patience=patience)
        if self._group is not None:
            self._commit_group(self._group)

    def close(self) -> None:
        self._take_turn_alone()
        self._drop()
        self._pass_turn()

    def pause(self, *, patience: float) -> bool:
        """Close the connection and keep everyone out until `resume`.

        False, with nothing changed, if this very thread is inside a write, or if no turn comes within the patience.
        """
        if self._holder == threading.get_ident():
            return False
        try:
            self._take_turn_alone(patience=patience)
        except DatabaseBusy:
            return False
        self._drop()
        return True

    def resume(self) -> None:
        self._pass_turn()


class SharedWrite:
    """A write on the one connection that all writers of this process share."""

    __slots__ = ("_tx", "_writer")

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __enter__(self) -> Tx:
        self._tx = self._writer.__enter__()
        return self._tx

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is None:
            self._writer.succeed(self._tx)
        else:
            self._writer.fail(error)
