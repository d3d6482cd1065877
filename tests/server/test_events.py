"""The stream of everything: what changed, by number, and never a value."""

import pytest
from starlette.testclient import TestClient

from lionstudio.domain.change import Topic
from lionstudio.server import live
from lionstudio.services import branches, messages, sessions
from lionstudio.services.branches import BranchDraft
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context, new_line
from lionstudio.settings import Settings
from lionstudio.store import changes
from tests.factories import NOW, line_of, start_run, user_says
from tests.server.sse import Event, EventReader
from tests.server.test_live import serving
from tests.server.test_recording import refused

EVENTS = "/api/events"
LINE = line_of("run-1")


def test_a_reader_is_told_where_it_is_and_then_what_changes(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    with EventReader(studio_url, EVENTS) as reader:
        events = reader.events()
        where = next(events)
        assert (where.name, where.data) == ("id", None)
        start = int(where.id or "")
        # The follower may not have seen the first run yet, whose number is then the first that comes.
        if start < newest_number(ctx):
            start = int(next(events).id or "")
        messages.append_message(ctx, LINE, user_says("secret", id="m-1"))
        line = new_line("run-1")
        branches.create_branch(ctx, BranchDraft(line))
        sessions.finish_session(ctx, "run-1", "completed")
        assert [next(events) for _ in range(3)] == [
            Event("change", {"topic": "message", "id": "m-1", "session_id": "run-1"}, str(start + 1)),
            Event("change", {"topic": "branch", "id": line.branch_id, "session_id": "run-1"}, str(start + 2)),
            Event("change", {"topic": "session", "id": "run-1", "session_id": "run-1"}, str(start + 3)),
        ]


def test_a_change_that_belongs_to_no_run_says_so(studio_url: str, ctx: Context) -> None:
    with EventReader(studio_url, f"{EVENTS}?after=0") as reader:
        events = reader.events()
        assert next(events) == Event("id", None, "0")
        with ctx.db.write() as tx:
            tx.tell(Topic.TEAM, "te\u2028am", at=NOW)
        assert next(events).data == {"topic": "team", "id": "te\u2028am", "session_id": None}


def test_a_reader_goes_on_where_it_broke_off(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    for number in range(6):
        messages.append_message(ctx, LINE, user_says("x", id=f"m{number}"))
    newest = newest_number(ctx)
    for path, last_id in ((EVENTS, str(newest - 3)), (f"{EVENTS}?after={newest - 3}", None)):
        with EventReader(studio_url, path, last_id) as reader:
            events = reader.events()
            assert next(events).id == str(newest - 3)
            assert [next(events).data["id"] for _ in range(3)] == ["m3", "m4", "m5"]
    with EventReader(studio_url, f"{EVENTS}?after=0", str(newest - 1)) as reader:  # the header is newer
        events = reader.events()
        assert [next(events).name, next(events).data["id"]] == ["id", "m5"]


def test_more_than_a_page_comes_in_order(studio_url: str, ctx: Context) -> None:
    start_run(ctx)
    first = newest_number(ctx)
    messages.append_messages(ctx, LINE, [user_says("x", id=f"m{number}") for number in range(1_200)])
    with EventReader(studio_url, EVENTS, str(first)) as reader:
        events = reader.events()
        next(events)
        found = [next(events) for _ in range(1_200)]
    assert [event.data["id"] for event in found] == [f"m{number}" for number in range(1_200)]
    assert [event.id for event in found] == [str(first + number) for number in range(1, 1_201)]


def test_a_cursor_that_is_too_old_or_lies_ahead_means_reload(
    studio_settings: Settings, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(ctx)
    messages.append_messages(ctx, LINE, [user_says("x") for _ in range(9)])
    monkeypatch.setattr(changes, "KEEP_ROWS", 3)
    monkeypatch.setattr(changes, "TRIM_SLACK", 0)
    with ctx.db.write() as tx:
        changes.trim(tx, now=NOW + 10**9)
    newest = newest_number(ctx)
    with serving(studio_settings) as (url, _, _):  # begun later, it remembers nothing by itself
        for cursor in ("0", "999999999999"):
            with EventReader(url, EVENTS, cursor) as reader:
                events = reader.events()
                assert next(events) == Event("id", None, cursor)
                reload = next(events)
                assert (reload.name, reload.data) == ("reload", {})
                assert int(reload.id or "") >= newest  # a doctor may have something to say by now
                messages.append_message(ctx, LINE, user_says("x", id=f"after-{cursor}"))
                assert next(event for event in events if event.data["id"] == f"after-{cursor}").name == "change"


@pytest.mark.parametrize("location", ["sqlite"], indirect=True)
def test_a_cursor_that_is_none_is_refused(client: TestClient) -> None:
    for cursor in ("x", "-1", "9" * 30, "1.5.2"):
        refused(client.get(EVENTS, params={"after": cursor}), 422, "invalid_request")
        refused(client.get(EVENTS, headers={"Last-Event-ID": cursor}), 422, "invalid_request")


def test_a_quiet_stream_shows_that_it_lives(studio_url: str, ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "BEAT_EVERY", 0.05)
    with EventReader(studio_url, EVENTS) as reader:
        events = reader.events()
        assert [next(events).name for _ in range(4)] == ["id", "comment", "comment", "comment"]
        start_run(ctx)
        assert next(event for event in events if event.name == "change").data["id"] == "run-1"


def test_who_cannot_see_comments_may_ask_for_events_instead(
    studio_url: str, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "BEAT_EVERY", 0.05)
    with EventReader(studio_url, f"{EVENTS}?after=0&beats=1") as reader:
        events = reader.events()
        assert [next(events) for _ in range(3)] == [Event("hello", {}, "0"), Event("beat", {}), Event("beat", {})]


def test_many_readers_get_the_same(studio_url: str, ctx: Context) -> None:
    readers = [EventReader(studio_url, f"{EVENTS}?after=0") for _ in range(20)]
    streams = [reader.events() for reader in readers]
    assert {next(stream).name for stream in streams} == {"id"}
    start_run(ctx)
    for number in range(10):
        messages.append_message(ctx, LINE, user_says("x", id=f"m{number}"))
    expected = ["run-1", *(f"m{number}" for number in range(10))]
    for reader, stream in zip(readers, streams, strict=True):
        assert [next(stream).data["id"] for _ in expected] == expected
        reader.close()
