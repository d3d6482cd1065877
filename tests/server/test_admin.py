"""How everything is, over HTTP: the health report, the resources of the machine, the audit log and the doctor."""

import json
import re
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.doctor import worktrees
from lionstudio.domain.audit import EVENT_RETENTION_SECONDS
from lionstudio.domain.health import HOUR
from lionstudio.server.app import create_app
from lionstudio.services import admin, sessions
from lionstudio.services.context import Context
from lionstudio.services.sessions import SessionDraft, start_session
from lionstudio.settings import Settings
from tests.doctor.processes import dead_process, living, record, start_in
from tests.doctor.test_resources import checkout
from tests.factories import NOW, Clock, line_of, start_run
from tests.server.conftest import BASE
from tests.services.test_health import child as child  # noqa: PLC0414  a fixture
from tests.services.test_health import record_dead_process, say_something
from tests.services.test_health_report import put_one_of_each
from tests.waiting import wait_until

HEALTH, EVENTS, DOCTOR = "/api/admin/health", "/api/admin/events", "/api/admin/doctor"


def get(client: TestClient, address: str, **parameters: Any) -> Any:
    answer = client.get(address, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(client: TestClient, address: str, body: Any = None, *, who: str = "ana") -> Any:
    answer = client.post(address, json=body, headers={"X-Lionstudio-Actor": who})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_report_has_the_whole_shape_that_was_asked_for(client: TestClient, ctx: Context, clock: Clock) -> None:
    draft = SessionDraft(line_of("run-1"), name="nightly", kind="play", agent="architect", show_topic="sweep")
    start_session(ctx, draft._replace(branch_metadata={"model": "claude/claude-sonnet-4-6"}))
    say_something(ctx)
    record_dead_process(ctx)
    clock.pass_seconds(90)
    report = get(client, HEALTH)
    assert set(report) == {"sessions", "db", "resources", "maintenance", "doctor", "spool", "diagnostic_run_at"}
    assert report["diagnostic_run_at"] == "2026-09-21T14:14:50Z"
    (item,) = report["sessions"].pop("unhealthy")
    assert report["sessions"] == {
        "total": 1,
        "by_status": {"running": 1, "completed": 0, "failed": 0, "timed_out": 0, "aborted": 0, "cancelled": 0},
        "by_health": {"healthy": 0, "idle": 0, "unresponsive": 0, "stale": 1, "orphaned": 0, "zombie": 0},
        "legacy": 0,
        "ended": 0,
        "unhealthy_total": 1,
        "next_cursor": None,
    }
    (reason,) = item.pop("reasons")
    state = item.pop("state")
    assert (state["lifecycle"], state["health"]) == ("running", "process_dead")
    assert (reason["code"], "process" in reason["sentence"]) == ("run.health.process_dead", True)
    assert item == {
        "session_id": "run-1", "name": "nightly", "health": "stale", "status": "running", "last_message_at": NOW,
        "chain": ["Running", "quiet 1m 30s", "process gone", "1 message"],
        "idle_seconds": 90, "process_alive": False, "invocation_kind": "play", "agent_name": "architect",
        "model": "claude/claude-sonnet-4-6", "message_count": 1, "started_at": NOW, "show_topic": "sweep",
        "show_play_name": None, "playbook_name": None, "observed_at": NOW + 90,
        "actions": ["inspect", "transition"],
    }  # fmt: skip


def test_the_database_tells_its_own_honest_figures(client: TestClient, ctx: Context) -> None:
    db = get(client, HEALTH)["db"]
    assert db["database_id"] == ctx.db.dialect.database_id
    assert re.fullmatch(r"\d+", db["schema_version"])
    assert db["foreign_keys"] is True
    assert db["size_bytes"] > 0
    only_sqlite = ("wal_bytes", "wal_pending_bytes", "page_count", "freelist_count", "free_bytes")
    settings = {name: db[name] for name in ("journal_mode", "auto_checkpoint", "busy_timeout", "synchronous")}
    if ctx.db.dialect.name == "sqlite":
        assert db["engine"] == "SQLite"
        assert settings == {
            "journal_mode": "wal",
            "auto_checkpoint": 1000,
            "busy_timeout": 5000,
            "synchronous": "NORMAL",
        }
        assert all(isinstance(db[name], int) for name in only_sqlite)
        assert (db["connections"], db["live_rows"], db["dead_rows"]) == (None, None, None)
    else:
        assert db["engine"] == "PostgreSQL"
        assert set(settings.values()) == {None}
        assert {db[name] for name in only_sqlite} == {None}
        assert 0 < db["connections"] <= db["max_connections"]


def test_every_run_is_counted_and_those_that_are_not_well_are_paged(
    client: TestClient, ctx: Context, clock: Clock, child: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    put_one_of_each(ctx, clock, child, tmp_path / "out")
    sessions_of = get(client, HEALTH)["sessions"]
    assert (sessions_of["total"], sessions_of["legacy"], sessions_of["ended"]) == (8, 1, 2)
    assert sessions_of["by_health"] == {
        "healthy": 3, "idle": 1, "unresponsive": 1, "stale": 1, "orphaned": 1, "zombie": 1,
    }  # fmt: skip
    alive = {item["session_id"]: item["process_alive"] for item in sessions_of["unhealthy"]}
    assert alive == {"stale": False, "orphaned": False, "unresponsive": True, "zombie": None, "idle": None}
    found: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = get(client, HEALTH, limit=2, **cursor)["sessions"]
        assert (page["total"], page["unhealthy_total"]) == (8, 5)
        found += [item["session_id"] for item in page["unhealthy"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == ["stale", "orphaned", "unresponsive", "zombie", "idle"]


def test_starting_over_two_hundred_dead_runs_changes_no_status_but_counts_them(
    studio_settings: Settings, ctx: Context, clock: Clock
) -> None:
    process = dead_process()
    ids = [f"run-{number}" for number in range(200)]
    for session_id in ids:
        start_in(ctx, process._replace(session_id=session_id))
        say_something(ctx, session_id)
    with TestClient(create_app(studio_settings, now=clock), base_url=BASE) as client:
        wait_until(lambda: get(client, HEALTH, limit=1)["doctor"]["last_round"])
        report = get(client, HEALTH)
    assert (report["sessions"]["by_status"]["running"], report["sessions"]["by_health"]["stale"]) == (200, 200)
    assert (report["sessions"]["unhealthy_total"], len(report["sessions"]["unhealthy"])) == (200, 100)
    assert {sessions.get_session(ctx, session_id).status for session_id in ids} == {"running"}
    assert all(len(sessions.list_history(ctx, session_id)) == 1 for session_id in ids)


def test_the_doctor_ends_with_the_server(studio_settings: Settings, clock: Clock) -> None:
    others = set(threading.enumerate())  # a studio of another test may still be there
    with TestClient(create_app(studio_settings, now=clock), base_url=BASE) as client:
        wait_until(lambda: get(client, HEALTH)["doctor"]["last_round"])
        doctors = [
            thread
            for thread in set(threading.enumerate()) - others
            if thread.name in {"lionstudio-doctor", "lionstudio-death-watch"}
        ]
    assert len(doctors) == 2
    assert not any(thread.is_alive() for thread in doctors)


NO_EVIDENCE = {
    "sqlite": "CREATE TRIGGER full BEFORE INSERT ON session_evidence BEGIN SELECT RAISE(ABORT, 'no evidence'); END",
    "postgres": "ALTER TABLE session_evidence ADD CONSTRAINT evidence_is_full CHECK (session_id IS NULL)",
}
EVIDENCE = {
    "sqlite": "DROP TRIGGER full",
    "postgres": "ALTER TABLE session_evidence DROP CONSTRAINT evidence_is_full",
}


def test_a_doctor_that_fails_says_so_in_the_report_and_when_it_works_again(client: TestClient, ctx: Context) -> None:
    engine = "sqlite" if ctx.db.dialect.name == "sqlite" else "postgres"
    wait_until(lambda: get(client, HEALTH)["doctor"]["last_round"])
    with ctx.db.write() as tx:
        tx.run(NO_EVIDENCE[engine])
    start_in(ctx, dead_process("dead"))
    wait_until(lambda: get(client, HEALTH)["doctor"]["failures_in_a_row"] > 0)
    doctor = get(client, HEALTH)["doctor"]
    assert doctor["is_running"]
    assert doctor["last_failure"]["at"] == NOW
    assert "evidence" in doctor["last_failure"]["sentence"]
    assert get(client, "/api/stats")["system"]["doctor"]["failures_in_a_row"] > 0
    with ctx.db.write() as tx:
        tx.run(EVIDENCE[engine])
    wait_until(lambda: get(client, HEALTH)["doctor"]["failures_in_a_row"] == 0)


def test_the_maintenance_advice_knows_what_was_done_last(client: TestClient, clock: Clock) -> None:
    before = get(client, HEALTH)["maintenance"]
    assert (before["vacuum"]["recommended"], before["vacuum"]["last"]) == (False, None)
    clock.pass_seconds(5)
    post(client, "/api/admin/vacuum")
    after = get(client, HEALTH)["maintenance"]
    assert (after["vacuum"]["last"]["created_at"], after["vacuum"]["last"]["actor"]) == (NOW + 5, "ana")
    assert after["checkpoint"]["sentence"]
    assert after["export_bytes"] > 0


def test_what_is_only_in_the_log_is_told_until_a_checkpoint_moves_it(client: TestClient, ctx: Context) -> None:
    if ctx.db.dialect.name != "sqlite":
        return  # a server has no such file; that it says nothing is told by the figures above
    start_run(ctx, "run-1")
    say_something(ctx)
    assert get(client, HEALTH)["db"]["wal_pending_bytes"] > 0
    post(client, "/api/admin/checkpoint")
    left = get(client, HEALTH)["db"]
    assert left["wal_pending_bytes"] <= 100_000  # the event about the checkpoint, and nothing before it
    assert left["wal_pending_bytes"] <= left["wal_bytes"]


def test_the_resources_are_worktrees_and_room_on_the_disk(
    studio_settings: Settings, clock: Clock, ctx: Context, home: Path
) -> None:
    tree = checkout(Path(studio_settings.worktrees_folder) / "sweep-backend", "show/sweep/backend")
    (tree / "file").write_text("two\n")
    (home / "runs" / "run-1").mkdir(parents=True)
    (home / "runs" / "run-1" / "out.bin").write_bytes(b"x" * 100_000)
    with TestClient(create_app(studio_settings, now=clock), base_url=BASE) as client:
        wait_until(lambda: not get(client, "/api/admin/resources")["pending"])
        found = get(client, "/api/admin/resources")
        assert get(client, HEALTH)["resources"] == found
    (item,) = found["worktrees"]
    assert item.pop("last_modified") > 0
    assert item == {
        "path": str(tree), "branch": "show/sweep/backend", "status": "dirty", "uncommitted_changes": True,
        "sentence": None,
    }  # fmt: skip
    disk = found["disk"]
    assert {"state_db", "runs_dir", "teams_dir", "shows_dir", "worktrees_dir", "total"} <= set(disk)
    assert disk["runs_dir"] >= 100_000
    assert disk["total"] == sum(size or 0 for name, size in disk.items() if name != "total")
    assert (disk["state_db"] is None) is (ctx.db.dialect.name != "sqlite")
    assert (found["observed_at"], found["worktrees_complete"], found["disk_complete"]) == (NOW, True, True)
    assert found["disk_free_bytes"] <= found["disk_capacity_bytes"]


def test_a_slow_look_at_the_resources_keeps_nobody_waiting(
    studio_settings: Settings, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git that hangs until it is told to go on: the answers before say that the look is not through."""
    checkout(Path(studio_settings.worktrees_folder) / "slow")
    monkeypatch.setattr(worktrees, "SECONDS_EACH", worktrees.SECONDS_ALL)
    go_on = tmp_path / "go-on"
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\nwhile [ ! -e {go_on} ]; do sleep 0.01; done\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    with TestClient(create_app(studio_settings, now=clock), base_url=BASE) as client:
        for address in ("/api/admin/resources", HEALTH):
            answer = get(client, address)
            found = answer.get("resources", answer)
            assert (found["pending"], found["observed_at"], found["worktrees"], found["disk"]) == (True, None, [], {})
        go_on.touch()
        wait_until(lambda: not get(client, HEALTH)["resources"]["pending"])
        (item,) = get(client, "/api/admin/resources")["worktrees"]
        assert (item["status"], item["branch"]) == ("unknown", None)
        assert item["sentence"]


def put_events(ctx: Context, clock: Clock) -> None:
    for number, (action, target, actor) in enumerate(
        [
            ("transition", "run-1", "ana"),
            ("prune", None, "ben"),
            ("transition", "run-2", "ben"),
            ("vacuum", None, "ana"),
        ]
    ):
        clock.now = NOW + number
        admin.record_event(ctx, action, target_id=target, details={"number": number}, actor=actor)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, [3, 2, 1, 0]),
        ({"action": "transition"}, [2, 0]),
        ({"target_id": "run-1"}, [0]),
        ({"actor": "ben"}, [2, 1]),
        ({"since": NOW + 2}, [3, 2]),
        ({"before": NOW + 2}, [1, 0]),
        ({"action": "transition", "actor": "ben", "since": NOW, "before": NOW + 9}, [2]),
        ({"action": "made\0up"}, []),
    ],
)
@pytest.mark.parametrize("limit", [1, 100])
def test_events_are_listed_by_any_filter_newest_first(
    client: TestClient, ctx: Context, clock: Clock, parameters: dict[str, Any], expected: list[int], limit: int
) -> None:
    put_events(ctx, clock)
    found: list[int] = []
    page = get(client, EVENTS, limit=limit, **parameters)
    while True:
        found += [event["details"]["number"] for event in page["items"]]
        if page["next_cursor"] is None:
            break
        page = get(client, EVENTS, limit=limit, cursor=page["next_cursor"], **parameters)
    assert found == expected


def test_an_event_is_told_as_it_was_written(client: TestClient, ctx: Context) -> None:
    event = admin.record_event(ctx, "transition", target_id="run-1", details={"reason": "gone"}, actor="ana")
    assert get(client, EVENTS)["items"] == [
        {"id": event.id, "created_at": NOW, "action": "transition", "target_id": "run-1",
         "details": {"reason": "gone"}, "actor": "ana"},
    ]  # fmt: skip


def test_old_events_beyond_the_newest_thousand_are_forgotten(client: TestClient, ctx: Context, clock: Clock) -> None:
    now = time.time()  # the database looks at its own clock before it lets an event go
    for number in range(3):
        clock.now = now - EVENT_RETENTION_SECONDS - 2 * HOUR + number
        admin.record_event(ctx, "old", details={"number": number})
    clock.now = now
    with ctx.db.write() as tx:
        for _ in range(998):
            admin.add_event(ctx, tx, "new")
    assert [event["details"]["number"] for event in get(client, EVENTS, action="old")["items"]] == [2, 1]
    post(client, "/api/admin/vacuum")
    assert [event["details"]["number"] for event in get(client, EVENTS, action="old")["items"]] == [2]


@pytest.mark.parametrize(
    "parameters", [{"cursor": "nonsense"}, {"since": "nan"}, {"before": "1e300"}, {"limit": "0"}, {"actor": "x" * 201}]
)
def test_a_question_about_events_that_cannot_be_is_refused(client: TestClient, parameters: dict[str, str]) -> None:
    answer = client.get(EVENTS, params=parameters)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def put_runs_for_the_doctor(ctx: Context, clock: Clock) -> None:
    """Two that are surely dead, one that nobody can look at, and one that is well."""
    for name in ("dead", "gone"):
        start_in(ctx, dead_process(name))
        say_something(ctx, name)
    start_run(ctx, "unseen", kind="agent")
    clock.pass_seconds(7 * HOUR)
    start_run(ctx, "well")


def test_a_round_on_demand_says_what_it_found_and_changes_no_status(
    client: TestClient, ctx: Context, clock: Clock
) -> None:
    put_runs_for_the_doctor(ctx, clock)
    found = post(client, DOCTOR)
    assert found.pop("changed") <= 3  # the doctor in the background may have been first
    assert found == {
        "dry_run": False,
        "looked_at": 4,
        "by_health": {"healthy": 1, "idle": 0, "unresponsive": 0, "stale": 3, "orphaned": 0, "zombie": 0},
        "transitioned": [],
    }
    assert {sessions.get_session(ctx, name).status for name in ("dead", "gone", "unseen", "well")} == {"running"}
    assert {event["target_id"] for event in get(client, EVENTS, action="classify")["items"]} == {
        "dead",
        "gone",
        "unseen",
    }
    last = get(client, HEALTH)["doctor"]["last_round"]
    assert (last["began_at"], last["looked_at"]) == (clock(), 4)


@pytest.mark.parametrize("dry_run", [True, False])
def test_failing_what_is_stale_takes_only_what_is_surely_dead(
    client: TestClient, ctx: Context, clock: Clock, dry_run: bool
) -> None:
    put_runs_for_the_doctor(ctx, clock)
    found = post(client, DOCTOR, {"transition_stale": True, "dry_run": dry_run})
    ended = {row["session_id"]: row for row in found["transitioned"]}
    assert set(ended) == {"dead", "gone"}
    after = "running" if dry_run else "failed"
    row = ended["dead"]
    assert (row["previous_status"], row["status"], row["health"]) == ("running", after, "stale")
    assert row["reasons"][0]["code"] == "run.health.process_dead"
    assert {name: sessions.get_session(ctx, name).status for name in ("dead", "unseen", "well")} == {
        "dead": after, "unseen": "running", "well": "running",
    }  # fmt: skip
    events = {event["target_id"]: event for event in get(client, EVENTS, action="transition")["items"]}
    assert set(events) == (set() if dry_run else {"dead", "gone"})
    assert {event["actor"] for event in events.values()} == (set() if dry_run else {"ana"})
    assert [row["event_id"] for row in found["transitioned"]] == [
        None if dry_run else events[row["session_id"]]["id"] for row in found["transitioned"]
    ]


def test_a_dead_process_is_seen_at_once_by_the_doctor_in_the_background(client: TestClient, ctx: Context) -> None:
    with living() as [process]:
        start_run(ctx, "run-1")
        say_something(ctx)
        record(ctx, "run-1", process.pid)
        wait_until(lambda: get(client, HEALTH)["doctor"]["watched_processes"] == 1)
    wait_until(lambda: get(client, HEALTH)["doctor"]["deaths_seen"] == 1, within=2.0)
    (event,) = get(client, EVENTS, action="classify")["items"]
    assert (event["target_id"], event["actor"]) == ("run-1", "doctor_auto")
    assert (event["details"]["previous_health"], event["details"]["health"]) == (None, "stale")
    assert get(client, "/api/sessions/run-1")["status"] == "running"


def test_an_unknown_wish_to_the_doctor_is_refused(client: TestClient) -> None:
    answer = client.post(DOCTOR, json={"transition_everything": True})
    assert (answer.status_code, "transition_everything" in answer.json()["message"]) == (422, True)


def test_who_has_no_token_is_told_nothing(guarded: TestClient) -> None:
    for address in (HEALTH, EVENTS, "/api/admin/resources", "/api/admin/export", "/api/admin/legacy", "/api/stats"):
        answer = guarded.get(address)
        assert (answer.status_code, json.loads(answer.content)["code"]) == (401, "unauthorized")
    assert guarded.get(HEALTH, headers={"Authorization": "Bearer secret"}).status_code == 200
