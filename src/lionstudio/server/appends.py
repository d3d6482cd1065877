"""Storing messages: asked for more often than all else together, so it takes the shortest way there is. ADR 0034

The framework's way (routes tried in turn, dependencies, a body that is read and then checked) takes longer than storing
a message does. It remains for every body that is wrong or odd: that one is read again there, which says what is wrong.
"""

from pydantic import TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lionstudio.server.answers import answer
from lionstudio.server.routes.runs import append_messages
from lionstudio.server.schemas.messages import ID_LENGTH, MessageIn, MessagesIn
from lionstudio.server.threads import LARGE, WRITES
from lionstudio.services.context import Context

LARGE_BODY = 1024 * 1024  # bytes; read, it may take forty times as much memory
BEFORE, BEHIND = "/api/sessions/", "/messages"  # the id

_read_list = TypeAdapter(MessagesIn).validate_json


class Appends:
    """Stands before the routes. Whatever is raised here is told by those who tell it for them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session_id = _session_of(scope)
        if session_id is None:
            await self._app(scope, receive, send)
            return
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return  # before all of it came, and there is nobody to answer
        try:
            lane = WRITES if len(body) <= LARGE_BODY else LARGE
            response = await lane.run(_store, scope["app"].state.studio.ctx, session_id, body)
        except ValidationError:
            await self._app(scope, _again(body, receive), send)
            return
        await response(scope, receive, send)


def _session_of(scope: Scope) -> str | None:
    """The run that messages are sent to, if this is what is asked."""
    path: str = scope.get("path", "")
    if scope.get("method") != "POST" or not (path.startswith(BEFORE) and path.endswith(BEHIND)):
        return None
    if scope.get("query_string"):
        return None  # there is nothing to ask, which the usual way says
    session_id = path[len(BEFORE) : -len(BEHIND)]
    return session_id if 0 < len(session_id) <= ID_LENGTH and "\n" not in session_id else None


def _store(ctx: Context, session_id: str, body: bytes) -> Response:
    """In a thread, the reading too: a body may have megabytes. Raises ValidationError."""
    said = _read_list(body) if body.lstrip()[:1] == b"[" else MessageIn.model_validate_json(body)
    return answer(append_messages(ctx, session_id, said), 201)


def _again(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, for one who reads it once more."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return parts.pop() if parts else await receive()

    return replay
