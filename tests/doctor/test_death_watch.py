"""Deaths of real processes: who is told, when, and that nothing else is believed."""

import os
import pwd
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lionstudio import machine
from lionstudio.doctor.death_notices import DeathNotices
from lionstudio.doctor.loop import Doctor
from lionstudio.domain.change import Topic
from lionstudio.domain.health import Health
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.domain.session import SessionStatus
from lionstudio.services import health, sessions
from lionstudio.services.context import Context
from lionstudio.store import processes
from tests.doctor.processes import NEVER, dead_process, end, living, open_notices, record, recorded, start_in, verdicts
from tests.factories import start_run
from tests.services.test_health import say_something
from tests.waiting import wait_until

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at Linux's descriptors")
PATIENCE = 20.0


@contextmanager
def watching(ctx: Context, *, most_notices: int | None = None) -> Iterator[Doctor]:
    """A doctor whose first round is over, and who makes no other."""
    doctor = Doctor(ctx, every=NEVER, most_notices=most_notices)
    doctor.start()
    try:
        wait_until(lambda: doctor.report().last_round)
        yield doctor
    finally:
        assert doctor.stop(PATIENCE)
        assert doctor.report().failures_in_a_row == 0


def start_with_process(ctx: Context, session_id: str, pid: int) -> None:
    start_run(ctx, session_id)
    say_something(ctx, session_id)
    record(ctx, session_id, pid)


@pytest.mark.parametrize("most_notices", [None, 0], ids=["told", "nobody tells"])
def test_a_death_is_seen_without_a_round_and_changes_no_status(ctx: Context, most_notices: int | None) -> None:
    with living(2) as [dying, other]:
        start_with_process(ctx, "dying", dying.pid)
        start_with_process(ctx, "other", other.pid)
        with watching(ctx, most_notices=most_notices) as doctor:
            wait_until(lambda: doctor.report().watched_processes == 2)
            only_round = doctor.report().last_round
            end(dying)
            wait_until(lambda: verdicts(ctx))
            [event] = verdicts(ctx).values()
            assert (event.target_id, event.actor) == ("dying", "doctor_auto")
            assert {name: event.details[name] for name in ("health", "previous_health", "process_alive")} == {
                "health": "stale",
                "previous_health": "healthy",
                "process_alive": False,
            }
            assert doctor.report().last_round == only_round
            wait_until(lambda: doctor.report().deaths_seen == 1)
            wait_until(lambda: doctor.report().watched_processes == 1)
    assert {sessions.get_session(ctx, id).status for id in ("dying", "other")} == {SessionStatus.RUNNING}


def test_a_process_that_has_ended_and_was_not_collected_is_a_death(ctx: Context) -> None:
    with living() as [process]:
        start_with_process(ctx, "run-1", process.pid)
        with watching(ctx):
            process.kill()
            wait_until(lambda: verdicts(ctx))


def test_a_run_that_starts_later_is_watched_and_so_is_a_process_that_it_names_later(ctx: Context) -> None:
    with living(2) as [at_once, later], watching(ctx) as doctor:
        line = recorded("at-once", at_once.pid)
        start_in(ctx, line)
        start_run(ctx, "later")
        wait_until(lambda: doctor.report().watched_processes == 1)
        record(ctx, "later", later.pid)
        wait_until(lambda: doctor.report().watched_processes == 2)
        for process in (at_once, later):
            end(process)
        wait_until(lambda: len(verdicts(ctx)) == 2)


def test_a_process_that_died_before_anyone_could_watch_it_is_seen(ctx: Context) -> None:
    with watching(ctx):
        start_in(ctx, dead_process("run-1"))
        wait_until(lambda: verdicts(ctx))


def test_every_run_of_one_process_is_seen_to_lose_it(ctx: Context) -> None:
    with living() as [process]:
        for number in range(3):
            start_with_process(ctx, f"run-{number}", process.pid)
        with watching(ctx) as doctor:
            wait_until(lambda: doctor.report().watched_processes == 1)
            line = recorded("latecomer", process.pid)
            end(process)
            wait_until(lambda: len(verdicts(ctx)) == 3)
            start_in(ctx, line)
            wait_until(lambda: len(verdicts(ctx)) == 4)


def test_a_pid_that_another_process_has_by_now_is_no_life(ctx: Context) -> None:
    with living() as [stranger]:
        start_run(ctx, "run-1")
        say_something(ctx)
        with watching(ctx) as doctor:
            reused = recorded("run-1", stranger.pid)
            assert reused.start_time is not None
            sessions.put_process(ctx, reused._replace(start_time=reused.start_time - 1))
            wait_until(lambda: verdicts(ctx))
            wait_until(lambda: doctor.report().watched_processes == 0)
        stored = health.find_evidence(ctx, "run-1")
        assert stored is not None
        assert "another process" in stored.evidence.process.sentence
        assert stranger.poll() is None


def test_a_false_record_of_a_pid_takes_nobody_elses_watch_away(ctx: Context) -> None:
    with living() as [process]:
        start_with_process(ctx, "true", process.pid)
        with watching(ctx) as doctor:
            wait_until(lambda: doctor.report().watched_processes == 1)
            start_in(ctx, recorded("false", process.pid)._replace(start_time=1))
            wait_until(lambda: "false" in verdicts(ctx))
            assert "true" not in verdicts(ctx)
            end(process)
            wait_until(lambda: "true" in verdicts(ctx))


@pytest.mark.parametrize("pid", [-1, 0, 2**31, 2**60])
def test_a_number_that_is_no_pid_harms_nobody(ctx: Context, pid: int) -> None:
    with living() as [process], watching(ctx) as doctor:
        start_in(ctx, ProcessRecord("odd", ProcessRole.AGENT, machine.here(), pid, 1))
        start_in(ctx, recorded("run-1", process.pid))
        wait_until(lambda: doctor.report().watched_processes >= 1)
        end(process)
        wait_until(lambda: "run-1" in verdicts(ctx))


def test_a_process_of_another_place_is_not_watched(ctx: Context) -> None:
    with living(2) as [here, elsewhere], watching(ctx) as doctor:
        there = recorded("elsewhere", elsewhere.pid)
        start_in(ctx, there._replace(place=machine.here()._replace(pid_namespace="pid:[1]")))
        start_in(ctx, recorded("here", here.pid))
        wait_until(lambda: doctor.report().watched_processes == 1)
        end(elsewhere)
        end(here)
        wait_until(lambda: verdicts(ctx))
        assert set(verdicts(ctx)) == {"here"}


def test_a_recorder_that_outlives_its_agent_may_say_how_the_run_ended(ctx: Context) -> None:
    with living(2) as [ends_well, is_lost]:
        for name, process in (("ends-well", ends_well), ("is-lost", is_lost)):
            start_with_process(ctx, name, process.pid)
            record(ctx, name, os.getpid(), ProcessRole.RECORDER)
        with watching(ctx) as doctor:
            wait_until(lambda: doctor.report().watched_processes == 3)
            end(ends_well)
            sessions.finish_session(ctx, "ends-well", "completed")
            end(is_lost)
            wait_until(lambda: "is-lost" in verdicts(ctx))
            assert set(verdicts(ctx)) == {"is-lost"}


@LINUX
def test_descriptors_are_few_and_given_back(ctx: Context) -> None:
    with living(3) as processes:
        for number, process in enumerate(processes):
            start_with_process(ctx, f"run-{number}", process.pid)
        before = open_notices()
        with watching(ctx, most_notices=1) as doctor:
            wait_until(lambda: doctor.report().watched_processes == 3)
            assert open_notices() - before == 1
            for number in range(2):
                sessions.finish_session(ctx, f"run-{number}", "completed")
            wait_until(lambda: doctor.report().watched_processes == 1)
            doctor.scan_now()  # now there is room
            wait_until(lambda: open_notices() - before == 1)
            end(processes[2])
            wait_until(lambda: doctor.report().watched_processes == 0)
            assert open_notices() == before
            wait_until(lambda: set(verdicts(ctx)) == {"run-2"})


@LINUX
def test_an_end_of_watching_leaves_no_descriptor(ctx: Context) -> None:
    with living() as [process]:
        start_with_process(ctx, "run-1", process.pid)
        before = open_notices()
        with watching(ctx) as doctor:
            wait_until(lambda: open_notices() == before + 1)
            assert doctor.report().watched_processes == 1
        assert open_notices() == before


def test_what_was_told_and_could_not_be_taken_up_is_taken_up_later(ctx: Context) -> None:
    with living(2) as [known, told], watching(ctx) as doctor:
        start_in(ctx, recorded("known", known.pid))
        start_run(ctx, "told")
        wait_until(lambda: doctor.report().watched_processes == 1)
        with ctx.db.write() as tx:  # the news, and that nobody can read what it is about
            processes.put(tx, recorded("told", told.pid))
            tx.tell(Topic.SESSION, "told", session_id="told", at=ctx.now())
            tx.run("ALTER TABLE session_processes RENAME TO away")
        wait_until(lambda: doctor.report().failures_in_a_row)
        with ctx.db.write() as tx:
            tx.run("ALTER TABLE away RENAME TO session_processes")
        wait_until(lambda: doctor.report().watched_processes == 2)


def open_selectors() -> set[int]:
    """The descriptors of this process that wait for others."""
    found = set()
    for fd in map(int, os.listdir("/proc/self/fd")):
        with suppress(FileNotFoundError):
            if os.readlink(f"/proc/self/fd/{fd}") == "anon_inode:[eventpoll]":
                found.add(fd)
    return found


@LINUX
def test_a_watch_that_cannot_wait_goes_on_and_is_told(ctx: Context) -> None:
    before = open_selectors()
    with living() as [process], watching(ctx) as doctor, open(os.devnull) as nothing:
        start_in(ctx, recorded("run-1", process.pid))
        wait_until(lambda: doctor.report().watched_processes == 1)
        [selector] = open_selectors() - before
        whole = os.dup(selector)
        os.dup2(nothing.fileno(), selector)
        try:
            wait_until(lambda: doctor.report().failures_in_a_row)
            assert doctor.report().is_running
        finally:
            os.dup2(whole, selector)
            os.close(whole)
        end(process)
        wait_until(lambda: verdicts(ctx))
        wait_until(lambda: not doctor.report().failures_in_a_row)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_doctor_without_its_watch_does_not_run(ctx: Context) -> None:
    is_the_end = threading.Event()

    def now() -> float:
        if is_the_end.is_set() and threading.current_thread().name == "lionstudio-death-watch":
            raise SystemExit  # of that thread
        return ctx.now()

    with living() as [process], watching(Context(ctx.db, now)) as doctor:
        start_in(ctx, recorded("run-1", process.pid))
        wait_until(lambda: doctor.report().watched_processes == 1)
        assert doctor.report().is_running
        is_the_end.set()
        end(process)
        wait_until(lambda: not doctor.report().is_running)


def test_waking_ends_a_wait_and_harms_nobody_afterwards() -> None:
    notices = DeathNotices(at_most=1)
    notices.wake()
    assert notices.wait(PATIENCE) == []
    for _ in range(100_000):  # more than a pipe holds
        notices.wake()
    notices.close()
    notices.wake()
    notices.close()


def test_a_process_of_another_user_is_watched() -> None:
    """A doctor without any rights sees the death of a process that it may not touch."""
    try:
        nobody = pwd.getpwnam("nobody").pw_uid
    except KeyError:
        pytest.skip("this system has no user without rights")
    if os.geteuid() != 0:
        pytest.skip("only root may become another user")
    script = textwrap.dedent("""
        import os, sys
        from lionstudio import machine
        from lionstudio.doctor.death_notices import DeathNotices
        pid = int(sys.argv[1])
        os.setuid(int(sys.argv[2]))
        try:
            os.kill(pid, 0)
            sys.exit("it may be touched")
        except PermissionError:
            pass
        notices = DeathNotices(at_most=1)
        assert notices.add(pid)
        seen = machine.look_at(pid)
        print(seen.start_time, flush=True)
        print(notices.wait(60), flush=True)
    """)
    source = str(Path(machine.__file__).parents[1])
    with living() as [process]:
        watcher = subprocess.Popen(
            [sys.executable, "-c", script, str(process.pid), str(nobody)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": source},
        )
        with watcher:
            assert watcher.stdout is not None
            seen = machine.look_at(process.pid)
            assert seen is not None
            assert watcher.stdout.readline().strip() == str(seen.start_time)
            end(process)
            assert watcher.stdout.readline().strip() == f"[{process.pid}]"


def test_the_health_of_the_dead_is_what_a_look_at_it_says(ctx: Context) -> None:
    with watching(ctx):
        start_in(ctx, dead_process("run-1"))
        say_something(ctx)
        wait_until(lambda: verdicts(ctx))
    assert health.judge(ctx, "run-1")[1].health is Health.STALE
