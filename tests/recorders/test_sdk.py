"""The public API: what the documentation shows, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest

import lionstudio
from lionstudio.domain.conversation import Message
from lionstudio.domain.errors import ForkOutOfRange, InvalidRequest, UnknownWord
from lionstudio.domain.session import InvocationKind, SessionStatus, SourceKind
from lionstudio.domain.usage import Usage
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session, get_usage, list_history, list_processes
from tests.recorders.agents import Agent


def texts(messages: list[Message]) -> list[object]:
    return [next(iter(message.content.values())) for message in messages]


def test_the_documented_example_runs_as_written(ctx: Context, location: str) -> None:
    with lionstudio.record(
        "triage", kind="agent", agent="architect", model="claude/claude-sonnet-4-6", db=location
    ) as run:
        run.user("Find the failing test")
        call = run.tool_call("bash", {"cmd": "pytest -q"})
        run.tool_result(call, "1 failed", error=True)
        run.assistant("It is test_parse.", usage={"input_tokens": 900, "output_tokens": 40})
        helper = run.branch("reviewer", model="openai/gpt-5")
        helper.user("Is that so?")
        retry = helper.fork("retry", at=3)
        run.message(
            role="user",
            content={"instruction": "Go on"},
            lion_class="my.own.Class",
            sender="ana",
            recipient="architect",
            channel="talk",
            node_metadata={"source": "test"},
            id="m-1",
            created_at=1_790_000_000.5,
        )
        run.send("architect", {"text": "done"}, channel="handover")
        inbox = run.inbox(after=None)

    session = get_session(ctx, run.session_id)
    assert (session.name, session.agent_name, session.status) == ("triage", "architect", SessionStatus.COMPLETED)
    assert (session.invocation_kind, session.source_kind) == (InvocationKind.AGENT, SourceKind.LIVE)
    assert (session.exit_code, session.end_actor, session.end_reason) == (None, "run", "run.completed.normal")
    assert (session.message_count, session.branch_count) == (6, 3)
    assert session.first_msg_id is not None
    assert session.last_msg_id == "m-1"

    said = list_messages(ctx, run.session_id)
    assert [message.kind for message in said] == ["user", "tool_call", "tool_result", "assistant", "user", "user"]
    assert said[2].content == {
        "function": "bash",
        "arguments": {"cmd": "pytest -q"},
        "output": "1 failed",
        "action_request_id": call.id,
        "error": True,
    }
    assert said[5] == Message(
        id="m-1",
        created_at=1_790_000_000.5,
        role="user",
        content={"instruction": "Go on"},
        lion_class="my.own.Class",
        sender="ana",
        recipient="architect",
        channel="talk",
        node_metadata={"source": "test"},
        position=6,
    )
    assert [message.content for message in inbox] == [{"instruction": "Go on"}, {"text": "done"}]
    main, reviewer, fork = list_branches(ctx, run.session_id)
    assert (main.name, main.node_metadata) == ("main", {"model": "claude/claude-sonnet-4-6"})
    assert (reviewer.parent_branch_id, reviewer.forked_at_ord, reviewer.message_count) == (main.id, 4, 1)
    assert (fork.id, fork.parent_branch_id, fork.forked_at_ord) == (retry.id, reviewer.id, 3)
    assert list_messages(ctx, run.session_id, retry.id) == said[:3]
    assert get_usage(ctx, run.session_id) == {
        "claude/claude-sonnet-4-6": Usage(input_tokens=900, output_tokens=40),
    }
    (process,) = list_processes(ctx, run.session_id)
    assert process.session_id == run.session_id


def test_a_branch_of_the_run_begins_with_all_that_was_said(ctx: Context, location: str) -> None:
    with lionstudio.record("forks", db=location) as run:
        run.user("one")
        run.user("two")
        everything, nothing, one = run.branch("everything"), run.branch("nothing", at=0), run.fork("one", at=1)
        run.user("three")
        for branch in (everything, nothing, one):
            branch.user("mine")
    assert texts(list_messages(ctx, run.session_id, everything.id)) == ["one", "two", "mine"]
    assert texts(list_messages(ctx, run.session_id, nothing.id)) == ["mine"]
    assert texts(list_messages(ctx, run.session_id, one.id)) == ["one", "mine"]
    assert texts(list_messages(ctx, run.session_id, run.id)) == ["one", "two", "three"]


def test_another_agent_of_a_run_has_a_branch_that_is_a_fork_of_none(ctx: Context, location: str) -> None:
    with lionstudio.record("flow", db=location, model="claude/a") as run:
        run.user("First")
        critic = run.agent("critic", model="codex/b", metadata={"provider": "codex"})
        critic.user("Second")
        unnamed = run.agent()
    _, second, third = list_branches(ctx, run.session_id)
    assert (second.id, second.name, second.parent_branch_id, second.forked_at_ord) == (critic.id, "critic", None, None)
    assert second.node_metadata == {"model": "codex/b", "provider": "codex"}
    assert (third.id, third.name, third.node_metadata) == (unnamed.id, None, None)
    assert texts(list_messages(ctx, run.session_id, critic.id)) == ["Second"]


@pytest.mark.parametrize("at", [3, -1])
def test_a_fork_where_the_branch_has_no_message_is_refused(ctx: Context, location: str, at: int) -> None:
    with lionstudio.record(db=location) as run:
        run.user("one")
        run.user("two")
        with pytest.raises(ForkOutOfRange, match="has 2 messages"):
            run.fork("too far", at=at)
        run.user("three")
    assert len(list_branches(ctx, run.session_id)) == 1
    assert texts(list_messages(ctx, run.session_id)) == ["one", "two", "three"]


def test_a_run_can_be_started_and_finished_without_a_block(ctx: Context, location: str) -> None:
    run = lionstudio.record("by hand", db=location)
    assert run.start() is run
    run.user("one")
    run.finish(exit_code=124)
    run.finish(status="failed")  # a second time it does nothing
    session = get_session(ctx, run.session_id)
    assert (session.status, session.exit_code) == (SessionStatus.TIMED_OUT, 124)
    assert len(list_history(ctx, run.session_id)) == 2


@pytest.mark.parametrize("status", [status for status in SessionStatus if status is not SessionStatus.RUNNING])
def test_a_run_may_say_itself_how_it_ended(ctx: Context, location: str, status: SessionStatus) -> None:
    with lionstudio.record(db=location) as run:
        run.finish(status=status)
    assert get_session(ctx, run.session_id).status is status


def test_a_run_that_does_not_know_how_to_end_goes_on(ctx: Context, location: str) -> None:
    with lionstudio.record(db=location) as run:
        for wrong in ("running", "done", ["failed"]):
            with pytest.raises(UnknownWord, match="is not a status that a run can end with") as raised:
                run.finish(status=wrong)  # type: ignore[arg-type]
            assert raised.value.hint == "Use one of: aborted, cancelled, completed, failed, timed_out."
        with pytest.raises(InvalidRequest, match="not an exit code"):
            run.finish(exit_code=2**40)
        run.user("still here")
    assert get_session(ctx, run.session_id).status is SessionStatus.COMPLETED


def test_a_run_is_used_only_between_its_start_and_its_end(ctx: Context, location: str) -> None:
    run = lionstudio.record(db=location)
    with pytest.raises(InvalidRequest, match="not open"):
        run.user("too early")
    with pytest.raises(InvalidRequest, match="not begun"):
        run.finish()
    with run:
        branch = run.branch("side")
        with pytest.raises(InvalidRequest, match="begun already"):
            run.start()
    for speak in (lambda: run.user("late"), lambda: branch.user("late"), lambda: run.fork(), lambda: run.send("a", 1)):
        with pytest.raises(InvalidRequest, match="has ended") as raised:
            speak()
        assert "new one" in str(raised.value.hint)
    with pytest.raises(InvalidRequest, match="begun already"):
        run.start()
    assert get_session(ctx, run.session_id).message_count == 0


def test_the_system_message_of_a_branch_is_known(ctx: Context, location: str) -> None:
    with lionstudio.record(db=location) as run:
        first = run.system("Be brief.")
        run.user("hello")
        side = run.branch("side", at=0)
        second = side.system("Be kind.")
    main, other = list_branches(ctx, run.session_id)
    assert (main.system_msg_id, other.system_msg_id) == (first.id, second.id)


def test_usage_is_counted_by_model_and_once_for_each_message(ctx: Context, location: str) -> None:
    with lionstudio.record(model="a", db=location) as run:
        run.assistant("one", usage={"input_tokens": 5, "output_tokens": 1, "cost_usd": 0.5}, id="m")
        run.assistant("one, again", usage={"input_tokens": 7, "output_tokens": 2, "cost_usd": 0.75}, id="m")
        run.assistant("other model", usage={"input_tokens": 1}, model="b")
        run.branch("side", model="c").assistant("of the branch", usage={"output_tokens": 3})
    assert get_usage(ctx, run.session_id) == {
        "a": Usage(input_tokens=7, output_tokens=2, cost_usd=0.75),
        "b": Usage(input_tokens=1),
        "c": Usage(output_tokens=3),
    }


def test_a_message_sent_twice_is_updated_in_place(ctx: Context, location: str) -> None:
    with lionstudio.record(db=location) as run:
        run.user("draft", id="m-1")
        run.user("between")
        run.user("final", id="m-1")
    assert texts(list_messages(ctx, run.session_id)) == ["final", "between"]


SAME_MESSAGE = """
import sys
from lionstudio.domain.conversation import MessageDraft
from lionstudio.services.context import open_context
from lionstudio.services.messages import append_message, find_line
from lionstudio.settings import load_settings

ctx = open_context(load_settings(db=sys.argv[1]))
line = find_line(ctx, sys.argv[2], sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for number in range(50):
    append_message(ctx, line, MessageDraft("user", {"instruction": f"from {sys.argv[4]}"}, id=f"same-{number}"))
"""


def test_a_message_sent_by_two_processes_at_once_stands_there_once(ctx: Context, location: str) -> None:
    with lionstudio.record(db=location) as run:
        writers = [Agent(SAME_MESSAGE, location, run.session_id, run.id, number) for number in (1, 2)]
        for writer in writers:
            assert writer.line() == "ready"
        for writer in writers:
            writer.tell()
        for writer in writers:
            with writer:
                assert writer.end() == (0, "", "")
    said = list_messages(ctx, run.session_id)
    assert sorted(message.id for message in said) == sorted(f"same-{number}" for number in range(50))
    assert [message.position for message in said] == list(range(1, 51))


def test_runs_write_to_each_other(ctx: Context, location: str) -> None:
    with (
        lionstudio.record("sender", db=location) as sender,
        lionstudio.record("receiver", agent="architect", db=location) as receiver,
    ):
        side = receiver.branch("reviewer")
        sender.send("architect", {"text": "one"}, channel="handover")
        sender.send(receiver.session_id, {"text": "two"}, channel="talk")
        sender.send(side.id, {"text": "three"}, channel="handover")
        first, second, third = receiver.inbox()
        assert [message.content["text"] for message in (first, second, third)] == ["one", "two", "three"]
        assert first.sender == sender.session_id
        assert receiver.inbox(after=first) == [second, third]
        assert receiver.inbox(after=third.position) == []
        assert receiver.inbox(channel="handover") == [first, third]
        assert side.inbox() == [third]
        assert sender.inbox() == []
        assert sender.outbox() == [first, second, third]
        assert sender.outbox(after=second) == [third]
        side.send("sender", {"text": "thanks"})
        (answer,) = sender.inbox()
        assert (answer.sender, side.outbox()) == (side.id, [answer])
    assert list_messages(ctx, sender.session_id) == []  # what is sent stands in no transcript


def test_the_reader_pages_through_what_was_recorded(ctx: Context, location: str) -> None:
    with lionstudio.record("read me", agent="reader", db=location) as run:
        for number in range(5):
            run.user(f"m{number}", embedding=[1.0, float(number)])
        branch = run.branch("side")
        branch.user("aside")
    with lionstudio.open(location) as reader:
        assert [session.id for session in reader.sessions(agent="reader")] == [run.session_id]
        assert reader.session(run.session_id).message_count == 6
        assert texts(reader.messages(run.session_id, after=2, limit=2)) == ["m2", "m3"]
        assert texts(reader.messages(run.session_id, branch.id, after=4)) == ["m4", "aside"]
        assert [found.name for found in reader.branches(run.session_id)] == ["main", "side"]
        assert texts([found.message for found in reader.similar([1.0, 0.0], limit=2)]) == ["m0", "m1"]


def test_an_unknown_kind_of_run_is_refused_before_anything_happens(home: Path) -> None:
    with pytest.raises(UnknownWord, match="picnic"):
        lionstudio.record("triage", kind="picnic")
    assert not home.exists()


def test_a_run_stays_in_its_database_when_the_agent_changes_its_folder(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with lionstudio.record(db="here.db") as run:
        monkeypatch.chdir("/")
        run._recording.keeper.ctx.db.close()  # so that the next message opens it again
        run.user("still here")
    with lionstudio.open(tmp_path / "here.db") as reader:
        assert texts(reader.messages(run.session_id)) == ["still here"]


@pytest.mark.parametrize("wrong", ["1", 1.0, 2**70])
def test_what_is_no_exit_code_is_refused_at_once(sqlite_path: Path, home: Path, wrong: object) -> None:
    with lionstudio.record(db=sqlite_path) as run, pytest.raises(InvalidRequest, match="not an exit code"):
        run.finish(exit_code=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["1", 1.5, True])
def test_what_is_no_position_is_refused_before_anything_is_stored(sqlite_path: Path, home: Path, wrong: object) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        run.user("one")
        with pytest.raises(InvalidRequest, match="not a position"):
            run.fork("wrong", at=wrong)  # type: ignore[arg-type]
    with lionstudio.open(sqlite_path) as reader:
        assert len(reader.branches(run.session_id)) == 1


@pytest.mark.parametrize("call", [None, 7, object()])
def test_a_result_without_its_call_is_refused(sqlite_ctx: Context, sqlite_path: Path, call: object) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        with pytest.raises(InvalidRequest, match="A tool result belongs to a call") as raised:
            run.tool_result(call, "1 failed")  # type: ignore[arg-type]
        run.tool_result("an-id", "from another process")
    assert "tool_call" in str(raised.value.hint)
    assert get_session(sqlite_ctx, run.session_id).message_count == 1


@pytest.mark.parametrize("wrong", [{"usage": "900"}, {"usage": 900}, {"node_metadata": "text"}])
def test_usage_and_metadata_of_an_answer_are_mappings(sqlite_path: Path, home: Path, wrong: dict[str, Any]) -> None:
    with lionstudio.record(db=sqlite_path) as run, pytest.raises(InvalidRequest, match="must be mappings"):
        run.assistant("Done.", **wrong)


@pytest.mark.parametrize("wrong", [{"metadata": ["a"]}, {"metadata": "text"}])
def test_a_run_with_metadata_that_is_no_mapping_is_refused(home: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="The metadata must be a mapping"):
        lionstudio.record(**wrong)


def test_a_folder_for_artifacts_is_a_path(home: Path) -> None:
    with pytest.raises(InvalidRequest, match="The artifacts_path must be a path, not int"):
        lionstudio.record(artifacts_path=5)  # type: ignore[arg-type]


def test_an_inbox_is_read_after_a_message_or_its_position(sqlite_path: Path, home: Path) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        for wrong in ({"after": "an-id"}, {"after": 10**30}, {"channel": 7}):
            with pytest.raises(InvalidRequest):
                run.inbox(**wrong)  # type: ignore[arg-type]


def test_runs_and_branches_say_what_they_are(sqlite_path: Path, home: Path) -> None:
    with lionstudio.record("triage", db=sqlite_path) as run:
        branch = run.branch("side")
    assert repr(run) == f"<Run 'triage' {run.session_id}>"
    assert repr(branch) == f"<Branch 'side' {branch.id}>"
