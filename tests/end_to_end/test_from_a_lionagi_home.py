"""From a real `~/.lionagi` folder to a database that answers, with four commands; twice, with the same result."""

import json
import os
import shutil
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import apsw
import pytest

from lionstudio.cli.operator import operator
from tests.cli.conftest import run_li

FIXTURES = Path(__file__).parents[1] / "fixtures"
THEIRS = "theirs.db"
MAKE_THEIRS = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())"
SESSION = "9a317728-4df6-4520-80ad-e45d7d382755"
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


COMMANDS = (("state", "import"), ("state", "import-shows"), ("state", "import-teams"), ("state", "import-db", THEIRS))


def bring_everything_in(home: Path) -> None:
    for words in COMMANDS:
        li(*_placed(words, home))


def _placed(words: tuple[str, ...], home: Path) -> list[str]:
    return [str(home / word) if word == THEIRS else word for word in words]


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


def test_the_order_of_the_four_commands_does_not_matter(
    lionagi_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_play = "UPDATE sessions SET show_topic = 'ledger', show_play_name = 'api'"
    apsw.Connection(str(lionagi_home / THEIRS)).execute(name_play)
    results = {}
    for number, order in enumerate(permutations(COMMANDS)):
        monkeypatch.setenv("LIONAGI_DB", str(tmp_path / f"{number}.db"))
        for words in order:
            assert run_li(*_placed(words, lionagi_home)).code == 0
        lines = [_without_moments(json.loads(line)) for line in run_li("state", "export").out.splitlines()]
        results[" ".join(words[1] for words in order)] = sorted(json.dumps(line, sort_keys=True) for line in lines)
    first = next(iter(results.values()))
    assert f'"session_id": "{SESSION}"' in next(line for line in first if '"name": "api"' in line)
    assert [order for order, result in results.items() if result != first] == []


def _without_moments(line: dict[str, Any]) -> dict[str, Any]:
    """A row of an export without ids that were made here, and without when and by whom it was brought in.

    A message stays as the first source told it: reading all of them again would make every import as slow as the first.
    """
    if line["type"] == "message":
        return {name: line[name] for name in ("id", "created_at", "role", "sender", "recipient")}
    made_here = {"id", "show_id", "updated_at"} if line["type"] in ("show", "play") else {"progression_id"}
    told = [step for step in line.get("history", ()) if step["actor"] not in ("import", operator())]
    return {**{name: value for name, value in line.items() if name not in made_here}, "history": told}
