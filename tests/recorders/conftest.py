"""What the recorder's tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lionstudio.recorders import keeper
from lionstudio.services.context import Context, open_context
from lionstudio.settings import load_settings
from lionstudio.store import sqlite_turn


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
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorders of this process give up early."""
    for name in ("BUSY_PATIENCE", "LEAVING_PATIENCE", "RETRY_EVERY"):
        monkeypatch.setattr(keeper, name, 0.1)
    monkeypatch.setattr(sqlite_turn, "BUSY_SECONDS", 0.05)
