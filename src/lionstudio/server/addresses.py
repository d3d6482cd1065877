"""Addresses as people type them."""

from starlette.types import ASGIApp, Receive, Scope, Send


class Addresses:
    """Takes an address of the API with a slash at its end for the one without. A name that ends so is written %2F."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if path.startswith("/api/") and len(path) > len("/api/") and scope.get("raw_path", b"").endswith(b"/"):
            scope = {**scope, "path": path[:-1], "raw_path": scope["raw_path"][:-1]}
        await self._app(scope, receive, send)
