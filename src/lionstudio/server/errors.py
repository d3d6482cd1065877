"""One shape for every error: `{"code", "message", "hint"}`, with the status that its family has."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match

from lionstudio.domain.errors import Conflict, Error, Invalid, NotFound, Refused, Unauthorized, Unavailable

STATUS_BY_FAMILY: Mapping[type[Error], int] = {
    Invalid: 422,
    NotFound: 404,
    Conflict: 409,
    Unauthorized: 401,
    Unavailable: 503,
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BODY_LIMIT = 16 * 1024 * 1024
BODIES_LIMIT = 256 * 1024 * 1024  # bytes of all bodies that are held at once
BODY_SECONDS = 30.0  # in which the next part of a body has to come
BODY_DISCARDED = 64 * 1024 * 1024  # bytes that are read and forgotten of a body that is too large
WHOLE_BODY_SECONDS = 300.0  # in which all of it has to: parts of one byte would hold a place for months
RETRY_AFTER = "1"  # seconds, for those who meet a busy database
SHOWN_PROBLEMS = 5  # of a body with many wrong fields
FIELD_LENGTH = 100  # of the path to a wrong one

logger = logging.getLogger("lionstudio.server")


class Told(NamedTuple):
    """What is said when a request never reaches a use case."""

    status: int
    message: str
    hint: str


TOLD: Mapping[str, Told] = {
    "malformed_request": Told(
        400,
        "This is not a request in HTTP/1.1.",
        "Ask with http:// and a method, headers and a length that are well formed.",
    ),
    "host_not_allowed": Told(
        403,
        "This server is not known under the name that was asked for.",
        "Use its address, or start it with --allow-host NAME.",
    ),
    "cross_site": Told(
        403,
        "A page of another site, or of another port, may not ask for this.",
        "Open the studio itself, or type the address into the browser.",
    ),
    "unauthorized": Told(
        401,
        "This server wants to know who asks.",
        "Send the header Authorization: Bearer TOKEN, or open /login in a browser.",
    ),
    "too_many_guesses": Told(
        429, "Too many wrong tokens came from this address.", "Send the right one: it is taken at any time."
    ),
    "not_found": Told(404, "There is nothing at this address.", "Every address is in /api/openapi.json."),
    "method_not_allowed": Told(405, "This cannot be done at this address.", "Every address is in /api/openapi.json."),
    "body_too_slow": Told(408, "The body of the request did not come in time.", "Send the request again."),
    "head_too_slow": Told(408, "The head of the request did not come in time.", "Send the request again."),
    "body_too_large": Told(
        413,
        f"A body may have {BODY_LIMIT // (1024 * 1024)} MiB at most.",
        "Send fewer messages at once, or shorter ones.",
    ),
    "unsupported_media_type": Told(
        415, "The body is not said to be JSON.", "Send the header Content-Type: application/json."
    ),
    "compressed_body": Told(415, "The body is compressed.", "Send it as it is, without the header Content-Encoding."),
    "head_too_large": Told(
        431, "The address and the headers of a request are too long.", "Send fewer headers, or a shorter address."
    ),
    "too_many_requests": Told(
        503, "As many requests are answered as this server allows.", "Close other tabs or clients, then try again."
    ),
    "ending": Told(
        503,
        "The server ended before this was done, and cannot say whether it was.",
        "Send the request again when the server is back; what has an id is stored once.",
    ),
    "invalid_json": Told(
        422,
        "The body is not JSON that can be read.",
        "Send one JSON value in UTF-8, not nested too deeply, with whole numbers of 4,300 digits at most.",
    ),
    "internal_error": Told(500, "Something went wrong inside the server.", "Its log says what; please report it."),
}
# The rest of the request is not read.
BREAKS_OFF = frozenset(
    {
        "malformed_request", "body_too_slow", "body_too_large", "head_too_slow", "head_too_large", "too_many_requests",
        "ending",
    }
)  # fmt: skip


class Refusal(BaseModel):
    """Why one of several runs cannot be changed."""

    session_id: str
    code: str
    message: str
    hint: str | None


class ErrorBody(BaseModel):
    """What happened and why, and what to do next."""

    code: str
    message: str
    hint: str | None
    refusals: list[Refusal] | None = None


class _Line(JSONResponse):
    """JSON that ends its line, for those who read it on a terminal."""

    def render(self, content: Any) -> bytes:
        return super().render(content) + b"\n"


def error_response(
    status: int,
    code: str,
    message: str,
    hint: str | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> JSONResponse:
    """An answer that says what happened, why, and what to do next."""
    return _Line({"code": code, "message": message, "hint": hint, **more}, status, headers)


def tell(code: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer to a request that never reaches a use case."""
    told = TOLD[code]
    more = {"Connection": "close"} if code in BREAKS_OFF else {}
    return error_response(told.status, code, told.message, told.hint, headers={**(headers or {}), **more})


def install(app: FastAPI) -> None:
    """Let every error of this application leave in the one shape."""
    app.add_exception_handler(Error, _tell_error)
    app.add_exception_handler(RequestValidationError, _tell_wrong_fields)
    app.add_exception_handler(HTTPException, _tell_http_error)
    app.add_exception_handler(Exception, _tell_surprise)


def status_of(error: Error) -> int:
    return next((status for family, status in STATUS_BY_FAMILY.items() if isinstance(error, family)), 500)


async def _tell_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Error)
    more: dict[str, Any] = {}
    if isinstance(error, Refused):
        more["refusals"] = [
            {"session_id": id, "code": why.code, "message": why.message, "hint": why.hint}
            for id, why in error.refusals.items()
        ]
    headers = {"Retry-After": RETRY_AFTER} if isinstance(error, Unavailable) else None
    return error_response(status_of(error), error.code, error.message, error.hint, headers=headers, **more)


async def _tell_wrong_fields(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    if any(problem["type"] == "json_invalid" for problem in problems):
        return tell("invalid_json")
    sentences = [_sentence(problem, error.body) for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        sentences.append(f"And {len(problems) - SHOWN_PROBLEMS} more.")
    return error_response(422, "invalid_request", " ".join(sentences), "Every field is described in /api/openapi.json.")


def _sentence(problem: Mapping[str, Any], body: Any) -> str:
    where: Sequence[Any] = problem["loc"]
    path = _path_in(body, where[1:], problem["type"]) if where[0] == "body" else where[1:]
    field = ".".join(map(str, path)) or str(where[0])
    message = str(problem["msg"])
    if len(field) > FIELD_LENGTH:
        field = f"{field[:FIELD_LENGTH]}…"
    return f"{field}: {message[:1].lower()}{message[1:]}."


def _path_in(body: Any, parts: Sequence[Any], trouble: str) -> Iterator[Any]:
    """The parts of a path that are the sender's own: the framework puts the kinds among them that it tried."""
    for number, part in enumerate(parts, 1):
        is_there = part in body if isinstance(body, Mapping) else isinstance(body, list) and part in range(len(body))
        if is_there:
            body = body[part]
            yield part
        elif trouble == "missing" and number == len(parts):
            yield part


async def _tell_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # how the framework says that it could not read a body
        return tell("invalid_json")
    if error.status_code == 405:
        return tell("method_not_allowed", {"Allow": ", ".join(_allowed_methods(request))})
    code = next((code for code, told in TOLD.items() if told.status == error.status_code), None)
    if code is None:
        return error_response(error.status_code, "http_error", str(error.detail), headers=error.headers)
    return tell(code, error.headers)


def _allowed_methods(request: Request) -> list[str]:
    """What can be done at an address. The framework names only what the first of its routes can do."""
    asked = {"type": "http", "path": request.scope["path"], "root_path": request.scope.get("root_path", "")}
    routes = request.app.routes
    return [way for way in METHODS if any(one.matches({**asked, "method": way})[0] is Match.FULL for one in routes)]


async def _tell_surprise(request: Request, error: Exception) -> JSONResponse:
    """What nobody foresaw: the log has the whole of it, the client only that it happened."""
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return tell("internal_error")
