"""The change feed: follow committed changes by number, from any process, and miss none."""

import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from lionstudio.domain.change import Change, Topic
from lionstudio.services.context import Context
from lionstudio.store import changes
from lionstudio.store.dialect import Watch

BATCH = 500
LOOK_EVERY = 1.0  # seconds without any wake-up after which the feed looks all the same


class News(NamedTuple):
    """Changes after a cursor. With `reload` the cursor is of no use: read everything again and go on from `cursor`."""

    changes: tuple[Change, ...]
    cursor: int
    reload: bool = False


def read_changes(ctx: Context, after: int, *, session_id: str | None = None, limit: int = BATCH) -> News:
    """What was committed after `after`, in order; `reload` when that was forgotten or was never given out."""
    with ctx.db.read() as tx:
        trimmed, newest = changes.span(tx)
        if not trimmed <= after <= newest:
            return News((), newest, reload=True)
        found = changes.list_after(tx, after, limit=limit, session_id=session_id)
    # With the page not full, the numbers of other sessions up to the newest need not be read again.
    return News(tuple(found), found[-1].seq if len(found) == limit else newest)


class ChangedSessions(NamedTuple):
    """Sessions that began, ended or are doing otherwise, and where the next look begins."""

    ids: frozenset[str]
    cursor: int
    reload: bool = False


def read_changed_sessions(ctx: Context, after: int) -> ChangedSessions:
    """The sessions that changed after `after`; `reload` when that was forgotten or was never given out."""
    with ctx.db.read() as tx:
        trimmed, newest = changes.span(tx)
        if not trimmed <= after <= newest:
            return ChangedSessions(frozenset(), newest, reload=True)
        return ChangedSessions(frozenset(changes.list_sessions_after(tx, after, end=newest)), newest)


def newest_number(ctx: Context) -> int:
    """The cursor of a watcher that wants only what comes next."""
    with ctx.db.read() as tx:
        return changes.span(tx)[1]


class ChangeFeed:
    """Follows the changes of a database. Each follower has its own; close it or use it as a context manager."""

    def __init__(self, ctx: Context, *, session_id: str | None = None) -> None:
        self._ctx = ctx
        self._session_id = session_id
        self._watch: Watch | None = None
        self._stopped = threading.Event()

    def follow(self, after: int, *, idle: float | None = None) -> Iterator[Change]:
        """Every change after `after`, as it is committed, until `stop`; or until nothing came for `idle` seconds.

        A change of topic `reload` says that the cursor is too old or lies ahead: read everything again.
        """
        for news in self.follow_in_batches(after, idle=idle):
            if news.reload:
                yield Change(news.cursor, self._ctx.now(), Topic.RELOAD, "", None)
            yield from news.changes

    def follow_in_batches(self, after: int, *, idle: float | None = None, pause: float = 0.0) -> Iterator[News]:
        """The same, with all that was found by one look together; looks are at least `pause` seconds apart.

        Among many commits, one look every few milliseconds tells as much as one after each, and costs a fraction.
        """
        cursor, heard_at = after, time.monotonic()
        look_from = heard_at
        while not self._stopped.wait(max(0.0, look_from - time.monotonic())):
            look_from = time.monotonic() + pause
            watch = self._open_watch()  # before reading, so that no commit falls between the two
            news = read_changes(self._ctx, cursor, session_id=self._session_id)
            cursor = news.cursor
            if news.changes or news.reload:
                yield news
                heard_at = time.monotonic()
                continue
            left = LOOK_EVERY if idle is None else heard_at + idle - time.monotonic()
            if left <= 0:
                return
            watch.wait(min(LOOK_EVERY, left))

    def stop(self) -> None:
        """End `follow` at its next look; safe from any thread."""
        self._stopped.set()

    def close(self) -> None:
        self.stop()
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def __enter__(self) -> "ChangeFeed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_watch(self) -> Watch:
        if self._watch is None:
            self._watch = self._ctx.db.watch()
        return self._watch
