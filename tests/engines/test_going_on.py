"""Going on with a recorded conversation: which one is meant, and how each kind of agent is told of it."""

import pytest

from lionstudio.domain.conversation import UNKNOWN_CLASS
from lionstudio.domain.errors import Conflict, ForkOutOfRange, InvalidRequest, SessionIsRunning, SessionNotFound
from lionstudio.engines.engine import Task
from lionstudio.engines.going_on import Conversation, find_to_fork, find_to_resume, go_on, require_one
from lionstudio.engines.launch import Launch, Parent, launched
from lionstudio.services.context import Context


@pytest.fixture
def spoken(ctx: Context, location: str) -> str:
    """A run of Claude Code that was asked, and has answered."""
    with launched(Launch(name="first", model="claude", db=location)) as begun:
        begun.run.describe({"provider": "claude", "model": "opus", "prompt": "Be kind.", "native_id": "n1"})
        begun.run.describe({"tools": ["Read"], "effort": "high", "native_totals": {"cost": 2}})
        begun.run.system("Be kind.")
        begun.run.user("One")
        begun.run.assistant("Two")
    return begun.run.session_id


def texts(task: Task) -> list[object]:
    return [next(iter(message.content.values())) for message in task.history]


def test_the_agent_is_who_it_was(ctx: Context, spoken: str) -> None:
    found = find_to_resume(ctx, "first")
    assert (found.engine, found.model, found.system) == ("claude", "claude/opus", "Be kind.")
    assert (found.tools, found.effort) == (("Read",), "high")
    assert found.parent == Parent(spoken, found.branch.id, 3)


@pytest.mark.parametrize(
    ("facts", "model"),
    [
        ({"provider": "lionagi", "model": "openai/gpt-4o"}, "lionagi/openai/gpt-4o"),
        ({"provider": "exec"}, "exec/cat"),
        ({"provider": "codex", "model": "codex/gpt-5"}, "codex/gpt-5"),
        ({}, None),
    ],
)
def test_its_model_can_be_typed_again(ctx: Context, location: str, facts: dict[str, str], model: str | None) -> None:
    with launched(Launch(model="exec/cat" if facts else None, db=location)) as begun:
        begun.run.describe(facts)
        begun.run.user("One")
    assert find_to_resume(ctx, begun.run.session_id).model == model


def test_its_own_conversation_goes_on_and_its_system_prompt_is_not_said_again(ctx: Context, spoken: str) -> None:
    task, how = go_on(Task("Go on", system="Be kind."), "claude", find_to_resume(ctx, spoken))
    assert (task.resume, task.fork, task.history, how) == ("n1", False, (), None)
    assert (task.system, task.system_is_known, task.totals) == ("Be kind.", True, {"cost": 2})
    assert go_on(Task("x", system="Be brief."), "claude", find_to_resume(ctx, spoken))[0].system_is_known is False


def test_a_copy_is_made_by_who_can_make_one(ctx: Context, spoken: str) -> None:
    task, how = go_on(Task("Go on"), "claude", find_to_fork(ctx, spoken))
    assert (task.resume, task.fork, how) == ("n1", True, None)


@pytest.mark.parametrize("typed", ["first:2", "first:1", "first:0"])
def test_from_the_middle_it_is_given_what_was_recorded(ctx: Context, spoken: str, typed: str) -> None:
    found = find_to_fork(ctx, typed)
    task, how = go_on(Task("Go on"), "claude", found)
    assert (task.resume, texts(task)) == (None, ["Be kind.", "One"][: found.position])
    assert (how is None) == (found.position < 2)  # a system prompt is given to every agent by itself


def test_lionagi_gets_messages_and_nothing_needs_to_be_said(ctx: Context, spoken: str) -> None:
    task, how = go_on(Task("Go on"), "lionagi", find_to_resume(ctx, spoken))
    assert (task.resume, how) == (None, None)
    assert texts(task) == ["Be kind.", "One", "Two"]


def test_another_agent_is_told_and_a_person_hears_of_it(ctx: Context, spoken: str) -> None:
    task, how = go_on(Task("Go on"), "codex", find_to_resume(ctx, spoken))
    assert (task.resume, len(task.history)) == (None, 3)
    assert how == "The conversation is one of claude, so it is given what was said before as text."


def after(spoken: Conversation, location: str, native_id: str | None) -> str:
    with launched(Launch(db=location, parent=spoken.parent)) as begun:
        if native_id is not None:
            begun.run.describe({"provider": "claude", "native_id": native_id})
        begun.run.user("Later")
    return begun.run.session_id


def test_a_conversation_that_has_gone_on_elsewhere_is_told_as_it_was(ctx: Context, location: str, spoken: str) -> None:
    found = find_to_resume(ctx, spoken)
    later = after(found, location, "n1")
    assert go_on(Task("x"), "claude", find_to_resume(ctx, spoken))[0].resume is None
    assert go_on(Task("x"), "claude", find_to_resume(ctx, later))[0].resume == "n1"


def test_a_copy_of_it_leaves_it_as_it_was(ctx: Context, location: str, spoken: str) -> None:
    after(find_to_fork(ctx, spoken), location, "n2")
    assert go_on(Task("x"), "claude", find_to_resume(ctx, spoken))[0].resume == "n1"


def test_a_run_that_failed_before_its_agent_began_is_told_with_what_it_inherited(
    ctx: Context, location: str, spoken: str
) -> None:
    failed = after(find_to_resume(ctx, spoken), location, None)
    found = find_to_resume(ctx, failed)
    assert [message.content for message in found.history][-2:] == [
        {"assistant_response": "Two"},
        {"instruction": "Later"},
    ]
    assert go_on(Task("x"), "claude", found)[0].resume is None


def test_a_name_that_ends_like_a_position_is_a_name(ctx: Context, location: str) -> None:
    for name in ("a", "a:1"):
        with launched(Launch(name=name, db=location)) as begun:
            begun.run.user("One")
            begun.run.user(name)
    found = find_to_fork(ctx, "a:1")
    assert (found.session.name, found.position) == ("a:1", 2)
    assert find_to_fork(ctx, "a:1:1").position == 1


@pytest.mark.parametrize("position", ["abc", "-1", "1.5", "", "1234567890"])
def test_a_position_that_is_no_number_is_said_and_not_taken_for_a_name(
    ctx: Context, location: str, position: str
) -> None:
    with launched(Launch(name="one", db=location)) as begun:
        begun.run.user("One")
    with pytest.raises(InvalidRequest, match=f"'{position}' is no position: that is a number from 0") as raised:
        find_to_fork(ctx, f"one:{position}")
    assert raised.value.hint == "li runs tail one shows the position of each message."
    with pytest.raises(SessionNotFound, match="There is no run 'other:abc'"):
        find_to_fork(ctx, "other:abc")


def test_a_conversation_of_nothing_but_its_system_prompt_is_gone_on_with(ctx: Context, location: str) -> None:
    with launched(Launch(name="young", db=location)) as begun:
        begun.run.message(role="notice", content="It begins.", lion_class=UNKNOWN_CLASS)
        begun.run.system("Be kind.")
    assert find_to_resume(ctx, "young").position == 2
    assert find_to_fork(ctx, "young:1").position == 1
    task, how = go_on(Task("Go on", system="Be kind."), "exec", find_to_resume(ctx, "young"))
    assert (task.system_is_known, how) == (True, None)


def test_what_cannot_be_gone_on_with_says_why(ctx: Context, location: str, spoken: str) -> None:
    for name in ("empty", "silent"):
        with launched(Launch(name=name, db=location)) as begun:
            if name == "silent":
                begun.run.message(role="notice", content="It never spoke.", lion_class=UNKNOWN_CLASS)
        for find in (find_to_resume, find_to_fork):
            with pytest.raises(Conflict, match="nothing was said in it"):
                find(ctx, name)
        with pytest.raises(Conflict, match="nothing was said in it"):
            find_to_fork(ctx, f"{name}:0")
    with pytest.raises(ForkOutOfRange, match="has 3 messages and cannot be forked at 4"):
        find_to_fork(ctx, "first:4")
    with pytest.raises(SessionNotFound):
        find_to_fork(ctx, "nobody:4")
    with pytest.raises(InvalidRequest):
        require_one("a", "b")
    with launched(Launch(name="open", db=location)) as begun:
        begun.run.user("One")
        with pytest.raises(SessionIsRunning):
            find_to_resume(ctx, "open")
        assert go_on(Task("x"), "claude", find_to_fork(ctx, "open"))[0].resume is None


@pytest.mark.parametrize("native_id", ["--dangerously-skip-permissions", "-x", "a b", "a\nb", "", "x" * 200])
def test_what_is_no_id_never_becomes_an_argument_of_an_agent(ctx: Context, location: str, native_id: str) -> None:
    with launched(Launch(db=location)) as begun:
        begun.run.describe({"provider": "claude", "native_id": native_id})
        begun.run.user("One")
    assert go_on(Task("x"), "claude", find_to_resume(ctx, begun.run.session_id))[0].resume is None
