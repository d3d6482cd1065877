"""Prune: the plan says what goes and why the rest stays, and exactly that happens."""

import itertools
import random
import threading
from collections.abc import Callable

import pytest

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import MessageDraft
from lionstudio.domain.errors import BranchNotFound, DatabaseBusy, InvalidRequest, SessionNotFound
from lionstudio.services import admin, branches, messages, prune, sessions, shows, teams
from lionstudio.services.branches import BranchDraft
from lionstudio.services.context import Context, new_line
from lionstudio.services.prune import KeptSession, PruneResult, WhyKept, plan_prune, sweep_orphan_progressions
from lionstudio.store import changes, maintenance
from lionstudio.store.maintenance import Removed
from lionstudio.store.open import open_database
from tests.factories import NOW, Clock, line_of, start_run, user_says
from tests.services.prune_world import (
    difference,
    grow_world,
    naive_prune,
    put_branch,
    put_orphan,
    put_session,
    read_world,
    without_progressions,
)
from tests.waiting import wait_until

WHO = "ana"


def prune_all(ctx: Context, *, keep_days: float = 30, keep_n: int = 0) -> PruneResult:
    """Plan and act; the plan must have told exactly what happens."""
    plan = plan_prune(ctx, keep_days=keep_days, keep_n=keep_n)
    before = read_world(ctx)
    result = prune.prune(ctx, plan, actor=WHO)
    assert result.removed == plan.removed == difference(before, read_world(ctx))
    assert result.kept == plan.kept
    return result


def runs(ctx: Context) -> list[str]:
    return sorted(read_world(ctx)["sessions"])


def news_after(ctx: Context, seq: int) -> list[tuple[Topic, str, str | None]]:
    with ctx.db.read() as tx:
        return [(change.topic, change.entity_id, change.session_id) for change in changes.list_after(tx, seq, limit=99)]


def newest_seq(ctx: Context) -> int:
    with ctx.db.read() as tx:
        return changes.span(tx)[1]


def put_play(ctx: Context, session_id: str) -> None:
    shows.put_show(ctx, "ledger", show_dir="/shows/ledger", actor="director")
    shows.put_play(ctx, "ledger", "schema", session_id=session_id, actor="director")


def fork_into(ctx: Context, session_id: str, branch_id: str, *, parent: str) -> None:
    with ctx.db.write() as tx:
        put_branch(tx, session_id, branch_id, parent=parent)


def test_an_old_run_goes_with_all_that_is_its_own(ctx: Context) -> None:
    put_session(ctx, "old", says=["a", "b"])
    put_session(ctx, "new", says=["c"], ended_days_ago=29)
    assert prune_all(ctx) == PruneResult(Removed(1, 1, 2, 4, 2), (), admin.list_events(ctx)[0].id, gone=("old",))
    assert runs(ctx) == ["new"]
    assert sorted(read_world(ctx)["messages"]) == ["c"]
    with pytest.raises(SessionNotFound):
        sessions.get_session(ctx, "old")


@pytest.mark.parametrize(
    ("status", "ended_days_ago", "touched_days_ago", "goes"),
    [
        pytest.param("completed", 31.0, 0.0, True, id="ended long ago, written to since"),
        pytest.param("cancelled", 29.0, 90.0, False, id="ended lately"),
        pytest.param("failed", None, 31.0, True, id="ended, nobody knows when, untouched for long"),
        pytest.param("failed", None, 29.0, False, id="ended, nobody knows when, touched lately"),
        pytest.param(None, None, 31.0, True, id="legacy, untouched for long"),
        pytest.param(None, None, 29.0, False, id="legacy, touched lately"),
        pytest.param("running", None, 900.0, False, id="running, however old"),
    ],
)
def test_a_run_goes_by_its_end_and_a_running_one_never(
    ctx: Context, status: str | None, ended_days_ago: float | None, touched_days_ago: float, goes: bool
) -> None:
    put_session(ctx, "run", status=status, ended_days_ago=ended_days_ago, touched_days_ago=touched_days_ago)
    assert prune_all(ctx).removed.sessions == goes
    assert runs(ctx) == [] if goes else ["run"]


def test_the_plan_says_how_many_legacy_runs_it_takes(ctx: Context) -> None:
    put_session(ctx, "legacy", status=None, ended_days_ago=None, touched_days_ago=60)
    put_session(ctx, "ended")
    plan = plan_prune(ctx, keep_n=0)
    assert (plan.removed.sessions, plan.legacy) == (2, 1)


def test_the_newest_runs_always_stay(ctx: Context) -> None:
    for number in range(5):
        put_session(ctx, f"run-{number}", created_days_ago=100 - number)
    put_session(ctx, "live", status="running", ended_days_ago=None, created_days_ago=1)
    plan = plan_prune(ctx, keep_n=3)
    assert sorted(plan.session_ids) == ["run-0", "run-1", "run-2"]
    assert (plan.kept, plan.kept_newest) == ((), 2)
    prune.prune(ctx, plan, actor=WHO)
    assert runs(ctx) == ["live", "run-3", "run-4"]


@pytest.mark.parametrize("keep_n", [100, 2, 3])
def test_with_no_more_runs_than_are_kept_nothing_goes(ctx: Context, keep_n: int) -> None:
    put_session(ctx, "one")
    put_session(ctx, "two")
    assert plan_prune(ctx, keep_n=keep_n).removed == Removed()


def test_pruning_keeps_sessions_a_play_still_needs(ctx: Context) -> None:
    put_session(ctx, "played")
    put_play(ctx, "played")
    assert prune_all(ctx).kept == (
        KeptSession("played", WhyKept.PLAY, "The play schema of the show ledger points to it."),
    )
    shows.delete_show(ctx, "ledger", actor=WHO)
    assert prune_all(ctx).removed.sessions == 1


def test_pruning_keeps_sessions_another_sessions_branch_descends_from(ctx: Context) -> None:
    put_session(ctx, "grandparent", says=["a"])
    put_session(ctx, "parent")
    put_session(ctx, "child", status="running", ended_days_ago=None)
    fork_into(ctx, "parent", "fork-1", parent="grandparent-main")
    fork_into(ctx, "child", "fork-2", parent="fork-1")
    assert {kept.session_id: kept.sentence for kept in prune_all(ctx).kept} == {
        "parent": "A branch of the run child descends from one of its branches.",
        "grandparent": "A branch of the run parent descends from one of its branches.",
    }
    sessions.finish_session(ctx, "child", "completed", at=NOW - 60 * prune.DAY)
    assert prune_all(ctx).removed == Removed(3, 5, 8, 2, 1)


def test_runs_whose_branches_descend_from_each_other_go_together(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 1)
    put_session(ctx, "one")
    put_session(ctx, "two")
    put_session(ctx, "three")
    fork_into(ctx, "two", "fork-1", parent="one-main")
    fork_into(ctx, "one", "fork-2", parent="fork-1")
    assert sorted(map(len, plan_prune(ctx, keep_n=0).batches)) == [1, 2]
    assert prune_all(ctx).removed.sessions == 3


def test_a_message_goes_only_when_nothing_holds_it_any_more(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 1)
    put_session(ctx, "old", says=["own", "shared with old", "shared with new", "prompt of new", "sent"])
    put_session(ctx, "other-old", says=["shared with old"])
    put_session(ctx, "new", says=["shared with new"], system="prompt of new", ended_days_ago=1)
    messages.store_message(ctx, user_says("on its own", id="free-standing"))
    messages.send_message(ctx, None, MessageDraft("user", {}, id="sent", recipient="ana"))
    assert prune_all(ctx).removed.messages == 2
    assert sorted(read_world(ctx)["messages"]) == ["free-standing", "prompt of new", "sent", "shared with new"]


def test_a_prompt_that_was_lent_by_a_pruned_run_goes_with_it(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 1)
    put_session(ctx, "lender", says=["prompt"])
    put_session(ctx, "borrower", system="prompt", created_days_ago=1)
    assert prune_all(ctx).removed.messages == 1


def test_what_refers_to_a_pruned_run_forgets_it_and_is_told(ctx: Context) -> None:
    put_session(ctx, "old")
    put_session(ctx, "child", parent="old", ended_days_ago=1)
    teams.put_team(ctx, "team-1", name="ledger", members=[WHO], actor=WHO)
    teams.add_message(ctx, "team-1", sender=WHO, content="hi", session_id="old")
    seq = newest_seq(ctx)
    event_id = prune_all(ctx).event_id
    assert sessions.get_session(ctx, "child").parent_session_id is None
    assert list(read_world(ctx)["team_messages"].values()) == [(None,)]
    assert news_after(ctx, seq) == [
        (Topic.SESSION, "old", "old"),
        (Topic.SESSION, "child", "child"),
        (Topic.TEAM, "team-1", None),
        (Topic.ADMIN, event_id, None),
    ]


def test_a_prune_leaves_one_event_and_one_step_of_history_for_each_run(ctx: Context, clock: Clock) -> None:
    put_session(ctx, "old", says=["a"])
    result = prune_all(ctx, keep_n=0)
    [event] = admin.list_events(ctx)
    assert (event.id, event.action, event.actor, event.target_id) == (result.event_id, "prune", WHO, None)
    assert event.details == {
        "keep_days": 30, "keep_n": 0, "complete": True,
        "sessions": 1, "branches": 1, "progressions": 2, "entries": 2, "messages": 1,
        "kept": 0, "session_ids": ["old"], "session_ids_left_out": 0,
    }  # fmt: skip
    [step] = sessions.list_history(ctx, "old")
    assert (step.from_status, step.to_status, step.actor, step.at) == ("completed", None, WHO, clock.now)


def test_the_event_of_a_large_prune_names_only_so_many_runs(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "IDS_IN_EVENT", 2)
    for number in range(5):
        put_session(ctx, f"run-{number}", created_days_ago=100 - number)
    prune_all(ctx)
    details = admin.list_events(ctx)[0].details
    assert (details["session_ids"], details["session_ids_left_out"]) == (["run-0", "run-1"], 3)


def test_a_dry_run_changes_nothing_and_tells_the_same(ctx: Context) -> None:
    put_session(ctx, "old", says=["a"])
    before, seq = read_world(ctx), newest_seq(ctx)
    plan = plan_prune(ctx, keep_n=0)
    assert prune.prune(ctx, plan, actor=WHO, dry_run=True) == PruneResult(Removed(1, 1, 2, 2, 1))
    assert (read_world(ctx), newest_seq(ctx), admin.list_events(ctx)) == (before, seq, [])


@pytest.mark.parametrize("wish", [{"keep_days": -1}, {"keep_days": float("nan")}, {"keep_n": -1}])
def test_a_wish_that_makes_no_sense_is_refused(ctx: Context, wish: dict[str, float]) -> None:
    with pytest.raises(InvalidRequest, match="0 or more"):
        plan_prune(ctx, **wish)  # type: ignore[arg-type]


def test_a_prune_without_an_actor_is_refused(ctx: Context) -> None:
    put_session(ctx, "old")
    with pytest.raises(InvalidRequest, match="Who prunes"):
        prune.prune(ctx, plan_prune(ctx, keep_n=0), actor=" ")
    assert runs(ctx) == ["old"]


def a_play_points_to_it(ctx: Context) -> None:
    put_play(ctx, "old")


def a_running_run_is_forked_from_it(ctx: Context) -> None:
    start_run(ctx, "live")
    branches.create_branch(ctx, BranchDraft(new_line("live"), parent_branch_id="old-main"))


def a_message_comes_in(ctx: Context) -> None:
    messages.append_message(ctx, line_of("old"), user_says("I am not dead."))


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        pytest.param(a_play_points_to_it, WhyKept.PLAY, id="a play points to it"),
        pytest.param(a_running_run_is_forked_from_it, WhyKept.FORK, id="it is forked"),
        pytest.param(a_message_comes_in, WhyKept.CHANGED, id="it is written to"),
    ],
)
def test_a_run_that_is_needed_after_the_plan_was_made_is_kept(
    ctx: Context, happens: Callable[[Context], None], why: WhyKept
) -> None:
    put_session(ctx, "old", status=None, ended_days_ago=None, touched_days_ago=60)
    put_session(ctx, "other")
    plan = plan_prune(ctx, keep_n=0)
    happens(ctx)
    result = prune.prune(ctx, plan, actor=WHO)
    assert [(kept.session_id, kept.why) for kept in result.kept] == [("old", why)]
    assert result.removed.sessions == 1
    assert "old" in runs(ctx)


def test_others_may_write_between_two_batches(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 2)
    monkeypatch.setattr(prune, "SECONDS_ALONE", 0.0)
    for number in range(5):
        put_session(ctx, f"run-{number}")
    start_run(ctx, "live")
    seen: list[tuple[int, int]] = []

    def write(done: int, of: int) -> None:
        seen.append((done, of))
        messages.append_message(ctx, line_of("live"), user_says("meanwhile"))

    prune.prune(ctx, plan_prune(ctx, keep_n=0), actor=WHO, on_progress=write)
    assert seen == [(2, 5), (4, 5), (5, 5)]
    assert sessions.get_session(ctx, "live").message_count == 3


def test_a_clock_that_is_set_back_does_not_keep_others_waiting(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 1)
    monkeypatch.setattr(prune, "SECONDS_ALONE", 0.0)
    put_session(ctx, "a")
    put_session(ctx, "b")
    backwards = Context(ctx.db, now=itertools.count(NOW, -3600).__next__)
    seen: list[tuple[int, int]] = []
    prune.prune(backwards, plan_prune(ctx, keep_n=0), actor=WHO, on_progress=lambda *so_far: seen.append(so_far))
    assert seen == [(1, 2), (2, 2)]


def test_a_run_with_many_messages_has_a_batch_of_its_own(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "MESSAGES_AT_ONCE", 3)
    put_session(ctx, "a", says=["1"])
    put_session(ctx, "b", says=["2", "3", "4", "5"])
    put_session(ctx, "c", says=["6"])
    put_session(ctx, "d", says=["7", "8"])
    assert plan_prune(ctx, keep_n=0).batches == (("a",), ("b",), ("c", "d"))


@pytest.mark.parametrize(
    ("stop", "says"),
    [
        (KeyboardInterrupt(), "^$"),
        (DatabaseBusy("It is busy."), "It is busy. Before that, 1 run was deleted; the event log says which."),
    ],
)
def test_a_prune_that_is_interrupted_says_what_it_did(
    ctx: Context, monkeypatch: pytest.MonkeyPatch, stop: BaseException, says: str
) -> None:
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 1)
    monkeypatch.setattr(prune, "SECONDS_ALONE", 0.0)
    put_session(ctx, "a")
    put_session(ctx, "b")

    def interrupt(*_: int) -> None:
        raise stop

    with pytest.raises(type(stop), match=says):
        prune.prune(ctx, plan_prune(ctx, keep_n=0), actor=WHO, on_progress=interrupt)
    assert runs(ctx) == ["b"]
    details = admin.list_events(ctx)[0].details
    assert (details["complete"], details["session_ids"]) == (False, ["a"])


def test_plan_and_prune_do_what_a_naive_reading_of_the_rules_says(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(20_261_115)
    for number in range(40):
        grow_world(ctx, number, chance)
        monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", chance.choice([1, 2, 100]))
        world, keep_n = read_world(ctx), chance.choice([0, 3])
        expected, removed, kept = naive_prune(world, ended_before=NOW - 30 * prune.DAY, keep_n=keep_n)
        plan = plan_prune(ctx, keep_n=keep_n)
        assert plan.removed == removed, number
        assert {one.session_id for one in plan.kept} == kept, number
        result = prune.prune(ctx, plan, actor=WHO)
        assert (result.removed, read_world(ctx)) == (removed, expected), number


def at_once(*works: Callable[[], object]) -> None:
    """Run all of them at the same time; the first error of any is raised."""
    errors: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> None:
        try:
            start.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_two_prunes_at_once_delete_everything_once(
    location: str, ctx: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 3)
    for number in range(30):
        put_session(ctx, f"run-{number}", says=[f"m-{number}", f"m-{number + 1}"])
    expected, removed, _ = naive_prune(read_world(ctx), ended_before=NOW - 30 * prune.DAY, keep_n=0)
    other_db = open_database(location)
    results: list[PruneResult] = []
    try:
        plans = [(one, plan_prune(one, keep_n=0)) for one in (ctx, Context(other_db, now=clock))]
        at_once(*(lambda one=one, plan=plan: results.append(prune.prune(one, plan, actor=WHO)) for one, plan in plans))
    finally:
        other_db.close()
    assert read_world(ctx) == expected
    assert results[0].removed.plus(results[1].removed) == removed


def while_it_is_pruned(ctx: Context, session_id: str, work: Callable[[], object]) -> None:
    """Do something that needs a run when its deletion is not committed yet: it waits, and then the run is gone."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    with ctx.db.write() as tx:
        maintenance.take_turn(tx, at=ctx.now())
        maintenance.delete_sessions(tx, [session_id])
        thread.start()
        if not ctx.db.dialect.one_writer:  # else nobody else gets in anyway
            wait_until(lambda: tx.value("SELECT count(*) FROM pg_locks WHERE NOT granted"))
    thread.join()
    if errors:
        raise errors[0]


def test_two_prunes_of_runs_that_share_messages_leave_none_behind(ctx: Context) -> None:
    put_session(ctx, "one", says=["m-1"])
    put_session(ctx, "two", says=["m-1"])
    half = plan_prune(ctx, keep_n=0)._replace(batches=(("two",),))
    while_it_is_pruned(ctx, "one", lambda: prune.prune(ctx, half, actor=WHO))
    assert read_world(ctx)["messages"] == {}


def test_a_run_starts_although_its_parent_is_pruned_in_this_moment(ctx: Context) -> None:
    put_session(ctx, "old")
    while_it_is_pruned(ctx, "old", lambda: start_run(ctx, "child", parent_session_id="old"))
    assert sessions.get_session(ctx, "child").parent_session_id is None


def test_a_team_message_is_stored_although_its_run_is_pruned_in_this_moment(ctx: Context) -> None:
    put_session(ctx, "old")
    teams.put_team(ctx, "team-1", name="ledger", members=[WHO], actor=WHO)
    while_it_is_pruned(ctx, "old", lambda: teams.add_message(ctx, "team-1", sender=WHO, content="hi", session_id="old"))
    assert list(read_world(ctx)["team_messages"].values()) == [(None,)]


def test_a_play_is_told_that_its_run_is_pruned_in_this_moment(ctx: Context) -> None:
    put_session(ctx, "old")
    shows.put_show(ctx, "ledger", show_dir="/shows/ledger", actor="director")
    with pytest.raises(SessionNotFound):
        while_it_is_pruned(
            ctx, "old", lambda: shows.put_play(ctx, "ledger", "schema", session_id="old", actor="director")
        )


def test_a_fork_is_told_that_its_parent_is_pruned_in_this_moment(ctx: Context) -> None:
    put_session(ctx, "old")
    start_run(ctx, "live")
    draft = BranchDraft(new_line("live"), parent_branch_id="old-main")
    with pytest.raises(BranchNotFound):
        while_it_is_pruned(ctx, "old", lambda: branches.create_branch(ctx, draft))


def test_progressions_nobody_owns_are_swept_with_what_only_they_held(ctx: Context) -> None:
    put_session(ctx, "run", says=["held by a run"], system="prompt")
    put_orphan(ctx, "orphan-1", ["mine", "ours", "held by a run", "prompt"])
    put_orphan(ctx, "orphan-2", ["ours", "sent"])
    messages.store_message(ctx, user_says("on its own", id="free-standing"))
    messages.send_message(ctx, None, MessageDraft("user", {}, id="sent", recipient="ana"))
    before = read_world(ctx)
    expected = without_progressions(before, ["orphan-1", "orphan-2"])
    assert sweep_orphan_progressions(ctx, actor=WHO, dry_run=True) == PruneResult(
        Removed(0, 0, 2, 6, 2), orphans=("orphan-1", "orphan-2")
    )
    assert read_world(ctx) == before
    result = sweep_orphan_progressions(ctx, actor=WHO)
    assert (result.removed, read_world(ctx)) == (Removed(0, 0, 2, 6, 2), expected)
    [event] = admin.list_events(ctx)
    assert (event.id, event.action, event.details["orphan_progressions"]) == (result.event_id, "prune", True)


def test_with_nothing_to_sweep_nothing_is_swept(ctx: Context) -> None:
    put_session(ctx, "run", says=["a"])
    assert sweep_orphan_progressions(ctx, actor=WHO, dry_run=True).removed == Removed()
    assert sweep_orphan_progressions(ctx, actor=WHO).removed == Removed()


def test_a_sweep_takes_only_what_was_agreed_to(ctx: Context) -> None:
    put_orphan(ctx, "shown", ["a"])
    plan = sweep_orphan_progressions(ctx, actor=WHO, dry_run=True)
    put_orphan(ctx, "later", ["b"])
    assert sweep_orphan_progressions(ctx, actor=WHO, only=plan.orphans).removed == plan.removed
    assert sweep_orphan_progressions(ctx, actor=WHO, dry_run=True).orphans == ("later",)


def test_a_prune_that_is_interrupted_at_its_very_end_is_written_down_once(ctx: Context) -> None:
    put_session(ctx, "old")

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prune.prune(ctx, plan_prune(ctx, keep_n=0), actor=WHO, on_progress=stop)
    (event,) = admin.list_events(ctx)
    assert (event.details["complete"], event.details["session_ids"]) == (True, ["old"])
