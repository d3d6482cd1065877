"""Late writers are kept, not trusted: an operator's word stands."""

import time

import pytest

import lionstudio
from lionstudio.domain.session import SessionStatus
from lionstudio.services import health, interventions
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session, list_history

DAY = 86_400


@pytest.fixture
def quiet_run(ctx: Context, location: str, monkeypatch: pytest.MonkeyPatch) -> lionstudio.Run:
    """A run of this very process that has said nothing for a day."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - DAY)
    run = lionstudio.record("quiet", db=location).start()
    run.user("before")
    monkeypatch.setattr(time, "time", now)
    return run


def test_messages_after_an_operators_end_are_kept_and_the_status_too(ctx: Context, quiet_run: lionstudio.Run) -> None:
    interventions.transition(
        ctx,
        [quiet_run.session_id],
        to="failed",
        reason="looks dead",
        actor="ana",
        note="its terminal is gone",
        force=True,
    )
    quiet_run.user("after")
    quiet_run.finish(exit_code=0)

    session, verdict = health.judge(ctx, quiet_run.session_id)
    assert (session.status, session.end_actor) == (SessionStatus.FAILED, "ana")
    assert session == get_session(ctx, quiet_run.session_id)
    assert "run.health.wrote_after_end" in [reason.code for reason in verdict.reasons]
    assert [message.content["instruction"] for message in list_messages(ctx, session.id)] == ["before", "after"]
    history = list_history(ctx, session.id)
    assert [(step.from_status, step.to_status, step.actor, step.reason_code) for step in history] == [
        (None, "running", "run", "run.started"),
        ("running", "failed", "ana", "run.ended.by_operator"),
        ("failed", "failed", "run", "run.ended.late_report"),
    ]
    assert history[-1].evidence == {"reported": "completed", "exit_code": 0}
