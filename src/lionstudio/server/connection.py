"""One connection: how long a request may take to begin, how large its head may be, and how long a reader may stall.

Nobody has shown a token yet while the head of a request comes in, so everything here is bounded by itself.
"""

import asyncio
import logging
from collections import deque
from typing import Any

import httptools
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from lionstudio.server import live
from lionstudio.server.errors import RETRY_AFTER, tell

HEAD_LIMIT = 64 * 1024  # bytes
HEAD_SECONDS = 10.0  # from the connection, or the answer before, until the head is whole
REQUESTS_AT_ONCE = 2_000

logger = logging.getLogger("lionstudio.server")


class Connection(HttpToolsProtocol):
    """A connection that is closed when its other side sends no request, too much of one, or takes no answer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._unused = 0  # bytes since the last ones that made a head whole, or that were part of a body
        self._begun: deque[RequestResponseCycle] = deque()  # requests that are not answered yet, in their order
        self._head_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for cycle in self._begun:  # the one at work too, which the framework forgets behind others that wait
            cycle.disconnected = True
            cycle.message_event.set()
        self._expect_head(False)
        self._unset_keepalive_if_required()
        if self._reader_timer is not None:
            self._reader_timer.cancel()

    def data_received(self, data: bytes) -> None:
        self._unused += len(data)
        self._unset_keepalive_if_required()
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self._refuse("malformed_request")
        else:
            if self._unused > HEAD_LIMIT and not self.transport.is_closing():
                self._refuse("head_too_large")

    def _parse(self, data: bytes) -> None:
        rest = memoryview(data)
        while not self.transport.is_closing():
            try:
                self.parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as stop:
                rest = rest[stop.args[0] :]
                self._stay()

    def _stay(self) -> None:
        """Read the head again as if no other protocol had been offered: else the body would be taken for that one's.

        Java's client offers one with its first request.
        """
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        if method == b"CONNECT":
            self._refuse("method_not_allowed")
            return
        head = [method, b" ", self.url, b" HTTP/", version, b"\r\n"]
        for name, value in self.headers:
            if name != b"upgrade":
                head += [name, b": ", _without_upgrade(value) if name == b"connection" else value, b"\r\n"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as the one before
        self.parser.feed_data(b"".join([*head, b"\r\n"]))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[live.ABORT] = self.transport.abort  # type: ignore[literal-required]  # ours alone

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            return  # it begins when all of it is known
        self._unused = 0
        self._expect_head(False)
        self.app = self.config.loaded_app if len(self.tasks) < REQUESTS_AT_ONCE else _busy()
        super().on_headers_complete()
        self._begun.append(self.cycle)

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def on_body(self, body: bytes) -> None:
        self._unused = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        self._begun.popleft()
        super().on_response_complete()
        if not self._begun:
            self._expect_head()
        self._watch_reader()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    @property
    def is_stuck(self) -> bool:
        """Whether something waits for its reader."""
        return self.transport.get_write_buffer_size() > 0 or self.transport.is_closing()

    def _expect_head(self, expected: bool = True) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up_head) if expected else None

    def _give_up_head(self) -> None:
        if self.transport.is_closing():
            return
        if self._unused:
            self._refuse("head_too_slow")
        else:
            self.transport.close()

    def _refuse(self, code: str) -> None:
        """Answer and hang up, where there is no whole request yet that could be answered as usual."""
        if len(self._begun) > 1 or any(not cycle.more_body or cycle.response_started for cycle in self._begun):
            self.transport.abort()  # another answer is on its way
            return
        answer = tell(code)
        lines = [f"HTTP/1.1 {answer.status_code} Refused".encode(), *(b": ".join(pair) for pair in answer.raw_headers)]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(answer.body)]))
        self.transport.close()

    def _watch_reader(self) -> None:
        """From now on something must be taken every so often, until nothing waits any more."""
        waiting = self.transport.get_write_buffer_size()
        if waiting and self._reader_timer is None:
            patience = self.scope.get(live.PATIENCE, live.STUCK_AFTER)
            self._reader_timer = self.loop.call_later(patience, self._look_at_reader, waiting)  # type: ignore[arg-type]

    def _look_at_reader(self, waited: int) -> None:
        self._reader_timer = None
        if self.transport.get_write_buffer_size() < waited:
            self._watch_reader()
            return
        logger.warning("a reader took nothing of its answer for a while and was let go")
        self.transport.abort()


def _without_upgrade(value: bytes) -> bytes:
    return b",".join(word for word in value.split(b",") if word.strip().lower() != b"upgrade")


def _busy() -> ASGIApp:
    return tell("too_many_requests", {"Retry-After": RETRY_AFTER})
