"""Who may come in, and how much they may bring: checked before any route is looked for.

A web page of someone else's can make a browser send requests to an address on this machine. It cannot choose the Host
and Origin headers, nor Sec-Fetch-Site, so those decide; and it cannot send JSON without being asked first, which we
never allow.
"""

import asyncio
import hashlib
import hmac
import ipaddress
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

from fastapi import HTTPException
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lionstudio.domain.errors import InvalidRequest
from lionstudio.server.errors import (
    BODIES_LIMIT,
    BODY_DISCARDED,
    BODY_LIMIT,
    BODY_SECONDS,
    RETRY_AFTER,
    WHOLE_BODY_SECONDS,
    tell,
)
from lionstudio.server.guesses import Guesses

COOKIE = "lionstudio"
TOKEN_LENGTHS = range(16, 1_001)  # a shorter one could be guessed, a longer one does not fit into the form of /login
OPEN_PATHS = frozenset({"/login", "/favicon.ico"})  # for those who have no token yet
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]


class Door(NamedTuple):
    """Where the server listens, under which names it is known, and the token it wants to see."""

    host: str = "127.0.0.1"
    names: frozenset[str] = frozenset()
    token: str | None = None

    @property
    def is_local(self) -> bool:
        return is_loopback(self.host)

    def knows(self, name: str) -> bool:
        """Whether a request may be meant for a host of this name. An address cannot be made to point elsewhere."""
        if name in LOOPBACK_NAMES or name in self.names or name == self.host:
            return True
        return not self.is_local and _is_address(name)

    def opens_for(self, token: str) -> bool:
        return self.token is None or hmac.compare_digest(token.encode(), self.token.encode())

    @property
    def cookie(self) -> str:
        """What a browser keeps instead of the token, which it could be read from."""
        return hmac.digest((self.token or "").encode(), b"lionstudio cookie", hashlib.sha256).hex()

    @property
    def cookie_name(self) -> str:
        """One for each token: a browser has one jar for all ports of a host, and two studios may be there."""
        digest = hmac.digest((self.token or "").encode(), b"lionstudio cookie name", hashlib.sha256)
        return f"{COOKIE}_{digest[:4].hex()}"

    def opens_for_cookie(self, cookie: str) -> bool:
        return self.token is None or hmac.compare_digest(cookie.encode(), self.cookie.encode())


def require_token(token: str, *, source: str) -> None:
    """Raises InvalidRequest for a token that can be guessed, or that a header cannot carry."""
    if len(token) in TOKEN_LENGTHS and token.isascii() and token.isprintable() and " " not in token:
        return
    raise InvalidRequest(
        f"{source} does not hold a token: {TOKEN_LENGTHS[0]} to {TOKEN_LENGTHS[-1]:,} letters, digits and signs of "
        "ASCII, without spaces.",
        hint="Make one: openssl rand -hex 16",
    )


def is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Stands before the application."""

    def __init__(self, app: ASGIApp, door: Door, guesses: Guesses) -> None:
        self._app = app
        self._door = door
        self._guesses = guesses
        self._held = 0  # bytes of bodies whose requests are not answered yet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        body = _Body(receive, self._hold)
        refused = await self._refuse(scope)
        if refused is None:
            try:
                await self._app(scope, body.receive, send)
            finally:
                self._held -= body.held
            return
        if refused.status_code == 413 and "expect" not in Headers(scope=scope):
            await body.discard()
        await refused(scope, receive, send)

    def _hold(self, size: int) -> None:
        if self._held + size > BODIES_LIMIT:
            raise HTTPException(503, headers={"Retry-After": RETRY_AFTER})
        self._held += size

    async def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        method, path = scope["method"], scope["path"]
        names = headers.getlist("host")
        host = _host_of(f"//{names[0]}") if len(names) == 1 else None
        if host is None or not self._door.knows(host):
            return tell("host_not_allowed")
        if (method not in SAFE_METHODS or path.startswith("/api/")) and _is_cross_site(headers):
            return tell("cross_site")
        if not self._is_known(headers) and path not in OPEN_PATHS:
            if self._brings_something(headers) and not await self._guesses.slow_down(client_of(scope)):
                return tell("too_many_guesses")
            return _ask_who(headers, method, path)
        return _refuse_body(headers, method, path)

    def _is_known(self, headers: Headers) -> bool:
        if self._door.token is None:
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._door.opens_for(token.strip()):
            return True
        return any(self._door.opens_for_cookie(cookie) for cookie in self._cookies(headers))

    def _brings_something(self, headers: Headers) -> bool:
        """Whether this could be a guess: without anything there is nothing to guess."""
        return "authorization" in headers or bool(self._cookies(headers))

    def _cookies(self, headers: Headers) -> list[str]:
        """Every value of our cookie. Programs on other ports share the cookies of a host, and write anything there."""
        pairs = (pair.partition("=") for line in headers.getlist("cookie") for pair in line.split(";"))
        return [value.strip() for name, _, value in pairs if name.strip() == self._door.cookie_name]


def client_of(scope: Scope) -> str:
    """The address a request comes from; of a client before a proxy on this machine, if that one says so."""
    return scope["client"][0] if scope.get("client") else ""


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _is_cross_site(headers: Headers) -> bool:
    """Whether a page that is not ours made a browser ask. Even a read costs something: an export copies everything.

    Another port of this machine is another origin too, but of the "same site": whatever runs there gets our cookie.
    """
    if headers.get("sec-fetch-site") in {"cross-site", "same-site"}:
        return True
    origin = headers.get("origin")
    if origin is None:
        return False  # no browser, or none that we have to fear
    try:
        return urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
    except ValueError:
        return True


def _ask_who(headers: Headers, method: str, path: str) -> Response:
    if method == "GET" and not path.startswith("/api/") and "text/html" in headers.get("accept", ""):
        return RedirectResponse("/login", 303)
    return tell("unauthorized", {"WWW-Authenticate": "Bearer"})


def _refuse_body(headers: Headers, method: str, path: str) -> Response | None:
    """What the head of a request alone says about its body."""
    length = headers.get("content-length", "0")
    if length.isascii() and length.isdecimal() and int(length) > BODY_LIMIT:
        return tell("body_too_large")
    has_body = length != "0" or "transfer-encoding" in headers
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method not in SAFE_METHODS and path.startswith("/api/") and has_body:
        if kind != "application/json":
            return tell("unsupported_media_type")
        if headers.get("content-encoding", "identity").lower() != "identity":
            return tell("compressed_body")
    return None


class _Body:
    """A body that is counted while it is read."""

    def __init__(self, receive: Receive, hold: Callable[[int], None]) -> None:
        self._receive = receive
        self._hold = hold
        self._length = 0
        self.held = 0  # bytes of it, as long as it is not answered
        self._is_whole = False
        self._give_up = asyncio.get_running_loop().time() + WHOLE_BODY_SECONDS

    async def receive(self) -> Message:
        if self._is_whole:
            return await self._receive()  # the reader waits to be told that the other side has gone
        message = await self._receive_part()
        if self._length > BODY_LIMIT:
            await self.discard()
            raise HTTPException(413)
        size = len(message.get("body", b""))
        self._hold(size)
        self.held += size
        return message

    async def discard(self) -> None:
        """Read what still comes and forget it: most who send listen only after their last byte."""
        with suppress(HTTPException):
            while not self._is_whole and self._length <= BODY_DISCARDED:
                await self._receive_part()

    async def _receive_part(self) -> Message:
        try:
            async with asyncio.timeout_at(min(self._give_up, asyncio.get_running_loop().time() + BODY_SECONDS)):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408) from None
        self._length += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        return message


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            told = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in _RAW_HEADERS if pair[0] not in told)]
        await send(message)

    return sent
