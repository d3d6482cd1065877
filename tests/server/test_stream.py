"""The stream of one run: its messages, its state, and its end."""

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from lionstudio.server import live
from lionstudio.services import branches, messages, sessions
from lionstudio.services.branches import BranchDraft
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context, new_line
from lionstudio.services.prune import delete_runs
from lionstudio.store import changes
from tests.factories import NOW, line_of, start_run, user_says
from tests.server.sse import Event, EventReader, messages_in
from tests.server.test_recording import ok, refused

STREAM = "/api/sessions/run-1/stream"
LINE = line_of("run-1")


def say(ctx: Context, *ids: str) -> None:
    messages.append_messages(ctx, LINE, [user_says(id, id=id) for id in ids])


def next_of(events: Iterator[Event], name: str) -> Event:
    """The next event of a name; comments and states on the way are passed over."""
    for event in events:
        if event.name == name:
            return event
        assert event.name in {"state", "comment"}, event
    raise AssertionError(f"The stream ended without {name}.")


def test_a_stream_brings_what_there_is_then_what_comes_then_the_end(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a", "b")
    with EventReader(studio_url, STREAM) as reader:
        events = reader.events()
        first, second, state = next(events), next(events), next(events)
        assert (first.name, first.data["message"]["id"], first.data["message"]["position"]) == ("message", "a", 1)
        assert (second.id, second.data["message"]["id"]) == (str(newest_number(ctx)), "b")
        assert (state.name, state.data["session"]["status"]) == ("state", "running")
        assert state.id is None  # it is no place among the messages
        assert state.data["session"]["message_count"] == 2
        say(ctx, "c")
        assert next_of(events, "message").data["message"]["id"] == "c"
        sessions.finish_session(ctx, "run-1", "failed", exit_code=3)
        assert next_of(events, "state").data["session"]["chain"][:2] == ["Failed", "exit 3"]
        assert list(events) == [Event("done", {"status": "failed", "deleted": False})]


def test_a_message_in_the_stream_is_the_one_in_the_list(studio_url: str, client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    branches.create_branch(ctx, BranchDraft(new_line("run-1")))
    messages.append_message(ctx, LINE, user_says("\ud800 \0 \n\r\u2028 data: x", node_metadata={"a": [1]}))
    sessions.finish_session(ctx, "run-1", "completed")
    with EventReader(studio_url, STREAM) as reader:
        (streamed,) = [event.data["message"] for event in reader.events() if event.name == "message"]
    (listed,) = ok(client.get("/api/sessions/run-1/messages"))["items"]
    assert streamed == listed


def test_the_headers_keep_everyone_between_from_holding_it_back(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    with EventReader(studio_url, STREAM) as reader:
        status, headers = reader.head()
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")
    assert "content-security-policy" in headers


def test_a_reader_goes_on_where_it_broke_off(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    say(ctx, *(f"m{number}" for number in range(9)))
    sessions.finish_session(ctx, "run-1", "completed")
    with EventReader(studio_url, STREAM) as reader:
        whole = [event for event in reader.events() if event.name == "message"]
    assert messages_in(whole) == [f"m{number}" for number in range(9)]
    for number, event in enumerate(whole, 1):
        for path, last_id in ((STREAM, event.id), (f"{STREAM}?after={event.id}", None)):
            with EventReader(studio_url, path, last_id) as reader:
                *rest, state, done = reader.events()
            assert (rest, state.name, done.name) == (whole[number:], "state", "done")
    # A browser that reconnects keeps the address it began with: what it has seen since is said by the header.
    with EventReader(studio_url, f"{STREAM}?after={whole[0].id}", whole[7].id) as reader:
        assert messages_in(list(reader.events())) == ["m8"]


def test_a_changed_message_is_sent_again(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a", "b")
    with EventReader(studio_url, STREAM) as reader:
        events = reader.events()
        assert [next_of(events, "message").data["message"]["id"] for _ in range(2)] == ["a", "b"]
        messages.append_message(ctx, LINE, user_says("mended", id="a"))
        again = next_of(events, "message")
        assert again.data["message"]["content"] == {"instruction": "mended"}
    with EventReader(studio_url, STREAM, again.id) as reader:
        say(ctx, "a")  # changed back
        say(ctx, "c")
        events = reader.events()
        assert [next_of(events, "message").data["message"]["id"] for _ in range(2)] == ["a", "c"]


def test_a_cursor_that_is_of_no_use_begins_again_after_a_reload(
    studio_url: str, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(ctx)
    say(ctx, *(f"m{number}" for number in range(9)))
    old = newest_number(ctx) - 5
    monkeypatch.setattr(changes, "KEEP_ROWS", 3)
    monkeypatch.setattr(changes, "TRIM_SLACK", 0)
    with ctx.db.write() as tx:
        changes.trim(tx, now=NOW + 10**9)
    for cursor in (str(old), f"{old}.4", "999999999", f"{newest_number(ctx)}.999"):
        with EventReader(studio_url, STREAM, cursor) as reader:
            events = reader.events()
            assert next(events) == Event("reload", {})
            assert [next_of(events, "message").data["message"]["id"] for _ in range(9)] == [f"m{n}" for n in range(9)]


def test_a_cursor_that_is_none_is_refused(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    for cursor in ("x", "-1", "1.x", "9" * 30, "1e3"):
        assert "no place in a stream" in refused(client.get(STREAM, params={"after": cursor}), 422, "invalid_request")
        refused(client.get(STREAM, headers={"Last-Event-ID": cursor}), 422, "invalid_request")
    refused(client.get(STREAM, params={"after": "9" * 51}), 422, "invalid_request")


def test_a_run_that_has_ended_is_streamed_to_its_end(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    expected = [f"m{number}" for number in range(450)]
    say(ctx, *expected)
    sessions.finish_session(ctx, "run-1", "completed")
    text = client.get(STREAM).text
    assert [line.split('"')[5] for line in text.splitlines() if line.startswith('data: {"message"')] == expected
    assert text.endswith('event: done\ndata: {"status":"completed","deleted":false}\n\n')


def test_a_quiet_stream_shows_that_it_lives(studio_url: str, ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    assert live.BEAT_EVERY == 5.0
    monkeypatch.setattr(live, "BEAT_EVERY", 0.05)
    start_run(ctx)
    with EventReader(studio_url, STREAM) as reader:
        events = reader.events()
        assert next(events).name == "state"
        assert [next(events).name for _ in range(3)] == ["comment"] * 3
        say(ctx, "a")
        assert next_of(events, "message").data["message"]["id"] == "a"


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_a_stream_that_is_woken_for_nothing_shows_that_it_lives(
    studio_url: str, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "BEAT_EVERY", 0.5)
    start_run(ctx)
    enough = threading.Event()

    def write_to_an_inbox() -> None:
        while not enough.is_set():
            messages.send_message(ctx, "run-1", user_says("x", recipient="ana"))

    writer = threading.Thread(target=write_to_an_inbox)
    with EventReader(studio_url, STREAM) as reader:
        events = reader.events()
        assert next(events).name == "state"
        writer.start()
        try:
            assert [next(events).name for _ in range(2)] == ["comment", "comment"]
        finally:
            enough.set()
            writer.join()


def test_the_stream_of_a_run_that_is_deleted_ends(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    with EventReader(studio_url, STREAM) as reader:
        events = reader.events()
        assert next_of(events, "state").data["session"]["id"] == "run-1"
        with ctx.db.write() as tx:
            delete_runs(ctx, tx, {"run-1": "running"}, "ana")
        assert list(events)[-1] == Event("done", {"status": None, "deleted": True})


def test_what_another_run_does_is_not_in_the_stream(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    start_run(ctx, "run-2")
    with EventReader(studio_url, STREAM) as reader:
        events = reader.events()
        assert next(events).name == "state"
        messages.append_message(ctx, line_of("run-2"), user_says("x"))
        sessions.finish_session(ctx, "run-2", "completed")
        say(ctx, "a")
        assert next(events).data["message"]["id"] == "a"


WRITER = """if True:
    import sys
    from lionstudio.services.context import Context
    from lionstudio.services.messages import append_message
    from lionstudio.store.open import open_database
    from tests.factories import line_of, user_says
    ctx = Context(open_database(sys.argv[1]))
    for line in sys.stdin:
        append_message(ctx, line_of("run-1"), user_says(line.strip(), id=line.strip()))
"""


def test_what_another_process_writes_comes_at_once(studio_url: str, ctx: Context, location: str) -> None:
    start_run(ctx)
    with (
        subprocess.Popen([sys.executable, "-c", WRITER, location], stdin=subprocess.PIPE, text=True) as writer,
        EventReader(studio_url, STREAM) as reader,
    ):
        assert writer.stdin is not None
        events = reader.events()
        for number in range(20):
            writer.stdin.write(f"m{number}\n")
            writer.stdin.flush()
            assert next_of(events, "message").data["message"]["id"] == f"m{number}"


def test_late_words_after_the_end_are_read_by_whoever_comes_later(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a")
    sessions.finish_session(ctx, "run-1", "completed")
    with EventReader(studio_url, STREAM) as reader:
        first = list(reader.events())
    say(ctx, "late")
    with EventReader(studio_url, STREAM, first[0].id) as reader:
        assert messages_in(list(reader.events())) == ["late"]
