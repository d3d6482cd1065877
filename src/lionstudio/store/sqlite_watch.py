"""Seeing that another process has committed to an SQLite file."""

import select
import time
from pathlib import Path

from lionstudio import machine
from lionstudio.store.dialect import Connection

# The file event comes when the log is written, a moment before the commit can be seen: a third of the wake-ups would
# find nothing. So look again a few times after each event, and once a second whatever happens.
LOOK_AGAIN_AFTER = (0.001, 0.005, 0.020, 0.050)
LOOK_AT_LEAST_EVERY = 1.0


class SqliteWatch:
    """Wakes on a write to the log, and knows by `data_version` whether anything was committed."""

    def __init__(self, path: Path, connection: Connection) -> None:
        self._connection = connection
        self._name = path.name
        self._folder = machine.watch_folder(path.parent)
        self._poll = select.poll()
        if self._folder is not None:
            self._poll.register(self._folder.fileno(), select.POLLIN)
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

    def close(self) -> None:
        self._connection.close()
        if self._folder is not None:
            self._folder.close()

    def _written(self, seconds: float) -> bool:
        """Sleep until our file is written, at most so long."""
        if self._folder is None:  # no file events on this system: look often instead
            time.sleep(min(seconds, LOOK_AGAIN_AFTER[-1]))
            return False
        if not self._poll.poll(seconds * 1000):
            return False
        # An empty name says that events were lost.
        return any(not name or name.startswith(self._name) for name in self._folder.read())

    def _changed(self) -> bool:
        version = self._version()
        if version == self._seen:
            return False
        self._seen = version
        return True

    def _version(self) -> int:
        return int(self._connection.all("PRAGMA data_version", {})[0][0])
