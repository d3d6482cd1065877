"""How much room the folders of Lion Studio take on the disk (R161)."""

import os
import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from lionstudio.services.context import Context
from lionstudio.settings import Settings

MOST_ENTRIES = 500_000  # files and folders, of all folders together
SECONDS_ALL = 5.0
BLOCK = 512  # bytes; what st_blocks counts
LOG_SUFFIXES = ("", "-wal", "-shm")  # SQLite keeps what is new in files beside the database


class FolderSize(NamedTuple):
    """What one folder takes."""

    name: str  # as ADR-0024 calls it: state_db, runs_dir …
    path: str | None  # None for a database that is on a server
    size_bytes: int | None  # None where it is not on this disk
    complete: bool = True  # False: it is at least this much


class DiskUsage(NamedTuple):
    """What all folders take, and what is left."""

    folders: tuple[FolderSize, ...]
    total_bytes: int
    complete: bool
    free_bytes: int | None  # for this user, on the disk that holds the home folder
    capacity_bytes: int | None


def measure_disk(ctx: Context, settings: Settings, *, seconds: float = SECONDS_ALL) -> DiskUsage:
    """Add up what each folder takes. A folder within another one is counted once, as itself."""
    folders = {
        "runs_dir": str(settings.home / "runs"),
        "teams_dir": settings.teams_folder,
        "shows_dir": settings.shows_folder,
        "worktrees_dir": settings.worktrees_folder,
        "agents_dir": str(settings.home / "agents"),
        "playbooks_dir": str(settings.home / "playbooks"),
        "spool_dir": str(settings.spool),
        "backups_dir": str(settings.backups),
    }
    walk = _Walk(folders.values(), give_up=time.monotonic() + seconds)
    sizes = (_state_db(ctx), *(walk.measure(name, folder) for name, folder in folders.items()))
    free, capacity = _room(settings.home_folder)
    return DiskUsage(
        folders=sizes,
        total_bytes=sum(size.size_bytes or 0 for size in sizes),
        complete=all(size.complete for size in sizes),
        free_bytes=free,
        capacity_bytes=capacity,
    )


def _state_db(ctx: Context) -> FolderSize:
    if ctx.db.dialect.name != "sqlite":
        return FolderSize("state_db", None, None)
    path, size = ctx.db.dialect.location, 0
    for suffix in LOG_SUFFIXES:
        try:
            size += os.stat(path + suffix).st_blocks * BLOCK
        except OSError:
            continue
    return FolderSize("state_db", path, size)


class _Walk:
    """Sizes of trees, as du(1) counts: links are not followed, a file with two names counts once, one disk only."""

    def __init__(self, roots: Collection[str], *, give_up: float) -> None:
        self._roots = {os.path.realpath(root) for root in roots}
        self._give_up = give_up
        self._left = MOST_ENTRIES
        self._seen: set[tuple[int, int]] = set()  # files with several names

    def measure(self, name: str, root: str) -> FolderSize:
        place = os.path.realpath(root)
        try:
            top = os.stat(place)
        except FileNotFoundError:
            return FolderSize(name, root, 0)
        except OSError:
            return FolderSize(name, root, 0, complete=False)
        size, complete, folders = top.st_blocks * BLOCK, True, [place]
        while folders:
            if self._left <= 0 or time.monotonic() > self._give_up:
                return FolderSize(name, root, size, complete=False)
            try:
                entries = _entries(folders.pop(), self._left + 1)
            except OSError:
                complete = False
                continue
            if len(entries) > self._left:  # one more than may be counted tells that something is left out
                complete = False
            entries = entries[: self._left]
            self._left -= len(entries)
            for path, status, is_folder in entries:
                if status.st_dev != top.st_dev or (is_folder and path in self._roots):
                    continue
                size += self._size(status, is_folder)
                if is_folder:
                    folders.append(path)
        return FolderSize(name, root, size, complete)

    def _size(self, status: os.stat_result, is_folder: bool) -> int:
        if not is_folder and status.st_nlink > 1:
            identity = (status.st_dev, status.st_ino)
            if identity in self._seen:
                return 0
            self._seen.add(identity)
        return status.st_blocks * BLOCK


def _entries(folder: str, at_most: int) -> Sequence[tuple[str, os.stat_result, bool]]:
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
                found.append((entry.path, status, entry.is_dir(follow_symlinks=False)))
            except OSError:  # it vanished while we looked
                continue
            if len(found) >= at_most:
                break
    return found


def _room(folder: str) -> tuple[int | None, int | None]:
    """What is free and what there is, on the disk of a folder that need not exist yet."""
    while True:
        try:
            disk = os.statvfs(folder)
        except FileNotFoundError:
            parent = os.path.dirname(folder)
            if parent == folder:
                return None, None
            folder = parent
        except OSError:
            return None, None
        else:
            return disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
