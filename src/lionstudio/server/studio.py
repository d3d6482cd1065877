"""What lives as long as the server: the database, whoever watches it, and the doctor."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from fastapi.concurrency import run_in_threadpool

from lionstudio import machine
from lionstudio.doctor.failures import Failures
from lionstudio.doctor.loop import Doctor
from lionstudio.doctor.resources import ResourceView
from lionstudio.domain.process import Place
from lionstudio.recorders.reading import open_to_read
from lionstudio.recorders.spool import replay_left_behind
from lionstudio.server.live import LiveFeed
from lionstudio.services.context import Context
from lionstudio.settings import Settings

BRING_BACK_EVERY = 10.0  # seconds

logger = logging.getLogger("lionstudio.server")


class Studio(NamedTuple):
    """The parts of a running server."""

    settings: Settings
    ctx: Context
    live: LiveFeed
    doctor: Doctor
    bringing_back: Failures  # of what is done with the spool
    resources: ResourceView
    started_at: float
    place: Place


async def _bring_back_again_and_again(ctx: Context, settings: Settings, failures: Failures) -> None:
    """Write what recorders that are gone set aside while the database was away: nobody else may come to open it."""
    while True:
        await asyncio.sleep(BRING_BACK_EVERY)
        with failures.noted():  # it is in the health report; the next time may work
            await run_in_threadpool(replay_left_behind, ctx, settings.spool, settings.db, strict=True)
        if failures.in_a_row == 1 and failures.last is not None:
            logger.warning("what recorders set aside cannot be brought back: %s", failures.last.sentence)


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
        failures = Failures(ctx)
        bringing = asyncio.create_task(_bring_back_again_and_again(ctx, settings, failures))
        try:
            resources = ResourceView(ctx, settings)
            yield Studio(settings, ctx, live, doctor, failures, resources, ctx.now(), machine.here())
        finally:
            bringing.cancel()
            live.close_streams()
            await run_in_threadpool(doctor.stop)
            await live.stop()
    finally:
        await run_in_threadpool(ctx.db.close)
