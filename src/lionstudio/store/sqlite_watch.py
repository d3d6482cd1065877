"""Seeing that another process has committed to an SQLite file."""

import os
import select
import threading
import time
from collections.abc import Callable

from lionstudio import machine
from lionstudio.domain.errors import DatabaseGone
from lionstudio.store.sqlite_connection import SqliteConnection

# The file event comes when the log is written, a moment before the commit can be seen: a third of the wake-ups would
# find nothing. So look again a few times after each event, and once a second whatever happens.
LOOK_AGAIN_AFTER = (0.001, 0.005, 0.020, 0.050)
LOOK_AT_LEAST_EVERY = 1.0


class SqliteWatch:
    """Wakes on a write to the log, and knows by `data_version` whether anything was committed."""

    def __init__(self, path: str, connect: Callable[[], SqliteConnection]) -> None:
        self._path = path
        self._connect = connect
        self._connection: SqliteConnection | None = None
        self._folder: machine.FolderWatch | None = None
        self._inherited: list[object] = []  # what belongs to the parent of a fork: never used and never closed
        self._lock = threading.Lock()  # around the connection, never while waiting for the file
        self._open_folder()
        self._seen = self._version()

    def wait(self, timeout: float) -> bool:
        give_up = time.monotonic() + timeout
        looks: list[float] = []  # when to look again, soonest first
        while not self._changed():
            now = time.monotonic()
            if now >= give_up:
                return False
            pause = min((looks[0] if looks else now + LOOK_AT_LEAST_EVERY) - now, give_up - now)
            if self._written(max(pause, 0.0)):
                now = time.monotonic()
                looks = [now + after for after in LOOK_AGAIN_AFTER]
            elif looks:
                looks.pop(0)
        return True

    def pause(self) -> None:
        self._lock.acquire()
        self._let_go()

    def resume(self) -> None:
        if self._pid != os.getpid():
            self._lock = threading.Lock()
            self._inherited += [self._folder, self._connection]
            self._connection = None
            self._open_folder()
        else:
            self._lock.release()

    def close(self) -> None:
        with self._lock:
            self._let_go()
        if self._folder is not None:
            self._folder.close()
            self._folder = None

    def _open_folder(self) -> None:
        self._pid = os.getpid()
        folder = os.path.dirname(self._path) or "."
        try:
            self._folder = machine.watch_folder(folder)
        except OSError as error:
            raise DatabaseGone(f"The folder {folder} of the database cannot be watched ({error.strerror}).") from error
        self._poll = select.poll()
        if self._folder is not None:
            self._poll.register(self._folder.fileno(), select.POLLIN)

    def _written(self, seconds: float) -> bool:
        """Sleep until our file is written, at most so long."""
        if self._folder is None:  # no file events on this system: look often instead
            time.sleep(min(seconds, LOOK_AGAIN_AFTER[-1]))
            return False
        if not self._poll.poll(seconds * 1000):
            return False
        # An empty name says that events were lost.
        return any(not name or name.startswith(os.path.basename(self._path)) for name in self._folder.read())

    def _changed(self) -> bool:
        version = self._version()
        if version == self._seen:
            return False
        self._seen = version
        return True

    def _version(self) -> tuple[SqliteConnection, int]:
        """What changes with every commit of someone else; the numbers of two connections say nothing together."""
        with self._lock:
            if self._connection is not None and self._connection.is_outdated:
                self._let_go()
            if self._connection is None:
                self._connection = self._connect()
            return self._connection, int(self._connection.all("PRAGMA data_version", {})[0][0])

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
