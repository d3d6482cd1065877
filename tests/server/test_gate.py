"""The human gate over HTTP: a judgement stands in the files, in the database, in the history and in the audit log."""

import json
from pathlib import Path
from typing import Any

import pytest
from httpx import Response
from starlette.testclient import TestClient

from lionstudio.importers.show_folders import import_show_folders
from lionstudio.services import admin, gating, shows
from lionstudio.services.context import Context
from lionstudio.settings import Settings
from tests.server.show_world import make_folder, make_play_folder, put_play, put_show

GATE = "/api/shows/ledger/plays/schema/gate"


@pytest.fixture
def folder(studio_settings: Settings) -> Path:
    """The folder of the only play."""
    meta = {"status": "running_complete", "attempt": 1, "exit_code": 0, "ours": "kept"}
    return make_play_folder(make_folder(studio_settings.shows_root, "ledger"), "schema", meta=meta, intent="Tables.")


@pytest.fixture
def play_in(ctx: Context, folder: Path) -> None:
    put_show(ctx, "ledger", folder.parent.parent)
    put_play(ctx, status="running_complete", exit_code=0)


def judge(client: TestClient, path: str = GATE, **said: Any) -> Response:
    answer: Response = client.post(path, json=said, headers={"X-Lionstudio-Actor": "ana"})
    return answer


def read(file: Path) -> Any:
    return json.loads(file.read_text())


@pytest.mark.usefixtures("play_in")
class TestGate:
    def test_a_refused_play_says_so_everywhere(self, client: TestClient, ctx: Context, folder: Path) -> None:
        answer = judge(client, passed=False, feedback="no tests", note="see the wiki")
        assert answer.status_code == 200
        told = answer.json()
        assert (told["from_status"], told["to_status"]) == ("running_complete", "gate_failed")
        assert told["files"] == ["schema/_verdict.json", "schema/_meta.json"]
        assert read(folder / "_verdict.json") == {"gate_passed": False, "feedback": "no tests", "notes": "see the wiki"}
        assert read(folder / "_meta.json")["status"] == "gate_failed"
        assert read(folder / "_meta.json")["ours"] == "kept"
        play = shows.get_play(ctx, "ledger", "schema")
        assert (play.status, play.gate_passed, play.gate_feedback) == ("gate_failed", False, "no tests")
        step = shows.list_play_history(ctx, "ledger", "schema")[-1]
        assert (step.to_status, step.actor, step.reason_code) == ("gate_failed", "ana", "play.gate.failed")
        assert step.sentence == "see the wiki"
        (event,) = admin.list_events(ctx, action="gate")
        assert (event.id, event.actor, event.target_id) == (told["event_id"], "ana", play.id)
        assert event.details["to"] == "gate_failed"

    def test_half_a_character_is_written_down_as_it_can_be(self, client: TestClient, ctx: Context) -> None:
        body = json.dumps({"passed": False, "feedback": "a\ud800", "note": "b\ud800\0"})
        answer = client.post(GATE, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 200, answer.text
        assert (shows.get_play(ctx, "ledger", "schema").gate_feedback or "").startswith("a")

    def test_bringing_the_show_in_again_changes_nothing(self, client: TestClient, ctx: Context, folder: Path) -> None:
        for passed in (False, True):  # a person overrules the gate, too
            assert judge(client, passed=passed, feedback="said").status_code == 200
            play = shows.get_play(ctx, "ledger", "schema")
            import_show_folders(ctx, str(folder.parent.parent))
            again = shows.get_play(ctx, "ledger", "schema")
            assert (again.status, again.gate_passed, again.gate_feedback) == (
                play.status,
                play.gate_passed,
                play.gate_feedback,
            )
        assert again.status == "gated"

    def test_who_waits_for_a_person_is_accepted_where_it_stands(self, client: TestClient, ctx: Context) -> None:
        put_play(ctx, status="gated")
        told = judge(client, passed=True).json()
        assert (told["from_status"], told["to_status"], told["verdict"]["gate_passed"]) == ("gated", "gated", True)
        steps = shows.list_play_history(ctx, "ledger", "schema")
        assert [(step.from_status, step.to_status) for step in steps][-1] == ("gated", "gated")
        assert client.get("/api/shows/ledger/plays/schema").json()["chain"] == ["Gated", "gate passed"]

    @pytest.mark.parametrize(
        ("status", "passed"),
        [("pending", True), ("running", False), ("merged", False), ("escalated", False), ("gate_failed", False)],
    )
    def test_a_move_that_the_lifecycle_does_not_allow_changes_nothing(
        self, client: TestClient, ctx: Context, folder: Path, status: str, passed: bool
    ) -> None:
        before = put_play(ctx, status=status)
        files = {file.name: file.read_text() for file in folder.iterdir()}
        for dry_run in (True, False):
            answer = judge(client, passed=passed, dry_run=dry_run)
            assert (answer.status_code, answer.json()["code"]) == (409, "illegal_transition")
            assert answer.json()["hint"]
        assert shows.get_play(ctx, "ledger", "schema") == before
        assert {file.name: file.read_text() for file in folder.iterdir()} == files
        assert admin.list_events(ctx, action="gate") == []

    def test_trying_it_changes_nothing(self, client: TestClient, ctx: Context, folder: Path) -> None:
        before = shows.get_play(ctx, "ledger", "schema")
        told = judge(client, passed=True, dry_run=True).json()
        assert (told["dry_run"], told["to_status"], told["event_id"]) == (True, "gated", None)
        assert told["files"] == ["schema/_verdict.json", "schema/_meta.json"]
        assert shows.get_play(ctx, "ledger", "schema") == before
        assert not (folder / "_verdict.json").exists()
        assert admin.list_events(ctx, action="gate") == []

    def test_without_its_folder_only_the_database_is_changed(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx, "far", Path("/nowhere"))
        put_play(ctx, topic="far", status="running_complete")
        told = judge(client, "/api/shows/far/plays/schema/gate", passed=True).json()
        assert (told["to_status"], told["files"]) == ("gated", [])
        assert told["problems"][0]["message"].endswith("Only the database is changed.")

    def test_a_folder_outside_of_the_root_is_not_written(
        self, client: TestClient, ctx: Context, folder: Path, tmp_path: Path
    ) -> None:
        outside = make_play_folder(make_folder(tmp_path / "outside", "x"), "schema")
        put_show(ctx, "linked", folder.parent.parent)
        (folder.parent.parent / "linked").mkdir()
        (folder.parent.parent / "linked" / "schema").symlink_to(outside)
        put_play(ctx, topic="linked", status="running_complete")
        told = judge(client, "/api/shows/linked/plays/schema/gate", passed=True).json()
        assert (told["files"], list(outside.iterdir())) == ([], [])
        assert "leads out of" in told["problems"][0]["message"]

    def test_a_meta_file_that_cannot_be_read_is_left_and_told(
        self, client: TestClient, ctx: Context, folder: Path
    ) -> None:
        (folder / "_meta.json").write_text('{"status": "runn')
        told = judge(client, passed=True).json()
        assert (told["files"], told["to_status"]) == (["schema/_verdict.json"], "gated")
        assert told["problems"][0]["where"] == "schema/_meta.json"
        assert (folder / "_meta.json").read_text() == '{"status": "runn'

    def test_a_verdict_that_cannot_be_written_changes_nothing(
        self, client: TestClient, ctx: Context, folder: Path
    ) -> None:
        (folder / "_verdict.json").mkdir()
        before = shows.get_play(ctx, "ledger", "schema")
        answer = judge(client, passed=True)
        assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
        assert "nothing was changed" in answer.json()["message"]
        assert shows.get_play(ctx, "ledger", "schema") == before
        assert admin.list_events(ctx, action="gate") == []
        assert sorted(file.name for file in folder.iterdir()) == ["_intent.md", "_meta.json", "_verdict.json"]

    def test_what_is_not_there_is_named(self, client: TestClient, folder: Path) -> None:
        make_folder(folder.parent.parent, "on-disk")
        for path, code in (
            ("/api/shows/ghost/plays/schema/gate", "show_not_found"),
            ("/api/shows/ledger/plays/ghost/gate", "play_not_found"),
            ("/api/shows/on-disk/plays/schema/gate", "show_not_found"),
            ("/api/shows/ledger/plays/..%2Fother%2Fschema/gate", "play_not_found"),
        ):
            answer = judge(client, path, passed=True)
            assert (answer.status_code, answer.json()["code"]) == (404, code)

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"passed": "perhaps"},
            {"passed": None},
            {"passed": True, "feedback": 3},
            {"passed": True, "force": True},
            {"passed": True, "feedback": "x" * 100_001},
            [],
        ],
    )
    def test_a_judgement_that_is_none_is_refused(self, client: TestClient, ctx: Context, body: Any) -> None:
        answer = client.post(GATE, json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
        assert shows.get_play(ctx, "ledger", "schema").status == "running_complete"

    def test_blank_feedback_is_none(self, client: TestClient, folder: Path) -> None:
        judge(client, passed=False, feedback="  \n")
        assert read(folder / "_verdict.json")["feedback"] is None

    def test_any_text_is_kept(self, client: TestClient, ctx: Context, folder: Path) -> None:
        body = '{"passed": false, "feedback": "nul \\u0000 and \\ud83e\\udd81"}'
        answer = client.post(GATE, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 200
        assert read(folder / "_verdict.json")["feedback"] == "nul \0 and 🦁"
        assert shows.get_play(ctx, "ledger", "schema").gate_feedback == "nul \ufffd and 🦁"


def test_two_people_who_judge_at_once_do_not_both_win(ctx: Context, play_in: None, studio_settings: Settings) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from lionstudio.domain.errors import IllegalTransition

    def say(passed: bool) -> str:
        try:
            said = gating.Judgement(passed)
            gating.judge_play(ctx, studio_settings.shows_folder, "ledger", "schema", said, actor="ana")
        except IllegalTransition:
            return "refused"
        return "done"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(say, [True] * 4)) == ["done", "refused", "refused", "refused"]
    assert len(admin.list_events(ctx, action="gate")) == 1
