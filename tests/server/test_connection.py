"""Connections that send no request, too much of one, or take no answer: none of them may hold the server up."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from lionstudio.server import connection, downloads, guard, live
from lionstudio.services import messages
from lionstudio.services.context import Context
from tests.factories import line_of, start_run, user_says
from tests.waiting import wait_until

pytestmark = pytest.mark.parametrize("location", ["sqlite"], indirect=True)  # no database is asked

HEAD = b"GET /api/ready HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


@pytest.fixture
def location(sqlite_path: Path) -> str:
    """One database is enough: the door stands before it."""
    return str(sqlite_path)


def connect(url: str, *, buffer: int | None = None) -> socket.socket:
    address = urlsplit(url)
    sock = socket.socket()
    if buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    sock.settimeout(20)
    sock.connect((address.hostname, address.port))
    return sock


def read_all(sock: socket.socket) -> bytes:
    """Everything until the other side hangs up."""
    got = b""
    with suppress(ConnectionResetError):
        while piece := sock.recv(1 << 20):
            got += piece
    return got


def error_in(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["code"]


@pytest.fixture
def sock(studio_url: str) -> Iterator[socket.socket]:
    with closing(connect(studio_url)) as sock:
        yield sock


@pytest.mark.parametrize(
    ("begin", "more"),
    [
        (b"GET /", b"a" * 10_000),
        (HEAD + b"X-Long: ", b"a" * 10_000),
        (HEAD, b"X-Another: one\r\n" * 1_000),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"X-Another: one\r\n" * 1_000),
    ],
    ids=["address", "header", "headers", "trailers"],
)
def test_a_head_that_never_ends_is_broken_off(sock: socket.socket, begin: bytes, more: bytes) -> None:
    sock.sendall(begin)
    sent = 0
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        while sent < 100_000_000:
            sock.sendall(more)
            sent += len(more)


def test_a_head_that_is_too_large_is_told_so(sock: socket.socket) -> None:
    sock.sendall(b"GET /" + b"a" * connection.HEAD_LIMIT)  # no more than is read, so that the answer is not lost
    assert error_in(read_all(sock)) == (431, "head_too_large")


def test_a_head_that_does_not_come_to_its_end_is_given_up(studio_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)
    with closing(connect(studio_url)) as slow, closing(connect(studio_url)) as silent:
        slow.sendall(HEAD)
        assert error_in(read_all(slow)) == (408, "head_too_slow")
        assert read_all(silent) == b""


def test_a_body_that_comes_in_crumbs_is_given_up(studio_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "WHOLE_BODY_SECONDS", 0.5)
    with closing(connect(studio_url)) as sock:
        sock.sendall(POST + b"Content-Length: 1000000\r\n\r\n{")
        sock.settimeout(0.05)
        got = b""
        give_up = time.monotonic() + 20
        while not got and time.monotonic() < give_up:
            with suppress(TimeoutError):
                got = sock.recv(65_536)
            if not got:
                sock.sendall(b" ")  # each comes well within the time for the next part
        assert error_in(got) == (408, "body_too_slow")


def test_a_second_request_is_given_up_like_a_first(studio_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)
    with closing(connect(studio_url)) as sock:
        sock.sendall(HEAD + b"\r\n")
        assert sock.recv(65_536).startswith(b"HTTP/1.1 200")
        sock.sendall(HEAD)
        assert b"HTTP/1.1 408" in read_all(sock)


def test_what_is_asked_behind_another_request_has_its_time(
    studio_url: str, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)
    start_run(ctx)
    with closing(connect(studio_url)) as sock:
        sock.sendall(HEAD + b"\r\n" + HEAD.replace(b"/api/ready", b"/api/sessions/run-1/stream") + b"\r\n")
        got = b""
        while b"text/event-stream" not in got:
            got += sock.recv(65_536)
        sock.settimeout(1.0)
        with pytest.raises(TimeoutError):  # nothing more to tell, and nobody hangs up
            while sock.recv(65_536):
                continue
            pytest.fail("it was cut off")


def test_one_request_too_many_is_refused_in_the_one_shape(studio_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUESTS_AT_ONCE", 0)
    refused = httpx2.get(f"{studio_url}/api/ready")
    assert (refused.status_code, refused.json()["code"]) == (503, "too_many_requests")
    assert set(refused.json()) == {"code", "message", "hint"}
    assert (refused.headers["Retry-After"], refused.headers["Connection"]) == ("1", "close")


def test_connections_without_a_request_are_no_requests(studio_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "REQUESTS_AT_ONCE", 1)
    silent = [connect(studio_url) for _ in range(20)]
    assert httpx2.get(f"{studio_url}/api/ready").status_code == 200
    for sock in silent:
        sock.close()


@pytest.mark.parametrize("path", ["/api/sessions/run-1/messages", "/api/admin/export"])
def test_a_reader_that_takes_no_answer_is_let_go(
    studio_url: str, ctx: Context, path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(live, "STUCK_AFTER", 0.2)
    monkeypatch.setattr(downloads, "STUCK_AFTER", 0.2)
    start_run(ctx)
    messages.append_message(ctx, line_of("run-1"), user_says("x" * 30_000_000))
    with closing(connect(studio_url, buffer=4096)) as stuck:
        stuck.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        wait_until(lambda: "took nothing" in caplog.text)
        assert len(read_all(stuck)) < 30_000_000
    assert "Traceback" not in caplog.text


BODY = b'{"id": "run-7"}'
H2C = b"Connection: keep-alive, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\n"


def answers_in(sock: socket.socket, count: int) -> list[tuple[int, Any]]:
    """So many answers of one connection: their status, and their body as JSON."""
    lines, found = sock.makefile("rb"), []
    for _ in range(count):
        status = int(lines.readline().split()[1])
        headers = dict(line.lower().split(b": ", 1) for line in iter(lines.readline, b"\r\n"))
        found.append((status, json.loads(lines.read(int(headers[b"content-length"])))))
    return found


@pytest.mark.parametrize(
    ("length", "body"),
    [
        pytest.param(b"Content-Length: 15\r\n", BODY, id="length"),
        pytest.param(b"Transfer-Encoding: chunked\r\n", b"f\r\n" + BODY + b"\r\n0\r\n\r\n", id="chunks"),
    ],
)
@pytest.mark.parametrize("in_parts", [False, True], ids=["at once", "in parts"])
@pytest.mark.parametrize("offer", [H2C, b"Connection: Upgrade\r\nUpgrade: websocket\r\n"], ids=["h2c", "websocket"])
def test_who_offers_another_protocol_is_served_in_this_one_with_the_body(
    studio_url: str, caplog: pytest.LogCaptureFixture, length: bytes, body: bytes, in_parts: bool, offer: bytes
) -> None:
    with closing(connect(studio_url)) as sock:
        for part in (POST + offer + length + b"\r\n", body) if in_parts else (POST + offer + length + b"\r\n" + body,):
            sock.sendall(part)
        ((status, started),) = answers_in(sock, 1)
        assert (status, started["id"]) == (201, "run-7")
        sock.sendall(HEAD + offer + b"\r\n" + HEAD + b"Connection: close\r\n\r\n")
        assert [status for status, _ in answers_in(sock, 2)] == [200, 200]
        assert read_all(sock) == b""
    assert caplog.records == []


def test_thousands_of_offers_at_once_are_as_good_as_one(sock: socket.socket) -> None:
    sock.sendall((HEAD + H2C + b"\r\n") * 3_000)
    assert {status for status, _ in answers_in(sock, 3_000)} == {200}


def test_a_dry_run_is_one_whatever_else_is_offered(studio_url: str, ctx: Context) -> None:
    archive = POST.replace(b"/api/sessions", b"/api/admin/legacy/archive")
    with closing(connect(studio_url)) as sock:
        sock.sendall(archive + H2C + b'Content-Length: 17\r\n\r\n{"dry_run": true}')
        ((status, planned),) = answers_in(sock, 1)
    assert (status, planned["dry_run"]) == (200, True)


@pytest.mark.parametrize(
    "request_",
    [
        POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        POST + b"Content-Length: -1\r\n\r\n{}",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"FOO / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",  # the beginning of TLS
    ],
    ids=["two ways", "two lengths", "no length", "no chunk", "method", "version", "https"],
)
def test_what_is_no_http_is_told_so_in_the_one_shape(sock: socket.socket, request_: bytes) -> None:
    sock.sendall(request_)
    ((status, told),) = answers_in(sock, 1)
    assert (status, told["code"], set(told)) == (400, "malformed_request", {"code", "message", "hint"})
    assert read_all(sock) == b""


def test_no_tunnel_is_made(sock: socket.socket) -> None:
    sock.sendall(b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n")
    ((status, told),) = answers_in(sock, 1)
    assert (status, told["code"]) == (405, "method_not_allowed")


def test_who_hangs_up_behind_several_requests_is_no_error(
    studio_url: str, ctx: Context, caplog: pytest.LogCaptureFixture
) -> None:
    start_run(ctx)
    said = b'{"role": "user", "content": "hi"}'
    one = POST.replace(b"/sessions", b"/sessions/run-1/messages") + b"Content-Length: 33\r\n\r\n" + said
    for _ in range(20):
        with closing(connect(studio_url)) as sock:
            sock.sendall(one * 3)
    wait_until(lambda: len(messages.list_messages(ctx, "run-1")) >= 20)  # the first of each had begun
    assert httpx2.get(f"{studio_url}/api/ready").status_code == 200
    assert caplog.records == []


@pytest.mark.parametrize("says_how_long", [True, False])
def test_who_sends_too_much_hears_so_after_the_last_byte(studio_url: str, says_how_long: bool) -> None:
    address = urlsplit(studio_url)
    client = http.client.HTTPConnection(str(address.hostname), address.port, timeout=20)
    part = b" " * 1_000_000
    size = {"Content-Length": "20000000"} if says_how_long else {"Transfer-Encoding": "chunked"}
    headers = {"Content-Type": "application/json", **size}
    client.request("POST", "/api/sessions", iter([part] * 20), headers, encode_chunked=not says_how_long)
    answer = client.getresponse()
    assert (answer.status, json.load(answer)["code"]) == (413, "body_too_large")
    client.close()


def test_who_asks_before_sending_too_much_need_not_send_it(sock: socket.socket) -> None:
    sock.sendall(POST + b"Content-Length: 20000000\r\nExpect: 100-continue\r\n\r\n")
    assert error_in(read_all(sock)) == (413, "body_too_large")


def test_bodies_that_wait_take_no_more_memory_than_they_may(studio_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODIES_LIMIT", 1_000)
    address = f"{studio_url}/api/sessions"
    with closing(connect(studio_url)) as slow:
        slow.sendall(POST + b"Content-Length: 1000\r\n\r\n" + b" " * 980)
        wait_until(lambda: httpx2.post(address, json={"name": "x" * 100}).status_code == 503)
        refused = httpx2.post(address, json={"name": "x" * 100})
        assert (refused.json()["code"], refused.headers["Retry-After"]) == ("too_many_requests", "1")
        slow.sendall(b" " * 5 + BODY)
        assert [status for status, _ in answers_in(slow, 1)] == [201]
    assert httpx2.post(address, json={"name": "x" * 100}).status_code == 201
