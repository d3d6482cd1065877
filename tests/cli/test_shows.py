"""li state import-shows: what it says and does, and what it refuses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.services import shows
from lionstudio.services.context import Context
from lionstudio.store import changes
from tests.cli.conftest import DRY_RUN, Li

FIXTURES = Path(__file__).parents[1] / "fixtures" / "shows"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> Path:
    folder = Path(shutil.copytree(FIXTURES, tmp_path / "shows"))
    monkeypatch.setenv("LIONAGI_SHOWS_ROOT", str(folder))
    return folder


def newest_seq(ctx: Context) -> int:
    with ctx.db.read() as tx:
        return changes.span(tx)[1]


def test_shows_come_in_and_are_counted(li: Li, root: Path, ctx: Context):
    answer = li("state", "import-shows")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "shows             1",
        "shows added       1",
        "plays             3",
        "plays added       3",
        "plays with a run  0",
    ]
    assert [play.status for play in shows.list_plays(ctx, "ledger")] == ["merged", "gate_failed", "pending"]


def test_programs_are_told_what_changed(li: Li, root: Path, ctx: Context):
    li("state", "import-shows")
    (root / "ledger" / "_ABORT").touch()
    (root / "ledger" / "docs" / "_meta.json").write_text('{"status": "blocked", "depends_on": ["api"]}')
    answer = li("state", "import-shows", str(root / "ledger"), "--json")
    assert answer.code == 0
    assert answer.objects == [
        {
            "shows": 1,
            "shows_added": 0,
            "shows_brought_up_to_date": 1,
            "plays": 3,
            "plays_added": 0,
            "plays_brought_up_to_date": 1,
            "plays_with_a_run": 0,
            "changes": [
                "ledger: status active -> aborted",
                "ledger / docs: status pending -> blocked, depends_on schema, api -> api",
            ],
            "problems": [],
        }
    ]


def test_a_second_time_is_no_news(li: Li, root: Path, ctx: Context):
    li("state", "import-shows")
    seq = newest_seq(ctx)
    answer = li("state", "import-shows")
    assert (answer.code, answer.err, newest_seq(ctx)) == (0, "Nothing is new.\n", seq)


def test_many_imports_at_once_store_everything_once(li: Li, root: Path, ctx: Context):
    for number in range(20):
        shutil.copytree(root / "ledger", root / f"ledger{number}")
    command = [sys.executable, "-m", "lionstudio", "state", "import-shows", "--json"]
    importers = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    answers = [importer.communicate() for importer in importers]
    assert [importer.returncode for importer in importers] == [0] * 4, answers
    told = [json.loads(out) for out, _ in answers]
    assert sum(one["shows_added"] for one in told) == 21
    assert sum(one["plays_added"] for one in told) == 63
    for show in shows.list_shows(ctx):
        for play in shows.list_plays(ctx, show.topic):
            assert len(shows.list_play_history(ctx, show.topic, play.name)) == 1


def test_a_dry_run_says_what_the_real_one_does_and_keeps_nothing(li: Li, root: Path, ctx: Context):
    dry = li("state", "import-shows", "--dry-run")
    assert dry.out.splitlines()[:4] == [
        "ledger: new",
        "ledger / schema: new",
        "ledger / api: new",
        "ledger / docs: new",
    ]
    assert dry.err == DRY_RUN
    assert shows.list_shows(ctx) == []
    assert li("state", "import-shows", "--dry-run", "--json").objects == li("state", "import-shows", "--json").objects
    (root / "ledger" / "api" / "_meta.json").write_text('{"status": "escalated"}')
    seq = newest_seq(ctx)
    dry = li("state", "import-shows", "--dry-run", "--json")
    assert newest_seq(ctx) == seq
    assert dry.objects == li("state", "import-shows", "--json").objects


@pytest.mark.no_database
def test_a_dry_run_makes_no_database(li: Li, root: Path, location: str):
    assert li("state", "import-shows", "--dry-run").code == 0
    assert li("runs", "ls").err.startswith("li: There is no database at ")


def test_problems_are_named_and_the_rest_comes_in(li: Li, root: Path, ctx: Context):
    (root / "ledger" / "api" / "_meta.json").write_text('{"status": "esc')
    answer = li("state", "import-shows")
    assert answer.code == 1
    assert answer.err.startswith(f"Problem: {root}/ledger/api/_meta.json: It is not JSON: ")
    assert len(shows.list_plays(ctx, "ledger")) == 3
    [told] = li("state", "import-shows", "--json").objects
    assert [problem["where"] for problem in told["problems"]] == [f"{root}/ledger/api/_meta.json"]


def test_hostile_names_are_printed_harmlessly(li: Li, root: Path):
    folder = root / "ledger" / "\x1b[2J"
    folder.mkdir()
    (folder / "_meta.json").write_text(json.dumps({"status": "\x1b[31m"}))
    for words in (("--dry-run",), ()):
        answer = li("state", "import-shows", *words)
        assert answer.code == 1
        assert "\x1b" not in answer.out + answer.err
        assert "\\x1b[31m" in answer.err


def test_no_folder_of_shows_says_what_to_type(li: Li, home: Path):
    answer = li("state", "import-shows")
    assert answer.code == 0
    assert "li state import-shows FOLDER" in answer.err


def test_an_empty_folder_says_what_a_show_is(li: Li, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    answer = li("state", "import-shows", str(tmp_path / "empty"))
    assert answer.code == 0
    assert "A show is a folder with a _show.md" in answer.err


def test_a_folder_that_is_not_there_is_refused(li: Li, tmp_path: Path):
    answer = li("state", "import-shows", str(tmp_path / "nowhere"))
    assert (answer.code, answer.out) == (1, "")
    assert "cannot be read (No such file or directory). Name the folder that holds the shows" in answer.err
