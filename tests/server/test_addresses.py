"""Addresses are put right in the request itself."""

import asyncio

import pytest
from starlette.types import Receive, Scope, Send

from lionstudio.server.addresses import Addresses


@pytest.mark.parametrize(
    ("path", "meant"),
    [("/api/ready", "/api/ready"), ("/api/ready/", "/api/ready"), ("/api/a\0b", "/api/a\ufffdb"), ("/x/", "/x/")],
)
def test_what_is_noted_in_a_request_reaches_the_connection(path: str, meant: str) -> None:
    scope: Scope = {"type": "http", "path": path, "raw_path": path.encode(), "query_string": b"a=%00"}

    async def note(scope: Scope, receive: Receive, send: Send) -> None:
        scope["noted"] = scope["path"]  # as a download does that its reader may pause

    asyncio.run(Addresses(note)(scope, None, None))  # type: ignore[arg-type]
    assert scope["noted"] == meant
