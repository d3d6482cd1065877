"""Forks: what they keep of their parent, within a run and from one run to the next."""

import pytest

from lionstudio.domain.conversation import SYSTEM_CLASS, Branch, MessageDraft
from lionstudio.domain.errors import ForkOutOfRange
from lionstudio.domain.usage import Usage
from lionstudio.services import branches, messages
from lionstudio.services.branches import BranchDraft
from lionstudio.services.context import Context, new_line
from lionstudio.services.prune import WhyKept, plan_prune
from lionstudio.services.sessions import finish_session, get_session, get_usage
from tests.factories import Clock, assistant_says, line_of, start_run, user_says


def system_says(text: str, **more: str) -> MessageDraft:
    return MessageDraft("system", {"system_message": text}, SYSTEM_CLASS, **more)


def begin(ctx: Context, *said: MessageDraft) -> None:
    start_run(ctx)
    messages.append_messages(ctx, line_of("run-1"), said)


def fork(ctx: Context, at: int | None = None, parent: str = "run-1-main") -> Branch:
    line = new_line("run-1")._replace(session_progression_id="run-1-order")
    return branches.create_branch(ctx, BranchDraft(line, parent_branch_id=parent, forked_at_ord=at))


def history(ctx: Context, session_id: str, branch_id: str) -> list[str]:
    return [message.id for message in messages.list_messages(ctx, session_id, branch_id)]


def test_a_fork_is_under_the_system_prompt_that_it_keeps(ctx: Context) -> None:
    begin(ctx, system_says("Be brief.", id="s"), user_says("Hi", id="u"), assistant_says("Yes", id="a"))
    child = fork(ctx, 2)
    assert [fork(ctx, at, parent).system_msg_id for at, parent in ((None, "run-1-main"), (1, child.id))] == ["s", "s"]
    assert branches.get_branch(ctx, child.id).system_msg_id == "s"


def test_a_fork_that_keeps_nothing_is_under_no_system_prompt(ctx: Context) -> None:
    begin(ctx, system_says("Be brief.", id="s"))
    assert fork(ctx, 0).system_msg_id is None


def test_a_fork_from_before_a_second_system_prompt_is_under_the_first(ctx: Context) -> None:
    begin(ctx, system_says("Be brief.", id="s"), user_says("Hi", id="u"), system_says("Be long.", id="t"))
    assert [fork(ctx, at).system_msg_id for at in (2, 3)] == ["s", "t"]


def test_a_system_prompt_that_came_later_is_not_that_of_a_fork_before_it(ctx: Context) -> None:
    begin(ctx, user_says("Hi", id="u"), system_says("Be long.", id="t"))
    assert fork(ctx, 1).system_msg_id is None


def test_a_run_goes_on_with_the_branch_of_another_one_and_copies_nothing(ctx: Context, clock: Clock) -> None:
    begin(ctx, system_says("Be brief.", id="s"), user_says("Hi", id="u"), assistant_says("Yes", id="a"))
    finish_session(ctx, "run-1", "completed")
    clock.pass_seconds(1)
    start_run(ctx, "run-2", parent_session_id="run-1", parent_branch_id="run-1-main", forked_at_ord=2)
    messages.append_message(ctx, line_of("run-2"), user_says("Go on", id="v"))
    branch = branches.get_branch(ctx, "run-2-main")
    assert (branch.parent_branch_id, branch.forked_at_ord, branch.system_msg_id) == ("run-1-main", 2, "s")
    assert branch.message_count == 1
    assert history(ctx, "run-2", "run-2-main") == ["s", "u", "v"]
    assert [message.id for message in messages.list_messages(ctx, "run-2")] == ["v"]
    assert get_session(ctx, "run-2").parent_session_id == "run-1"


def test_a_run_that_another_one_goes_on_with_is_not_pruned(ctx: Context, clock: Clock) -> None:
    begin(ctx, user_says("Hi", id="u"))
    finish_session(ctx, "run-1", "completed")
    start_run(ctx, "run-2", parent_session_id="run-1", parent_branch_id="run-1-main")
    clock.pass_seconds(90 * 24 * 3600)
    plan = plan_prune(ctx, keep_days=30, keep_n=0)
    assert plan.session_ids == ()
    assert [(kept.session_id, kept.why) for kept in plan.kept] == [("run-1", WhyKept.FORK)]


@pytest.mark.parametrize("at", [None, 9])
def test_no_run_fails_for_a_branch_that_is_gone_or_shorter_than_it_was(ctx: Context, at: int | None) -> None:
    begin(ctx, user_says("Hi", id="u"))
    start_run(ctx, "run-2", parent_branch_id="nobody", forked_at_ord=at)
    start_run(ctx, "run-3", parent_branch_id="run-1-main", forked_at_ord=at)
    found = [branches.get_branch(ctx, id) for id in ("run-2-main", "run-3-main")]
    assert [(one.parent_branch_id, one.forked_at_ord) for one in found] == [(None, None), ("run-1-main", 1)]


def test_a_position_that_a_branch_does_not_have_is_refused(ctx: Context) -> None:
    begin(ctx, user_says("Hi", id="u"))
    with pytest.raises(ForkOutOfRange, match="1 message"):
        fork(ctx, 2)


def test_what_a_fork_has_from_its_parent_gets_no_second_place_when_it_is_said_again(ctx: Context) -> None:
    begin(ctx, user_says("Hi", id="u"), assistant_says("Yes", id="a"))
    finish_session(ctx, "run-1", "completed")
    child = fork(ctx, 1)
    line = line_of("run-1")._replace(branch_id=child.id, branch_progression_id=child.progression_id)
    start_run(ctx, "run-2", parent_branch_id="run-1-main")
    usage = {"model": "m", "usage": {"output_tokens": 5}}
    for where in (line, line_of("run-2")):
        messages.append_message(ctx, where, user_says("Hello", id="u", node_metadata=usage))
    assert history(ctx, "run-1", child.id) == ["u"]
    assert history(ctx, "run-2", "run-2-main") == ["u", "a"]
    assert get_session(ctx, "run-2").message_count == 0
    assert (get_usage(ctx, "run-1"), get_usage(ctx, "run-2")) == ({"m": Usage(output_tokens=5)}, {})
    messages.append_message(ctx, line, assistant_says("Yes", id="a"))  # it was said after the fork
    assert history(ctx, "run-1", child.id) == ["u", "a"]
