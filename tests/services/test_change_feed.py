"""The change feed: every commit is seen once, in order, from any process and any cursor."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from lionstudio.domain.change import Change, Topic
from lionstudio.services import messages, sessions
from lionstudio.services.change_feed import ChangeFeed, newest_number, read_changed_sessions, read_changes
from lionstudio.services.context import Context
from lionstudio.store import changes as change_rows
from lionstudio.store.database import Database
from lionstudio.store.open import open_database
from tests.factories import NOW, Clock, line_of, start_run, user_says
from tests.waiting import wait_until

WRITER = """if True:
    import sys
    from lionstudio.services.context import Context
    from lionstudio.services.messages import append_message
    from lionstudio.store.open import open_database
    from tests.factories import line_of, user_says
    ctx = Context(open_database(sys.argv[1]))
    print("ready", flush=True)
    for line in sys.stdin:
        append_message(ctx, line_of("run-1"), user_says(line.strip(), id=line.strip()))
"""


def seen(feed: ChangeFeed, after: int, count: int) -> list[Change]:
    found: list[Change] = []
    for change in feed.follow(after, idle=20):
        found.append(change)
        if len(found) == count:
            break
    return found


def test_each_use_case_tells_what_it_changed(ctx: Context) -> None:
    start_run(ctx)
    message_id = messages.append_message(ctx, line_of("run-1"), user_says("a"))
    sessions.finish_session(ctx, "run-1", "completed")
    news = read_changes(ctx, 0)
    assert [(change.topic, change.entity_id, change.session_id) for change in news.changes] == [
        (Topic.SESSION, "run-1", "run-1"),
        (Topic.MESSAGE, message_id, "run-1"),
        (Topic.SESSION, "run-1", "run-1"),
    ]
    assert news.cursor == news.changes[-1].seq == newest_number(ctx)
    assert read_changes(ctx, news.cursor).changes == ()


def test_a_follower_of_one_session_sees_only_that(ctx: Context) -> None:
    for name in ("run-1", "run-2"):
        start_run(ctx, name)
        messages.append_message(ctx, line_of(name), user_says("a", id=f"m-{name}"))
    news = read_changes(ctx, 0, session_id="run-2")
    assert [change.entity_id for change in news.changes] == ["run-2", "m-run-2"]


def test_a_use_case_that_failed_tells_nothing(ctx: Context) -> None:
    start_run(ctx)
    before = newest_number(ctx)
    with pytest.raises(Exception, match="role"):
        messages.append_messages(ctx, line_of("run-1"), [user_says("a"), messages.MessageDraft("", {})])
    assert newest_number(ctx) == before


def test_a_cursor_that_lies_ahead_must_reload(ctx: Context) -> None:
    start_run(ctx)
    news = read_changes(ctx, 10**9)
    assert (news.reload, news.changes, news.cursor) == (True, (), newest_number(ctx))


def test_a_cursor_from_before_what_was_forgotten_must_reload(
    ctx: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_rows, "KEEP_ROWS", 5)
    monkeypatch.setattr(change_rows, "TRIM_SLACK", 0)
    start_run(ctx)
    for number in range(20):
        messages.append_message(ctx, line_of("run-1"), user_says(str(number)))
    clock.pass_seconds(8 * 24 * 3600)
    sessions.finish_session(ctx, "run-1", "completed")
    assert read_changes(ctx, 3).reload
    news = read_changes(ctx, newest_number(ctx) - 2)
    assert not news.reload
    assert len(news.changes) == 2


def test_nothing_is_forgotten_that_is_young_or_few(ctx: Context, monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    monkeypatch.setattr(change_rows, "KEEP_ROWS", 5)
    monkeypatch.setattr(change_rows, "TRIM_SLACK", 0)
    start_run(ctx)
    for number in range(20):
        messages.append_message(ctx, line_of("run-1"), user_says(str(number)))
    sessions.finish_session(ctx, "run-1", "completed")
    assert len(read_changes(ctx, 0).changes) == 22


def test_numbers_are_never_given_twice_even_when_everything_was_forgotten(
    ctx: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_rows, "KEEP_ROWS", 0)
    monkeypatch.setattr(change_rows, "TRIM_SLACK", 0)
    start_run(ctx)
    messages.append_message(ctx, line_of("run-1"), user_says("a"))
    newest = newest_number(ctx)
    clock.pass_seconds(8 * 24 * 3600)
    sessions.finish_session(ctx, "run-1", "completed")
    assert newest_number(ctx) > newest


def test_following_without_a_reload_yields_every_change_from_an_old_cursor_on(ctx: Context) -> None:
    start_run(ctx)
    for number in range(5):
        messages.append_message(ctx, line_of("run-1"), user_says(str(number), id=f"m{number}"))
    with ChangeFeed(ctx) as feed:
        assert [change.entity_id for change in seen(feed, 2, 4)] == ["m1", "m2", "m3", "m4"]


def test_following_from_a_useless_cursor_says_reload_first_and_goes_on(ctx: Context) -> None:
    start_run(ctx)
    with ChangeFeed(ctx) as feed:
        follow = feed.follow(10**9, idle=20)
        assert next(follow).topic is Topic.RELOAD
        messages.append_message(ctx, line_of("run-1"), user_says("a", id="m"))
        assert next(follow).entity_id == "m"


def test_a_commit_of_another_process_wakes_the_follower(location: str) -> None:
    db = open_database(location)
    ctx = Context(db)
    start_run(ctx)
    with writer_process(location) as writer, ChangeFeed(ctx) as feed:
        assert writer.stdin is not None
        follow = feed.follow(newest_number(ctx), idle=20)
        for number in range(30):
            writer.stdin.write(f"m{number}\n")
            writer.stdin.flush()
            assert next(follow).entity_id == f"m{number}"
    assert writer.returncode == 0
    db.close()


@contextlib.contextmanager
def writer_process(location: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, location], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        yield writer


def test_many_writers_in_many_processes_are_followed_without_a_miss(location: str) -> None:
    db = open_database(location)
    ctx = Context(db)
    start_run(ctx)
    start = newest_number(ctx)
    expected = {f"w{number}-{turn}" for number in range(4) for turn in range(50)}
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(writer_process(location)) for _ in range(4)]
        feeders = [
            threading.Thread(target=writer.communicate, args=("".join(f"w{number}-{turn}\n" for turn in range(50)),))
            for number, writer in enumerate(writers)
        ]
        for feeder in feeders:
            feeder.start()
        with ChangeFeed(ctx) as feed:
            found = seen(feed, start, len(expected))
        for feeder in feeders:
            feeder.join(30)
    numbers = [change.seq for change in found]
    assert {change.entity_id for change in found} == expected
    assert numbers == sorted(set(numbers))
    db.close()


def test_stopping_ends_a_follower_that_waits(db: Database) -> None:
    ctx = Context(db)
    feed = ChangeFeed(ctx)
    ended = threading.Event()

    def follow() -> None:
        list(feed.follow(newest_number(ctx)))
        ended.set()

    threading.Thread(target=follow, daemon=True).start()
    feed.stop()
    wait_until(ended.is_set)
    feed.close()


def test_a_follower_that_hears_nothing_ends_after_its_idle_time(ctx: Context) -> None:
    with ChangeFeed(ctx) as feed:
        assert list(feed.follow(newest_number(ctx), idle=0.0)) == []


def test_the_time_of_a_change_is_the_writers_time(ctx: Context) -> None:
    start_run(ctx)
    assert read_changes(ctx, 0).changes[0].at == NOW


def test_who_asks_for_sessions_reads_nothing_of_what_they_say(ctx: Context) -> None:
    begin = newest_number(ctx)
    start_run(ctx, "one")
    start_run(ctx, "two")
    news = read_changed_sessions(ctx, begin)
    assert (news.ids, news.cursor, news.reload) == ({"one", "two"}, newest_number(ctx), False)
    messages.append_message(ctx, line_of("one"), user_says("Hello."))
    later = read_changed_sessions(ctx, news.cursor)
    assert (later.ids, later.cursor) == (frozenset(), newest_number(ctx))
    assert read_changed_sessions(ctx, later.cursor + 1).reload
