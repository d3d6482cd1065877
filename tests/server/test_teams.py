"""Teams over HTTP: lists, one in full, what was written there, and what stands beside a run."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.domain.team import Team, TeamMessage
from lionstudio.services import sessions, team_pages, teams
from lionstudio.services.context import Context
from tests.factories import NOW, Clock, start_run, user_says
from tests.server.pages import every_page

MESSAGES = "/api/teams/team-1/messages"


def put_team(ctx: Context, team_id: str = "team-1", **facts: Any) -> Team:
    return teams.put_team(ctx, team_id, actor="ana", **{"name": "ledger", "members": ["ana", "ben"], **facts})


def say(ctx: Context, content: str = "done", team_id: str = "team-1", **more: Any) -> TeamMessage:
    return teams.add_message(ctx, team_id, content=content, **{"sender": "ben", **more})


def said(client: TestClient, path: str = MESSAGES, **wanted: Any) -> list[str]:
    return [message["content"] for message in every_page(client, path, **wanted)]


class TestList:
    def test_nothing_is_an_empty_page(self, client: TestClient) -> None:
        for path in ("/api/teams", "/api/teams/"):
            assert client.get(path).json() == {"items": [], "next_cursor": None}

    def test_teams_are_listed_newest_first_to_the_end(self, client: TestClient, ctx: Context) -> None:
        for number in range(5):
            put_team(ctx, f"team-{number}", name=f"n{number}", created_at=NOW - number)
        put_team(ctx, "same-time", created_at=NOW - 2)
        for limit in (1, 2, 3, 6, 500):
            rows = every_page(client, "/api/teams", limit=limit)
            assert [row["id"] for row in rows] == [
                "team-0",
                "team-1",
                "team-2",
                "same-time",
                "team-3",
                "team-4",
            ]

    def test_a_row_says_how_much_is_going_on(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        put_team(ctx)
        say(ctx)
        clock.pass_seconds(9)
        say(ctx)
        put_team(ctx, "quiet", created_at=NOW - 9)
        row, quiet = client.get("/api/teams").json()["items"]
        assert (row["name"], row["member_count"], row["message_count"]) == ("ledger", 2, 2)
        assert (row["last_message_at"], row["status"]) == (NOW + 9, "active")
        assert row["chain"] == ["Active", "2 members", "2 messages"]
        assert row["state"]["lifecycle"] == "running"
        assert (quiet["message_count"], quiet["last_message_at"]) == (0, None)

    def test_teams_are_filtered_by_status(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx, "a")
        put_team(ctx, "b")
        teams.archive_team(ctx, "b", actor="ana")
        for status, ids in {"active": ["a"], "archived": ["b"]}.items():
            rows = client.get("/api/teams", params={"status": status}).json()["items"]
            assert [row["id"] for row in rows] == ids
        assert rows[0]["state"]["lifecycle"] == "archived"

    @pytest.mark.parametrize("wanted", [{"status": "lost"}, {"cursor": "x"}, {"limit": 0}, {"limit": 501}])
    def test_a_page_that_cannot_be_is_refused(self, client: TestClient, wanted: dict[str, Any]) -> None:
        answer = client.get("/api/teams", params=wanted)
        assert (answer.status_code, set(answer.json())) == (422, {"code", "message", "hint"})


class TestOne:
    def test_a_team_is_found_by_its_id_or_name(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx, name="led/ger ../x")
        for typed in ("team-1", "led%2Fger%20..%2Fx"):
            assert client.get(f"/api/teams/{typed}").json()["id"] == "team-1"
            assert client.get(f"/api/teams/{typed}/messages").json()["items"] == []

    def test_a_team_says_who_wrote_and_when(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        put_team(ctx)
        say(ctx, read_by=["ana"])
        clock.pass_seconds(5)
        say(ctx, sender="ana", recipient="ben")
        say(ctx, sender="system")
        members = client.get("/api/teams/team-1").json()["members"]
        assert [tuple(member.values()) for member in members] == [
            ("ana", True, 1, 2, 1, NOW + 5),
            ("ben", True, 1, 2, 2, NOW),
            ("system", False, 1, 0, 0, NOW + 5),
        ]

    def test_a_team_leads_to_the_runs_that_met_in_it(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx)
        for number in range(3):
            start_run(ctx, f"run-{number}", name=f"job {number}", started_at=NOW)
        say(ctx, session_id="run-0")
        say(ctx, session_id="run-0")
        say(ctx, session_id="run-1")
        team = client.get("/api/teams/team-1").json()
        assert team["run_count"] == 2
        assert {run["id"]: (run["display_name"], run["team_messages"]) for run in team["runs"]} == {
            "run-0": ("job 0", 2),
            "run-1": ("job 1", 1),
        }
        assert team["runs"][0]["state"]["lifecycle"] == "running"

    def test_of_many_runs_the_newest_are_shown_and_all_are_counted(
        self, client: TestClient, ctx: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(team_pages, "RUNS_SHOWN", 2)
        put_team(ctx)
        for number in range(4):
            clock.pass_seconds(1)
            start_run(ctx, f"run-{number}")
            say(ctx, session_id=f"run-{number}")
        team = client.get("/api/teams/team-1").json()
        assert ([run["id"] for run in team["runs"]], team["run_count"]) == (["run-3", "run-2"], 4)

    def test_a_team_says_how_it_came_to_its_status(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx)
        teams.archive_team(ctx, "team-1", actor="ben", sentence="done with it")
        steps = client.get("/api/teams/team-1").json()["history"]
        assert [(step["to_status"], step["actor"], step["sentence"]) for step in steps] == [
            ("active", "ana", None),
            ("archived", "ben", "done with it"),
        ]

    @pytest.mark.parametrize("tail", ["", "/messages", "/messages/m-1"])
    def test_a_team_that_is_not_there_is_named(self, client: TestClient, ctx: Context, tail: str) -> None:
        put_team(ctx)
        answer = client.get(f"/api/teams/ledgre{tail}")
        assert (answer.status_code, answer.json()["code"]) == (404, "team_not_found")
        assert answer.json()["hint"] == "Did you mean ledger?"

    def test_the_beginning_of_several_ids_is_ambiguous(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx, "team-1", name="a")
        put_team(ctx, "team-2", name="b")
        answer = client.get("/api/teams/team")
        assert (answer.status_code, answer.json()["code"]) == (409, "ambiguous")


class TestMessages:
    def fill(self, ctx: Context, clock: Clock) -> None:
        put_team(ctx)
        for number in range(5):
            clock.pass_seconds(1)
            say(ctx, f"all {number}", read_by=["ana"] if number < 3 else [])
        for number in range(2):  # at the same moment
            say(ctx, f"to ben {number}", sender="ana", recipient="ben", id=f"m-{number}")

    def test_messages_are_read_to_the_end_in_both_directions(
        self, client: TestClient, ctx: Context, clock: Clock
    ) -> None:
        self.fill(ctx, clock)
        expected = [message.content for message in teams.list_messages(ctx, "team-1")]
        assert len(expected) == 7
        for limit in (1, 2, 3, 7, 500):
            assert said(client, limit=limit, order="oldest") == expected
            assert said(client, limit=limit) == expected[::-1]

    def test_messages_are_filtered(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        self.fill(ctx, clock)
        assert said(client, member="ana") == [f"all {number}" for number in (4, 3, 2, 1, 0)]
        assert said(client, member="ana", unread=True) == ["all 4", "all 3"]
        assert said(client, member="ben", limit=1) == ["to ben 1", "to ben 0"]
        assert said(client, sender="ana") == ["to ben 1", "to ben 0"]
        assert len(said(client, recipient="all")) == 5
        assert said(client, sender="ben", recipient="ben") == []

    @pytest.mark.parametrize("name", ['say "x"', "back\\slash", "ünï", "an", "'", "100%", "_na"])
    def test_who_has_read_is_told_apart_however_they_are_called(
        self, client: TestClient, ctx: Context, name: str
    ) -> None:
        put_team(ctx, members=["ana", "ben", name])
        say(ctx, "read", read_by=["ana", name])
        say(ctx, "unread", read_by=["ana"])
        assert said(client, member=name, unread=True) == ["unread"]
        assert said(client, member="ana", unread=True) == []

    def test_a_name_that_nobody_has_is_refused_with_the_names_there_are(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx)
        say(ctx, sender="gone")
        for who in ("member", "sender", "recipient"):
            answer = client.get(MESSAGES, params={who: "bne"})
            assert answer.status_code == 422
            assert "Did you mean ben?" in answer.json()["hint"]
        assert said(client, sender="gone") == ["done"]
        assert said(client, sender="system") == []
        assert said(client, sender="ana") == []

    @pytest.mark.parametrize(
        "wanted", [{"unread": True}, {"cursor": "x"}, {"limit": 0}, {"order": "random"}, {"unread": "perhaps"}]
    )
    def test_a_page_that_cannot_be_is_refused(self, client: TestClient, ctx: Context, wanted: dict[str, Any]) -> None:
        put_team(ctx)
        answer = client.get(MESSAGES, params=wanted)
        assert (answer.status_code, set(answer.json())) == (422, {"code", "message", "hint"})

    def test_a_message_says_who_read_it_and_which_run_it_came_from(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx)
        start_run(ctx, name="triage")
        say(ctx, session_id="run-1", read_by=["ana"], id="m-1", node_metadata={"kind": "report"})
        (message,) = client.get(MESSAGES).json()["items"]
        assert message == {
            "id": "m-1",
            "team_id": "team-1",
            "team_name": "ledger",
            "created_at": NOW,
            "sender": "ben",
            "recipient": "all",
            "summary": None,
            "content": "done",
            "content_length": 4,
            "read_by": ["ana"],
            "session_id": "run-1",
            "session": {"id": "run-1", "display_name": "triage", "status": "running"},
            "node_metadata": {"kind": "report"},
        }
        assert client.get(f"{MESSAGES}/m-1").json() == message

    def test_only_summaries_are_sent_where_they_are_enough(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx)
        say(ctx, "word " * 100, id="long")
        say(ctx, "short", id="short")
        rows = {row["id"]: row for row in client.get(MESSAGES, params={"full": False}).json()["items"]}
        assert (rows["long"]["content"], rows["long"]["content_length"]) == (None, 500)
        assert rows["long"]["summary"].endswith("…")
        assert rows["short"]["content"] == "short"
        assert client.get(f"{MESSAGES}/long").json()["content"] == "word " * 100

    def test_a_page_of_very_long_messages_ends_earlier_and_none_is_missed(
        self, client: TestClient, ctx: Context, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(team_pages, "TEXT_AT_ONCE", 1_000)
        put_team(ctx)
        for number in range(5):
            say(ctx, f"{number}" * 600)
        assert len(client.get(MESSAGES).json()["items"]) == 1
        assert sorted(text[0] for text in said(client, limit=3)) == list("01234")

    def test_a_message_of_another_team_is_not_found(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx)
        put_team(ctx, "team-2", name="other")
        say(ctx, team_id="team-2", id="m-2")
        for id in ("m-2", "ghost", "%00"):
            answer = client.get(f"{MESSAGES}/{id}")
            assert (answer.status_code, answer.json()["code"]) == (404, "message_not_found")
            assert "li team show TEAM --json" in answer.json()["hint"]


class TestBesideARun:
    PATH = "/api/sessions/run-1/team-messages"

    def fill(self, ctx: Context, clock: Clock) -> None:
        put_team(ctx)
        put_team(ctx, "team-2", name="other")
        say(ctx, "before")
        clock.pass_seconds(1)
        start_run(ctx, started_at=clock())
        for number in range(3):
            clock.pass_seconds(1)
            say(ctx, f"own {number}", session_id="run-1")
            say(ctx, f"beside {number}", sender="ana")
        say(ctx, "elsewhere", team_id="team-2")
        clock.pass_seconds(1)
        sessions.finish_session(ctx, "run-1", "completed")
        clock.pass_seconds(1)
        say(ctx, "after")

    def test_a_run_leads_to_what_it_wrote(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        self.fill(ctx, clock)
        for limit in (1, 2, 3, 500):
            assert said(client, self.PATH, limit=limit) == ["own 0", "own 1", "own 2"]
            assert said(client, self.PATH, limit=limit, order="newest") == ["own 2", "own 1", "own 0"]

    def test_what_others_wrote_meanwhile_stands_beside_it(self, client: TestClient, ctx: Context, clock: Clock) -> None:
        self.fill(ctx, clock)
        expected = [message.content for message in teams.list_messages(ctx, "team-1")][1:-1]
        assert sorted(expected) == ["beside 0", "beside 1", "beside 2", "own 0", "own 1", "own 2"]
        for limit in (1, 4, 500):
            assert said(client, self.PATH, limit=limit, beside=True) == expected

    def test_a_run_that_is_not_there_is_named(self, client: TestClient) -> None:
        for beside in (True, False):
            answer = client.get(self.PATH, params={"beside": beside})
            assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")

    def test_a_run_that_wrote_to_nobody_has_an_empty_page(self, client: TestClient, ctx: Context) -> None:
        put_team(ctx)
        start_run(ctx)
        say(ctx)
        for beside in (True, False):
            assert client.get(self.PATH, params={"beside": beside}).json() == {"items": [], "next_cursor": None}


def test_an_unnamed_run_is_called_by_what_it_was_told(client: TestClient, ctx: Context) -> None:
    from lionstudio.services.messages import append_message
    from tests.factories import line_of

    put_team(ctx)
    start_run(ctx)
    append_message(ctx, line_of("run-1"), user_says("Find the failing test"))
    say(ctx, session_id="run-1")
    (message,) = client.get(MESSAGES).json()["items"]
    assert "Find the failing test" in message["session"]["display_name"]
