"""Our names for what SQLite reports."""

from __future__ import annotations

import apsw

from lionstudio.domain.errors import (
    AlreadyExists,
    AppendOnly,
    Conflict,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseFull,
    DatabaseGone,
    DatabaseReadOnly,
    Error,
    InvalidRequest,
    Unavailable,
)
from lionstudio.store import sqlite_turn


def explain(error: apsw.Error, location: str) -> Error:
    """Our name for what SQLite reports."""
    extended = getattr(error, "extendedresult", 0)
    match getattr(error, "result", 0) & 0xFF:
        case apsw.SQLITE_BUSY | apsw.SQLITE_LOCKED | apsw.SQLITE_PROTOCOL:
            return busy(location)
        case apsw.SQLITE_FULL:
            return no_room(location)
        case apsw.SQLITE_READONLY | apsw.SQLITE_PERM | apsw.SQLITE_AUTH:
            return read_only(location)
        case apsw.SQLITE_CANTOPEN:
            return _closed(error, location)
        case apsw.SQLITE_IOERR:
            return _gone(error, location)
        case apsw.SQLITE_CORRUPT | apsw.SQLITE_NOTADB:
            return DatabaseDamaged(f"The file {location} is not a whole database ({error}).")
        case apsw.SQLITE_TOOBIG:
            return InvalidRequest("A single value may not be larger than 1 GB.")
        case apsw.SQLITE_CONSTRAINT:
            if extended == apsw.SQLITE_CONSTRAINT_TRIGGER:
                return AppendOnly(f"{error}: history is kept as it was written.")
            if extended in (apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_UNIQUE):
                return AlreadyExists(f"This is there already ({error}).")
            return Conflict(f"The database refuses this ({error}).")
    return Unavailable(f"The database {location} reports: {error}")


def no_room(location: str) -> DatabaseFull:
    return DatabaseFull(f"There is no room left for the database {location}.")


def busy(location: str) -> DatabaseBusy:
    return DatabaseBusy(f"The database {location} was busy for more than {sqlite_turn.BUSY_SECONDS:.0f} s.")


def _closed(error: apsw.Error, location: str) -> Error:
    from lionstudio.store.sqlite_places import is_unreadable, why_read_only  # only when something is wrong

    if is_unreadable(location):
        return DatabaseGone(f"You may not read the file {location}.", hint="Check who owns it, and its mode.")
    why = why_read_only(location)
    if why is not None:
        return DatabaseReadOnly(f"The database {location} can neither be opened nor made: {why}.")
    return _gone(error, location)


def _gone(error: apsw.Error, location: str) -> DatabaseGone:
    return DatabaseGone(f"The database {location} cannot be read or written ({error}).")


def read_only(location: str) -> DatabaseReadOnly:
    """Our name for a place that may only be read."""
    from lionstudio.store.sqlite_places import why_read_only

    why = why_read_only(location)
    return DatabaseReadOnly(f"The database {location} may only be read{f': {why}' if why else ''}.")
