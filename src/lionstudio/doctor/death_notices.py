"""Being told when one of many processes ends, by a single wait."""

import os
import selectors
import threading
from contextlib import suppress
from typing import Final

from lionstudio import machine

WAKE: Final = 0  # no process that anyone may watch has this pid


class DeathNotices:
    """Many processes and one wait. Only `wake` may be called from another thread."""

    def __init__(self, *, at_most: int) -> None:
        self._at_most = at_most
        self._fds: dict[int, int] = {}  # by pid
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()  # nobody may ring a bell whose number a later file has
        self._closed = False
        self._ear, self._bell = os.pipe()
        for end in (self._ear, self._bell):
            os.set_blocking(end, False)
        self._selector.register(self._ear, selectors.EVENT_READ, WAKE)

    def __len__(self) -> int:
        return len(self._fds)

    def add(self, pid: int) -> bool:
        """Watch a process; False where that is not possible or too many are watched. Raises ProcessLookupError.

        The pid may belong to another process by now: look at it after this call.
        """
        if pid in self._fds:
            return True
        if len(self._fds) >= self._at_most:
            return False
        fd = machine.watch_death(pid)
        if fd is None:
            return False
        try:
            self._selector.register(fd, selectors.EVENT_READ, pid)
        except OSError:  # the kernel watches no more for this user
            os.close(fd)
            return False
        self._fds[pid] = fd
        return True

    def remove(self, pid: int) -> None:
        """Watch it no more; calling it again does no harm."""
        fd = self._fds.pop(pid, None)
        if fd is not None:
            self._selector.unregister(fd)
            os.close(fd)

    def wait(self, seconds: float) -> list[int]:
        """The pids of watched processes that have ended; nothing after so many seconds, or when woken.

        They are told again until they are removed.
        """
        ended = []
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.data == WAKE:
                with suppress(BlockingIOError):
                    os.read(self._ear, 4096)
            else:
                ended.append(key.data)
        return ended

    def wake(self) -> None:
        """End the wait; safe from any thread, and after `close`."""
        with self._lock, suppress(BlockingIOError):  # it is full of calls that were not yet heard
            if not self._closed:
                os.write(self._bell, b"!")

    def close(self) -> None:
        """Watch nothing any more; calling it again does no harm."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        for pid in list(self._fds):
            self.remove(pid)
        self._selector.close()
        os.close(self._ear)
        os.close(self._bell)
