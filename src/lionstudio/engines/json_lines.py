"""Streams of one JSON object a line: read without trust in any of it."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lionstudio.engines.engine import Event, Unknown

Fields = Mapping[str, Any]
Read = Callable[[Fields], Iterator[Event]]


class JsonReader:
    """Reads each line by what its `type` says. What is no object, of no known type or of another shape is Unknown."""

    def __init__(self, readers: Mapping[str, Read]) -> None:
        self._readers = readers
        self.line_number = 0

    def read(self, line: str) -> Iterable[Event]:
        self.line_number += 1
        if not line.strip():
            return []
        fields = parse_object(line)
        read = None if fields is None else self._readers.get(text(fields.get("type")) or "")
        if fields is None or read is None:
            return [Unknown(line)]
        return _told(read, fields, line)

    def rest(self) -> Iterable[Event]:
        return ()  # every line is told when it is read


def _told(read: Read, fields: Fields, line: str) -> list[Event]:
    events: list[Event] = []
    try:
        for event in read(fields):
            events.append(event)  # what was told before it goes wrong stays told
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        events.append(Unknown(line))  # its parts are not what its type promises
    return events


def parse_object(line: str) -> Fields | None:
    """The JSON object that a line is, if it is one."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text(value: Any) -> str | None:
    """The value, if it is text that says anything."""
    return value if isinstance(value, str) and value else None


def fields_in(value: Any) -> Fields:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def items_in(value: Any) -> list[Any]:
    """The value, if it is a list; else an empty one."""
    return value if isinstance(value, list) else []


def texts_in(value: Any) -> tuple[str, ...]:
    """The texts of a list."""
    return tuple(item for item in items_in(value) if isinstance(item, str))


def some(**fields: Any) -> dict[str, Any]:
    """Those fields that say anything."""
    return {name: value for name, value in fields.items() if value not in (None, "", (), [], {})}


def seconds_of(timestamp: Any) -> float | None:
    """A moment in ISO 8601 as unix seconds."""
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(timestamp)
        return None if moment.tzinfo is None else moment.timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
