"""What was set aside while the database could not be written is brought in by a server that runs."""

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.domain.json_text import to_json
from lionstudio.recorders.spool import spool_folder
from lionstudio.server import studio
from lionstudio.server.app import create_app
from lionstudio.services.context import Context
from lionstudio.settings import Settings, load_settings
from tests.factories import start_run
from tests.recorders.test_spool_replay import TWENTY, killed_with_a_full_spool
from tests.server.conftest import BASE
from tests.waiting import wait_until


def test_a_run_whose_recorder_was_killed_comes_in_while_the_server_runs(
    sqlite_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio, "BRING_BACK_EVERY", 0.05)
    with TestClient(create_app(load_settings(db=sqlite_path)), base_url=BASE) as client:
        session_id = killed_with_a_full_spool(sqlite_path)

        def said() -> list[str]:
            page = client.get(f"/api/sessions/{session_id}/messages").json()
            return [message["content"]["instruction"] for message in page["items"]]

        wait_until(lambda: said() == TWENTY)


def test_a_spool_that_cannot_be_brought_back_is_tried_again_and_told_in_the_report(
    studio_settings: Settings, ctx: Context, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(studio, "BRING_BACK_EVERY", 0.02)
    start_run(ctx)
    database_id, place = ctx.db.dialect.database_id, studio_settings.db
    folder = spool_folder(studio_settings.spool, database_id=database_id, location=place)
    with TestClient(create_app(studio_settings), base_url=BASE) as client:

        def spool() -> dict[str, Any]:
            found: dict[str, Any] = client.get("/api/admin/health").json()["spool"]
            return found

        assert spool() == {"last_failure": None, "failures_in_a_row": 0}
        rename(ctx, "status_transitions", "mislaid")
        folder.mkdir(parents=True)
        ending = {"do": "finish", "session_id": "run-1", "ending": {"status": "completed"}}
        (folder / "00000000000000000001.1.run-1.jsonl").write_text(f"{to_json(ending)}\n")
        wait_until(lambda: spool()["failures_in_a_row"] > 2)
        assert "status_transitions" in spool()["last_failure"]["sentence"]
        rename(ctx, "mislaid", "status_transitions")
        wait_until(lambda: spool()["failures_in_a_row"] == 0)
        assert spool()["last_failure"] is not None  # what happened can still be read
        assert client.get("/api/sessions/run-1").json()["status"] == "completed"
    assert len([record for record in caplog.records if "cannot be brought back" in record.message]) == 1


def test_a_spool_file_that_cannot_be_read_is_told_and_holds_up_no_other(
    studio_settings: Settings, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio, "BRING_BACK_EVERY", 0.02)
    start_run(ctx)
    database_id, place = ctx.db.dialect.database_id, studio_settings.db
    folder = spool_folder(studio_settings.spool, database_id=database_id, location=place)
    unreadable = folder / "00000000000000000001.1.run-0.jsonl"
    unreadable.mkdir(parents=True)
    ending = {"do": "finish", "session_id": "run-1", "ending": {"status": "completed"}}
    (folder / "00000000000000000002.1.run-1.jsonl").write_text(f"{to_json(ending)}\n")
    with TestClient(create_app(studio_settings), base_url=BASE) as client:
        wait_until(lambda: client.get("/api/admin/health").json()["spool"]["failures_in_a_row"])
        assert unreadable.name in client.get("/api/admin/health").json()["spool"]["last_failure"]["sentence"]
        assert client.get("/api/sessions/run-1").json()["status"] == "completed"
        unreadable.rmdir()
        wait_until(lambda: not client.get("/api/admin/health").json()["spool"]["failures_in_a_row"])


def rename(ctx: Context, table: str, to: str) -> None:
    """A database that is in trouble, and then is not."""
    with ctx.db.write() as tx:
        tx.run(f"ALTER TABLE {table} RENAME TO {to}")
