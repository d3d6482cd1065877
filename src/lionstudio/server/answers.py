"""How answers are written: as JSON, once, with a tag by which a client knows that it has them already."""

import hashlib
import inspect
from collections.abc import Callable, Collection, Coroutine
from functools import wraps
from typing import Any

import msgspec
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from lionstudio.domain.json_text import to_json
from lionstudio.server.threads import READS, SLOW, WRITES, Lane

TAG_LENGTH = 24  # of the 64 digits of a sum that processors have an instruction for

_encode = msgspec.json.Encoder().encode  # of plain values, in a tenth of the time that pydantic takes for them


def answer(body: BaseModel | dict[str, Any], status: int = 200) -> Response:
    """A model, or its fields, as the body of an answer. It ends its line, for those who read it on a terminal."""
    return Response(json_of(body) + b"\n", status, media_type="application/json")


def json_of(body: BaseModel | dict[str, Any]) -> bytes:
    """A model, or its fields, as JSON. Text from agents may hold half a character, which only an escape can carry."""
    try:
        return body.model_dump_json().encode() if isinstance(body, BaseModel) else _encode(body)
    except (PydanticSerializationError, ValueError):
        return to_json(body.model_dump() if isinstance(body, BaseModel) else body).encode()


class Route(APIRoute):
    """A route whose model is written as it is: FastAPI would check every field of ours a second time."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **settings: Any) -> None:
        status, methods = settings.get("status_code") or 200, settings.get("methods") or ["GET"]
        super().__init__(path, _written(endpoint, status, self.lane_of(methods)), **settings)
        kind = settings.get("response_class")
        is_sent_in_parts = isinstance(kind, type) and issubclass(kind, StreamingResponse)
        self._answers_head = "GET" in methods and not is_sent_in_parts

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return super().matches(self._as_get(scope))

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await super().handle(self._as_get(scope), receive, send)

    def _as_get(self, scope: Scope) -> Scope:
        """HEAD is GET without its body, which the server below leaves out; OpenAPI has no operation for it."""
        if self._answers_head and scope.get("method") == "HEAD":
            return {**scope, "method": "GET"}
        return scope

    @staticmethod
    def lane_of(methods: Collection[str]) -> Lane:
        """Whose threads it runs in."""
        return READS if set(methods) == {"GET"} else WRITES

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def tagged(request: Request) -> Response:
            response = await handle(request)
            if request.method != "GET" or response.status_code != 200 or type(response) is not Response:
                return response
            tag = f'"{hashlib.sha256(response.body).hexdigest()[:TAG_LENGTH]}"'
            if tag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers={"ETag": tag})
            response.headers["ETag"] = tag
            return response

        return tagged


class SlowRoute(Route):
    """A route that may take minutes. Few of them run at once, and the others wait for each other alone."""

    @staticmethod
    def lane_of(methods: Collection[str]) -> Lane:
        return SLOW


def _written(endpoint: Callable[..., Any], status: int, lane: Lane) -> Callable[..., Any]:
    """The endpoint, with its model written down. It keeps its annotations, which the API is described by."""
    if inspect.iscoroutinefunction(endpoint):
        return endpoint  # streams, and what has its lane already

    def writing(*args: Any, **kwargs: Any) -> Any:
        result = endpoint(*args, **kwargs)
        return answer(result, status) if isinstance(result, BaseModel) else result

    @wraps(endpoint)
    async def writing_in_lane(*args: Any, **kwargs: Any) -> Any:
        return await lane.run(writing, *args, **kwargs)

    return writing_in_lane
