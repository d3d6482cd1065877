"""Runs as people look at them."""

import os
import threading
import time
from typing import Any

import pytest

from lionstudio import machine
from lionstudio.domain.activity import ActivityKind
from lionstudio.domain.conversation import (
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
    Line,
    MessageDraft,
    MessagePlace,
)
from lionstudio.domain.errors import SessionNotFound
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.domain.session_list import SessionFilter, Sort, View
from lionstudio.domain.timeline import STEPS_OF_A_RUN, Span
from lionstudio.domain.usage import Usage
from lionstudio.services import following
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context
from lionstudio.services.dashboard import get_stats
from lionstudio.services.following import DeathWatch, follow_sessions
from lionstudio.services.messages import append_message, append_to_session
from lionstudio.services.naming import name_of
from lionstudio.services.runs import Lane, get_detail, read_stretch, read_timeline, summarise
from lionstudio.services.session_list import list_sessions
from lionstudio.services.sessions import finish_session, get_session, put_process
from lionstudio.services.shows import put_play, put_show
from tests.factories import Clock, assistant_says, line_of, start_run, user_says
from tests.services.dashboard_world import NO_SUCH_PID


def test_a_summary_has_state_activity_and_usage(ctx: Context, clock: Clock) -> None:
    start_run(ctx, "run-1")
    start_run(ctx, "run-2", name="named")
    for model in ("a", "b"):
        spent = {"model": model, "usage": {"input_tokens": 3, "cost_usd": 0.5}}
        append_message(ctx, line_of("run-2"), assistant_says("…", node_metadata=spent))
    finish_session(ctx, "run-2", "completed")
    append_message(ctx, line_of("run-1"), user_says("Count the files"))
    first, second = summarise(ctx, [get_session(ctx, "run-1"), get_session(ctx, "run-2")])
    assert (first.display_name, second.display_name) == ("Count the files", "named")
    assert first.activity is not None
    assert first.activity.kind is ActivityKind.MODEL
    assert second.activity is None
    assert (first.usage, second.usage) == (Usage(), Usage(input_tokens=6, cost_usd=1.0))
    assert (first.state.lifecycle, second.state.outcome) == ("running", "completed")
    assert summarise(ctx, []) == []


def test_a_run_may_wait_for_a_person(ctx: Context, clock: Clock) -> None:
    asked, answered, gated, works = (
        start_run(ctx, "asked"),
        start_run(ctx, "answered", node_metadata={"interactive": True}),
        start_run(ctx, "gated", show_topic="search", show_play="index"),
        start_run(ctx, "works", show_topic="search", show_play="parse"),
    )
    call = tool_message({"function": "permission_prompt", "arguments": {}}, ACTION_REQUEST_CLASS, id="c1")
    append_message(ctx, line_of("asked"), call)
    append_message(ctx, line_of("answered"), assistant_says("Shall I go on?"))
    put_show(ctx, "search", actor="ana", show_dir="/shows/search")
    put_play(ctx, "search", "index", actor="ana", status="gated", session_id="gated")
    put_play(ctx, "search", "parse", actor="ana", status="running", session_id="works")
    found = summarise(ctx, [get_session(ctx, one.id) for one in (asked, answered, gated, works)])
    assert [one.activity and (one.activity.kind.value, one.activity.tool) for one in found] == [
        ("human", "permission_prompt"), ("human", None), ("human", None), ("unknown", None),
    ]  # fmt: skip
    for one in found:
        assert get_detail(ctx, one.session.id).summary.activity == one.activity
    waiting = list_sessions(ctx, SessionFilter(view=View.WAITING)).items
    assert {one.id for one in waiting} == {"asked", "answered", "gated"}
    append_message(ctx, line_of("answered"), user_says("Do."))
    append_message(
        ctx, line_of("asked"), tool_message({"action_request_id": "c1", "output": "yes"}, ACTION_RESPONSE_CLASS)
    )
    finish_session(ctx, "gated", "completed")
    assert not list_sessions(ctx, SessionFilter(view=View.WAITING)).items


@pytest.mark.parametrize("odd", ["\0", "\ud800", "\udfff"])
def test_text_that_no_database_takes_hides_nobody_who_waits_for_a_person(ctx: Context, odd: str) -> None:
    start_run(ctx, "plain", name=f"a{odd}b")
    start_run(ctx, "nested", node_metadata={"more": {"interactive": True}})
    start_run(ctx, "asks", name=f"a{odd}b", node_metadata={"note": odd, "interactive": True})
    for id in ("plain", "nested", "asks"):
        append_message(ctx, line_of(id), assistant_says("Shall I go on?"))
    waiting = list_sessions(ctx, SessionFilter(view=View.WAITING)).items
    assert [one.id for one in waiting] == ["asks"]
    assert get_stats(ctx).executions.sessions == 3


def test_a_list_knows_which_of_a_runs_branches_a_person_talks_to(ctx: Context, clock: Clock) -> None:
    for id in ("to-main", "to-helper"):
        start_run(ctx, id, node_metadata={"interactive": True})
        clock.pass_seconds(1)
        main, helper = line_of(id), line_of(id)._replace(branch_id=f"{id}-a", branch_progression_id=f"{id}-a-order")
        create_branch(ctx, BranchDraft(helper))  # its id comes first, and it began later
        append_message(ctx, main, assistant_says("Done.") if id == "to-main" else user_says("Go."))
        append_message(ctx, helper, user_says("Go.") if id == "to-main" else assistant_says("Done."))
    found = summarise(ctx, [get_session(ctx, "to-main"), get_session(ctx, "to-helper")])
    assert [one.activity and (one.activity.kind.value, one.activity.branch_id) for one in found] == [
        ("human", "to-main-main"), ("model", "to-helper-main"),
    ]  # fmt: skip


def test_a_run_whose_process_is_gone_asks_nobody_wherever_it_is_shown(ctx: Context) -> None:
    for id in ("dead", "unseen"):
        start_run(ctx, id, node_metadata={"interactive": True})
        append_message(ctx, line_of(id), assistant_says("Shall I go on?"))
    put_process(ctx, ProcessRecord("dead", ProcessRole.AGENT, machine.here(), NO_SUCH_PID, 1))
    (dead,) = summarise(ctx, [get_session(ctx, "dead")])
    assert dead.activity is get_detail(ctx, "dead").summary.activity is None
    for sort in Sort:
        waiting = list_sessions(ctx, SessionFilter(view=View.WAITING), sort=sort).items
        assert [one.id for one in waiting] == ["unseen"]
    assert get_stats(ctx).waiting == 1


def test_the_detail_of_a_run_agrees_with_its_summary(ctx: Context) -> None:
    session = start_run(ctx, "run-1")
    detail = get_detail(ctx, "run-1")
    assert detail.summary == summarise(ctx, [session])[0]
    assert (detail.parent, detail.children, detail.plays, detail.processes) == (None, (), (), ())
    with pytest.raises(SessionNotFound):
        get_detail(ctx, "nobody")


def test_a_run_without_any_name_is_called_by_its_id(ctx: Context) -> None:
    assert name_of(ctx, start_run(ctx, "0190abcd-1234")) == "0190abcd"


def test_a_stretch_says_in_which_branches_messages_stand(ctx: Context) -> None:
    start_run(ctx, "run-1")
    for number in range(5):
        append_message(ctx, line_of("run-1"), user_says(str(number), id=f"m{number}"))
    stretch = read_stretch(ctx, "run-1", after=1, limit=2)
    assert [message.id for message in stretch.messages] == ["m1", "m2"]
    assert stretch.places == {"m1": (("run-1-main", 2),), "m2": (("run-1-main", 3),)}
    with pytest.raises(SessionNotFound):
        read_stretch(ctx, "nobody", after=0, limit=1)


@pytest.mark.parametrize("wanted", [{"run-1"}, {"run-1", "run-2"}])
def test_following_names_the_runs_that_have_news_and_no_others(ctx: Context, wanted: set[str]) -> None:
    for session_id in ("run-1", "run-2", "run-3"):
        start_run(ctx, session_id)
    cursor = newest_number(ctx)

    def write() -> None:
        for session_id in ("run-3", "run-2", "run-1"):
            append_message(ctx, line_of(session_id), user_says("news"))

    writer = threading.Thread(target=write)
    writer.start()
    found = []
    for changed in follow_sessions(ctx, wanted, after=cursor, quiet=20.0):
        found.append(changed)
        if len(found) == len(wanted):
            break
    writer.join()
    assert set(found) == wanted


def test_following_says_that_it_is_quiet_and_ends_in_time(ctx: Context) -> None:
    start_run(ctx, "run-1")
    until = time.monotonic() + 1.0  # far more than one look takes
    found = list(follow_sessions(ctx, {"run-1"}, after=newest_number(ctx), quiet=0.01, until=until))
    assert found
    assert set(found) == {None}
    assert time.monotonic() >= until


def test_loud_others_do_not_hide_that_a_run_is_quiet(ctx: Context) -> None:
    for session_id in ("run-1", "run-2", "run-3"):
        start_run(ctx, session_id)
    cursor = newest_number(ctx)
    append_message(ctx, line_of("run-3"), user_says("news"))
    assert next(follow_sessions(ctx, {"run-1", "run-2"}, after=cursor, quiet=1e-9)) is None


def test_a_cursor_of_another_time_means_that_everything_is_read_again(ctx: Context) -> None:
    start_run(ctx, "run-1")
    assert next(follow_sessions(ctx, {"run-1"}, after=10**9, quiet=20.0)) is None


def test_a_dead_process_is_given_the_time_in_which_its_last_commit_may_arrive(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session_id in ("run-1", "run-2"):
        start_run(ctx, session_id)
        put_process(ctx, ProcessRecord(session_id, ProcessRole.AGENT, machine.here(), os.getpid(), 1))
    watch = DeathWatch(ctx)
    assert watch.look(["run-1", "run-2", "nobody"]) == []
    finish_session(ctx, "run-2", "completed")
    monkeypatch.setattr(following, "LAST_WORD_PATIENCE", 0.0)
    (death,) = watch.look(["run-1", "run-2"])
    assert (death.session.id, death.sentence) == ("run-1", f"pid {os.getpid()} now belongs to another process.")


def test_a_recorder_that_lives_is_given_more_time_but_not_for_ever(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(ctx, "run-1")
    own = machine.own_identity()
    put_process(ctx, ProcessRecord("run-1", ProcessRole.AGENT, machine.here(), own.pid, 1))
    put_process(ctx, ProcessRecord("run-1", ProcessRole.RECORDER, machine.here(), own.pid, own.start_time))
    monkeypatch.setattr(following, "LAST_WORD_PATIENCE", 0.0)
    watch = DeathWatch(ctx)
    assert watch.look(["run-1"], last=True) == []
    monkeypatch.setattr(following, "RECORDER_PATIENCE", 0.0)
    assert [death.nobody_lives for death in watch.look(["run-1"])] == [False]


def tool_message(content: dict[str, Any], lion_class: str | None = None, **more: Any) -> MessageDraft:
    """A call or a result, as lionagi writes it, or as another program does that knows no classes."""
    if lion_class is None:
        return MessageDraft("tool", content, **more)
    return MessageDraft("action", content, lion_class, **more)


def test_a_timeline_tells_who_was_busy_when_in_each_branch(ctx: Context, clock: Clock) -> None:
    start_run(ctx, node_metadata={"interactive": True})
    began = clock()
    line = line_of("run-1")
    call: dict[str, Any] = {"function": "bash", "arguments": {"cmd": "x" * 500}}
    result = {**call, "output": "…", "action_request_id": "c"}
    said = [
        user_says("Go"),
        tool_message(call, ACTION_REQUEST_CLASS, id="c"),
        tool_message(result, ACTION_RESPONSE_CLASS),
        tool_message({**call, "function": "read"}),
        tool_message({**result, "function": "read"}),
        assistant_says("Which?"),
        user_says("That"),
    ]
    for draft in said:
        append_message(ctx, line, draft)
        clock.pass_seconds(10)
    fork = Line("run-1", "fork", line.session_progression_id, "fork-order")
    create_branch(ctx, BranchDraft(fork, "retry", parent_branch_id=line.branch_id, forked_at_ord=2))
    clock.pass_seconds(5)
    append_message(ctx, fork, assistant_says("Otherwise"))
    model, tool, human = ActivityKind.MODEL, ActivityKind.TOOL, ActivityKind.HUMAN
    assert read_timeline(ctx, "run-1") == (
        Lane(
            line.branch_id,
            (
                Span(model, began, began + 10, 2),
                Span(tool, began + 10, began + 20, 2, "bash"),
                Span(model, began + 20, began + 30, 4),
                Span(tool, began + 30, began + 40, 4, "read"),
                Span(model, began + 40, began + 50, 6),
                Span(human, began + 50, began + 60, 7),
            ),
        ),
        Lane("fork", (Span(model, began + 70, began + 75, 3),)),
    )
    with pytest.raises(SessionNotFound):
        read_timeline(ctx, "nobody")


def test_the_timeline_of_a_long_branch_finds_the_one_long_wait_in_it(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    began, line = clock(), line_of("run-1")
    fork = Line("run-1", "fork", line.session_progression_id, "fork-order")
    append_message(ctx, line, user_says("Go", created_at=began))
    clock.pass_seconds(1)
    create_branch(ctx, BranchDraft(fork, "retry", parent_branch_id=line.branch_id, forked_at_ord=1))
    call = {"function": "bash", "arguments": {}}
    said: list[tuple[str | None, MessageDraft]] = []
    at = began
    for number in range(1, STEPS_OF_A_RUN // 2 + 1):
        result = {**call, "output": "…", "action_request_id": f"c{number}"}
        said.append(("fork", tool_message(call, ACTION_REQUEST_CLASS, id=f"c{number}", created_at=at + 1)))
        at += 3_600 if number == 1_112 else 2
        said.append(("fork", tool_message(result, ACTION_RESPONSE_CLASS, created_at=at)))
    append_to_session(ctx, "run-1", said)
    lanes = read_timeline(ctx, "run-1")
    assert lanes[0] == Lane(line.branch_id, ())
    (long,) = [span for span in lanes[1].spans if span.seconds > 600]
    assert (long.kind, long.tool, long.position) == (ActivityKind.TOOL, "bash", 2 * 1_112)
    assert len(lanes[1].spans) <= 500


def test_a_detail_says_where_the_messages_stand_that_it_names(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    line = line_of("run-1")
    append_message(ctx, line, user_says("Go"))
    fork = Line("run-1", "fork", line.session_progression_id, "fork-order")
    create_branch(ctx, BranchDraft(fork, "retry", parent_branch_id=line.branch_id, forked_at_ord=1))
    failed = {"function": "bash", "output": "exit 1", "error": True}
    append_message(ctx, line, tool_message(failed, ACTION_RESPONSE_CLASS, id="e1"))
    append_message(ctx, fork, tool_message({**failed, "output": "exit 2"}, ACTION_RESPONSE_CLASS, id="e2"))
    asked: dict[str, Any] = {"function": "Edit", "arguments": {"path": "a.py"}}
    append_message(ctx, fork, tool_message(asked, ACTION_REQUEST_CLASS, id="f"))
    clock.pass_seconds(2 * 3600)
    detail = get_detail(ctx, "run-1")
    assert [(one.sentence, one.times, one.last_message_id) for one in detail.tool_errors] == [("exit 2", 2, "e2")]
    assert detail.places == {
        "e1": MessagePlace(line.branch_id, 2),
        "e2": MessagePlace("fork", 2),
        "f": MessagePlace("fork", 3),
    }


LONG = "x\n" * 20_000
CALL_CLASSES = [ACTION_REQUEST_CLASS, "other.Request"]  # of one that nobody knows, its shape says that it is a call


@pytest.mark.parametrize("lion_class", CALL_CLASSES)
def test_a_detail_reads_only_the_beginning_of_what_tools_are_told(
    ctx: Context, monkeypatch: pytest.MonkeyPatch, lion_class: str
) -> None:
    start_run(ctx)
    for number in range(5):
        written = {"function": "Write", "arguments": {"file_path": f"{number}.py", "content": LONG}}
        append_message(ctx, line_of("run-1"), tool_message(written, lion_class))
        append_message(ctx, line_of("run-1"), tool_message({"function": "bash", "arguments": {"c": LONG}}, lion_class))
    with ctx.db.read() as tx:
        connection = type(tx.connection)
    read: list[int] = []
    send = connection.all

    def counted(self: Any, sql: str, params: Any) -> Any:
        rows = send(self, sql, params)
        read.extend(len(part) for row in rows for part in row if isinstance(part, str))
        return rows

    monkeypatch.setattr(connection, "all", counted)
    assert sorted(file.path for file in get_detail(ctx, "run-1").files) == [f"{number}.py" for number in range(5)]
    assert 0 < sum(read) < len(LONG)


@pytest.mark.parametrize("lion_class", CALL_CLASSES)
@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        pytest.param({"content": LONG, "file_path": "a.py"}, ["a.py"], id="after a long text"),
        pytest.param({"edits": [{"path": "b.py"}], "content": LONG, "file_path": "a.py"}, ["a.py"], id="after another"),
        pytest.param({"deep": [[[LONG]]], "path": "a.py"}, ["a.py"], id="after a list"),
        pytest.param({"more": {"path": "b.py", "content": LONG}, "path": "a.py"}, ["a.py"], id="after an object"),
        pytest.param({"path": "ü" * 500, "content": LONG}, ["ü" * 500], id="a long one"),
        pytest.param({"limit": 7, "path": 'a "b".py', "content": LONG}, ['a "b".py'], id="with escapes"),
        pytest.param({"output": LONG, "path": "a.py"}, ["a.py"], id="beside what a result has"),
        pytest.param({"edits": [{"path": "b.py"}], "content": LONG}, [], id="not of the call itself"),
        pytest.param({"content": f'"path":"{LONG}"'}, [], id="only in a text"),
    ],
)
@pytest.mark.parametrize("is_tool_first", [True, False])
def test_a_file_is_found_wherever_a_long_call_names_it(
    ctx: Context, lion_class: str, arguments: dict[str, Any], paths: list[str], is_tool_first: bool
) -> None:
    start_run(ctx)
    asked: dict[str, Any] = {"function": "Write", "arguments": arguments}
    content = asked if is_tool_first else dict(reversed(asked.items()))
    append_message(ctx, line_of("run-1"), tool_message(content, lion_class))
    touched = get_detail(ctx, "run-1").files
    assert [(file.path, file.how) for file in touched] == [(path, "written") for path in paths]


@pytest.mark.parametrize("lion_class", [ACTION_RESPONSE_CLASS, "other.Response"])
def test_a_result_that_repeats_a_long_call_touches_no_file(ctx: Context, lion_class: str) -> None:
    start_run(ctx)
    call = {"function": "Write", "arguments": {"path": "a.py", "content": LONG}}
    append_message(ctx, line_of("run-1"), tool_message({**call, "output": "ok"}, lion_class))
    append_message(ctx, line_of("run-1"), tool_message({**call, "output": "disk full", "error": True}, lion_class))
    detail = get_detail(ctx, "run-1")
    assert detail.files == ()
    assert [(one.tool, one.sentence, one.times) for one in detail.tool_errors] == [("Write", "disk full", 1)]
