"""Reading lists page by page, and counting what that asks of the database."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.store.transaction import Tx


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


def count_questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that a request asks from now on; the feed asks for news by itself."""
    asked: list[str] = []
    ask = Tx.all

    def counting(self: Tx, sql: str, **params: Any) -> Any:
        if "changes" not in sql:
            asked.append(sql)
        return ask(self, sql, **params)

    monkeypatch.setattr(Tx, "all", counting)
    return asked
