"""Server-sent events: one follower of the change feed for the whole process, and as many streams as there are readers.

The follower only wakes streams. Each stream keeps its own place and reads on from there when its reader has taken what
it was sent, so that a slow reader costs a place and nothing more, and never holds up a writer or another reader.
"""

import asyncio
import logging
import threading
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from typing import NamedTuple

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from lionstudio.domain.change import Change
from lionstudio.domain.errors import Error, Unavailable
from lionstudio.domain.json_text import to_json
from lionstudio.server.threads import STREAMS
from lionstudio.services.change_feed import BATCH, ChangeFeed, News, newest_number, read_changes
from lionstudio.services.context import Context

BEAT_EVERY = 5.0  # seconds, so that a reader knows that the line is up
REMEMBERED = 10_000  # changes that a stream need not read from the database again
STREAMS_AT_ONCE = 1_000
STUCK_AFTER = 60.0  # seconds in which a reader takes nothing at all
LOOKS_APART = 0.01  # seconds: the first of many commits is told at once, the others a moment later
TRY_AGAIN_AFTER = 1.0  # seconds, when the feed could not be read
QUIET_AFTER = 1.0  # seconds without news, after which the feed is known to be well
WOKEN_AT_ONCE = 20  # streams; then others have their turn

ABORT = "lionstudio.abort"  # where a request has what breaks its line off
PATIENCE = "lionstudio.patience"  # where it may have another time than STUCK_AFTER

logger = logging.getLogger("lionstudio.server")


class TooManyStreams(Unavailable):
    """As many streams are open as this server allows."""

    code = "too_many_streams"
    hint = "Close other tabs or clients, then try again."


class Ear:
    """What one stream waits with: it is woken by news about one session, or by any."""

    def __init__(self) -> None:
        self._woken = asyncio.Event()
        self._beat_at = asyncio.get_running_loop().time() + BEAT_EVERY

    def clear(self) -> None:
        """Before reading, so that what is committed meanwhile wakes again."""
        self._woken.clear()

    def wake(self) -> None:
        self._woken.set()

    async def wait(self) -> bool:
        """Until there may be news, or until it is time for a sign of life, which is due however often it was woken."""
        clock = asyncio.get_running_loop().time
        if clock() < self._beat_at:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._beat_at):
                    return await self._woken.wait()
        self._beat_at = clock() + BEAT_EVERY
        return False


class Told(NamedTuple):
    """A change as every stream sends it."""

    seq: int
    data: bytes


class Heard(NamedTuple):
    """What a stream sends next. With `reload` its cursor is of no use, and it goes on from this one."""

    data: bytes
    cursor: int
    reload: bool = False


class LiveFeed:
    """Follows the change feed in a thread of its own and wakes whoever waits for news."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._loop = asyncio.get_running_loop()
        self._recent: list[Told] = []
        self._reaches_back_to = 0  # every change after this one is in `_recent`
        self._newest = 0  # that the follower told of
        self._seen = 0  # the newest that a look at the database found
        self._look_at = 0.0
        self._ears: dict[str | None, set[Ear]] = {}
        self._stopped = threading.Event()
        self._feed = ChangeFeed(ctx)
        self._thread = threading.Thread(target=self._follow, name="live-feed", daemon=True)
        self.closing = False
        self.count = 0
        self.problem: str | None = None  # why the feed cannot be read now

    async def start(self) -> None:
        self._newest = self._reaches_back_to = await run_in_threadpool(newest_number, self._ctx)
        self._thread.start()

    async def find_newest(self) -> int:
        """Where a reader begins that wants only what comes next; raises Unavailable."""
        return self._newest if self.problem is None else await STREAMS.run(newest_number, self._ctx)

    def close_streams(self) -> None:
        """End every stream in good order; their readers come back with their last number."""
        self.closing = True
        for ear in [ear for ears in self._ears.values() for ear in ears]:
            ear.wake()

    async def stop(self) -> None:
        self._stopped.set()
        self._feed.stop()
        await run_in_threadpool(self._thread.join, 5)
        self._feed.close()

    def require_room(self) -> None:
        """Raise TooManyStreams when one more would be too many: before its answer begins, and cannot be taken back."""
        if self.count >= STREAMS_AT_ONCE:
            raise TooManyStreams(f"{STREAMS_AT_ONCE:,} streams are open.")

    @contextmanager
    def listen(self, session_id: str | None = None) -> Iterator[Ear]:
        """An ear for news about one session, or about everything."""
        ear = Ear()
        ears = self._ears.setdefault(session_id, set())
        ears.add(ear)
        self.count += 1
        try:
            yield ear
        finally:
            self.count -= 1
            ears.discard(ear)
            if not ears and self._ears.get(session_id) is ears:
                del self._ears[session_id]

    async def read(self, after: int) -> Heard:
        """What came after a number: from memory where it reaches back so far, else from the database."""
        if self._reaches_back_to <= after < self._newest or after == self._newest >= self._seen:
            begin = bisect_right(self._recent, after, key=lambda told: told.seq)
            found = self._recent[begin : begin + BATCH]
            cursor = found[-1].seq if len(found) == BATCH else self._newest
            return Heard(b"".join(told.data for told in found), cursor)
        return await STREAMS.run(self._read_database, after)

    def _read_database(self, after: int) -> Heard:
        news = read_changes(self._ctx, after)
        return Heard(b"".join(_tell(change).data for change in news.changes), news.cursor, news.reload)

    async def look(self) -> None:
        """See for all streams whether there is news that the follower has not told of: it may be in trouble."""
        if self._loop.time() < self._look_at:
            return
        self._look_at = self._loop.time() + BEAT_EVERY / 2
        with suppress(Error):
            self._seen = await STREAMS.run(newest_number, self._ctx)

    def _follow(self) -> None:
        """The thread: it goes on, whatever happens to the database."""
        cursor = self._newest
        while not self._stopped.is_set():
            try:
                for news in self._feed.follow_in_batches(cursor, pause=LOOKS_APART, idle=QUIET_AFTER):
                    cursor = news.cursor
                    # Once for all streams, and not on the loop; while nobody listens, not at all.
                    told = [_tell(change) for change in news.changes] if self.count else None
                    self._post(partial(self._take, news, told))
                self._post(self._recover)  # it could be read, and there was nothing
            except Exception as error:  # noqa: BLE001  without this thread nobody would hear anything any more
                problem = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
                self._post(partial(self._fail, problem))
                self._stopped.wait(TRY_AGAIN_AFTER)
                with suppress(Exception):
                    self._feed.close()
                self._feed = ChangeFeed(self._ctx)

    def _post(self, call: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(call)

    def _take(self, news: News, told: list[Told] | None) -> None:
        self._recover()
        if news.reload or told is None:
            self._recent.clear()
            self._reaches_back_to = news.cursor
        self._recent += told or ()
        self._newest = news.cursor
        if len(self._recent) > 2 * REMEMBERED:
            self._reaches_back_to = self._recent[-REMEMBERED - 1].seq
            del self._recent[:-REMEMBERED]
        names = self._ears if news.reload else {None, *(change.session_id for change in news.changes)}
        self._wake([ear for name in names for ear in self._ears.get(name, ())])

    def _wake(self, ears: list[Ear]) -> None:
        for ear in ears[:WOKEN_AT_ONCE]:
            ear.wake()
        if len(ears) > WOKEN_AT_ONCE:
            self._loop.call_soon(self._wake, ears[WOKEN_AT_ONCE:])

    def _recover(self) -> None:
        self.problem = None

    def _fail(self, problem: str) -> None:
        if self.problem is None:
            logger.warning("the live feed cannot be read: %s", problem)
        self.problem = problem


def event(name: str, data: str, id: str | None = None) -> bytes:
    """One event as it goes over the wire. `data` is JSON, which has no line breaks of its own."""
    head = "" if id is None else f"id: {id}\n"
    return f"{head}event: {name}\ndata: {data}\n\n".encode()


def place(id: str) -> bytes:
    """How far a reader has come, by itself: what it sends when it comes back, and nothing that its page is told of."""
    return f"id: {id}\n\n".encode()


def _tell(change: Change) -> Told:
    data = {"topic": change.topic, "id": change.entity_id, "session_id": change.session_id}
    return Told(change.seq, event("change", to_json(data, what="event"), str(change.seq)))


BEAT = b": beat\n\n"
BEAT_TO_PAGES = event("beat", "{}")  # a browser keeps comments from its pages, and some want to know as well


class EventStream(StreamingResponse):
    """A stream of events."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncGenerator[bytes]) -> None:
        self._events = events
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, headers=headers)

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._events):  # what it holds is given back at once, not when it is collected
            await super().stream_response(send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except Error as error:  # its reader comes back, and is told then
            logger.warning("a stream was broken off: %s", error)
            await cut(scope)


async def cut(scope: Scope) -> None:
    """Break the line off. Closed in good order, it would stay open until its reader has taken what waits for it."""
    abort: Callable[[], None] = scope.get(ABORT, lambda: None)
    abort()
    await asyncio.sleep(0)  # so that the server around us knows that it is gone
