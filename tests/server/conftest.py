"""The server, asked as a client would: in this process for single requests, on a real socket for streams."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lionstudio.server.app import create_app
from lionstudio.server.guard import Door
from lionstudio.server.serving import StudioServer, listen
from lionstudio.services import change_feed
from lionstudio.settings import Settings, load_settings
from tests.factories import Clock
from tests.waiting import wait_until

BASE = "http://127.0.0.1:8765"


@pytest.fixture
def studio_settings(location: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings that name the database of `ctx`, once for each engine."""
    monkeypatch.setenv("LIONAGI_DB", location)
    monkeypatch.setattr(change_feed, "LOOK_EVERY", 0.05)  # the end of a test waits for the feed's next look
    return load_settings()


@pytest.fixture
def client(studio_settings: Settings, clock: Clock) -> Iterator[TestClient]:
    """A client of the whole application; `ctx` is the same database and the same clock."""
    with TestClient(create_app(studio_settings, now=clock), base_url=BASE) as client:
        yield client


@pytest.fixture
def guarded(studio_settings: Settings) -> Iterator[TestClient]:
    """A client of a server that others can reach, and which wants the token `secret`."""
    door = Door("0.0.0.0", frozenset({"studio.example"}), "secret")
    with TestClient(create_app(studio_settings, door), base_url="http://192.0.2.1:8765") as client:
        yield client


@pytest.fixture
def studio_url(studio_settings: Settings) -> Iterator[str]:
    """The address of a server that runs in a thread of its own, on a real socket and with the real clock."""
    sock = listen("127.0.0.1", 0)
    ready, app = threading.Event(), create_app(studio_settings)
    server = StudioServer(app, ready.set)
    thread = threading.Thread(target=server.serve_on, args=(sock,))
    thread.start()
    assert ready.wait(20)
    wait_until(lambda: app.state.studio.doctor.report().last_round)  # whose news would come among those of the test
    yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    server.stop()
    thread.join(20)
    assert not thread.is_alive()
