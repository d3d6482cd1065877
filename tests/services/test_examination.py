"""Keeping what was seen of runs: what is new is said once, and who knows better is not overturned."""

from pathlib import Path

import pytest

from lionstudio import machine
from lionstudio.domain.health import HOUR, Health, classify_health
from lionstudio.domain.process import ProcessLook, ProcessState
from lionstudio.services import admin, health, sessions
from lionstudio.services.context import Context
from lionstudio.services.examination import (
    SIGHT_HOLDS_FOR,
    Examined,
    examine_ended,
    examine_running,
    examine_sessions,
    examine_still_running,
    keep_examined,
    list_local_processes,
    share_look,
)
from lionstudio.store import evidence as evidence_rows
from lionstudio.store.evidence import StoredEvidence
from tests.doctor.processes import dead_process, end, living, recorded, start_in
from tests.factories import Clock, start_run
from tests.services.test_health import end_run, say_something, write


def stored(ctx: Context, session_id: str = "run-1") -> StoredEvidence:
    found = health.find_evidence(ctx, session_id)
    assert found is not None
    return found


def look(ctx: Context) -> list[Examined]:
    return list(examine_running(ctx))


def test_the_same_seen_again_is_dated_anew_and_no_news(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    keep_examined(ctx, look(ctx))
    clock.pass_seconds(60)
    keep_examined(ctx, look(ctx))
    assert stored(ctx).evidence.observed_at == clock()
    assert admin.list_events(ctx) == []


def test_a_look_that_somebody_knows_better_than_writes_nothing(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    start_run(ctx)
    end_run(ctx)
    (seen,) = examine_sessions(ctx, ["run-1"])
    dead, unseen = (ProcessLook(state, "Seen.", 7) for state in (ProcessState.DEAD, ProcessState.UNKNOWN))
    left = seen.evidence._replace(process=dead, temp_files=("a.tmp",))
    zombie = seen._replace(evidence=left, verdict=classify_health(seen.session, left, now=ctx.now()))
    share_look(ctx, zombie)
    assert stored(ctx).health is Health.ZOMBIE
    opened: list[bool] = []
    write = ctx.db.write
    monkeypatch.setattr(ctx.db, "write", lambda: opened.append(True) or write())
    share_look(ctx, seen._replace(evidence=seen.evidence._replace(process=unseen)))  # from elsewhere, without a sight
    assert (stored(ctx).health, opened) == (Health.ZOMBIE, [])


def test_a_run_that_ended_after_the_look_is_not_called_dead(ctx: Context) -> None:
    start_in(ctx, dead_process())
    seen = look(ctx)
    assert seen[0].verdict.health is Health.STALE
    end_run(ctx)
    assert keep_examined(ctx, seen) == 0
    assert (health.find_evidence(ctx, "run-1"), admin.list_events(ctx)) == (None, [])


def test_a_run_that_spoke_after_the_look_is_judged_by_what_it_said(ctx: Context, clock: Clock) -> None:
    start_run(ctx, kind="agent")
    clock.pass_seconds(2 * HOUR)
    seen = look(ctx)
    assert seen[0].verdict.health is Health.IDLE
    say_something(ctx)
    assert keep_examined(ctx, seen) == 0
    assert stored(ctx).health is Health.HEALTHY


def test_an_earlier_look_does_not_overturn_a_later_one(ctx: Context, clock: Clock) -> None:
    with living() as [process]:
        start_in(ctx, recorded("run-1", process.pid))
        alive = look(ctx)
    clock.pass_seconds(1)
    assert keep_examined(ctx, look(ctx)) == 1
    assert keep_examined(ctx, alive) == 0
    assert stored(ctx).health is Health.STALE


def test_who_died_while_two_looked_stays_dead(ctx: Context, clock: Clock) -> None:
    """The slower look began first and saw the death, the quicker one began later and did not."""
    with living() as [process]:
        start_in(ctx, recorded("run-1", process.pid))
        alive: list[Examined] = []

        def slow_clock() -> float:
            began_at = clock()
            clock.pass_seconds(1)
            if not alive:
                alive.extend(look(ctx))
                clock.pass_seconds(1)
                end(process)
            return began_at

        dead = examine_still_running(Context(ctx.db, now=slow_clock), ["run-1"])
        assert [one.evidence.process.state for one in (*alive, *dead)] == [ProcessState.ALIVE, ProcessState.DEAD]
        assert keep_examined(ctx, dead) == 1
        assert keep_examined(ctx, alive) == 0
        assert stored(ctx).health is Health.STALE


def test_a_date_moves_back_only_from_the_future(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    earlier = look(ctx)
    clock.pass_seconds(60)
    later = look(ctx)
    keep_examined(ctx, later)
    keep_examined(ctx, earlier)  # by a doctor who was slower
    assert stored(ctx).evidence.observed_at == clock()
    clock.pass_seconds(-30)  # it was set right
    keep_examined(ctx, look(ctx))
    assert stored(ctx).evidence.observed_at == clock()


def test_of_runs_that_lost_a_process_only_those_that_still_run_are_looked_at(ctx: Context, tmp_path: Path) -> None:
    start_in(ctx, dead_process())
    start_run(ctx, "ended", artifacts_path=str(write(tmp_path / "x.tmp").parent))
    end_run(ctx, "ended")
    assert [one.session.id for one in examine_still_running(ctx, ["run-1", "ended", "ghost"])] == ["run-1"]


def test_who_cannot_see_the_process_does_not_overturn_who_could(ctx: Context, clock: Clock) -> None:
    elsewhere = machine.here()._replace(host="elsewhere")
    start_in(ctx, dead_process()._replace(place=elsewhere))
    [from_here] = look(ctx)
    assert (from_here.evidence.process.state, from_here.verdict.health) == (ProcessState.UNKNOWN, Health.HEALTHY)
    with ctx.db.write() as tx:  # as the doctor on that host keeps it
        there = from_here.evidence._replace(process=ProcessLook(ProcessState.DEAD, "pid 7 is gone from elsewhere."))
        evidence_rows.put_many(tx, [evidence_rows.Sight(from_here.session, there, Health.STALE, clock())])
    clock.pass_seconds(SIGHT_HOLDS_FOR - 1)
    assert keep_examined(ctx, look(ctx)) == 0
    assert stored(ctx).health is Health.STALE
    clock.pass_seconds(2)
    assert keep_examined(ctx, look(ctx)) == 1
    assert stored(ctx).health is Health.HEALTHY


def test_ended_runs_take_turns(ctx: Context, clock: Clock, tmp_path: Path) -> None:
    for number in range(5):
        start_run(ctx, f"run-{number}", artifacts_path=str(write(tmp_path / str(number) / "x.tmp").parent))
        end_run(ctx, f"run-{number}")
    turns = []
    for _ in range(3):
        found = examine_ended(ctx, at_most=2, seconds=60)
        assert {one.verdict.health for one in found} == {Health.ZOMBIE}
        keep_examined(ctx, found)
        turns.append({one.session.id for one in found})
        clock.pass_seconds(1)
    assert set.union(*turns) == {f"run-{number}" for number in range(5)}
    assert [len(turn) for turn in turns] == [2, 2, 2]


def test_a_look_at_ended_runs_ends_when_its_time_is_up(ctx: Context, tmp_path: Path) -> None:
    start_run(ctx, artifacts_path=str(tmp_path))
    end_run(ctx)
    assert examine_ended(ctx, at_most=9, seconds=-1) == []


def test_files_of_another_host_are_not_looked_for_here(ctx: Context, tmp_path: Path) -> None:
    write(tmp_path / "x.tmp")
    for name, host in (("here", machine.here().host), ("there", "elsewhere"), ("nobody-knows", None)):
        start_run(ctx, name, artifacts_path=str(tmp_path))
        place = machine.here()._replace(host=host)
        sessions.put_process(ctx, dead_process(name)._replace(place=place))
        end_run(ctx, name)
    assert {one.session.id for one in examine_ended(ctx, at_most=9, seconds=60)} == {"here", "nobody-knows"}


def test_runs_are_examined_by_name_whether_they_run_or_not(ctx: Context, tmp_path: Path) -> None:
    start_in(ctx, dead_process())
    write(tmp_path / "x.tmp")
    start_run(ctx, "ended", artifacts_path=str(tmp_path))
    end_run(ctx, "ended")
    found = examine_sessions(ctx, ["run-1", "ended", "ghost"])
    assert {one.session.id: one.verdict.health for one in found} == {"run-1": Health.STALE, "ended": Health.ZOMBIE}


def test_only_processes_of_this_place_and_of_running_runs_are_local(ctx: Context) -> None:
    process, here = dead_process("here"), machine.here()
    start_in(ctx, process)
    for name, place in (
        ("host", here._replace(host="elsewhere")),
        ("boot", here._replace(boot_id="another")),
        ("space", here._replace(pid_namespace="pid:[1]")),
        ("nowhere", here._replace(boot_id=None)),
        ("ended", here),
    ):
        start_in(ctx, process._replace(session_id=name, place=place))
    end_run(ctx, "ended")
    assert list_local_processes(ctx) == [process]
    assert list_local_processes(ctx, ["ended", "host"]) == []
    assert list_local_processes(ctx, ["here", "host"]) == [process]
