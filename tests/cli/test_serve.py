"""`li studio`: what it refuses before it listens, and how it can be reached afterwards."""

import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.conftest import run_li

TOKEN = "0123456789abcdef"
SAID = "Lion Studio is at "


@contextmanager
def serving(home: Path, *words: str, **variables: str) -> Iterator[str]:
    """A studio that listens on a free port; the address that it tells."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "studio", "--port", "0", *words],
        env={**os.environ, "LIONAGI_HOME": str(home), **variables},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        told = process.stderr.readline()
        assert told.startswith(SAID), told + process.stderr.read()
        yield told.removeprefix(SAID).strip()
    finally:
        process.terminate()
        process.communicate(timeout=30)


def ask(address: str, host: str) -> int:
    """The status of an answer to a client that means this host; names are not looked up, for nobody may know ours."""
    port = urlsplit(address).port
    assert port is not None
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/api/ready", headers={"Host": host, "Authorization": f"Bearer {TOKEN}"})
    status = connection.getresponse().status
    connection.close()
    return status


def test_the_address_that_it_tells_is_one_that_it_answers_to(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0", LIONAGI_TOKEN=TOKEN) as address:
        assert urlsplit(address).hostname == socket.gethostname().lower()
        assert ask(address, urlsplit(address).netloc) == 200
        assert ask(address, "evil.example") == 403


def test_a_host_may_be_written_in_capitals(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "LOCALHOST", "--allow-host", "Studio.Example", LIONAGI_TOKEN=TOKEN) as address:
        assert ask(address, urlsplit(address).netloc) == 200
        assert ask(address, "STUDIO.example") == 200


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
    assert answer.code == 1
    assert str(tmp_path / name) in answer.err
    assert "Traceback" not in answer.err
