"""Importing the SDK and opening a database are cheap: what they do not need is loaded where it is used."""

import subprocess
import sys

import pytest

HEAVY = ("apsw", "psycopg", "sqlite3", "fastapi", "pydantic", "asyncio", "concurrent.futures", "ctypes")
HEAVY_TO_OPEN = ("psycopg", "sqlite3", "asyncio", "typing", "re", "enum", "json", "pathlib", "dataclasses", "logging")
OPEN = "import lionstudio; lionstudio.open({db!r}).close()"
CREATE = "import lionstudio; lionstudio.record(db={db!r}).start().finish()"


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh process loads to run this."""
    ask = f"import sys; old = set(sys.modules); {code}; print(*sys.modules.keys() - old)"
    return set(subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split())


@pytest.fixture(scope="module")
def to_import() -> set[str]:
    return loaded_by("import lionstudio")


@pytest.fixture(scope="module")
def to_open(tmp_path_factory) -> set[str]:
    db = str(tmp_path_factory.mktemp("open") / "state.db")
    loaded_by(CREATE.format(db=db))
    return loaded_by(OPEN.format(db=db))


def test_the_question_is_answered(to_import, to_open):
    assert "lionstudio" in to_import
    assert "lionstudio.store.sqlite" in to_open


@pytest.mark.parametrize("name", HEAVY)
def test_importing_the_sdk_loads_nothing_heavy(to_import, name):
    assert name not in to_import


@pytest.mark.parametrize("name", HEAVY_TO_OPEN)
def test_opening_a_database_loads_nothing_that_only_its_use_needs(to_open, name):
    assert name not in to_open
