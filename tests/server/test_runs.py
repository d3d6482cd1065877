"""Runs over HTTP: lists, filters, pages, one in full, its messages and its history."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.domain.conversation import ACTION_REQUEST_CLASS, ACTION_RESPONSE_CLASS, MessageDraft
from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.services import branches, imports, messages, sessions
from lionstudio.services.context import Context
from lionstudio.services.interventions import transition
from tests.factories import NOW, Clock, assistant_says, line_of, start_run, user_says
from tests.server.test_recording import ok, refused

RUNS = "/api/sessions"
NO_USAGE = {
    "input_tokens": 0, "cache_read_tokens": 0, "cache_write_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0,
    "cost_usd": None,
}  # fmt: skip
DAY = 24 * 3600.0


def test_a_run_whose_id_holds_a_slash_can_be_opened(client: TestClient, ctx: Context) -> None:
    start_run(ctx, "team/run 1")
    address = f"{RUNS}/team%2Frun%201"
    ok(client.post(f"{address}/messages", json={"id": "m-1", "role": "user", "content": "x"}), 201)
    assert ok(client.get(address))["id"] == "team/run 1"
    assert [item["id"] for item in ok(client.get(f"{address}/messages"))["items"]] == ["m-1"]
    for part in ("positions", "timeline", "history", "team-messages"):
        ok(client.get(f"{address}/{part}"))
    assert ok(client.post(f"{address}/finish", json={}))["status"] == "completed"
    assert client.get(f"{address}/stream").text.endswith('"deleted":false}\n\n')


def ids(answer: Any) -> list[str]:
    return [item["id"] for item in ok(answer)["items"]]


def read_all(client: TestClient, path: str, **asked: Any) -> list[str]:
    """Every id of a list, page by page."""
    found, cursor = [], None
    while True:
        page = ok(client.get(path, params={**asked, **({"cursor": cursor} if cursor else {})}))
        assert len(page["items"]) <= asked["limit"]
        found += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def test_an_empty_studio_has_an_empty_list(client: TestClient) -> None:
    assert ok(client.get(RUNS)) == {"items": [], "next_cursor": None}


def test_a_row_says_everything_a_list_shows(client: TestClient, ctx: Context, clock: Clock) -> None:
    start_run(ctx, "run-0")
    start_run(ctx, name="triage", kind="agent", agent="architect", playbook="review", show_topic="opera",
              show_play="act-1", parent_session_id="run-0", started_at=NOW - 10)  # fmt: skip
    used = {"model": "m", "usage": {"input_tokens": 9, "output_tokens": 2, "cost_usd": 0.5}}
    messages.append_message(ctx, line_of("run-1"), user_says("hi", node_metadata=used))
    clock.pass_seconds(30)
    sessions.finish_session(ctx, "run-1", "failed", exit_code=3)
    row = ok(client.get(RUNS, params={"status": "failed"}))["items"][0]
    reasons = row["state"].pop("reasons")
    assert "run.failed.exit_nonzero" in {reason["code"] for reason in reasons}
    assert all(set(reason) == {"code", "sentence", "evidence"} for reason in reasons)
    assert row == {
        "id": "run-1", "name": "triage", "display_name": "triage", "status": "failed", "effective_health": "healthy",
        "chain": ["Failed", "exit 3", "1 message"],
        "state": {"lifecycle": "ended", "outcome": "failed", "health": "ok", "delivery": "not_expected",
                  "severity": "critical", "tone": "danger"},
        "activity": None, "created_at": NOW - 10, "updated_at": NOW + 30, "started_at": NOW - 10,
        "ended_at": NOW + 30, "last_message_at": NOW, "message_count": 1, "branch_count": 1, "duration_ms": 40_000.0,
        "usage": {**NO_USAGE, "input_tokens": 9, "output_tokens": 2, "cost_usd": 0.5},
        "provenance": {"source": "live", "kind": "agent", "agent": "architect", "playbook": "review", "show": "opera",
                       "play": "act-1", "parent": "run-0"},
    }  # fmt: skip


@pytest.fixture
def world(ctx: Context, clock: Clock) -> None:
    """One run for each answer of each filter; they begin a minute apart."""
    for name, more in {
        "plain": {},
        "kind": {"kind": "flow"},
        "source": {"source": "demo"},
        "agent": {"agent": "architect"},
        "playbook": {"playbook": "review"},
        "show": {"show_topic": "opera"},
        "named": {"name": "Fix the flaky_test"},
        "failed": {},
        "gone": {},
    }.items():
        clock.pass_seconds(60)
        start_run(ctx, name, **more)
    messages.append_message(ctx, line_of("plain"), user_says("hi"))
    sessions.finish_session(ctx, "failed", "failed")
    sessions.put_process(ctx, ProcessRecord("gone", ProcessRole.AGENT, Place("elsewhere", "b", "n"), 77))


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"status": "failed"}, ["failed"]),
        ({"kind": "flow"}, ["kind"]),
        ({"source": "demo"}, ["source"]),
        ({"agent": "architect"}, ["agent"]),
        ({"agent": "archi"}, []),
        ({"playbook": "review"}, ["playbook"]),
        ({"show": "opera"}, ["show"]),
        ({"since": NOW + 8 * 60}, ["gone", "failed"]),
        ({"search": "flak"}, ["named"]),
        ({"search": "fix test"}, ["named"]),
        ({"search": "opera"}, ["show"]),
        ({"view": "failed_24h"}, ["failed"]),
        ({"view": "ended_24h"}, ["failed"]),
        ({"view": "legacy"}, []),
        ({"view": "slow"}, []),
        ({"id": ["named", "failed", "nobody"]}, ["named", "failed"]),
        ({"id": ["named", "failed"], "status": "failed"}, ["failed"]),
        ({"health": "zombie"}, []),
        ({"status": "running", "agent": "architect", "search": "agent"}, ["agent"]),
        ({"status": "failed", "agent": "architect"}, []),
        ({"sort": "ended", "limit": 2, "status": "failed"}, ["failed"]),
        ({"sort": "created", "limit": 2}, ["gone", "failed"]),
        ({"sort": "active", "limit": 2}, ["gone", "named"]),
    ],
)
def test_each_filter_finds_what_it_names(
    client: TestClient, world: None, asked: dict[str, Any], found: list[str]
) -> None:
    got = ids(client.get(RUNS, params=asked))
    if "since" in asked:
        assert sorted(got) == sorted(found)
    else:
        assert got == found


def test_health_is_judged_when_it_is_asked_for(client: TestClient, ctx: Context, clock: Clock) -> None:
    start_run(ctx, "quiet")
    clock.pass_seconds(2 * 3600)
    start_run(ctx, "fresh")
    assert ids(client.get(RUNS, params={"health": "healthy"})) == ["fresh"]
    assert ids(client.get(RUNS, params={"view": "slow"})) == ["quiet"]
    (row,) = [row for row in ok(client.get(RUNS))["items"] if row["id"] == "quiet"]
    assert ids(client.get(RUNS, params={"health": row["effective_health"]})) == ["quiet"]


@pytest.mark.parametrize("sort", ["active", "created", "ended"])
def test_pages_lead_to_the_end_without_a_miss(client: TestClient, ctx: Context, clock: Clock, sort: str) -> None:
    for number in range(23):
        clock.pass_seconds(number % 3)  # some begin at the same time
        start_run(ctx, f"run-{number:02}")
        if number % 4 == 0:
            sessions.finish_session(ctx, f"run-{number:02}", "completed")
    whole = read_all(client, RUNS, limit=500, sort=sort)
    assert sorted(whole) == [f"run-{number:02}" for number in range(23)]
    for limit in (1, 5, 23):
        assert read_all(client, RUNS, limit=limit, sort=sort) == whole


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("status=done", "'running', 'completed', 'failed', 'timed_out', 'aborted' or 'cancelled'"),
        ("kind=opera", "'agent', 'play', 'flow', 'fanout', 'show-play' or 'command'"),
        ("source=x", "'live', 'imported_fs', 'imported_db', 'imported_claude', 'imported_codex' or 'demo'"),
        ("health=x", "'healthy', 'idle', 'unresponsive', 'stale', 'orphaned' or 'zombie'"),
        ("view=x", "'waiting', 'slow', 'over_60m', 'needs_review', 'failed_24h', 'ended_24h' or 'legacy'"),
        ("sort=x", "'active', 'created' or 'ended'"),
        ("status=", "'running'"),
        ("limit=0", "greater than or equal to 1"),
        ("limit=501", "less than or equal to 500"),
        ("limit=" + "9" * 40, "500"),
        ("limit=" + "9" * 5000, "limit"),
        ("limit=x", "integer"),
        ("since=x", "number"),
        ("since=NaN", "since"),
        ("since=inf", "since"),
        ("since=-1e400", "since"),
        ("search=" + "x" * 4001, "4000"),
        ("search=%25_'", "can be searched for"),
        ("cursor=x", "'x' is not a cursor"),
        ("cursor=%00", "is not a cursor"),
        ("cursor=W10", "is not a cursor"),
        ("cursor=" + "A" * 999, "is not a cursor"),
        ("cursor=" + "A" * 1001, "1000"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_the_allowed_is_named(client: TestClient, asked: str, named: str) -> None:
    assert named in refused(client.get(f"{RUNS}?{asked}"), 422, "invalid_request")


def test_odd_words_find_nothing_and_break_nothing(client: TestClient, ctx: Context) -> None:
    start_run(ctx, name="triage")
    for word in ("%00", "%ff", "'%20OR%201=1--", "..%2f..%2fetc%2fpasswd", "%25", "_", "%ED%A0%80", "%22%29%3B--"):
        for name in ("agent", "playbook", "show", "id"):
            assert ok(client.get(f"{RUNS}?{name}={word}"))["items"] == []
        wordless = word in ("%00", "%ff", "%25", "_", "%ED%A0%80", "%22%29%3B--")
        assert client.get(f"{RUNS}?search={word}").status_code == (422 if wordless else 200)
    refused(client.get(f"{RUNS}/run-1/messages?branch=%00"), 404, "branch_not_found")
    assert ids(client.get(RUNS)) == ["run-1"]


ODD_IDS = ("nope", "%00", "..%2E", "' OR 1=1 --", "%ff", "%F0%9F%A6%81", "run-1'", "RUN-1")


def test_a_run_that_is_not_there_is_not_found(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    for id in ODD_IDS:
        for rest in ("", "/messages", "/history", "/timeline", "/stream"):
            refused(client.get(f"{RUNS}/{id}{rest}"), 404, "session_not_found")
    for rest in ("", "/messages", "/history", "/timeline", "/stream"):
        assert client.get(f"{RUNS}/..%2f..%2fetc%2fpasswd{rest}").status_code == 404
        refused(client.get(f"{RUNS}/{'x' * 201}{rest}"), 422, "invalid_request")


def test_one_run_in_full(client: TestClient, ctx: Context, clock: Clock) -> None:
    start_run(ctx, "run-0", name="parent")
    start_run(ctx, parent_session_id="run-0", user="ana", node_metadata={"a": 1})
    clock.pass_seconds(1)
    start_run(ctx, "run-2", name="child", parent_session_id="run-1")
    call = MessageDraft("action", {"function": "Write", "arguments": {"path": "a.py"}}, ACTION_REQUEST_CLASS, id="c-1")
    failed = {"function": "Write", "action_request_id": "c-1", "output": "No room\nat all", "error": True}
    messages.append_messages(ctx, line_of("run-1"), [call, MessageDraft("action", failed, ACTION_RESPONSE_CLASS)])
    open_call = call._replace(content={"function": "bash", "arguments": {}}, id="c-2")
    messages.append_message(ctx, line_of("run-1"), open_call)
    sessions.put_process(
        ctx, ProcessRecord("run-1", ProcessRole.AGENT, Place("elsewhere", "b", "n"), 77, command="agent --go")
    )
    whole = ok(client.get(f"{RUNS}/run-1"))
    row = ok(client.get(RUNS, params={"search": "run-1"}))["items"][0]
    assert {name: whole[name] for name in row if name not in {"chain", "state"}} == {
        name: row[name] for name in row if name not in {"chain", "state"}
    }
    assert (whole["user"], whole["node_metadata"], whole["exit_code"], whole["ended_by"]) == (
        "ana",
        {"a": 1},
        None,
        None,
    )
    assert (whole["activity"]["kind"], whole["activity"]["tool"]) == ("tool", "bash")
    assert [(branch["id"], branch["message_count"]) for branch in whole["branches"]] == [("run-1-main", 3)]
    (error,) = whole["tool_errors"]
    assert (error["tool"], error["sentence"], error["times"], error["last_at"]) == ("Write", "No room", 1, NOW + 1)
    assert [(file["path"], file["how"], file["last_message_id"]) for file in whole["files"]] == [
        ("a.py", "written", "c-1")
    ]
    assert whole["files_left_out"] == 0
    assert whole["places"]["c-1"] == {"branch_id": "run-1-main", "position": 1}
    assert error["by_branch"] == {"run-1-main": 1}
    assert [(one["message_id"], one["place"]["position"]) for one in error["latest"]] == [(error["last_message_id"], 2)]
    (process,) = whole["processes"]
    assert (process["pid"], process["state"], process["command"]) == (77, "unknown", "agent --go")
    assert (whole["evidence"]["process"], whole["evidence"]["observed_at"]) == ("unknown", NOW + 1)
    assert whole["parent"] == {"id": "run-0", "display_name": "parent", "status": "running"}
    assert whole["children"] == [{"id": "run-2", "display_name": "child", "status": "running"}]
    assert (whole["plays"], whole["team_messages"], whole["usage_by_model"]) == ([], 0, {})


def test_thousands_of_kinds_of_failures_are_counted_and_the_most_frequent_are_told(
    client: TestClient, ctx: Context
) -> None:
    start_run(ctx)
    failed = {"function": "bash", "arguments": {}, "output": "x" * 100}
    fine = MessageDraft("action", {**failed, "action_request_id": "c"}, ACTION_RESPONSE_CLASS)

    def failure(word: str, at: float) -> MessageDraft:
        content = {**failed, "error": f"no {word} " + "!" * 2_000, "action_request_id": "c"}
        return MessageDraft("action", content, ACTION_RESPONSE_CLASS, created_at=at)

    words = ["".join(chr(97 + number // 26**place % 26) for place in range(3)) for number in range(600)]
    said = [
        fine,
        *(failure("often", NOW + number) for number in range(400)),
        *(failure(word, NOW) for word in words[1:]),
        failure(words[0], NOW - 5),
    ]
    messages.append_to_session(ctx, "run-1", [(None, draft) for draft in said])
    answer = client.get(f"{RUNS}/run-1")
    whole = ok(answer)
    assert (len(whole["tool_errors"]), whole["tool_error_kinds_left_out"], whole["tool_error_count"]) == (50, 551, 1000)
    assert "1,000 tool errors" in whole["chain"]
    often = whole["tool_errors"][0]
    assert (often["times"], len(often["latest"]), often["by_branch"]) == (400, 20, {"run-1-main": 20})
    assert (whole["first_tool_error"]["at"], whole["first_tool_error"]["place"]["position"]) == (NOW - 5, 1001)
    assert (often["latest"][0]["at"], often["latest"][0]["place"]["position"]) == (NOW + 399, 401)
    assert len(often["sentence"]) == 200
    assert len(answer.content) < 100_000


def test_the_timeline_of_a_run_says_who_was_busy_when(client: TestClient, ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    messages.append_message(ctx, line_of("run-1"), user_says("Go"))
    clock.pass_seconds(5)
    call = MessageDraft("action", {"function": "bash", "arguments": {}}, ACTION_REQUEST_CLASS, id="c-1")
    messages.append_message(ctx, line_of("run-1"), call)
    assert ok(client.get(f"{RUNS}/run-1/timeline")) == {
        "lanes": [
            {
                "branch_id": "run-1-main",
                "spans": [{"kind": "model", "from_at": NOW, "to_at": NOW + 5, "position": 2, "tool": None}],
            }
        ]
    }


def test_the_messages_of_a_run_come_in_pages_with_their_branches(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    messages.append_messages(ctx, line_of("run-1"), [user_says(str(n), id=f"m{n}") for n in range(7)])
    path = f"{RUNS}/run-1/messages"
    first = ok(client.get(path, params={"limit": 3}))
    assert [item["id"] for item in first["items"]] == ["m0", "m1", "m2"]
    assert first["next_cursor"] == "3"
    assert first["items"][0]["branch_ids"] == ["run-1-main"]
    assert ids(client.get(path, params={"after": 3, "limit": 3})) == ["m3", "m4", "m5"]
    assert ids(client.get(path, params={"cursor": first["next_cursor"], "limit": 3})) == ["m3", "m4", "m5"]
    assert ids(client.get(path, params={"after": 1, "cursor": 3, "limit": 3})) == ["m3", "m4", "m5"]
    last = ok(client.get(path, params={"after": 6, "limit": 3}))
    assert ([item["id"] for item in last["items"]], last["next_cursor"]) == (["m6"], None)
    assert ok(client.get(path, params={"after": 2**53})) == {"items": [], "next_cursor": None}
    assert ids(client.get(path, params={"branch": "run-1-main", "after": 5})) == ["m5", "m6"]


@pytest.mark.parametrize("asked", [{}, {"branch": line_of("run-1").branch_id}])
def test_a_page_of_large_messages_is_short(client: TestClient, ctx: Context, asked: dict[str, str]) -> None:
    start_run(ctx)
    for number in range(3):
        messages.append_message(ctx, line_of("run-1"), user_says("x" * 600_000, id=f"m{number}"))
    after, seen = "0", []
    while after is not None:
        answer = client.get("/api/sessions/run-1/messages", params={"limit": 1_000, "after": after, **asked})
        seen.append(ids(answer))
        after = answer.json()["next_cursor"]
    assert seen == [["m0"], ["m1"], ["m2"]]


def test_what_cannot_be_asked_of_messages_is_refused(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    start_run(ctx, "run-2")
    path = f"{RUNS}/run-1/messages"
    for asked in (
        "after=-1",
        "after=x",
        "after=1.5",
        "after=" + "9" * 30,
        "cursor=x",
        "limit=0",
        "limit=1001",
        "limit=x",
    ):
        refused(client.get(f"{path}?{asked}"), 422, "invalid_request")
    for branch in ("nope", "run-2-main", "..%2fx", "'--", ""):
        refused(client.get(f"{path}?branch={branch}"), 404, "branch_not_found")


def test_the_history_says_who_changed_what_and_outlives_nothing_it_should_not(
    client: TestClient, ctx: Context, clock: Clock
) -> None:
    start_run(ctx)
    clock.pass_seconds(30 * DAY)
    transition(ctx, ["run-1"], to="cancelled", reason="nobody waits for it", actor="ana")
    first, second = ok(client.get(f"{RUNS}/run-1/history"))["items"]
    assert first == {
        "at": NOW, "from_status": None, "to_status": "running", "actor": "run", "reason_code": "run.started",
        "sentence": "A recorder began the run.", "evidence": None,
    }  # fmt: skip
    assert (second["at"], second["from_status"], second["to_status"]) == (NOW + 30 * DAY, "running", "cancelled")
    assert (second["actor"], second["reason_code"]) == ("ana", "run.ended.by_operator")


def test_an_answer_has_a_tag_and_is_not_sent_twice(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    messages.append_message(ctx, line_of("run-1"), assistant_says("hi"))
    for path in (RUNS, f"{RUNS}/run-1", f"{RUNS}/run-1/messages", f"{RUNS}/run-1/history"):
        first = client.get(path)
        tag = first.headers["ETag"]
        assert tag.startswith('"')
        again = client.get(path, headers={"If-None-Match": f'"other", W/{tag}'})
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert client.get(path, headers={"If-None-Match": '"other"'}).content == first.content
    tag = client.get(f"{RUNS}/run-1/messages").headers["ETag"]
    messages.append_message(ctx, line_of("run-1"), user_says("more"))
    changed = client.get(f"{RUNS}/run-1/messages", headers={"If-None-Match": tag})
    assert (changed.status_code, len(changed.json()["items"])) == (200, 2)
    assert "ETag" not in client.post(f"{RUNS}/run-1/heartbeat").headers


def test_a_run_whose_texts_hold_half_characters_is_shown(client: TestClient, ctx: Context) -> None:
    start_run(ctx, name="a\0b", node_metadata={"half": "\ud800"})
    drafts = [
        MessageDraft("action", {"function": "Write", "arguments": {"path": "\ud800.py"}}, ACTION_REQUEST_CLASS),
        MessageDraft("action", {"function": "\ud800\0", "arguments": {}}, ACTION_REQUEST_CLASS),
        MessageDraft(
            "action",
            {"function": "\udfff", "error": True, "output": "\ud800", "action_request_id": "\0\ud800"},
            ACTION_RESPONSE_CLASS,
        ),
        MessageDraft("assistant", "x", node_metadata={"model": "\0\ud800", "usage": {"input_tokens": 1}}),
        user_says("\ud800"),
    ]
    messages.append_messages(ctx, line_of("run-1"), drafts)
    whole = ok(client.get(f"{RUNS}/run-1"))
    assert whole["node_metadata"]["half"] == "\ud800"
    assert whole["files"][0]["path"] == "\ud800.py"
    assert (whole["tool_errors"][0]["tool"], whole["tool_errors"][0]["sentence"]) == ("\udfff", "\ud800")
    assert ok(client.get(f"{RUNS}/run-1/messages"))["items"][-1]["content"] == {"instruction": "\ud800"}
    assert client.get(RUNS).status_code == 200


def test_a_legacy_run_has_no_status(client: TestClient, ctx: Context) -> None:
    from lionstudio.domain.session import Session

    imports.import_sessions(ctx, [imports.SessionImport(Session("old", NOW, NOW, "p-old"), [])])
    row = ok(client.get(f"{RUNS}/old"))
    assert (row["status"], row["state"]["lifecycle"]) == (None, "legacy")
    assert [branch["message_count"] for branch in row["branches"]] == [0]  # no run is without a branch
    assert ids(client.get(RUNS, params={"view": "legacy"})) == ["old"]


def test_branches_of_a_running_run_say_what_they_wait_for(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    messages.append_message(ctx, line_of("run-1"), user_says("go"))
    (branch,) = ok(client.get(f"{RUNS}/run-1"))["branches"]
    assert (branch["activity"]["kind"], branch["activity"]["branch_id"]) == ("model", "run-1-main")
    assert branches.list_branches(ctx, "run-1")[0].last_at == branch["last_at"] == NOW
