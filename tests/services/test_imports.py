"""Imports: whole sessions come in once, later ones complete them, and one bad session does not stop the others."""

import threading
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import (
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
    SYSTEM_CLASS,
    Branch,
    MessageDraft,
    MessageKind,
)
from lionstudio.domain.errors import DatabaseGone
from lionstudio.domain.session import Session, SessionStatus, SourceKind
from lionstudio.domain.usage import Usage
from lionstudio.services import branches, imports, messages, sessions
from lionstudio.services.context import Context
from lionstudio.services.imports import BranchImport, Imported, ImportProblem, SessionImport, import_sessions
from lionstudio.store import changes
from lionstudio.store.open import open_database
from tests.factories import NOW, Clock, assistant_says, line_of, start_run, user_says
from tests.postgres_server import PostgresServer


def says(*ids: str, at: float = NOW, **more: Any) -> list[MessageDraft]:
    """Messages that say their own ids, a second apart."""
    return [user_says(id, id=id, created_at=at + second, **more) for second, id in enumerate(ids)]


def part(branch_id: str, drafts: list[MessageDraft], *, session_id: str = "run-1", **facts: Any) -> BranchImport:
    return BranchImport(Branch(branch_id, NOW, session_id, f"{branch_id}-order", **facts), drafts)


def found(*parts: BranchImport, id: str = "run-1", **facts: Any) -> SessionImport:
    """An imported session that has ended."""
    known = {"status": SessionStatus.COMPLETED, "source_kind": SourceKind.IMPORTED_FS, "ended_at": NOW + 60}
    return SessionImport(Session(id, NOW, NOW + 60, f"{id}-order", **{**known, **facts}), parts)


def simple(id: str, *ids: str) -> SessionImport:
    return found(part(f"{id}-main", says(*ids), session_id=id), id=id)


def texts(ctx: Context, session_id: str = "run-1", branch_id: str | None = None) -> list[str]:
    return [message.content["instruction"] for message in messages.list_messages(ctx, session_id, branch_id)]


def news_after(ctx: Context, seq: int) -> list[tuple[Topic, str]]:
    with ctx.db.read() as tx:
        return [(change.topic, change.entity_id) for change in changes.list_after(tx, seq, limit=99)]


def newest_seq(ctx: Context) -> int:
    with ctx.db.read() as tx:
        return changes.span(tx)[1]


def everything(ctx: Context) -> dict[str, list[Any]]:
    """Every row of every table, but for the version of the schema."""
    with ctx.db.read() as tx:
        tables = [row[0] for row in tx.all(tx.dialect.list_tables)]
        return {table: sorted(map(repr, tx.all(f"SELECT * FROM {table}"))) for table in tables}


def test_an_imported_session_comes_back_whole(ctx: Context) -> None:
    one = found(
        part("main", says("a", "b")),
        name="triage", user="ana", agent_name="architect", exit_code=0, started_at=NOW, node_metadata={"from": "disk"},
    )  # fmt: skip
    assert import_sessions(ctx, [one]) == Imported(sessions_added=1, messages_added=2)
    assert sessions.get_session(ctx, "run-1") == one.session._replace(
        first_msg_id="a", last_msg_id="b", last_message_at=NOW + 1, message_count=2, branch_count=1
    )
    assert branches.get_branch(ctx, "main") == one.branches[0].branch._replace(
        message_count=2, last_kind=MessageKind.USER, last_at=NOW + 1
    )
    assert texts(ctx) == texts(ctx, branch_id="main") == ["a", "b"]


def test_the_time_of_the_last_change_is_the_one_the_source_gives(ctx: Context) -> None:
    one = found(part("main", says("a")))
    import_sessions(ctx, [one._replace(session=one.session._replace(updated_at=NOW - 1000))])
    assert sessions.get_session(ctx, "run-1").updated_at == NOW - 1000


def test_importing_again_changes_nothing_and_is_no_news(ctx: Context, clock: Clock) -> None:
    source = [
        found(part("main", says("a", "b")), part("fork", says("c"), parent_branch_id="main", forked_at_ord=1)),
        simple("run-2", "b", "d"),
        found(id="empty"),
    ]
    assert import_sessions(ctx, source) == Imported(sessions_added=3, messages_added=5)
    before = everything(ctx)
    clock.pass_seconds(100)
    assert import_sessions(ctx, source) == Imported()
    assert everything(ctx) == before


def test_every_imported_session_is_one_line_of_news(ctx: Context) -> None:
    import_sessions(ctx, [simple("run-1", "a", "b"), simple("run-2", "c")])
    assert news_after(ctx, 0) == [(Topic.SESSION, "run-1"), (Topic.SESSION, "run-2")]


def test_a_later_import_adds_only_what_is_new(ctx: Context) -> None:
    import_sessions(ctx, [simple("run-1", "a", "b"), simple("run-2", "x")])
    seq = newest_seq(ctx)
    later = [simple("run-1", "a", "b", "c", "d"), simple("run-2", "x")]
    assert import_sessions(ctx, later) == Imported(sessions_completed=1, messages_added=2)
    assert news_after(ctx, seq) == [(Topic.SESSION, "run-1")]
    assert texts(ctx) == texts(ctx, branch_id="run-1-main") == ["a", "b", "c", "d"]
    session = sessions.get_session(ctx, "run-1")
    assert (session.first_msg_id, session.last_msg_id, session.last_message_at) == ("a", "d", NOW + 3)
    assert (session.message_count, session.updated_at) == (4, NOW + 60)


def test_what_comes_in_step_by_step_is_counted_and_delivered_once(ctx: Context) -> None:
    reported = {"model": "opus", "usage": {"input_tokens": 10}}
    drafts = [
        MessageDraft("system", {"system_message": "Be brief."}, SYSTEM_CLASS, id="s", created_at=NOW),
        *says("a", at=NOW + 1, sender="ana", recipient="bo", channel="handover"),
        assistant_says("hi", id="b", created_at=NOW + 2, node_metadata=reported),
    ]
    for count in (1, 2, 3, 3):
        import_sessions(ctx, [found(part("main", drafts[:count]))])
    assert sessions.get_usage(ctx, "run-1") == {"opus": Usage(input_tokens=10)}
    assert branches.get_branch(ctx, "main").system_msg_id == "s"
    assert [message.id for message in messages.list_inbox(ctx, ["bo"])] == ["a"]
    assert len(sessions.list_history(ctx, "run-1")) == 1


def test_a_message_found_late_does_not_become_the_last_one(ctx: Context) -> None:
    import_sessions(ctx, [simple("run-1", "a")])
    late = found(part("run-1-main", says("a")), part("helper", says("earlier", at=NOW - 50)))
    assert import_sessions(ctx, [late]).messages_added == 1
    session = sessions.get_session(ctx, "run-1")
    assert (session.last_msg_id, session.last_message_at, session.updated_at) == ("a", NOW, NOW + 60)


def test_messages_shared_between_sessions_are_stored_once_and_stay_as_they_are(ctx: Context) -> None:
    import_sessions(ctx, [simple("run-1", "shared")])
    changed = part("other", [user_says("changed", id="shared", created_at=NOW)], session_id="run-2")
    assert import_sessions(ctx, [found(changed, id="run-2")]).messages_added == 1
    assert texts(ctx, "run-1") == texts(ctx, "run-2") == ["shared"]


def test_a_message_in_two_branches_stands_once_in_its_session_and_is_counted_once(ctx: Context) -> None:
    reported = {"model": "opus", "usage": {"input_tokens": 10}}
    shared = assistant_says("hi", id="m", created_at=NOW, node_metadata=reported)
    result = import_sessions(ctx, [found(part("one", [shared, shared]), part("two", [shared]))])
    assert result.messages_added == sessions.get_session(ctx, "run-1").message_count == 1
    assert [branches.get_branch(ctx, name).message_count for name in ("one", "two")] == [1, 1]
    assert sessions.get_usage(ctx, "run-1") == {"opus": Usage(input_tokens=10)}


def test_forks_come_in_whatever_order_and_share_their_parents_history(ctx: Context) -> None:
    fork = part("fork", says("x", at=NOW + 5), parent_branch_id="main", forked_at_ord=2)
    again = part("again", says("y", at=NOW + 6), parent_branch_id="fork", forked_at_ord=3)
    assert import_sessions(ctx, [found(again, fork, part("main", says("a", "b", "c")))]).problems == ()
    assert texts(ctx, branch_id="again") == ["a", "b", "x", "y"]
    assert texts(ctx) == ["a", "b", "c", "x", "y"]


def test_a_later_import_brings_a_new_branch(ctx: Context) -> None:
    main = part("main", says("a", "b"))
    import_sessions(ctx, [found(main)])
    seq = newest_seq(ctx)
    fork = part("fork", [], parent_branch_id="main", forked_at_ord=1)
    assert import_sessions(ctx, [found(main, fork)]) == Imported(sessions_completed=1)
    assert news_after(ctx, seq) == [(Topic.SESSION, "run-1")]
    assert texts(ctx, branch_id="fork") == ["a"]


def test_the_sessions_order_is_that_of_time_across_its_branches(ctx: Context) -> None:
    import_sessions(ctx, [found(part("one", says("a", "c", at=NOW)), part("two", says("b", at=NOW + 0.5)))])
    assert texts(ctx) == ["a", "b", "c"]


def test_a_message_without_a_time_gets_that_of_the_one_before(ctx: Context) -> None:
    drafts = [user_says("a", id="a"), user_says("b", id="b", created_at=NOW + 9), user_says("c", id="c")]
    import_sessions(ctx, [found(part("main", drafts))])
    assert [message.created_at for message in messages.list_messages(ctx, "run-1")] == [NOW, NOW + 9, NOW + 9]


def test_usage_is_added_up_by_model(ctx: Context) -> None:
    drafts = [
        assistant_says("hi", id=str(number), node_metadata={"model": model, "usage": {"output_tokens": 2}})
        for number, model in enumerate(("opus", "haiku", "opus"))
    ]
    import_sessions(ctx, [found(part("main", drafts))])
    assert sessions.get_usage(ctx, "run-1") == {"opus": Usage(output_tokens=4), "haiku": Usage(output_tokens=2)}


def running(*drafts: MessageDraft, **facts: Any) -> SessionImport:
    return found(part("main", list(drafts)), **{"status": SessionStatus.RUNNING, "ended_at": None, **facts})


def test_a_session_that_was_running_is_ended_when_its_source_says_so(ctx: Context, clock: Clock) -> None:
    import_sessions(ctx, [running(*says("a"))])
    ended = running(*says("a"), status=SessionStatus.FAILED, exit_code=3, ended_at=NOW + 30)
    assert import_sessions(ctx, [ended]) == Imported(sessions_completed=1)
    session = sessions.get_session(ctx, "run-1")
    assert (session.status, session.ended_at, session.exit_code) == (SessionStatus.FAILED, NOW + 30, 3)
    steps = [(step.from_status, step.to_status, step.actor) for step in sessions.list_history(ctx, "run-1")]
    assert sorted(steps, key=str) == [("running", "failed", "import"), (None, "running", "import")]


@pytest.mark.parametrize("status", [SessionStatus.RUNNING, None])
def test_an_ended_or_legacy_session_keeps_its_status(ctx: Context, status: SessionStatus | None) -> None:
    import_sessions(ctx, [simple("run-1", "a")])
    assert import_sessions(ctx, [running(status=status)._replace(branches=[])]) == Imported()
    assert sessions.get_session(ctx, "run-1").status is SessionStatus.COMPLETED


def test_importing_a_run_that_is_recorded_live_does_not_end_it(ctx: Context) -> None:
    start_run(ctx)
    messages.append_messages(ctx, line_of("run-1"), says("a"))
    assert import_sessions(ctx, [found(part("run-1-main", says("a", "b")))]) == Imported(
        sessions_completed=1, messages_added=1
    )
    assert sessions.get_session(ctx, "run-1").status is SessionStatus.RUNNING


def call(id: str, tool: str) -> MessageDraft:
    return MessageDraft("action", {"function": tool, "arguments": {}}, ACTION_REQUEST_CLASS, id=id, created_at=NOW)


def result(call_id: str) -> MessageDraft:
    content = {"function": "bash", "output": "ok", "action_request_id": call_id}
    return MessageDraft("action", content, ACTION_RESPONSE_CLASS, id=f"result-{call_id}", created_at=NOW)


def test_a_running_session_shows_the_tool_calls_it_waits_for(ctx: Context) -> None:
    drafts = [call("c1", "bash"), call("c2", "grep"), result("c1")]
    import_sessions(ctx, [running(*drafts)])
    assert [(one.call_id, one.tool) for one in branches.list_open_calls(ctx, "run-1")] == [("c2", "grep")]
    import_sessions(ctx, [running(*drafts, result("c2"))])
    assert branches.list_open_calls(ctx, "run-1") == []
    assert branches.get_branch(ctx, "main").last_kind is MessageKind.TOOL_RESULT


@pytest.mark.parametrize(
    ("then", "open_calls"),
    [
        pytest.param(result("c1"), ["c2"], id="a result"),
        pytest.param(result("unknown"), ["c1", "c2"], id="a result of no call"),
        pytest.param(assistant_says("hm", id="a", created_at=NOW), ["c1", "c2"], id="an answer"),
        pytest.param(user_says("go on", id="u", created_at=NOW), [], id="a new turn"),
    ],
)
def test_a_run_waits_for_the_same_calls_whether_it_was_recorded_or_imported(
    ctx: Context, then: MessageDraft, open_calls: list[str]
) -> None:
    drafts = [call("c1", "bash"), call("c2", "grep"), then]
    import_sessions(ctx, [running(*drafts)])
    start_run(ctx, "run-2")
    messages.append_messages(ctx, line_of("run-2"), drafts)
    for session_id in ("run-1", "run-2"):
        assert [one.call_id for one in branches.list_open_calls(ctx, session_id)] == open_calls


def test_what_was_delivered_from_one_session_is_not_delivered_again_from_another(ctx: Context) -> None:
    sent = says("a", sender="ana", recipient="bo", channel="handover")
    import_sessions(ctx, [found(part("main", sent))])
    (before,) = messages.list_inbox(ctx, ["bo"])
    import_sessions(ctx, [found(part("other", sent, session_id="run-2"), id="run-2")])
    start_run(ctx, "run-3")
    messages.append_messages(ctx, line_of("run-3"), sent)
    assert messages.list_inbox(ctx, ["bo"]) == [before]


def test_a_parent_that_is_not_known_yet_is_linked_by_a_later_import(ctx: Context) -> None:
    child = found(id="child", parent_session_id="run-1")
    assert import_sessions(ctx, [child]).problems == ()
    assert sessions.get_session(ctx, "child").parent_session_id is None
    import_sessions(ctx, [simple("run-1"), child])
    assert sessions.get_session(ctx, "child").parent_session_id == "run-1"


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        pytest.param(MessageDraft("user", {"a": {1}}, id="m"), "The message 'm' cannot be stored. The", id="set"),
        pytest.param(MessageDraft("", {}, id="m"), "The message 'm' cannot be stored. A", id="role"),
        pytest.param(MessageDraft("user", {}), "needs an id", id="no id"),
    ],
)  # fmt: skip
def test_a_bad_session_is_left_out_whole_and_the_others_come_in(
    ctx: Context, bad: MessageDraft, complaint: str
) -> None:
    broken = found(part("bad-main", [*says("fine"), bad], session_id="bad"), id="bad")
    imported = import_sessions(ctx, [simple("run-1", "a"), broken, simple("run-2", "b")])
    assert imported == Imported(2, 0, 2, (ImportProblem("bad", imported.problems[0].message),))
    assert complaint in imported.problems[0].message
    assert (texts(ctx, "run-1"), texts(ctx, "run-2")) == (["a"], ["b"])
    assert news_after(ctx, 0) == [(Topic.SESSION, "run-1"), (Topic.SESSION, "run-2")]
    with ctx.db.read() as tx:
        assert tx.value("SELECT count(*) FROM messages") == 2
        assert tx.value("SELECT count(*) FROM progression_heads") == 4


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        pytest.param(part("run-1-main", [], session_id="bad"), "'run-1-main' belongs to another", id="taken branch"),
        pytest.param(part("x", [], parent_branch_id="nobody", forked_at_ord=0), "refuses", id="unknown parent"),
        pytest.param(part("x", [], system_msg_id="nothing"), "refuses", id="unknown system message"),
    ],
)
def test_a_session_that_does_not_fit_becomes_a_problem(ctx: Context, broken: BranchImport, complaint: str) -> None:
    imported = import_sessions(
        ctx, [simple("run-1", "a"), found(broken._replace(branch=broken.branch._replace(session_id="bad")), id="bad")]
    )
    assert (imported.sessions_added, [problem.session_id for problem in imported.problems]) == (1, ["bad"])
    assert complaint in imported.problems[0].message


def test_a_large_import_takes_several_transactions(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "ROWS_AT_ONCE", 4)
    source = (simple(f"run-{number}", f"a{number}", f"b{number}") for number in range(5))
    assert import_sessions(ctx, source) == Imported(sessions_added=5, messages_added=10)


def test_a_database_that_is_gone_is_no_problem_of_a_session(sqlite_path: Path) -> None:
    db = open_database(str(sqlite_path))
    sqlite_path.unlink()
    with pytest.raises(DatabaseGone):
        import_sessions(Context(db), [simple("run-1", "a")])
    db.close()


def test_two_imports_of_the_same_at_once_store_it_once(ctx: Context, clock: Clock, location: str) -> None:
    source = [simple(f"run-{number}", f"m-{number}", "shared") for number in range(20)]
    results: list[Imported] = []
    other_db = open_database(location)
    try:
        threads = [
            threading.Thread(target=lambda one=one: results.append(import_sessions(one, source)))
            for one in (ctx, Context(other_db, now=clock))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        other_db.close()
    assert results[0].plus(results[1]) == Imported(sessions_added=20, messages_added=40)
    assert all(len(texts(ctx, f"run-{number}")) == 2 for number in range(20))


def test_an_import_waits_for_another_one_that_holds_the_same_run(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("lionstudio.store.postgres.SETTINGS", "-c lock_timeout=100ms -c timezone=UTC")
    tried = threading.Semaphore(0)
    store = imports._store
    monkeypatch.setattr(imports, "_store", lambda ctx, batch: (tried.release(), store(ctx, batch))[1])
    with postgres.new_database() as url:
        ours, theirs = Context(open_database(url)), Context(open_database(url))
        added: list[Imported] = []
        waiting = threading.Thread(target=lambda: added.append(import_sessions(ours, [simple("run-1", "a")])))
        with theirs.db.write() as tx:
            imports._import_one(theirs, tx, simple("run-1", "a"))
            waiting.start()
            for _ in range(4):  # the batch, and the run by itself again and again
                assert tried.acquire(timeout=30)
        waiting.join(30)
        assert added == [Imported()]
        assert texts(ours) == ["a"]
        ours.db.close()
        theirs.db.close()
    assert "psycopg" not in caplog.text
