"""What was set aside while the database could not be written is brought in by a server that runs."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lionstudio.server import studio
from lionstudio.server.app import create_app
from lionstudio.settings import load_settings
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
