"""Run folders: there while a run runs, whole when it has ended, and read back into an equal session."""

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lionstudio.domain.conversation import Branch, Message
from lionstudio.domain.session import Session, SessionStatus, SourceKind
from lionstudio.engines.launch import Launch, Launched, Parent, launched
from lionstudio.importers.run_folders import import_run_folders
from lionstudio.recorders.branch import BranchRecorder
from lionstudio.recorders.recorder import record
from lionstudio.recorders.run_folder import RunFolder
from lionstudio.services.branches import list_branches
from lionstudio.services.change_feed import read_changes
from lionstudio.services.context import Context, open_context
from lionstudio.services.messages import list_messages
from lionstudio.services.rehearsal import open_rehearsal
from lionstudio.services.sessions import get_session, get_usage
from lionstudio.settings import load_settings
from tests.cli.recording import Recorder
from tests.postgres_server import PostgresServer
from tests.recorders.agents import IMPATIENT, Agent, run_agent
from tests.waiting import wait_until

ADDED_BY_IMPORT = ("lion_class", "lionagi", "run_json")


def told(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(folder, "run.json").read_text())
    return found


@pytest.fixture
def other(ctx: Context, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Context]:
    """A second database of the same engine, which knows nothing."""
    if ctx.db.dialect.local:
        with _opened(str(tmp_path / "other.db")) as opened:
            yield opened
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    with server.new_database() as url, _opened(url) as opened:
        yield opened


@contextmanager
def _opened(location: str) -> Iterator[Context]:
    opened = open_context(load_settings(db=location))
    yield opened
    opened.db.close()


# What a run is, without what an import adds to it: where it came from, and what only lionagi can read. When a branch
# was last written to is the time of a write, which a folder does not tell, where its message names another time.


def session_in(ctx: Context, session_id: str) -> Session:
    session = get_session(ctx, session_id)
    return session._replace(source_kind=SourceKind.LIVE, node_metadata=_own(session.node_metadata))


def branches_in(ctx: Context, session_id: str) -> list[Branch]:
    found = list_branches(ctx, session_id)
    return [branch._replace(node_metadata=_own(branch.node_metadata), last_at=None) for branch in found]


def messages_in(ctx: Context, session_id: str, branch_id: str | None = None) -> list[Message]:
    return list(list_messages(ctx, session_id, branch_id, limit=10_000))


def _own(metadata: Any) -> dict[str, Any] | None:
    return {name: value for name, value in (metadata or {}).items() if name not in ADDED_BY_IMPORT} or None


def everything(ctx: Context, session_id: str) -> tuple[Any, ...]:
    branches = branches_in(ctx, session_id)
    histories = {branch.id: messages_in(ctx, session_id, branch.id) for branch in branches}
    # A message that got another model leaves a row of zeros behind.
    usage = {model: used for model, used in get_usage(ctx, session_id).items() if used.output_tokens}
    return session_in(ctx, session_id), branches, messages_in(ctx, session_id), histories, usage


def import_and_compare(ctx: Context, other: Context, root: str, *session_ids: str) -> None:
    """Import into the database that has recorded the runs, which changes nothing, and into one that is new."""
    news = read_changes(ctx, 0)
    report = import_run_folders(ctx, root)
    assert (report.problems, report.notes) == ((), ())
    assert read_changes(ctx, 0) == news
    for _ in range(2):
        assert import_run_folders(other, root).problems == ()
        for session_id in session_ids:
            assert everything(other, session_id) == everything(ctx, session_id)


def test_a_run_is_in_its_folder_from_the_beginning_on(ctx: Context, location: str, home: Path) -> None:
    with launched(Launch(name="triage", agent="architect", db=location, cwd="/somewhere")) as begun:
        folder, session_id = begun.folder.path, begun.run.session_id
        assert folder == str(home / "runs" / session_id)
        running = told(folder)
        assert (running["status"], running["ended_at"], running["name"]) == ("running", None, "triage")
        assert running["started_at"] == get_session(ctx, session_id).started_at
        assert (running["cwd"], running["branch_id"]) == ("/somewhere", begun.run.id)
        assert os.listdir(running["artifact_root"]) == []
        assert Path(folder, "run.lock").read_text() == f"{os.getpid()}\n"
        begun.run.user("Hi")
    ended = told(folder)
    assert (ended["status"], ended["exit_code"], ended["end_reason"]) == ("completed", 0, "run.completed.normal")
    assert sorted(os.listdir(folder)) == ["artifacts", "branches", "progression.json", "run.json"]
    assert os.listdir(f"{folder}/branches") == [f"{begun.run.id}.json"]


def test_only_its_owner_may_look_into_a_run_folder(home: Path) -> None:
    with launched(Launch()) as begun:
        pass
    assert stat.S_IMODE(os.stat(begun.folder.path).st_mode) == 0o700


def test_a_run_that_runs_comes_in_from_its_folder_and_later_its_end(
    ctx: Context, other: Context, location: str, home: Path
) -> None:
    with launched(Launch(name="slow", db=location)) as begun:
        begun.run.user("Hi")
        assert import_run_folders(other, str(home / "runs")).notes == ()
        running = get_session(other, begun.run.session_id)
        assert (running.status, running.name, running.message_count) == (SessionStatus.RUNNING, "slow", 0)
        begun.end(130)
    import_run_folders(other, str(home / "runs"))
    ended = get_session(other, begun.run.session_id)
    assert (ended.status, ended.exit_code, ended.message_count) == (SessionStatus.ABORTED, 130, 1)
    assert [branch.id for branch in list_branches(other, ended.id)] == [begun.run.id]


def test_a_whole_run_is_read_back_equal(ctx: Context, other: Context, location: str, home: Path) -> None:
    launch = Launch(
        kind="play", name="night", agent="builder", playbook="fix", model="claude/opus", db=location,
        show_topic="release", show_play="docs", metadata={"expect": ["*.md"]}, save=str(home / "files"),
    )  # fmt: skip
    with launched(launch) as begun:
        run = begun.run
        run.describe({"provider": "claude", "effort": "high", "tools": ["Bash"], "prompt": "Be brief."})
        run.system("Be brief.")
        run.user("Build it", sender="ana", recipient="builder")
        call = run.tool_call("bash", {"cmd": "make"})
        side = run.fork("retry", at=2, model="claude/haiku")
        second = run.agent("reviewer", model="codex/gpt", metadata={"effort": "low"})
        second.user("Look at it", created_at=12.5)  # by another clock: the order of the run is not that of times
        run.tool_result(call, "1 failed", error=True)
        side.assistant("No.", usage={"input_tokens": 7, "output_tokens": 1, "cost_usd": 0.25})
        run.assistant("Done.", usage={"input_tokens": 900, "cache_read_tokens": 3})
        run.message(role="notice", content="\ud800 \0 half", channel="c", recipient="ana", embedding=[0.5, 2.0])
        begun.end(1, "run.failed.reported", "It says so itself.")
    import_and_compare(ctx, other, str(home / "runs"), run.session_id)
    session = get_session(other, run.session_id)
    assert (session.name, session.invocation_kind) == ("show_release_docs", "show-play")
    assert [branch.system_msg_id is not None for branch in list_branches(other, session.id)] == [True, True, False]


def test_a_run_that_goes_on_with_another_one_is_read_back_as_its_fork(
    ctx: Context, other: Context, location: str, home: Path
) -> None:
    with launched(Launch(name="first", db=location)) as first:
        first.run.system("Be brief.")
        first.run.user("One")
        first.run.assistant("Two")
    with launched(_after(first, 2, location)) as second:
        second.run.user("Three")
    with launched(_after(second, None, location)) as third:
        third.run.user("Four")
    ids = [one.run.session_id for one in (first, second, third)]
    import_and_compare(ctx, other, str(home / "runs"), *ids)
    assert [message.content for message in messages_in(other, ids[2], third.run.id)] == [
        {"system_message": "Be brief."}, {"instruction": "One"}, {"instruction": "Three"}, {"instruction": "Four"}
    ]  # fmt: skip
    assert get_session(other, ids[2]).parent_session_id == ids[1]


def _after(before: Launched, position: int | None, location: str) -> Launch:
    return Launch(db=location, parent=Parent(before.run.session_id, before.run.id, position))


def test_a_run_whose_parent_is_elsewhere_brings_its_history(
    ctx: Context, other: Context, location: str, home: Path
) -> None:
    with launched(Launch(db=location)) as first:
        first.run.user("One")
    with launched(_after(first, None, location)) as second:
        second.run.user("Two")
    for _ in range(2):
        import_run_folders(other, second.folder.path)
    found = messages_in(other, second.run.session_id, second.run.id)
    assert [message.content["instruction"] for message in found] == ["One", "Two"]
    (branch,) = list_branches(other, second.run.session_id)
    assert (branch.parent_branch_id, (branch.node_metadata or {})["clone_from"]["id"]) == (None, first.run.id)


def test_a_dry_run_counts_what_an_import_of_forks_does(home: Path, tmp_path: Path) -> None:
    with launched(Launch()) as first:
        first.run.user("One")
    with launched(Launch(parent=Parent(first.run.session_id, first.run.id))) as second:
        second.run.user("Two")
    there = load_settings(db=str(tmp_path / "other.db"))
    with open_rehearsal(there) as rehearsal:
        planned = import_run_folders(rehearsal, str(home / "runs"))
    with _opened(there.db) as opened:
        assert import_run_folders(opened, str(home / "runs")) == planned
    assert planned.counts["messages added"] == 2


# Any run: branches and forks of forks, at any position, that take turns; and a run that goes on with one of them.
STEP = st.tuples(st.sampled_from(["say", "say", "say", "fork", "agent", "again"]), st.integers(0, 99))
TEXT = st.text(min_size=1, max_size=8)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_run_is_read_back_equal(
    ctx: Context, other: Context, location: str, home: Path, data: st.DataObject
) -> None:
    parent: Parent | None = None
    ids = []
    for _ in range(data.draw(st.integers(1, 2), "runs")):
        launch = Launch(
            name=data.draw(st.none() | TEXT, "name"), agent=data.draw(st.none() | TEXT, "agent"), db=location,
            kind=data.draw(st.sampled_from(["agent", "play", "flow", "fanout"]), "kind"), parent=parent,
        )  # fmt: skip
        with launched(launch) as begun:
            branches = _play(begun, data)
            begun.end(data.draw(st.sampled_from([0, 1, 3, 124, 126, 127, 129, 130, 137, 143]), "exit code"))
        ids.append(begun.run.session_id)
        parent = Parent(begun.run.session_id, data.draw(st.sampled_from(branches), "parent").id)
        length = len(messages_in(ctx, parent.session_id, parent.branch_id))
        parent = parent._replace(position=data.draw(st.integers(0, length), "position"))
    for session_id in ids:
        import_and_compare(ctx, other, str(home / "runs" / session_id), session_id)


def _play(begun: Launched, data: st.DataObject) -> list[BranchRecorder]:
    branches: list[BranchRecorder] = [begun.run]
    lengths = {begun.run.id: begun.launch.parent.position or 0 if begun.launch.parent else 0}
    said: list[tuple[str, str]] = []
    for step, number in data.draw(st.lists(STEP, max_size=12), "steps"):
        branch = branches[number % len(branches)]
        if step == "say":
            kind = data.draw(st.sampled_from(["system", "user", "assistant", "tool"]))
            at = data.draw(st.none() | st.floats(1.0, 2e9))
            said.append((kind, _say(branch, kind, data.draw(TEXT), created_at=at)))
            lengths[branch.id] += 1
        elif step == "fork":
            at = number % (lengths[branch.id] + 1)
            branches.append(branch.fork(data.draw(st.none() | TEXT), at=at))
            lengths[branches[-1].id] = at
        elif step == "agent":
            branches.append(begun.run.agent(data.draw(st.none() | TEXT), model="m"))
            lengths[branches[-1].id] = 0
        elif said:
            kind, message_id = said[number % len(said)]
            _say(branch, kind, "again", id=message_id)
            lengths[branch.id] = len(messages_in_now(begun, branch))  # it may stand in it already
    return branches


def messages_in_now(begun: Launched, branch: BranchRecorder) -> list[Message]:
    return list_messages(begun.run._recording.keeper.ctx, begun.run.session_id, branch.id, limit=10_000)


def _say(branch: BranchRecorder, kind: str, text: str, **more: Any) -> str:
    if kind == "tool":
        return branch.tool_call("bash", {"cmd": text}, **more).id
    if kind == "assistant":
        return branch.assistant(text, usage={"output_tokens": 2, "cost_usd": 0.5}, **more).id
    return (branch.system if kind == "system" else branch.user)(text, **more).id


def test_the_lock_is_gone_after_a_failure_and_the_folder_says_what_happened(home: Path) -> None:
    with pytest.raises(ZeroDivisionError), launched(Launch()) as begun:
        begun.run.user("Hi")
        raise ZeroDivisionError("none left")
    assert "run.lock" not in os.listdir(begun.folder.path)
    assert (told(begun.folder.path)["status"], told(begun.folder.path)["end_reason"]) == (
        "failed",
        "run.failed.exception",
    )


def test_a_run_that_is_recorded_by_hand_can_have_a_folder_too(ctx: Context, other: Context, location: str) -> None:
    run = record("by hand", kind="command", db=location).start()
    folder = RunFolder(run)
    folder.begin()
    run.user("Hi")
    run.finish(exit_code=3)
    folder.finish()
    assert "artifacts" not in os.listdir(folder.path)  # it names none
    import_and_compare(ctx, other, str(Path(folder.path).parent), run.session_id)


def test_a_recorded_command_that_lasts_is_in_its_folder_while_it_runs_and_is_read_back_equal(
    ctx: Context, other: Context, location: str, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "go")
    script = f"echo one; echo two >&2; read -r _ < {tmp_path / 'go'}; echo three; exit 3"
    recorder = Recorder(location)
    words = ("--name", "build", "--save", str(tmp_path / "out"), "--expect", "*.txt", "--", "sh", "-c", script)
    with recorder.process(*words, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: list((home / "runs").glob("*/run.json")), within=60.0)
        session_id = recorder.session.id
        folder = str(home / "runs" / session_id)
        assert (told(folder)["status"], told(folder)["cwd"]) == ("running", os.getcwd())
        (tmp_path / "go").write_text("go on\n")
        assert process.wait() == 3
    assert sorted(os.listdir(folder)) == ["branches", "progression.json", "run.json"]
    import_and_compare(ctx, other, str(home / "runs"), session_id)
    assert session_in(other, session_id).exit_code == 3


def test_a_recorded_command_that_is_over_at_once_is_not_held_up_for_a_folder(home: Path) -> None:
    assert Recorder(str(home / "state.db")).run("--", "true").code == 0
    assert not (home / "runs").exists()


@pytest.mark.parametrize("obstacle", ["a file in its place", "taken away meanwhile"])
def test_a_folder_that_cannot_be_written_is_said_once_and_harms_no_run(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, obstacle: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = home / "runs"
    if obstacle == "a file in its place":
        home.mkdir(exist_ok=True)
        runs.write_text("not a folder")
    with launched(Launch(db=str(sqlite_path))) as begun:
        begun.run.user("Hi")
        if obstacle != "a file in its place":
            runs.rename(home / "elsewhere")
            runs.write_text("not a folder")
    assert capsys.readouterr().err.count("lionstudio: The folder") == 1
    session = get_session(sqlite_ctx, begun.run.session_id)
    assert (session.status, session.message_count) == (SessionStatus.COMPLETED, 1)


def test_a_full_disk_under_the_folder_harms_no_run(
    sqlite_ctx: Context, sqlite_path: Path, small_disk: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home.mkdir(exist_ok=True)
    (home / "runs").symlink_to(small_disk)
    with launched(Launch(db=str(sqlite_path))) as begun:
        begun.run.user("x" * 3_000_000)
    assert "is not whole: No space left on device" in capsys.readouterr().err
    assert get_session(sqlite_ctx, begun.run.session_id).status is SessionStatus.COMPLETED
    assert told(begun.folder.path)["status"] == "running"  # the last that could be written, and it is whole
    assert not list(small_disk.rglob(".*.json.*"))


AWAY = (
    IMPATIENT
    + """
import os, sys
from lionstudio.engines.launch import Launch, launched
with launched(Launch(db=sys.argv[1])) as begun:
    print(begun.folder.path, flush=True)
    sys.stdin.readline()
    begun.run.user("Hi")
    begun.end(3)
"""
)


def test_the_end_is_in_the_folder_though_the_database_is_away(home: Path, sqlite_path: Path) -> None:
    with Agent(AWAY, sqlite_path) as agent:
        folder = agent.line()
        held = sqlite_path.with_suffix(".held")
        os.rename(sqlite_path, held)
        sqlite_path.mkdir()
        agent.tell()
        ended = agent.end()
    assert ended.returncode == 0, ended.stderr
    assert "What it said is not in the folder." in ended.stderr
    assert (told(folder)["status"], told(folder)["exit_code"]) == ("failed", 3)
    assert not Path(folder, "run.lock").exists()


KILLED = """
import os, signal, sys
from lionstudio.engines.launch import Launch, launched
with launched(Launch()) as begun:
    print(begun.folder.path, flush=True)
    begun.run.user("Hi")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_is_in_its_folder_as_it_was(home: Path) -> None:
    ended = run_agent(KILLED)
    folder = ended.stdout.strip()
    assert told(folder)["status"] == "running"
    assert Path(folder, "run.lock").exists()
