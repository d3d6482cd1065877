"""Streams as a load on the server: how many there may be, who is let go, and how they end."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import httpx2
import psycopg
import pytest

from lionstudio.server import live
from lionstudio.server.app import create_app
from lionstudio.server.serving import StudioServer, listen
from lionstudio.server.threads import WRITES
from lionstudio.services import messages
from lionstudio.services.context import Context
from lionstudio.settings import Settings, load_settings
from tests.factories import line_of, start_run, user_says
from tests.postgres_server import PostgresServer
from tests.server.sse import EventReader
from tests.waiting import wait_until

EVENTS = "/api/events"
RUN = "/api/sessions/run-1"
STREAM = f"{RUN}/stream"
LINE = line_of("run-1")


@contextmanager
def serving(settings: Settings) -> Iterator[tuple[str, StudioServer, threading.Thread]]:
    """A server that a test may stop by itself."""
    sock = listen("127.0.0.1", 0)
    ready = threading.Event()
    server = StudioServer(create_app(settings), ready.set)
    thread = threading.Thread(target=server.serve_on, args=(sock,))
    thread.start()
    assert ready.wait(20)
    try:
        yield f"http://127.0.0.1:{sock.getsockname()[1]}", server, thread
    finally:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()


def streams(url: str) -> int:
    return int(httpx2.get(f"{url}/api/ready").json()["streams"])


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_one_stream_too_many_is_refused_in_the_one_shape(
    studio_url: str, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "STREAMS_AT_ONCE", 3)
    start_run(ctx)
    readers = [EventReader(studio_url, path) for path in (EVENTS, STREAM, EVENTS)]
    for reader in readers:
        next(reader.events())
    for path in (EVENTS, STREAM):
        refused = httpx2.get(f"{studio_url}{path}")
        assert (refused.status_code, refused.json()["code"]) == (503, "too_many_streams")
        assert set(refused.json()) == {"code", "message", "hint"}
        assert refused.headers["Retry-After"] == "1"
    readers.pop().close()
    wait_until(lambda: streams(studio_url) == 2)
    with EventReader(studio_url, EVENTS) as reader:
        assert next(reader.events()).name == "id"
    for reader in readers:
        reader.close()


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_a_reader_that_goes_away_leaves_nothing_behind(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    open_files = len(os.listdir("/proc/self/fd"))
    for _ in range(30):
        for path in (EVENTS, STREAM):
            with EventReader(studio_url, path) as reader:
                next(reader.events())
    wait_until(lambda: streams(studio_url) == 0)
    wait_until(lambda: len(os.listdir("/proc/self/fd")) <= open_files + 5)


def test_a_reader_that_never_reads_holds_nobody_up_and_is_let_go(
    studio_url: str, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "STUCK_AFTER", 0.3)
    start_run(ctx)
    with (
        EventReader(studio_url, STREAM, buffer=4096) as stuck,
        EventReader(studio_url, STREAM) as other,
        EventReader(studio_url, EVENTS) as third,
    ):
        heard, everything = other.events(), third.events()
        assert (next(heard).name, next(everything).name) == ("state", "id")
        wait_until(lambda: streams(studio_url) == 3)
        for number in range(60):
            messages.append_message(ctx, LINE, user_says("x" * 200_000, id=f"m{number}"))
            assert next(event for event in heard if event.name == "message").data["message"]["id"] == f"m{number}"
        wait_until(lambda: streams(studio_url) == 2)
        events = stuck.events()  # what was on its way comes, and then the line is cut
        got = [event.data["message"]["id"] for event in events if event.name == "message"]
        assert got == [f"m{number}" for number in range(len(got))]
        assert len(got) < 60
        assert not stuck.is_whole


def test_the_end_of_the_server_ends_every_stream_in_good_order(studio_settings: Settings, ctx: Context) -> None:
    start_run(ctx)
    with serving(studio_settings) as (url, server, thread):
        readers = [EventReader(url, path) for path in (EVENTS, STREAM) * 10]
        events = [reader.events() for reader in readers]
        for stream in events:
            next(stream)
        messages.append_message(ctx, LINE, user_says("last", id="last"))
        for stream in events:
            assert next(event for event in stream if event.name in {"message", "change"})
        began = time.monotonic()
        server.stop()
        for reader, stream in zip(readers, events, strict=True):
            list(stream)
            assert reader.is_whole
            reader.close()
        thread.join(20)
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_not_even_a_reader_that_never_reads_delays_the_end_for_long(studio_settings: Settings, ctx: Context) -> None:
    start_run(ctx)
    messages.append_messages(ctx, LINE, [user_says("x" * 200_000) for _ in range(60)])
    with serving(studio_settings) as (url, server, thread), EventReader(url, STREAM, buffer=4096):
        wait_until(lambda: streams(url) == 1)
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_writers_that_wait_for_the_database_do_not_delay_the_end_and_are_told(
    studio_settings: Settings, ctx: Context, location: str, caplog: pytest.LogCaptureFixture
) -> None:
    start_run(ctx)
    said = {"role": "user", "content": "x"}
    other = apsw.Connection(location)
    other.set_busy_timeout(10_000)  # the doctor writes at its start
    with serving(studio_settings) as (url, server, thread), ThreadPoolExecutor(50) as clients:
        other.execute("BEGIN IMMEDIATE")
        calls = [clients.submit(httpx2.post, f"{url}{RUN}/messages", json=said, timeout=30) for _ in range(45)]
        wait_until(lambda: WRITES.busy == 40)
        began = time.monotonic()
        server.stop()
        thread.join(20)
        assert time.monotonic() - began < 10
        # Those that no thread had taken up may not even have been heard, and are cut off.
        answers = [call.result() for call in calls if not isinstance(call.exception(), httpx2.TransportError)]
    other.close()
    assert len(answers) >= 40
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} <= {
        (503, "ending"),
        (503, "database_busy"),
    }
    assert all(answer.headers["Retry-After"] for answer in answers)
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("location", ["postgres"], indirect=True)  # nobody can take a file from who has it open
def test_a_database_that_goes_away_breaks_streams_off_and_is_said(
    studio_settings: Settings,
    ctx: Context,
    postgres: PostgresServer,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "BEAT_EVERY", 0.05)  # a stream looks again after each
    start_run(ctx)
    name = psycopg.conninfo.conninfo_to_dict(studio_settings.db)["dbname"]
    with serving(studio_settings) as (url, _, _), EventReader(url, STREAM) as reader:
        events = reader.events()
        next(events)
        ctx.db.close()
        postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")
        with suppress(ConnectionResetError):
            # What it had read before may still come; that the run has ended, or must be read again, is not said.
            assert {event.name for event in events} <= {"comment", "state"}
        assert not reader.is_whole
        answer = httpx2.get(f"{url}/api/sessions")
        assert (answer.status_code, answer.json()["code"]) == (503, "database_gone")
        wait_until(lambda: httpx2.get(f"{url}/api/ready").json()["feed_problem"])
    assert "a stream was broken off" in caplog.text
    assert "Traceback" not in caplog.text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a database is that loses its place for a while."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def problem_of(url: str) -> str | None:
    problem: str | None = httpx2.get(f"{url}/api/ready").json()["feed_problem"]
    return problem


@contextmanager
def moved_away(folder: Path, url: str) -> Iterator[None]:
    """The folder under another name, until the follower has seen that."""
    away = folder.with_name("away")
    folder.rename(away)
    wait_until(lambda: problem_of(url) is not None)
    yield
    away.rename(folder)


def test_the_feed_goes_on_when_the_folder_is_back(
    folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(live, "TRY_AGAIN_AFTER", 0.05)
    with serving(load_settings(db=str(folder / "state.db"))) as (url, _, _):
        httpx2.post(f"{url}/api/sessions", json={"id": "run-1"}).raise_for_status()
        with moved_away(folder, url):
            assert httpx2.get(f"{url}{EVENTS}").status_code == 503  # better than to begin at a number that is not so
        wait_until(lambda: problem_of(url) is None)
        with EventReader(url, EVENTS) as reader:
            events = reader.events()
            assert (start := next(events)).id not in {None, "0"}
            httpx2.post(f"{url}/api/sessions/run-1/messages", json={"role": "user", "content": "x"}).raise_for_status()
            assert int(next(event for event in events if event.name == "change").id or "") > int(start.id or "")
    assert caplog.text.count("the live feed cannot be read") == 1
    assert "Traceback" not in caplog.text


def test_a_feed_that_stands_still_hides_no_news(folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "TRY_AGAIN_AFTER", 600.0)
    monkeypatch.setattr(live, "BEAT_EVERY", 0.05)
    with serving(load_settings(db=str(folder / "state.db"))) as (url, _, _):
        httpx2.post(f"{url}/api/sessions", json={"id": "run-1"}).raise_for_status()
        with moved_away(folder, url):
            pass
        with EventReader(url, EVENTS) as reader:
            events = reader.events()
            next(events)
            said = {"id": "m-1", "role": "user", "content": "x"}
            httpx2.post(f"{url}/api/sessions/run-1/messages", json=said).raise_for_status()
            told = next(event for event in events if event.name == "change")
            while told.data["id"] != "m-1":
                told = next(event for event in events if event.name == "change")


def test_a_topic_of_a_newer_program_is_passed_on(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    with EventReader(studio_url, f"{EVENTS}?after=0") as reader, EventReader(studio_url, STREAM) as run:
        with ctx.db.write() as tx:
            tx.run("INSERT INTO changes (at, topic, entity_id, session_id) VALUES (1, 'novelty', 'x', 'run-1')")
        messages.append_message(ctx, LINE, user_says("x", id="m-1"))
        topics = (event.data["topic"] for event in reader.events() if event.name == "change")
        assert [next(topics) for _ in range(3)] == ["session", "novelty", "message"]
        assert next(event for event in run.events() if event.name == "message").data["message"]["id"] == "m-1"
    assert problem_of(studio_url) is None
