"""How an address is asked, and how answers are written: as JSON, with a tag by which a client knows them again."""

import hashlib
import inspect
from collections.abc import Callable, Collection, Coroutine, Mapping
from functools import wraps
from typing import Any, get_args, get_origin

import msgspec
from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError
from starlette.datastructures import QueryParams
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.json_text import to_json
from lionstudio.server.threads import READS, SLOW, WRITES, Lane

NAME_LENGTH = 100  # of a wrong name that is told
NOTHING_KNOWN = "It takes nothing behind a question mark. What is wished of a POST goes into its body."
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
        lane, is_read = self.lane_of(methods), set(methods) == {"GET"}
        super().__init__(path, _written(endpoint, status, lane, is_read=is_read), **settings)
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
        is_stream = getattr(self.response_class, "media_type", None) == "text/event-stream"
        known = _known_names(self.dependant)

        async def unless_known(request: Request) -> Response:
            if request.query_params and not is_stream:  # some readers of streams add words of their own
                _require_known(request.query_params, known)
            response = await handle(request)
            tag = response.headers.get("ETag")
            if tag is not None and tag in request.headers.get("if-none-match", ""):
                return Response(status_code=304, headers={"ETag": tag})
            return response

        return unless_known


def _known_names(dependant: Dependant) -> dict[str, bool]:
    """What may stand after the question mark, and whether several times."""
    found = {}
    for field in dependant.query_params:
        annotation = field.field_info.annotation
        found[field.alias] = list in {get_origin(kind) for kind in (annotation, *get_args(annotation))}
    for part in dependant.dependencies:
        found |= _known_names(part)
    return found


def _require_known(asked: QueryParams, known: Mapping[str, bool]) -> None:
    """A filter with a slip in its name would give all there is, a `dry_run` that belongs into the body would be none,
    and of what is given twice only the last would count. Names that begin with `_` are those of caches.
    """
    for name in asked:
        if name.startswith("_"):
            continue
        if name not in known:
            raise InvalidRequest(
                f"This address knows no {name[:NAME_LENGTH]!r}.",
                hint=f"It knows {', '.join(sorted(known))}." if known else NOTHING_KNOWN,
            )
        if not known[name] and len(asked.getlist(name)) > 1:
            raise InvalidRequest(
                f"{name} is given several times, and takes one value.", hint="Ask once for each value."
            )


class SlowRoute(Route):
    """A route that may take minutes. Few of them run at once, and the others wait for each other alone."""

    @staticmethod
    def lane_of(methods: Collection[str]) -> Lane:
        return SLOW


def _written(endpoint: Callable[..., Any], status: int, lane: Lane, *, is_read: bool) -> Callable[..., Any]:
    """The endpoint, with its model written down, and a tag on what is read: in its thread, since both take a while.

    It keeps its annotations, which the API is described by.
    """
    if inspect.iscoroutinefunction(endpoint):
        return endpoint  # streams, and what has its lane already

    def writing(*args: Any, **kwargs: Any) -> Any:
        result = endpoint(*args, **kwargs)
        response = answer(result, status) if isinstance(result, BaseModel) else result
        if is_read and type(response) is Response and response.status_code == 200:
            response.headers["ETag"] = f'"{hashlib.sha256(response.body).hexdigest()[:TAG_LENGTH]}"'
        return response

    @wraps(endpoint)
    async def writing_in_lane(*args: Any, **kwargs: Any) -> Any:
        return await lane.run(writing, *args, **kwargs)

    return writing_in_lane
