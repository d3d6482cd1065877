"""Looking after an SQLite file: its own figures, checkpoints of its log, and giving unused room back."""

import math
import os

import apsw

from lionstudio.domain.errors import DatabaseFull
from lionstudio.store.dialect import Connection
from lionstudio.store.figures import Checkpointed, Figures
from lionstudio.store.sqlite_connection import SqliteConnection
from lionstudio.store.sqlite_file import log_size

PRAGMAS = ("journal_mode", "wal_autocheckpoint", "busy_timeout", "synchronous", "foreign_keys")  # R37
SYNCHRONOUS = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}
# A checkpoint that waits for readers keeps every writer waiting with it.
CHECKPOINT_PATIENCE = 1.0  # seconds
# Not to prune, which leaves the file as large as it is and makes a vacuum the more wanted.
OTHER_TEMPORARY_FOLDER = (
    ", or let half of the work be done on another disk: SQLITE_TMPDIR=/another/disk li state vacuum"
)
OTHER_DISK = (
    " by removing other things. Or move to a larger disk: li state backup /another/disk/state.db, then "
    "li state vacuum --db /another/disk/state.db, and name that one in LIONAGI_DB from then on."
)
TEMPORARY_FOLDERS = ("/var/tmp", "/usr/tmp", "/tmp")  # where SQLite looks, after two variables


def read_figures(connection: Connection, path: str) -> Figures:
    """Sizes of the files, and the settings of this connection, which are those of all of ours."""

    def pragma(name: str) -> str | int:
        value: str | int = connection.all(f"PRAGMA {name}", {})[0][0]
        return value

    settings = {name: pragma(name) for name in PRAGMAS}
    settings["synchronous"] = SYNCHRONOUS.get(int(settings["synchronous"]), settings["synchronous"])
    free_pages = int(pragma("freelist_count"))
    return Figures(
        engine="SQLite",
        version=apsw.sqlite_lib_version(),
        size=os.stat(path).st_size,
        log_size=log_size(path),
        page_count=int(pragma("page_count")),
        free_pages=free_pages,
        free_size=free_pages * int(pragma("page_size")),
        settings=settings,
    )


def checkpoint(connection: SqliteConnection, path: str, mode: str) -> Checkpointed:
    """Move the log into the file. Only a passive checkpoint waits for nobody and lets others write meanwhile."""
    before = log_size(path)
    if mode == "PASSIVE":
        waiting = _pages_left(connection, "NOOP")[1]
        busy, left = _pages_left(connection, mode)
    else:
        with connection.alone(patience=CHECKPOINT_PATIENCE):
            waiting = _pages_left(connection, "NOOP")[1]
            busy, left = _pages_left(connection, mode)
    return Checkpointed(busy, max(0, waiting - left), left, before, log_size(path))


def read_log_pending(connection: Connection) -> int:
    """Bytes of pages that are in the log only; moves none of them."""
    return _pages_left(connection, "NOOP")[1] * int(connection.all("PRAGMA page_size", {})[0][0])


def _pages_left(connection: Connection, mode: str) -> tuple[bool, int]:
    """Whether a checkpoint was in somebody's way, and how many pages are still in the log only."""
    busy, in_log, moved = connection.all(f"PRAGMA wal_checkpoint({mode})", {})[0]
    return bool(busy), max(0, in_log - moved)


def vacuum(connection: SqliteConnection, path: str) -> None:
    """Write the file anew without unused room; other writers wait, readers read on. Raises DatabaseFull before."""
    with connection.alone():
        _require_room(connection, path)
        # In memory, which is right for small sorts, a copy of a large database would take all there is.
        connection.all("PRAGMA temp_store = FILE", {})
        connection.all("VACUUM", {})
        # The new file is in the log now; where a reader is in the way, a later checkpoint shortens the file.
        with connection.patience(CHECKPOINT_PATIENCE):
            _pages_left(connection, "TRUNCATE")


def _require_room(connection: Connection, path: str) -> None:
    """Raise DatabaseFull unless the copy fits twice: as a temporary file, and in the log on its way back."""
    pages, free, page_size = (
        int(connection.all(f"PRAGMA {name}", {})[0][0]) for name in ("page_count", "freelist_count", "page_size")
    )
    needed = (pages - free) * page_size
    own, temporary = os.path.dirname(os.path.abspath(path)), _temporary_folder()
    on_one_disk = os.stat(own).st_dev == os.stat(temporary).st_dev
    size = needed * (2 if on_one_disk else 1)
    for folder in (own, temporary):
        room = os.statvfs(folder)
        available = room.f_bavail * room.f_frsize
        if available < size:
            half_would_fit = available >= needed if on_one_disk else folder == temporary
            raise DatabaseFull(
                f"A vacuum needs about {_megabytes(size)} in {folder} for a while, and there are "
                f"{available // 1_000_000:,} MB.",
                hint=f"Free {_megabytes(size - available)} there"
                + (OTHER_TEMPORARY_FOLDER if half_would_fit else OTHER_DISK),
            )


def _megabytes(size: int) -> str:
    return f"{math.ceil(size / 1e6):,} MB"


def _temporary_folder() -> str:
    named = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    folders = (folder for folder in (*named, *TEMPORARY_FOLDERS) if folder)
    return next((folder for folder in folders if os.path.isdir(folder) and os.access(folder, os.W_OK)), ".")
