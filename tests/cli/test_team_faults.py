"""Teams when things go wrong: many at once, a database that does not take it, files that are broken."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.services import teams
from lionstudio.services.admin import list_events
from lionstudio.services.context import Context
from tests.cli.conftest import DRY_RUN, Li
from tests.factories import NOW
from tests.waiting import wait_until

FIXTURES = Path(__file__).parents[1] / "fixtures" / "teams"
LI = [sys.executable, "-m", "lionstudio"]


@pytest.fixture
def ops(li: Li, ctx: Context) -> str:
    return li("team", "create", "ops", "ana", "bo").out.strip()


def messages_in_file(home: Path, team_id: str) -> list[str]:
    return [message["content"] for message in json.loads((home / "teams" / f"{team_id}.json").read_text())["messages"]]


def test_twenty_processes_that_send_at_once_lose_nothing(li: Li, ops: str, ctx: Context, home: Path):
    senders = [
        subprocess.Popen(
            [*LI, "team", "send", "ops", f"message {n}", "--from", "ana"], stderr=subprocess.PIPE, text=True
        )
        for n in range(20)
    ]
    said = [sender.communicate()[1] for sender in senders]
    assert said == ["Sent to all in 'ops'.\n"] * 20
    wanted = sorted(f"message {n}" for n in range(20))
    assert sorted(messages_in_file(home, ops)) == wanted
    assert sorted(message.content for message in teams.list_messages(ctx, ops)) == wanted


def test_a_team_of_one_name_is_made_once_by_many(li: Li, ctx: Context):
    makers = [
        subprocess.Popen([*LI, "team", "create", "one"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(6)
    ]
    assert sorted(maker.wait() for maker in makers) == [0, 1, 1, 1, 1, 1]


def test_what_the_database_does_not_take_is_said_and_repaired(
    li: Li, ops: str, ctx: Context, home: Path, tmp_path: Path
):
    unusable = tmp_path / "no.db"
    unusable.mkdir()
    answer = li("team", "send", "ops", "hello", "--db", str(unusable))
    assert answer.code == 0
    assert "The database did not take it" in answer.err
    assert "state import-teams" in answer.err
    assert messages_in_file(home, ops) == ["hello"]
    assert teams.list_messages(ctx, ops) == []
    assert li("team", "show", "ops").code == 0
    assert [message.content for message in teams.list_messages(ctx, ops)] == ["hello"]


@pytest.fixture
def junk(tmp_path: Path) -> str:
    """A file that is no database."""
    path = tmp_path / "junk.db"
    path.write_text("junk " * 1000)
    return str(path)


def test_a_database_that_cannot_be_read_is_said_once_and_leaves_a_list_incomplete(li: Li, ops: str, junk: str):
    li("team", "create", "more", "ana")
    answer = li("team", "list", "--db", junk)
    assert answer.code == 1
    assert answer.err.count("is not an SQLite database") == 1
    assert [line.split()[0] for line in answer.out.splitlines()[1:]] == ["more", "ops"]
    assert len(li("team", "list", "--db", junk, "--json").objects) == 2


def test_a_list_that_neither_files_nor_the_database_can_give_is_an_error(li: Li, home: Path, junk: str):
    answer = li("team", "list", "--db", junk)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("is not an SQLite database") == 1
    assert "no teams yet" not in answer.err


def test_a_server_that_is_down_leaves_a_list_incomplete(li: Li, ops: str):
    answer = li("team", "list", "--db", "postgresql://nobody@127.0.0.1:1/none")
    assert (answer.code, answer.err.count("cannot be reached")) == (1, 1)
    assert "ops" in answer.out


def test_a_database_that_is_not_there_yet_is_no_trouble(li: Li, ops: str, tmp_path: Path):
    answer = li("team", "list", "--db", str(tmp_path / "new.db"))
    assert (answer.code, answer.err, "ops" in answer.out) == (0, "", True)


def test_one_team_is_answered_by_its_file_alone(li: Li, ops: str, junk: str):
    answer = li("team", "show", "ops", "--db", junk)
    assert (answer.code, "ops" in answer.out, answer.err.count("is not an SQLite database")) == (0, True, 1)
    missing = li("team", "show", "nowhere", "--db", junk)
    assert (missing.code, "There is no team" in missing.err) == (1, False)  # who knows
    assert missing.err.count("is not an SQLite database") == 1


def test_what_is_in_the_way_is_said_once_when_a_team_is_made(li: Li, junk: str):
    answer = li("team", "create", "ops", "--db", junk)
    assert (answer.code, answer.err.count("is not an SQLite database")) == (0, 1)
    assert "state import-teams, brings it in" in answer.err


def test_importing_teams_repairs_what_the_database_did_not_take(li: Li, ops: str, ctx: Context, tmp_path: Path):
    (tmp_path / "no.db").mkdir()
    li("team", "send", "ops", "hello", "--db", str(tmp_path / "no.db"))
    (report,) = li("state", "import-teams", "--json").objects
    assert report["messages_added"] == 1
    assert [message.content for message in teams.list_messages(ctx, ops)] == ["hello"]


def test_broken_files_are_named_and_the_rest_is_listed(li: Li, ops: str, home: Path):
    (home / "teams" / "bad.json").write_text('{"id"')
    answer = li("team", "list")
    assert "ops" in answer.out
    assert "bad.json: It is not JSON" in answer.err


def test_a_copy_of_a_team_file_is_named_wherever_files_are_read(li: Li, ops: str, ctx: Context, home: Path):
    used, copy = home / "teams" / f"{ops}.json", home / "teams" / "0-copy.json"
    copy.write_text(used.read_text().replace('"ops"', '"port"'))
    for _ in range(2):  # the copy says something else about the team, and changes nothing
        answer = li("state", "import-teams", "--json")
        assert answer.code == 1
        (report,) = answer.objects
        assert (report["teams_changed"], report["teams_unchanged"]) == (0, 1)
        (problem,) = report["problems"]
        assert problem["where"] == str(copy)
        assert f"{used}, which is used" in problem["message"]
    assert teams.get_team(ctx, ops).name == "ops"
    listed = li("team", "list")
    assert listed.out.count(ops) == 1
    assert f"{copy}: It has the id '{ops}', and so has {used}, which is used." in listed.err
    (finding,) = [one for one in li("state", "verify", "--json").objects if one.get("subject") == str(copy)]
    assert str(used) in finding["sentence"]
    assert "Move one of the two" in finding["mend"]
    assert li("team", "show", "port").code == 1
    assert li("team", "create", "port").code == 0  # nobody has that name


def test_import_says_what_came_in_and_what_did_not(li: Li, ctx: Context, home: Path):
    (home / "teams").mkdir(parents=True)
    (home / "teams" / "a.json").write_text((FIXTURES / "9b42c6f39b52.json").read_text())
    (home / "teams" / "bad.json").write_text("[")
    planned = li("state", "import-teams", "--dry-run")
    assert teams.list_teams(ctx) == []
    done = li("state", "import-teams")
    assert (planned.code, done.code) == (1, 1)
    assert planned.out == done.out
    assert "messages added    3" in done.out
    assert "Left out: " in done.err
    (again,) = li("state", "import-teams", "--json").objects
    assert (again["teams_unchanged"], again["messages_added"], len(again["problems"])) == (1, 0, 1)


def test_import_takes_another_folder_and_teaches(li: Li, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    answer = li("state", "import-teams", str(tmp_path / "empty"))
    assert answer.code == 0
    assert "There are no team files in " in answer.err


@pytest.mark.parametrize("command", ["import", "import-shows", "import-teams"])
def test_a_folder_that_is_none_is_refused_alike_by_every_import(li: Li, tmp_path: Path, command: str):
    (tmp_path / "file").touch()
    for name, reason in (("none", "No such file or directory"), ("file", "Not a directory")):
        answer = li("state", command, str(tmp_path / name))
        assert (answer.code, answer.out) == (1, "")
        assert f"The folder {tmp_path / name} cannot be read ({reason}). Name the folder that holds" in answer.err


def archive(li: Li, ctx: Context, name: str = "ops") -> None:
    assert li("team", "archive", name).code == 0


def test_prune_shows_its_plan_and_does_it(li: Li, ops: str, ctx: Context, home: Path):
    li("team", "create", "kept", "ana")
    li("team", "send", "ops", "hello")
    archive(li, ctx)
    assert "left alone for 30 days" in li("team", "prune").err
    planned = li("team", "prune", "--keep-days", "0", "--dry-run")
    with_file = f"With 'ops' goes its file {home / 'teams' / ops}.json.\n"
    assert (planned.code, planned.err) == (0, with_file + DRY_RUN)
    done = li("team", "prune", "--keep-days", "0")
    assert (done.code, done.out, done.err) == (0, planned.out, with_file + "Deleted 1 team.\n")
    assert [team.name for team in teams.list_teams(ctx)] == ["kept"]
    assert not (home / "teams" / f"{ops}.json").exists()
    (event,) = list_events(ctx, action="prune")
    assert (event.details["team_ids"], event.details["team_messages"]) == ([ops], 1)
    assert [step.to_status for step in teams.list_team_history(ctx, ops)] == ["active", "archived", None]


def test_prune_answers_programs(li: Li, ops: str, ctx: Context):
    archive(li, ctx)
    (team,) = li("team", "prune", "--keep-days", "0", "--json", "--yes").objects
    assert (team["id"], team["dry_run"]) == (ops, False)


def test_the_plan_of_a_prune_names_a_file_that_was_exported(li: Li, ctx: Context, home: Path):
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('teams = "database"')
    ids = {name: li("team", "create", name, "ana").out.strip() for name in ("ops", "bare")}
    assert li("team", "export", "ops").code == 0
    for name in ids:
        archive(li, ctx, name)
    planned = li("team", "prune", "--keep-days", "0", "--dry-run")
    assert planned.err == f"With 'ops' goes its file {home / 'teams' / ids['ops']}.json.\n{DRY_RUN}"
    files = {team["name"]: team["file"] for team in li("team", "prune", "--keep-days", "0", "--json").objects}
    assert files == {"ops": f"{home / 'teams' / ids['ops']}.json", "bare": None}
    assert list((home / "teams").iterdir()) == []


def test_prune_keeps_a_team_whose_file_says_that_it_is_in_use_again(li: Li, ops: str, ctx: Context, home: Path):
    archive(li, ctx)
    path = home / "teams" / f"{ops}.json"
    path.write_text(path.read_text().replace('"archived"', '"active"'))
    answer = li("team", "prune", "--keep-days", "0")
    assert (answer.code, "Kept 'ops'" in answer.err) == (1, True)
    assert path.exists()
    assert list_events(ctx, action="prune") == []


def test_prune_puts_on_record_a_team_whose_file_cannot_be_deleted(li: Li, ops: str, ctx: Context, home: Path):
    archive(li, ctx)
    beside = home / "teams" / f"{ops}.json.new"
    beside.mkdir()  # which is no file, so that deleting it fails for everybody
    answer = li("team", "prune", "--keep-days", "0")
    assert (answer.code, "Kept" in answer.err) == (1, False)
    assert "its file is still there" in answer.err
    assert "Deleted 1 team." in answer.err
    assert teams.list_teams(ctx) == []
    (event,) = list_events(ctx, action="prune")
    assert event.details["team_ids"] == [ops]


def test_prune_asks_on_a_terminal(li: Li, ops: str, ctx: Context, monkeypatch):
    import io

    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

    archive(li, ctx)
    monkeypatch.setattr(sys, "stdin", Keyboard("no\n"))
    answer = li("team", "prune", "--keep-days", "0", terminal=True)
    assert (answer.code, "Nothing was pruned." in answer.err) == (1, True)
    assert len(teams.list_teams(ctx)) == 1


def test_export_writes_what_the_database_knows_and_keeps_what_the_file_knows(
    li: Li, ctx: Context, home: Path, tmp_path: Path
):
    (home / "teams").mkdir(parents=True)
    path = home / "teams" / "mine.json"
    path.write_text((FIXTURES / "9b42c6f39b52.json").read_text())
    li("state", "import-teams")
    teams.add_message(ctx, "9b42c6f39b52", sender="dev1", content="only in the database", created_at=NOW)
    assert li("team", "export").out == f"{path}\n"
    exported = json.loads(path.read_text())
    assert [message["content"] for message in exported["messages"]][-1] == "only in the database"
    assert exported["messages"][0]["read_by"] == {"dev1": "2026-11-15T19:35:07.362397+00:00"}
    (tmp_path / "out").mkdir()
    (row,) = li("team", "export", "alpha", "--output", str(tmp_path / "out"), "--json").objects
    assert row["file"] == str(tmp_path / "out" / "9b42c6f39b52.json")
    assert len(json.loads(Path(row["file"]).read_text())["messages"]) == 4


def test_a_team_of_lionagi_is_the_same_in_a_new_file(li: Li, ctx: Context, home: Path, tmp_path: Path):
    (home / "teams").mkdir(parents=True)
    told = json.loads((FIXTURES / "signals.json").read_text())
    (home / "teams" / "signals.json").write_text(json.dumps(told))
    assert li("state", "import-teams").code == 0
    assert li("state", "verify").code == 0
    (tmp_path / "out").mkdir()
    (row,) = li("team", "export", "signals", "--output", str(tmp_path / "out"), "--json").objects
    assert json.loads(Path(row["file"]).read_text()) == told
    (first, *_) = li("team", "show", "signals", "--json").objects[0]["messages"]
    assert first["node_metadata"]["file"]["artifacts"] == ["out/parser.py", "out/notes.md"]


def test_a_file_with_numbers_that_json_does_not_have_can_be_listed(li: Li, ops: str, home: Path):
    (home / "teams" / "bad.json").write_text('{"id": "bad", "messages": [{"content": NaN, "weight": 1e999}]}')
    assert [one["id"] for one in li("team", "list", "--json").objects] == ["bad", ops]
    assert li("state", "import-teams").code == 1


def test_the_path_of_an_export_does_not_steer_the_terminal(li: Li, ops: str, tmp_path: Path):
    (tmp_path / "a\x1b[31mred").mkdir()
    answer = li("team", "export", "--output", str(tmp_path / "a\x1b[31mred"))
    assert (answer.code, "\x1b" in answer.out + answer.err) == (0, False)


def test_export_is_how_files_come_out_of_the_database(li: Li, ctx: Context, home: Path):
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('teams = "database"')
    li("team", "create", "ops", "ana", "bo")
    li("team", "send", "ops", "hello", "--to", "bo")
    li("team", "receive", "ops", "bo")
    assert not (home / "teams").exists()
    li("team", "export")
    (home / "config.toml").unlink()
    assert li("state", "import-teams", "--json").objects[0]["teams_unchanged"] == 1
    assert li("team", "receive", "ops", "bo", "--all", "--json").objects[0]["content"] == "hello"


def test_a_team_whose_id_is_a_path_stays_in_the_folder(li: Li, ctx: Context, home: Path):
    teams.put_team(ctx, "../../escape", actor="ana", name="odd", members=["ana"])
    assert li("team", "export").code == 0
    assert li("team", "send", "odd", "hello").code == 0
    (path,) = (home / "teams").iterdir()
    assert path.name.startswith("team-")
    assert len(teams.list_messages(ctx, "../../escape")) == 1


@pytest.fixture
def watching(li: Li, ops: str, tmp_path: Path):
    """`li team watch`, in a process of its own, and the file that it prints to."""
    printed = tmp_path / "printed"
    with printed.open("wb") as out, subprocess.Popen([*LI, "team", "watch", "ops", "--json"], stdout=out) as watcher:
        yield watcher, printed
        watcher.kill()


def told(printed: Path) -> list[str]:
    return [json.loads(line)["content"] for line in printed.read_text().splitlines()]


def until_it_watches(li: Li, printed: Path) -> int:
    """Send until the watcher hears the first message; how many were sent by then."""
    sent = 0

    def heard() -> bool:
        nonlocal sent
        li("team", "send", "ops", f"first {sent}")
        sent += 1
        return bool(told(printed))

    wait_until(heard)
    return sent


def test_a_watcher_hears_each_message_once_and_ends_with_ctrl_c(li: Li, ops: str, home: Path, watching):
    watcher, printed = watching
    sent = until_it_watches(li, printed)
    li("team", "receive", "ops", "bo")  # marks all of them, which is news too
    li("team", "send", "ops", "last")
    wait_until(lambda: told(printed)[-1:] == ["last"])
    heard = told(printed)
    assert heard == [*(f"first {n}" for n in range(sent - len(heard) + 1, sent)), "last"]
    watcher.send_signal(signal.SIGINT)
    assert watcher.wait(20) == 130


def test_a_watcher_hears_what_others_write_into_the_file(li: Li, ops: str, home: Path, watching):
    _, printed = watching
    until_it_watches(li, printed)
    code = (
        "import pathlib, sys, lionagi.cli.team as team\n"
        "team.TEAMS_DIR = pathlib.Path(sys.argv[1])\n"
        "team.post_done_signal('ops', worker='bo', summary='theirs')\n"
    )
    subprocess.run([sys.executable, "-c", code, home / "teams"], check=True)
    wait_until(lambda: told(printed)[-1:] == ["theirs"])


def test_a_watcher_of_a_team_that_is_deleted_ends(li: Li, ops: str, ctx: Context, watching):
    watcher, printed = watching
    until_it_watches(li, printed)
    os.unlink(next(Path(os.environ["LIONAGI_HOME"], "teams").iterdir()))
    teams.delete_team(ctx, ops, actor="ana")
    assert watcher.wait(20) == 0


def test_a_team_whose_file_is_broken_is_refused_by_the_name_of_the_file(li: Li, home: Path) -> None:
    li("team", "create", "crew", "ana")
    (path,) = (home / "teams").glob("*.json")
    path.write_text("{")
    for words in (("send", "crew", "hello", "--from", "ana"), ("members", "crew", "--add", "bob")):
        answer = li("team", *words)
        assert answer.code != 0
        assert str(path) in answer.err
    assert path.read_text() == "{"
