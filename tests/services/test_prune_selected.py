"""Prune of chosen runs: ended ones only, all or none, and the plan is the act."""

import pytest

from lionstudio.domain.errors import (
    Error,
    InvalidRequest,
    Refused,
    SessionIsNeeded,
    SessionIsRunning,
    SessionNotFound,
)
from lionstudio.services import admin, prune, sessions
from lionstudio.services.change_feed import newest_number, read_changes
from lionstudio.services.context import Context, new_id
from lionstudio.services.prune import WhyKept
from lionstudio.services.prune_selected import prune_selected
from lionstudio.services.refusing import MOST_AT_ONCE
from tests.factories import start_run
from tests.services.prune_world import put_branch, put_session, read_world
from tests.services.test_prune import put_play


def put_fork(ctx: Context, of: str, by: str) -> None:
    """A branch of one run that descends from the branch of another."""
    with ctx.db.write() as tx:
        put_branch(tx, by, f"{by}-fork", parent=f"{of}-main")


def test_chosen_runs_go_whatever_their_age_and_others_stay(ctx: Context):
    put_session(ctx, "young", ended_days_ago=0.001, says=["a", "shared"])
    put_session(ctx, "old", says=["b", "shared"])
    put_session(ctx, "legacy", status=None, ended_days_ago=None, touched_days_ago=1)
    done = prune_selected(ctx, ["young", "legacy"], actor="ana", reason="tests")
    world = read_world(ctx)
    assert (done.session_ids, list(world["sessions"])) == (("young", "legacy"), ["old"])
    assert sorted(world["messages"]) == ["b", "shared"]


def test_a_dry_run_counts_exactly_what_then_goes_and_changes_nothing(ctx: Context):
    put_session(ctx, "one", says=["a", "b", "shared"])
    put_session(ctx, "two", says=["c"])
    put_session(ctx, "stays", says=["shared"])
    before = read_world(ctx), newest_number(ctx), admin.list_events(ctx)
    planned = prune_selected(ctx, ["one", "two"], actor="ana", dry_run=True)
    assert (read_world(ctx), newest_number(ctx), admin.list_events(ctx)) == before
    done = prune_selected(ctx, ["one", "two"], actor="ana")
    assert (planned.event_id, done.removed) == (None, planned.removed)
    assert (done.removed.sessions, done.removed.messages) == (2, 3)


def test_a_running_run_is_to_be_ended_first(ctx: Context):
    start_run(ctx)
    with pytest.raises(SessionIsRunning) as caught:
        prune_selected(ctx, ["run-1"], actor="ana")
    assert caught.value.hint is not None and "li runs kill" in caught.value.hint
    assert sessions.get_session(ctx, "run-1").id == "run-1"


def test_a_run_that_a_play_points_to_stays_and_the_play_is_named(ctx: Context):
    put_session(ctx, "run-1")
    put_play(ctx, "run-1")
    with pytest.raises(SessionIsNeeded, match="play schema of the show ledger"):
        prune_selected(ctx, ["run-1"], actor="ana")


def test_a_run_that_another_one_descends_from_goes_only_with_it(ctx: Context):
    put_session(ctx, "parent")
    put_session(ctx, "child")
    put_fork(ctx, of="parent", by="child")
    with pytest.raises(SessionIsNeeded, match="run child descends"):
        prune_selected(ctx, ["parent"], actor="ana")
    prune_selected(ctx, ["parent", "child"], actor="ana")
    assert read_world(ctx)["sessions"] == {}


def test_a_run_that_does_not_exist_is_named(ctx: Context):
    with pytest.raises(SessionNotFound, match="ghost"):
        prune_selected(ctx, ["ghost"], actor="ana")


@pytest.mark.parametrize("dry_run", [False, True])
def test_one_refused_run_means_that_none_goes_and_each_is_listed_with_its_reason(ctx: Context, dry_run: bool):
    put_session(ctx, "free")
    put_session(ctx, "played")
    put_play(ctx, "played")
    start_run(ctx, "runs")
    before = read_world(ctx), newest_number(ctx), admin.list_events(ctx)
    with pytest.raises(Refused, match="3 of 4 runs cannot be deleted") as caught:
        prune_selected(ctx, ["runs", "free", "ghost", "played"], actor="ana", dry_run=dry_run)
    assert [(name, error.code) for name, error in caught.value.refusals.items()] == [
        ("runs", "session_is_running"),
        ("ghost", "session_not_found"),
        ("played", "session_is_needed"),
    ]
    assert (read_world(ctx), newest_number(ctx), admin.list_events(ctx)) == before


def test_a_prune_leaves_an_event_a_history_and_news(ctx: Context):
    put_session(ctx, "one", says=["a"])
    before = newest_number(ctx)
    done = prune_selected(ctx, ["one", "one"], actor="ana", reason="a test run")
    (event,) = admin.list_events(ctx)
    assert (event.id, event.action, event.target_id, event.actor) == (done.event_id, "prune", "one", "ana")
    assert event.details == {
        "selected": True, "reason": "a test run", "complete": True, "sessions": 1, "branches": 1, "progressions": 2,
        "entries": 2, "messages": 1, "kept": 0, "session_ids": ["one"], "session_ids_left_out": 0,
    }  # fmt: skip
    step = sessions.list_history(ctx, "one")[-1]
    assert (step.from_status, step.to_status, step.actor) == ("completed", None, "ana")
    assert "one" in [change.session_id for change in read_changes(ctx, before).changes]


def test_others_see_and_write_between_two_batches_of_chosen_runs(ctx: Context, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 1)
    monkeypatch.setattr(prune, "SECONDS_ALONE", 0.0)
    put_session(ctx, "one")
    put_session(ctx, "two")
    seen: list[list[str]] = []

    def look() -> str:  # in the middle of each deletion, and with the last one for the event
        seen.append(sorted(read_world(ctx)["sessions"]))
        return new_id()

    prune_selected(Context(ctx.db, ctx.now, look), ["one", "two"], actor="ana")
    assert seen == [["one", "two"], ["two"], ["two"]]


def test_nothing_is_deleted_without_its_event(ctx: Context) -> None:
    put_session(ctx, "one")
    refuse_events(ctx)
    with pytest.raises(Error):
        prune_selected(ctx, ["one"], actor="ana")
    assert list(read_world(ctx)["sessions"]) == ["one"]


def test_what_is_deleted_and_cannot_be_written_down_is_told(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 1)
    monkeypatch.setattr(prune, "SECONDS_ALONE", 0.0)
    put_session(ctx, "one")
    put_session(ctx, "two")
    refuse_events(ctx)
    with pytest.raises(Error, match=r"1 run was deleted; that could not be written into the event log\.$"):
        prune_selected(ctx, ["one", "two"], actor="ana")
    assert list(read_world(ctx)["sessions"]) == ["two"]


def refuse_events(ctx: Context) -> None:
    """The database takes no event any more."""
    with ctx.db.write() as tx:
        tx.run("DROP TABLE admin_events")


def test_a_chosen_run_that_is_needed_when_its_turn_comes_is_kept_and_told(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(prune, "SESSIONS_AT_ONCE", 1)
    monkeypatch.setattr(prune, "SECONDS_ALONE", 0.0)
    for session_id in ("one", "two", "three"):
        put_session(ctx, session_id, says=[session_id])

    def need_the_second(done: int, of: int) -> None:
        if (done, of) == (1, 3):
            put_play(ctx, "two")

    done = prune_selected(ctx, ["one", "two", "three"], actor="ana", on_progress=need_the_second)
    assert (done.session_ids, done.removed.sessions, done.removed.messages) == (("one", "three"), 2, 2)
    assert [(kept.session_id, kept.why) for kept in done.kept] == [("two", WhyKept.PLAY)]
    assert list(read_world(ctx)["sessions"]) == ["two"]
    (event,) = [event for event in admin.list_events(ctx) if event.action == "prune"]
    assert (event.details["session_ids"], event.details["kept"]) == (["one", "three"], 1)


@pytest.mark.parametrize(
    ("ids", "actor"),
    [([], "ana"), (["run-1"], " "), ([f"run-{number}" for number in range(MOST_AT_ONCE + 1)], "ana")],
    ids=["nothing", "nobody", "too many"],
)
def test_what_makes_no_sense_is_refused(ctx: Context, ids: list[str], actor: str):
    with pytest.raises(InvalidRequest):
        prune_selected(ctx, ids, actor=actor)
