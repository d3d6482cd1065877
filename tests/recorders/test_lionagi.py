"""A user's own lionagi session, recorded as it happens: the real package, against a model server of ours."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from lionagi import Branch, Session, iModel
from lionagi.protocols.messages import AssistantResponse
from lionagi.protocols.messages.manager import MessageManager

import lionstudio
from lionstudio.domain.activity import ActivityKind, derive_branch_activity
from lionstudio.domain.conversation import Message, MessageKind
from lionstudio.domain.errors import InvalidRequest, SessionNotFound
from lionstudio.domain.usage import Usage
from lionstudio.recorders import lionagi_attachment
from lionstudio.recorders.lionagi import keep_message, restore, restore_branch, restore_message
from lionstudio.services import branches, messages, sessions
from lionstudio.services.context import Context
from tests.fakes.fake_openai import FakeOpenAI
from tests.lionagi_runtime import model_at
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("quiet_runtime")


def say(branch: Branch, text: str) -> Any:
    return branch.msgs.add_message(instruction=text, sender="user")


def stored(ctx: Context, session_id: str, branch: Branch | None = None) -> list[Message]:
    return messages.list_messages(ctx, session_id, None if branch is None else str(branch.id))


def texts(found: list[Message]) -> list[str]:
    return [next(iter(message.content.values())) for message in found]


def count(ctx: Context, table: str) -> int:
    with ctx.db.read() as tx:
        return int(tx.value(f"SELECT count(*) FROM {table}"))


def live(branch: Branch) -> dict[str, Any]:
    """A branch as lionagi writes it, but for its log of requests."""
    found: dict[str, Any] = branch.to_dict(mode="db", include_logs=False)
    return found


def test_two_lines_record_a_session_and_the_block_ends_it(ctx: Context, location: str) -> None:
    session = Session(name="demo")
    with lionstudio.attach(session, db=location, agent="architect") as attached:
        said = say(session.default_branch, "Find the failing test")
        assert [message.id for message in stored(ctx, attached.session_id)] == [str(said.id)]  # stored when it returns
        assert sessions.get_session(ctx, attached.session_id).status == "running"
    run = sessions.get_session(ctx, attached.session_id)
    assert (run.id, run.name, run.agent_name, run.status) == (str(session.id), "demo", "architect", "completed")
    assert [branch.id for branch in branches.list_branches(ctx, run.id)] == [str(session.default_branch.id)]


def test_what_a_real_conversation_says_and_consumes_is_recorded(
    ctx: Context, location: str, model_server: FakeOpenAI
) -> None:
    call = '{"action_required": true, "action_requests": [{"function": "add", "arguments": {"a": 2, "b": 3}}]}'
    model_server.script.add(
        {"text": call, "usage": {"input": 100, "output": 20}},
        {"text": "It is five.", "usage": {"input": 130, "output": 6, "cache_read": 64}},
    )

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    session = Session()
    worker = session.new_branch(name="worker", system="Be brief.", chat_model=model_at(model_server), tools=[add])

    async def converse() -> str:
        async with lionstudio.attach(session, db=location) as attached:
            await worker.operate(instruction="What is 2+3?", actions=True)
            await worker.communicate("Say it in words.")
        return attached.session_id

    run_id = asyncio.run(converse())
    found = stored(ctx, run_id, worker)
    assert [message.kind.value for message in found] == [
        "system", "user", "assistant", "tool_call", "tool_result", "user", "assistant",
    ]  # fmt: skip
    assert found[4].content["output"] == 5
    assert found[3].content["action_response_id"] == found[4].id  # lionagi writes it into a call that was added before
    assert sessions.get_usage(ctx, run_id) == {
        "fake-model": Usage(input_tokens=166, cache_read_tokens=64, output_tokens=26)
    }
    row = branches.get_branch(ctx, str(worker.id))
    assert (row.name, row.system_msg_id) == ("worker", found[0].id)
    assert row.node_metadata is not None
    known = {name: row.node_metadata[name] for name in ("provider", "model", "prompt", "tools")}
    assert known == {"provider": "openai", "model": "fake-model", "prompt": "Be brief.", "tools": ["add"]}


def test_bulk_options_and_keys_of_a_model_are_not_stored(ctx: Context, location: str, model_server: FakeOpenAI) -> None:
    worker = Branch(chat_model=model_at(model_server, limit_requests=7))
    with lionstudio.attach(worker, db=location):
        say(worker, "Hello")
    text = str(branches.get_branch(ctx, str(worker.id)).node_metadata)
    assert not [word for word in ("dummy", "request_options", "processor_config", "limit_requests") if word in text]


def test_every_branch_comes_back_equal_and_a_fork_without_copies(ctx: Context, location: str) -> None:
    session = Session(name="demo")
    worker = session.new_branch(name="worker", system="Be careful.", as_default_branch=True)
    with lionstudio.attach(session, db=location) as attached:
        say(worker, "Say hi")
        request = worker.msgs.add_message(action_function="bash", action_arguments={"cmd": "echo hi"})
        worker.msgs.add_message(action_request=request, action_output={"stdout": "hi"})
        fork = session.split(worker)
        say(fork, "And on the fork?")
        again = session.split(fork)
        say(again, "And on the fork of the fork?")
        say(worker, "And on the parent?")
        assert len(again.messages) == 8  # lionagi copies, and the system message twice
    assert count(ctx, "messages") == 7
    rows = {branch.id: branch for branch in branches.list_branches(ctx, attached.session_id)}
    first, second = rows[str(fork.id)], rows[str(again.id)]
    assert (first.parent_branch_id, first.forked_at_ord, first.message_count) == (str(worker.id), 4, 1)
    assert (second.parent_branch_id, second.forked_at_ord, second.message_count) == (str(fork.id), 5, 1)
    assert first.system_msg_id == second.system_msg_id == str(worker.system.id)

    back = restore(location, attached.session_id)
    assert [branch.id for branch in back.branches] == [branch.id for branch in session.branches]
    assert back.default_branch.id == worker.id
    assert (back.id, back.name, back.created_at) == (session.id, "demo", session.created_at)
    assert live(back.branches[worker.id]) == live(worker)
    assert live(back.branches[0]) == live(session.branches[0])
    for mine, theirs in ((back.branches[fork.id], fork), (back.branches[again.id], again)):
        assert mine.system.rendered == theirs.system.rendered
        said = dict.fromkeys(message.rendered for message in theirs.messages)
        assert [message.rendered for message in mine.messages] == list(said)
        assert mine.messages[-1].to_dict(mode="db") == theirs.messages[-1].to_dict(mode="db")


def test_a_branch_that_comes_later_is_recorded_from_its_first_word(ctx: Context, location: str) -> None:
    session = Session()
    with lionstudio.attach(session, db=location) as attached:
        later = Branch(name="later", system="You came late.")
        say(later, "before it came in")
        session.include_branches(later)
        assert texts(stored(ctx, attached.session_id, later)) == ["You came late.", "before it came in"]
        say(later, "after that")
        assert texts(stored(ctx, attached.session_id, later))[-1] == "after that"
        assert branches.get_branch(ctx, str(later.id)).system_msg_id == str(later.system.id)


def test_a_new_system_message_stands_first_again_and_messages_stay_forgotten(ctx: Context, location: str) -> None:
    worker = Branch(system="Be careful.")
    with lionstudio.attach(worker, db=location) as attached:
        say(worker, "one")
        worker.msgs.add_message(system="Be careless.")
        assert restore_branch(location, str(worker.id)).system.rendered == worker.system.rendered
        say(worker, "two")
        worker.msgs.clear_messages()
        say(worker, "three")
    assert texts(stored(ctx, attached.session_id)) == ["Be careful.", "one", "Be careless.", "two", "three"]
    assert branches.get_branch(ctx, str(worker.id)).system_msg_id == str(worker.system.id)
    assert live(restore_branch(location, str(worker.id))) == live(worker)


def test_a_fork_of_a_branch_with_a_new_system_message_shares_every_message(ctx: Context, location: str) -> None:
    session = Session()
    worker = session.new_branch(system="Be careful.")
    with lionstudio.attach(session, db=location) as attached:
        say(worker, "one")
        worker.msgs.add_message(system="Be careless.")
        fork = session.split(worker)
    assert count(ctx, "messages") == 3
    assert texts(stored(ctx, attached.session_id, fork)) == ["Be careless.", "one"]
    back = restore(location, attached.session_id).branches[fork.id]
    assert (back.system.id, [message.rendered for message in back.messages]) == (
        worker.system.id, [message.rendered for message in worker.messages],
    )  # fmt: skip


def test_a_copy_that_was_changed_is_a_message_of_its_own(ctx: Context, location: str) -> None:
    session = Session()
    worker = session.new_branch(system="Be careful.")
    said = say(worker, "one")
    fork = worker.clone()
    fork.messages[-1].content.instruction = "another one"
    session.include_branches(fork)
    with lionstudio.attach(session, db=location) as attached:
        pass
    assert texts(stored(ctx, attached.session_id, worker)) == ["Be careful.", "one"]
    assert texts(stored(ctx, attached.session_id, fork)) == ["Be careful.", "another one"]
    assert messages.get_message(ctx, str(said.id)).content["instruction"] == "one"


def test_what_lionagi_changes_without_a_word_is_stored_in_the_end(ctx: Context, location: str) -> None:
    session = Session()
    branch = session.default_branch
    with lionstudio.attach(session, db=location) as attached:
        said = say(branch, "one")
        said.content.instruction = "one, in other words"
        branch.messages.include(MessageManager.create_message(instruction="put in behind everyone's back"))
        branch.metadata["note"] = "changed"
        session.change_default_branch(session.new_branch(name="other"))
    assert texts(stored(ctx, attached.session_id, branch)) == ["one, in other words", "put in behind everyone's back"]
    back = restore(location, attached.session_id)
    assert back.default_branch.name == "other"
    assert back.branches[branch.id].metadata["note"] == "changed"


def test_detaching_leaves_lionagi_as_it_was(location: str, ctx: Context) -> None:
    session = Session()
    branch = session.default_branch
    theirs: list[Any] = []
    branch.on_message_added.append(theirs.append)
    before = list(branch.on_message_added), list(branch.acts._tool_pre_hooks), list(session.observer._subs)
    include = Session.include_branches
    attached = lionstudio.attach(session, db=location)
    assert len(branch.on_message_added) == len(before[0]) + 1
    attached.detach()
    attached.detach()
    assert (branch.on_message_added, branch.acts._tool_pre_hooks, session.observer._subs) == before
    assert Session.include_branches is include
    say(branch, "after the end")
    session.new_branch(name="after the end")
    assert count(ctx, "messages") == 0
    assert len(theirs) == 1


def test_a_run_fails_with_the_block_and_is_ended_as_it_is_told(ctx: Context, location: str) -> None:
    with pytest.raises(ZeroDivisionError), lionstudio.attach(Session(), db=location) as failed:
        say(failed._target.default_branch, str(1 / 0))
    attached = lionstudio.attach(Branch(), db=location)
    attached.detach(exit_code=124)
    assert [sessions.get_session(ctx, one.session_id).status for one in (failed, attached)] == ["failed", "timed_out"]


def test_a_tool_is_seen_while_it_runs(ctx: Context, location: str) -> None:
    begun, may_end = threading.Event(), threading.Event()

    async def slow(seconds: int) -> str:
        """Take a while."""
        begun.set()
        await asyncio.to_thread(may_end.wait, 20)
        return "done"

    branch = Branch(tools=[slow])

    async def act() -> None:
        async with lionstudio.attach(branch, db=location) as attached:
            acting = asyncio.create_task(branch.act({"function": "slow", "arguments": {"seconds": 1}}))
            await asyncio.to_thread(wait_until, begun.is_set)
            await asyncio.to_thread(wait_until, lambda: branches.list_open_calls(ctx, attached.session_id))
            calls = branches.list_open_calls(ctx, attached.session_id)
            activity = derive_branch_activity(branches.get_branch(ctx, str(branch.id)), calls)
            assert (activity.kind, activity.tool) == (ActivityKind.TOOL, "slow")
            may_end.set()
            await acting
            await asyncio.to_thread(wait_until, lambda: not branches.list_open_calls(ctx, attached.session_id))
        assert [message.kind for message in stored(ctx, attached.session_id)] == [
            MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT,
        ]  # fmt: skip

    asyncio.run(act())


def nested(levels: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(levels):
        found = [found]
    return found


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("This cannot even be printed.")


@pytest.mark.parametrize(
    "output",
    [Odd(), {"deep": Odd()}, {1: 2}, float("nan"), b"bytes", "\ud800", {"again": {1, 2}}, 2**70, nested(150)],
    ids=["object", "object within", "keys", "nan", "bytes", "half a character", "set", "huge", "deep"],
)
def test_whatever_a_tool_returns_is_recorded_and_harms_nobody(ctx: Context, location: str, output: Any) -> None:
    branch = Branch()
    with lionstudio.attach(branch, db=location) as attached:
        request = branch.msgs.add_message(action_function="odd", action_arguments={"x": 1})
        branch.msgs.add_message(action_request=request, action_output=output)
        say(branch, "and on")
    assert [message.kind.value for message in stored(ctx, attached.session_id)] == ["tool_call", "tool_result", "user"]


def test_an_error_of_ours_does_not_reach_their_run(
    ctx: Context, location: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session()
    branch = session.default_branch

    def break_down(*_: object, **__: object) -> None:
        raise RuntimeError("A mistake of ours.")

    with lionstudio.attach(session, db=location) as attached:
        for name in ("message_source", "look_at", "request_of"):
            monkeypatch.setattr(lionagi_attachment, name, break_down)
        monkeypatch.setattr(attached._writer, "open_call", break_down)
        assert say(branch, "one").content.instruction == "one"
        assert session.new_branch(name="later").name == "later"
        assert asyncio.run(branch.msgs.a_add_message(instruction="two")).content.instruction == "two"
        monkeypatch.undo()
    assert capsys.readouterr().err.count("A mistake of ours.") == 1  # said once, not every time
    assert texts(stored(ctx, attached.session_id)) == ["one", "two"]  # the sweep at the end brings it in


def test_many_branches_at_once_lose_nothing(ctx: Context, location: str, model_server: FakeOpenAI) -> None:
    session = Session()

    async def converse() -> str:
        async with lionstudio.attach(session, db=location) as attached:
            model = model_at(model_server)
            workers = [session.new_branch(name=f"worker {number}", chat_model=model) for number in range(8)]
            await asyncio.gather(*(worker.communicate(f"{turn}") for worker in workers for turn in range(3)))
        return attached.session_id

    run_id = asyncio.run(converse())
    for branch in session.branches:
        assert [message.id for message in stored(ctx, run_id, branch)] == [str(id) for id in branch.progression]
    assert len(messages.list_messages(ctx, run_id, limit=1000)) == 48


def test_threads_with_and_without_an_event_loop_lose_nothing(ctx: Context, location: str) -> None:
    session = Session()
    workers = [session.new_branch(name=f"worker {number}") for number in range(4)]

    def plainly(branch: Branch) -> None:
        for number in range(20):
            say(branch, f"{number}")

    async def on_a_loop(branch: Branch) -> None:
        for number in range(20):
            await branch.msgs.a_add_message(instruction=f"{number}")
            say(branch, f"{number}, too")

    with lionstudio.attach(session, db=location) as attached:
        threads = [threading.Thread(target=plainly, args=(branch,)) for branch in workers[:2]]
        threads += [threading.Thread(target=asyncio.run, args=(on_a_loop(branch),)) for branch in workers[2:]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for branch in workers:
        assert [message.id for message in stored(ctx, attached.session_id, branch)] == [
            str(id) for id in branch.progression
        ]


def test_what_waits_is_bounded_and_the_rest_is_asked_for_later(
    ctx: Context, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lionagi_attachment, "JOBS_LIMIT", 3)
    branch = Branch()
    may_write = threading.Event()
    attached = lionstudio.attach(branch, db=location)

    async def hurry() -> None:
        attached._recording.do(lambda: may_write.wait(20) and None, wait=False)
        for number in range(10):
            await branch.msgs.a_add_message(instruction=f"{number}")
        assert attached._recording.jobs_waiting <= 3
        may_write.set()

    asyncio.run(hurry())
    wait_until(lambda: len(stored(ctx, attached.session_id)) == 10)
    attached.detach()
    assert texts(stored(ctx, attached.session_id)) == [f"{number}" for number in range(10)]


def test_a_session_that_was_recorded_before_goes_on_in_a_run_of_its_own(ctx: Context, location: str) -> None:
    session = Session(name="demo")
    worker = session.new_branch(name="worker", system="Be careful.", as_default_branch=True)
    with lionstudio.attach(session, db=location) as first:
        say(worker, "one")
    back = restore(location, first.session_id)
    with lionstudio.attach(back, db=location) as second:
        say(back.default_branch, "two")
        fork = back.split(back.default_branch)
    run = sessions.get_session(ctx, second.session_id)
    assert (run.id != first.session_id, run.parent_session_id) == (True, first.session_id)
    assert texts(stored(ctx, first.session_id)) == ["Be careful.", "one"]
    assert texts(stored(ctx, second.session_id)) == ["two"]
    again = restore(location, second.session_id)
    assert (again.id, again.default_branch.id, again.name) == (session.id, worker.id, "demo")
    assert [branch.id for branch in again.branches] == [branch.id for branch in back.branches]
    assert live(again.default_branch) == live(back.default_branch)
    assert [message.rendered for message in again.branches[fork.id].messages] == [
        message.rendered for message in back.default_branch.messages
    ]


def answer_in(branch: Branch, text: str) -> None:
    """Something that was asked and answered, for a hundred tokens."""
    say(branch, f"{text}?")
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choices = [{"index": 0, "message": {"role": "assistant", "content": text}}]
    response = {"id": "c", "model": "gpt-x", "object": "chat.completion", "choices": choices, "usage": usage}
    branch.msgs.add_message(assistant_response=AssistantResponse.from_response(response))


def as_it_was(branch: Branch) -> None: ...


def with_another_system_message(branch: Branch) -> None:
    branch.msgs.set_system(branch.msgs.create_system(system="Be brief."))


def without_its_first_question(branch: Branch) -> None:
    branch.msgs.messages.exclude(branch.messages[1])


@pytest.mark.parametrize("change", [as_it_was, with_another_system_message, without_its_first_question])
def test_attaching_again_stores_and_counts_only_what_is_new(
    ctx: Context, location: str, change: Callable[[Branch], None]
) -> None:
    branch = Branch(system="Be kind.")
    with lionstudio.attach(branch, db=location):
        answer_in(branch, "One")
    change(branch)
    for text in ("Two", "Three"):
        with lionstudio.attach(branch, db=location) as attached:
            answer_in(branch, text)
        assert sessions.get_usage(ctx, attached.session_id) == {"gpt-x": Usage(100, 0, 0, 10)}
        (stored_now,) = branches.list_branches(ctx, attached.session_id)
        new = 1 if change is with_another_system_message and text == "Two" else 0
        assert stored_now.message_count == 2 + new
        again = restore_branch(location, stored_now.id)
        assert [message.id for message in again.messages] == [message.id for message in branch.messages]
        assert again.system is not None and again.system.id == branch.system.id


def test_the_address_of_a_model_is_kept_without_its_password(ctx: Context, location: str) -> None:
    address = "http://ana:s3cret@127.0.0.1:1/v1?key=s3cret"
    branch = Branch(chat_model=iModel(provider="openai", model="gpt-x", api_key="dummy", base_url=address))
    with lionstudio.attach(branch, db=location) as attached:
        say(branch, "Hello")
    kept = str(branches.list_branches(ctx, attached.session_id)[0].node_metadata)
    assert "http://ana@127.0.0.1:1/v1" in kept
    assert "s3cret" not in kept


def test_attaching_twice_at_a_time_is_refused(location: str, ctx: Context) -> None:
    session = Session()
    with lionstudio.attach(session, db=location):
        with pytest.raises(InvalidRequest, match="recorded already"):
            lionstudio.attach(session, db=location)
        with pytest.raises(InvalidRequest, match="recorded already"):
            lionstudio.attach(session.default_branch, db=location)
    lionstudio.attach(session, db=location).detach()


@pytest.mark.parametrize("wrong", [None, "session", object(), Session])
def test_only_a_session_or_a_branch_can_be_attached_to(location: str, wrong: Any) -> None:
    with pytest.raises(InvalidRequest, match="Only a lionagi Session or Branch"):
        lionstudio.attach(wrong, db=location)


def test_one_run_may_hold_branches_of_no_session(ctx: Context, location: str) -> None:
    one, two = Branch(name="one"), Branch(name="two")
    with lionstudio.attach(one, db=location, name="pair") as attached:
        attached.add(two)
        say(two, "hello")
    assert [branch.name for branch in branches.list_branches(ctx, attached.session_id)] == ["one", "two"]
    back = restore(location, attached.session_id)
    assert [branch.name for branch in back.branches] == ["one", "two"]
    assert back.default_branch.id == one.id


def test_a_message_needs_neither_a_branch_nor_a_session(ctx: Context, location: str) -> None:
    message = MessageManager.create_message(instruction="free-standing", sender="user")
    assert keep_message(location, message) == str(message.id)
    back = restore_message(location, str(message.id))
    assert (type(back), back.to_dict(mode="db")) == (type(message), message.to_dict(mode="db"))


def test_a_run_that_is_not_there_cannot_be_restored(ctx: Context, location: str) -> None:
    with pytest.raises(SessionNotFound):
        restore(location, "nobody")
