"""The server itself: that it is ready, and everything that happens, as it happens."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query

from lionstudio.domain.json_text import to_json
from lionstudio.server.answers import Route
from lionstudio.server.dependencies import StudioDep
from lionstudio.server.live import BEAT, Ear, EventStream, LiveFeed, event
from lionstudio.server.schemas.system import Ready
from lionstudio.services.session_stream import parse_cursor
from lionstudio.version import __version__

router = APIRouter(route_class=Route, tags=["system"])

STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}}
LastEventId = Annotated[
    str | None, Header(description="the id of the last event that came, to go on after it", max_length=50)
]
After = Annotated[str | None, Query(description="the same, where no header can be sent", max_length=50)]


@router.get("/ready")
def get_ready(studio: StudioDep) -> Ready:
    """Whether the server answers."""
    live = studio.live
    return Ready(version=__version__, started_at=studio.started_at, streams=live.count, feed_problem=live.problem)


@router.get("/events", status_code=200, response_class=EventStream, responses=STREAM)
async def follow_events(studio: StudioDep, last_event_id: LastEventId = None, after: After = None) -> EventStream:
    """What changes anywhere, as it changes: a topic and ids, never the values themselves."""
    cursor = parse_cursor(last_event_id or after)
    studio.live.require_room()
    return EventStream(_events(studio.live, None if cursor is None else cursor.seq))


async def _events(live: LiveFeed, after: int | None) -> AsyncGenerator[bytes]:
    with live.listen() as ear:
        cursor = live.newest if after is None else after
        yield event("hello", "{}", str(cursor))  # so that whoever breaks off now knows where it was
        while not live.closing:
            ear.clear()
            news = await live.read(cursor)
            cursor = news.cursor
            if news.reload:
                yield event("reload", "{}", str(cursor))
            elif news.changes:
                yield b"".join(
                    event(
                        "change",
                        to_json({"topic": one.topic, "id": one.entity_id, "session_id": one.session_id}, what="event"),
                        str(one.seq),
                    )
                    for one in news.changes
                )
            elif not await _wait(ear, live):
                yield BEAT


async def _wait(ear: Ear, live: LiveFeed) -> bool:
    return live.closing or await ear.wait()
