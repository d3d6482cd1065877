"""Running the application: a socket of our own, one process, and an end that tells every reader."""

import asyncio
import errno
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lionstudio.domain.errors import InvalidRequest, Unavailable
from lionstudio.server.connection import Connection
from lionstudio.server.errors import RETRY_AFTER, tell
from lionstudio.server.guard import Door, is_loopback, require_token
from lionstudio.server.live import cut

PORT = 8765
PORTS_TRIED = 20
BACKLOG = 1_024
SHUTDOWN_SECONDS = 3
PROXIES = ["127.0.0.1", "::1"]  # who may say for whom they ask, and whether by TLS; the environment has no say in it
STUCK_SECONDS = 1.5  # of them, in which a reader must take something


class NoPort(Unavailable):
    """The server cannot listen there."""

    code = "no_port"


def require_door(host: str, names: frozenset[str], token: str | None, *, token_from: str = "LIONAGI_TOKEN") -> Door:
    """The door to open; raises InvalidRequest when it would be open to everybody, or to who guesses."""
    if token is not None:
        require_token(token, source=token_from)
    elif not is_loopback(host):
        raise InvalidRequest(
            f"On {host} others can reach the studio, so it needs a token.",
            hint="Set LIONAGI_TOKEN, or give --token-file FILE. Without --host only this machine can reach it.",
        )
    return Door(host, names, token)


def listen(host: str, port: int) -> socket.socket:
    """A socket on this port, or on the next one that is free; raises NoPort."""
    for number in range(port, min(port + PORTS_TRIED, 65_536)) if port else (0,):
        try:
            family = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0][0]
            return _bind(family, host, number)
        except socket.gaierror as error:
            raise NoPort(
                f"{host} is not an address of this machine: {error.strerror}.", hint="Try --host 127.0.0.1"
            ) from None
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                continue
            raise NoPort(f"Cannot listen on {host}:{number}: {error.strerror}.", hint="Try another --port.") from None
    raise NoPort(f"The ports {port} to {port + PORTS_TRIED - 1} are taken.", hint="Choose another one with --port.")


def _bind(family: int, host: str, port: int) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError:
        sock.close()
        raise
    return sock


class _Ending:
    """The application as it is served: whom the end of the server breaks off is told so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            if has_begun:
                await cut(scope)
            else:
                await tell("ending", {"Retry-After": RETRY_AFTER})(scope, receive, send)


class StudioServer(uvicorn.Server):
    """Serves one application on one socket until a signal, or `stop`, says otherwise."""

    def __init__(self, app: FastAPI, on_ready: Callable[[], None] = lambda: None) -> None:
        super().__init__(
            uvicorn.Config(
                _Ending(app),
                loop="uvloop",
                http=Connection,
                ws="none",
                lifespan="on",
                log_level="warning",
                access_log=False,
                server_header=False,
                forwarded_allow_ips=PROXIES,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        self._app = app
        self._on_ready = on_ready

    def serve_on(self, sock: socket.socket) -> None:
        """Serve; `on_ready` is called when requests are answered."""
        with asyncio.Runner(loop_factory=self.config.get_loop_factory()) as runner:
            runner.run(self.serve([sock]))

    def stop(self) -> None:
        """End soon; safe from any thread."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Streams would never end by themselves, and their readers would see a broken line instead of its end.
        self._app.state.studio.live.close_streams()
        cut = asyncio.get_running_loop().call_later(STUCK_SECONDS, self._cut_stuck)
        await super().shutdown(sockets)
        cut.cancel()

    def _cut_stuck(self) -> None:
        """Break off the lines of readers that take nothing: they would keep the server from its end."""
        for connection in list(self.server_state.connections):
            if isinstance(connection, Connection) and connection.is_stuck:
                connection.transport.abort()
