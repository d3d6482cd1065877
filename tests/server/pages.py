"""Reading lists page by page."""

from typing import Any

from starlette.testclient import TestClient


def every_page(client: TestClient, path: str, *, limit: int = 2, **wanted: Any) -> list[dict[str, Any]]:
    """The whole list, and no page of it longer than asked for."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        answer = client.get(path, params={"limit": limit, **wanted, **more})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert len(page["items"]) <= limit
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found
