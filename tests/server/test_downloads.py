"""A download whose reader goes away in the middle of a piece: it is closed after that piece, and that is no error."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from starlette.types import Message, Scope

from lionstudio.server.downloads import Download
from lionstudio.services.export_stream import Export


def test_who_goes_away_while_a_piece_is_read_breaks_nothing() -> None:
    reads, may_go_on, closed = threading.Event(), threading.Event(), threading.Event()

    def pieces() -> Iterator[bytes]:
        try:
            yield b"first"
            reads.set()
            assert may_go_on.wait(20)
            yield b"second"
        finally:
            closed.set()

    async def leave_in_the_middle() -> list[bytes]:
        got: list[bytes] = []

        async def send(message: Message) -> None:
            got.append(message.get("body", b""))

        async def receive() -> Message:
            await asyncio.to_thread(reads.wait, 20)
            return {"type": "http.disconnect"}

        scope: Scope = {"type": "http", "method": "GET", "asgi": {"spec_version": "2.3"}}
        export: Any = Export("runs.jsonl", "application/x-ndjson", None, pieces(), "event-1")
        with suppress(asyncio.CancelledError):
            await Download(export)(scope, receive, send)
        assert not closed.is_set()
        may_go_on.set()
        return got

    assert asyncio.run(leave_in_the_middle()) == [b"", b"first"]
    assert closed.wait(20)
