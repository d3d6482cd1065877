"""Addresses as people type them, and as both databases take them."""

from starlette.types import ASGIApp, Receive, Scope, Send


class Addresses:
    """Takes an address of the API with a slash at its end for the one without. A name that ends so is written %2F.

    NUL becomes U+FFFD, as in every text that is stored: of the databases only one would take it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope.get("path", "")
        if path.startswith("/api/"):
            # In the request itself and not in a copy: what is noted in it further in has to reach the connection.
            if len(path) > len("/api/") and scope.get("raw_path", b"").endswith(b"/"):
                path = path[:-1]
                scope["raw_path"] = scope["raw_path"][:-1]
            scope["path"] = path.replace("\0", "\ufffd")
            scope["query_string"] = scope["query_string"].replace(b"%00", b"%EF%BF%BD")
        await self._app(scope, receive, send)
