"""The event log, page by page."""

import math

import pytest

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session_list import Cursor
from lionstudio.services import admin
from lionstudio.services.context import Context
from lionstudio.services.event_list import EventFilter, page_events
from tests.factories import NOW, Clock


def put_events(ctx: Context, clock: Clock) -> None:
    """Six events, a second apart; the newest is `prune run-1 bob` at NOW + 6."""
    for action in ("transition", "prune"):
        for target, actor in (("run-1", "ana"), ("run-2", "ana"), ("run-1", "bob")):
            clock.pass_seconds(1)
            admin.record_event(ctx, action, target_id=target, actor=actor)


def told(ctx: Context, wanted: EventFilter) -> list[tuple[str, str | None, str, float]]:
    return [(one.action, one.target_id, one.actor, one.created_at - NOW) for one in page_events(ctx, wanted).items]


@pytest.mark.parametrize(
    ("wanted", "seconds"),
    [
        (EventFilter(), [6, 5, 4, 3, 2, 1]),
        (EventFilter(action="prune"), [6, 5, 4]),
        (EventFilter(target_id="run-2"), [5, 2]),
        (EventFilter(actor="bob"), [6, 3]),
        (EventFilter(actor="bob", action="prune", target_id="run-1"), [6]),
        (EventFilter(since=NOW + 4), [6, 5, 4]),
        (EventFilter(before=NOW + 4), [3, 2, 1]),
        (EventFilter(since=NOW + 2, before=NOW + 5, actor="ana"), [4, 2]),
        (EventFilter(actor="nobody"), []),
    ],
)
def test_events_are_listed_by_any_filter(ctx: Context, clock: Clock, wanted: EventFilter, seconds: list[int]):
    put_events(ctx, clock)
    assert [at for *_, at in told(ctx, wanted)] == seconds


@pytest.mark.parametrize("wanted", [EventFilter(), EventFilter(before=NOW + 6), EventFilter(actor="ana")])
def test_pages_follow_each_other_without_a_gap(ctx: Context, clock: Clock, wanted: EventFilter):
    put_events(ctx, clock)
    for _ in range(3):  # of one moment
        admin.record_event(ctx, "classify", actor="ana")
    whole = page_events(ctx, wanted).items
    seen: list[str] = []
    cursor: str | None = None
    for _ in whole:
        page = page_events(ctx, wanted, cursor=cursor, limit=2)
        assert len(page.items) <= 2
        seen += [event.id for event in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == [event.id for event in whole] != []


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", "", "W10"),
        *(Cursor(*parts).encode() for parts in ((0, math.nan, "a"), (math.inf, NOW, "a"), (0, NOW, "a\0b"))),
        Cursor(0, NOW, "\udc80").encode(),
    ],
)
def test_a_cursor_that_is_none_is_refused(ctx: Context, cursor: str):
    with pytest.raises(InvalidRequest, match="cursor"):
        page_events(ctx, cursor=cursor)


@pytest.mark.parametrize("wanted", [EventFilter(since=1e300), EventFilter(before=float("nan"))])
def test_a_time_that_nobody_means_is_refused(ctx: Context, wanted: EventFilter):
    with pytest.raises(InvalidRequest, match="unix seconds"):
        page_events(ctx, wanted)


@pytest.mark.parametrize("text", ["a\0b", "\udc80"])
def test_a_filter_that_no_database_can_hold_finds_nothing(ctx: Context, clock: Clock, text: str):
    put_events(ctx, clock)
    assert page_events(ctx, EventFilter(action=text)).items == ()
