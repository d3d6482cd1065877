"""Connections that send no request, too much of one, or take no answer: none of them may hold the server up."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
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
