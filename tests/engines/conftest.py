"""What the tests of engines share: a run to record into, and a look at what became of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lionstudio.recorders.recorder import Run, record
from lionstudio.services.context import Context, open_context
from lionstudio.settings import load_settings


@pytest.fixture
def ctx(location: str, home: Path) -> Iterator[Context]:
    """A look into the database that the test records to, once for each engine."""
    opened = open_context(load_settings(db=location))
    yield opened
    opened.db.close()


@pytest.fixture
def sqlite_ctx(sqlite_path: Path, home: Path) -> Iterator[Context]:
    """The same where only SQLite matters."""
    opened = open_context(load_settings(db=str(sqlite_path)))
    yield opened
    opened.db.close()


@pytest.fixture
def run(ctx: Context, location: str) -> Iterator[Run]:
    """A run that is open, on each database."""
    with record("at work", db=location) as opened:
        yield opened


@pytest.fixture
def sqlite_run(sqlite_ctx: Context, sqlite_path: Path) -> Iterator[Run]:
    """The same where only SQLite matters."""
    with record("at work", db=str(sqlite_path)) as opened:
        yield opened
