"""`li state import` and `li state import-db`, as people and programs meet them."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from lionstudio.services import sessions
from lionstudio.services.context import Context
from tests.cli.conftest import DRY_RUN, Li, run_li

FIXTURES = Path(__file__).parents[1] / "fixtures"
RUNS = FIXTURES / "run_folders"
SESSION = "9a317728-4df6-4520-80ad-e45d7d382755"


@pytest.fixture
def lionagi_db(tmp_path: Path) -> Path:
    path = tmp_path / "lionagi.db"
    connection = apsw.Connection(str(path))
    connection.execute((FIXTURES / "lionagi_db" / "first-schema.sql").read_text()).fetchall()
    connection.close()
    return path


def put_runs(home: Path) -> Path:
    """Run folders in their usual place."""
    shutil.copytree(RUNS, home / "runs")
    return home / "runs"


def test_run_folders_come_in_from_their_usual_place(li: Li, home: Path) -> None:
    put_runs(home)
    answer = li("state", "import")
    assert (answer.code, answer.err) == (0, "")
    assert [line.split("  ")[0] for line in answer.out.splitlines()] == ["run folders", "runs added", "messages added"]
    assert [line.split()[-1] for line in answer.out.splitlines()] == ["1", "1", "5"]


def test_a_second_time_nothing_is_new_and_that_is_said(li: Li, home: Path) -> None:
    put_runs(home)
    li("state", "import")
    again = li("state", "import", "--json")
    assert (again.code, again.err) == (0, "Nothing is new.\n")
    assert again.objects == [
        {"run_folders": 1, "runs_added": 0, "runs_brought_up_to_date": 0, "messages_added": 0, "problems": []}
    ]


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["really", "dry run"])
def test_where_nothing_is_new_a_report_ends_so_even_after_a_problem(li: Li, home: Path, more: tuple[str, ...]) -> None:
    (put_runs(home) / "half").mkdir()
    assert li("state", "import").code == 1
    again = li("state", "import", *more)
    assert again.code == 1
    problem, end = again.err.splitlines()
    assert (problem, end) == (f"Left out: {home}/runs/half/run.json: The file is missing.", "Nothing is new.")


def test_what_was_changed_about_teams_is_news(li: Li, home: Path) -> None:
    team = {"id": "t-1", "name": "crew", "members": ["ana", "bot"], "messages": []}
    (home / "teams").mkdir(parents=True)
    (home / "teams" / "t-1.json").write_text(json.dumps(team))
    li("state", "import-teams")
    (home / "teams" / "t-1.json").write_text(json.dumps({**team, "members": ["ana", "bot", "cleo"]}))
    assert li("state", "import-teams", "--dry-run").err == DRY_RUN
    assert li("state", "import-teams").err == ""
    assert li("state", "import-teams", "--dry-run").err == "Nothing is new.\n"


def test_another_folder_may_be_named(li: Li, ctx: Context) -> None:
    assert li("state", "import", str(RUNS)).code == 0
    assert sessions.get_session(ctx, SESSION).message_count == 5


@pytest.mark.no_database
def test_a_dry_run_says_what_would_be_and_makes_no_database(li: Li, home: Path, location: str) -> None:
    put_runs(home)
    dry = li("state", "import", "--dry-run", "--json")
    assert (dry.code, dry.objects[0]["runs_added"], dry.objects[0]["messages_added"]) == (0, 1, 5)
    assert dry.err == DRY_RUN
    assert "://" in location or not Path(location).exists()
    assert li("state", "ls").code == 1
    assert li("state", "import", "--json").objects == dry.objects
    assert li("state", "import", "--dry-run", "--json").objects == li("state", "import", "--json").objects


def test_what_is_left_out_is_named_and_the_exit_code_says_so(li: Li, home: Path, ctx: Context) -> None:
    runs = put_runs(home)
    (runs / "a\x1b[31mred").mkdir()
    answer = li("state", "import")
    assert answer.code == 1
    assert answer.err == f"Left out: {runs}/a\\x1b[31mred/run.json: The file is missing.\n"
    assert sessions.get_session(ctx, SESSION).message_count == 5
    problems = li("state", "import", "--json").objects[0]["problems"]
    assert problems == [{"where": f"{runs}/a\x1b[31mred/run.json", "message": "The file is missing."}]


def test_where_there_are_no_run_folders_one_is_told_what_to_type(li: Li, home: Path, location: str) -> None:
    answer = li("state", "import")
    assert (answer.code, answer.out) == (0, "run folders  0\nruns added   0\n")
    assert answer.err == f"There is no folder {home}/runs. If run folders are elsewhere: li state import FOLDER\n"
    assert "://" in location or not Path(location).exists()


def test_a_folder_that_is_not_there_is_refused(li: Li, tmp_path: Path) -> None:
    answer = li("state", "import", str(tmp_path / "gone"))
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"li: The folder {tmp_path}/gone cannot be read (No such file or directory).")


def test_a_lionagi_database_comes_in(li: Li, lionagi_db: Path) -> None:
    answer = li("state", "import-db", str(lionagi_db))
    assert (answer.code, answer.err) == (0, "")
    counts = dict(line.rsplit(maxsplit=1) for line in answer.out.splitlines())
    assert counts == {
        "runs": "1", "runs added": "1", "messages added": "5", "shows added": "1", "plays added": "2",
        "teams added": "1", "team messages added": "1", "steps of histories added": "0",
    }  # fmt: skip
    again = li("state", "import-db", str(lionagi_db), "--json")
    assert (again.code, again.err) == (0, "Nothing is new.\n")
    assert {count for name, count in again.objects[0].items() if name not in ("runs", "problems")} == {0}


def test_a_dry_run_of_a_database_says_what_would_be(li: Li, lionagi_db: Path) -> None:
    dry = li("state", "import-db", str(lionagi_db), "--dry-run", "--json")
    assert (dry.code, dry.err) == (0, DRY_RUN)
    assert li("state", "import-db", str(lionagi_db), "--json").objects == dry.objects


@pytest.mark.parametrize(
    ("file", "code", "complaint"),
    [
        ("gone.db", 1, "li: There is no file {path} (No such file or directory). Name the state.db of lionagi."),
        ("folder", 2, "li: {path} is a folder. Name the file in it: state.db"),
        ("text.db", 1, "li: {path} is not an SQLite database. Name the state.db of lionagi."),
        ("other.db", 2, "li: {path} has none of the tables of a lionagi database. Name the state.db of lionagi."),
    ],
)
def test_what_is_no_lionagi_database_is_refused_in_one_line(
    li: Li, tmp_path: Path, file: str, code: int, complaint: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.db").write_text("not a database")
    connection = apsw.Connection(str(tmp_path / "other.db"))
    connection.execute("CREATE TABLE recipes (id)")
    connection.close()
    answer = li("state", "import-db", str(tmp_path / file))
    assert (answer.code, answer.out) == (code, "")
    assert answer.err == complaint.format(path=tmp_path / file) + "\n"


def test_ones_own_database_is_refused_kindly(home: Path) -> None:
    run_li("state", "import", str(RUNS))
    answer = run_li("state", "import-db", str(home / "state.db"))
    assert (answer.code, answer.out) == (2, "")
    assert f"is a database of Lion Studio already. To look into it: li state ls --db {home}/state.db" in answer.err


def test_the_database_of_lionagi_in_our_usual_place_is_left_alone(home: Path, lionagi_db: Path) -> None:
    home.mkdir()
    shutil.copy(lionagi_db, home / "state.db")
    before = (home / "state.db").read_bytes()
    answer = run_li("state", "import-db", str(home / "state.db"), "--json")
    assert (answer.code, answer.objects[0]["runs_added"]) == (0, 1)
    assert (home / "lionstudio.db").exists()
    assert (home / "state.db").read_bytes() == before


def test_progress_is_shown_on_a_terminal(home: Path, tmp_path: Path) -> None:
    for number in range(3):
        folder = tmp_path / "runs" / f"r{number}"
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json.dumps({"run_id": f"r{number}"}))
    seen, shown = pty.openpty()
    command = [sys.executable, "-m", "lionstudio.cli.main", "state", "import", str(tmp_path / "runs")]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=shown, env=os.environ)
    os.close(shown)
    with os.fdopen(seen, "rb") as terminal:
        assert (done.returncode, b"Run folders: 0" in terminal.read1()) == (0, True)
