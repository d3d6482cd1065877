"""Operators end runs that cannot end themselves: guarded, all or nothing, with a trace of why."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lionstudio import machine
from lionstudio.domain.change import Topic
from lionstudio.domain.errors import (
    IllegalTransition,
    InvalidRequest,
    ProcessIsAlive,
    Refused,
    SessionIsHealthy,
    SessionNotFound,
    UnknownWord,
)
from lionstudio.domain.health import HOUR, Health
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.domain.session import SessionStatus
from lionstudio.services import admin, health, interventions, messages, sessions
from lionstudio.services.context import Context
from lionstudio.services.interventions import Intervention
from lionstudio.services.refusing import MOST_AT_ONCE
from lionstudio.store import changes
from tests.factories import NOW, Clock, line_of, start_run, user_says
from tests.services.interleaving import do_within


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until a test ends it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def record_process(ctx: Context, session_id: str, pid: int) -> None:
    seen = machine.look_at(pid)
    assert seen is not None
    sessions.put_process(
        ctx, ProcessRecord(session_id, ProcessRole.AGENT, machine.here(), pid, start_time=seen.start_time)
    )


def start_dead_run(ctx: Context, session_id: str = "run-1") -> None:
    """A run that spoke once and whose process is gone: stale."""
    start_run(ctx, session_id)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        record_process(ctx, session_id, process.pid)
        process.kill()
    messages.append_message(ctx, line_of(session_id), user_says("go"))


def start_unresponsive_run(ctx: Context, clock: Clock, child: subprocess.Popen[bytes]) -> None:
    start_run(ctx, kind="agent")
    record_process(ctx, "run-1", child.pid)
    clock.pass_seconds(7 * HOUR)


def transition(ctx: Context, *session_ids: str, **more: Any) -> list[Intervention]:
    order = {"to": "failed", "reason": "its host was switched off", "actor": "ana"}
    return interventions.transition(ctx, session_ids or ["run-1"], **{**order, **more})


def everything(ctx: Context, *session_ids: str) -> tuple[Any, ...]:
    """All that a transition may change."""
    with ctx.db.read() as tx:
        news = changes.span(tx)
    runs = [(sessions.get_session(ctx, name), sessions.list_history(ctx, name)) for name in session_ids or ("run-1",)]
    return runs, admin.list_events(ctx), news


def test_a_dead_run_gets_the_status_that_the_operator_chose(ctx: Context, clock: Clock):
    start_dead_run(ctx)
    clock.pass_seconds(60)
    (done,) = transition(ctx, to="aborted")
    run = sessions.get_session(ctx, "run-1")
    assert (run.status, run.ended_at, run.end_actor, run.end_reason, run.exit_code) == (
        SessionStatus.ABORTED,
        NOW + 60,
        "ana",
        "run.ended.by_operator",
        None,
    )
    assert (done.session, done.previous_status, done.verdict.health) == (run, SessionStatus.RUNNING, Health.STALE)


def test_an_orphaned_run_can_be_ended(ctx: Context, clock: Clock):
    start_run(ctx)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        record_process(ctx, "run-1", process.pid)
        process.kill()
    clock.pass_seconds(120)
    (done,) = transition(ctx)
    assert (done.verdict.health, done.session.status) == (Health.ORPHANED, SessionStatus.FAILED)


def test_a_run_that_nobody_can_see_and_that_is_quiet_for_too_long_can_be_ended(ctx: Context, clock: Clock):
    start_run(ctx)
    clock.pass_seconds(7 * HOUR)
    assert transition(ctx)[0].session.status is SessionStatus.FAILED


def test_one_id_need_not_stand_in_a_list(ctx: Context):
    start_dead_run(ctx)
    done = interventions.transition(ctx, "run-1", to="failed", reason="gone", actor="ana")
    assert [one.session.id for one in done] == ["run-1"]


def test_a_transition_is_kept_in_the_history_of_the_run(ctx: Context):
    start_dead_run(ctx)
    transition(ctx, note="seen on the console")
    step = sessions.list_history(ctx, "run-1")[-1]
    assert (step.from_status, step.to_status, step.actor, step.reason_code, step.sentence) == (
        "running",
        "failed",
        "ana",
        "run.ended.by_operator",
        "its host was switched off (seen on the console)",
    )
    assert step.evidence is not None and step.evidence["health"] == "stale"


def test_each_run_of_a_transition_leaves_one_event(ctx: Context):
    start_dead_run(ctx, "run-1")
    start_dead_run(ctx, "run-2")
    transition(ctx, "run-1", "run-2", note="power cut")
    events = {event.target_id: event for event in admin.list_events(ctx)}
    assert len(admin.list_events(ctx)) == 2
    assert sorted(events) == ["run-1", "run-2"]
    event = events["run-1"]
    details = dict(event.details)
    reasons = details.pop("reasons")
    assert (event.action, event.actor) == ("transition", "ana")
    assert details == {
        "previous_status": "running",
        "target_status": "failed",
        "reason": "its host was switched off",
        "reason_code": None,
        "note": "power cut",
        "forced": False,
        "health": "stale",
        "process": "dead",
        "idle_seconds": 0.0,
    }
    assert reasons[0]["code"] == "run.health.process_dead"


def test_a_transition_is_news(ctx: Context):
    start_dead_run(ctx)
    with ctx.db.read() as tx:
        seq = changes.span(tx)[1]
    (done,) = transition(ctx)
    with ctx.db.read() as tx:
        news = {(change.topic, change.entity_id, change.session_id) for change in changes.list_after(tx, seq, limit=9)}
    assert news == {(Topic.SESSION, "run-1", "run-1"), (Topic.ADMIN, done.event_id, None)}


def test_a_transition_keeps_every_message(ctx: Context):
    start_dead_run(ctx)
    before = messages.list_messages(ctx, "run-1")
    transition(ctx)
    assert messages.list_messages(ctx, "run-1") == before != []


def test_a_dry_run_says_what_would_happen_and_changes_nothing(ctx: Context):
    start_dead_run(ctx)
    before = everything(ctx)
    (planned,) = transition(ctx, dry_run=True)
    assert (planned.session, planned.verdict.health, planned.event_id) == (before[0][0][0], Health.STALE, None)
    assert everything(ctx) == before


def test_a_dry_run_refuses_what_the_act_would_refuse(ctx: Context):
    start_run(ctx)
    with pytest.raises(SessionIsHealthy):
        transition(ctx, dry_run=True)


def test_a_healthy_run_cannot_be_ended_by_hand(ctx: Context, child: subprocess.Popen[bytes]):
    start_run(ctx)
    record_process(ctx, "run-1", child.pid)
    before = everything(ctx)
    with pytest.raises(SessionIsHealthy, match="is healthy") as caught:
        transition(ctx, force=True, note="I want to")
    assert caught.value.hint == "To stop it, stop its process: li runs kill run-1"
    assert everything(ctx) == before


def test_an_idle_run_cannot_be_ended_by_hand(ctx: Context, clock: Clock):
    start_run(ctx)
    clock.pass_seconds(2 * HOUR)
    with pytest.raises(SessionIsHealthy, match="is idle"):
        transition(ctx)


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({}, id="without force"),
        pytest.param({"note": "it hangs"}, id="with a note alone"),
        pytest.param({"force": True}, id="with force alone"),
        pytest.param({"force": True, "note": "  "}, id="with force and an empty note"),
    ],
)
def test_an_unresponsive_run_cannot_be_ended_by_hand(
    ctx: Context, clock: Clock, child: subprocess.Popen[bytes], more: dict[str, Any]
):
    start_unresponsive_run(ctx, clock, child)
    with pytest.raises(ProcessIsAlive) as caught:
        transition(ctx, **more)
    assert caught.value.hint is not None and "li runs kill run-1" in caught.value.hint


def test_an_unresponsive_run_can_be_ended_with_force_and_a_note(
    ctx: Context, clock: Clock, child: subprocess.Popen[bytes]
):
    start_unresponsive_run(ctx, clock, child)
    (done,) = transition(ctx, force=True, note="it hangs in a driver")
    assert (done.session.status, done.verdict.health) == (SessionStatus.FAILED, Health.UNRESPONSIVE)
    assert admin.list_events(ctx)[0].details["forced"] is True


def test_an_ended_run_cannot_be_given_another_status(ctx: Context):
    start_run(ctx)
    sessions.finish_session(ctx, "run-1", "completed", exit_code=0)
    before = everything(ctx)
    with pytest.raises(IllegalTransition, match="A completed session cannot become failed"):
        transition(ctx)
    assert everything(ctx) == before


def test_a_run_that_does_not_exist_is_named(ctx: Context):
    with pytest.raises(SessionNotFound, match="ghost"):
        transition(ctx, "ghost")


@pytest.mark.parametrize("word", ["completed", "timed_out", "running", "dead"])
def test_an_operator_may_set_three_statuses_only(ctx: Context, word: str):
    start_dead_run(ctx)
    with pytest.raises(UnknownWord) as caught:
        transition(ctx, to=word)
    assert caught.value.hint == "Use one of: aborted, cancelled, failed."


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"reason": "  "}, id="no reason"),
        pytest.param({"actor": ""}, id="nobody"),
        pytest.param({"actor": "run"}, id="the run itself"),
    ],
)
def test_a_transition_needs_a_reason_and_an_actor(ctx: Context, more: dict[str, Any]):
    start_dead_run(ctx)
    with pytest.raises(InvalidRequest):
        transition(ctx, **more)


def test_a_transition_of_nothing_is_refused(ctx: Context):
    with pytest.raises(InvalidRequest, match="at least one"):
        interventions.transition(ctx, [], to="failed", reason="gone", actor="ana")


def test_one_refused_run_means_that_none_is_changed(ctx: Context):
    start_dead_run(ctx, "dead")
    start_run(ctx, "well")
    start_run(ctx, "ended")
    sessions.finish_session(ctx, "ended", "completed")
    before = everything(ctx, "dead", "well", "ended")
    with pytest.raises(Refused, match="3 of 4 runs"):
        transition(ctx, "well", "dead", "ghost", "ended")
    assert everything(ctx, "dead", "well", "ended") == before


def test_every_refused_run_is_listed_with_its_reason(ctx: Context):
    start_dead_run(ctx, "dead")
    start_run(ctx, "well")
    start_run(ctx, "ended")
    sessions.finish_session(ctx, "ended", "completed")
    with pytest.raises(Refused) as caught:
        transition(ctx, "well", "dead", "ghost", "ended")
    assert [(session_id, error.code) for session_id, error in caught.value.refusals.items()] == [
        ("well", "session_is_healthy"),
        ("ghost", "session_not_found"),
        ("ended", "illegal_transition"),
    ]
    assert "No process was recorded for it" in str(caught.value.refusals["well"].hint)


def test_a_run_that_is_named_twice_is_ended_once(ctx: Context):
    start_dead_run(ctx)
    assert len(transition(ctx, "run-1", "run-1")) == 1
    assert len(admin.list_events(ctx)) == 1


class Meddling:
    """A clock at which something happens, once, while an operator's request is under way."""

    def __init__(self, clock: Clock, happen: Callable[[], object]) -> None:
        self._clock = clock
        self._happen: Callable[[], object] | None = happen

    def __call__(self) -> float:
        happen, self._happen = self._happen, None
        if happen is not None:
            happen()
        return self._clock()


def test_a_run_that_speaks_while_it_is_being_ended_is_left_alone(ctx: Context, clock: Clock):
    start_run(ctx)
    clock.pass_seconds(7 * HOUR)
    meddling = Meddling(clock, lambda: messages.append_message(ctx, line_of("run-1"), user_says("I am back")))
    with pytest.raises(SessionIsHealthy):
        transition(Context(ctx.db, now=meddling))
    assert sessions.get_session(ctx, "run-1").status is SessionStatus.RUNNING


def test_a_run_that_ends_while_it_is_being_ended_keeps_its_own_status(ctx: Context, clock: Clock):
    start_run(ctx)
    clock.pass_seconds(7 * HOUR)
    meddling = Meddling(clock, lambda: sessions.finish_session(ctx, "run-1", "completed", exit_code=0))
    with pytest.raises(IllegalTransition):
        transition(Context(ctx.db, now=meddling))
    assert sessions.get_session(ctx, "run-1").end_actor == "run"


def steps(ctx: Context) -> list[tuple[str | None, str, str, str]]:
    history = sessions.list_history(ctx, "run-1")
    return [(step.from_status, step.to_status, step.actor, step.reason_code) for step in history[1:]]


def test_a_run_that_ends_at_the_same_moment_is_not_ended_by_hand(ctx: Context, clock: Clock):
    start_run(ctx)
    clock.pass_seconds(7 * HOUR)
    _, refused = do_within(
        ctx, lambda: sessions.finish_session(ctx, "run-1", "completed"), lambda: transition(ctx, "run-1")
    )
    assert type(refused) is IllegalTransition
    assert steps(ctx) == [("running", "completed", "run", "run.completed.normal")]
    assert admin.list_events(ctx) == []


def test_a_run_that_is_ended_by_hand_at_the_same_moment_reports_its_end_late(ctx: Context, clock: Clock):
    start_run(ctx)
    clock.pass_seconds(7 * HOUR)
    (ended,), run = do_within(
        ctx, lambda: transition(ctx, "run-1"), lambda: sessions.finish_session(ctx, "run-1", "completed")
    )
    assert run == ended.session
    assert steps(ctx) == [
        ("running", "failed", "ana", "run.ended.by_operator"),
        ("failed", "failed", "run", "run.ended.late_report"),
    ]


def test_messages_after_the_operator_ended_the_run_are_kept_and_said(ctx: Context, clock: Clock):
    start_dead_run(ctx)
    transition(ctx)
    clock.pass_seconds(5)
    messages.append_message(ctx, line_of("run-1"), user_says("I am still here"))
    run, verdict = health.judge(ctx, "run-1")
    assert (run.status, run.message_count) == (SessionStatus.FAILED, 2)
    assert "run.health.wrote_after_end" in [reason.code for reason in verdict.reasons]


def test_a_message_that_is_sent_again_after_the_end_was_not_written_after_it(ctx: Context, clock: Clock):
    start_dead_run(ctx)
    messages.append_message(ctx, line_of("run-1"), user_says("go on", id="m-1"))
    transition(ctx)
    ended = sessions.get_session(ctx, "run-1")
    clock.pass_seconds(5)
    messages.append_message(ctx, line_of("run-1"), user_says("go on", id="m-1"))
    assert sessions.get_session(ctx, "run-1") == ended
    messages.append_message(ctx, line_of("run-1"), user_says("go on now", id="m-1"))
    _, verdict = health.judge(ctx, "run-1")
    assert "run.health.wrote_after_end" in [reason.code for reason in verdict.reasons]


def test_a_run_that_finishes_later_keeps_the_status_of_the_operator(ctx: Context, clock: Clock):
    start_dead_run(ctx)
    transition(ctx, to="cancelled")
    clock.pass_seconds(5)
    run = sessions.finish_session(ctx, "run-1", "completed", exit_code=0)
    step = sessions.list_history(ctx, "run-1")[-1]
    assert (run.status, run.end_actor, run.ended_at) == (SessionStatus.CANCELLED, "ana", NOW)
    assert (step.from_status, step.to_status, step.reason_code, step.evidence) == (
        "cancelled",
        "cancelled",
        "run.ended.late_report",
        {"reported": "completed", "exit_code": 0},
    )


def test_a_stale_and_a_healthy_run_together_stay_as_they_are_and_the_healthy_one_says_why(ctx: Context):
    start_dead_run(ctx, "stale")
    start_run(ctx, "healthy")
    before = everything(ctx, "stale", "healthy")
    for dry_run in (True, False):
        with pytest.raises(Refused, match="1 of 2 runs cannot be ended by hand, so none was changed") as caught:
            transition(ctx, "stale", "healthy", dry_run=dry_run)
        (refused,) = caught.value.refusals.items()
        assert (refused[0], refused[1].code) == ("healthy", "session_is_healthy")
        assert "The run healthy is healthy" in refused[1].message and refused[1].hint is not None
        assert caught.value.hint == "Leave these out: healthy"
    assert everything(ctx, "stale", "healthy") == before


@pytest.mark.parametrize("more", [{}, {"force": True, "note": "I am sure"}], ids=["plainly", "with force"])
def test_a_run_that_spoke_ten_seconds_ago_and_recorded_no_process_cannot_be_failed(
    ctx: Context, clock: Clock, more: dict[str, Any]
):
    start_run(ctx)
    clock.pass_seconds(30 * HOUR)
    messages.append_message(ctx, line_of("run-1"), user_says("still at it"))
    clock.pass_seconds(10)
    before = everything(ctx)
    with pytest.raises(SessionIsHealthy, match="is healthy"):
        transition(ctx, **more)
    assert everything(ctx) == before


def test_a_clock_that_jumps_ahead_ends_no_run_whose_process_lives(
    ctx: Context, clock: Clock, child: subprocess.Popen[bytes]
):
    start_run(ctx, kind="agent")
    record_process(ctx, "run-1", child.pid)
    clock.pass_seconds(365 * 24 * HOUR)
    with pytest.raises(ProcessIsAlive):
        transition(ctx)


def test_a_clock_that_jumps_back_ends_no_run_that_may_live(ctx: Context, clock: Clock):
    start_run(ctx, kind="agent")
    messages.append_message(ctx, line_of("run-1"), user_says("go"))
    clock.pass_seconds(-365 * 24 * HOUR)
    with pytest.raises(SessionIsHealthy):
        transition(ctx)


def test_a_dead_run_that_spoke_by_a_clock_ahead_of_ours_is_ended_and_did_not_write_after_its_end(
    ctx: Context, clock: Clock
):
    start_dead_run(ctx)
    clock.pass_seconds(-5 * HOUR)
    (done,) = transition(ctx)
    assert (done.session.status, done.session.ended_at) == (SessionStatus.FAILED, NOW)
    assert "run.health.wrote_after_end" not in [reason.code for reason in health.judge(ctx, "run-1")[1].reasons]
    assert [step.to_status for step in sessions.list_history(ctx, "run-1")] == ["running", "failed"]
    assert admin.list_events(ctx)[0].created_at == NOW - 5 * HOUR
    clock.pass_seconds(6 * HOUR)
    messages.append_message(ctx, line_of("run-1"), user_says("I am still here"))
    assert "run.health.wrote_after_end" in [reason.code for reason in health.judge(ctx, "run-1")[1].reasons]


def test_more_runs_than_one_act_may_take_are_refused(ctx: Context):
    with pytest.raises(InvalidRequest, match="too many"):
        transition(ctx, *(f"run-{number}" for number in range(MOST_AT_ONCE + 1)))


def test_failing_what_is_stale_takes_only_runs_whose_process_is_confirmed_dead(
    ctx: Context, clock: Clock, child: subprocess.Popen[bytes]
) -> None:
    start_dead_run(ctx, "dead")
    start_run(ctx, "quiet and unseen", kind="agent")
    start_run(ctx, "alive and quiet", kind="agent")
    record_process(ctx, "alive and quiet", child.pid)
    clock.pass_seconds(7 * HOUR)
    planned = interventions.transition_stale(ctx, actor="ana", dry_run=True)
    assert sessions.get_session(ctx, "dead").status is SessionStatus.RUNNING
    ended = interventions.transition_stale(ctx, actor="ana")
    assert [done.session.id for done in ended] == [done.session.id for done in planned] == ["dead"]
    assert ended[0].verdict.health is Health.STALE
    statuses = {
        name: sessions.get_session(ctx, name).status for name in ("dead", "quiet and unseen", "alive and quiet")
    }
    assert statuses == {"dead": "failed", "quiet and unseen": "running", "alive and quiet": "running"}
    assert "process" in (sessions.list_history(ctx, "dead")[-1].sentence or "")
    assert interventions.transition_stale(ctx, actor="ana") == []


def test_failing_what_is_stale_takes_only_those_that_were_agreed_to_and_still_are(ctx: Context) -> None:
    for session_id in ("agreed", "finished meanwhile", "not shown"):
        start_dead_run(ctx, session_id)
    sessions.finish_session(ctx, "finished meanwhile", "completed", exit_code=0)
    agreed = ("agreed", "finished meanwhile", "deleted meanwhile")
    ended = interventions.transition_stale(ctx, actor="ana", only=agreed)
    assert [done.session.id for done in ended] == ["agreed"]
    assert sessions.get_session(ctx, "finished meanwhile").status is SessionStatus.COMPLETED
    assert sessions.get_session(ctx, "not shown").status is SessionStatus.RUNNING
