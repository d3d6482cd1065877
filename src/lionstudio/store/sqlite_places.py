"""Places that may only be read, a full disk too: why that is so, and what SQLite can still open there.

To read a file that is written through a log, SQLite makes two files beside it. Where it cannot, a file without a log
can be read as it is, for nobody has begun to write it.
"""

from __future__ import annotations

import os

import apsw

from lionstudio.domain.errors import DatabaseReadOnly
from lionstudio.store.sqlite_file import FOR_US, can_make_files_beside, log_size, unwritten


def why_read_only(path: str) -> str | None:
    """Why a database cannot be written, as the second half of a sentence; None if its place allows it."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            return f"{folder} is on a file system that is mounted read-only"
    except OSError:  # no such folder, which is another matter
        return None
    if not can_make_files_beside(path):
        return f"you may not write to the folder {folder}"
    if os.path.exists(path) and not os.access(path, os.W_OK, **FOR_US):
        return f"you may not write to the file {path}"
    return None


def is_unreadable(path: str) -> bool:
    return os.path.exists(path) and not os.access(path, os.R_OK, **FOR_US)


def open_unwritten(path: str, *, statements: int = 0, lacks_room: bool = False) -> apsw.Connection:
    """Open a file beside which nothing can be made; raises DatabaseReadOnly if it has a log that cannot be used."""
    if log_size(path):
        from shlex import quote

        file, log = quote(path), quote(f"{path}-wal")
        why = "there is no room left on that disk" if lacks_room else why_read_only(path)
        where = "on another disk" if lacks_room else "that you may write to"
        raise DatabaseReadOnly(
            f"The newest changes of the database {path} are in its log, {path}-wal. SQLite cannot use that without "
            f"making a file beside it, but {why or 'that is not possible there'}.",
            hint=f"Copy both into a folder {where}, and read the copy: cp {file} {log} FOLDER, then "
            f"--db FOLDER/{quote(os.path.basename(path))}",
        )
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(unwritten(path), flags=flags, statementcachesize=statements)
