"""From a real `~/.lionagi` folder to a database that answers, with four commands; twice, with the same result."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[1] / "fixtures"
THEIRS = "theirs.db"
MAKE_THEIRS = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())"
TEAM = {
    "id": "t-1",
    "name": "crew",
    "members": ["ana", "bot"],
    "messages": [{"id": "m-1", "from": "ana", "to": ["all"], "content": "hello", "timestamp": "2026-11-15T19:42:39"}],
}


@pytest.fixture
def lionagi_home(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a user of lionagi has: run folders, shows, a team and a database of its own."""
    shutil.copytree(FIXTURES / "run_folders", home / "runs")
    shutil.copytree(FIXTURES / "shows", tmp_path / "shows")
    (home / "teams").mkdir()
    (home / "teams" / "t-1.json").write_text(json.dumps(TEAM))
    sql = FIXTURES / "lionagi_db" / "lionagi-0.36.0.sql"
    subprocess.run([sys.executable, "-c", MAKE_THEIRS, home / THEIRS, sql], check=True)
    monkeypatch.setenv("LIONAGI_SHOWS_ROOT", str(tmp_path / "shows"))
    return home


def li(*words: str, code: int = 0) -> list[str]:
    asked = subprocess.run(["li", *words], capture_output=True, text=True, env=_environment())
    assert asked.returncode == code, asked.stderr
    return asked.stdout.splitlines()


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def bring_everything_in(home: Path) -> None:
    li("state", "import")
    li("state", "import-shows")
    li("state", "import-teams")
    li("state", "import-db", str(home / THEIRS))


def everything() -> list[str]:
    """The whole database as lines, without the moment each row was last touched."""
    return li("state", "export")


def test_four_commands_bring_everything_in_and_a_second_time_change_nothing(
    lionagi_home: Path, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_DB", location)
    bring_everything_in(lionagi_home)
    first = everything()
    bring_everything_in(lionagi_home)
    assert everything() == first
    runs = [json.loads(line) for line in li("runs", "ls", "--json")]
    assert runs
    for run in runs:
        assert json.loads(li("runs", "show", run["id"], "--json")[0])["id"] == run["id"]
    assert [json.loads(line)["name"] for line in li("team", "list", "--json")] == ["crew"]
    li("state", "verify")
    li("state", "stats")
