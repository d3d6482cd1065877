"""The dashboard over HTTP: every number, and the list that each of them leads to."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.domain.health import HOUR
from lionstudio.services import teams
from lionstudio.services.context import Context
from tests.factories import NOW, start_run
from tests.services.dashboard_world import WHO, fill, leave_files, let_die, put_play, put_run
from tests.waiting import wait_until


def get(client: TestClient, address: str, **parameters: Any) -> Any:
    answer = client.get(address, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def every(client: TestClient, address: str, *, limit: int = 2, **parameters: Any) -> list[dict[str, Any]]:
    """All items of a list, however many pages it has."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = get(client, address, limit=limit, **parameters, **cursor)
        found += page["items"]
        if page["next_cursor"] is None:
            return found
        assert len(page["items"]) == limit
        cursor = {"cursor": page["next_cursor"]}


def test_the_cards_of_a_hand_built_day(client: TestClient, ctx: Context) -> None:
    fill(ctx)
    teams.put_team(ctx, "team-1", actor=WHO, name="builders", members=["ana"])
    stats = get(client, "/api/stats")
    assert stats["at"] == NOW
    attention = stats["attention"]
    assert attention["total"] == len(every(client, "/api/attention"))
    assert attention["by_signal"] == {
        "stale": 2, "orphaned": 1, "slow": 2, "failed_24h": 5, "zombie": 3, "escalated": 1, "gate_failed": 2,
        "blocked": 1,
    }  # fmt: skip
    assert sum(attention["by_severity"].values()) == attention["total"]
    executions = stats["executions"]
    by_health = {"healthy": 7, "idle": 1, "unresponsive": 0, "stale": 2, "orphaned": 1}
    assert (executions["invocations"], executions["sessions"], executions["plays"]) == (12, 11, 2)
    assert executions["by_health"] == by_health
    assert executions["oldest_at"] == NOW - 7 * HOUR
    assert stats["outcomes_24h"] == {
        "completed": 5, "failed": 3, "timed_out": 2, "aborted": 1, "cancelled": 1, "request_changes": 2,
        "pass_rate": 5 / 12,
    }  # fmt: skip
    latency = stats["latency_24h"]  # 0 0 10 50 50 50 50 60.5 3600 3600 3600.5
    assert latency == {"measured": 11, "p95_seconds": 3600.5, "median_seconds": 50.0, "over_60m": 1}
    assert {name: stats[name] for name in ("running", "slow", "failed_24h", "needs_review", "stale", "legacy")} == {
        "running": 11, "slow": 2, "failed_24h": 5, "needs_review": 2, "stale": 2, "legacy": 3,
    }  # fmt: skip
    assert (stats["shows_active"], stats["teams_active"]) == (3, 1)


def test_the_series_cover_a_day_and_add_up_to_the_cards(client: TestClient, ctx: Context) -> None:
    fill(ctx)
    stats = get(client, "/api/stats")
    assert [hour["starts_at"] for hour in stats["hours"]] == [NOW - HOUR * (24 - number) for number in range(24)]
    for status in ("completed", "failed", "timed_out", "aborted", "cancelled"):
        total = sum(hour["by_status"][status] for hour in stats["hours"])
        assert total == stats["outcomes_24h"][status], status
    assert sum(bar["runs"] for bar in stats["durations"]) == stats["latency_24h"]["measured"]
    assert stats["durations"][0]["above"] == 0
    assert stats["durations"][-1]["up_to"] is None


def test_the_runs_that_ended_last_are_told_in_full(client: TestClient, ctx: Context) -> None:
    put_run(ctx, "first", "completed", began=100, ended=60)
    put_run(ctx, "last", "failed", began=100, ended=10)
    put_run(ctx, "runs", "running", began=100, heard=1)
    recent = get(client, "/api/stats")["recent"]
    assert [row["id"] for row in recent] == ["last", "first"]
    assert recent[0] == get(client, "/api/sessions", status="failed")["items"][0]
    assert (recent[0]["duration_ms"], recent[0]["chain"][0]) == (90_000, "Failed")


# Each number beside the list that it leads to.
LISTS: list[tuple[tuple[str, ...], str, dict[str, str | list[str]]]] = [
    (("running",), "/api/sessions", {"status": "running"}),
    (("slow",), "/api/sessions", {"view": "slow"}),
    (("failed_24h",), "/api/sessions", {"view": "failed_24h"}),
    (("needs_review",), "/api/sessions", {"view": "needs_review"}),
    (("stale",), "/api/sessions", {"health": "stale"}),
    (("legacy",), "/api/sessions", {"view": "legacy"}),
    (("attention", "total"), "/api/attention", {}),
    (("attention", "by_signal", "slow"), "/api/attention", {"signal": "slow"}),
    (("attention", "by_signal", "zombie"), "/api/attention", {"signal": "zombie"}),
    (("attention", "by_signal", "blocked"), "/api/attention", {"signal": "blocked"}),
    (("executions", "invocations"), "/api/executions", {}),
    (("executions", "sessions"), "/api/sessions", {"status": "running"}),
    (("executions", "plays"), "/api/plays", {"status": ["running", "redoing"]}),
    (("shows_active",), "/api/shows", {"status": "active"}),
    (("outcomes_24h", "request_changes"), "/api/request-changes", {}),
    (("latency_24h", "over_60m"), "/api/sessions", {"view": "over_60m"}),
]


def test_every_number_is_the_length_of_the_list_it_leads_to(client: TestClient, ctx: Context) -> None:
    fill(ctx)
    stats = get(client, "/api/stats")
    for path, address, parameters in LISTS:
        number = stats
        for name in path:
            number = number[name]
        assert number > 0, path
        assert number == len(every(client, address, **parameters)), path


def test_the_system_strip_tells_how_the_studio_is(client: TestClient, ctx: Context) -> None:
    put_run(ctx, "old", None, began=100)
    wait_until(lambda: get(client, "/api/stats")["system"]["doctor"]["last_round"])
    system = get(client, "/api/stats")["system"]
    assert (system["started_at"], system["sse_streams"], system["legacy"]) == (NOW, 0, 1)
    assert system["feed_problem"] is None
    assert system["db_size_bytes"] > 0
    doctor = system["doctor"]
    assert (doctor["is_running"], doctor["every_seconds"], doctor["failures_in_a_row"]) == (True, 300.0, 0)
    assert doctor["last_failure"] is None
    if ctx.db.dialect.name == "sqlite":
        assert (system["engine"], system["connections"]) == ("SQLite", None)
        assert system["wal_bytes"] > 0
    else:
        assert (system["engine"], system["wal_bytes"]) == ("PostgreSQL", None)
        assert system["connections"] > 0


def test_an_empty_database_has_zeros_and_no_rate(client: TestClient) -> None:
    stats = get(client, "/api/stats")
    assert (stats["attention"]["total"], stats["attention"]["oldest_at"]) == (0, None)
    assert stats["executions"]["invocations"] == 0
    assert stats["outcomes_24h"]["pass_rate"] is None
    assert stats["latency_24h"] == {"measured": 0, "p95_seconds": None, "median_seconds": None, "over_60m": 0}
    assert stats["recent"] == []
    for address in ("/api/attention", "/api/executions", "/api/request-changes"):
        assert get(client, address) == {"items": [], "next_cursor": None}


def test_whoever_has_the_list_already_is_not_sent_it_again(client: TestClient, ctx: Context) -> None:
    put_run(ctx, "failed", "failed", began=100, ended=50)
    first = client.get("/api/attention")
    again = client.get("/api/attention", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    put_run(ctx, "another", "failed", began=100, ended=50)
    assert client.get("/api/attention", headers={"If-None-Match": first.headers["ETag"]}).status_code == 200


def test_a_thing_that_needs_a_look_is_told_with_every_reason(client: TestClient, ctx: Context) -> None:
    put_run(ctx, "dead", "running", began=2 * HOUR, heard=60, name="nightly", agent_name="architect")
    let_die(ctx, "dead")
    (row,) = get(client, "/api/attention")["items"]
    state = row.pop("state")
    chain = row.pop("chain")
    assert row == {
        "subject": "session", "id": "dead", "title": "nightly", "signals": ["stale", "slow"], "since": NOW - 2 * HOUR,
        "severity": "critical", "leads_to": "/api/sessions/dead", "session_id": "dead", "topic": None,
        "play_name": None, "heard_at": NOW - 60, "actions": ["inspect", "transition"],
    }  # fmt: skip
    assert chain[0] == "Running"
    assert (state["health"], state["severity"], state["tone"]) == ("process_dead", "critical", "danger")
    assert [reason["code"] for reason in state["reasons"]] == ["run.health.process_dead", "run.health.slow"]
    assert get(client, row["leads_to"])["id"] == "dead"


def test_what_waits_comes_first_then_what_failed_last(client: TestClient, ctx: Context) -> None:
    put_run(ctx, "young", "failed", began=60, ended=10)
    put_run(ctx, "old", "failed", began=600, ended=500)
    leave_files(ctx, put_run(ctx, "left-files", "completed", began=900, ended=800))
    put_run(ctx, "slow", "running", began=2 * HOUR, heard=1)
    put_run(ctx, "waits", "running", began=60, heard=1)
    let_die(ctx, "waits")
    rows = every(client, "/api/attention", limit=1)
    assert [row["id"] for row in rows] == ["waits", "young", "old", "slow", "left-files"]
    assert [row["severity"] for row in rows] == ["critical", "critical", "critical", "info", "warning"]


def test_what_is_at_work_is_told_oldest_first(client: TestClient, ctx: Context) -> None:
    put_run(ctx, "alone", "running", began=50, name="triage")
    put_run(ctx, "of-play", "running", began=40)
    put_play(ctx, "ledger", "writes", "running", session_id="of-play", started_at=NOW - 45)
    rows = every(client, "/api/executions", limit=1)
    assert [(row.pop("session_id"), row.pop("chain")[0], row.pop("state")["health"]) for row in rows] == [
        ("alone", "Running", "running"), ("of-play", "Running", "running"),
    ]  # fmt: skip
    assert rows == [
        {"subject": "session", "id": "alone", "title": "triage", "sessions": 1, "plays": 0, "since": NOW - 50,
         "leads_to": "/api/sessions/alone", "heard_at": NOW - 50},
        {"subject": "show", "id": "ledger", "title": "ledger", "sessions": 1, "plays": 1, "since": NOW - 45,
         "leads_to": "/api/shows/ledger", "heard_at": NOW - 40},
    ]  # fmt: skip


def test_a_play_that_a_gate_refused_is_told_with_what_the_gate_said(client: TestClient, ctx: Context) -> None:
    start_run(ctx, "attempt")
    put_play(
        ctx, "ledger", "refused", "gate_failed", session_id="attempt", attempt=2, started_at=NOW - 90,
        ended_at=NOW - 60, gate_feedback="No test fails without it.",
    )  # fmt: skip
    put_play(ctx, "ledger", "yesterday", "gate_failed", ended_at=NOW - 24 * HOUR)
    assert get(client, "/api/request-changes") == {
        "items": [
            {"topic": "ledger", "name": "refused", "status": "gate_failed", "attempt": 2, "session_id": "attempt",
             "started_at": NOW - 90, "ended_at": NOW - 60, "gate_feedback": "No test fails without it.",
             "leads_to": "/api/shows/ledger/plays/refused"},
        ],
        "next_cursor": None,
    }  # fmt: skip


@pytest.mark.parametrize("address", ["/api/attention", "/api/executions", "/api/request-changes"])
@pytest.mark.parametrize(
    "parameters", [{"cursor": "nonsense"}, {"cursor": "eyJhIjoxfQ"}, {"limit": "0"}, {"limit": "100000"}]
)
def test_a_page_that_cannot_be_is_refused(client: TestClient, address: str, parameters: dict[str, str]) -> None:
    answer = client.get(address, params=parameters)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_an_unknown_signal_is_told_the_known_ones(client: TestClient) -> None:
    answer = client.get("/api/attention", params={"signal": "bored"})
    assert answer.status_code == 422
    assert "'stale'" in answer.json()["message"]
    assert "'gate_failed'" in answer.json()["message"]
