"""The doctor in the background: rounds, their failures, and several doctors on one database."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lionstudio.doctor.loop import Doctor
from lionstudio.domain.audit import AdminEvent
from lionstudio.domain.health import DAY, HOUR, Health
from lionstudio.domain.session import SessionStatus
from lionstudio.services import admin, health, sessions
from lionstudio.services.context import Context
from lionstudio.store.database import Database
from lionstudio.store.open import open_database
from tests.doctor.processes import NEVER, dead_process, end, living, record, start_in, verdicts
from tests.factories import Clock, start_run
from tests.services.test_health import end_run, say_something, write
from tests.waiting import wait_until

PATIENCE = 20.0


@contextmanager
def started(doctor: Doctor) -> Iterator[Doctor]:
    doctor.start()
    try:
        yield doctor
    finally:
        assert doctor.stop(PATIENCE)


def statuses(ctx: Context, session_ids: list[str]) -> set[SessionStatus | None]:
    return {sessions.get_session(ctx, session_id).status for session_id in session_ids}


def test_starting_over_two_hundred_dead_runs_changes_no_status(ctx: Context) -> None:
    ids = [f"run-{number}" for number in range(200)]
    process = dead_process()
    for session_id in ids:
        start_in(ctx, process._replace(session_id=session_id))
    with started(Doctor(ctx)) as doctor:
        wait_until(lambda: doctor.report().last_round)
        wait_until(lambda: len(verdicts(ctx)) == 200)
        wait_until(lambda: doctor.report().deaths_seen == 200)
    assert {event.details["health"] for event in verdicts(ctx).values()} == {"stale"}
    assert statuses(ctx, ids) == {SessionStatus.RUNNING}
    assert all(len(sessions.list_history(ctx, session_id)) == 1 for session_id in ids)


def test_a_round_comes_again_and_again(ctx: Context, clock: Clock) -> None:
    start_run(ctx, "run-1", kind="agent")
    with started(Doctor(ctx, every=0.01)) as doctor:
        wait_until(lambda: doctor.report().last_round)
        assert verdicts(ctx) == {}
        clock.pass_seconds(2 * HOUR)
        wait_until(lambda: verdicts(ctx))
    assert verdicts(ctx)["run-1"].details["health"] == "idle"


def test_the_report_tells_of_the_last_round(ctx: Context, clock: Clock) -> None:
    doctor = Doctor(ctx)
    assert doctor.report()[:4] == (False, 300.0, None, None)
    start_in(ctx, dead_process("dead"))
    start_run(ctx, "fine")
    clock.pass_seconds(7)
    doctor.scan_now()
    last = doctor.report().last_round
    assert last is not None
    assert (last.began_at, last.ended_at, last.looked_at, last.changed) == (clock(), clock(), 2, 1)
    assert last.took_seconds > 0
    assert doctor.stop()


def test_several_doctors_say_a_change_once(db: Database, location: str) -> None:
    other_db = open_database(location)
    ctx, other = Context(db), Context(other_db)  # by a clock that goes on: it tells which look was the later one
    with living(20) as processes:
        for number, process in enumerate(processes):
            start_run(ctx, f"run-{number}")
            record(ctx, f"run-{number}", process.pid)
        doctors = [Doctor(ctx, every=0.01), Doctor(other, every=0.01), Doctor(ctx, every=NEVER)]
        with started(doctors[0]), started(doctors[1]), started(doctors[2]):
            wait_until(lambda: all(doctor.report().watched_processes == 20 for doctor in doctors))
            for process in processes:
                end(process)
            wait_until(lambda: len(verdicts(ctx)) == 20)
            wait_until(lambda: all(doctor.report().deaths_seen == 20 for doctor in doctors))
        assert len(verdicts(ctx)) == 20  # the helper fails where a run has two
        assert [doctor.report().last_failure for doctor in doctors] == [None] * 3
    other_db.close()


def test_a_round_that_fails_ends_nothing_and_is_told(ctx: Context, clock: Clock) -> None:
    start_in(ctx, dead_process("dead"))
    with ctx.db.write() as tx:
        tx.run("ALTER TABLE session_evidence RENAME TO away")
    with started(Doctor(ctx, every=0.01)) as doctor:
        wait_until(lambda: doctor.report().failures_in_a_row > 3)
        failure = doctor.report().last_failure
        assert failure is not None
        assert failure.at == clock()
        assert "session_evidence" in failure.sentence
        assert (doctor.report().is_running, doctor.report().last_round) == (True, None)
        with pytest.raises(Exception, match="session_evidence"):
            doctor.scan_now()
        with ctx.db.write() as tx:
            tx.run("ALTER TABLE away RENAME TO session_evidence")
        wait_until(lambda: doctor.report().failures_in_a_row == 0)
        wait_until(lambda: verdicts(ctx))
        assert doctor.report().last_failure is not None  # what happened can still be read


def test_it_can_be_asked_from_many_threads_at_once(ctx: Context) -> None:
    start_in(ctx, dead_process("dead"))
    found: list[int] = []
    with started(Doctor(ctx, every=NEVER)) as doctor:
        threads = [threading.Thread(target=lambda: found.append(len(doctor.scan_now().examined))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
    assert found == [1] * 4
    assert len(verdicts(ctx)) == 1


def test_it_stops_twice_and_before_it_started(ctx: Context) -> None:
    assert Doctor(ctx).stop()
    doctor = Doctor(ctx)
    doctor.start()
    assert doctor.stop(PATIENCE)
    assert doctor.stop(PATIENCE)
    assert not doctor.report().is_running


def test_an_operator_who_asks_for_a_round_is_named(ctx: Context) -> None:
    start_in(ctx, dead_process("dead"))
    Doctor(ctx).scan_now(requested_by="ana")
    event = verdicts(ctx)["dead"]
    assert (event.actor, event.details["requested_by"]) == ("doctor_auto", "ana")


def events_of(ctx: Context, session_id: str) -> list[tuple[str | None, str]]:
    """Health before and after, newest first."""
    events: list[AdminEvent] = admin.list_events(ctx, target_id=session_id)
    return [(event.details["previous_health"], event.details["health"]) for event in events]


def test_what_an_ended_run_left_behind_is_found_and_its_going_too(ctx: Context, clock: Clock, tmp_path: Path) -> None:
    left = write(tmp_path / "out" / "half.tmp")
    start_run(ctx, "run-1", artifacts_path=str(tmp_path / "out"))
    doctor = Doctor(ctx)
    doctor.scan_now()
    end_run(ctx)
    doctor.scan_now()
    assert events_of(ctx, "run-1") == [("healthy", "zombie")]
    clock.pass_seconds(30 * DAY)
    doctor.scan_now()
    assert events_of(ctx, "run-1") == [("healthy", "zombie")]
    left.unlink()
    clock.pass_seconds(1)
    doctor.scan_now()
    assert events_of(ctx, "run-1") == [("zombie", "healthy"), ("healthy", "zombie")]
    assert sessions.get_session(ctx, "run-1").status is SessionStatus.COMPLETED


def test_nobody_looks_for_the_leftovers_of_a_run_that_ended_long_ago(
    ctx: Context, clock: Clock, tmp_path: Path
) -> None:
    write(tmp_path / "half.tmp")
    start_run(ctx, "run-1", artifacts_path=str(tmp_path))
    end_run(ctx)
    clock.pass_seconds(8 * DAY)
    doctor = Doctor(ctx)
    doctor.scan_now()
    assert doctor.report().last_round is not None
    assert doctor.report().last_round[3:] == (0, 0)  # type: ignore[index]  checked in the line before


def test_a_run_that_an_operator_ended_is_stale_no_more(ctx: Context, clock: Clock) -> None:
    start_in(ctx, dead_process("run-1"))
    doctor = Doctor(ctx)
    doctor.scan_now()
    end_run(ctx)
    clock.pass_seconds(1)
    doctor.scan_now()
    assert events_of(ctx, "run-1") == [("stale", "healthy"), (None, "stale")]
    stored = health.find_evidence(ctx, "run-1")
    assert stored is not None
    assert stored.health is Health.HEALTHY


def test_a_clock_that_jumps_changes_verdicts_and_nothing_else(ctx: Context, clock: Clock) -> None:
    with living() as [process]:
        start_run(ctx, "run-1", kind="agent")
        say_something(ctx)
        record(ctx, "run-1", process.pid)
        doctor = Doctor(ctx)
        for jump in (0, 40 * DAY, -80 * DAY, 40 * DAY):
            clock.pass_seconds(jump)
            doctor.scan_now()
            stored = health.find_evidence(ctx, "run-1")
            assert stored is not None
            assert stored.evidence.observed_at == clock()
        assert sorted(events_of(ctx, "run-1")) == [("healthy", "unresponsive"), ("unresponsive", "healthy")]
        assert statuses(ctx, ["run-1"]) == {SessionStatus.RUNNING}
        assert doctor.report().failures_in_a_row == 0


def test_a_folder_that_cannot_be_read_is_no_failure(ctx: Context, clock: Clock, tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for name in ("ended", "dead"):
        start_run(ctx, name, artifacts_path=str(loop))
    end_run(ctx, "ended")
    sessions.put_process(ctx, dead_process("dead"))
    clock.pass_seconds(2 * HOUR)
    doctor = Doctor(ctx)
    [dead] = doctor.scan_now().examined
    # Whether it left files is unknown, so nobody says that it never produced anything.
    assert (dead.verdict.health, dead.evidence.has_artifacts) == (Health.STALE, None)
    stored = health.find_evidence(ctx, "ended")
    assert stored is not None
    assert (stored.health, stored.evidence.has_artifacts) == (Health.HEALTHY, None)
    assert doctor.report().failures_in_a_row == 0
