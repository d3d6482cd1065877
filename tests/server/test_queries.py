"""What an address is asked after its question mark: every name is known, and said once."""

import pytest
from starlette.testclient import TestClient

from lionstudio.server.answers import NOTHING_KNOWN
from lionstudio.server.app import create_app
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import finish_session, get_session
from lionstudio.settings import load_settings
from tests.factories import start_run
from tests.server.test_recording import ok, refused

DOCUMENT = create_app(load_settings({"HOME": "/nonexistent"})).openapi()
FILTERED = [
    pytest.param(way.upper(), path, sorted(names), id=operation["operationId"])
    for path, ways in DOCUMENT["paths"].items()
    for way, operation in ways.items()
    if path.startswith("/api/") and "text/event-stream" not in operation["responses"].get("200", {}).get("content", {})
    for names in [[one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]]
]


@pytest.mark.parametrize(("way", "path", "names"), FILTERED)
def test_a_name_that_nobody_knows_is_refused_with_those_that_are_known(
    client: TestClient, way: str, path: str, names: list[str]
) -> None:
    answer = client.request(way, path.replace("{", "").replace("}", ""), params={"dry_run": "true"})
    assert refused(answer, 422, "invalid_request") == "This address knows no 'dry_run'."
    assert answer.json()["hint"] == (f"It knows {', '.join(names)}." if names else NOTHING_KNOWN)


def test_a_wish_in_the_wrong_place_does_nothing(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    finish_session(ctx, "run-1", "completed")
    asked = {"session_ids": ["run-1"], "reason": "a test"}
    refused(client.post("/api/admin/prune?dry_run=true", json=asked), 422, "invalid_request")
    assert get_session(ctx, "run-1").status == "completed"
    said = {"role": "user", "content": "hi"}
    refused(client.post("/api/sessions/run-1/messages?branch=b", json=said), 422, "invalid_request")
    assert list_messages(ctx, "run-1") == []


def test_words_of_caches_and_of_readers_of_streams_change_nothing(client: TestClient) -> None:
    ok(client.get("/api/sessions?_=1&_nosuch=2"))
    ok(client.post("/api/sessions?_=1", json={"id": "run-1"}), 201)
    ok(client.post("/api/sessions/run-1/messages?_=1", json={"role": "user", "content": "hi"}), 201)
    ok(client.post("/api/sessions/run-1/finish", json={}))
    told = client.get("/api/sessions/run-1/stream?nosuch=1").text
    assert told.endswith("\n\n")  # it has ended, so it comes to an end


def test_a_filter_of_one_value_is_refused_when_it_is_given_twice(client: TestClient) -> None:
    twice = client.get("/api/sessions?status=running&status=failed")
    assert refused(twice, 422, "invalid_request") == "status is given several times, and takes one value."
    assert ok(client.get("/api/sessions?id=a&id=b"))["items"] == []
    assert ok(client.get("/api/plays?status=gated&status=merged"))["items"] == []
