"""From a location to an open database."""

from __future__ import annotations

import errno
import os
import stat

from lionstudio.domain.errors import UnusablePlace
from lionstudio.store.database import Database, require_whole

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from lionstudio.store.dialect import Dialect

POSTGRES_SCHEMES = ("postgresql://", "postgres://")
PORTS = range(1, 65_536)
NO_FILE_EVER = (errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)


def is_postgres(location: str) -> bool:
    return location.startswith(POSTGRES_SCHEMES)


def open_database(
    location: str, *, create: bool = True, synchronous: str = "NORMAL", backups: str | None = None
) -> Database:
    """Open the database at a path or `postgresql://` URL, upgraded, and created if it may be; raises Unavailable."""
    dialect: Dialect
    if is_postgres(location):
        dialect = _server(location)
    else:
        from lionstudio.store.sqlite import SqliteDialect

        path = os.path.expanduser(location)
        _require_file(path)
        require_whole(path)
        dialect = SqliteDialect(path, synchronous=synchronous, backups=backups)
    dialect.prepare(create=create)
    return Database(dialect)


def _server(url: str) -> Dialect:
    """The server at an address; raises UnusablePlace for one that makes no sense, without repeating its password."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    from lionstudio.store.postgres import PostgresDialect  # costs more than a whole `li` command may take

    try:
        ports = str(conninfo_to_dict(url).get("port") or PORTS[-1])
        if all(int(port) in PORTS for port in ports.split(",")):
            return PostgresDialect(url)
        why = "its port is no number from 1 to 65535"
    except (ProgrammingError, ValueError):
        why = "it cannot be understood"
    raise UnusablePlace(
        f"No database server can be at the address that was given: {why}.",
        hint="Write LIONAGI_DB=postgresql://user:password@host:5432/name, with %40 for @, %3A for : and %25 for % in "
        "names and passwords.",
    )


def _require_file(path: str) -> None:
    """Raise UnusablePlace where something else than a file or a folder is, or no file can be."""
    try:
        kind = os.stat(path).st_mode
    except OSError as error:
        if error.errno in NO_FILE_EVER:
            raise UnusablePlace(f"{path} cannot be a file ({error.strerror}).") from error
        return  # it is not there yet, or cannot be looked at now
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise UnusablePlace(f"{path} is a pipe, a socket or a device, not a database file.")
