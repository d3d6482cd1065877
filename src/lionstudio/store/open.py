"""From a location to an open database."""

from __future__ import annotations

import os

from lionstudio.store.database import Database

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from lionstudio.store.dialect import Dialect

POSTGRES_SCHEMES = ("postgresql://", "postgres://")


def is_postgres(location: str) -> bool:
    return location.startswith(POSTGRES_SCHEMES)


def open_database(location: str, *, synchronous: str = "NORMAL", backups: str | None = None) -> Database:
    """Open the database at a path or `postgresql://` URL, creating or upgrading it; raises Unavailable."""
    dialect: Dialect
    if is_postgres(location):
        from lionstudio.store.postgres import PostgresDialect  # costs more than a whole `li` command may take

        dialect = PostgresDialect(location)
    else:
        from lionstudio.store.sqlite import SqliteDialect

        dialect = SqliteDialect(os.path.expanduser(location), synchronous=synchronous, backups=backups)
    dialect.prepare()
    return Database(dialect)
