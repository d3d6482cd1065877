"""The pages of the studio: files that were built before, and one of them for every address that is a page.

They are looked for after every route, so a page can never stand in the way of the API.
"""

import hashlib
import mimetypes
import os
from collections.abc import Mapping

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from lionstudio.server.plain_page import plain_page
from lionstudio.version import __version__

ASSETS = "assets/"  # their names change with their content
FOR_EVER = "public, max-age=31536000, immutable"
INDEX = "index.html"
# Named here, because a machine may have another opinion, or none, of what they are.
TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
NOT_BUILT = f"""<h1>Lion Studio {__version__}</h1>
<p>The server is running, and its pages have not been built. In the folder of the sources, type
<code>make web</code>, then load this page again. An installed package brings its pages with it.</p>
<p>What they would show can be asked for:</p>
<ul>
<li><a href="/api/stats">/api/stats</a>: what is running, what is stuck, what needs you</li>
<li><a href="/api/attention">/api/attention</a>: each thing that needs you, and why</li>
<li><a href="/api/sessions">/api/sessions</a>: every run</li>
<li><a href="/api/openapi.json">/api/openapi.json</a>: everything else</li>
</ul>
<p>In a terminal: <code>li runs ls</code>, <code>li runs show RUN</code>, <code>li runs tail -f RUN</code>.</p>"""


class Pages:
    """Answers what no route answers."""

    def __init__(self, folder: str, otherwise: ASGIApp) -> None:
        self._folder = os.path.realpath(folder)
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"} or _is_api(scope["path"]):
            await self._otherwise(scope, receive, send)
            return
        answer = await run_in_threadpool(self._answer, scope["path"].lstrip("/"), Headers(scope=scope))
        if answer is None:
            raise HTTPException(404)
        await answer(scope, receive, send)

    def _answer(self, name: str, headers: Headers) -> Response | None:
        found = self._file(name) if name else None
        if found is None and (name.startswith(ASSETS) or _is_file_name(name)):
            return None
        found = found or self._file(INDEX)
        return plain_page(NOT_BUILT) if found is None else _send(found, headers, is_asset=self._is_asset(found))

    def _is_asset(self, path: str) -> bool:
        """Whether the file, wherever its address led, is one whose name changes with its content."""
        return path.startswith(os.path.join(self._folder, ASSETS))

    def _file(self, name: str) -> str | None:
        """The file of this name below the folder, wherever links lead; None when there is none."""
        try:
            path = os.path.realpath(os.path.join(self._folder, name))
            is_inside = os.path.commonpath((self._folder, path)) == self._folder
        except (OSError, ValueError):  # too long, or with a NUL in it
            return None
        return path if is_inside and os.path.isfile(path) else None


def _is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def _is_file_name(name: str) -> bool:
    """Whether this can only mean a file: the pages have no dot in the first part of their addresses."""
    return "." in name.partition("/")[0]


def _send(path: str, headers: Headers, *, is_asset: bool) -> Response:
    kind = TYPES.get(os.path.splitext(path)[1]) or mimetypes.guess_type(path)[0] or "application/octet-stream"
    packed = f"{path}.gz"
    answer = {"Cache-Control": FOR_EVER if is_asset else "no-cache"}
    if os.path.isfile(packed):  # by the build, for what is worth it
        answer["Vary"] = "Accept-Encoding"
        if _takes_gzip(headers.get("accept-encoding", "")):
            answer["Content-Encoding"], path = "gzip", packed
    with open(path, "rb") as file:
        content = file.read()
    answer["ETag"] = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if answer["ETag"] in headers.get("if-none-match", ""):
        return Response(status_code=304, headers=answer)
    return Response(content, headers=answer, media_type=kind)


def _takes_gzip(accepted: str) -> bool:
    for one in accepted.lower().split(","):
        coding, _, weight = one.partition(";")
        if coding.strip() in {"gzip", "*"}:
            return weight.replace(" ", "").rstrip("0.") != "q="  # q=0 means: anything but this
    return False
