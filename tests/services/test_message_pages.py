"""Messages that somebody looks for, on both databases."""

import pytest

from lionstudio.domain.conversation import ACTION_REQUEST_CLASS, ACTION_RESPONSE_CLASS, MessageDraft
from lionstudio.domain.errors import BranchNotFound, SessionNotFound
from lionstudio.domain.message_finding import MessageQuestion, MessageShare
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.message_pages import STRETCH, Found, find_messages
from lionstudio.services.messages import append_message, append_to_session
from tests.factories import assistant_says, line_of, start_run, user_says

CALL = MessageDraft("action", {"function": "bash", "arguments": {"cmd": "make"}}, ACTION_REQUEST_CLASS)
GOOD = MessageDraft("action", {"function": "bash", "output": 'no "error" here'}, ACTION_RESPONSE_CLASS)
BAD = MessageDraft("action", {"function": "bash", "output": "Größe 100%_!", "error": True}, ACTION_RESPONSE_CLASS)
FOREIGN_CALL = MessageDraft("model", {"function": "look", "arguments": {}})


@pytest.fixture
def told(ctx: Context) -> Context:
    start_run(ctx)
    for draft in (user_says("Build the Thing"), CALL, GOOD, CALL, BAD, assistant_says("Größe is wrong"), FOREIGN_CALL):
        append_message(ctx, line_of("run-1"), draft)
    return ctx


@pytest.mark.parametrize(
    ("share", "positions"),
    [
        (None, (1, 2, 3, 4, 5, 6, 7)),
        (MessageShare.TEXT, (1, 6)),
        (MessageShare.TOOLS, (2, 3, 4, 5, 7)),
        (MessageShare.ERRORS, (5,)),
    ],
)
def test_messages_are_found_by_their_kind(
    told: Context, share: MessageShare | None, positions: tuple[int, ...]
) -> None:
    assert find_messages(told, "run-1", None, MessageQuestion(share)) == Found(positions, is_all=True)


@pytest.mark.parametrize(
    ("words", "positions"),
    [
        pytest.param("thing", (1,), id="in any case"),
        pytest.param("GRÖßE", (5, 6), id="letters that JSON escapes"),
        pytest.param("ß", (5, 6), id="nothing but such letters"),
        pytest.param("100%_!", (5,), id="signs that a pattern knows"),
        pytest.param('no "error"', (3,), id="quotes"),
        pytest.param("instruction", (), id="never the name of a field"),
        pytest.param("make", (2, 4), id="what a tool was asked"),
    ],
)
def test_messages_are_found_by_what_they_say(told: Context, words: str, positions: tuple[int, ...]) -> None:
    assert find_messages(told, "run-1", None, MessageQuestion(words=words)).positions == positions


def test_words_are_looked_for_within_a_kind(told: Context) -> None:
    question = MessageQuestion(MessageShare.ERRORS, "Größe")
    assert find_messages(told, "run-1", None, question).positions == (5,)


def test_positions_of_a_branch_count_what_it_inherited(told: Context) -> None:
    line = line_of("run-1")._replace(branch_id="fork", branch_progression_id="fork-order")
    create_branch(told, BranchDraft(line, parent_branch_id="run-1-main", forked_at_ord=5))
    append_message(told, line, assistant_says("Another thing"))
    found = find_messages(told, "run-1", "fork", MessageQuestion(words="thing"))
    assert found == Found((1, 6), is_all=True)
    assert find_messages(told, "run-1", None, MessageQuestion(words="thing")).positions == (1, 8)


def test_a_long_run_is_searched_to_its_end(ctx: Context) -> None:
    start_run(ctx)
    append_to_session(ctx, "run-1", [(None, assistant_says(f"number {n}")) for n in range(STRETCH)])
    append_message(ctx, line_of("run-1"), assistant_says("the last one"))
    assert find_messages(ctx, "run-1", None, MessageQuestion(words="last")).positions == (STRETCH + 1,)
    assert find_messages(ctx, "run-1", None, MessageQuestion(words="number"), limit=3) == Found((1, 2, 3), is_all=False)


def test_what_is_not_there_is_said(told: Context) -> None:
    with pytest.raises(SessionNotFound):
        find_messages(told, "nobody", None, MessageQuestion())
    with pytest.raises(BranchNotFound):
        find_messages(told, "run-1", "nowhere", MessageQuestion())
