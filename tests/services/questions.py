"""Counting what a use case asks of the database."""

import threading
from typing import Any

import pytest

from lionstudio.store.transaction import Tx


def count_questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that this thread asks from now on."""
    asked: list[str] = []
    ask, here = Tx.all, threading.get_ident()

    def counting(self: Tx, sql: str, **params: Any) -> Any:
        if threading.get_ident() == here:
            asked.append(sql)
        return ask(self, sql, **params)

    monkeypatch.setattr(Tx, "all", counting)
    return asked
