"""Which sessions a reader asked for, and where the next page begins."""

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.health_words import Health
from lionstudio.domain.session import InvocationKind, SessionStatus, SourceKind
from lionstudio.domain.words import parse_word, unknown_word

PAGE_LIMIT = 500
IDS_LIMIT = 100  # sessions that are asked for by id at once


class Sort(StrEnum):
    """The order of a list."""

    ACTIVE = "active"  # running first, then newest
    CREATED = "created"
    ENDED = "ended"  # what has not ended, then the ended, last first


class View(StrEnum):
    """Named questions that operators ask every day."""

    WAITING = "waiting"  # running, and a person is asked
    SLOW = "slow"  # running for more than 60 minutes
    OVER_60M = "over_60m"  # ended by themselves after more than 60 minutes, in the last 24 h
    NEEDS_REVIEW = "needs_review"  # their play is gated, escalated or blocked
    FAILED_24H = "failed_24h"  # failed or timed out in the last 24 h
    ENDED_24H = "ended_24h"  # ended in the last 24 h, in whatever way
    LEGACY = "legacy"  # without a status


class SessionFilter(NamedTuple):
    """What a session must be to be listed; None asks for nothing."""

    status: SessionStatus | None = None
    kind: InvocationKind | None = None
    source: SourceKind | None = None
    health: Health | None = None
    agent: str | None = None
    playbook: str | None = None
    show: str | None = None
    since: float | None = None
    search: str | None = None
    view: View | None = None
    ids: tuple[str, ...] | None = None  # one of these


_WORDS: Mapping[str, type[StrEnum]] = {
    "status": SessionStatus,
    "kind": InvocationKind,
    "source": SourceKind,
    "health": Health,
    "view": View,
}


def parse_filter(wanted: Mapping[str, Any]) -> SessionFilter:
    """A filter from plain words; raises UnknownWord, which names the allowed ones."""
    known = SessionFilter._fields
    values: dict[str, Any] = {}
    for name, value in wanted.items():
        if name not in known:
            raise unknown_word(name, what="filter", allowed=known)
        if name not in _WORDS and value is not None:
            _require_value(name, value)
        if value is not None:
            values[name] = parse_word(_WORDS[name], value, what=name) if name in _WORDS else value
    return SessionFilter(**values)


def _require_value(name: str, value: Any) -> None:
    if name == "since":
        from lionstudio.domain.drafts import is_time  # most lists ask for no time, and must be quick

        if not is_time(value):
            raise InvalidRequest(f"since must be unix seconds, not {value!r}.", hint="Use time.time() - 3600.")
    elif name == "ids":
        if not isinstance(value, tuple) or not all(isinstance(id, str) for id in value) or len(value) > IDS_LIMIT:
            raise InvalidRequest("The filter ids must be a tuple of ids.", hint=f"Give {IDS_LIMIT} at most.")
    elif not isinstance(value, str):
        raise InvalidRequest(f"The filter {name} must be text, not {type(value).__name__}.", hint="Give one name.")


class Cursor(NamedTuple):
    """The last row of a page: its group (running or not, ended or not), its time and its id."""

    group: int
    at: float
    id: str

    def encode(self) -> str:
        import base64  # most lists fit on one page
        import json

        return base64.urlsafe_b64encode(json.dumps([self.group, self.at, self.id]).encode()).decode().rstrip("=")


def decode_cursor(text: str) -> Cursor:
    """A cursor that `encode` made; raises InvalidRequest for anything else."""
    import base64
    import json

    try:
        group, at, id = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if not abs(float(at)) < math.inf or b"\0" in str(id).encode():  # no row has such a time or id
            raise ValueError(text)
        return Cursor(int(group), float(at), str(id))
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidRequest(
            f"{text[:40]!r} is not a cursor.", hint="Use next_cursor of the page before, or none for the first page."
        ) from error
