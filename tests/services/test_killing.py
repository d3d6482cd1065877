"""Ending the process of a run, with real processes."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lionstudio import machine
from lionstudio.domain.errors import CannotKill, IllegalTransition, InvalidRequest, SessionNotFound
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.domain.session import SessionStatus
from lionstudio.services import killing
from lionstudio.services.admin import list_events
from lionstudio.services.context import Context
from lionstudio.services.killing import kill, plan_kill
from lionstudio.services.sessions import finish_session, get_session, list_history, put_process
from lionstudio.store.transaction import Tx
from tests.factories import start_run
from tests.recorders.agents import Agent
from tests.waiting import wait_until

WAITS = "import signal; print('ready', flush=True); signal.pause()"
IGNORES_SIGTERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + WAITS
# When it is woken, which is after it was told to end: as if somebody pressed Ctrl-C while the grace is waited for.
INTERRUPTS_US = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCONT, lambda *_: os.kill(os.getppid(), signal.SIGINT))
print("ready", flush=True)
while True:
    signal.pause()
"""
HAS_A_CHILD = """
import signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(child.pid, flush=True)
signal.pause()
"""
RECORDS_ITSELF = """
import signal, sys, lionstudio
with lionstudio.record("triage", db=sys.argv[1]) as run:
    run.user("work")
    print(run.session_id, flush=True)
    signal.pause()
"""


@contextlib.contextmanager
def process_of(ctx: Context, script: str, session_id: str = "run-1", **facts: object) -> Iterator[tuple[int, str]]:
    """A process of its own group that is recorded for a new run; its pid and the first line it prints."""
    start_run(ctx, session_id)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        put_process(ctx, recorded(session_id, process.pid, **facts))
        yield process.pid, line
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def recorded(session_id: str, pid: int, **facts: object) -> ProcessRecord:
    seen = machine.look_at(pid)
    assert seen is not None
    known = ProcessRecord(
        session_id, ProcessRole.AGENT, machine.here(), pid, seen.start_time, pgid=os.getpgid(pid), command="worker.py"
    )
    return known._replace(**facts)  # type: ignore[arg-type]  # any of its fields


def is_alive(pid: int) -> bool:
    seen = machine.look_at(pid)
    return seen is not None and seen.state != "Z"


def test_a_process_that_heeds_sigterm_is_gone_and_its_run_is_cancelled_by_the_operator(ctx: Context) -> None:
    with process_of(ctx, WAITS) as (pid, _):
        plan = plan_kill(ctx, "run-1")
        assert (plan.process.pid, plan.process.command, plan.group) == (pid, "worker.py", None)
        assert plan.sentence == f"pid {pid} is alive on {machine.here().host}, same boot and start time."
        assert is_alive(pid)
        done = kill(ctx, plan, actor="ana", reason="it loops")
        assert not is_alive(pid)
    assert (done.signals, done.ended_by_itself, done.plan) == (("SIGTERM",), False, plan)
    assert done.proof == f"pid {pid} has ended and waits to be collected (state Z)."
    session = get_session(ctx, "run-1")
    assert session == done.session
    assert (session.status, session.end_actor, session.end_reason) == ("cancelled", "ana", "run.cancelled.killed")
    last = list_history(ctx, "run-1")[-1]
    assert (last.from_status, last.to_status, last.actor, last.reason_code, last.sentence) == (
        "running", "cancelled", "ana", "run.cancelled.killed", "it loops (SIGTERM was enough)",
    )  # fmt: skip
    (event,) = list_events(ctx, target_id="run-1")
    assert (event.id, event.action, event.actor) == (done.event_id, "kill", "ana")
    assert event.details["signals"] == ["SIGTERM"]
    assert (event.details["pid"], event.details["reason"], event.details["proof"]) == (pid, "it loops", done.proof)


def test_a_process_that_ignores_sigterm_is_killed_after_the_grace(ctx: Context) -> None:
    with process_of(ctx, IGNORES_SIGTERM) as (pid, _):
        done = kill(ctx, plan_kill(ctx, "run-1"), actor="ana", grace=0.05)
        assert not is_alive(pid)
    assert done.signals == ("SIGTERM", "SIGKILL")
    assert done.session.status is SessionStatus.CANCELLED
    needed = "SIGKILL was needed 0.05 s after SIGTERM."
    assert list_history(ctx, "run-1")[-1].sentence == needed
    assert list_events(ctx, target_id="run-1")[0].details["sentence"] == needed


def test_a_process_that_ends_just_before_it_is_forced_was_not_forced(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    with process_of(ctx, IGNORES_SIGTERM) as (pid, _):
        plan, write = plan_kill(ctx, "run-1"), ctx.db.write

        def write_too_late() -> contextlib.AbstractContextManager[Tx]:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not is_alive(pid))
            return write()

        monkeypatch.setattr(ctx.db, "write", write_too_late)
        done = kill(ctx, plan, actor="ana", grace=0.05)
    assert done.signals == ("SIGTERM",)
    assert "SIGKILL" not in str(list_history(ctx, "run-1")[-1])


def test_the_whole_group_goes_where_it_is_the_runs_own(ctx: Context) -> None:
    with process_of(ctx, HAS_A_CHILD, owns_group=True) as (pid, line):
        child = int(line)
        plan = plan_kill(ctx, "run-1")
        assert plan.group == tuple(sorted((pid, child)))
        kill(ctx, plan, actor="ana")
        assert not is_alive(pid)
        assert not is_alive(child)


def test_a_member_of_the_group_that_ignores_sigterm_is_killed_too(ctx: Context) -> None:
    script = f"""
import signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {IGNORES_SIGTERM!r}], stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print(child.pid, flush=True)
signal.pause()
"""
    with process_of(ctx, script, owns_group=True) as (pid, line):
        done = kill(ctx, plan_kill(ctx, "run-1"), actor="ana", grace=0.3)
        assert not is_alive(pid)
        assert not is_alive(int(line))
        assert done.signals == ("SIGTERM", "SIGKILL")


@pytest.mark.parametrize("owns_group", [False, True], ids=["alone", "with its group"])
def test_a_run_that_dies_by_itself_before_the_signal_is_not_the_operators_doing(
    ctx: Context, monkeypatch: pytest.MonkeyPatch, owns_group: bool
) -> None:
    send = signal.pidfd_send_signal

    def crash_first(*args: Any) -> None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        send(*args)

    with process_of(ctx, WAITS, owns_group=owns_group) as (pid, _):
        plan = plan_kill(ctx, "run-1")
        monkeypatch.setattr(signal, "pidfd_send_signal", crash_first)
        with pytest.raises(CannotKill, match="ended before it was told to"):
            kill(ctx, plan, actor="ana")
    session = get_session(ctx, "run-1")
    assert (session.status, session.end_actor) == ("running", None)
    assert list_events(ctx, target_id="run-1") == []


def test_only_the_one_process_goes_where_the_group_is_not_the_runs_own(ctx: Context) -> None:
    with process_of(ctx, HAS_A_CHILD, owns_group=False) as (pid, line):
        plan = plan_kill(ctx, "run-1")
        assert plan.group is None
        kill(ctx, plan, actor="ana")
        assert not is_alive(pid)
        assert is_alive(int(line))


def test_the_end_that_a_run_wrote_itself_stays_and_the_audit_says_who_killed_it(
    ctx: Context, location: str, home: Path
) -> None:
    with Agent(RECORDS_ITSELF, location) as agent:
        session_id = agent.line()
        done = kill(ctx, plan_kill(ctx, session_id), actor="ana", reason="wrong branch")
        assert done.ended_by_itself
        assert agent.end().returncode == -signal.SIGTERM
    session = get_session(ctx, session_id)
    assert (session.status, session.end_actor, session.end_reason) == (
        "cancelled", "run", "run.cancelled.terminated",
    )  # fmt: skip
    (event,) = list_events(ctx, target_id=session_id)
    assert (event.action, event.actor, event.details["reason"]) == ("kill", "ana", "wrong branch")
    assert event.details["ended_by_itself"] is True


def test_a_recorder_that_outlives_its_agent_may_write_the_end(
    ctx: Context, location: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(killing, "RECORDER_PATIENCE", 60.0)
    recorder = """
    import os, sys
    from lionstudio.services.context import open_context
    from lionstudio.services.sessions import finish_session
    from lionstudio.settings import load_settings
    from lionstudio.machine import HeldProcess, look_at
    ctx = open_context(load_settings(db=sys.argv[1]))
    print("ready", flush=True)
    held = HeldProcess(int(sys.argv[2]), look_at(int(sys.argv[2])).start_time)
    print("holds", flush=True)
    held.wait(60)
    finish_session(ctx, "run-1", "cancelled", exit_code=143)
    sys.stdin.readline()
    """
    with process_of(ctx, WAITS) as (pid, _), Agent(recorder, location, pid) as agent:
        assert (agent.line(), agent.line()) == ("ready", "holds")
        put_process(ctx, recorded("run-1", agent.process.pid, role=ProcessRole.RECORDER))
        done = kill(ctx, plan_kill(ctx, "run-1"), actor="ana")
        assert done.ended_by_itself
        assert done.session.exit_code == 143
        assert is_alive(agent.process.pid)


def test_a_recorder_that_says_nothing_is_not_waited_for_for_ever(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(killing, "RECORDER_PATIENCE", 0.05)
    with process_of(ctx, WAITS) as (pid, _), process_of(ctx, WAITS, "run-2") as (other, _):
        put_process(ctx, recorded("run-1", other, role=ProcessRole.RECORDER))
        done = kill(ctx, plan_kill(ctx, "run-1"), actor="ana")
        assert not is_alive(pid)
        assert is_alive(other)
    assert (done.session.status, done.session.end_actor) == ("cancelled", "ana")


def test_the_recorder_is_ended_where_no_agent_lives(ctx: Context) -> None:
    with process_of(ctx, WAITS) as (pid, _), process_of(ctx, WAITS, "run-2") as (other, _):
        put_process(ctx, recorded("run-1", pid)._replace(start_time=1))
        put_process(ctx, recorded("run-1", other, role=ProcessRole.RECORDER))
        assert plan_kill(ctx, "run-1").process.pid == other


def test_a_pid_that_was_given_to_another_process_is_left_alone(ctx: Context) -> None:
    with process_of(ctx, WAITS, start_time=1) as (pid, _):
        with pytest.raises(CannotKill, match=f"pid {pid} now belongs to another process, so the process of") as caught:
            plan_kill(ctx, "run-1")
        assert "No signal was sent." in (caught.value.hint or "")
        assert is_alive(pid)
    assert get_session(ctx, "run-1").status is SessionStatus.RUNNING


def test_a_pid_that_is_given_to_another_process_after_the_plan_is_left_alone(ctx: Context) -> None:
    with process_of(ctx, WAITS) as (pid, _):
        plan = plan_kill(ctx, "run-1")
        changed = plan._replace(process=plan.process._replace(start_time=1))
        with pytest.raises(CannotKill, match="ended before it was told to"):
            kill(ctx, changed, actor="ana")
        assert is_alive(pid)
    assert list_events(ctx) == []


HERE = machine.here()


@pytest.mark.parametrize(
    ("facts", "why", "way_on"),
    [
        pytest.param({"place": HERE._replace(host="far-1")}, "is on far-1", "on that machine", id="another host"),
        pytest.param(
            {"place": HERE._replace(pid_namespace="pid:[1]")}, "another pid namespace", "container", id="a namespace"
        ),
        pytest.param({"place": HERE._replace(boot_id="x")}, "was rebooted", "transition-stale", id="another boot"),
        pytest.param({"start_time": None}, "whether it is the same process is not known", "yourself", id="no start"),
    ],
)
def test_a_process_that_cannot_be_recognised_is_left_alone(
    ctx: Context, facts: dict[str, Any], why: str, way_on: str
) -> None:
    with process_of(ctx, WAITS, **facts) as (pid, _):
        with pytest.raises(CannotKill, match=why) as caught:
            plan_kill(ctx, "run-1")
        assert way_on in (caught.value.hint or "")
        assert is_alive(pid)


def test_a_run_without_a_process_cannot_be_killed(ctx: Context) -> None:
    start_run(ctx)
    with pytest.raises(CannotKill, match="No process was recorded"):
        plan_kill(ctx, "run-1")


def test_a_run_that_has_ended_cannot_be_killed(ctx: Context) -> None:
    start_run(ctx)
    finish_session(ctx, "run-1", "completed")
    with pytest.raises(IllegalTransition, match="has ended: Completed"):
        plan_kill(ctx, "run-1")
    with pytest.raises(SessionNotFound):
        plan_kill(ctx, "nobody")


def test_a_process_does_not_kill_itself(ctx: Context) -> None:
    start_run(ctx)
    put_process(ctx, recorded("run-1", os.getpid()))
    with pytest.raises(CannotKill, match="This very process"):
        plan_kill(ctx, "run-1")


@pytest.mark.parametrize(("actor", "grace"), [("", 1.0), ("run", 1.0), ("ana", -1.0), ("ana", float("nan"))])
def test_an_order_that_makes_no_sense_sends_nothing(ctx: Context, actor: str, grace: float) -> None:
    with process_of(ctx, WAITS) as (pid, _):
        with pytest.raises(InvalidRequest):
            kill(ctx, plan_kill(ctx, "run-1"), actor=actor, grace=grace)
        assert is_alive(pid)


def test_an_interrupted_kill_is_written_down(ctx: Context) -> None:
    with process_of(ctx, INTERRUPTS_US) as (pid, _):
        plan = plan_kill(ctx, "run-1")
        with pytest.raises(KeyboardInterrupt):
            kill(ctx, plan, actor="ana", grace=60.0)
        assert is_alive(pid)
    (event,) = list_events(ctx, target_id="run-1")
    assert (event.details["signals"], event.details["failed"]) == (
        ["SIGTERM"],
        "It was interrupted (KeyboardInterrupt).",
    )
    assert event.details["sentence"] == "It was sent SIGTERM. It was interrupted (KeyboardInterrupt)."
    assert get_session(ctx, "run-1").status is SessionStatus.RUNNING


def test_death_is_seen_at_once(ctx: Context) -> None:
    with process_of(ctx, WAITS):
        began = time.monotonic()
        kill(ctx, plan_kill(ctx, "run-1"), actor="ana", grace=60.0)
        assert time.monotonic() - began < 30.0
