"""Importing the SDK is cheap: what it does not need at once is loaded where it is used."""

import subprocess
import sys

import pytest

HEAVY = ("apsw", "psycopg", "sqlite3", "fastapi", "pydantic", "asyncio", "concurrent.futures", "ctypes")


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    """The modules that `import lionstudio` loads."""
    ask = "import sys; old = set(sys.modules); import lionstudio; print(*sys.modules.keys() - old)"
    return set(subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split())


def test_the_question_is_answered(loaded):
    assert "lionstudio" in loaded


@pytest.mark.parametrize("name", HEAVY)
def test_importing_the_sdk_loads_nothing_heavy(loaded, name):
    assert name not in loaded
