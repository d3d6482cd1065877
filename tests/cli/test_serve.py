"""`li studio`: what it refuses before it listens, and how it can be reached afterwards."""

import contextlib
import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import run_li

TOKEN = "0123456789abcdef"
FORM = "application/x-www-form-urlencoded"
SAID = "Lion Studio is at "


class Studio:
    """`li studio` on a free port, in a process of its own, as programs and proxies meet it."""

    def __init__(self, home: Path, *words: str, **variables: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lionstudio", "studio", "--port", "0", *words],
            env={**os.environ, "LIONAGI_HOME": str(home), "LIONAGI_TOKEN": TOKEN, **variables},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        told = self._process.stderr.readline()
        if not told.startswith(SAID):
            raise AssertionError(told + self.stop())
        self.address = told.removeprefix(SAID).strip()
        self.port = urlsplit(self.address).port or 0

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: str | None = None, *, by: str = "127.0.0.1"
    ) -> http.client.HTTPResponse:
        """An answer, asked for from an address of this machine; names are not looked up, for nobody may know ours."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30, source_address=(by, 0))
        with contextlib.closing(connection):
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            answer.read()
        return answer

    def is_open_for(self, host: str) -> int:
        return self.ask("GET", "/api/ready", {"Host": host, "Authorization": f"Bearer {TOKEN}"}).status

    def log_in(self, token: str = TOKEN, *, by: str = "127.0.0.1", **headers: str) -> str | None:
        """The cookie that a browser gets."""
        said = {"Content-Type": FORM, "Host": "127.0.0.1"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        return self.ask("POST", "/login", said, f"token={token}", by=by).getheader("Set-Cookie")

    def stop(self) -> str:
        """End it; what it said meanwhile."""
        self._process.terminate()
        return self._process.communicate(timeout=30)[1]

    def __enter__(self) -> "Studio":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self.stop()


def test_the_address_that_it_tells_is_one_that_it_answers_to(tmp_path: Path) -> None:
    with Studio(tmp_path, "--host", "0.0.0.0") as studio:
        told = urlsplit(studio.address)
        assert told.hostname == socket.gethostname().lower()
        assert studio.is_open_for(told.netloc) == 200
        assert studio.is_open_for("evil.example") == 403


def test_a_host_may_be_written_in_capitals(tmp_path: Path) -> None:
    with Studio(tmp_path, "--host", "LOCALHOST", "--allow-host", "Studio.Example") as studio:
        assert studio.is_open_for(urlsplit(studio.address).netloc) == 200
        assert studio.is_open_for("STUDIO.example") == 200


def test_a_name_that_is_allowed_may_come_with_a_port(tmp_path: Path) -> None:
    with Studio(tmp_path, "--allow-host", "b.example:8443", "--allow-host", "c.example") as studio:
        for name in ("b.example", "b.example:8443", "c.example:1"):
            assert studio.is_open_for(name) == 200
        assert studio.is_open_for("evil.example:8443") == 403


def test_a_cookie_is_kept_from_scripts_and_behind_tls_from_open_lines(tmp_path: Path) -> None:
    """The word of a proxy on this machine counts, that of anybody else does not, whatever the environment says."""
    with Studio(tmp_path, FORWARDED_ALLOW_IPS="*") as studio:
        plain = studio.log_in()
        assert plain is not None
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(plain.split("; "))
        assert "Secure" not in plain.split("; ")
        assert TOKEN not in plain
        by_proxy = studio.log_in(X_Forwarded_Proto="https", X_Forwarded_For="192.0.2.7")
        assert by_proxy is not None
        assert "Secure" in by_proxy.split("; ")
        by_another = studio.log_in(X_Forwarded_Proto="https", by="127.0.0.2")
        assert by_another is not None
        assert "Secure" not in by_another.split("; ")


def test_every_answer_has_the_headers_that_keep_a_browser_safe(tmp_path: Path) -> None:
    with Studio(tmp_path) as studio:
        for method, path in (("GET", "/login"), ("GET", "/api/ready"), ("GET", "/"), ("POST", "/nothing")):
            answer = studio.ask(method, path, {"Host": "127.0.0.1"})
            policy = (answer.getheader("Content-Security-Policy") or "").split("; ")
            assert {"default-src 'self'", "default-src 'none'"} & set(policy), path
            assert "frame-ancestors 'none'" in policy, path
            assert [part for part in policy if part.startswith("script-src")] in ([], ["script-src 'self'"]), path
            assert answer.getheader("X-Content-Type-Options") == "nosniff", path
            assert answer.getheader("Server") is None, path


def test_no_secret_is_ever_said(tmp_path: Path) -> None:
    """Whatever comes in, right or wrong, well formed or not: a log is read by others than who has the token."""
    with Studio(tmp_path) as studio:
        cookie = (studio.log_in() or "").partition(";")[0].partition("=")[2]
        assert cookie
        studio.log_in("wrong-but-nearly-right")
        here = {"Host": "127.0.0.1"}
        for headers in (
            {"Authorization": f"Bearer {TOKEN}"},
            {"Authorization": "Bearer wrong-but-nearly-right"},
            {"Cookie": f"lionstudio={cookie}"},
        ):
            for path in (f"/login?token={TOKEN}", f"/api/sessions?cursor={TOKEN}", f"/api/nothing?token={TOKEN}"):
                studio.ask("GET", path, {**here, **headers})
            studio.ask("POST", "/api/sessions", {**here, **headers, "Content-Type": "application/json"}, TOKEN)
        with socket.create_connection(("127.0.0.1", studio.port), 30) as line:
            line.sendall(f"GET /\x00 HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\nCookie {cookie}\r\n\r\n".encode())
            while line.recv(4_096):
                pass
        said = studio.stop()
    for secret in (TOKEN, cookie, "wrong-but-nearly-right"):
        assert secret not in said
    assert "Traceback" not in said


BAD_TOKENS = [
    pytest.param(b"x", id="so short that it is guessed"),
    pytest.param(b"0123456789 abcdef", id="with a space"),
    pytest.param("t\u00f6kenwith\u00fcnicode123".encode(), id="that no header can carry"),
    pytest.param(b"a" * 2_000, id="too long for the form"),
]


@pytest.mark.parametrize("token", BAD_TOKENS)
@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1"])
def test_a_token_of_the_environment_is_looked_at(
    home: Path, monkeypatch: pytest.MonkeyPatch, host: str, token: bytes
) -> None:
    monkeypatch.setenv("LIONAGI_TOKEN", os.fsdecode(token))
    answer = run_li("studio", "--host", host, "--port", "0")
    assert answer.code == 2
    assert answer.err.startswith("li: LIONAGI_TOKEN does not hold a token: 16 to 1,000 letters"), answer.err
    assert "openssl rand -hex 16" in answer.err


@pytest.mark.parametrize(
    "token", [*BAD_TOKENS, pytest.param(b"\xff\xfe\xff\xfe" * 10, id="not text"), pytest.param(b"", id="empty")]
)
def test_a_token_of_a_file_is_held_to_the_same_rule(home: Path, tmp_path: Path, token: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(token)
    answer = run_li("studio", "--token-file", str(file), "--port", "0")
    assert answer.code == 2
    assert f"{file} does not hold a token" in answer.err
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("name", ["nothing", "."])
def test_a_token_file_that_cannot_be_read_is_named(home: Path, tmp_path: Path, name: str) -> None:
    answer = run_li("studio", "--token-file", str(tmp_path / name), "--port", "0")
    assert answer.code == 2
    assert f"The token cannot be read from {tmp_path / name}" in answer.err
    assert "openssl rand -hex 16 >" in answer.err
    assert "Traceback" not in answer.err
