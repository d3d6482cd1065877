"""An SQLite file as such: what its header says, which file it is, and how to name one that nobody writes."""

from __future__ import annotations

import os
import struct

import apsw

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    FileIdentity = tuple[int, int]
    FileMoment = tuple[int, int, int]

APPLICATION_ID = 0x4C695374  # "LiSt", in every file that is ours
# Places in the header, see the SQLite file format.
HEADER_SIZE = 100
MAGIC = b"SQLite format 3\x00"
WRITE_VERSION_AT, WAL_VERSION = 18, 2
APPLICATION_ID_AT = 68
FOR_US = {"effective_ids": os.access in os.supports_effective_ids}  # what may be done, asked as who does it


def read_header(path: str) -> bytes:
    """The first bytes of a file, which may be fewer.

    Read through SQLite, though it is a plain read: closing any other descriptor of the file would make the operating
    system drop all of this process's locks on it, and the next process that closes the database would delete the log
    under our feet.
    """
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        whole, header = connection.read("main", 0, 0, HEADER_SIZE)
    finally:
        connection.close()
    return header if whole else header.rstrip(b"\0")


def is_database(header: bytes) -> bool:
    return len(header) >= HEADER_SIZE and header.startswith(MAGIC)


def is_ours(header: bytes) -> bool:
    """Whether a database is one of Lion Studio."""
    return struct.unpack_from(">I", header, APPLICATION_ID_AT) == (APPLICATION_ID,)


def has_log(header: bytes) -> bool:
    """Whether a database is written through a write-ahead log."""
    return header[WRITE_VERSION_AT] == WAL_VERSION


def find_identity(path: str) -> FileIdentity | None:
    """Which file is at a path now; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def find_moment(path: str) -> FileMoment | None:
    """What changes when somebody writes a file, or begins to; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, log_size(path)


def can_make_files_beside(path: str) -> bool:
    """Whether SQLite can make its files beside a database."""
    return os.access(os.path.dirname(os.path.abspath(path)), os.W_OK | os.X_OK, **FOR_US)


def log_size(path: str) -> int:
    """How large the write-ahead log of a database is."""
    try:
        return os.stat(f"{path}-wal").st_size
    except OSError:
        return 0


def unwritten(path: str) -> str:
    """The name by which SQLite opens, with SQLITE_OPEN_URI, a file that nobody writes, without a log or a lock."""
    name = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file://{name}?immutable=1"
