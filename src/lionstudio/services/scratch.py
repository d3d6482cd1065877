"""Folders for work that is not done yet: for ourselves alone, gone afterwards, and not left behind by a kill either.

Whoever works in one holds a lock on it as long as it lives, so whoever gets the lock knows that its owner is gone.
"""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress

PREFIX = ".lionstudio-"


class ScratchFolder:
    """A new folder in another one; what dead processes left there is removed first. Raises OSError."""

    def __init__(self, parent: str) -> None:
        remove_left(parent)
        self.path, self._lock = _make_locked(parent)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def _make_locked(parent: str) -> tuple[str, int]:
    """Make a folder and lock it, making sure that nobody took it for a left one between the two."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        with suppress(FileNotFoundError):
            folder = _open(path)
            with suppress(OSError):  # a file system without locks, where nobody removes what others left
                fcntl.flock(folder, fcntl.LOCK_EX)
            if os.path.exists(path):
                return path, folder
            os.close(folder)


def remove_left(parent: str) -> None:
    """Remove what dead processes left in a folder, as far as that is possible."""
    try:
        names = os.listdir(parent)
    except OSError:  # which may be written all the same
        return
    for name in names:
        if name.startswith(PREFIX):
            with suppress(OSError):  # somebody else's, or just gone
                _remove_if_left(os.path.join(parent, name))


def _remove_if_left(path: str) -> None:
    folder = _open(path)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(folder)


def _open(path: str) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
