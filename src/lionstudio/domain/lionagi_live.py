"""What recording a live lionagi session has to work out: odd values as JSON, and how its order differs from ours."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

DEEPEST = 100  # levels; deeper ones are told as text
LONGEST = 10_000  # characters of a value that has no JSON

Spans = list[list[int | None]]  # places of a history, counted from 1; the last one may be open at its end
Item = TypeVar("Item")


def as_json(value: Any, *, depth: int = 0) -> Any:
    """A value as JSON that anything can be told in: what has none is told by its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < DEEPEST and isinstance(value, Mapping):
        return {str(name): as_json(item, depth=depth + 1) for name, item in value.items()}
    if depth < DEEPEST and isinstance(value, list | tuple | set | frozenset):
        return [as_json(item, depth=depth + 1) for item in value]
    if isinstance(value, bytes | bytearray):
        return value[:LONGEST].decode(errors="replace")
    try:
        return str(value)[:LONGEST]
    except Exception:  # noqa: BLE001  its class has a mistake, and that is not for us to raise
        return f"<{type(value).__name__}>"


def spans_of(stored: Sequence[str], live: Sequence[str]) -> Spans | None:
    """Where the messages of a live order stand in what was stored; None if that is the same order.

    A branch may put a new system message first, and forget messages. The store forgets nothing and only appends, so
    what lionagi has now is a selection of it. What will be appended belongs to it, too.
    """
    places = {name: place for place, name in enumerate(stored, start=1)}
    spans: Spans = []
    for place in (places[name] for name in live if name in places):
        if spans and spans[-1][1] == place - 1:
            spans[-1][1] = place
        else:
            spans.append([place, place])
    if spans and spans[-1][1] == len(stored):
        spans[-1][1] = None
    else:
        spans.append([len(stored) + 1, None])
    return None if spans == [[1, None]] else spans


def in_spans(history: Sequence[Item], spans: Any) -> list[Item]:
    """The part of a history that the spans name, in their order; all of it if they make no sense."""
    try:
        return list(history) if spans is None else [item for first, last in spans for item in history[first - 1 : last]]
    except (TypeError, ValueError):
        return list(history)
