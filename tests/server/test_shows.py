"""Shows and plays over HTTP: lists, one in full with its files, structural questions, and names that want out."""

import os
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.services import shows
from lionstudio.services.context import Context
from lionstudio.services.sessions import finish_session
from lionstudio.settings import Settings
from tests.factories import NOW, Clock, start_run
from tests.server.pages import every_page
from tests.server.show_world import PLAN, make_folder, make_play_folder, put_play, put_show

CONTRACT = {"topic", "path", "show_md", "goal", "status", "status_source", "plays"}
PLAY_CONTRACT = {
    "name", "meta", "verdict", "session_id", "session_name", "intent", "updated_at", "depends_on",
}  # fmt: skip
META_CONTRACT = {
    "worktree", "branch", "attempt", "started_at", "ended_at", "exit_code", "merged_at", "merge_sha", "status",
}  # fmt: skip


@pytest.fixture
def root(studio_settings: Settings) -> Path:
    folder = studio_settings.shows_root
    folder.mkdir(parents=True)
    return folder


class TestList:
    def test_nothing_is_an_empty_page(self, client: TestClient) -> None:
        for path in ("/api/shows", "/api/shows/"):
            assert client.get(path).json() == {"items": [], "next_cursor": None}

    def test_shows_are_listed_newest_first_to_the_end(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        for topic in "abcde":
            put_show(ctx, topic)
            clock.pass_seconds(1)
        assert [row["topic"] for row in every_page(client, "/api/shows")] == list("edcba")
        assert [row["topic"] for row in every_page(client, "/api/shows/", limit=5)] == list("edcba")

    def test_a_row_says_how_far_a_show_has_come(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx, goal="Split the ledger")
        put_play(ctx, "schema", status="merged")
        put_play(ctx, "api", status="escalated")
        put_play(ctx, "docs")
        (row,) = client.get("/api/shows").json()["items"]
        assert (row["goal"], row["status"], row["status_source"]) == ("Split the ledger", "active", "sqlite")
        assert (row["play_count"], row["plays_by_status"]) == (3, {"merged": 1, "escalated": 1, "pending": 1})
        assert row["chain"] == ["Active", "1 escalated", "1 of 3 merged"]
        assert (row["state"]["lifecycle"], row["state"]["severity"]) == ("blocked", "critical")
        assert row["state"]["reasons"][0]["code"] == "show.blocked.play_escalated"

    def test_a_play_carries_the_words_of_its_state_cell(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx)
        put_play(ctx, "schema", status="merged", gate_passed=True)
        put_play(ctx, "docs")
        cells = {play["name"]: play["badges"] for play in client.get("/api/shows/ledger").json()["plays"]}
        assert cells["schema"] == {"pill": "completed", "gate": "passed", "integration": "merged"}
        assert cells["docs"] == {"pill": "pending", "gate": None, "integration": None}
        put_show(ctx, status="completed")
        after = {play["name"]: play["badges"]["pill"] for play in client.get("/api/shows/ledger").json()["plays"]}
        assert after["docs"] == "skipped"

    def test_a_show_is_as_well_as_the_run_of_its_play(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        start_run(ctx)
        put_show(ctx)
        put_play(ctx, status="running", session_id="run-1")
        clock.pass_seconds(3 * 24 * 3600)
        (row,) = client.get("/api/shows").json()["items"]
        assert row["state"]["health"] == "stalled"
        assert client.get("/api/shows/ledger").json()["state"] == row["state"]

    def test_a_show_that_its_final_gate_refused_says_so(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx)
        shows.move_show(ctx, "ledger", "aborted", actor="ana", reason="show.failed.final_gate")
        (row,) = client.get("/api/shows").json()["items"]
        assert (row["state"]["outcome"], row["state"]["reasons"][0]["code"]) == ("failed", "show.failed.final_gate")
        assert client.get("/api/shows/ledger").json()["state"] == row["state"]

    def test_shows_are_filtered_by_status(self, client: TestClient, ctx: Context, root: Path) -> None:
        put_show(ctx, "a")
        put_show(ctx, "b", status="completed")
        make_folder(root, "c")
        for status, topics in {"active": ["a"], "completed": ["b"], "aborted": [], "unknown": ["c"]}.items():
            rows = client.get("/api/shows", params={"status": status}).json()["items"]
            assert [row["topic"] for row in rows] == topics

    def test_an_unknown_status_names_the_known_ones(self, client: TestClient) -> None:
        answer = client.get("/api/shows", params={"status": "paused"})
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_word")
        assert answer.json()["hint"] == "Use one of: active, completed, aborted, imported, unknown."

    @pytest.mark.parametrize("wanted", [{"cursor": "x"}, {"cursor": "bm9uZQ"}, {"limit": 0}, {"limit": 501}])
    @pytest.mark.parametrize("path", ["/api/shows", "/api/plays"])
    def test_a_page_that_cannot_be_is_refused(self, client: TestClient, path: str, wanted: dict[str, Any]) -> None:
        answer = client.get(path, params=wanted)
        assert (answer.status_code, set(answer.json())) == (422, {"code", "message", "hint"})

    def test_folders_that_nobody_brought_in_come_after_the_stored_ones(
        self, client: TestClient, ctx: Context, root: Path
    ) -> None:
        for topic in ("stored", "zeta", "alpha", "beta"):
            make_play_folder(make_folder(root, topic), "schema", meta={"status": "running"})
        put_show(ctx, "stored", root)
        put_show(ctx, "elsewhere")
        for limit in (1, 2, 3, 100):
            rows = every_page(client, "/api/shows", limit=limit)
            assert [row["topic"] for row in rows[2:]] == ["alpha", "beta", "zeta"]
            assert {row["topic"] for row in rows[:2]} == {"stored", "elsewhere"}
        assert (rows[2]["status"], rows[2]["status_source"], rows[2]["state"]) == ("unknown", "filesystem", None)
        assert (rows[2]["goal"], rows[2]["play_count"]) == ("Split the ledger.", 1)
        left_out = every_page(client, "/api/shows", limit=2, on_disk=False)
        assert {row["topic"] for row in left_out} == {"stored", "elsewhere"}

    def test_what_is_no_show_under_the_root_is_not_listed(self, client: TestClient, root: Path, tmp_path: Path) -> None:
        outside = make_folder(tmp_path / "outside", "secret")
        (root / "out").symlink_to(outside)
        (root / "loop").symlink_to(root)
        (root / "nowhere").symlink_to(root / "gone")
        (root / "empty").mkdir()
        (root / ".hidden").mkdir()
        (root / ".hidden" / "_show.md").write_text(PLAN)
        (root / "file").write_text("x")
        assert client.get("/api/shows").json()["items"] == []


class TestOne:
    def test_a_show_answers_in_the_shape_of_the_contract(self, client: TestClient, ctx: Context, root: Path) -> None:
        make_play_folder(make_folder(root, "ledger"), "schema", intent="Make the tables.")
        start_run(ctx, name="show_ledger_schema")
        put_show(ctx, "ledger", root)
        facts = {"worktree": "/w", "branch": "b", "attempt": 2, "started_at": NOW, "ended_at": NOW + 2.5}
        ended = {"exit_code": 0, "merged_at": NOW + 3, "merge_sha": "abc", "status": "merged"}
        judged = {"gate_passed": True, "gate_feedback": "good"}
        put_play(ctx, session_id="run-1", depends_on=["design"], **facts, **ended, **judged)
        show = client.get("/api/shows/ledger").json()
        assert set(show) >= CONTRACT
        assert {name: show[name] for name in CONTRACT - {"plays"}} == {
            "topic": "ledger",
            "path": str(root / "ledger"),
            "show_md": PLAN,
            "goal": "Split the ledger.",
            "status": "active",
            "status_source": "sqlite",
        }
        (play,) = show["plays"]
        assert set(play) >= PLAY_CONTRACT
        assert set(play["meta"]) == META_CONTRACT
        assert play["meta"] == facts | ended
        assert play["verdict"] == {"gate_passed": True, "feedback": "good"}
        assert (play["session_id"], play["session_name"]) == ("run-1", "show_ledger_schema")
        assert (play["intent"], play["depends_on"]) == ("Make the tables.", ["design"])
        assert (play["updated_at"], play["duration_ms"]) == (NOW, 2500.0)
        assert show["problems"] == []

    def test_a_show_says_its_structure(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx)
        put_play(ctx, "a", status="gate_failed", sort_order=1)
        put_play(ctx, "b", depends_on=["a", "ghost"], sort_order=2)
        put_play(ctx, "c", depends_on=["b"], sort_order=3)
        put_play(ctx, "d", sort_order=4)
        show = client.get("/api/shows/ledger").json()
        assert show["graph"] == {
            "edges": [{"play": "b", "depends_on": "a"}, {"play": "c", "depends_on": "b"}],
            "unknown": [{"play": "b", "depends_on": "ghost"}],
            "cycle": [],
        }
        assert show["critical_path"] == ["a", "b", "c"]
        assert show["obstacles"][0] == {
            "play": "b",
            "waits_for": ["a"],
            "because_of": ["a"],
            "unknown": ["ghost"],
        }

    def test_plays_that_wait_for_each_other_are_told(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx)
        put_play(ctx, "a", depends_on=["b"])
        put_play(ctx, "b", depends_on=["a"])
        show = client.get("/api/shows/ledger").json()
        assert (show["graph"]["cycle"], show["critical_path"], show["obstacles"]) == (["a", "b"], [], [])

    def test_a_show_says_how_it_came_to_its_status(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx)
        shows.move_show(ctx, "ledger", "completed", actor="ana", reason="show.completed.all_merged")
        steps = client.get("/api/shows/ledger").json()["history"]
        assert [(step["from_status"], step["to_status"], step["actor"]) for step in steps] == [
            (None, "active", "director"),
            ("active", "completed", "ana"),
        ]

    def test_a_show_without_files_says_that_its_folder_is_not_here(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx, goal="Split")
        show = client.get("/api/shows/ledger").json()
        assert (show["show_md"], show["goal"]) == (None, "Split")
        assert show["problems"] == [{"where": "/nowhere/ledger", "message": "This folder is not on this machine."}]

    def test_a_show_that_is_only_on_disk_is_unknown(self, client: TestClient, root: Path) -> None:
        folder = make_folder(root, "ledger")
        make_play_folder(folder, "schema", meta={"status": "odd", "extra": [1]}, verdict={"gate_passed": False})
        make_play_folder(folder, "api", intent="Serve it.")
        (folder / "notes").mkdir()
        show = client.get("/api/shows/ledger").json()
        assert set(show) >= CONTRACT
        assert (show["status"], show["status_source"], show["show_md"]) == ("unknown", "filesystem", PLAN)
        assert (show["goal"], show["path"]) == ("Split the ledger.", str(folder))
        assert [set(play) for play in show["plays"]] == [{"name", "meta", "verdict", "updated_at"}] * 2
        assert [(play["name"], play["meta"], play["verdict"]) for play in show["plays"]] == [
            ("api", {}, None),
            ("schema", {"status": "odd", "extra": [1]}, {"gate_passed": False}),
        ]
        play = client.get("/api/shows/ledger/plays/api").json()
        assert (play["status_source"], play["intent"], play["meta"]) == ("filesystem", "Serve it.", {})

    def test_what_is_not_there_is_named(self, client: TestClient, ctx: Context, root: Path) -> None:
        put_show(ctx)
        make_folder(root, "on-disk")
        for path, code in (
            ("/api/shows/ghost", "show_not_found"),
            ("/api/shows/ghost/plays/schema", "show_not_found"),
            ("/api/shows/ledger/plays/ghost", "play_not_found"),
            ("/api/shows/on-disk/plays/ghost", "play_not_found"),
        ):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, code)
            assert "ghost" in answer.json()["message"]

    def test_a_play_comes_with_its_files_its_run_and_its_history(
        self, client: TestClient, ctx: Context, root: Path
    ) -> None:
        files = {"intent": "Make tables.", "prompt": "Do it.", "escalation": "Twice refused."}
        verdict = {"gate_passed": False, "feedback": "no tests", "notes": None, "score": 0.3}
        make_play_folder(make_folder(root, "ledger"), "schema", verdict=verdict, **files)
        start_run(ctx)
        finish_session(ctx, "run-1", "failed", exit_code=3)
        put_show(ctx, "ledger", root)
        put_play(ctx, status="running_complete", session_id="run-1", exit_code=3, started_at=NOW - 60, ended_at=NOW)
        shows.move_play(ctx, "ledger", "schema", "gate_failed", actor="gate", gate_passed=False, gate_feedback="no")
        play = client.get("/api/shows/ledger/plays/schema").json()
        assert {name: play[name] for name in files} == files
        assert play["full_verdict"] == verdict
        assert play["verdict"] == {**verdict, "gate_passed": False, "feedback": "no"}
        assert (play["session"]["id"], play["session"]["state"]["outcome"]) == ("run-1", "failed")
        assert play["session"]["chain"][:2] == ["Failed", "exit 3"]
        assert play["session"]["display_name"]
        assert (play["duration_ms"], play["topic"]) == (60_000.0, "ledger")
        assert [step["to_status"] for step in play["history"]] == ["running_complete", "gate_failed"]
        assert (play["state"]["outcome"], play["chain"]) == ("gate_failed", ["Gate failed", "exit 3"])

    def test_an_unchanged_show_is_not_sent_twice(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx)
        first = client.get("/api/shows/ledger")
        again = client.get("/api/shows/ledger", headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304


class TestFilesThatAreWrong:
    def show(self, client: TestClient, ctx: Context, root: Path) -> dict[str, Any]:
        put_show(ctx, "ledger", root)
        put_play(ctx)
        answer = client.get("/api/shows/ledger")
        assert answer.status_code == 200
        found: dict[str, Any] = answer.json()
        return found

    def test_text_that_is_not_utf_8_is_said(self, client: TestClient, ctx: Context, root: Path) -> None:
        folder = make_folder(root, "ledger", plan=None)
        (folder / "_show.md").write_bytes(b"caf\xe9")
        show = self.show(client, ctx, root)
        assert show["show_md"] is None
        assert show["problems"] == [{"where": "_show.md", "message": "It is not UTF-8 (byte 4)."}]

    def test_a_file_that_is_too_large_is_said(self, client: TestClient, ctx: Context, root: Path) -> None:
        folder = make_folder(root, "ledger")
        make_play_folder(folder, "schema", intent="x" * (1024 * 1024 + 1))
        show = self.show(client, ctx, root)
        assert (show["show_md"], show["plays"][0]["intent"]) == (PLAN, None)
        assert show["problems"] == [{"where": "schema/_intent.md", "message": "It is larger than 1,024 KB."}]

    def test_files_that_are_too_large_together_are_left_out(self, client: TestClient, ctx: Context, root: Path) -> None:
        folder = make_folder(root, "ledger")
        put_show(ctx, "ledger", root)
        for number in range(10):
            make_play_folder(folder, f"p{number}", intent="x" * (1024 * 1024))
            put_play(ctx, f"p{number}")
        answer = client.get("/api/shows/ledger")
        assert len(answer.content) < 9 * 1024 * 1024
        assert [problem["where"] for problem in answer.json()["problems"]] == ["p8/_intent.md", "p9/_intent.md"]

    def test_a_link_that_leads_out_is_not_followed(
        self, client: TestClient, ctx: Context, root: Path, tmp_path: Path
    ) -> None:
        secret = tmp_path / "secret.md"
        secret.write_text("the secret")
        folder = make_folder(root, "ledger", plan=None)
        (folder / "_show.md").symlink_to(secret)
        make_play_folder(make_folder(tmp_path / "other", "show"), "schema", intent="the secret")
        (folder / "schema").symlink_to(tmp_path / "other" / "show" / "schema")
        show = self.show(client, ctx, root)
        assert "the secret" not in client.get("/api/shows/ledger").text
        assert "the secret" not in client.get("/api/shows/ledger/plays/schema").text
        assert [problem["where"] for problem in show["problems"]] == ["_show.md", "schema/_intent.md"]
        assert "leads out of" in show["problems"][0]["message"]

    def test_a_show_that_was_stored_from_outside_the_root_is_not_read(
        self, client: TestClient, ctx: Context, root: Path, tmp_path: Path
    ) -> None:
        make_folder(tmp_path / "outside", "ledger", plan="the secret")
        show = self.show(client, ctx, tmp_path / "outside")
        assert show["show_md"] is None
        assert "LIONAGI_SHOWS_ROOT" in show["problems"][0]["message"]

    def test_a_show_whose_folder_is_a_link_out_is_not_read(
        self, client: TestClient, ctx: Context, root: Path, tmp_path: Path
    ) -> None:
        (root / "ledger").symlink_to(make_folder(tmp_path / "outside", "ledger", plan="the secret"))
        assert client.get("/api/shows/ledger").status_code == 404  # as one that is only on disk
        assert self.show(client, ctx, root)["show_md"] is None

    def test_a_show_cannot_be_the_root_itself(self, client: TestClient, ctx: Context, root: Path) -> None:
        make_folder(root, "other")
        make_play_folder(root, "schema", intent="not of this show")
        put_show(ctx, "ledger", show_dir=str(root))
        put_play(ctx)
        show = client.get("/api/shows/ledger").json()
        assert show["plays"][0]["intent"] is None
        assert show["problems"][0]["message"] == "It is the folder of all shows, not of one."

    def test_a_pipe_does_not_keep_the_server_waiting(self, client: TestClient, ctx: Context, root: Path) -> None:
        folder = make_folder(root, "ledger", plan=None)
        os.mkfifo(folder / "_show.md")
        assert self.show(client, ctx, root)["problems"] == [{"where": "_show.md", "message": "It is not a file."}]

    @pytest.mark.parametrize(
        "verdict",
        ["{", "[1]", "", '{"a":' * 5000 + "1" + "}" * 5000, '{"score": NaN, "text": "\\ud800"}', '{"a": 1e999}'],
    )
    def test_a_verdict_that_cannot_be_told_is_a_problem(
        self, client: TestClient, ctx: Context, root: Path, verdict: str
    ) -> None:
        folder = make_play_folder(make_folder(root, "ledger"), "schema")
        (folder / "_verdict.json").write_text(verdict)
        self.show(client, ctx, root)
        play = client.get("/api/shows/ledger/plays/schema")
        assert (play.status_code, play.json()["full_verdict"]) == (200, None)
        assert [problem["where"] for problem in play.json()["problems"]] == ["schema/_verdict.json"]

    def test_half_a_character_arrives_as_it_is(self, client: TestClient, ctx: Context, root: Path) -> None:
        folder = make_play_folder(make_folder(root, "ledger"), "schema")
        (folder / "_verdict.json").write_text('{"feedback": "\\ud800"}')
        self.show(client, ctx, root)
        assert client.get("/api/shows/ledger/plays/schema").json()["full_verdict"] == {"feedback": "\ud800"}


HOSTILE = [
    "..%2Fsecret", "%2e%2e", "..%2F..%2Fetc%2Fpasswd", "%2Fetc", ".%2F", "%00", "a%00b", "%FF%FE", "x" * 300,
    "_show.md", ".hidden", "ledger%2F..%2F..%2Fsecret", "-", "%20", "a%5C..%5Cb", "%E2%80%AE", "' OR 1=1 --",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_never_leads_out_of_the_root(client: TestClient, ctx: Context, root: Path, name: str) -> None:
    secret = make_folder(root.parent, "secret", plan="the secret")
    make_play_folder(secret, "schema", intent="the secret")
    make_folder(root, ".hidden", plan="the secret")
    make_folder(root, "ledger")
    put_show(ctx, "ledger", root)
    for path in (f"/api/shows/{name}", f"/api/shows/{name}/plays/schema", f"/api/shows/ledger/plays/{name}"):
        answer = client.get(path)
        assert answer.status_code == 404, path
        assert answer.json()["code"] in ("show_not_found", "play_not_found", "not_found")
        assert "the secret" not in answer.text


def test_a_name_longer_than_any_is_refused(client: TestClient) -> None:
    assert client.get("/api/shows/" + "x" * 1001).status_code == 422


def test_a_stored_play_with_a_hostile_name_is_shown_and_reads_nothing(
    client: TestClient, ctx: Context, root: Path
) -> None:
    make_folder(root, "ledger")
    make_play_folder(make_folder(root, "other"), "schema", intent="of another show")
    put_show(ctx, "ledger", root)
    put_play(ctx, "../other/schema")
    play = client.get("/api/shows/ledger/plays/..%2Fother%2Fschema")
    assert (play.status_code, play.json()["intent"]) == (200, None)
    assert client.get("/api/shows/ledger").json()["plays"][0]["intent"] is None


class TestPlays:
    def fill(self, ctx: Context, clock: Clock) -> None:
        for topic in ("a", "b"):
            put_show(ctx, topic)
            for status in ("blocked", "escalated", "merged"):
                clock.pass_seconds(1)
                put_play(ctx, status, topic, status=status)

    def test_plays_of_every_show_are_found_by_status(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        self.fill(ctx, clock)
        found = every_page(client, "/api/plays", limit=1, status=["blocked", "escalated"])
        assert [(play["topic"], play["name"]) for play in found] == [
            ("b", "escalated"),
            ("b", "blocked"),
            ("a", "escalated"),
            ("a", "blocked"),
        ]
        assert found[1]["state"]["reasons"][0]["code"] == "play.blocked.dependency_failed"

    def test_without_a_status_all_are_listed_to_the_end(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        self.fill(ctx, clock)
        for limit in (1, 2, 3, 6, 500):
            assert len(every_page(client, "/api/plays", limit=limit)) == 6

    def test_a_play_that_waits_in_an_ended_show_was_skipped(self, client: TestClient, ctx: Context) -> None:
        put_show(ctx, status="aborted")
        put_play(ctx)
        (play,) = client.get("/api/plays", params={"status": "pending"}).json()["items"]
        assert play["state"]["outcome"] == "skipped"

    def test_an_unknown_status_names_the_known_ones(self, client: TestClient) -> None:
        answer = client.get("/api/plays", params={"status": ["blocked", "lost"]})
        assert answer.status_code == 422
        assert "'escalated'" in answer.json()["message"]
