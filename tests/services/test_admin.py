"""What operators and the doctor did is written down, listed and, when it is old, forgotten."""

import time

import pytest

from lionstudio.domain.audit import EVENT_RETENTION_COUNT, AdminEvent
from lionstudio.domain.change import Topic
from lionstudio.domain.errors import InvalidContent, InvalidRequest, UnknownWord
from lionstudio.services import admin
from lionstudio.services.context import Context
from lionstudio.store import audit, changes
from tests.factories import NOW, Clock

DAY = 24 * 3600.0


def keep_events(ctx: Context, count: int, *, newest_at: float) -> None:
    with ctx.db.write() as tx:
        for number in range(count):
            event = AdminEvent(f"event-{number:05}", newest_at - number, "classify", None, {}, "doctor_auto")
            audit.add_event(tx, event)


def test_a_recorded_event_is_listed_as_it_was_written(ctx: Context):
    event = admin.record_event(ctx, "vacuum", details={"before": 9, "after": 4}, actor="ana")
    assert admin.list_events(ctx) == [AdminEvent(event.id, NOW, "vacuum", None, {"before": 9, "after": 4}, "ana")]


def test_an_event_is_news(ctx: Context):
    event = admin.record_event(ctx, "checkpoint")
    with ctx.db.read() as tx:
        news = [(change.topic, change.entity_id) for change in changes.list_after(tx, 0, limit=9)]
    assert news == [(Topic.ADMIN, event.id)]


def test_an_event_without_an_actor_is_refused(ctx: Context):
    with pytest.raises(InvalidRequest, match="actor"):
        admin.record_event(ctx, "vacuum", actor=" ")


def test_details_that_are_not_json_are_refused(ctx: Context):
    with pytest.raises(InvalidContent):
        admin.record_event(ctx, "vacuum", details={"when": object()})


def test_events_are_listed_newest_first(ctx: Context, clock: Clock):
    for action in ("prune", "vacuum", "checkpoint"):
        clock.pass_seconds(1)
        admin.record_event(ctx, action)
    assert [event.action for event in admin.list_events(ctx)] == ["checkpoint", "vacuum", "prune"]


def test_events_are_listed_page_by_page_without_a_gap(ctx: Context):
    keep_events(ctx, 7, newest_at=NOW)
    seen: list[str] = []
    before = None
    while page := admin.list_events(ctx, before=before, limit=3):
        seen += [event.id for event in page]
        before = (page[-1].created_at, page[-1].id)
    assert seen == [f"event-{number:05}" for number in range(7)]


def test_events_of_one_moment_are_listed_page_by_page_without_a_gap(ctx: Context):
    ids = {admin.record_event(ctx, "classify").id for _ in range(5)}
    first = admin.list_events(ctx, limit=2)
    rest = admin.list_events(ctx, before=(first[-1].created_at, first[-1].id))
    assert {event.id for event in (*first, *rest)} == ids
    assert len(first) + len(rest) == 5


def test_events_are_filtered_by_action_and_target(ctx: Context):
    admin.record_event(ctx, "transition", target_id="run-1")
    admin.record_event(ctx, "transition", target_id="run-2")
    admin.record_event(ctx, "classify", target_id="run-2")
    found = admin.list_events(ctx, action="transition", target_id="run-2")
    assert [(event.action, event.target_id) for event in found] == [("transition", "run-2")]


def test_trimming_forgets_only_old_events_beyond_the_newest_thousand(ctx: Context):
    real = Context(ctx.db, now=time.time)
    keep_events(real, EVENT_RETENTION_COUNT + 3, newest_at=time.time() - 40 * DAY)
    assert admin.trim_events(real) == 3
    kept = admin.list_events(real, limit=2 * EVENT_RETENTION_COUNT)
    assert [event.id for event in kept] == [f"event-{number:05}" for number in range(EVENT_RETENTION_COUNT)]


def test_trimming_keeps_young_events_however_many_there_are(ctx: Context):
    real = Context(ctx.db, now=time.time)
    keep_events(real, EVENT_RETENTION_COUNT + 3, newest_at=time.time() - 20 * DAY)
    assert admin.trim_events(real) == 0


def test_trimming_keeps_the_newest_thousand_however_old_they_are(ctx: Context):
    real = Context(ctx.db, now=time.time)
    keep_events(real, EVENT_RETENTION_COUNT, newest_at=time.time() - 400 * DAY)
    assert admin.trim_events(real) == 0


def test_trimming_with_a_clock_that_is_ahead_of_the_database_does_not_fail(ctx: Context):
    real = Context(ctx.db, now=lambda: time.time() + 600)
    keep_events(real, EVENT_RETENTION_COUNT + 3, newest_at=time.time() - 30 * DAY + 300)
    assert admin.trim_events(real) == 0


def test_a_history_row_with_a_reason_nobody_registered_is_refused(ctx: Context):
    with pytest.raises(UnknownWord), ctx.db.write() as tx:
        admin.keep_history(
            ctx, tx, "team", "team-1", before=None, after="active", at=NOW, actor="ana", reason="team.made_up"
        )
