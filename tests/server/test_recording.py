"""Recording over HTTP: start a run, say something, branch, finish; answered when it is stored."""

import json
import threading
from typing import Any

import pytest
from starlette.testclient import TestClient

import lionstudio
from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.services import branches, messages, sessions
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context
from lionstudio.services.interventions import transition
from tests.factories import NOW, Clock, start_run

JSON = {"Content-Type": "application/json"}
SAID = "/api/sessions/run-1/messages"


def ok(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def refused(answer: Any, status: int, code: str) -> str:
    """An error in the one shape; its sentence."""
    body = answer.json()
    assert (answer.status_code, body["code"]) == (status, code), answer.text
    assert set(body) == {"code", "message", "hint"}
    assert body["message"]
    return str(body["message"])


def said(ctx: Context, branch_id: str | None = None) -> list[str]:
    return [message.id for message in messages.list_messages(ctx, "run-1", branch_id)]


def test_a_run_begins_with_everything_that_is_known_of_it(client: TestClient, ctx: Context) -> None:
    start_run(ctx, "run-0")
    body = {
        "id": "run-1", "name": "triage", "kind": "agent", "agent": "architect", "playbook": "review",
        "model": "claude/sonnet", "user": "ana", "show_topic": "opera", "show_play": "act-1",
        "artifacts_path": "/tmp/out", "parent_session_id": "run-0", "branch_id": "b-1", "branch_name": "first",
        "started_at": NOW - 60, "node_metadata": {"deep": [1, None]},
        "process": {"host": "h", "boot_id": "b", "pid_namespace": "n", "pid": 7, "start_time": 15, "command": "li"},
    }  # fmt: skip
    assert ok(client.post("/api/sessions", json=body), 201) == {
        "id": "run-1",
        "branch_id": "b-1",
        "status": "running",
    }
    session = sessions.get_session(ctx, "run-1")
    assert (session.name, session.invocation_kind, session.agent_name) == ("triage", "agent", "architect")
    assert (session.playbook_name, session.user, session.show_topic) == ("review", "ana", "opera")
    assert (session.show_play_name, session.artifacts_path, session.parent_session_id) == ("act-1", "/tmp/out", "run-0")
    assert (session.started_at, session.source_kind) == (NOW - 60, "live")
    assert session.node_metadata == {"deep": [1, None]}
    (branch,) = branches.list_branches(ctx, "run-1")
    assert (branch.id, branch.name, branch.node_metadata) == ("b-1", "first", {"model": "claude/sonnet"})
    (process,) = sessions.list_processes(ctx, "run-1")
    assert (process.role, process.place, process.pid) == (ProcessRole.AGENT, Place("h", "b", "n"), 7)
    assert (process.start_time, process.command) == (15, "li")


def test_starting_the_same_run_again_changes_nothing(client: TestClient, ctx: Context) -> None:
    first = ok(client.post("/api/sessions", json={"id": "run-1", "name": "first"}), 201)
    newest = newest_number(ctx)
    assert ok(client.post("/api/sessions", json={"id": "run-1", "name": "second"}), 200) == first
    assert sessions.get_session(ctx, "run-1").name == "first"
    assert newest_number(ctx) == newest


def test_a_run_that_began_hours_ago_is_well_when_it_is_announced(client: TestClient, ctx: Context) -> None:
    ok(client.post("/api/sessions", json={"id": "run-1", "started_at": NOW - 7 * 3600}), 201)
    run = ok(client.get("/api/sessions/run-1"))
    assert (run["started_at"], run["updated_at"], run["effective_health"]) == (NOW - 7 * 3600, NOW, "healthy")


HALF = "a\ud800b\0c"  # what no column keeps as it is
WHOLE = "a\ufffdb\ufffdc"
HALVES = {"role": HALF, "sender": HALF, "recipient": HALF, "channel": HALF, "lion_class": HALF}


def post(client: TestClient, path: str, body: Any) -> Any:
    """Post what the client itself could not write down: half a character, as an escape."""
    return client.post(path, content=json.dumps(body), headers=JSON)


def test_text_with_half_a_character_is_taken_and_its_original_kept(client: TestClient, ctx: Context) -> None:
    names = ("name", "agent", "playbook", "user", "show_topic", "show_play", "artifacts_path", "branch_name", "model")
    process = {"pid": 7, **dict.fromkeys(("host", "boot_id", "pid_namespace", "command"), HALF)}
    ok(post(client, "/api/sessions", {"id": "run-1", **dict.fromkeys(names, HALF), "process": process}), 201)
    session = sessions.get_session(ctx, "run-1")
    assert (session.name, session.agent_name, session.node_metadata["original"]["name"]) == (WHOLE, WHOLE, HALF)
    ok(post(client, "/api/sessions/run-1/branches", {"id": "b-2", "name": HALF, "model": HALF}), 201)
    assert branches.list_branches(ctx, "run-1")[1].node_metadata == {"model": HALF, "original": {"name": HALF}}
    ok(post(client, SAID, {"id": "m-1", **HALVES, "content": HALF}), 201)
    stored = messages.get_message(ctx, "m-1")
    assert (stored.role, stored.sender, stored.content) == (WHOLE, WHOLE, HALF)
    assert stored.node_metadata["original"]["sender"] == HALF
    assert ok(client.get("/api/messages", params={"recipient": WHOLE}))["items"][0]["id"] == "m-1"
    assert ok(post(client, "/api/sessions/run-1/finish", {"sentence": HALF}))["name"] == WHOLE
    assert ok(client.get("/api/sessions/run-1/history"))["items"][-1]["sentence"] == WHOLE
    assert ok(client.get("/api/sessions/run-1"))["node_metadata"]["original"]["agent_name"] == HALF


def test_text_that_is_too_long_is_refused(client: TestClient) -> None:
    too_long = refused(client.post("/api/sessions", json={"name": "x" * 4_001}), 422, "invalid_request")
    assert too_long == "name: string should have at most 4000 characters."
    assert "at least 1 character" in refused(
        client.post(SAID, json={"role": "", "content": "x"}), 422, "invalid_request"
    )


def test_a_run_that_says_nothing_about_itself_gets_its_ids(client: TestClient, ctx: Context) -> None:
    answers = [ok(client.post("/api/sessions", json={}), 201) for _ in range(2)]
    assert len({answer["id"] for answer in answers} | {answer["branch_id"] for answer in answers}) == 4
    assert branches.list_branches(ctx, answers[0]["id"])[0].name == "main"


def test_a_clock_that_is_ahead_does_not_take_the_first_branch_from_a_run(client: TestClient) -> None:
    body = {"id": "run-1", "branch_id": "z-first", "started_at": NOW + 3600}
    ok(client.post("/api/sessions", json=body), 201)
    ok(client.post("/api/sessions/run-1/branches", json={"id": "a-second"}), 201)
    assert ok(client.post("/api/sessions", json=body), 200)["branch_id"] == "z-first"
    ok(client.post(SAID, json={"role": "user", "content": "x"}), 201)
    assert ok(client.get(SAID))["items"][0]["branch_ids"] == ["z-first"]


def test_a_branch_of_another_run_is_no_first_branch(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    sentence = refused(
        client.post("/api/sessions", json={"id": "run-2", "branch_id": "run-1-main"}), 409, "already_exists"
    )
    assert "run-1-main" in sentence
    refused(client.get("/api/sessions/run-2"), 404, "session_not_found")


def test_one_message_is_stored_as_it_was_said(client: TestClient, ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    body = {
        "id": "m-1", "role": "tool", "content": {"function": "bash", "arguments": {"cmd": "ls"}}, "sender": "ana",
        "recipient": "bo", "channel": "handover", "lion_class": "my.Own", "created_at": 12.5,
        "node_metadata": {"model": "m", "usage": {"input_tokens": 3}},
    }  # fmt: skip
    assert ok(client.post(SAID, json=body), 201) == {"ids": ["m-1"]}
    assert ok(client.get(SAID)) == {
        "items": [{**body, "position": 1, "branch_ids": ["run-1-main"], "kind": "tool_call"}],
        "next_cursor": None,
    }
    assert ok(client.get("/api/sessions/run-1"))["usage_by_model"]["m"]["input_tokens"] == 3
    assert [message.id for message in messages.list_inbox(ctx, ["bo"])] == ["m-1"]


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_plain_text_takes_the_shape_of_its_role(client: TestClient, ctx: Context, role: str) -> None:
    start_run(ctx)
    (id,) = ok(client.post(SAID, json={"role": role, "content": "hello"}), 201)["ids"]
    stored = messages.get_message(ctx, id)
    assert (stored.kind, list(stored.content.values()), stored.created_at) == (role, ["hello"], NOW)


def test_content_in_lionagis_shapes_has_the_class_that_the_sdk_gives_it(
    client: TestClient, ctx: Context, location: str
) -> None:
    with lionstudio.record("by-sdk", db=location) as run:
        run.system("be kind")
        run.user("go")
        run.tool_result(run.tool_call("bash", {}), "x")
        run.assistant("hey")
    start_run(ctx)
    by_sdk = messages.list_messages(ctx, run.session_id)
    ok(client.post(SAID, json=[{"role": one.role, "content": one.content} for one in by_sdk]), 201)
    classes = [(one.role, one.lion_class, one.kind) for one in messages.list_messages(ctx, "run-1")]
    assert classes == [(one.role, one.lion_class, one.kind) for one in by_sdk]


def test_a_message_sent_again_is_stored_once_and_overwritten(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    for text in ("first", "first", "second"):
        assert ok(client.post(SAID, json={"id": "m", "role": "user", "content": text}), 201) == {"ids": ["m"]}
    (stored,) = messages.list_messages(ctx, "run-1")
    assert stored.content == {"instruction": "second"}
    assert sessions.get_session(ctx, "run-1").message_count == 1


def test_many_messages_of_several_branches_come_in_one_request(client: TestClient, ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    clock.pass_seconds(1)
    ok(client.post("/api/sessions/run-1/branches", json={"id": "b-2"}), 201)
    batch = [{"id": f"m{n}", "role": "user", "content": n, "branch_id": ("b-2", None)[n % 2]} for n in range(6)]
    batch.append({"id": "m0", "role": "user", "content": "again", "branch_id": "b-2"})
    assert ok(client.post(SAID, json=batch), 201)["ids"] == [*(f"m{n}" for n in range(6)), "m0"]
    assert said(ctx) == [f"m{n}" for n in range(6)]
    assert said(ctx, "b-2") == ["m0", "m2", "m4"]
    assert said(ctx, "run-1-main") == ["m1", "m3", "m5"]
    assert messages.get_message(ctx, "m0").content == {"instruction": "again"}
    assert ok(client.post(SAID, json=[]), 201) == {"ids": []}


def test_a_list_is_stored_as_a_whole_or_not_at_all(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    newest = newest_number(ctx)
    good = [{"id": f"m{n}", "role": "user", "content": n} for n in range(3)]
    for bad, status, code in [
        ({"role": "", "content": "x"}, 422, "invalid_request"),
        ({"role": "user", "content": "x", "branch_id": "nope"}, 404, "branch_not_found"),
        ({"role": "user", "content": "x", "created_at": 1e300}, 422, "invalid_request"),
        ({"role": "user", "content": "x", "created_at": -9e12}, 422, "invalid_request"),
    ]:
        refused(client.post(SAID, json=[*good, bad]), status, code)
    nan = json.dumps([*good, {"role": "user", "content": float("nan")}])
    refused(client.post(SAID, content=nan, headers=JSON), 422, "invalid_content")
    refused(client.post(SAID, json=good * 334), 422, "invalid_request")
    assert (said(ctx), newest_number(ctx)) == ([], newest)


@pytest.mark.parametrize(
    "content",
    ["a\0b", "half \ud83d a character", {"k\0\ud800": ["\udfff"]}, 10**300, [[[1.5, None, True]]], "</script>\u2028"],
)
def test_any_text_and_any_number_comes_back_as_it_was(client: TestClient, ctx: Context, content: Any) -> None:
    start_run(ctx)
    body = {"role": "custom", "content": content, "node_metadata": {"same": content}, "id": "m"}
    ok(client.post(SAID, content=json.dumps(body), headers=JSON), 201)
    (back,) = ok(client.get(SAID))["items"]
    assert (back["content"], back["node_metadata"]) == (content, {"same": content})
    ok(client.get("/api/sessions/run-1"))


def test_names_that_no_column_takes_are_kept_in_the_metadata(client: TestClient, ctx: Context) -> None:
    ok(client.post("/api/sessions", json={"id": "run-1", "name": "a\0b", "agent": "x" * 1000}), 201)
    ok(client.post(SAID, json={"role": "user", "content": "x", "sender": "c\0d"}), 201)
    whole = ok(client.get("/api/sessions/run-1"))
    assert whole["name"] == "a\ufffdb"
    assert whole["node_metadata"]["original"] == {"name": "a\0b", "agent_name": "x" * 1000}
    (message,) = ok(client.get(SAID))["items"]
    assert (message["sender"], message["node_metadata"]) == ("c\ufffdd", {"original": {"sender": "c\0d"}})


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_request"),
        (b"{", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b'{"role":"user","content":"\xff"}', "invalid_json"),
        (b'{"role":"user","content":' + b"9" * 5000 + b"}", "invalid_json"),
        (b'{"role":"user","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "invalid_json"),
        (b'{"role":"user","content":' + b"[" * 900 + b"]" * 900 + b"}", "invalid_request"),
        (b'{"role":"user","content":NaN}', "invalid_content"),
        (b'{"role":"user","content":-Infinity}', "invalid_content"),
        (b'{"role":"user","content":1e999}', "invalid_content"),
        (b'{"role":"user","content":"x","created_at":NaN}', "invalid_request"),
        (b'{"role":"user","content":"x","created_at":"soon"}', "invalid_request"),
        (b"null", "invalid_request"),
        (b"7", "invalid_request"),
        (b'"x"', "invalid_request"),
        (b"[[]]", "invalid_request"),
        (b'{"role":"user"}', "invalid_request"),
        (b'{"role":7,"content":"x"}', "invalid_request"),
        (b'{"content":"x"}', "invalid_request"),
        (b'{"role":"user","content":"x","extra":1}', "invalid_request"),
        (b'{"role":"user","content":"x","id":"../x"}', "invalid_request"),
        (b'{"role":"user","content":"x","id":"a b"}', "invalid_request"),
        (b'{"role":"user","content":"x","id":"a\\n"}', "invalid_request"),
        (b'{"role":"user","content":"x","id":"\\u0000"}', "invalid_request"),
        (b'{"role":"user","content":"x","id":"' + b"x" * 201 + b'"}', "invalid_request"),
        (b'{"role":"user","content":"x","node_metadata":[]}', "invalid_request"),
    ],
)
@pytest.mark.parametrize("location", ["sqlite"], indirect=True)  # none of them comes as far as the database
def test_what_is_no_message_is_refused(client: TestClient, ctx: Context, body: bytes, code: str) -> None:
    start_run(ctx)
    sentence = refused(client.post(SAID, content=body, headers=JSON), 422, code)
    assert len(sentence) < 500
    assert "MessageIn" not in sentence
    assert said(ctx) == []


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_what_is_no_run_is_refused(client: TestClient) -> None:
    for body in [
        [], None, {"id": ""}, {"id": "a/b"}, {"id": "'; DROP TABLE sessions"}, {"bogus": 1}, {"name": 7},
        {"name": "x" * 4001}, {"started_at": "x"}, {"started_at": -9e12}, {"node_metadata": "x"}, {"process": {}},
        {"process": {"pid": 0}}, {"process": {"pid": 2**31}}, {"process": {"pid": 1, "extra": 1}},
    ]:  # fmt: skip
        refused(client.post("/api/sessions", json=body), 422, "invalid_request")
    sentence = refused(client.post("/api/sessions", json={"kind": "opera"}), 422, "invalid_request")
    assert "'agent', 'play', 'flow', 'fanout', 'show-play' or 'command'" in sentence
    huge = '{"id": "r", "started_at": 1' + "0" * 400 + "}"
    assert client.post("/api/sessions", content=huge, headers=JSON).status_code == 422
    assert ok(client.get("/api/sessions"))["items"] == []


def test_every_writing_route_knows_a_run_that_is_not_there(client: TestClient) -> None:
    for path, body in [
        ("messages", {"role": "user", "content": "x"}),
        ("messages", []),
        ("branches", {}),
        ("finish", {}),
        ("heartbeat", {}),
    ]:
        for id in ("nope", "..%2E", "' OR 1=1 --", "%ED%A0%80"):
            refused(client.post(f"/api/sessions/{id}/{path}", json=body), 404, "session_not_found")
        assert client.post(f"/api/sessions/%00/{path}", json=body).status_code == 404


def test_a_branch_may_begin_empty_or_fork(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    ok(client.post(SAID, json=[{"id": f"m{n}", "role": "user", "content": n} for n in range(3)]), 201)
    path = "/api/sessions/run-1/branches"
    fork = {"id": "b-2", "name": "retry", "parent_branch_id": "run-1-main", "at": 2, "model": "m"}
    expected = {
        "id": "b-2", "name": "retry", "created_at": NOW, "parent_branch_id": "run-1-main", "forked_at": 2,
        "message_count": 0, "history_length": 2, "system_msg_id": None, "last_at": None, "activity": None, "model": "m",
    }  # fmt: skip
    assert ok(client.post(path, json=fork), 201) == expected
    assert ok(client.post(path, json={"id": "b-2"}), 201) == expected  # announced again
    assert branches.get_branch(ctx, "b-2").node_metadata == {"model": "m"}
    ok(client.post(SAID, json={"id": "own", "role": "user", "content": "x", "branch_id": "b-2"}), 201)
    history = ok(client.get(SAID, params={"branch": "b-2"}))["items"]
    assert [(message["id"], message["position"]) for message in history] == [("m0", 1), ("m1", 2), ("own", 3)]
    assert ok(client.post(path, json={"parent_branch_id": "run-1-main"}), 201)["forked_at"] == 3
    assert ok(client.post(path, json={}), 201)["forked_at"] is None
    refused(client.post(path, json={"parent_branch_id": "run-1-main", "at": 4}), 409, "fork_out_of_range")
    refused(client.post(path, json={"parent_branch_id": "nope"}), 404, "branch_not_found")
    for bad in ({"at": 2}, {"at": -1}, {"at": 10**30}, {"at": "x"}, {"bogus": 1}, {"id": "a/b"}):
        refused(client.post(path, json=bad), 422, "invalid_request")
    start_run(ctx, "run-2")
    refused(client.post("/api/sessions/run-2/branches", json={"id": "b-2"}), 409, "already_exists")


@pytest.mark.parametrize(
    ("body", "status", "exit_code"),
    [
        ({}, "completed", None),
        ({"exit_code": 0}, "completed", 0),
        ({"exit_code": 1}, "failed", 1),
        ({"exit_code": 124}, "timed_out", 124),
        ({"exit_code": 126}, "failed", 126),
        ({"exit_code": 127}, "failed", 127),
        ({"exit_code": 129}, "aborted", 129),
        ({"exit_code": 130}, "aborted", 130),
        ({"exit_code": 143}, "cancelled", 143),
        ({"exit_code": -15}, "cancelled", -15),
        ({"exit_code": -9}, "failed", -9),
        ({"status": "aborted", "exit_code": 0, "sentence": "Ctrl-C"}, "aborted", 0),
    ],
)
@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_a_run_ends_by_its_exit_code(
    client: TestClient, ctx: Context, clock: Clock, body: dict[str, Any], status: str, exit_code: int | None
) -> None:
    start_run(ctx)
    clock.pass_seconds(90)
    row = ok(client.post("/api/sessions/run-1/finish", json=body))
    assert (row["status"], row["ended_at"], row["duration_ms"]) == (status, NOW + 90, 90_000)
    session = sessions.get_session(ctx, "run-1")
    assert (session.exit_code, session.end_actor) == (exit_code, "run")
    if "sentence" in body:
        assert ok(client.get("/api/sessions/run-1/history"))["items"][-1]["sentence"] == "Ctrl-C"


def test_a_run_ends_once_and_only_with_a_final_status(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    path = "/api/sessions/run-1/finish"
    refused(client.post(path, json={"status": "running"}), 422, "invalid_request")
    for bad in ({"status": "done"}, {"exit_code": "x"}, {"exit_code": 2**31}, {"exit_code": 1.5}, {"bogus": 1}, []):
        refused(client.post(path, json=bad), 422, "invalid_request")
    for _ in "12":
        assert ok(client.post(path, json={"exit_code": 1}))["status"] == "failed"
    assert len(ok(client.get("/api/sessions/run-1/history"))["items"]) == 2


def test_a_run_that_says_it_completed_with_an_exit_code_of_failure_is_told_so(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    row = ok(client.post("/api/sessions/run-1/finish", json={"status": "completed", "exit_code": 3}))
    (reason,) = [reason for reason in row["state"]["reasons"] if reason["code"].startswith("run.completed")]
    assert (row["status"], reason["code"]) == ("completed", "run.completed.reported")
    assert reason["sentence"] == "The run said that it completed, although its exit code was not 0."


def test_a_run_that_contradicts_itself_keeps_its_end_and_both_reports(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    for exit_code in (1, 0, 0, 1, 0):
        assert ok(client.post("/api/sessions/run-1/finish", json={"exit_code": exit_code}))["status"] == "failed"
    *_, end, late = ok(client.get("/api/sessions/run-1/history"))["items"]
    assert (end["to_status"], end["reason_code"]) == ("failed", "run.failed.exit_nonzero")
    assert (late["to_status"], late["reason_code"]) == ("failed", "run.ended.late_report")
    assert late["evidence"] == {"reported": "completed", "exit_code": 0}
    assert late["sentence"] == "The run reported completed after it had ended as failed."


def test_a_late_report_never_overturns_an_operator(client: TestClient, ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    clock.pass_seconds(30 * 24 * 3600)
    transition(ctx, ["run-1"], to="failed", reason="it hangs", actor="ana")
    clock.pass_seconds(60)
    ok(client.post(SAID, json={"role": "assistant", "content": "I live"}), 201)
    row = ok(client.post("/api/sessions/run-1/finish", json={"exit_code": 0}))
    assert (row["status"], row["message_count"]) == ("failed", 1)
    assert "run.health.wrote_after_end" in {reason["code"] for reason in row["state"]["reasons"]}
    last = ok(client.get("/api/sessions/run-1/history"))["items"][-1]
    assert (last["to_status"], last["reason_code"]) == ("failed", "run.ended.late_report")
    assert last["evidence"] == {"reported": "completed", "exit_code": 0}


def test_a_heartbeat_is_written_whether_or_not_a_process_is_known(
    client: TestClient, ctx: Context, clock: Clock
) -> None:
    start_run(ctx)
    path, newest = "/api/sessions/run-1/heartbeat", newest_number(ctx)
    assert ok(client.post(path)) == {"at": NOW}
    clock.pass_seconds(10)
    assert ok(client.post(path, json={})) == {"at": NOW + 10}
    sessions.put_process(ctx, ProcessRecord("run-1", ProcessRole.AGENT, Place("elsewhere", "b", "n"), 77))
    assert newest_number(ctx) == newest + 1  # a heartbeat itself is no news
    clock.pass_seconds(10)
    assert ok(client.post(path, json={"role": "agent"})) == {"at": NOW + 20}
    beats = {record.role: (record.pid, record.heartbeat_at) for record in sessions.list_processes(ctx, "run-1")}
    assert beats[ProcessRole.AGENT] == (77, NOW + 20)
    assert beats[ProcessRole.RECORDER][1] == NOW + 10
    assert ok(client.get("/api/sessions/run-1"))["evidence"]["heartbeat_at"] == NOW + 20
    assert "'agent' or 'recorder'" in refused(client.post(path, json={"role": "king"}), 422, "invalid_request")


def test_sixteen_clients_at_once_lose_nothing(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    problems: list[str] = []

    def write(number: int) -> None:
        for turn in range(20):
            answer = client.post(SAID, json={"id": f"c{number}-{turn}", "role": "user", "content": turn})
            if answer.status_code != 201:
                problems.append(answer.text)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(16)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert problems == []
    stored = [message.id for message in messages.list_messages(ctx, "run-1", limit=1_000)]
    assert len(stored) == len(set(stored)) == 320
    for number in range(16):
        own = [id for id in stored if id.startswith(f"c{number}-")]
        assert own == [f"c{number}-{turn}" for turn in range(20)]


def test_the_id_of_another_runs_message_is_refused(client: TestClient) -> None:
    for run in ("one", "two"):
        client.post("/api/sessions", json={"id": run})
    said = {"id": "m1", "role": "user", "content": "mine"}
    assert client.post("/api/sessions/one/messages", json=said).status_code == 201
    answer = client.post(
        "/api/sessions/two/messages", json=[{"role": "user", "content": "x"}, {**said, "content": "no"}]
    )
    assert answer.status_code == 409
    assert "not of this run" in answer.json()["message"]
    assert client.get("/api/sessions/two/messages").json()["items"] == []
    assert [one["content"] for one in client.get("/api/sessions/one/messages").json()["items"]] == [
        {"instruction": "mine"}
    ]
    assert client.post("/api/sessions/one/messages", json={**said, "content": "mine, too"}).status_code == 201


def test_milliseconds_are_not_taken_for_seconds(client: TestClient, clock: Clock) -> None:
    answer = client.post("/api/sessions", json={"started_at": clock.now * 1000})
    assert answer.status_code == 422
    assert "milliseconds" in answer.json()["hint"]
    client.post("/api/sessions", json={"id": "run"})
    said = {"role": "user", "content": "x", "created_at": clock.now * 1000}
    assert client.post("/api/sessions/run/messages", json=said).status_code == 422


def test_what_is_wrong_with_a_message_is_told_by_the_names_of_its_fields(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    answer = client.post("/api/sessions/run-1/messages", json={"message": {"role": "user", "content": "hi"}})
    told = refused(answer, 422, "invalid_request")
    assert told.startswith("role: field required.")
    assert "message: extra inputs are not permitted." in told
