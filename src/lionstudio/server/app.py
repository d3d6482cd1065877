"""The application: its routes, its guard, and what it opens when it starts."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from fastapi.telemetry import TelemetryConfig

from lionstudio.server import errors
from lionstudio.server.addresses import Addresses
from lionstudio.server.appends import Appends
from lionstudio.server.guard import Door, Guard
from lionstudio.server.guesses import Guesses
from lionstudio.server.pages import Pages
from lionstudio.server.routes import (
    admin,
    dashboard,
    inbox,
    interventions,
    login,
    runs,
    shows,
    system,
    teams,
    upkeep,
)
from lionstudio.server.studio import open_studio
from lionstudio.services.scratch import remove_left
from lionstudio.settings import Settings
from lionstudio.version import __version__

ROUTERS: tuple[APIRouter, ...] = (
    runs.router,  # first, because they are tried in order, and messages and lists are asked for most
    system.router,
    dashboard.router,
    shows.router,
    teams.router,
    inbox.router,
    admin.router,
    interventions.router,
    upkeep.router,
)

# Nothing leaves this machine, whatever the environment says to a framework that can send.
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}


class _App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """What the framework says, but that errors are JSON, also of what answers with a stream or a file."""
        document = super().openapi()
        for operation in (one for ways in document["paths"].values() for one in ways.values()):
            for code, response in operation["responses"].items():
                if code[0] != "2" and "content" in response:
                    (schema,) = response["content"].values()
                    response["content"] = {"application/json": schema}
        return document


def create_app(settings: Settings, door: Door | None = None, *, now: Callable[[], float] = time.time) -> FastAPI:
    """The server for one database, as it is seen through one door."""

    door, guesses = door or Door(), Guesses()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # The copy of a whole database that a killed server was about to send must not stay until the next export.
        await run_in_threadpool(remove_left, str(settings.backups))
        async with open_studio(settings, now) as studio:
            app.state.studio = studio
            yield

    app = _App(
        title="Lion Studio",
        version=__version__,
        summary="The flight recorder and control tower for people who run many AI agents.",
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # an address that is nearly one of ours is none
        generate_unique_id_function=_operation_id,
        telemetry=NO_TELEMETRY,
        responses={
            **{code: {"model": errors.ErrorBody} for code in (404, 409, 422, 503)},
            "default": {"model": errors.ErrorBody, "description": "Anything else that is refused, by the door or here"},
        },
    )
    errors.install(app)
    for router in ROUTERS:
        app.include_router(router, prefix="/api")
    app.include_router(login.make_router(door, guesses))
    app.router.default = Pages(settings.web_folder, app.router.default)  # after every route, so that none is hidden
    app.router.middleware_stack = Appends(app.router.middleware_stack)
    app.add_middleware(Addresses)
    app.add_middleware(Guard, door=door, guesses=guesses)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name  # the function's own name, which clients get as theirs
