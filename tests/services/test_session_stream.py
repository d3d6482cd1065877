"""One run's own stream: each message once, in its order, wherever a reader breaks off."""

import itertools
import random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from lionstudio.domain.conversation import Branch, Message
from lionstudio.domain.errors import InvalidRequest, SessionNotFound
from lionstudio.domain.session import Session
from lionstudio.services import branches, imports, messages, session_stream, sessions
from lionstudio.services.branches import BranchDraft
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context, new_line
from lionstudio.services.prune import plan_prune, prune
from lionstudio.services.session_stream import Cursor, SessionStream, Streamed, parse_cursor
from lionstudio.store import changes
from tests.factories import NOW, Clock, line_of, start_run, user_says

LINE = line_of("run-1")
WEEK = 7 * 24 * 3600.0


def say(ctx: Context, *ids: str, text: str = "") -> None:
    messages.append_messages(ctx, LINE, [user_says(text or id, id=id) for id in ids])


def bring_in(ctx: Context, *ids: str, session_id: str = "run-1") -> None:
    """Import messages into a run: the news says only that the run changed."""
    line = line_of(session_id)
    drafts = [user_says(id, id=id, created_at=NOW) for id in ids]
    branch = Branch(line.branch_id, NOW, session_id, line.branch_progression_id)
    session = Session(session_id, NOW, NOW, line.session_progression_id)
    assert not imports.import_sessions(
        ctx, [imports.SessionImport(session, [imports.BranchImport(branch, drafts)])]
    ).problems


def forget(ctx: Context, monkeypatch: pytest.MonkeyPatch, keep: int) -> None:
    """Forget all news but the last few."""
    monkeypatch.setattr(changes, "KEEP_ROWS", keep)
    monkeypatch.setattr(changes, "TRIM_SLACK", 0)
    with ctx.db.write() as tx:
        assert changes.trim(tx, now=NOW + 2 * WEEK)


def delete(ctx: Context, clock: Clock) -> None:
    """Delete every run that has ended."""
    clock.pass_seconds(3600)
    assert prune(ctx, plan_prune(ctx, keep_days=0, keep_n=0), actor="ana").removed.sessions == 1


def ids(items: tuple[Streamed, ...]) -> list[str]:
    return [item.message.id for item in items]


def read_on(ctx: Context, cursor: str | None) -> list[Streamed]:
    """All that a reader gets that comes back with a cursor."""
    stream, found = SessionStream(ctx, "run-1", parse_cursor(cursor)), []
    while True:
        page = stream.read()
        found += page.items
        if page.is_all:
            return found


def test_a_stream_begins_with_the_first_message_and_goes_on_with_what_comes(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a", "b")
    stream = SessionStream(ctx, "run-1")
    page = stream.read()
    assert (ids(page.items), page.is_all, page.has_other_news, page.reload) == (["a", "b"], True, True, False)
    assert [item.message.position for item in page.items] == [1, 2]
    assert {item.branch_ids for item in page.items} == {("run-1-main",)}
    assert page.session.message_count == 2
    assert stream.read().items == ()
    say(ctx, "c")
    page = stream.read()
    assert (ids(page.items), page.is_all, page.has_other_news) == (["c"], True, False)
    assert page.items[0].cursor == str(newest_number(ctx))


def test_the_cursor_of_a_message_is_the_number_of_its_change(ctx: Context) -> None:
    start_run(ctx)
    before = newest_number(ctx)
    say(ctx, "a", "b", "c")
    cursors = [item.cursor for item in read_on(ctx, None)]
    assert cursors == [str(before + number) for number in (1, 2, 3)]
    assert [item.message.id for item in read_on(ctx, cursors[0])] == ["b", "c"]
    assert read_on(ctx, cursors[2]) == []


def test_a_reader_that_comes_back_gets_what_an_import_brought_once(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a")
    bring_in(ctx, "i1", "i2", "i3")
    say(ctx, "b")
    whole = read_on(ctx, None)
    assert [item.message.id for item in whole] == ["a", "i1", "i2", "i3", "b"]
    for number, item in enumerate(whole, 1):
        assert read_on(ctx, item.cursor) == whole[number:]


def test_messages_whose_news_is_forgotten_are_sent_all_the_same(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    start_run(ctx)
    say(ctx, *(f"m{number}" for number in range(10)))
    forget(ctx, monkeypatch, keep=3)
    whole = read_on(ctx, None)
    assert [item.message.id for item in whole] == [f"m{number}" for number in range(10)]
    for number, item in enumerate(whole, 1):
        assert read_on(ctx, item.cursor) == whole[number:]


def test_a_cursor_whose_own_change_is_forgotten_means_reload(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    start_run(ctx)
    say(ctx, *(f"m{number}" for number in range(10)))
    cursors = [item.cursor for item in read_on(ctx, None)]
    forget(ctx, monkeypatch, keep=3)
    for cursor in cursors[:7]:
        page = SessionStream(ctx, "run-1", parse_cursor(cursor)).read()
        assert (page.reload, len(page.items)) == (True, 10)
    assert ids(SessionStream(ctx, "run-1", parse_cursor(cursors[7])).read().items) == ["m8", "m9"]


@pytest.mark.parametrize("ahead", [1, 10**12])
def test_a_cursor_that_lies_ahead_means_reload(ctx: Context, ahead: int) -> None:
    start_run(ctx)
    say(ctx, "a")
    newest = newest_number(ctx)
    for cursor in (Cursor(newest + ahead), Cursor(newest + ahead, 1), Cursor(newest, 1 + ahead)):
        stream = SessionStream(ctx, "run-1", cursor)
        page = stream.read()
        assert (page.reload, ids(page.items)) == (True, ["a"])
        assert (stream.read().reload, stream.read().items) == (False, ())


def test_after_zero_is_the_beginning(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a")
    page = SessionStream(ctx, "run-1", Cursor(0)).read()
    assert (page.reload, ids(page.items)) == (False, ["a"])


def test_a_changed_message_is_sent_again_after_its_change_and_only_then(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a", "b", "c")
    stream = SessionStream(ctx, "run-1")
    assert ids(stream.read().items) == ["a", "b", "c"]
    say(ctx, "a", text="mended")
    (again,) = stream.read().items
    assert (again.message.content, again.message.position) == ({"instruction": "mended"}, 1)
    assert read_on(ctx, again.cursor) == []  # the change of the first says nothing about how far the reader is
    say(ctx, "a", text="mended")  # the very same
    assert stream.read().items == ()


def test_a_message_that_was_changed_before_it_is_read_comes_once(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a", "b")
    say(ctx, "a", text="mended")
    found = SessionStream(ctx, "run-1").read().items
    assert [(item.message.id, item.message.content["instruction"]) for item in found] == [("a", "mended"), ("b", "b")]


def test_a_message_that_was_changed_before_it_is_read_does_not_come_again(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_run(ctx)
    say(ctx, "a", "b", "c")
    say(ctx, "a", text="mended")
    page = SessionStream(ctx, "run-1").read()
    assert (read_on(ctx, page.items[-1].cursor), page.passed) == ([], None)
    monkeypatch.setattr(session_stream, "PAGE", 4)
    stream = SessionStream(ctx, "run-1")
    pages = [stream.read(), stream.read()]
    assert [ids(page.items) for page in pages] == [["a", "b", "c"], []]
    assert pages[1].passed == f"{newest_number(ctx)}.3"
    assert read_on(ctx, pages[1].passed) == []


def test_the_cursor_of_the_last_message_changed_is_the_number_of_its_change(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a", "b")
    stream = SessionStream(ctx, "run-1")
    stream.read()
    say(ctx, "b", text="longer")
    (again,) = stream.read().items
    assert (again.message.id, again.cursor) == ("b", str(newest_number(ctx)))
    say(ctx, "b", text="longer still")
    assert [item.cursor for item in read_on(ctx, None)][-1] == str(newest_number(ctx))
    say(ctx, "c")
    assert [item.message.id for item in read_on(ctx, again.cursor)] == ["b", "c"]


def test_a_page_has_no_more_bytes_than_it_may_but_always_a_message(ctx: Context) -> None:
    start_run(ctx)
    large = "x" * (session_stream.PAGE_BYTES * 3 // 5)
    names = [f"m{number}" for number in range(4)]
    for name in names:
        say(ctx, name, text=large)
    say(ctx, "small", "smaller")
    stream = SessionStream(ctx, "run-1")
    pages = [stream.read() for _ in range(4)]
    assert [ids(page.items) for page in pages] == [["m0"], ["m1"], ["m2"], ["m3", "small", "smaller"]]
    assert [page.is_all for page in pages] == [False, False, False, True]
    for name in names:
        say(ctx, name, text=f"{large}!")
    pages = [stream.read() for _ in range(2)]
    assert [ids(page.items) for page in pages] == [["m0", "m1"], ["m2", "m3"]]
    assert pages[1].is_all


def test_a_change_of_what_was_sent_before_is_sent_while_the_reader_is_still_behind(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_stream, "PAGE", 5)
    start_run(ctx)
    bring_in(ctx, *(f"i{number}" for number in range(10)))
    stream = SessionStream(ctx, "run-1")
    assert ids(stream.read().items) == [f"i{number}" for number in range(5)]
    say(ctx, "a")
    say(ctx, "i0", text="mended")
    assert ids(stream.read().items) == [f"i{number}" for number in range(5, 10)]
    assert ids(stream.read().items) == ["a", "i0"]


def test_a_message_that_was_sent_before_it_was_said_hides_none(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a")
    letter = user_says("hi", id="letter", recipient="ana")
    messages.send_message(ctx, "run-1", letter)
    say(ctx, "b")
    cursor = read_on(ctx, None)[-1].cursor
    bring_in(ctx, "i1", "i2")
    messages.append_message(ctx, LINE, letter)
    assert [item.message.id for item in read_on(ctx, cursor)] == ["i1", "i2", "letter"]


def test_a_change_behind_an_import_does_not_send_the_import_again(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a")
    bring_in(ctx, "i1", "i2")
    last = read_on(ctx, None)[-1].cursor
    say(ctx, "a", text="mended")
    (again,) = read_on(ctx, last)
    assert again.message.id == "a"
    assert read_on(ctx, again.cursor) == []


def test_more_than_a_page_is_read_page_by_page(ctx: Context) -> None:
    start_run(ctx)
    expected = [f"m{number}" for number in range(2 * session_stream.PAGE + 1)]
    say(ctx, *expected)
    stream = SessionStream(ctx, "run-1")
    pages = [stream.read() for _ in range(3)]
    assert [page.is_all for page in pages] == [False, False, True]
    assert [id for page in pages for id in ids(page.items)] == expected


def test_what_other_runs_do_is_no_news(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, "a")
    stream = SessionStream(ctx, "run-1")
    stream.read()
    start_run(ctx, "run-2")
    messages.append_message(ctx, line_of("run-2"), user_says("x"))
    messages.send_message(ctx, "run-1", user_says("to an inbox", recipient="run-2"))
    page = stream.read()
    assert (page.items, page.is_all, page.has_other_news) == ((), True, False)


def test_a_branch_and_the_end_of_the_run_are_other_news(ctx: Context) -> None:
    start_run(ctx)
    stream = SessionStream(ctx, "run-1")
    stream.read()
    branches.create_branch(ctx, BranchDraft(new_line("run-1")))
    assert stream.read().has_other_news
    sessions.finish_session(ctx, "run-1", "completed")
    page = stream.read()
    assert (page.has_other_news, page.session.status) == (True, "completed")


def test_a_run_that_is_deleted_meanwhile_is_not_found(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    say(ctx, "a")
    sessions.finish_session(ctx, "run-1", "completed")
    stream = SessionStream(ctx, "run-1")
    stream.read()
    delete(ctx, clock)
    with pytest.raises(SessionNotFound):
        stream.read()


def test_a_run_that_was_deleted_and_is_there_again_is_read_anew(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    bring_in(ctx, "a", "b", "c")
    last = read_on(ctx, None)[-1].cursor
    sessions.finish_session(ctx, "run-1", "completed")
    delete(ctx, clock)
    start_run(ctx)
    say(ctx, "a")
    page = SessionStream(ctx, "run-1", parse_cursor(last)).read()
    assert (page.reload, ids(page.items)) == (True, ["a"])


@pytest.mark.parametrize("text", ["x", "-1", "1.", ".1", "1.-1", "1.2.3", "9" * 20, "1e3", "1\0", "²", "1 2", "0x1"])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="no place in a stream"):
        parse_cursor(text)


def test_a_cursor_is_read_as_it_is_written() -> None:
    assert [parse_cursor(text) for text in (None, "", "  ")] == [None] * 3
    assert [parse_cursor(text) for text in ("7", " 7 ", "7.40", "007")] == [(7, None), (7, None), (7, 40), (7, None)]


class Chain:
    """What one reader holds, over all of its connections."""

    def __init__(self, ctx: Context, session_id: str) -> None:
        self._ctx = ctx
        self._session_id = session_id
        self._stream = SessionStream(ctx, session_id)
        self.cursor: str | None = None
        self.held: dict[str, Message] = {}
        self.times: dict[str, int] = {}

    def come_back(self) -> None:
        self._stream = SessionStream(self._ctx, self._session_id, parse_cursor(self.cursor))

    def read(self, take: int | None = None) -> bool:
        """Take so much of the next page and break off, or take all of it; whether that is all there is."""
        page = self._stream.read()
        if page.reload:
            self.held.clear()
            self.times.clear()
        for item in page.items[:take]:
            self.cursor = item.cursor
            if item.message.id not in self.held:
                assert item.message.position == len(self.held) + 1
            self.held[item.message.id] = item.message
            self.times[item.message.id] = self.times.get(item.message.id, 0) + 1
        if take is not None:
            self.come_back()
        elif page.passed is not None:
            self.cursor = page.passed
        return page.is_all and take is None


class StreamMachine(RuleBasedStateMachine):
    """Writers of every kind, and two readers: one breaks off now and then, one always."""

    ctx: Context
    clock: Clock
    names = itertools.count(1)

    def __init__(self) -> None:
        super().__init__()
        self.session_id = f"run-{next(self.names)}"
        start_run(self.ctx, self.session_id)
        self.lines = [line_of(self.session_id)]
        self.ids: list[str] = []
        self.sent: list[str] = []
        self.changed: dict[str, int] = {}
        self.readers = [Chain(self.ctx, self.session_id), Chain(self.ctx, self.session_id)]

    def _new_ids(self, count: int) -> list[str]:
        new = [f"{self.session_id}-m{len(self.ids) + number}" for number in range(1, count + 1)]
        self.ids += new
        return new

    @rule(count=st.integers(1, 7), which=st.integers(0, 9))
    def append(self, count: int, which: int) -> None:
        self.clock.pass_seconds(1)
        drafts = [user_says(id, id=id, created_at=NOW - len(self.ids)) for id in self._new_ids(count)]
        messages.append_messages(self.ctx, self.lines[which % len(self.lines)], drafts)

    @rule(which=st.integers(0, 99), changes_it=st.booleans())
    def send_again(self, which: int, changes_it: bool) -> None:
        if self.ids:
            id = self.ids[which % len(self.ids)]
            self.changed[id] = self.changed.get(id, 0) + changes_it
            stored = messages.get_message(self.ctx, id)
            text = f"{id} {self.changed[id]}" if changes_it else stored.content["instruction"]
            draft = user_says(text, id=id, created_at=stored.created_at, recipient=stored.recipient)
            messages.append_message(self.ctx, self._line_of(id), draft)

    def _line_of(self, id: str) -> object:
        for line in self.lines:
            if any(one.id == id for one in messages.list_messages(self.ctx, self.session_id, line.branch_id)):
                return line
        raise AssertionError(id)

    @rule()
    def send_away(self) -> None:
        """The news tells of it as of any message of this run, but it stands nowhere in it."""
        self.sent.append(f"{self.session_id}-s{next(self.names)}")
        draft = user_says("sent", id=self.sent[-1], recipient="somebody", created_at=NOW)
        messages.send_message(self.ctx, self.session_id, draft)

    @rule()
    def say_what_was_sent(self) -> None:
        if self.sent:
            self.ids.append(self.sent.pop())
            draft = user_says("sent", id=self.ids[-1], recipient="somebody", created_at=NOW)
            messages.append_message(self.ctx, self.lines[0], draft)

    @rule(count=st.integers(1, 7))
    def bring_in(self, count: int) -> None:
        bring_in(self.ctx, *self._new_ids(count), session_id=self.session_id)

    @rule()
    def begin_branch(self) -> None:
        line = new_line(self.session_id)._replace(session_progression_id=self.lines[0].session_progression_id)
        branches.create_branch(self.ctx, BranchDraft(line))
        self.lines.append(line)

    @rule()
    def write_elsewhere(self) -> None:
        start_run(self.ctx, f"other-{next(self.names)}")

    @rule()
    def forget_news(self) -> None:
        with self.ctx.db.write() as tx:
            changes.trim(tx, now=self.clock.now + 2 * WEEK)

    @rule(take=st.integers(0, 6))
    def read_and_break(self, take: int) -> None:
        self.readers[0].read(take)

    @rule()
    def read_one_page(self) -> None:
        self.readers[1].read()

    @rule(take=st.integers(0, 6))
    def break_the_other(self, take: int) -> None:
        self.readers[1].read(take)

    def teardown(self) -> None:
        stored = messages.list_messages(self.ctx, self.session_id, limit=10_000)
        assert [message.id for message in stored] == self.ids
        for reader in self.readers:
            while not reader.read():
                pass
            assert list(reader.held.values()) == stored
            assert all(times <= 1 + self.changed.get(id, 0) for id, times in reader.times.items())


def test_whatever_happens_a_reader_holds_every_message_once_in_its_order(
    ctx: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_stream, "PAGE", 5)
    monkeypatch.setattr(changes, "KEEP_ROWS", 12)
    monkeypatch.setattr(changes, "TRIM_SLACK", 0)
    machine = type("Machine", (StreamMachine,), {"ctx": ctx, "clock": clock})
    run_state_machine_as_test(machine, settings=settings(max_examples=60, stateful_step_count=40))


def test_thousands_of_breaks_among_thousands_of_messages_lose_none(ctx: Context) -> None:
    start_run(ctx)
    say(ctx, *(f"m{number}" for number in range(700)))
    bring_in(ctx, *(f"i{number}" for number in range(300)))
    say(ctx, *(f"n{number}" for number in range(500)))
    reader, dice = Chain(ctx, "run-1"), random.Random(7)
    while len(reader.held) < 1_500:
        reader.read(dice.randrange(9))
    assert list(reader.held.values()) == messages.list_messages(ctx, "run-1", limit=2_000)
    assert set(reader.times.values()) == {1}
