"""`li team`: what people and agents type, in files first and in the database only."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.services import teams
from lionstudio.services.context import Context
from tests.cli.conftest import Li
from tests.factories import start_run

FIXTURES = Path(__file__).parents[1] / "fixtures" / "teams"


@pytest.fixture(params=["files", "database"])
def kept_in(request: pytest.FixtureRequest, home: Path) -> str:
    """Where teams are kept first."""
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f'teams = "{request.param}"')
    return str(request.param)


@pytest.fixture
def ops(kept_in: str, li: Li, ctx: Context) -> str:
    """The id of a team with the members ana, bo and cy."""
    return li("team", "create", "ops", "ana", "bo", "cy").out.strip()


def file_of(home: Path, team_id: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((home / "teams" / f"{team_id}.json").read_text())
    return found


def contents(answer) -> list[str]:
    return [one["content"] for one in answer.objects]


def test_a_team_is_made_and_listed(li: Li, ops: str, ctx: Context):
    assert teams.get_team(ctx, ops).members == ("ana", "bo", "cy")
    answer = li("team", "list")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[1].split() == ["ops", "ana,", "bo,", "cy", "0", "active", ops]
    (listed,) = li("team", "list", "--json").objects
    assert (listed["id"], listed["message_count"], listed["last_message_at"]) == (ops, 0, None)


def test_making_a_team_answers_programs(li: Li, kept_in: str):
    (team,) = li("team", "create", "ops", "ana", "--description", "to test", "--json").objects
    assert (team["name"], team["members"], team["node_metadata"]) == ("ops", ["ana"], {"description": "to test"})
    assert "to test" in li("team", "show", "ops").out


@pytest.mark.parametrize(
    ("words", "complaint", "code"),
    [
        pytest.param(("ops",), "already", 1, id="a name that is taken"),
        pytest.param((" ",), "needs a name", 2, id="no name"),
        pytest.param(("new", "all"), "'all' cannot be the name of a member", 2, id="all as a member"),
        pytest.param(("new", "system"), "'system' cannot be", 2, id="system as a member"),
    ],
)
def test_a_team_that_cannot_be_made(li: Li, ops: str, words, complaint, code):
    answer = li("team", "create", *words)
    assert (answer.code, answer.out) == (code, "")
    assert complaint in answer.err
    assert len(li("team", "list", "--json").objects) == 1


@pytest.mark.parametrize("name", ["../../x", "a/b c", "🦁 ü", "x" * 4000, "-", "\x1b[31mred"])
def test_any_name_will_do_and_stays_in_the_folder(li: Li, ctx: Context, home: Path, name: str):
    team_id = li("team", "create", "--json", "--", name, "ana").objects[0]["id"]
    assert li("team", "send", "--from", "ana", "--", name, "hello").code == 0
    assert [path.name for path in (home / "teams").iterdir()] == [f"{team_id}.json"]
    assert li("team", "show", "--json", "--", name).objects[0]["name"] == name
    assert "\x1b" not in li("team", "list").out


def test_empty_states_teach(li: Li, kept_in: str, ctx: Context):
    assert "li team create" in li("team", "list").err
    assert "li team create" in li("team", "show", "ops").err
    li("team", "create", "ops")
    assert "li team members TEAM --add" in li("team", "members", "ops").err
    assert "li team send" in li("team", "show", "ops").err
    li("team", "archive", "ops")
    assert "--archived" in li("team", "list").err


@pytest.mark.parametrize(
    "command", [("show",), ("send", "hi"), ("receive", "ana"), ("members",), ("archive",), ("watch",)]
)
def test_an_unknown_team_suggests_a_near_name(li: Li, ops: str, command):
    answer = li("team", command[0], "osp", *command[1:])
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "li: There is no team 'osp'. Did you mean ops?\n"


def test_a_message_reaches_whom_it_is_for(li: Li, ops: str):
    assert li("team", "send", "ops", "to all", "--from", "ana").err == "Sent to all in 'ops'.\n"
    assert li("team", "send", ops, "to two", "--to", "ana", "--to", "bo").err == "Sent to ana, bo in 'ops'.\n"
    assert contents(li("team", "receive", "ops", "ana", "--json")) == ["to two"]
    assert contents(li("team", "receive", "ops", "bo", "--json")) == ["to all", "to two"]
    assert contents(li("team", "receive", "ops", "cy", "--json")) == ["to all"]


def test_a_message_to_several_members_is_one_message_wherever_it_is_counted(
    li: Li, ops: str, home: Path, tmp_path: Path
):
    li("team", "send", "ops", "first", "--to", "ana")
    li("team", "send", "ops", "second", "--to", "ana", "--to", "bo", "--to", "cy")
    assert li("team", "list", "--json").objects[0]["message_count"] == 2
    shown = li("team", "show", "ops")
    assert "messages  2\n" in shown.out
    assert [line for line in shown.out.splitlines() if "ana, bo, cy  second" in line]
    last = li("team", "show", "ops", "--limit", "1", "--json").objects[0]
    assert last["message_count"] == 2
    assert [(one["content"], one["recipient"]) for one in last["messages"]] == [
        ("second", "ana"),
        ("second", "bo"),
        ("second", "cy"),
    ]
    li("team", "receive", "ops", "bo")
    li("team", "export", "--output", str(tmp_path))
    written = json.loads((tmp_path / f"{ops}.json").read_text())["messages"]
    assert [(one["to"], list(one["read_by"])) for one in written] == [(["ana"], []), (["ana", "bo", "cy"], ["bo"])]
    report = li("state", "import-teams", str(tmp_path), "--db", str(tmp_path / "other.db"), "--json").objects[0]
    assert report["messages_added"] == 2


def test_what_was_received_counts_as_read(li: Li, ops: str, ctx: Context, home: Path, kept_in: str):
    for text in ("one", "two\nlines", "three"):
        li("team", "send", "ops", text)
    peeked = li("team", "receive", "ops", "bo", "--peek")
    assert "system → all\n  two\n  lines\n" in peeked.out
    first = li("team", "receive", "ops", "bo", "--limit", "2")
    assert "three" not in first.out
    assert first.err == "1 more; --limit shows more at once.\n"
    assert contents(li("team", "receive", "ops", "bo", "--json")) == ["three"]
    assert li("team", "receive", "ops", "bo").err == "Nothing new. --all shows what was read already.\n"
    assert contents(li("team", "receive", "ops", "bo", "--all", "--limit", "2", "--json")) == ["two\nlines", "three"]
    assert [message.read_by for message in teams.list_messages(ctx, ops)] == [("bo",)] * 3
    if kept_in == "files":
        assert all("bo" in message["read_by"] for message in file_of(home, ops)["messages"])  # type: ignore


def test_a_long_message_has_a_summary(li: Li, ops: str):
    (message,) = li("team", "send", "ops", "word " * 60, "--json").objects
    assert message["summary"].endswith("…")
    assert message["summary"] in li("team", "show", "ops").out


def test_a_message_is_read_from_standard_input(li: Li, ops: str, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("getippt\r\n\u2713\n".encode())))
    li("team", "send", "ops", "-")
    assert contents(li("team", "receive", "ops", "bo", "--json")) == ["getippt\n\u2713"]


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        pytest.param(b"caf\xe9\n", "is not UTF-8", id="latin1"),
        pytest.param(bytes(range(256)), "is not UTF-8", id="any bytes"),
        pytest.param(b"a\0b", "holds NUL bytes", id="NUL"),
        pytest.param(b"\xed\xa0\x80", "is not UTF-8", id="a lone surrogate"),
    ],
)
def test_what_is_no_text_is_not_sent(li: Li, ops: str, ctx: Context, data: bytes, complaint: str, locale: str):
    words = [sys.executable, "-m", "lionstudio", "team", "send", "ops", "-"]
    sent = subprocess.run(words, input=data, capture_output=True, env={**os.environ, "LC_ALL": locale})
    assert (sent.returncode, sent.stdout) == (2, b"")
    assert complaint in sent.stderr.decode()
    assert "Put data into a file and send its path." in sent.stderr.decode()
    assert teams.list_messages(ctx, ops) == []


def test_a_closed_standard_input_is_said(li: Li, ops: str, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    answer = li("team", "send", "ops", "-")
    assert (answer.code, "Standard input is closed." in answer.err) == (2, True)


def test_an_argument_that_is_no_text_is_not_sent(li: Li, ops: str, ctx: Context):
    assert li("team", "send", "ops", "caf\udce9").code == li("team", "send", "ops", "hi", "--from", "\udcff").code == 2
    assert teams.list_messages(ctx, ops) == []


def test_the_environment_says_who_sends_from_which_run_to_which_team(li: Li, ops: str, ctx: Context, monkeypatch):
    start_run(ctx, "run-1")
    monkeypatch.setenv("LIONAGI_TEAM", "ops")
    monkeypatch.setenv("LIONAGI_AGENT", "ana")
    monkeypatch.setenv("LIONAGI_SESSION_ID", "run-1")
    (message,) = li("team", "send", "hello", "--json").objects
    assert (message["sender"], message["session_id"]) == ("ana", "run-1")
    assert contents(li("team", "receive", "bo", "--json")) == ["hello"]
    assert [session.id for session in teams.list_runs(ctx, ops)] == ["run-1"]


@pytest.mark.parametrize(
    ("words", "complaint", "code"),
    [
        pytest.param(
            ("send", "ops", "hi", "--to", "bob"), "Did you mean bo? Its members are: ana, bo, cy.", 2, id="to"
        ),
        pytest.param(("send", "ops", "hi", "--to", "system"), "no member 'system'", 2, id="to system"),
        pytest.param(("send", "ops", "  "), "nothing to send", 2, id="nothing"),
        pytest.param(("send", "ops", "hi", "--from", "all"), "'all' cannot send", 2, id="from all"),
        pytest.param(("send", "ops", "hi", "--from", ""), "'' cannot send", 2, id="from nobody"),
        pytest.param(("receive", "ops", "bob"), "Did you mean bo?", 2, id="for a stranger"),
        pytest.param(("receive", "ops", "all"), "no member 'all'", 2, id="for all"),
        pytest.param(("receive", "ops", "bo", "--limit", "-1"), "--limit", 2, id="below zero"),
        pytest.param(("members", "ops", "--remove", "bob"), "no member 'bob'", 2, id="removing a stranger"),
        pytest.param(("members", "ops", "--add", "all"), "cannot be the name", 2, id="adding all"),
        pytest.param(("archive", "ops", "--undo"), "already active", 1, id="taking back what is in use"),
        pytest.param(("receive", "bo"), "LIONAGI_TEAM", 2, id="no team"),
        pytest.param(("prune", "--keep-days", "-1"), "must be 0 or more", 2, id="days below zero"),
        pytest.param(("export", "osp"), "Did you mean ops?", 1, id="exporting what is not there"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(li: Li, ops: str, words, complaint, code):
    answer = li("team", *words)
    assert (answer.code, answer.out) == (code, "")
    assert complaint in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_sender_who_is_no_member_is_let_through_with_a_word(li: Li, ops: str):
    answer = li("team", "send", "ops", "hi", "--from", "ghost")
    assert answer.code == 0
    assert "'ghost' is no member" in answer.err


def test_members_come_and_go(li: Li, ops: str, ctx: Context):
    answer = li("team", "members", "ops", "--add", "zoe", "--add", "ana", "--remove", "bo")
    assert answer.out.split() == ["ana", "cy", "zoe"]
    assert li("team", "members", "ops", "--json").objects[0]["members"] == ["ana", "cy", "zoe"]
    assert teams.get_team(ctx, ops).members == ("ana", "cy", "zoe")


def test_an_archived_team_is_put_aside_until_it_is_taken_back(li: Li, ops: str, ctx: Context):
    assert li("team", "archive", "ops").code == 0
    assert li("team", "list", "--json").objects == []
    assert [one["status"] for one in li("team", "list", "--archived", "--json").objects] == ["archived"]
    refused = li("team", "send", "ops", "hi")
    assert (refused.code, "archived" in refused.err) == (1, True)
    assert teams.get_team(ctx, ops).status == "archived"
    assert li("team", "archive", ops[:30], "--undo", "--json").objects[0]["status"] == "active"
    assert teams.get_team(ctx, ops).status == "active"
    assert li("team", "send", "ops", "hi").code == 0


def test_of_two_teams_of_one_name_only_one_is_in_use(li: Li, ops: str):
    li("team", "archive", "ops")
    new = li("team", "create", "ops", "ana").out.strip()
    for typed in (ops, "ops"):
        refused = li("team", "archive", "--undo", typed)
        assert refused.code == 1
        assert f"already: {new}." in refused.err
        assert f"li team archive {new}" in refused.err
    assert li("team", "show", "ops", "--json").objects[0]["id"] == new
    assert li("team", "archive", new).code == 0
    for words in (("show", "ops"), ("send", "ops", "hi"), ("receive", "ops", "ana"), ("archive", "--undo", "ops")):
        refused = li("team", *words)
        assert (refused.code, refused.out) == (1, "")
        assert f"{new} (ops, archived), {ops} (ops, archived)" in refused.err
        assert "Type the id" in refused.err
    assert li("team", "archive", "--undo", ops).code == 0
    assert li("team", "archive", ops).code == 0
    assert li("team", "archive", "--undo", new).code == 0
    assert li("team", "archive", "--undo", "ops").code == 1  # means the archived one, whose name is taken
    assert li("team", "show", "ops", "--json").objects[0]["id"] == new


def test_two_active_teams_of_one_name_are_told_apart(li: Li, ops: str, ctx: Context):
    teams.put_team(ctx, "other", actor="ana", name="ops", members=["ana"])  # as an import may bring one in
    for words in (("show", "ops"), ("send", "ops", "hi"), ("receive", "ops", "ana"), ("export", "ops")):
        refused = li("team", *words)
        assert refused.code == 1
        assert "other (ops, active)" in refused.err
        assert f"{ops} (ops, active)" in refused.err
    assert li("team", "send", "other", "hi").code == 0


def test_hostile_text_does_not_steer_the_terminal(li: Li, ops: str):
    li("team", "send", "ops", "\x1b[2Jgone\u202e", "--from", "\x1b]0;x")
    for words in (("show", "ops"), ("receive", "ops", "ana")):
        answer = li("team", *words, terminal=True)
        assert "\x1b[2J" not in answer.out + answer.err
        assert "\x1b]" not in answer.out + answer.err
        assert "\u202e" not in answer.out


def test_reading_creates_no_database(li: Li, home: Path, location: str):
    (home / "teams").mkdir(parents=True)
    (home / "teams" / "a.json").write_text((FIXTURES / "9b42c6f39b52.json").read_text())
    assert [one["name"] for one in li("team", "list", "--json").objects] == ["alpha"]
    assert contents(li("team", "receive", "alpha", "dev2", "--peek", "--json"))
    if "://" not in location:
        assert not os.path.exists(location)


def test_a_team_that_only_the_database_knows_gets_a_file_when_it_is_written_to(li: Li, home: Path, ctx: Context):
    teams.put_team(ctx, "t-1", actor="ana", name="ops", members=["ana", "bo"])
    teams.add_message(ctx, "t-1", sender="ana", content="before")
    assert li("team", "show", "ops", "--json").objects[0]["messages"][0]["content"] == "before"
    assert not (home / "teams").exists()
    li("team", "send", "ops", "after")
    assert contents(li("team", "receive", "ops", "bo", "--json")) == ["before", "after"]
    assert len(file_of(home, "t-1")["messages"]) == 2  # type: ignore[arg-type]


def test_lionagi_reads_what_we_write_and_we_what_it_writes(li: Li, home: Path, ctx: Context):
    li("team", "create", "ops", "ana", "bo")
    li("team", "send", "ops", "ours", "--to", "bo", "--from", "ana")
    code = (
        "import pathlib, sys, lionagi.cli.team as team, argparse\n"
        "team.TEAMS_DIR = pathlib.Path(sys.argv[1])\n"
        "run = lambda **words: team.run_team(argparse.Namespace(**words))\n"
        "run(team_command='receive', team='ops', member='bo')\n"
        "run(team_command='send', team='ops', to='all', sender='bo', content='theirs')\n"
        "run(team_command='list'); run(team_command='show', team='ops')\n"
    )
    theirs = subprocess.run([sys.executable, "-c", code, home / "teams"], capture_output=True, text=True, check=True)
    assert "ours" in theirs.stdout
    assert li("team", "receive", "ops", "bo").err.startswith("Nothing new")
    assert contents(li("team", "receive", "ops", "ana", "--json")) == ["theirs"]


def test_sending_loads_nothing_that_it_does_not_need(home: Path, tmp_path: Path):
    heavy = {"dataclasses", "inspect", "logging", "asyncio", "pathlib", "datetime", "difflib", "subprocess", "psycopg"}
    code = (
        "import sys; old = set(sys.modules); from lionstudio.cli.main import main\n"
        "main(sys.argv[1:]); print(*sys.modules.keys() - old)"
    )
    for words in (("create", "ops", "ana"), ("send", "ops", "hello")):
        done = subprocess.run([sys.executable, "-c", code, "team", *words], capture_output=True, text=True, check=True)
    assert "lionstudio.recorders.file_teams" in done.stdout.split()
    assert heavy & set(done.stdout.split()) == set()


def test_what_is_typed_between_and_after_options_counts(li: Li, ops: str, location: str):
    assert li("team", "send", "ops", "--from", "ana", "--to", "bo", "for bo").err == "Sent to bo in 'ops'.\n"
    assert contents(li("team", "receive", "ops", "--peek", "--json", "bo")) == ["for bo"]
    assert contents(li("--db", location, "team", "receive", "--json", "--", "ops", "bo")) == ["for bo"]
