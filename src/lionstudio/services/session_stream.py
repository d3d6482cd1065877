"""One run's own stream: every message it has, and every one it gets, each once, from wherever a reader broke off.

A reader's cursor is the number of the change that told of the last message it was sent. Not every message has such a
number: an import tells of a run as a whole, and old news is forgotten. Those are known by their position, behind the
number that was reached before them: `812.40`. So is a message that comes again because it was changed, unless it is the
last one there is: the number of that change says nothing about how far its reader has come.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.change import Change, Topic
from lionstudio.domain.conversation import Message
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session import Session
from lionstudio.services.context import Context
from lionstudio.services.message_pages import PAGE_BYTES
from lionstudio.services.sessions import get
from lionstudio.store import changes, progressions
from lionstudio.store.transaction import Tx

PAGE = 200
HIGHEST = 2**63 - 1


class Cursor(NamedTuple):
    """How far a reader has come: the changes up to `seq`, and the messages up to `position`, if that is known."""

    seq: int
    position: int | None = None


class Streamed(NamedTuple):
    """A message to send, and the cursor of a reader that got it."""

    cursor: str
    message: Message
    branch_ids: tuple[str, ...]


class StreamPage(NamedTuple):
    """What comes next. `is_all`: nothing more is there now."""

    session: Session
    items: tuple[Streamed, ...]
    is_all: bool
    has_other_news: bool  # about the run itself or its branches
    passed: str | None  # a cursor behind the last item's: changes up to it are no news to who got all before
    reload: bool = False  # the cursor was of no use: this is the beginning again


def parse_cursor(text: str | None) -> Cursor | None:
    """A cursor as a reader sends it back; raises InvalidRequest."""
    if text is None or not text.strip():
        return None
    seq, dot, position = text.strip().partition(".")
    if not _is_number(seq) or (dot and not _is_number(position)):
        raise InvalidRequest(
            f"{text[:50]!r} is no place in a stream.", hint="Send the id of the last event you got, or none at all."
        )
    return Cursor(int(seq), int(position) if dot else None)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20 and int(text) <= HIGHEST


class SessionStream:
    """What one reader of one run gets, page by page."""

    def __init__(self, ctx: Context, session_id: str, cursor: Cursor | None = None) -> None:
        self._ctx = ctx
        self._session_id = session_id
        self._cursor = cursor
        self._stretches: list[_Stretch] = []

    def read(self) -> StreamPage:
        """The next page, empty if nothing is new; raises SessionNotFound."""
        with self._ctx.db.read() as tx:
            session = get(tx, self._session_id)
            trimmed, newest = changes.span(tx)
            reload = self._cursor is not None and not _is_usable(self._cursor, session, trimmed, newest)
            if self._cursor is None or reload:
                self._cursor = Cursor(trimmed, 0)
                self._stretches.clear()
            walk = _Walk(tx, session.id, self._cursor, self._stretches)
            is_last = walk.go(newest)
        self._cursor = Cursor(walk.seq, walk.position)
        stretches = [*self._stretches, _Stretch(walk.began_at, walk.position, newest)]
        self._stretches = [stretch for stretch in stretches if stretch.newest > walk.seq]
        is_all = is_last and walk.position >= session.message_count
        return StreamPage(session, tuple(walk.items), is_all, walk.has_other_news, walk.passed, reload)


def _is_usable(cursor: Cursor, session: Session, trimmed: int, newest: int) -> bool:
    """Whether what came after a cursor is known: it is not too old, and does not lie ahead."""
    if cursor.position is None:
        # The change of this number tells the position, so it must still be there.
        return (cursor.seq == trimmed == 0) or trimmed < cursor.seq <= newest
    return trimmed <= cursor.seq <= newest and cursor.position <= session.message_count


class _Stretch(NamedTuple):
    """Messages that were read when the newest change was this one, and sent as they were by then.

    Changes of them up to that one are no news to their reader.
    """

    after: int
    upto: int
    newest: int


class _Walk:
    """One page: changes and messages are in the same order, and are walked through side by side."""

    def __init__(self, tx: Tx, session_id: str, cursor: Cursor, stretches: Sequence[_Stretch]) -> None:
        self._tx = tx
        self._session_id = session_id
        self._stretches = stretches
        self.seq = cursor.seq
        if cursor.position is None:
            self.position = progressions.find_position_told(tx, session_id, upto=cursor.seq)
        else:
            self.position = cursor.position
        self.began_at = self.position
        self.items: list[Streamed] = []
        self.has_other_news = False
        self.passed: str | None = None
        self._room = PAGE_BYTES  # for messages that were changed
        limit = progressions.count_fitting(tx, session_id, after=self.position, limit=PAGE, budget=PAGE_BYTES)
        self._coming = deque(progressions.list_in_session(tx, session_id, after=self.position, limit=limit))
        self._branches = progressions.list_places(tx, session_id, after=self.position, limit=limit)

    def go(self, newest: int) -> bool:
        """Send what there is up to the newest change; whether that was reached."""
        told = changes.list_after(self._tx, self.seq, limit=PAGE, session_id=self._session_id)
        ids = [change.entity_id for change in told if change.topic is Topic.MESSAGE]
        places = progressions.find_positions(self._tx, self._session_id, ids) if ids else {}
        for change in told:
            place = places.get(change.entity_id) if change.topic is Topic.MESSAGE else None
            if place is None:
                self.has_other_news = self.has_other_news or change.topic is not Topic.MESSAGE
            elif place <= self.position:
                if self._room <= 0:
                    return False  # the page is full
                self._send_again(change, place)
            else:
                self._send_untold(before=place)
                if not self._coming:
                    return False  # the page is full
                self._send(self._coming.popleft(), str(change.seq))
            self.seq = change.seq
        if len(told) == PAGE:
            return False
        self.seq = newest
        self._send_untold()
        return True

    def _send_untold(self, before: int | None = None) -> None:
        """Send messages that no change tells of by itself."""
        while self._coming and (before is None or self.position + 1 < before):
            self._send(self._coming.popleft(), f"{self.seq}.{self.position + 1}")

    def _send_again(self, change: Change, place: int) -> None:
        """Send a message that was changed since this reader got it."""
        cursor = str(change.seq) if place == self.position else f"{change.seq}.{self.position}"
        if self._is_known(change, place):  # who breaks off here would get it for nothing
            if self.items:
                self.items[-1] = self.items[-1]._replace(cursor=cursor)
            else:
                self.passed = cursor
            return
        only = {"after": place - 1, "limit": 1}
        sizes = progressions.list_sizes(self._tx, self._session_id, **only)
        branches = progressions.list_places(self._tx, self._session_id, **only)
        for message, size in zip(progressions.list_in_session(self._tx, self._session_id, **only), sizes, strict=True):
            self._room -= size
            self._add(message, cursor, branches)

    def _is_known(self, change: Change, place: int) -> bool:
        """Whether the reader was sent the message as it is by now."""
        if place > self.began_at:
            return True  # it was read with this page
        return any(known.after < place <= known.upto and change.seq <= known.newest for known in self._stretches)

    def _send(self, message: Message, cursor: str) -> None:
        self._add(message, cursor, self._branches)
        self.position += 1

    def _add(self, message: Message, cursor: str, places: Mapping[str, Sequence[tuple[str, int]]]) -> None:
        branch_ids = tuple(branch_id for branch_id, _ in places.get(message.id, ()))
        self.passed = None
        self.items.append(Streamed(cursor, message, branch_ids))
