"""Letting a browser in: the token is typed once, and a cookie that no script can read stands for it."""

from contextlib import suppress
from html import escape
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.requests import ClientDisconnect

from lionstudio.server.guard import Door, client_of
from lionstudio.server.guesses import Guesses
from lionstudio.server.plain_page import plain_page

FORM_LIMIT = 4_096

FORM = """<form method="post" action="/login">
<h1>Lion Studio</h1><p>{sentence}</p>
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Open the studio</button></form>"""
ASK = "The token was chosen when this server was started."


def make_router(door: Door, guesses: Guesses) -> APIRouter:
    """The page that asks for the token, and what takes it."""
    router = APIRouter(include_in_schema=False)

    @router.get("/login")
    def ask_for_token() -> Response:
        return RedirectResponse("/", 303) if door.token is None else _page(ASK)

    @router.post("/login")
    async def take_token(request: Request) -> Response:
        form = await _read_form(request)
        if form is None:
            return _page("That is far too long for a token.", 413)
        token = _token_in(form)
        if not door.opens_for(token):
            if not await guesses.slow_down(client_of(request.scope)):
                return _page("Too many wrong tokens came from your address. The right one is taken at any time.", 429)
            return _page("That is not the token. Look where this server was started.", 401)
        answer = RedirectResponse("/", 303)
        is_https = request.url.scheme == "https"
        answer.set_cookie(door.cookie_name, door.cookie, httponly=True, samesite="strict", secure=is_https)
        return answer

    return router


async def _read_form(request: Request) -> bytes | None:
    """No more of it than a token needs: nobody has shown one yet."""
    form = b""
    with suppress(ClientDisconnect):  # and nobody is there to be answered
        async for part in request.stream():
            form += part
            if len(form) > FORM_LIMIT:
                return None
    return form


def _token_in(form: bytes) -> str:
    fields = parse_qs(form.decode("utf-8", "replace"))
    return fields.get("token", [""])[0]


def _page(sentence: str, status: int = 200) -> Response:
    return plain_page(FORM.format(sentence=escape(sentence)), status)
