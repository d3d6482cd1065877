"""`li runs kill`: the plan, the deed, the refusals. The processes are real."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lionstudio import machine
from lionstudio.cli.operator import operator
from lionstudio.services.admin import list_events
from lionstudio.services.context import Context
from lionstudio.services.sessions import finish_session, get_session, put_process
from lionstudio.store.open import open_database
from tests.cli.conftest import DRY_RUN, Li, run_li
from tests.factories import start_run
from tests.recorders.agents import Agent
from tests.services.test_killing import (
    HAS_A_CHILD,
    IGNORES_SIGTERM,
    RECORDS_ITSELF,
    WAITS,
    is_alive,
    process_of,
    recorded,
)


def test_the_plan_is_what_then_happens(li: Li, ctx: Context) -> None:
    with process_of(ctx, HAS_A_CHILD, owns_group=True) as (pid, child):
        planned = li("runs", "kill", "run-1", "--dry-run")
        assert (planned.code, planned.err) == (0, DRY_RUN)
        facts = dict(line.split("  ", 1) for line in planned.out.splitlines())
        facts = {name: value.strip() for name, value in facts.items()}
        pids = ", ".join(map(str, sorted((pid, int(child)))))
        assert facts["process"] == f"agent pid {pid} on {machine.here().host}"
        assert facts["command"] == "worker.py"
        assert facts["told to end"] == f"the whole group {pid}: 2 members, pid {pids}"
        assert facts["how"] == "SIGTERM; SIGKILL if it is not gone after 10 s"
        (plan,) = li("runs", "kill", "run-1", "--dry-run", "--json").objects
        assert (plan["pid"], plan["whole_group"], plan["dry_run"]) == (pid, True, True)
        assert is_alive(pid)
        (done,) = li("runs", "kill", "run-1", "--json", "--reason", "it loops").objects
        assert not is_alive(pid)
        assert not is_alive(int(child))
    assert {name: done[name] for name in plan if name != "dry_run"} == {
        name: value for name, value in plan.items() if name != "dry_run"
    }
    assert (done["status"], done["signals"], done["ended_by_itself"]) == ("cancelled", ["SIGTERM"], False)
    session = get_session(ctx, "run-1")
    assert (session.status, session.end_actor) == ("cancelled", operator())
    (event,) = list_events(ctx, target_id="run-1")
    assert (event.id, event.actor, event.details["reason"]) == (done["event_id"], operator(), "it loops")


def test_a_stubborn_process_is_killed_and_the_answer_says_so(li: Li, ctx: Context) -> None:
    with process_of(ctx, IGNORES_SIGTERM) as (pid, _):
        answer = li("runs", "kill", "run-1", "--grace", "0.05")
        assert not is_alive(pid)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[1:] == [
        "status       Cancelled, written by you",
        f"told to end  only pid {pid}; processes that it started may live on",
        "signals      SIGTERM, SIGKILL",
        f"proof        pid {pid} has ended and waits to be collected (state Z).",
    ]
    shown = li("runs", "show", "run-1").out
    assert shown.splitlines()[1].startswith("Cancelled · by you")
    assert "SIGKILL was needed 0.05 s after SIGTERM." in shown
    assert "Cancelled · by you" in li("runs", "wait", "run-1").out


def test_a_run_that_ends_itself_on_sigterm_keeps_its_own_end(li: Li, ctx: Context, location: str) -> None:
    with Agent(RECORDS_ITSELF, location) as agent:
        session_id = agent.line()
        answer = li("runs", "kill", "triage")
        assert "status       Cancelled, written by itself" in answer.out
        assert get_session(ctx, session_id).end_actor == "run"
    (killed,) = (line for line in li("runs", "show", session_id).out.splitlines() if f"  {operator()}  " in line)
    assert killed.split("  ")[-1].strip() == "SIGTERM was enough."


def test_only_one_process_is_told_where_the_group_is_not_the_runs_own(li: Li, ctx: Context) -> None:
    with process_of(ctx, HAS_A_CHILD) as (pid, child):
        said = f"only pid {pid}; processes that it started may live on"
        assert said in li("runs", "kill", "run-1", "--dry-run").out
        assert said in li("runs", "kill", "run-1").out
        assert is_alive(int(child))


def test_programs_are_told_who_was_ended_and_how(li: Li, ctx: Context) -> None:
    with process_of(ctx, IGNORES_SIGTERM):
        (done,) = li("runs", "kill", "run-1", "--grace", "0.05", "--json").objects
    assert (done["whole_group"], done["sigkill_needed"]) == (False, True)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param(
            {"start_time": 1},
            "now belongs to another process, so the process of the run run-1 is gone.",
            id="the pid was reused",
        ),
        pytest.param(
            {"place": machine.here()._replace(host="far-1")}, "is on far-1 and cannot be seen", id="another host"
        ),
    ],
)
def test_a_process_that_is_not_the_runs_is_left_alone(li: Li, ctx: Context, facts: dict[str, Any], why: str) -> None:
    with process_of(ctx, WAITS, "run-1", **facts) as (pid, _):
        answer = li("runs", "kill", "run-1")
        assert (answer.code, answer.out) == (1, "")
        assert why in answer.err
        assert len(answer.err.splitlines()) == 1
        assert is_alive(pid)


@pytest.fixture
def on_small_disk(small_disk: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    db = open_database(str(small_disk / "state.db"))
    monkeypatch.setenv("LIONAGI_DB", db.dialect.location)
    yield Context(db)
    db.close()


def fill(disk: Path) -> None:
    """Leave no room on a disk, and none in the log of a database there."""
    assert run_li("state", "checkpoint").code == 0
    with suppress(OSError), open(disk / "filler", "wb", buffering=0) as filler:
        while True:
            filler.write(b"x" * 4096)


def test_a_kill_that_cannot_be_written_down_says_what_it_did(on_small_disk: Context, small_disk: Path) -> None:
    with process_of(on_small_disk, WAITS) as (pid, _):
        fill(small_disk)
        answer = run_li("runs", "kill", "run-1")
        assert not is_alive(pid)
    assert answer.code == 1
    assert "status       Running, for its end could not be written" in answer.out
    assert "signals      SIGTERM\n" in answer.out
    assert f"proof        pid {pid} has ended" in answer.out
    assert "The process is gone, but that could not be written down: There is no room left" in answer.err
    (small_disk / "filler").unlink()
    assert (get_session(on_small_disk, "run-1").status, list_events(on_small_disk, target_id="run-1")) == (
        "running",
        [],
    )


def test_programs_are_told_of_a_kill_that_cannot_be_written_down(on_small_disk: Context, small_disk: Path) -> None:
    with process_of(on_small_disk, IGNORES_SIGTERM):
        fill(small_disk)
        answer = run_li("runs", "kill", "run-1", "--grace", "0.05", "--json")
    (done,) = answer.objects
    assert (answer.code, done["signals"], done["event_id"]) == (1, ["SIGTERM", "SIGKILL"], None)
    assert "There is no room left" in done["not_recorded"]


def test_who_stops_a_kill_is_told_what_was_done_by_then(li: Li, ctx: Context) -> None:
    hears = """
import signal
signal.signal(signal.SIGTERM, lambda *_: print("told", flush=True))
print("ready", flush=True)
while True:
    signal.pause()
"""
    start_run(ctx, "run-1")
    victim = subprocess.Popen([sys.executable, "-c", hears], stdout=subprocess.PIPE, text=True)
    with victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "ready\n"
        put_process(ctx, recorded("run-1", victim.pid))
        command = [sys.executable, "-m", "lionstudio", "runs", "kill", "run-1", "--grace", "100"]
        killer = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert victim.stdout.readline() == "told\n"
        killer.send_signal(signal.SIGINT)
        _, said = killer.communicate(timeout=60)
        victim.kill()
    assert killer.returncode == 130
    assert said.startswith(f"li: stopped. pid {victim.pid} was sent SIGTERM. pid {victim.pid} is alive on ")
    (event,) = list_events(ctx, target_id="run-1")
    assert event.details["signals"] == ["SIGTERM"]


def test_an_ended_run_is_refused(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    finish_session(ctx, "run-1", "completed")
    answer = li("runs", "kill", "run-1")
    assert answer.code == 1
    assert answer.err == (
        "li: The run run-1 has ended: Completed. There is nothing to kill. See how it ended: li runs show run-1\n"
    )


@pytest.mark.parametrize("grace", ["-1", "nan", "1e9"])
def test_a_grace_that_makes_no_sense_is_refused(li: Li, ctx: Context, grace: str) -> None:
    with process_of(ctx, WAITS) as (pid, _):
        answer = li("runs", "kill", "run-1", f"--grace={grace}")
        assert (answer.code, answer.err) == (2, "li: --grace must be between 0 seconds and a day.\n")
        assert is_alive(pid)


def test_a_terminal_is_asked(li: Li, ctx: Context, location: str) -> None:
    script = f"""
import os, pty, sys
os.environ["LIONAGI_DB"] = {location!r}
answer = sys.argv[1].encode() + b"\\n"
def read(fd):
    data = os.read(fd, 1024)
    if b"[y/N]" in data:
        os.write(fd, answer)
    return data
status = pty.spawn([sys.executable, "-m", "lionstudio.cli.main", "runs", "kill", "run-1"], read)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    with process_of(ctx, WAITS) as (pid, _):
        for typed, code in (("n", 1), ("y", 0)):
            asked = subprocess.run(
                [sys.executable, "-c", script, typed], capture_output=True, text=True, stdin=subprocess.DEVNULL
            )
            assert asked.returncode == code, asked.stdout
            assert f"told to end: only pid {pid}" in asked.stdout
            assert is_alive(pid) is (typed == "n")


def test_a_command_does_not_end_itself_with_the_group_of_the_run(li: Li, ctx: Context) -> None:
    script = """
import subprocess, sys
print("ready", flush=True)
sys.stdin.readline()
command = [sys.executable, "-m", "lionstudio.cli.main", "runs", "kill", "run-1"]
asked = subprocess.run(command, capture_output=True, text=True)
print(asked.returncode, asked.stderr, flush=True)
"""
    start_run(ctx, "run-1")
    inside = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    with inside:
        assert inside.stdout is not None
        assert inside.stdout.readline() == "ready\n"
        put_process(ctx, recorded("run-1", inside.pid, owns_group=True))
        said, _ = inside.communicate("go\n", timeout=60)
    assert said.startswith("1 li: This command runs in the process group of the run, and would end itself.")


DROPS_ITS_RIGHT_TO_KILL = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_KILL = 24, 5
if ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_KILL, 0, 0, 0):
    sys.exit(77)
os.execv(sys.executable, [sys.executable, "-m", "lionstudio.cli.main", "runs", "kill", "run-1"])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process of another account")
def test_a_process_of_another_account_is_refused_clearly(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    foreign = subprocess.Popen(["sleep", "1000"], user="nobody")
    try:
        put_process(ctx, recorded("run-1", foreign.pid))
        refused = subprocess.run([sys.executable, "-c", DROPS_ITS_RIGHT_TO_KILL], capture_output=True, text=True)
        if refused.returncode == 77:
            pytest.skip("this root may not give up a right")
        assert (refused.returncode, refused.stdout, refused.stderr) == (
            1,
            "",
            "li: The process belongs to another account, which does not let you end it. "
            "Type it as that account, or as root.\n",
        )
        assert is_alive(foreign.pid)
    finally:
        foreign.kill()
        foreign.wait()
    assert list_events(ctx) == []
