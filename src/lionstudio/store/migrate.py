"""Numbered migrations, forward only: the same number in both folders, never edited after release (D10)."""

from __future__ import annotations

import os

from lionstudio.domain.errors import DatabaseReadOnly, ForeignDatabase, NewerDatabase, NoDatabaseYet

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Sequence

    from lionstudio.store.dialect import Connection, Dialect

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")
APPLICATION = "lionstudio"

INSERT_META = "INSERT INTO schema_meta (key, value) VALUES (:key, :value)"
READ_VERSION = "SELECT value FROM schema_meta WHERE key = 'version'"
UPDATE_META = "UPDATE schema_meta SET value = :value WHERE key = :key"


class Migration:
    """One step of the schema."""

    def __init__(self, number: int, name: str, sql: str) -> None:
        self.number = number
        self.name = name
        self.sql = sql


def load_migrations(dialect: Dialect) -> list[Migration]:
    """Every step, in order."""
    return [Migration(number, name, _read(dialect, name)) for number, name in _numbered(dialect)]


def latest_number(dialect: Dialect) -> int:
    """The newest schema this version of the program knows."""
    return _numbered(dialect)[-1][0]


def _numbered(dialect: Dialect) -> list[tuple[int, str]]:
    names = os.listdir(os.path.join(FOLDER, dialect.name))
    return sorted((int(name[:4]), name) for name in names if name.endswith(".sql"))


def _read(dialect: Dialect, name: str) -> str:
    with open(os.path.join(FOLDER, dialect.name, name)) as file:
        return file.read()


def create_or_upgrade(dialect: Dialect, *, create: bool = True, steps: Sequence[Migration] | None = None) -> None:
    """Bring a database of ours to the newest schema, after a backup; a new one gets the whole schema, if it may."""
    latest = latest_number(dialect) if steps is None else steps[-1].number
    connection = dialect.connect(writing=True)
    try:
        found = require_known(read_version(connection, dialect), latest, location=dialect.location)
        if not found and not create:
            raise no_database(dialect.location)
        if found < latest:
            try:
                _upgrade(connection, dialect, load_migrations(dialect) if steps is None else steps)
            except DatabaseReadOnly as error:
                raise _cannot_upgrade(error, found, latest) from error
    finally:
        connection.close()


def no_database(location: str) -> NoDatabaseYet:
    return NoDatabaseYet(f"There is no database at {location} yet.")


def _cannot_upgrade(error: DatabaseReadOnly, found: int, latest: int) -> DatabaseReadOnly:
    return DatabaseReadOnly(
        f"{error.message} It has schema {found}, and this version reads {latest} only, so it has to be upgraded first.",
        hint="Copy it to a place that you may write to, and read the copy: --db COPY",
    )


def require_known(found: int, latest: int, *, location: str) -> int:
    """The number of the schema that was found; raises NewerDatabase if this version does not know it."""
    if found > latest:
        raise NewerDatabase(f"The database {location} has schema {found}; this version knows {latest} at most.")
    return found


def _upgrade(connection: Connection, dialect: Dialect, steps: Sequence[Migration]) -> None:
    """Back up and migrate while nobody else can write, or migrate: a backup must hold what was there before."""
    connection.begin_write()
    try:
        if dialect.migration_lock is not None:
            connection.all(dialect.migration_lock, {})
        found = require_known(read_version(connection, dialect), steps[-1].number, location=dialect.location)
        pending = [step for step in steps if step.number > found]  # none, if another process was first
        if found and pending:
            _back_up(dialect, found)
        for migration in pending:
            connection.script(migration.sql)
            if found == 0:
                connection.run(INSERT_META, {"key": "application", "value": APPLICATION})
                dialect.database_id = os.urandom(16).hex()
                connection.run(INSERT_META, {"key": "database_id", "value": dialect.database_id})
                connection.run(INSERT_META, {"key": "version", "value": str(migration.number)})
            connection.run(UPDATE_META, {"key": "version", "value": str(migration.number)})
            found = migration.number
        connection.commit()
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise


def _back_up(dialect: Dialect, version: int) -> None:
    reader = dialect.connect(writing=False)  # SQLite does not copy from a connection that is about to write
    try:
        dialect.back_up_before_upgrade(reader, version)
    finally:
        reader.close()


def read_version(connection: Connection, dialect: Dialect) -> int:
    """The number of the schema that is there, 0 for an empty database; raises ForeignDatabase for another program's."""
    tables = {str(name) for (name,) in connection.all(dialect.list_tables, {})}
    if not tables:
        return 0
    meta = read_meta(connection) if "schema_meta" in tables else {}
    if meta.get("application") != APPLICATION:
        raise ForeignDatabase(
            f"{dialect.location} holds the tables of another program and is never written.",
            hint="Choose an empty database with LIONAGI_DB.",
        )
    dialect.database_id = meta["database_id"]
    return int(meta["version"])


def read_meta(connection: Connection) -> dict[str, str]:
    """What the database says about itself."""
    return {str(key): str(value) for key, value in connection.all("SELECT key, value FROM schema_meta", {})}
