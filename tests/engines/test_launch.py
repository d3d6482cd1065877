"""Runs of agents begin and end in one place: what they are called, what their agents are told, how they end."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lionstudio.domain.errors import Conflict, InvalidRequest, Unavailable, UnknownWord
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.engines.engine import Task
from lionstudio.engines.launch import Launch, Parent, launched
from lionstudio.engines.working import Worked
from lionstudio.recorders.recorder import record
from lionstudio.recorders.team_joining import join_team
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.session_list import list_sessions
from lionstudio.services.sessions import get_session, list_history
from lionstudio.services.team_list import list_with_counts
from lionstudio.settings import load_settings
from tests.recorders.agents import Agent, run_agent


def only_run(ctx: Context) -> Session:
    [session] = list_sessions(ctx).items
    return session


@pytest.mark.parametrize(
    ("exit_code", "reason", "status", "code"),
    [
        (0, None, SessionStatus.COMPLETED, 0),
        (3, None, SessionStatus.FAILED, 3),
        (1, "run.failed.reported", SessionStatus.FAILED, 1),
        (124, None, SessionStatus.TIMED_OUT, 124),
        (129, None, SessionStatus.ABORTED, 129),
        (130, None, SessionStatus.ABORTED, 130),
        (143, None, SessionStatus.CANCELLED, 143),
        (137, None, SessionStatus.FAILED, 137),
    ],
)
def test_a_run_ends_as_its_exit_code_says(
    ctx: Context, location: str, exit_code: int, reason: str | None, status: SessionStatus, code: int
) -> None:
    with launched(Launch(db=location)) as begun:
        begun.end(exit_code, reason, "It was so.")
        begun.end(0)  # what comes later changes nothing
    session = only_run(ctx)
    assert (session.status, session.exit_code, begun.exit_code) == (status, exit_code, code)
    assert list_history(ctx, session.id)[-1].sentence == "It was so."
    if reason is not None:
        assert session.end_reason == reason


def test_a_block_that_is_left_without_a_word_ended_well(ctx: Context, location: str) -> None:
    with launched(Launch(db=location)) as begun:
        pass
    assert (only_run(ctx).status, begun.exit_code) == (SessionStatus.COMPLETED, 0)


def test_what_leaves_the_block_fails_the_run(ctx: Context, location: str) -> None:
    with pytest.raises(Conflict), launched(Launch(db=location)):
        raise Conflict("It cannot be.")
    session = only_run(ctx)
    assert (session.status, session.end_reason) == (SessionStatus.FAILED, "run.failed.exception")
    assert list_history(ctx, session.id)[-1].sentence == "Conflict: It cannot be."


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_asks_the_run_to_stop_and_ends_nothing_by_itself(
    ctx: Context, location: str, number: int, code: int
) -> None:
    before = signal.getsignal(number)
    with launched(Launch(db=location)) as begun:
        os.kill(os.getpid(), number)
        begun.run.user("It goes on.")
    assert (only_run(ctx).status.value if only_run(ctx).status else None, begun.exit_code) == (
        {130: "aborted", 129: "aborted", 143: "cancelled"}[code],
        code,
    )
    assert only_run(ctx).message_count == 1
    assert signal.getsignal(number) == before


def test_a_deadline_asks_it_to_stop(sqlite_ctx: Context, sqlite_path: Path) -> None:
    asked = threading.Event()
    with launched(Launch(db=str(sqlite_path), timeout=0.01)) as begun, begun.stopping.each(lambda _: asked.set()):
        assert asked.wait(20)
    assert only_run(sqlite_ctx).status is SessionStatus.TIMED_OUT


def test_agents_are_told_their_run_their_name_their_team_and_their_show(ctx: Context, location: str) -> None:
    launch = Launch(agent="builder", team="crew", show_topic="t", show_play="p", db=location)
    with launched(launch) as begun:
        second = begun.run.agent("reviewer")
        assert begun.env() == {
            "LIONAGI_SESSION_ID": begun.run.session_id, "LIONAGI_BRANCH_ID": begun.run.id, "LIONAGI_AGENT": "builder",
            "LIONAGI_TEAM": "crew", "LIONAGI_SHOW_TOPIC": "t", "LIONAGI_SHOW_PLAY": "p", "LIONAGI_DB": location,
        }  # fmt: skip
        other = begun.env(second, member="reviewer")
        assert (other["LIONAGI_BRANCH_ID"], other["LIONAGI_AGENT"]) == (second.id, "reviewer")
    session = only_run(ctx)
    assert (session.name, session.invocation_kind) == ("show_t_p", "show-play")


def test_a_run_within_a_play_says_so_and_keeps_its_own_name(
    ctx: Context, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SHOW_TOPIC", "t")
    monkeypatch.setenv("LIONAGI_SHOW_PLAY", "p")
    with launched(Launch(name="own", db=location)):
        pass
    session = only_run(ctx)
    assert (session.name, session.invocation_kind, session.show_topic) == ("own", "agent", "t")


def test_who_is_told_of_a_team_is_told_once(home: Path) -> None:
    with launched(Launch(agent="builder", team="crew")) as begun:
        told = begun.system("claude", Task("", system="Be kind."))
        assert told is not None
        assert told.startswith("Be kind.\n\nYou are builder, a member of the team crew.")
        assert begun.system("claude", Task("", system=told)) == told
        assert begun.system("exec", Task("", system="Be kind.")) == "Be kind."
        assert begun.system("lionagi", Task("", tools=("reader",))) is None  # it cannot type anything
        assert "li team send" in (begun.system("lionagi", Task("", tools=("reader", "bash"))) or "")
        assert (begun.system("claude", Task(""), member="ana") or "").startswith("You are ana")
    with launched(Launch(agent="builder")) as begun:
        assert begun.system("claude", Task("")) is None


def test_a_run_belongs_to_the_one_around_it_and_one_that_goes_on_to_that_one(ctx: Context, location: str) -> None:
    with record("around", db=location) as around:
        with launched(Launch(db=location)) as nested:
            pass
        with launched(Launch(db=location, parent=Parent(nested.run.session_id, nested.run.id))) as after:
            pass
    assert get_session(ctx, nested.run.session_id).parent_session_id == around.session_id
    assert get_session(ctx, after.run.session_id).parent_session_id == nested.run.session_id
    [branch] = list_branches(ctx, after.run.session_id)
    assert (branch.parent_branch_id, branch.forked_at_ord) == (nested.run.id, 0)


@pytest.mark.parametrize(
    ("launch", "error"),
    [
        (Launch(show_topic="t"), InvalidRequest),
        (Launch(show_play="p"), InvalidRequest),
        (Launch(timeout=0), InvalidRequest),
        (Launch(timeout=float("nan")), InvalidRequest),
        (Launch(save="/proc/nowhere"), Unavailable),
        (Launch(kind="agnet"), UnknownWord),
        (Launch(show_topic="../../etc", show_play="p"), InvalidRequest),
        (Launch(show_topic="t", show_play=".hidden"), InvalidRequest),
        (Launch(team=" "), InvalidRequest),
        (Launch(team="crew", members=("all",)), InvalidRequest),
    ],
)
def test_what_cannot_be_launched_begins_no_run(
    sqlite_ctx: Context, sqlite_path: Path, launch: Launch, error: type[Exception]
) -> None:
    with pytest.raises(error), launched(launch._replace(db=str(sqlite_path))):
        raise AssertionError("It has begun.")
    assert list_sessions(sqlite_ctx).items == ()


def test_a_file_that_cannot_be_saved_is_said_and_ends_nothing(
    sqlite_ctx: Context, sqlite_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    with launched(Launch(db=str(sqlite_path), save=str(folder))) as begun:
        for name in ("answer.md", f"answer.{begun.run.session_id}.md"):
            (folder / name).mkdir()
        begun.save("answer.md", Worked("text", 0))
        begun.save("other.md", Worked("half \ud800", 0))
    assert (folder / "other.md").read_text() == "half ?\n"
    assert f"answer.md could not be written to {folder} (File exists)." in capsys.readouterr().err
    assert only_run(sqlite_ctx).status is SessionStatus.COMPLETED


JOIN = """
import sys
from lionstudio.recorders.team_joining import join_team
from lionstudio.settings import load_settings
sys.stdin.readline()
join_team(load_settings(db=sys.argv[1]), "crew", [sys.argv[2]], say=print)
"""


@pytest.mark.parametrize("kept", ["files", "database"])
def test_runs_that_join_one_team_at_the_same_time_make_one_and_are_all_in_it(
    ctx: Context, location: str, home: Path, kept: str
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f'teams = "{kept}"\n')
    names = [f"agent-{number}" for number in range(4)]
    joining = [Agent(JOIN, location, name) for name in names]
    try:
        for agent in joining:
            agent.tell()
        ended = [agent.end() for agent in joining]
    finally:
        for agent in joining:
            agent.__exit__(None, None, None)
    assert [one.stderr for one in ended] == [""] * 4
    [listed] = list_with_counts(ctx)
    assert sorted(listed.team.members) == names


def test_the_beginning_of_an_id_is_the_name_of_another_team(sqlite_ctx: Context, sqlite_path: Path) -> None:
    settings = load_settings(db=str(sqlite_path))
    first = join_team(settings, "crew", ["ana"], say=print)
    second = join_team(settings, first.id[:4], ["ana"], say=print)
    assert second.id != first.id
    assert join_team(settings, first.id, ["bob"], say=print).members == ("ana", "bob")


FOREIGN = """
import sys
from lionstudio.domain.errors import ForeignDatabase
from lionstudio.engines.launch import Launch, launched
try:
    with launched(Launch(db=sys.argv[1], team="crew", members=("ana",))):
        print("begun")
except ForeignDatabase as error:
    print(error.code)
"""


def test_a_database_of_another_program_begins_no_run_and_leaves_no_folder_and_no_team(
    home: Path, tmp_path: Path
) -> None:
    place = tmp_path / "theirs.db"
    make = f"import sqlite3; sqlite3.connect({str(place)!r}).execute('create table x (y)')"
    subprocess.run([sys.executable, "-c", make], check=True)
    assert run_agent(FOREIGN, place).stdout == "foreign_database\n"
    assert not (home / "runs").exists()
    assert list((home / "teams").glob("*")) == []
