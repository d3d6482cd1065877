"""How every list is answered."""

from typing import Generic, TypeVar

from pydantic import BaseModel

Item = TypeVar("Item")


class Page(BaseModel, Generic[Item]):
    """Some of what there is, and where the rest begins."""

    items: list[Item]
    next_cursor: str | None = None
