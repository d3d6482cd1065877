"""Opening an SQLite file with our settings, wherever it lies: a place that may only be read, a disk without room."""

from __future__ import annotations

import errno

import apsw

from lionstudio.store.sqlite_file import can_make_files_beside, find_moment

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from lionstudio.store.sqlite_file import FileMoment

    Opened = tuple[apsw.Connection, FileMoment | None, bool]

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
STATEMENTS = 48  # prepared and kept by a connection; apsw looks through them one by one, so more made an append slower
PRAGMAS = """
    PRAGMA busy_timeout = 5000;
    PRAGMA foreign_keys = ON;
    PRAGMA synchronous = {synchronous};
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_size = -{cache};
"""
# Ids in no order, as imports bring them, touch most pages of an index in one transaction; what does not fit into the
# writer's cache is written and read several times. Only what is used is taken.
WRITER_CACHE, READER_CACHE = 32_000, 16_000  # KiB


def open_raw(path: str, flags: int, *, writing: bool, synchronous: str) -> Opened:
    """Open it; with the moment in which, if SQLite will not see that others write it, and whether that is for want of
    room. Raises apsw.Error, and DatabaseReadOnly for a log that cannot be used."""
    pragmas = PRAGMAS.format(synchronous=synchronous, cache=WRITER_CACHE if writing else READER_CACHE)
    raw = apsw.Connection(path, flags=flags, statementcachesize=STATEMENTS)
    lacks_room = False
    try:
        if not can_make_files_beside(path):
            raw.pragma("schema_version")  # the files that it needs may be there already
        # Fetched, because apsw stops a script at its first row until someone asks for the next.
        raw.execute(pragmas).fetchall()
        return raw, None, lacks_room
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError):
        lacks_room = raw.system_errno in NO_ROOM
        raw.close()
        if not lacks_room and can_make_files_beside(path):
            raise
    from lionstudio.store.sqlite_places import open_unwritten  # few databases are in such a place

    moment = find_moment(path)
    raw = open_unwritten(path, statements=STATEMENTS, lacks_room=lacks_room)
    raw.execute(pragmas).fetchall()
    return raw, moment, lacks_room
