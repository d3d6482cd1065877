"""Looking after the database over HTTP: its log and its room, exports of it, and the runs that have no status."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from lionstudio.services import admin, messages, sessions
from lionstudio.services.context import Context
from lionstudio.services.prune_selected import prune_selected
from lionstudio.store.open import open_database
from tests.factories import NOW, line_of, start_run, user_says
from tests.server.test_admin import get, post
from tests.services.prune_world import put_session
from tests.services.test_export_stream import put_runs
from tests.services.test_health import end_run
from tests.services.test_legacy import bring_in
from tests.waiting import wait_until

CHECKPOINT, VACUUM, EXPORT, LEGACY = (f"/api/admin/{act}" for act in ("checkpoint", "vacuum", "export", "legacy"))


def acts(ctx: Context, action: str) -> list[Any]:
    return admin.list_events(ctx, action=action)


@pytest.mark.parametrize("mode", ["PASSIVE", "FULL", "RESTART", "TRUNCATE", "truncate", None])
def test_the_log_is_moved_into_the_file_or_it_is_said_that_there_is_none(
    client: TestClient, ctx: Context, mode: str | None
) -> None:
    put_runs(ctx)
    body = None if mode is None else {"mode": mode}
    if ctx.db.dialect.name != "sqlite":
        answer = client.post(CHECKPOINT, json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
        assert "does its checkpoints itself" in answer.json()["message"]
        assert acts(ctx, "checkpoint") == []
        return
    done = post(client, CHECKPOINT, body)
    assert done["mode"] == (mode or "TRUNCATE").upper()
    assert done["pages_moved"] > 0
    assert done["wal_bytes_before"] > 0
    if done["mode"] == "TRUNCATE" and not done["busy"]:
        assert done["pages_left"] == 0
    (event,) = acts(ctx, "checkpoint")
    assert (event.actor, event.details["mode"], event.details["pages_moved"]) == (
        "ana",
        done["mode"],
        done["pages_moved"],
    )


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_the_mode_of_a_checkpoint_may_stand_in_the_address(client: TestClient) -> None:
    assert post(client, f"{CHECKPOINT}?mode=passive")["mode"] == "PASSIVE"
    assert post(client, f"{CHECKPOINT}?mode=PASSIVE", {})["mode"] == "PASSIVE"
    assert post(client, f"{CHECKPOINT}?mode=PASSIVE", {"mode": "FULL"})["mode"] == "FULL"


@pytest.mark.parametrize("asked", [{"json": {"mode": "GENTLE"}}, {"params": {"mode": "GENTLE"}}])
def test_an_unknown_mode_is_told_the_known_ones(client: TestClient, asked: dict[str, Any]) -> None:
    answer = client.post(CHECKPOINT, **asked)
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_word")
    told = f"{answer.json()['message']} {answer.json()['hint']}"
    assert all(mode in told for mode in ("PASSIVE", "FULL", "RESTART", "TRUNCATE"))


def test_a_vacuum_refuses_wishes_that_it_does_not_know(client: TestClient, ctx: Context) -> None:
    answer = client.post(VACUUM, json={"dry_run": True})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert acts(ctx, "vacuum") == []
    post(client, VACUUM, {})


def test_a_vacuum_tells_before_and_after(client: TestClient, ctx: Context) -> None:
    start_run(ctx, "large")
    messages.append_messages(ctx, line_of("large"), [user_says("x" * 50_000) for _ in range(100)])
    end_run(ctx, "large")
    prune_selected(ctx, ["large"], actor="test")
    done = post(client, VACUUM)
    (event,) = acts(ctx, "vacuum")
    assert (event.actor, event.details["after"]["size"]) == ("ana", done["after"]["size_bytes"])
    if ctx.db.dialect.name == "sqlite":
        assert done["before"]["free_bytes"] > 4_000_000
        assert done["after"]["free_bytes"] == 0
        assert (done["gives_room_back"], done["sentence"], done["before"]["dead_rows"]) == (True, None, None)
    else:
        assert (done["gives_room_back"], done["before"]["wal_bytes"]) == (False, None)
        assert "files of the server stay as large as they are" in done["sentence"]


def lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def named(answer: Any) -> str:
    """The name that a browser gives to the file."""
    found = re.fullmatch(r'attachment; filename="([a-z0-9.-]+)"', answer.headers["Content-Disposition"])
    assert found is not None
    return found[1]


def test_everything_is_sent_as_lines(client: TestClient, ctx: Context) -> None:
    put_runs(ctx)
    answer = client.get(EXPORT, headers={"X-Lionstudio-Actor": "ana"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/x-ndjson")
    assert (named(answer), answer.headers["Cache-Control"]) == ("state-20260921-141320.jsonl", "no-store")
    found = lines(answer.content)
    assert sorted(line["id"] for line in found if line["type"] == "session") == ["one", "three", "two"]
    assert len([line for line in found if line["type"] == "message"]) == 9
    (event,) = acts(ctx, "export")
    assert (event.actor, event.details["what"]) == ("ana", "everything")


def sessions_in(content: bytes, folder: Path) -> list[str]:
    file = folder / "downloaded.db"
    file.write_bytes(content)
    db = open_database(str(file))
    try:
        with db.read() as tx:
            return [row[0] for row in tx.all("SELECT id FROM sessions ORDER BY id")]
    finally:
        db.close()


def test_everything_is_sent_as_a_database_and_no_file_stays(
    client: TestClient, ctx: Context, tmp_path: Path, home: Path
) -> None:
    put_runs(ctx)
    answer = client.get(EXPORT, params={"format": "sqlite"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/vnd.sqlite3")
    assert named(answer) == "state-20260921-141320.db"
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    assert sessions_in(answer.content, tmp_path) == ["one", "three", "two"]
    assert list((home / "backups").iterdir()) == []


@pytest.mark.parametrize("kind", ["jsonl", "sqlite"])
def test_chosen_runs_are_sent(client: TestClient, ctx: Context, tmp_path: Path, kind: str) -> None:
    put_runs(ctx)
    answer = client.post(EXPORT, json={"session_ids": ["three", "one"], "format": kind})
    assert answer.status_code == 200
    if kind == "jsonl":
        assert named(answer) == "runs-20260921-141320.jsonl"
        assert [line["id"] for line in lines(answer.content) if line["type"] == "session"] == ["three", "one"]
    else:
        assert sessions_in(answer.content, tmp_path) == ["one", "three"]
    assert acts(ctx, "export")[0].details["session_ids"] == ["three", "one"]


@pytest.mark.parametrize("kind", ["jsonl", "sqlite"])
def test_an_export_of_unknown_runs_is_refused_before_the_first_byte(
    client: TestClient, ctx: Context, kind: str
) -> None:
    put_runs(ctx)
    answer = client.post(EXPORT, json={"session_ids": ["one", "nobody"], "format": kind})
    assert (answer.status_code, answer.json()["code"]) == (409, "refused")
    assert [(why["session_id"], why["code"]) for why in answer.json()["refusals"]] == [("nobody", "session_not_found")]
    assert client.post(EXPORT, json={"session_ids": ["nobody"], "format": kind}).status_code == 404
    assert acts(ctx, "export") == []


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_format_is_told_the_known_ones(client: TestClient, method: str) -> None:
    asked = {"params": {"format": "xml"}} if method == "GET" else {"json": {"session_ids": ["one"], "format": "xml"}}
    answer = client.request(method, EXPORT, **asked)
    assert answer.status_code == 422
    assert "'jsonl' or 'sqlite'" in answer.json()["message"]


def put_large_run(ctx: Context) -> None:
    """More than a socket takes at once."""
    start_run(ctx, "large")
    for _ in range(8):
        messages.append_messages(ctx, line_of("large"), [user_says("x" * 50_000) for _ in range(100)])
    end_run(ctx, "large")


def test_an_export_whose_run_goes_away_breaks_off(studio_url: str, ctx: Context) -> None:
    """Half a run must not pass for a whole one."""
    put_large_run(ctx)
    with httpx.stream("POST", studio_url + EXPORT, json={"session_ids": ["large"]}, timeout=20) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        prune_selected(ctx, ["large"], actor="test")
        with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
            for _ in pieces:
                pass
    assert httpx.get(f"{studio_url}/api/ready").status_code == 200


def open_copies() -> Iterator[str]:
    """Exported databases that this process still has open, though they have no name any more."""
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except FileNotFoundError:
            continue
        if "/.lionstudio-" in target:
            yield target


def test_a_reader_that_goes_away_leaves_nothing_behind(studio_url: str, ctx: Context, home: Path) -> None:
    put_large_run(ctx)
    with httpx.stream("GET", f"{studio_url}{EXPORT}?format=sqlite", timeout=20) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        assert len(list(open_copies())) == 1
    wait_until(lambda: not list(open_copies()))
    assert list((home / "backups").iterdir()) == []
    with httpx.stream("GET", studio_url + EXPORT, timeout=20) as answer:
        next(answer.iter_raw())
    assert httpx.post(studio_url + VACUUM, timeout=20).status_code == 200  # which nobody keeps waiting


def test_legacy_runs_are_counted_and_shown(client: TestClient, ctx: Context) -> None:
    assert get(client, LEGACY) == {"total": 0, "sample": []}
    for number in range(25):
        bring_in(ctx, f"old-{number}")
    put_session(ctx, "done")
    found = get(client, LEGACY)
    assert (found["total"], len(found["sample"])) == (25, 20)
    assert {row["status"] for row in found["sample"]} == {None}
    assert found["sample"][0]["chain"][0] == "Legacy"


def test_legacy_runs_get_a_status_when_an_operator_says_so(client: TestClient, ctx: Context) -> None:
    for name in ("old-1", "old-2"):
        bring_in(ctx, name)
    assert post(client, f"{LEGACY}/backfill", {"dry_run": True}) == {"dry_run": True, "sessions": 2}
    assert sessions.get_session(ctx, "old-1").status is None
    assert post(client, f"{LEGACY}/backfill", {}) == {"dry_run": False, "sessions": 2}
    assert sessions.get_session(ctx, "old-1").status == "completed"
    (event,) = acts(ctx, "backfill_legacy")
    assert (event.actor, event.details) == ("ana", {"sessions": 2})
    assert post(client, f"{LEGACY}/backfill", {}) == {"dry_run": False, "sessions": 0}


@pytest.mark.parametrize("act", ["backfill", "archive"])
def test_without_a_body_nothing_is_done_to_legacy_runs(client: TestClient, ctx: Context, act: str) -> None:
    bring_in(ctx, "old-1")
    assert client.post(f"{LEGACY}/{act}").status_code == 422
    assert sessions.get_session(ctx, "old-1").status is None


def test_legacy_runs_are_archived_in_a_file_and_then_deleted(client: TestClient, ctx: Context, home: Path) -> None:
    bring_in(ctx, "old-1")
    put_session(ctx, "done")
    planned = post(client, f"{LEGACY}/archive", {"dry_run": True})
    removed = {"sessions": 1, "branches": 1, "progressions": 2, "entries": 2, "messages": 1}
    assert planned == {"dry_run": True, "removed": removed, "kept": [], "path": None, "event_id": None}
    assert sessions.get_session(ctx, "old-1").status is None
    done = post(client, f"{LEGACY}/archive", {})
    (event,) = acts(ctx, "prune")
    path = home / "backups" / "legacy-20260921-141320.jsonl"
    assert done == {**planned, "dry_run": False, "path": str(path), "event_id": event.id}
    assert [line["id"] for line in lines(path.read_bytes()) if line["type"] == "session"] == ["old-1"]
    assert client.get("/api/sessions/old-1").status_code == 404
    assert get(client, "/api/sessions/done")["status"] == "completed"


def test_legacy_runs_are_exported_and_stay(client: TestClient, ctx: Context) -> None:
    bring_in(ctx, "old-1")
    put_session(ctx, "done")
    answer = client.get(f"{LEGACY}/export")
    assert (answer.status_code, named(answer)) == (200, "legacy-20260921-141320.jsonl")
    assert [line["id"] for line in lines(answer.content) if line["type"] == "session"] == ["old-1"]
    assert sessions.get_session(ctx, "old-1").status is None
    assert acts(ctx, "export")[0].created_at == NOW
