"""The short way of a message: it takes what the framework's way takes, refuses what that refuses, and says the same."""

import logging
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from lionstudio.services import messages
from lionstudio.services.context import Context
from tests.factories import start_run

JSON = {"Content-Type": "application/json"}
SAID = "/api/sessions/run-1/messages"

DEEP = b"[" * 300 + b"]" * 300
BODIES = {
    "one": b'{"role": "user", "content": "hi"}',
    "spaces around it": b' \r\n\t{"role": "user", "content": "hi"} ',
    "every field": b'{"role": "action", "content": {"function": "sh", "arguments": {}}, "created_at": 5, "sender": "a",'
    b' "recipient": "b", "channel": "c", "lion_class": "X", "node_metadata": {"usage": {"output_tokens": 3}}}',
    "a list": b'[{"role": "user", "content": 1}, {"role": "user", "content": [null, true, 1.5, {"a": "\\u0000"}]}]',
    "a list behind spaces": b'\n [{"role": "user", "content": "hi"}]',
    "an empty list": b"[]",
    "half a character": b'{"role": "user", "content": "\\ud83d"}',
    "a long number": b'{"role": "user", "content": 123456789012345678901234567890}',
    "a number with an exponent": b'{"role": "user", "content": 1E400}',
    "no number": b'{"role": "user", "content": NaN}',
    "deep": b'{"role": "user", "content": ' + DEEP + b"}",
    "a name twice": b'{"role": "system", "content": "first", "role": "user", "content": "second"}',
    "another encoding": '{"role": "user", "content": "häh"}'.encode("utf-16"),
    "a mark of its encoding": b'\xef\xbb\xbf{"role": "user", "content": "hi"}',
    "no encoding": b'{"role": "user", "content": "\xff"}',
    "a time as text": b'{"role": "user", "content": "hi", "created_at": "5.5"}',
    "a time that is none": b'{"role": "user", "content": "hi", "created_at": true}',
    "a time in milliseconds": b'{"role": "user", "content": "hi", "created_at": 1893456000000}',
    "an id that is none": b'{"role": "user", "content": "hi", "id": "../x"}',
    "a branch that is not there": b'{"role": "user", "content": "hi", "branch_id": "b-9"}',
    "no role": b'{"content": "hi"}',
    "a role that is a number": b'{"role": 5, "content": "hi"}',
    "an unknown field": b'{"role": "user", "content": "hi", "rule": 1}',
    "a wrong one among good ones": b'[{"role": "user", "content": 1}, {"role": ""}, {"content": 2}]',
    "too many": b"[" + b",".join([b'{"role": "user", "content": 1}'] * 1_001) + b"]",
    "over a megabyte": b'{"role": "user", "content": "' + b"x" * 1_100_000 + b'"}',
    "over a megabyte and wrong": b'{"role": "", "content": "' + b"x" * 1_100_000 + b'"}',
    "text": b'"hi"',
    "null": b"null",
    "nothing": b"",
    "half of it": b'{"role": "user", "content": "h',
    "more behind it": b'{"role": "user", "content": "hi"} x',
}


@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in BODIES.items()])
def test_both_ways_take_and_say_the_same(client: TestClient, ctx: Context, body: bytes) -> None:
    start_run(ctx, "run-1")
    (short, stored), (usual, stored_too) = _send(client, ctx, body), _send(_on_the_usual_way(client), ctx, body)
    assert short.status_code == usual.status_code in {201, 404, 422}
    assert stored == stored_too
    if short.status_code == 201:
        assert len(short.json()["ids"]) == len(usual.json()["ids"]) == len(stored)
    else:
        assert (short.text, stored) == (usual.text, [])


@pytest.mark.parametrize("session_id", ["run-2", "run%2F1", "a/b", "", "/", "x" * 201, "é", "s%0A"])
def test_both_ways_say_the_same_of_a_run_that_is_not_there(client: TestClient, ctx: Context, session_id: str) -> None:
    path = f"/api/sessions/{session_id}/messages"
    short = client.post(path, json={"role": "user", "content": "hi"})
    usual = _on_the_usual_way(client).post(path, json={"role": "user", "content": "hi"})
    assert (short.status_code, short.text) == (usual.status_code, usual.text)
    assert short.status_code in {404, 422}


def test_an_address_without_a_run_is_not_taken_for_one(client: TestClient) -> None:
    assert client.post("/api/sessions/messages", json={"role": "user", "content": "hi"}).status_code == 405


def _send(client: TestClient, ctx: Context, body: bytes) -> tuple[Any, list[tuple[Any, ...]]]:
    """The answer, and what is stored since as it is stored."""
    before = len(messages.list_messages(ctx, "run-1"))
    answer = client.post(SAID, content=body, headers=JSON)
    found = messages.list_messages(ctx, "run-1", after=before, limit=2_000)
    return answer, [(*one._replace(id="", position=None),) for one in found]


def _on_the_usual_way(client: TestClient) -> TestClient:
    assert isinstance(client.app, FastAPI)
    client.app.router.middleware_stack = client.app.router.app
    return client


def test_who_hangs_up_in_the_middle_of_a_message_stores_nothing_and_is_no_error(
    studio_url: str, ctx: Context, caplog: pytest.LogCaptureFixture
) -> None:
    start_run(ctx, "run-1")
    address = urlsplit(studio_url)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            with socket.create_connection((address.hostname, address.port)) as sock:
                head = f"POST {SAID} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
                sock.sendall(f'{head}Content-Length: 33\r\n\r\n{{"role": "user"'.encode())
        assert httpx2.get(f"{studio_url}/api/ready").status_code == 200  # it came later, so they were seen before
    assert messages.list_messages(ctx, "run-1") == []
    assert caplog.records == []
