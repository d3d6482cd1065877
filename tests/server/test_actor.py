"""Who acts: a name that comes in a header, for the audit log."""

import pytest
from starlette.testclient import TestClient

EXPORT, EVENTS = "/api/admin/export", "/api/admin/events"


def act_as(client: TestClient, header: bytes) -> list[str]:
    """Do something under this name; the names in the log."""
    assert client.get(EXPORT, headers={"X-Lionstudio-Actor": header}).status_code == 200
    return [event["actor"] for event in client.get(EVENTS, params={"action": "export"}).json()["items"]]


@pytest.mark.parametrize("name", ["ana", "Jos\u00e9 \u0141.", "\u738b\u5c0f\u660e", "O'Brien"])
def test_a_name_arrives_as_it_was_sent(client: TestClient, name: str) -> None:
    assert act_as(client, name.encode()) == [name]


def test_a_name_in_an_old_encoding_arrives_too(client: TestClient) -> None:
    assert act_as(client, "Jos\u00e9".encode("latin-1")) == ["Jos\u00e9"]


@pytest.mark.parametrize("header", [b"", b"   ", "a\u202eb".encode(), b"a\x01b"])
def test_what_is_no_name_is_the_admin(client: TestClient, header: bytes) -> None:
    assert act_as(client, header) == ["admin"]


@pytest.mark.parametrize("name", ["doctor_auto", " Doctor_Auto ", "run"])
def test_nobody_passes_for_the_doctor_or_for_the_run(client: TestClient, name: str) -> None:
    answer = client.post("/api/admin/checkpoint", headers={"X-Lionstudio-Actor": name})
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"
    assert "Give your own name" in answer.json()["hint"]
    assert client.get(EVENTS, params={"action": "checkpoint"}).json()["items"] == []


def test_a_name_of_many_bytes_is_refused(client: TestClient) -> None:
    answer = client.post("/api/admin/checkpoint", headers={"X-Lionstudio-Actor": "a" * 101})
    assert answer.status_code == 422
