"""What lives as long as the server: the database, whoever watches it, and the doctor."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from fastapi.concurrency import run_in_threadpool

from lionstudio.doctor.loop import Doctor
from lionstudio.doctor.resources import ResourceView
from lionstudio.recorders.reading import open_to_read
from lionstudio.server.live import LiveFeed
from lionstudio.services.context import Context
from lionstudio.settings import Settings


class Studio(NamedTuple):
    """The parts of a running server."""

    settings: Settings
    ctx: Context
    live: LiveFeed
    doctor: Doctor
    resources: ResourceView
    started_at: float


@asynccontextmanager
async def open_studio(settings: Settings, now: Callable[[], float]) -> AsyncIterator[Studio]:
    """Open everything, and close it again in the other order; raises Unavailable."""
    opened = await run_in_threadpool(open_to_read, settings, create=True)
    ctx = Context(opened.db, now)
    try:
        live = LiveFeed(ctx)
        await live.start()
        doctor = Doctor(ctx)
        doctor.start()
        try:
            yield Studio(settings, ctx, live, doctor, ResourceView(ctx, settings), ctx.now())
        finally:
            live.close_streams()
            await run_in_threadpool(doctor.stop)
            await live.stop()
    finally:
        await run_in_threadpool(ctx.db.close)
