"""Messages: stored once, in order, with everything they carry."""

import math
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest

from lionstudio.domain.conversation import (
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
    SYSTEM_CLASS,
    Branch,
    MessageDraft,
    MessageKind,
)
from lionstudio.domain.errors import (
    AlreadyExists,
    BranchNotFound,
    InvalidContent,
    InvalidRequest,
    MessageNotFound,
    SessionNotFound,
)
from lionstudio.domain.session import Session
from lionstudio.domain.usage import Usage
from lionstudio.services import branches, imports, messages, runs, sessions
from lionstudio.services.branches import BranchDraft
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context, new_line
from tests.factories import NOW, Clock, assistant_says, line_of, start_run, user_says
from tests.services.interleaving import do_within


def texts(ctx: Context, session_id: str = "run-1", branch_id: str | None = None) -> list[Any]:
    found = messages.list_messages(ctx, session_id, branch_id)
    assert [message.position for message in found] == list(range(1, len(found) + 1))
    return [next(iter(message.content.values())) for message in found]


def test_messages_come_back_in_the_order_they_were_stored(ctx: Context) -> None:
    start_run(ctx)
    for text in ("one", "two", "three"):
        messages.append_message(ctx, line_of("run-1"), user_says(text))
    assert texts(ctx) == texts(ctx, branch_id="run-1-main") == ["one", "two", "three"]


def test_a_message_comes_back_with_every_field(ctx: Context) -> None:
    start_run(ctx)
    draft = MessageDraft(
        role="user",
        content={"instruction": {"deep": [1, 2.5, None, True, "é"]}},
        lion_class="my.own.Message",
        sender="ana",
        recipient="bo",
        channel="handover",
        node_metadata={"lion_class": "my.own.Message", "extra": {"a": 1}},
        embedding=(0.5, -1.25, 3.0),
        id="m-1",
        created_at=123.456,
    )
    messages.append_message(ctx, line_of("run-1"), draft)
    stored = messages.get_message(ctx, "m-1")
    for name in draft._fields:
        assert getattr(stored, name) == getattr(draft, name), name


def test_a_message_without_a_class_is_stored_as_unknown_and_its_kind_follows_its_role(ctx: Context) -> None:
    start_run(ctx)
    id = messages.append_message(ctx, line_of("run-1"), MessageDraft("assistant", {"text": "hi"}))
    stored = messages.get_message(ctx, id)
    assert (stored.lion_class, stored.kind) == ("__unknown__", MessageKind.ASSISTANT)


def test_a_new_class_gets_the_next_number_and_keeps_it(ctx: Context) -> None:
    start_run(ctx)
    for name in ("a.New", "b.Newer", "a.New"):
        messages.append_message(ctx, line_of("run-1"), MessageDraft("user", {}, name))
    with ctx.db.read() as tx:
        rows = tx.all("SELECT type_id, lion_class FROM message_types WHERE type_id > 5 ORDER BY type_id")
    assert [tuple(row) for row in rows] == [(6, "a.New"), (7, "b.Newer")]


def test_the_classes_of_lionagi_have_the_numbers_0_to_5_in_every_database(ctx: Context) -> None:
    with ctx.db.read() as tx:
        rows = tx.all("SELECT type_id, lion_class FROM message_types ORDER BY type_id")
    assert [row[0] for row in rows] == [0, 1, 2, 3, 4, 5]
    assert rows[0][1] == "__unknown__"
    assert rows[5][1].endswith(".ActionResponse")


def test_sending_a_message_id_again_overwrites_it_and_adds_no_second_place(ctx: Context) -> None:
    start_run(ctx)
    line = line_of("run-1")
    for text in ("first", "second", "first, mended"):
        messages.append_message(ctx, line, user_says(text, id=text.split(",")[0]))
    assert texts(ctx) == ["first, mended", "second"]
    session = sessions.get_session(ctx, "run-1")
    assert (session.message_count, session.first_msg_id, session.last_msg_id) == (2, "first", "second")


def test_sending_the_very_same_message_again_is_no_news_and_keeps_its_time(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    said = {"content": {"a": 1}, "role": "tool", "node_metadata": {"b": [1.5]}, "id": "m-1", "sender": "an\0a"}
    messages.append_message(ctx, line_of("run-1"), MessageDraft(**said))
    stored, newest = messages.get_message(ctx, "m-1"), newest_number(ctx)
    clock.pass_seconds(60)
    messages.append_message(ctx, line_of("run-1"), MessageDraft(**said))
    assert (messages.get_message(ctx, "m-1"), newest_number(ctx)) == (stored, newest)
    messages.append_message(ctx, line_of("run-1"), MessageDraft(**{**said, "content": {"a": True}}))
    assert messages.get_message(ctx, "m-1").content == {"a": True}
    assert messages.get_message(ctx, "m-1").created_at == stored.created_at
    assert newest_number(ctx) == newest + 1


def test_one_message_may_stand_in_two_sessions_and_is_stored_once(ctx: Context) -> None:
    start_run(ctx, "run-1")
    start_run(ctx, "run-2")
    for session_id in ("run-1", "run-2"):
        messages.append_message(ctx, line_of(session_id), user_says("shared", id="shared"))
    assert texts(ctx, "run-1") == texts(ctx, "run-2") == ["shared"]
    with ctx.db.read() as tx:
        assert tx.value("SELECT count(*) FROM messages") == 1


def test_the_session_keeps_its_bookmarks_and_the_time_of_its_last_message(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    clock.pass_seconds(5)
    first = messages.append_message(ctx, line_of("run-1"), user_says("a"))
    clock.pass_seconds(5)
    last = messages.append_message(ctx, line_of("run-1"), assistant_says("b"))
    session = sessions.get_session(ctx, "run-1")
    assert (session.first_msg_id, session.last_msg_id, session.message_count) == (first, last, 2)
    assert session.last_message_at == session.updated_at == clock.now


def test_a_clock_that_jumps_back_does_not_move_the_last_message_back(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    messages.append_message(ctx, line_of("run-1"), user_says("a"))
    before = clock.now
    clock.pass_seconds(-3600)
    messages.append_message(ctx, line_of("run-1"), user_says("b"))
    assert sessions.get_session(ctx, "run-1").last_message_at == before


@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"text": "nul \0 and lone \ud800 surrogate"}, id="text no column takes"),
        pytest.param({"number": 10**30, "negative": -(2**64)}, id="integers beyond 64 bits"),
        pytest.param({"number": 7**20_000, "deep": [{"n": -(7**20_000)}]}, id="integers Python does not print"),
        pytest.param({"number": 0.1 + 0.2}, id="a float to its last bit"),
        pytest.param([1, "two", {"three": []}], id="a list"),
        pytest.param("just text", id="plain text"),
        pytest.param(None, id="nothing"),
    ],
)
def test_content_comes_back_equal(ctx: Context, content: Any) -> None:
    start_run(ctx)
    id = messages.append_message(ctx, line_of("run-1"), MessageDraft("user", content))
    assert messages.get_message(ctx, id).content == content


def test_a_message_of_50_mb_comes_back_equal(ctx: Context) -> None:
    start_run(ctx)
    text = "0123456789abcdefé" * 3_000_000
    id = messages.append_message(ctx, line_of("run-1"), user_says(text))
    assert messages.get_message(ctx, id).content["instruction"] == text


def test_text_that_no_column_takes_is_cleaned_and_its_original_kept(ctx: Context) -> None:
    start_run(ctx)
    id = messages.append_message(ctx, line_of("run-1"), user_says("x", sender="a\0b", recipient="c\ud800d"))
    stored = messages.get_message(ctx, id)
    assert (stored.sender, stored.recipient) == ("a\ufffdb", "c\ufffdd")
    assert stored.node_metadata == {"original": {"sender": "a\0b", "recipient": "c\ud800d"}}


def circular() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"a": object()}, id="an object"),
        pytest.param({"a": {1, 2}}, id="a set"),
        pytest.param(math.nan, id="not a number"),
        pytest.param(b"bytes", id="bytes"),
        pytest.param(circular(), id="a circle"),
        pytest.param(nested(100_000), id="too deep"),
    ],
)
def test_content_that_is_not_json_is_refused_and_nothing_is_stored(ctx: Context, content: Any) -> None:
    start_run(ctx)
    with pytest.raises(InvalidContent):
        messages.append_messages(ctx, line_of("run-1"), [user_says("fine"), MessageDraft("user", content)])
    assert texts(ctx) == []


def test_a_message_without_a_role_is_refused(ctx: Context) -> None:
    start_run(ctx)
    with pytest.raises(InvalidRequest, match="role"):
        messages.append_message(ctx, line_of("run-1"), MessageDraft("", {}))


def test_a_message_for_a_run_that_does_not_exist_is_refused_whole(ctx: Context) -> None:
    with pytest.raises(SessionNotFound, match="'run-9'"):
        messages.append_message(ctx, line_of("run-9"), user_says("hello"))
    with ctx.db.read() as tx:
        assert tx.value("SELECT count(*) FROM messages") == 0


def test_asking_for_what_is_not_there_names_it(ctx: Context) -> None:
    start_run(ctx)
    with pytest.raises(MessageNotFound, match="'m-9'") as refused:
        messages.get_message(ctx, "m-9")
    assert "li runs export RUN" in str(refused.value.hint)
    with pytest.raises(BranchNotFound, match="'b-9'"):
        messages.find_line(ctx, "run-1", "b-9")
    with pytest.raises(SessionNotFound, match="'run-9'"):
        messages.list_messages(ctx, "run-9")


def test_without_a_branch_that_began_with_its_run_the_earliest_is_the_first(ctx: Context) -> None:
    found = [
        imports.BranchImport(Branch(id, NOW + later, "old-1", f"{id}-order"), [user_says(id, id=f"{id}-1")])
        for id, later in (("c", 3), ("b", 1), ("a", 2))
    ]
    brought = imports.import_sessions(ctx, [imports.SessionImport(Session("old-1", NOW, NOW, "order"), found)])
    assert not brought.problems
    assert messages.find_line(ctx, "old-1").branch_id == "b"


def test_pages_follow_each_other_without_gap_or_overlap(ctx: Context) -> None:
    start_run(ctx)
    messages.append_messages(ctx, line_of("run-1"), [user_says(str(number)) for number in range(25)])
    seen: list[str] = []
    while page := messages.list_messages(ctx, "run-1", after=len(seen), limit=10):
        seen += [message.content["instruction"] for message in page]
    assert seen == [str(number) for number in range(25)]


def test_a_fork_shares_its_parents_history_up_to_its_position(ctx: Context) -> None:
    start_run(ctx)
    line = line_of("run-1")
    messages.append_messages(ctx, line, [user_says(text) for text in "abcd"])
    fork = fork_of(ctx, line.branch_id, at=2)
    messages.append_messages(ctx, fork, [user_says(text) for text in "xy"])
    messages.append_message(ctx, line, user_says("e"))
    assert texts(ctx, branch_id=fork.branch_id) == ["a", "b", "x", "y"]
    assert texts(ctx, branch_id=line.branch_id) == ["a", "b", "c", "d", "e"]
    assert texts(ctx) == ["a", "b", "c", "d", "x", "y", "e"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(3, 4, ["a", "b", "c", "x", "z"], id="after the first fork's own message"),
        pytest.param(3, 3, ["a", "b", "c", "z"], id="at the first fork's start"),
        pytest.param(3, 1, ["a", "z"], id="within what the first fork inherited"),
        pytest.param(0, 0, ["z"], id="with nothing kept"),
    ],
)
def test_a_fork_of_a_fork_keeps_exactly_what_its_position_says(
    ctx: Context, first: int, second: int, expected: list[str]
) -> None:
    start_run(ctx)
    line = line_of("run-1")
    messages.append_messages(ctx, line, [user_says(text) for text in "abcd"])
    child = fork_of(ctx, line.branch_id, at=first)
    messages.append_message(ctx, child, user_says("x"))
    grandchild = fork_of(ctx, child.branch_id, at=second)
    messages.append_message(ctx, grandchild, user_says("z"))
    assert texts(ctx, branch_id=grandchild.branch_id) == expected


def test_a_fork_copies_no_message_and_no_entry(ctx: Context) -> None:
    start_run(ctx)
    line = line_of("run-1")
    messages.append_messages(ctx, line, [user_says(text) for text in "abcd"])
    counts = "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM progression_entries)"
    with ctx.db.read() as tx:
        before = tx.all(counts)
    fork_of(ctx, line.branch_id, at=4)
    with ctx.db.read() as tx:
        assert tx.all(counts) == before


def test_the_progressions_view_gives_sql_readers_the_ids_as_a_json_array(ctx: Context) -> None:
    start_run(ctx)
    ids = messages.append_messages(ctx, line_of("run-1"), [user_says(text) for text in "abc"])
    with ctx.db.read() as tx:
        rows = dict(tx.all("SELECT id, collection FROM progressions"))
    import json

    assert json.loads(rows["run-1-order"]) == json.loads(rows["run-1-main-order"]) == ids


def test_a_system_message_is_pointed_to_by_its_branch(ctx: Context) -> None:
    start_run(ctx)
    draft = MessageDraft("system", {"system_message": "Be brief."}, SYSTEM_CLASS)
    id = messages.append_message(ctx, line_of("run-1"), draft)
    assert branches.get_branch(ctx, "run-1-main").system_msg_id == id


def test_a_tool_call_is_open_until_its_result_comes(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    line = line_of("run-1")
    for id, tool in (("c1", "bash"), ("c2", "grep")):
        call = MessageDraft("action", {"function": tool, "arguments": {}}, ACTION_REQUEST_CLASS, id=id)
        messages.append_message(ctx, line, call)
    result = {"function": "bash", "output": "ok", "action_request_id": "c1"}
    messages.append_message(ctx, line, MessageDraft("action", result, ACTION_RESPONSE_CLASS))
    assert [(call.call_id, call.tool, call.since) for call in branches.list_open_calls(ctx, "run-1")] == [
        ("c2", "grep", clock.now)
    ]
    branch = branches.get_branch(ctx, line.branch_id)
    assert (branch.last_kind, branch.last_tool, branch.last_at) == (MessageKind.TOOL_RESULT, "bash", clock.now)


def test_what_a_program_says_of_itself_changes_nothing_about_who_is_waited_for(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    line = line_of("run-1")
    call = MessageDraft("action", {"function": "bash", "arguments": {}}, ACTION_REQUEST_CLASS)
    messages.append_message(ctx, line, call)
    clock.pass_seconds(5)
    messages.append_message(ctx, line, MessageDraft("notice", "The request failed; try 1 of 10."))
    branch = branches.get_branch(ctx, line.branch_id)
    assert (branch.last_kind, branch.last_tool, branch.last_at) == (MessageKind.TOOL_CALL, "bash", clock.now)


def test_a_message_that_comes_late_moves_no_time_back(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    line = line_of("run-1")
    messages.append_message(ctx, line, user_says("now"))
    before = sessions.get_session(ctx, "run-1")
    messages.append_message(ctx, line, assistant_says("an hour ago"), clock.now - 3600)
    session, branch = sessions.get_session(ctx, "run-1"), branches.get_branch(ctx, line.branch_id)
    assert (session.updated_at, session.last_message_at) == (before.updated_at, before.last_message_at)
    assert (branch.last_kind, branch.last_at) == (MessageKind.ASSISTANT, clock.now)


def test_tool_errors_are_found_and_change_no_status(ctx: Context) -> None:
    start_run(ctx)
    for number, error in enumerate((None, True, "exit 1", False)):
        content = {"function": "bash", "output": "x", "action_request_id": f"c{number}", "error": error}
        messages.append_message(ctx, line_of("run-1"), MessageDraft("action", content, id=f"r{number}"))
    messages.append_message(ctx, line_of("run-1"), user_says("an error"))
    assert {one.last_message_id for one in runs.get_detail(ctx, "run-1").tool_errors} == {"r1", "r2"}
    assert sessions.finish_session(ctx, "run-1", "completed").status == "completed"


def test_ending_a_run_closes_its_open_calls(ctx: Context) -> None:
    start_run(ctx)
    call = MessageDraft("action", {"function": "bash", "arguments": {}}, ACTION_REQUEST_CLASS)
    messages.append_message(ctx, line_of("run-1"), call)
    sessions.finish_session(ctx, "run-1", "completed")
    assert branches.list_open_calls(ctx, "run-1") == []


def test_usage_is_added_up_by_model(ctx: Context) -> None:
    start_run(ctx)
    line = line_of("run-1")
    for model, tokens in (("opus", 100), ("opus", 20), ("haiku", 3)):
        reported = {"model": model, "usage": {"input_tokens": tokens, "output_tokens": 1, "cost_usd": 0.5}}
        messages.append_message(ctx, line, assistant_says("hi", node_metadata=reported))
    assert sessions.get_usage(ctx, "run-1") == {
        "opus": Usage(input_tokens=120, output_tokens=2, cost_usd=1.0),
        "haiku": Usage(input_tokens=3, output_tokens=1, cost_usd=0.5),
    }


def test_a_message_sent_again_with_other_usage_is_counted_once(ctx: Context) -> None:
    start_run(ctx)
    line = line_of("run-1")
    for model, tokens in (("opus", 100), ("opus", 70), ("haiku", 70)):
        reported = {"model": model, "usage": {"input_tokens": tokens}}
        messages.append_message(ctx, line, assistant_says("hi", id="m", node_metadata=reported))
    found = sessions.get_usage(ctx, "run-1")
    assert {model: usage.input_tokens for model, usage in found.items()} == {"opus": 0, "haiku": 70}


@pytest.mark.parametrize(
    "reported", [{"input_tokens": "many"}, {"input_tokens": 2**80}, [], "x", {"cost_usd": math.inf}]
)
def test_nonsense_instead_of_usage_counts_as_nothing(ctx: Context, reported: Any) -> None:
    start_run(ctx)
    draft = assistant_says("hi", node_metadata={"usage": reported} if reported != {"cost_usd": math.inf} else {})
    messages.append_message(ctx, line_of("run-1"), draft)
    assert all(usage.input_tokens == 0 for usage in sessions.get_usage(ctx, "run-1").values())


def test_a_message_needs_neither_a_branch_nor_a_session(ctx: Context) -> None:
    id = messages.store_message(ctx, user_says("on my own"))
    assert messages.get_message(ctx, id).content == {"instruction": "on my own"}
    with ctx.db.read() as tx:
        assert tx.value("SELECT count(*) FROM progression_entries") == 0


def test_what_is_sent_arrives_in_the_inbox_of_its_recipient_and_the_outbox_of_its_sender(ctx: Context) -> None:
    start_run(ctx, "run-1", agent="planner")
    start_run(ctx, "run-2", agent="architect")
    for text, channel in (("one", "handover"), ("two", None), ("three", "handover")):
        draft = MessageDraft("user", {"text": text}, recipient="architect", channel=channel)
        messages.send_message(ctx, "run-1", draft)
    names = messages.list_names(ctx, "run-2")
    inbox = messages.list_inbox(ctx, names)
    assert [message.content["text"] for message in inbox] == ["one", "two", "three"]
    assert [m.content["text"] for m in messages.list_inbox(ctx, names, after=inbox[0].position or 0)] == [
        "two",
        "three",
    ]
    assert [m.content["text"] for m in messages.list_inbox(ctx, names, channel="handover")] == ["one", "three"]
    assert len(messages.list_outbox(ctx, ["run-1"])) == 3
    assert messages.list_messages(ctx, "run-1") == []


def test_a_message_needs_a_recipient_to_be_sent(ctx: Context) -> None:
    with pytest.raises(InvalidRequest, match="recipient"):
        messages.send_message(ctx, None, MessageDraft("user", {}))


def test_two_threads_sending_one_id_at_once_leave_one_message_in_one_place(ctx: Context) -> None:
    start_run(ctx)

    def send() -> None:
        for number in range(20):
            messages.append_message(ctx, line_of("run-1"), user_says("same", id=f"m{number}"))

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts(ctx)) == 20


def test_a_message_id_that_two_runs_take_at_the_same_moment_stays_with_the_first(ctx: Context) -> None:
    for session_id in ("run-1", "run-2"):
        start_run(ctx, session_id)

    def say(session_id: str) -> list[str]:
        draft = user_says(f"of {session_id}", id="m-1")
        return messages.append_to_session(ctx, session_id, [(None, user_says("before")), (None, draft)])

    stored, refused = do_within(ctx, lambda: say("run-1"), lambda: say("run-2"))
    assert (stored[1], type(refused)) == ("m-1", AlreadyExists)
    assert (texts(ctx, "run-1"), texts(ctx, "run-2")) == (["before", "of run-1"], [])


def test_similar_messages_come_nearest_first(ctx: Context) -> None:
    start_run(ctx)
    for name, vector in (
        ("east", (1.0, 0.0)),
        ("north", (0.0, 1.0)),
        ("north east", (1.0, 1.0)),
        ("other", (1.0,) * 3),
    ):
        messages.append_message(ctx, line_of("run-1"), user_says(name, embedding=vector))
    found = messages.find_similar(ctx, (1.0, 0.1), limit=2)
    assert [similar.message.content["instruction"] for similar in found] == ["east", "north east"]
    assert found[0].distance == pytest.approx(1 - 1 / math.hypot(1, 0.1), abs=1e-6)


def fork_of(ctx: Context, branch_id: str, *, at: int) -> Any:
    line = new_line("run-1")._replace(session_progression_id="run-1-order")
    branches.create_branch(ctx, BranchDraft(line, parent_branch_id=branch_id, forked_at_ord=at))
    return line


class Meeting(list[MessageDraft]):
    """Messages of which the second is handed over when the first of another batch was stored, too."""

    def __init__(self, drafts: Iterable[MessageDraft], both: threading.Barrier) -> None:
        super().__init__(drafts)
        self._both = both

    def __iter__(self) -> Iterator[MessageDraft]:
        for number, draft in enumerate(super().__iter__()):
            if number == 1:
                with suppress(threading.BrokenBarrierError):  # the second try meets nobody
                    self._both.wait(timeout=1)
            yield draft


def test_two_batches_with_the_same_messages_in_opposite_order_are_both_stored(ctx: Context) -> None:
    both = threading.Barrier(2)
    errors: list[Exception] = []

    def append(session_id: str, ids: Sequence[str]) -> None:
        drafts = Meeting([user_says(id, id=id) for id in ids], both)
        try:
            messages.append_messages(ctx, line_of(session_id), drafts)
        except Exception as error:
            errors.append(error)

    orders = {"run-1": ("a", "b"), "run-2": ("b", "a")}
    for session_id in orders:
        start_run(ctx, session_id)
    threads = [threading.Thread(target=append, args=order) for order in orders.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for session_id, ids in orders.items():
        assert tuple(message.id for message in messages.list_messages(ctx, session_id)) == ids
