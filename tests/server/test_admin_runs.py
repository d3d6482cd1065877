"""What operators do to runs over HTTP: for all named runs or for none, with a reason for each that is refused."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.domain.health import HOUR
from lionstudio.services import admin, messages, sessions
from lionstudio.services.context import Context
from tests.factories import NOW, Clock, start_run
from tests.server.test_admin import get, post
from tests.services.dashboard_world import put_play
from tests.services.prune_world import put_session
from tests.services.test_cleanup import files_in, leave
from tests.services.test_health import child as child  # noqa: PLC0414  a fixture
from tests.services.test_health import end_run, record_dead_process, record_process, say_something
from tests.services.test_repair import leave_in_spool, said, start_orphan

TRANSITION, PRUNE, CLEANUP, REPAIR = (f"/api/admin/{act}" for act in ("transition", "prune", "cleanup", "repair"))


def refused(client: TestClient, address: str, body: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Why nothing was done, by run."""
    answer = client.post(address, json=body)
    assert answer.status_code == 409, answer.text
    told = answer.json()
    assert told["code"] == "refused"
    assert told["message"]
    return {refusal.pop("session_id"): refusal for refusal in told["refusals"]}


def start_dead(ctx: Context, *session_ids: str) -> None:
    for session_id in session_ids:
        start_run(ctx, session_id)
        say_something(ctx, session_id)
        record_dead_process(ctx, session_id)


def statuses(ctx: Context, *session_ids: str) -> list[str | None]:
    return [sessions.get_session(ctx, session_id).status for session_id in session_ids]


def acts(ctx: Context, action: str) -> list[Any]:
    return admin.list_events(ctx, action=action)


@pytest.mark.parametrize("target", ["failed", "aborted", "cancelled"])
def test_dead_runs_are_ended_one_row_and_one_event_each(
    client: TestClient, ctx: Context, clock: Clock, target: str
) -> None:
    start_dead(ctx, "one", "two")
    clock.pass_seconds(5)
    body = {"session_ids": ["two", "one"], "target_status": target, "reason": "Its machine is gone.", "note": "rack 7"}
    done = post(client, TRANSITION, body)
    assert done["dry_run"] is False
    events = {event.target_id: event for event in acts(ctx, "transition")}
    assert [(row["session_id"], row["status"]) for row in done["items"]] == [("two", target), ("one", target)]
    for row in done["items"]:
        assert (row["previous_status"], row["health"]) == ("running", "stale")
        assert row["reasons"][0]["code"] == "run.health.process_dead"
        event = events[row["session_id"]]
        assert (event.id, event.actor, event.created_at) == (row["event_id"], "ana", NOW + 5)
        assert (event.details["reason"], event.details["note"]) == ("Its machine is gone.", "rack 7")
    run = get(client, "/api/sessions/one")
    assert (run["status"], run["ended_at"], run["ended_by"], run["message_count"]) == (target, NOW + 5, "ana", 1)
    history = get(client, "/api/sessions/one/history")["items"]
    assert (history[-1]["to_status"], history[-1]["sentence"]) == (target, "Its machine is gone. (rack 7)")


def test_a_reason_of_the_registry_is_kept_with_its_code_and_its_sentence(client: TestClient, ctx: Context) -> None:
    start_dead(ctx, "run-1")
    body = {"session_ids": ["run-1"], "target_status": "failed", "reason": "run.health.process_dead", "note": "rack 7"}
    post(client, TRANSITION, body)
    (event,) = acts(ctx, "transition")
    sentence = "Its process was gone and it never said how it ended."
    assert (event.details["reason_code"], event.details["reason"]) == ("run.health.process_dead", sentence)
    assert get(client, "/api/sessions/run-1/history")["items"][-1]["sentence"] == f"{sentence} (rack 7)"


def test_a_stale_and_a_healthy_run_together_stay_as_they_are_and_the_answer_says_why(
    client: TestClient, ctx: Context
) -> None:
    start_dead(ctx, "stale")
    start_run(ctx, "healthy")
    body = {"session_ids": ["stale", "healthy"], "target_status": "failed", "reason": "gone"}
    why = refused(client, TRANSITION, body)
    assert list(why) == ["healthy"]
    assert why["healthy"]["code"] == "session_is_healthy"
    assert "healthy" in why["healthy"]["message"]
    assert "No process was recorded for it" in why["healthy"]["hint"]
    assert statuses(ctx, "stale", "healthy") == ["running", "running"]
    assert acts(ctx, "transition") == []


def test_a_run_that_spoke_ten_seconds_ago_and_has_no_process_cannot_be_failed(
    client: TestClient, ctx: Context, clock: Clock
) -> None:
    start_run(ctx, "run-1")
    say_something(ctx)
    clock.pass_seconds(10)
    why = refused(client, TRANSITION, {"session_ids": ["run-1"], "target_status": "failed", "reason": "gone"})
    assert why["run-1"]["code"] == "session_is_healthy"
    assert statuses(ctx, "run-1") == ["running"]


def test_every_refused_run_says_why(
    client: TestClient, ctx: Context, child: subprocess.Popen[bytes], clock: Clock
) -> None:
    start_run(ctx, "unresponsive", kind="agent")
    record_process(ctx, child.pid, "unresponsive")
    clock.pass_seconds(6 * HOUR)
    start_run(ctx, "idle", kind="agent")
    clock.pass_seconds(2 * HOUR)
    start_run(ctx, "ended")
    end_run(ctx, "ended")
    ids = ["unresponsive", "idle", "ended", "nobody", "../../etc"]
    why = refused(client, TRANSITION, {"session_ids": ids, "target_status": "failed", "reason": "gone"})
    assert {session_id: refusal["code"] for session_id, refusal in why.items()} == {
        "unresponsive": "process_is_alive", "idle": "session_is_healthy", "ended": "illegal_transition",
        "nobody": "session_not_found", "../../etc": "session_not_found",
    }  # fmt: skip
    assert "li runs kill unresponsive" in why["unresponsive"]["hint"]


def test_an_unresponsive_run_is_ended_by_force_and_a_note_only(
    client: TestClient, ctx: Context, child: subprocess.Popen[bytes], clock: Clock
) -> None:
    start_run(ctx, "run-1", kind="agent")
    record_process(ctx, child.pid)
    clock.pass_seconds(8 * HOUR)
    body = {"session_ids": ["run-1"], "target_status": "aborted", "reason": "It hangs.", "force": True}
    assert "note" in refused(client, TRANSITION, body)["run-1"]["hint"]
    assert statuses(ctx, "run-1") == ["running"]
    (row,) = post(client, TRANSITION, {**body, "note": "Attached a debugger: a deadlock."})["items"]
    assert (row["status"], row["health"]) == ("aborted", "unresponsive")
    assert acts(ctx, "transition")[0].details["forced"] is True


def test_a_reason_and_a_note_may_hold_half_a_character(client: TestClient, ctx: Context) -> None:
    start_dead(ctx, "run-1")
    body = {"session_ids": ["run-1"], "target_status": "failed", "reason": "a\ud800\0", "note": "b\ud800\0"}
    answer = client.post(TRANSITION, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == 200, answer.text
    assert statuses(ctx, "run-1") == ["failed"]
    assert client.get("/api/sessions/run-1/history").status_code == 200
    assert client.get("/api/admin/events", params={"action": "transition"}).status_code == 200


def test_a_dry_run_of_a_transition_says_what_would_be_and_changes_nothing(client: TestClient, ctx: Context) -> None:
    start_dead(ctx, "run-1")
    body = {"session_ids": ["run-1"], "target_status": "failed", "reason": "gone", "dry_run": True}
    done = post(client, TRANSITION, body)
    (row,) = done["items"]
    assert done["dry_run"] is True
    assert (row["session_id"], row["status"], row["health"], row["event_id"]) == ("run-1", "running", "stale", None)
    assert statuses(ctx, "run-1") == ["running"]
    assert acts(ctx, "transition") == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"target_status": "completed"}, "aborted, cancelled, failed"),
        ({"target_status": "done"}, "aborted, cancelled, failed"),
        ({"reason": "  "}, "A reason is needed"),
        ({"reason": ""}, "reason: string should have at least 1 character"),
        ({"reason": None}, "reason"),
        ({"session_ids": []}, "session_ids"),
        ({"session_ids": "run-1"}, "session_ids"),
        ({"session_ids": [7]}, "session_ids.0"),
        ({"session_ids": [""]}, "session_ids.0"),
        ({"session_ids": ["run\0-1"]}, "session_ids.0"),
        ({"session_ids": [f"run-{n}" for n in range(1_001)]}, "1000"),
        ({"dryrun": True}, "dryrun"),
    ],
)
def test_an_order_that_cannot_be_understood_is_refused(
    client: TestClient, ctx: Context, change: dict[str, Any], told: str
) -> None:
    start_dead(ctx, "run-1")
    body = {"session_ids": ["run-1"], "target_status": "failed", "reason": "gone", **change}
    answer = client.post(TRANSITION, json=body)
    assert answer.status_code == 422
    assert told in f"{answer.json()['message']} {answer.json()['hint']}"
    assert statuses(ctx, "run-1") == ["running"]


def test_who_gives_no_name_acts_as_admin(client: TestClient, ctx: Context) -> None:
    start_dead(ctx, "run-1")
    body = {"session_ids": ["run-1"], "target_status": "failed", "reason": "gone"}
    assert client.post(TRANSITION, json=body).status_code == 200
    assert acts(ctx, "transition")[0].actor == "admin"


def test_what_a_run_says_after_it_was_ended_is_kept_and_does_not_overturn_the_operator(
    client: TestClient, ctx: Context, clock: Clock
) -> None:
    start_dead(ctx, "run-1")
    post(client, TRANSITION, {"session_ids": ["run-1"], "target_status": "failed", "reason": "gone"})
    clock.pass_seconds(5)
    said_late = client.post("/api/sessions/run-1/messages", json={"role": "assistant", "content": "I live!"})
    assert said_late.status_code == 201
    assert post(client, "/api/sessions/run-1/finish", {"status": "completed"})["status"] == "failed"
    run = get(client, "/api/sessions/run-1")
    assert (run["status"], run["message_count"]) == ("failed", 2)
    assert "run.health.wrote_after_end" in [reason["code"] for reason in run["state"]["reasons"]]


def test_chosen_runs_are_deleted_together(client: TestClient, ctx: Context) -> None:
    put_session(ctx, "old", says=["m1", "m2"])
    put_session(ctx, "legacy", status=None, ended_days_ago=None)
    put_session(ctx, "stays")
    body: dict[str, Any] = {"session_ids": ["old", "legacy"], "reason": "They were tests."}
    planned = post(client, PRUNE, {**body, "dry_run": True})
    removed = {"sessions": 2, "branches": 2, "progressions": 4, "entries": 4, "messages": 2}
    assert planned == {
        "dry_run": True, "removed": removed, "session_ids": ["old", "legacy"], "kept": [], "kept_newest": 0,
        "plan": None, "event_id": None,
    }  # fmt: skip
    assert len(statuses(ctx, "old", "legacy")) == 2
    done = post(client, PRUNE, body)
    (event,) = acts(ctx, "prune")
    assert done == {**planned, "dry_run": False, "event_id": event.id}
    assert (event.actor, event.details["reason"]) == ("ana", "They were tests.")
    assert client.get("/api/sessions/old").status_code == 404
    assert statuses(ctx, "stays") == ["completed"]


def test_a_run_that_must_stay_says_why_and_nothing_is_deleted(client: TestClient, ctx: Context) -> None:
    put_session(ctx, "old")
    put_session(ctx, "of-play")
    put_play(ctx, "ledger", "writes", "merged", session_id="of-play")
    start_run(ctx, "runs")
    why = refused(client, PRUNE, {"session_ids": ["old", "runs", "of-play", "nobody"]})
    assert {session_id: refusal["code"] for session_id, refusal in why.items()} == {
        "runs": "session_is_running", "of-play": "session_is_needed", "nobody": "session_not_found",
    }  # fmt: skip
    assert "has not ended" in why["runs"]["message"]
    assert "End it first" in why["runs"]["hint"]
    assert "The play writes of the show ledger points to it." in why["of-play"]["message"]
    assert statuses(ctx, "old", "of-play", "runs") == ["completed", "completed", "running"]
    assert list(refused(client, PRUNE, {"session_ids": ["runs"]})) == ["runs"]
    assert acts(ctx, "prune") == []


def test_old_runs_are_deleted_by_their_age_and_the_newest_stay(client: TestClient, ctx: Context) -> None:
    for days in (50, 40, 35, 10):
        put_session(ctx, f"{days}-days", ended_days_ago=days)
    put_session(ctx, "of-play", ended_days_ago=60)
    put_play(ctx, "ledger", "writes", "merged", session_id="of-play")
    put_session(ctx, "runs", status="running", ended_days_ago=90)
    body: dict[str, Any] = {"keep_days": 30, "keep_n": 2}
    planned = post(client, PRUNE, {**body, "dry_run": True})
    kept = {"session_id": "of-play", "why": "play", "sentence": "The play writes of the show ledger points to it."}
    assert planned == {
        "dry_run": True, "removed": {"sessions": 2, "branches": 2, "progressions": 4, "entries": 0, "messages": 0},
        "session_ids": ["50-days", "40-days"], "kept": [kept], "kept_newest": 1, "event_id": None,
        "plan": planned["plan"],
    }  # fmt: skip
    assert len(get(client, "/api/sessions")["items"]) == 6
    done = post(client, PRUNE, {**body, "plan": planned["plan"]})
    (event,) = acts(ctx, "prune")
    assert done == {**planned, "dry_run": False, "event_id": event.id}
    left = {row["id"] for row in get(client, "/api/sessions")["items"]}
    assert left == {"35-days", "10-days", "of-play", "runs"}


def test_only_the_plan_that_was_agreed_to_is_carried_out(client: TestClient, ctx: Context) -> None:
    put_session(ctx, "50-days", ended_days_ago=50)
    body: dict[str, Any] = {"keep_days": 30, "keep_n": 0}
    planned = post(client, PRUNE, {**body, "dry_run": True})
    put_session(ctx, "40-days", ended_days_ago=40)
    answer = client.post(PRUNE, json={**body, "plan": planned["plan"]})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert {row["id"] for row in get(client, "/api/sessions")["items"]} == {"50-days", "40-days"}
    again = post(client, PRUNE, {**body, "dry_run": True})
    assert again["session_ids"] == ["50-days", "40-days"]
    post(client, PRUNE, {**body, "plan": again["plan"]})
    assert get(client, "/api/sessions")["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"dry_run": False},
        {"reason": "because"},
        {"session_ids": ["old"], "keep_days": 0},
        {"session_ids": ["old"], "keep_n": 0},
        {"keep_days": 0, "keep_n": 0, "reason": "because"},
        {"keep_days": -1},
        {"keep_n": -1},
        {"keep_days": 1e308},
        {"session_ids": []},
        {"keep_days": 0, "keep_n": 0, "force": True},
        {"plan": "a"},
        {"session_ids": ["old"], "plan": "a"},
    ],
)
def test_a_prune_that_does_not_say_what_goes_deletes_nothing(client: TestClient, ctx: Context, body: Any) -> None:
    put_session(ctx, "old")
    answer = client.post(PRUNE, json=body)
    assert answer.status_code == 422
    assert answer.json()["hint"]
    assert statuses(ctx, "old") == ["completed"]


def test_a_list_says_what_a_run_s_own_page_saw(client: TestClient, ctx: Context, tmp_path: Path) -> None:
    for left in leave(ctx, tmp_path / "out"):
        Path(left).unlink()  # by hand, after the doctor saw them
    assert [row["id"] for row in client.get("/api/sessions?health=zombie").json()["items"]] == ["run-1"]
    assert client.get("/api/sessions/run-1").json()["effective_health"] == "healthy"
    assert client.get("/api/sessions?health=zombie").json()["items"] == []
    client.get("/api/sessions/run-1")  # says nothing new
    health = [(event.actor, event.details["health"]) for event in acts(ctx, "classify")]
    assert health == [("doctor_auto", "healthy"), ("doctor_auto", "zombie")]


def test_what_a_run_left_behind_is_removed(client: TestClient, ctx: Context, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    left = leave(ctx, folder)
    everything = files_in(folder)
    (planned,) = post(client, CLEANUP, {"session_ids": ["run-1"], "dry_run": True})["items"]
    assert (sorted(planned["removed"]), planned["health"], planned["event_id"]) == (left, "zombie", None)
    assert files_in(folder) == everything
    (done,) = post(client, CLEANUP, {"session_ids": ["run-1"], "only": left[:2]})["items"]
    assert (sorted(done["removed"]), done["bytes"], done["health"]) == (left[:2], 2, "zombie")
    assert done["kept"] == [{"path": left[2], "why": "It was found after the plan was made."}]
    (done,) = post(client, CLEANUP, {"session_ids": ["run-1"]})["items"]
    (event, _) = acts(ctx, "cleanup")
    assert done == {
        "session_id": "run-1", "removed": [left[2]], "kept": [], "bytes": 1, "health": "healthy",
        "event_id": event.id,
    }  # fmt: skip
    assert files_in(folder) == [path for path in everything if path not in left]
    assert (event.actor, event.details["files"]) == ("ana", [left[2]])


def test_files_that_may_be_in_use_stay(client: TestClient, ctx: Context, tmp_path: Path) -> None:
    left = leave(ctx, tmp_path / "out", "ended")
    start_run(ctx, "runs", artifacts_path=str(tmp_path / "other"))
    put_session(ctx, "no-folder")
    why = refused(client, CLEANUP, {"session_ids": ["ended", "runs", "no-folder", "nobody"]})
    assert {session_id: refusal["code"] for session_id, refusal in why.items()} == {
        "runs": "session_is_running", "no-folder": "cannot_clean_up", "nobody": "session_not_found",
    }  # fmt: skip
    assert set(left) <= set(files_in(tmp_path / "out"))


def test_what_waits_on_disk_is_brought_back_by_a_repair(
    client: TestClient, ctx: Context, clock: Clock, home: Path
) -> None:
    start_orphan(ctx, clock)
    leave_in_spool(ctx, home / "spool", "run-1", said("run-1", "one"))
    (planned,) = post(client, REPAIR, {"session_ids": ["run-1"], "dry_run": True})["items"]
    assert (planned["health_before"], planned["health"], planned["event_id"]) == ("orphaned", "orphaned", None)
    assert [(step["step"], step["changes"]) for step in planned["steps"]] == [("spool", True), ("process", False)]
    assert messages.list_messages(ctx, "run-1") == []
    (done,) = post(client, REPAIR, {"session_ids": ["run-1"]})["items"]
    assert (done["session_id"], done["status"]) == ("run-1", "running")
    assert (done["health_before"], done["health"]) == ("orphaned", "stale")
    assert "transition" in done["way_on"]
    (event,) = acts(ctx, "repair")
    assert (event.id, event.actor) == (done["event_id"], "ana")
    assert [one.content for one in messages.list_messages(ctx, "run-1")] == [{"instruction": "one"}]


def test_a_run_that_is_not_broken_is_not_repaired(
    client: TestClient, ctx: Context, clock: Clock, child: subprocess.Popen[bytes]
) -> None:
    start_orphan(ctx, clock, "orphan")
    start_run(ctx, "ended")
    end_run(ctx, "ended")
    start_run(ctx, "alive")
    record_process(ctx, child.pid, "alive")
    start_run(ctx, "unknown")
    why = refused(client, REPAIR, {"session_ids": ["orphan", "ended", "alive", "unknown", "nobody"]})
    assert {session_id: refusal["code"] for session_id, refusal in why.items()} == {
        "ended": "cannot_repair", "alive": "cannot_repair", "unknown": "cannot_repair",
        "nobody": "session_not_found",
    }  # fmt: skip
    assert acts(ctx, "repair") == []
