"""One round of the doctor, on real processes: what it finds, and what it writes down."""

from lionstudio.doctor.scan import scan
from lionstudio.domain.change import Topic
from lionstudio.domain.health import HOUR, Health
from lionstudio.services import admin, health, sessions
from lionstudio.services.context import Context
from lionstudio.services.prune import plan_prune, prune
from lionstudio.store import changes
from tests.factories import Clock, start_run
from tests.services.test_health import record_dead_process, say_something


def news(ctx: Context) -> int:
    with ctx.db.read() as tx:
        return changes.span(tx)[1]


def test_every_running_run_is_looked_at_and_no_status_changes(ctx: Context, clock: Clock) -> None:
    start_run(ctx, "quiet", kind="agent")
    clock.pass_seconds(2 * HOUR)
    start_run(ctx, "dead")
    say_something(ctx, "dead")
    record_dead_process(ctx, "dead")
    start_run(ctx, "fine")
    start_run(ctx, "ended")
    sessions.finish_session(ctx, "ended", "completed")
    found = scan(ctx)
    assert [(one.session.id, one.verdict.health) for one in found.examined] == [
        ("dead", Health.STALE),
        ("quiet", Health.IDLE),
        ("fine", Health.HEALTHY),
    ]
    assert found.counts == {
        Health.HEALTHY: 1, Health.IDLE: 1, Health.UNRESPONSIVE: 0, Health.STALE: 1, Health.ORPHANED: 0,
        Health.ZOMBIE: 0,
    }  # fmt: skip
    assert [one.session.id for one in found.confirmed_dead] == ["dead"]
    assert all(sessions.get_session(ctx, id).status == "running" for id in ("quiet", "dead", "fine"))


def test_the_verdicts_are_those_of_a_look_at_each_run(ctx: Context, clock: Clock) -> None:
    for number in range(3):
        start_run(ctx, f"run-{number}", kind="flow")
        clock.pass_seconds(5 * HOUR)
    record_dead_process(ctx, "run-1")
    for one in scan(ctx).examined:
        assert one.verdict.health is health.judge(ctx, one.session.id)[1].health


def test_a_change_of_health_is_one_event_and_one_line_of_news(ctx: Context, clock: Clock) -> None:
    start_run(ctx, "quiet", kind="agent")
    start_run(ctx, "fine")
    assert scan(ctx).changed == 0
    assert admin.list_events(ctx) == []
    clock.pass_seconds(2 * HOUR)
    say_something(ctx, "fine")
    before = news(ctx)
    assert scan(ctx).changed == 1
    [event] = admin.list_events(ctx)
    assert (event.action, event.target_id, event.actor) == ("classify", "quiet", "doctor_auto")
    assert event.details == {
        "health": "idle",
        "previous_health": "healthy",
        "idle_seconds": 2 * HOUR,
        "process_alive": None,
        "message_count": 0,
    }
    with ctx.db.read() as tx:
        told = [(change.topic, change.entity_id) for change in changes.list_after(tx, before, limit=9)]
    assert told == [(Topic.SESSION, "quiet"), (Topic.ADMIN, event.id)]
    stored = health.find_evidence(ctx, "quiet")
    assert stored is not None
    assert stored.health is Health.IDLE
    assert (scan(ctx).changed, len(admin.list_events(ctx))) == (0, 1)


def test_a_round_that_keeps_nothing_writes_nothing(ctx: Context, clock: Clock) -> None:
    start_run(ctx, "quiet", kind="agent")
    clock.pass_seconds(2 * HOUR)
    before = news(ctx)
    assert (scan(ctx, keep=False).counts[Health.IDLE], scan(ctx, keep=False).changed) == (1, 0)
    assert (news(ctx), health.find_evidence(ctx, "quiet")) == (before, None)


def test_a_run_that_is_pruned_meanwhile_is_no_trouble(ctx: Context, clock: Clock) -> None:
    from lionstudio.services.examination import examine_running, keep_examined

    start_run(ctx, "quiet", kind="agent")
    clock.pass_seconds(2 * HOUR)
    examined = list(examine_running(ctx))
    sessions.finish_session(ctx, "quiet", "completed")
    clock.pass_seconds(1)
    prune(ctx, plan_prune(ctx, keep_days=0, keep_n=0), actor="ana")
    assert keep_examined(ctx, examined) == 0


def test_with_more_runs_than_fit_on_a_page_none_is_missed(ctx: Context) -> None:
    for number in range(510):
        start_run(ctx, f"run-{number}")
    assert len({one.session.id for one in scan(ctx).examined}) == 510
