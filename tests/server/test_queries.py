"""What an address is asked after its question mark: every name is known, and said once."""

import pytest
from starlette.testclient import TestClient

from lionstudio.server.app import create_app
from lionstudio.settings import load_settings
from tests.server.test_recording import ok, refused

DOCUMENT = create_app(load_settings({"HOME": "/nonexistent"})).openapi()
FILTERED = [
    pytest.param(way.upper(), path, sorted(names), id=operation["operationId"])
    for path, ways in DOCUMENT["paths"].items()
    for way, operation in ways.items()
    if path.startswith("/api/") and "text/event-stream" not in operation["responses"].get("200", {}).get("content", {})
    if (names := [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"])
]


@pytest.mark.parametrize(("way", "path", "names"), FILTERED)
def test_a_name_that_nobody_knows_is_refused_with_those_that_are_known(
    client: TestClient, way: str, path: str, names: list[str]
) -> None:
    answer = client.request(way, path.replace("{", "").replace("}", ""), params={"nosuch": "1"})
    assert refused(answer, 422, "invalid_request") == "This address knows no 'nosuch'."
    assert answer.json()["hint"] == f"It knows {', '.join(names)}."


def test_words_of_caches_and_where_nothing_is_filtered_change_nothing(client: TestClient) -> None:
    ok(client.get("/api/sessions?_=1&_nosuch=2"))
    ok(client.get("/api/ready?nosuch=1"))
    ok(client.post("/api/sessions?nosuch=1", json={"id": "run-1"}), 201)
    ok(client.post("/api/sessions/run-1/messages?nosuch=1", json={"role": "user", "content": "hi"}), 201)
    ok(client.post("/api/sessions/run-1/finish?nosuch=1", json={}))
    assert client.get("/api/sessions/run-1/stream?nosuch=1").text.endswith(
        "\n\n"
    )  # it has ended, so it comes to an end


def test_a_filter_of_one_value_is_refused_when_it_is_given_twice(client: TestClient) -> None:
    twice = client.get("/api/sessions?status=running&status=failed")
    assert refused(twice, 422, "invalid_request") == "status is given several times, and takes one value."
    assert ok(client.get("/api/sessions?id=a&id=b"))["items"] == []
    assert ok(client.get("/api/plays?status=gated&status=merged"))["items"] == []
