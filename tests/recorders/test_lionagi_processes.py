"""lionagi in processes of its own, which end in every way that processes end."""

import signal
from pathlib import Path

import pytest

import lionstudio
from lionstudio.domain.session import Session
from tests.recorders.agents import IMPATIENT, Agent, let_go, locked, run_agent, spool_files

BEGIN = """
import sys
from lionagi import Session
import lionstudio

session = Session(name="two lines")
branch = session.new_branch(name="worker", system="Be brief.")
lionstudio.attach(session)
branch.msgs.add_message(instruction="one")
"""
FAILS = """
import asyncio
from lionagi.session.signal import RunEnd, RunFailed

async def fail(*signals):
    for signal in signals:
        await session.emit(signal)
"""


def recorded(home: Path) -> tuple[Session, list[str]]:
    with lionstudio.open(home / "state.db") as db:
        (run,) = db.sessions()
        return run, [str(next(iter(message.content.values()))) for message in db.messages(run.id)]


@pytest.mark.parametrize(
    ("how", "code", "status", "reason"),
    [
        pytest.param("", 0, "completed", "run.completed.normal", id="well"),
        pytest.param("raise ValueError('no way')", 1, "failed", "run.failed.exception", id="by an exception"),
        pytest.param("raise KeyboardInterrupt", 130, "aborted", "run.aborted.interrupt", id="by Ctrl-C"),
        pytest.param(
            f"{FAILS}\nasyncio.run(fail(RunFailed(data=ValueError('no way'))))\nsys.exit(1)",
            1, "failed", "run.failed.exception", id="by an exit code, after an operation that failed",
        ),
        pytest.param(
            f"{FAILS}\nasyncio.run(fail(RunFailed(data=ValueError('no way')), RunEnd()))",
            0, "completed", "run.completed.normal", id="well, after one that failed and one that did not",
        ),
    ],
)  # fmt: skip
def test_a_run_that_nobody_ends_ends_with_its_process(
    home: Path, how: str, code: int, status: str, reason: str
) -> None:
    ended = run_agent(f"{BEGIN}\n{how}")
    assert (ended.returncode in (code, -signal.SIGINT), ended.stdout) == (True, "")
    run, said = recorded(home)
    assert (run.name, run.status, run.end_reason, said) == ("two lines", status, reason, ["Be brief.", "one"])


def test_a_process_that_is_told_to_end_has_everything_recorded(home: Path) -> None:
    script = f"""{BEGIN}
import asyncio

async def work():
    for number in range(50):
        await branch.msgs.a_add_message(instruction=f"{{number}}")
    branch.messages[1].content.instruction = "one, changed"
    print("said", flush=True)
    await asyncio.sleep(60)

asyncio.run(work())
"""
    with Agent(script) as agent:
        assert agent.line() == "said"
        agent.signal(signal.SIGTERM)
        assert agent.end().returncode == -signal.SIGTERM
    run, said = recorded(home)
    assert run.status == "cancelled"
    assert said == ["Be brief.", "one, changed", *(f"{number}" for number in range(50))]


def test_what_was_said_without_an_event_loop_survives_any_kill(home: Path) -> None:
    with Agent(f"{BEGIN}\nprint('said', flush=True)\ninput()") as agent:
        assert agent.line() == "said"
        agent.signal(signal.SIGKILL)
        agent.end()
    run, said = recorded(home)
    assert (run.status, said) == ("running", ["Be brief.", "one"])


def test_a_database_that_is_away_keeps_nobody_waiting_and_gets_everything_later(home: Path) -> None:
    script = f"""{IMPATIENT}{BEGIN}
print("said", flush=True)
input()
later = session.split(branch)
branch.msgs.add_message(instruction="two")
later.msgs.add_message(instruction="three")
print("spooled", flush=True)
input()
"""
    with Agent(script) as agent:
        assert agent.line() == "said"
        locker = locked(home / "state.db")
        with locker:
            agent.tell()
            assert agent.line() == "spooled"
            assert spool_files(home)
            let_go(locker)
        agent.tell()
        ended = agent.end()
    assert ended.returncode == 0
    assert "wait in" in ended.stderr
    run, said = recorded(home)
    assert (run.status, sorted(said)) == ("completed", ["Be brief.", "one", "three", "two"])
    with lionstudio.open(home / "state.db") as db:
        fork = db.branches(run.id)[-1]
        assert [next(iter(message.content.values())) for message in db.messages(run.id, fork.id)] == [
            "Be brief.", "one", "three",
        ]  # fmt: skip
    assert not spool_files(home)


def test_a_forked_child_may_go_on_and_does_not_end_the_run(home: Path) -> None:
    script = f"""{BEGIN}
import os
if os.fork() == 0:
    branch.msgs.add_message(instruction="by the child")
    sys.exit()
os.wait()
branch.msgs.add_message(instruction="by its parent")
"""
    assert run_agent(script).returncode == 0
    run, said = recorded(home)
    assert (run.status, said) == ("completed", ["Be brief.", "one", "by the child", "by its parent"])
