"""The server itself: that it is ready, and everything that happens, as it happens."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response

from lionstudio.server.answers import Route, answer
from lionstudio.server.dependencies import StudioDep
from lionstudio.server.live import BEAT, BEAT_TO_PAGES, EventStream, LiveFeed, event, place
from lionstudio.server.schemas.system import PlaceOut, Ready, TotalsOut
from lionstudio.services.session_stream import parse_cursor
from lionstudio.services.totals import count_everything
from lionstudio.version import __version__

router = APIRouter(route_class=Route, tags=["system"])

STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}}
LastEventId = Annotated[
    str | None,
    Header(description="the last id that came, to go on after it: a number, or two with a dot", max_length=50),
]
After = Annotated[str | None, Query(description="the same, where no header can be sent", max_length=50)]


@router.get("/ready", response_model=Ready)
async def get_ready(studio: StudioDep) -> Response:
    """Whether the server answers. It needs neither a thread nor the database, so it never waits."""
    live = studio.live
    return answer(
        Ready(
            version=__version__,
            started_at=studio.started_at,
            streams=live.count,
            feed_problem=live.problem,
            place=PlaceOut(**studio.place._asdict()),
        )
    )


@router.get("/totals")
def get_totals(studio: StudioDep) -> TotalsOut:
    """How many runs, shows and teams there are, and where they are kept."""
    totals = count_everything(studio.ctx, studio.settings.shows_folder)
    return TotalsOut(**totals._asdict(), version=__version__)


@router.get("/events", status_code=200, response_class=EventStream, responses=STREAM)
async def follow_events(
    studio: StudioDep,
    last_event_id: LastEventId = None,
    after: After = None,
    beats: Annotated[
        bool, Query(description="signs of life as events `hello` and `beat`: browsers keep comments from their pages")
    ] = False,
) -> EventStream:
    """What changes anywhere, as it changes: a topic and ids, never the values themselves."""
    given = parse_cursor(last_event_id or after)
    studio.live.require_room()
    cursor = await studio.live.find_newest() if given is None else given.seq
    return EventStream(_events(studio.live, cursor, beats=beats))


async def _events(live: LiveFeed, cursor: int, *, beats: bool) -> AsyncGenerator[bytes]:
    with live.listen() as ear:
        # So that whoever breaks off now knows where it was.
        yield event("hello", "{}", str(cursor)) if beats else place(str(cursor))
        while not live.closing:
            ear.clear()
            heard = await live.read(cursor)
            cursor = heard.cursor
            if heard.reload:
                yield event("reload", "{}", str(cursor))
            elif heard.data:
                yield heard.data
                await asyncio.sleep(0)  # a reader that takes all at once would leave no turn to others
            elif not await ear.wait():
                yield BEAT_TO_PAGES if beats else BEAT
                await live.look()
