"""`li state export`, `backup` and `restore`."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest

from lionstudio.services.admin import list_events
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session
from lionstudio.store.open import open_database
from tests.cli.conftest import Li, Terminal, run_li
from tests.cli.test_read_only_places import mounted_read_only
from tests.factories import start_run
from tests.services.archive_world import fill


@pytest.fixture
def full(ctx: Context) -> Context:
    fill(ctx)
    return ctx


@contextmanager
def opened(path: Path) -> Iterator[Context]:
    db = open_database(str(path), create=False)
    yield Context(db)
    db.close()


def types_of(lines: list[dict[str, object]]) -> list[object]:
    return [line["type"] for line in lines]


def test_export_writes_everything_as_lines(li: Li, full: Context) -> None:
    answer = li("state", "export")
    lines = answer.objects
    assert answer.code == 0
    assert sorted(set(map(str, types_of(lines)))) == [
        "admin_event", "branch", "message", "play", "session", "show", "team", "team_message",
    ]  # fmt: skip
    assert [line["id"] for line in lines if line["type"] == "session"] == ["run-2", "run-3", "run-1"]
    assert [line["id"] for line in lines if line["type"] == "message" and line["session_id"] is None] == ["sent"]
    first = next(line for line in lines if line["id"] == "run-1")
    assert first["usage"]["claude/opus"]["input_tokens"] == 900
    assert [step["to_status"] for step in first["history"]] == ["running", "completed"]


def test_export_writes_the_runs_that_were_named(li: Li, full: Context) -> None:
    lines = li("state", "export", "first").objects
    assert types_of(lines) == ["session", "branch", "message", "message", "message"]


def test_export_writes_a_file_whole(li: Li, full: Context, tmp_path: Path) -> None:
    target = tmp_path / "out" / "all.jsonl"
    target.parent.mkdir()
    answer = li("state", "export", "--output", str(target))
    assert (answer.code, answer.out) == (0, "")
    assert target.read_text() == li("state", "export").out
    assert f"{len(target.read_text().splitlines())} lines written to {target}." in answer.err
    assert os.listdir(target.parent) == ["all.jsonl"]


def test_export_overwrites_nothing_and_says_what_to_do(li: Li, full: Context, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    for more in ([], ["--format", "sqlite"], ["--format", "sqlite", "run-1"]):
        answer = li("state", "export", *more, "--output", str(tmp_path / "mine"))
        assert answer.code == 1
        assert "is there already. Choose another name, or move that file away first." in answer.err
    assert (tmp_path / "mine").read_text() == "precious"


def test_export_writes_everything_as_a_database(li: Li, full: Context, tmp_path: Path) -> None:
    answer = li("state", "export", "--format", "sqlite", "--output", str(tmp_path / "all.db"))
    assert answer.code == 0
    with opened(tmp_path / "all.db") as copy:
        assert get_session(copy, "run-2") == get_session(full, "run-2")


def test_export_writes_some_runs_as_a_database_with_those_they_were_forked_from(
    li: Li, full: Context, tmp_path: Path
) -> None:
    answer = li("state", "export", "second", "--format", "sqlite", "--output", str(tmp_path / "some.db"))
    assert answer.code == 0
    assert "1 run, and 1 more run from which forks were made, written" in answer.err
    with opened(tmp_path / "some.db") as copy:
        assert get_session(copy, "run-2") == get_session(full, "run-2")
        assert [message.id for message in list_messages(copy, "run-2", branch_id="run-2-fork")] == [
            "m-1", "m-2", "m-4", "m-5",
        ]  # fmt: skip
        assert copy.db.dialect.database_id != full.db.dialect.database_id
    assert li("--db", str(tmp_path / "some.db"), "state", "verify").code == 0


def test_a_run_that_is_exported_alone_forgets_the_run_that_started_it(li: Li, full: Context, tmp_path: Path) -> None:
    start_run(full, "child", parent_session_id="run-3")
    assert li("state", "export", "child", "--format", "sqlite", "--output", str(tmp_path / "one.db")).code == 0
    with opened(tmp_path / "one.db") as copy:
        assert get_session(copy, "child") == get_session(full, "child")._replace(parent_session_id=None)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--format", "yaml"], 2, "li: 'yaml' is not a format. Use jsonl or sqlite."),
        (["--format", "sqlite"], 2, "li: An SQLite file cannot go to the terminal. Name a file: --output FILE"),
        (["nobody"], 1, "li: There is no run 'nobody'."),
    ],
)
def test_export_refuses_what_it_cannot_do(li: Li, full: Context, words: list[str], code: int, sentence: str) -> None:
    answer = li("state", "export", *words)
    assert (answer.code, answer.out) == (code, "")
    assert answer.err.startswith(sentence)


def test_export_says_that_a_disk_is_full(li: Li, full: Context, small_disk: Path) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (2 * 1024 * 1024 - 8192))
    for more in ([], ["--format", "sqlite"]):
        answer = li("state", "export", *more, "--output", str(small_disk / "all"))
        assert answer.code == 1
        assert "There is no room left on the disk for" in answer.err
    assert os.listdir(small_disk) == ["filler"]


def test_backup_goes_to_the_usual_place_and_says_what_it_proved(li: Li, full: Context, home: Path) -> None:
    answer = li("state", "backup")
    (file,) = (home / "backups").iterdir()
    assert answer.code == 0
    assert f"file         {file}" in answer.out
    assert "whole, and all " in answer.out
    assert f"li state restore {file}" in answer.out


def test_backup_tells_programs_what_it_holds(li: Li, full: Context, tmp_path: Path) -> None:
    (found,) = li("state", "backup", str(tmp_path / "copy.db"), "--json").objects
    assert (found["file"], found["verified"]) == (str(tmp_path / "copy.db"), True)
    assert (found["rows"]["sessions"], found["rows"]["messages"]) == (3, 6)
    assert found["size"] == (tmp_path / "copy.db").stat().st_size


def test_backup_overwrites_nothing(li: Li, full: Context, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("precious")
    answer = li("state", "backup", str(tmp_path / "copy.db"))
    assert (answer.code, "is there already" in answer.err) == (1, True)


def test_backup_needs_a_database(tmp_path: Path, home: Path) -> None:
    answer = run_li("state", "backup", "--db", str(tmp_path / "none.db"))
    assert (answer.code, answer.out) == (1, "")
    assert "There is no database at" in answer.err


def test_backup_says_that_a_disk_is_full(li: Li, full: Context, small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"x" * (2 * 1024 * 1024 - 65536))
    answer = li("state", "backup", str(small_disk / "copy.db"))
    assert answer.code == 1
    assert "There is no room left on the disk for" in answer.err
    assert os.listdir(small_disk) == ["filler"]


@pytest.fixture
def saved(li: Li, full: Context, tmp_path: Path) -> str:
    """A backup, after which a run began."""
    path = str(tmp_path / "copy.db")
    assert li("state", "backup", path).code == 0
    start_run(full, "late", name="late run")
    return path


def test_restore_shows_what_is_there_and_what_will_be(li: Li, saved: str, full: Context) -> None:
    answer = li("state", "restore", saved, "--dry-run")
    rows = [line.split() for line in answer.out.splitlines()]
    assert answer.code == 0
    assert rows[:2] == [["NOW", "AFTER"], ["runs", "4", "3"]]
    assert rows[6][:2] == ["newest", "run"]
    assert "1 run that runs now is not in the backup (late)" in answer.err
    assert get_session(full, "late").id == "late"


def test_restore_tells_programs_what_it_would_do(li: Li, saved: str) -> None:
    (plan,) = li("state", "restore", saved, "--dry-run", "--json").objects
    assert (plan["dry_run"], plan["now"]["sessions"], plan["then"]["sessions"]) == (True, 4, 3)
    assert plan["running_sessions_forgotten"] == ["late"]


def test_restore_in_a_pipe_does_what_was_typed(li: Li, saved: str, full: Context, home: Path) -> None:
    answer = li("state", "restore", saved)
    (safety,) = (home / "backups").iterdir()
    assert answer.code == 0
    assert f"Restored into {full.db.dialect.location} and compared: 3 runs, 6 messages." in answer.err
    assert f"What was there before is in {safety}." in answer.err
    assert [message.id for message in list_messages(full, "run-1")] == ["m-1", "m-2", "m-3"]
    assert list_events(full, action="restore")[0].details["file"] == saved


def test_restore_tells_programs_what_it_did(li: Li, saved: str) -> None:
    (done,) = li("state", "restore", saved, "--json").objects
    assert (done["dry_run"], done["rows"]["sessions"], done["safety_backup"]["verified"]) == (False, 3, True)


@pytest.mark.parametrize(("typed", "code", "runs"), [("n\n", 1, 4), ("\n", 1, 4), ("y\n", 0, 3)])
def test_restore_asks_on_a_terminal(
    li: Li, saved: str, full: Context, monkeypatch: pytest.MonkeyPatch, typed: str, code: int, runs: int
) -> None:
    keyboard = Terminal(typed)
    monkeypatch.setattr(sys, "stdin", keyboard)
    answer = li("state", "restore", saved, terminal=True)
    assert answer.code == code
    assert f"Replace what is there now, in {full.db.dialect.location}? [y/N]" in answer.err
    assert ("Nothing was changed." in answer.err) == (code == 1)
    monkeypatch.setattr(sys, "stdin", StringIO())
    assert [line["type"] for line in li("state", "export").objects].count("session") == runs


def test_restore_with_yes_does_not_ask(li: Li, saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    answer = li("state", "restore", saved, "--yes", terminal=True)
    assert (answer.code, "[y/N]" in answer.err) == (0, False)


def test_restore_makes_a_database_where_there_is_none(li: Li, saved: str, tmp_path: Path) -> None:
    answer = li("--db", str(tmp_path / "new.db"), "state", "restore", saved)
    assert answer.code == 0
    assert "There was nothing before, so no safety backup was made." in answer.err
    with opened(tmp_path / "new.db") as restored:
        assert get_session(restored, "run-1").name == "first"


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Context]:
    """A database that has nothing to do with the one `li` is pointed at."""
    db = open_database(str(tmp_path / "other one.db"))
    start_run(Context(db), "mine", name="mine")
    yield Context(db)
    db.close()


def test_what_a_backup_says_to_type_puts_it_back_into_its_own_database(
    li: Li, full: Context, other: Context, tmp_path: Path
) -> None:
    place = other.db.dialect.location
    saved = li("--db", place, "state", "backup", str(tmp_path / "its backup.db"))
    (typed,) = [line for line in saved.out.splitlines() if line.startswith("put it back")]
    start_run(other, "late")
    restored = li(*shlex.split(typed.partition("  li ")[2]))
    assert (restored.code, f"Restored into {place} and compared: 1 run" in restored.err) == (0, True)
    undone = li(*shlex.split(restored.err.partition("To undo: li ")[2]))
    assert (undone.code, f"Restored into {place} and compared: 2 runs" in undone.err) == (0, True)
    assert get_session(full, "run-1").name == "first"


def test_restore_names_the_database_that_it_replaces(li: Li, saved: str, full: Context) -> None:
    place = full.db.dialect.location
    assert f"Into {place}, from {saved}" in li("state", "restore", saved, "--dry-run").err
    assert li("state", "restore", saved, "--dry-run", "--json").objects[0]["database"] == place
    assert li("state", "restore", saved, "--json").objects[0]["database"] == place


def test_restore_refuses_a_backup_of_another_database_in_a_pipe(
    li: Li, saved: str, full: Context, other: Context
) -> None:
    words = ["--db", other.db.dialect.location, "state", "restore", saved]
    planned = li(*words, "--dry-run")
    assert "Careful: " in planned.err
    assert full.db.dialect.database_id in planned.err
    answer = li(*words)
    assert (answer.code, get_session(other, "mine").name) == (1, "mine")
    assert f"is a backup of another database ({full.db.dialect.database_id})" in answer.err
    assert answer.err.endswith("Nothing was changed. If that is meant: --yes\n")
    assert li(*words, "--yes").code == 0
    assert get_session(other, "run-1").name == "first"


def test_restore_asks_about_a_backup_of_another_database_on_a_terminal(
    li: Li, saved: str, other: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("n\n"))
    answer = li("--db", other.db.dialect.location, "state", "restore", saved, terminal=True)
    assert (answer.code, "is a backup of another database" in answer.err) == (1, True)
    assert get_session(other, "mine").name == "mine"


def test_restore_refuses_what_is_no_backup(li: Li, full: Context, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("dear diary" * 99)
    for name, sentence in {"none": "There is no file", "text": "is not an SQLite database"}.items():
        answer = li("state", "restore", str(tmp_path / name))
        assert (answer.code, answer.out) == (1, "")
        assert sentence in answer.err


STAGES = """
import sys
from lionstudio.services.archive import stage_restore
from lionstudio.services.context import open_context
from lionstudio.settings import load_settings

settings = load_settings()
staged = stage_restore(open_context(settings), sys.argv[1], backups=str(settings.backups), on_rows=lambda _: None)
print("staged", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("words", [["state", "restore", "{}", "--dry-run"], ["state", "backup"]])
def test_what_a_killed_restore_left_is_removed_and_what_a_living_one_has_is_not(
    li: Li, saved: str, home: Path, words: list[str]
) -> None:
    command = [sys.executable, "-c", STAGES, saved]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "staged\n"
        (folder,) = (home / "backups").glob(".lionstudio-*")
        again = [word.format(saved) for word in words]
        assert (li(*again).code, folder.is_dir()) == (0, True)
        process.kill()
        process.wait()
        assert folder.is_dir()
        if words == ["state", "backup"]:
            again.append(str(home / "backups" / "second.db"))
        assert li(*again).code == 0
    assert list((home / "backups").glob(".lionstudio-*")) == []


def test_restore_says_what_helps_where_its_home_may_only_be_read(li: Li, saved: str, home: Path) -> None:
    home.mkdir()
    with mounted_read_only(home):
        answer = li("state", "restore", saved)
        assert (answer.code, f"The folder {home / 'backups'} cannot be made" in answer.err) == (1, True)
        assert "LIONAGI_HOME=FOLDER li state restore --db DATABASE FILE" in answer.err
    (home / "backups").mkdir()
    with mounted_read_only(home):
        answer = li("state", "restore", saved)
        assert (answer.code, f"Nothing can be written to {home / 'backups'}" in answer.err) == (1, True)
        assert "LIONAGI_HOME=FOLDER li state restore --db DATABASE FILE" in answer.err


def test_progress_is_shown_on_a_terminal_only(li: Li, full: Context, tmp_path: Path) -> None:
    on_terminal = li("state", "backup", str(tmp_path / "one.db"), terminal=True)
    in_pipe = li("state", "backup", str(tmp_path / "two.db"))
    assert "Rows copied and compared:" in on_terminal.err
    assert in_pipe.err == ""


def test_what_agents_say_cannot_steer_the_terminal(li: Li, ctx: Context, tmp_path: Path) -> None:
    start_run(ctx, "run-1", name="evil \x1b]0;owned\x07 name")
    li("state", "backup", str(tmp_path / "copy.db"))
    answer = li("state", "restore", str(tmp_path / "copy.db"), "--dry-run", terminal=True)
    assert "\x1b]0" not in answer.out + answer.err
    assert json.loads(li("state", "export").out.splitlines()[0])["name"] == "evil \x1b]0;owned\x07 name"
