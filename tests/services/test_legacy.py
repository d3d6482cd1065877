"""Legacy runs: without a status until an operator gives them one."""

import pytest

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session import SessionStatus
from lionstudio.services import admin, legacy, sessions
from lionstudio.services.change_feed import newest_number, read_changes
from lionstudio.services.context import Context
from lionstudio.services.imports import BranchImport, SessionImport, import_sessions
from tests.domain.factories import make_branch, make_session
from tests.factories import start_run, user_says


def bring_in(ctx: Context, session_id: str, status: str | None = None) -> None:
    session = make_session(id=session_id, status=status, ended_at=None, progression_id=f"{session_id}-order")
    branch = make_branch(id=f"{session_id}-main", session_id=session_id, progression_id=f"{session_id}-main-order")
    said = user_says("hello", id=f"{session_id}-1", created_at=session.created_at + 5)
    import_sessions(ctx, [SessionImport(session, [BranchImport(branch, [said])])])


def test_a_legacy_run_stays_so_until_an_operator_backfills_it(ctx: Context) -> None:
    for session_id in ("old-1", "old-2"):
        bring_in(ctx, session_id)
    bring_in(ctx, "failed", "failed")
    start_run(ctx, "runs")
    assert legacy.count_legacy(ctx) == 2
    assert legacy.list_legacy(ctx, limit=10) == ["old-1", "old-2"]
    before = newest_number(ctx)
    assert legacy.backfill_legacy(ctx, actor="ana") == 2
    session = sessions.get_session(ctx, "old-1")
    assert (session.status, session.ended_at) == (SessionStatus.COMPLETED, session.last_message_at)
    step = sessions.list_history(ctx, "old-1")[-1]
    assert (step.from_status, step.to_status, step.actor, step.reason_code) == (None, "completed", "ana", legacy.REASON)
    assert sessions.get_session(ctx, "failed").status is SessionStatus.FAILED
    assert sessions.get_session(ctx, "runs").status is SessionStatus.RUNNING
    (event,) = [event for event in admin.list_events(ctx) if event.action == "backfill_legacy"]
    assert (event.details, event.actor) == ({"sessions": 2}, "ana")
    told = [change.entity_id for change in read_changes(ctx, before).changes if change.session_id]
    assert sorted(told) == ["old-1", "old-2"]


def test_a_backfilled_run_that_reports_its_end_names_nobody_who_ended_it(ctx: Context) -> None:
    bring_in(ctx, "old-1")
    legacy.backfill_legacy(ctx, actor="ana")
    for status in ("completed", "failed"):
        assert sessions.finish_session(ctx, "old-1", status).status is SessionStatus.COMPLETED
    backfilled, late = sessions.list_history(ctx, "old-1")
    assert (backfilled.actor, late.actor) == ("ana", "run")
    assert late.sentence == "The run reported failed after it had ended as completed."


def test_backfilling_when_there_is_nothing_leaves_no_trace(ctx: Context) -> None:
    start_run(ctx)
    before = newest_number(ctx)
    assert legacy.backfill_legacy(ctx, actor="ana") == 0
    assert newest_number(ctx) == before


def test_many_are_backfilled_a_batch_at_a_time(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legacy, "BATCH", 2)
    for number in range(5):
        bring_in(ctx, f"old-{number}")
    seen: list[int] = []
    assert legacy.backfill_legacy(ctx, actor="ana", on_progress=seen.append) == 5
    assert seen == [2, 4, 5]


def test_who_backfills_must_be_known(ctx: Context) -> None:
    with pytest.raises(InvalidRequest):
        legacy.backfill_legacy(ctx, actor=" ")
