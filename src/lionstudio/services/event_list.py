"""The event log as people page through it: any filter, newest first (R172)."""

from typing import NamedTuple

from lionstudio.domain.audit import AdminEvent
from lionstudio.domain.drafts import is_time
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session_list import PAGE_LIMIT, Cursor, decode_cursor
from lionstudio.services.context import Context
from lionstudio.store import audit

PAGE = 100


class EventFilter(NamedTuple):
    """What an event must be to be listed; None asks for nothing."""

    action: str | None = None
    target_id: str | None = None
    actor: str | None = None
    since: float | None = None  # from then on
    before: float | None = None  # until then


class EventPage(NamedTuple):
    """One page of events, newest first, and where the next one begins."""

    items: tuple[AdminEvent, ...]
    next_cursor: str | None


def page_events(
    ctx: Context, wanted: EventFilter | None = None, *, cursor: str | None = None, limit: int = PAGE
) -> EventPage:
    """Events that match (R172); raises InvalidRequest for a cursor that is none, or a time that nobody means."""
    wanted = wanted or EventFilter()
    for at in (wanted.since, wanted.before):
        if at is not None and not is_time(at):
            raise InvalidRequest("since and before must be unix seconds.", hint="Use time.time() - 3600.")
    limit = max(1, min(limit, PAGE_LIMIT))
    keys = [] if wanted.before is None else [(wanted.before, "")]  # an empty id: none at that very moment
    if cursor is not None:
        _, at, id = decode_cursor(cursor)
        keys.append((at, id))
    with ctx.db.read() as tx:
        found = audit.list_events(
            tx,
            action=wanted.action,
            target_id=wanted.target_id,
            actor=wanted.actor,
            since=wanted.since,
            before=min(keys, default=None),
            limit=limit + 1,
        )
    items = tuple(found[:limit])
    following = Cursor(0, items[-1].created_at, items[-1].id).encode() if len(found) > limit else None
    return EventPage(items, following)
