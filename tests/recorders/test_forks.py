"""fork() inside a recorded run: the child records too, and its exit ends nothing."""

import os
import signal
from pathlib import Path

import pytest

import lionstudio
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session, list_history
from tests.recorders.agents import IMPATIENT, Agent, Ended, let_go, locked, run_agent, stock_sqlite

FORKING = """
import os, sys, lionstudio
with lionstudio.record("forks", db=sys.argv[1]) as run:
    print(run.session_id, flush=True)
    run.user("before")
    child = os.fork()
    if child == 0:
        run.user("child")
        {ending}
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
    run.user("parent")
"""


def said(ctx: Context, session_id: str) -> list[str]:
    return [message.content["instruction"] for message in list_messages(ctx, session_id, limit=10_000)]


@pytest.mark.parametrize(
    ("ending", "exit_code"),
    [
        pytest.param("os._exit(0)", 0, id="os._exit"),
        pytest.param("sys.exit(5)", 5, id="sys.exit"),
        pytest.param("raise ValueError('in the child')", 1, id="an exception"),
        pytest.param("run.finish(); os._exit(0)", 0, id="finish"),
        pytest.param("os.kill(os.getpid(), 15)", -15, id="SIGTERM"),
    ],
)
def test_the_child_of_a_fork_does_not_end_the_run(ctx: Context, location: str, ending: str, exit_code: int) -> None:
    ended = run_agent(FORKING.format(ending=ending), location)
    assert ended.returncode == 0, ended.stderr
    session_id, child = ended.stdout.split()
    assert int(child) == exit_code
    assert said(ctx, session_id) == ["before", "child", "parent"]
    assert get_session(ctx, session_id).status == "completed"
    assert [step.to_status for step in list_history(ctx, session_id)] == ["running", "completed"]


def test_a_child_outlives_its_parents_block(ctx: Context, location: str) -> None:
    script = """
    import os, sys, lionstudio
    from_parent, to_child = os.pipe()
    with lionstudio.record("forks", db=sys.argv[1]) as run:
        child = os.fork()
        if child == 0:
            os.close(to_child)
            os.read(from_parent, 1)  # until the parent has closed its end, after its block
            run.user("late")
            os._exit(0)
        os.close(from_parent)
        run.user("parent")
    os.close(to_child)
    assert os.waitpid(child, 0)[1] == 0
    print(run.session_id)
    """
    ended = run_agent(script, location)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert said(ctx, ended.stdout.strip()) == ["parent", "late"]
    assert get_session(ctx, ended.stdout.strip()).status == "completed"


def test_a_run_inside_the_child_is_the_childs_own(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = """
    import os, signal, sys, lionstudio
    with lionstudio.record("outer", db=sys.argv[1]) as run:
        child = os.fork()
        if child == 0:
            with lionstudio.record("inner", db=sys.argv[1]) as inner:
                print(inner.session_id, flush=True)
                signal.pause()
        print(child, run.session_id, flush=True)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
    """
    with Agent(script, sqlite_path) as agent:
        lines = sorted([agent.line(), agent.line()], key=len)
        inner, (child, outer) = lines[0], lines[1].split()
        os.kill(int(child), signal.SIGTERM)
        assert agent.end() == (0, "", "")
    session = get_session(sqlite_ctx, inner)
    assert (session.status, session.parent_session_id) == ("cancelled", outer)
    assert get_session(sqlite_ctx, outer).status == "completed"


def test_a_child_that_had_its_own_run_dies_of_a_later_signal(home: Path, sqlite_path: Path) -> None:
    script = """
    import os, signal, sys, lionstudio
    with lionstudio.record("outer", db=sys.argv[1]) as run:
        child = os.fork()
        if child == 0:
            with lionstudio.record("inner", db=sys.argv[1]):
                pass
            signal.raise_signal(signal.SIGTERM)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
    """
    assert run_agent(script, sqlite_path) == Ended(0, "", "")


def test_multiprocessing_by_fork_records_into_the_same_run(ctx: Context, location: str) -> None:
    script = """
    import multiprocessing, sys, lionstudio
    def work(number):
        for step in range(5):
            run.user(f"{number}.{step}")
    with lionstudio.record("pool", db=sys.argv[1]) as run:
        fork = multiprocessing.get_context("fork")
        children = [fork.Process(target=work, args=(number,)) for number in range(4)]
        for child in children:
            child.start()
        for step in range(5):
            run.user(f"parent.{step}")
        for child in children:
            child.join()
            assert child.exitcode == 0
    print(run.session_id)
    """
    ended = run_agent(script, location)
    assert (ended.returncode, ended.stderr) == (0, "")
    found = said(ctx, ended.stdout.strip())
    for name in ("parent", 0, 1, 2, 3):
        assert [text for text in found if text.startswith(f"{name}.")] == [f"{name}.{step}" for step in range(5)]
    assert get_session(ctx, ended.stdout.strip()).status == "completed"


def test_a_fork_while_other_threads_write_harms_neither_side(ctx: Context, location: str) -> None:
    script = """
    import os, sys, threading, lionstudio
    enough = threading.Event()
    def work(name):
        number = 0
        while not enough.is_set():
            run.user(f"{name}.{number}")
            number += 1
        counts[name] = number
    counts = {}
    with lionstudio.record("threads", db=sys.argv[1]) as run:
        threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(3)]
        for thread in threads:
            thread.start()
        for number in range(10):
            child = os.fork()
            if child == 0:
                run.user(f"child{number}.0")
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        enough.set()
        for thread in threads:
            thread.join()
    print(run.session_id, *(f"{name}={count}" for name, count in counts.items()))
    """
    ended = run_agent(script, location)
    assert (ended.returncode, ended.stderr) == (0, "")
    session_id, *counts = ended.stdout.split()
    expected = {f"child{number}.0" for number in range(10)}
    for name, _, count in (entry.partition("=") for entry in counts):
        expected |= {f"{name}.{number}" for number in range(int(count))}
    found = said(ctx, session_id)
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_integrity_survives_forks(home: Path, sqlite_path: Path) -> None:
    script = """
    import os, sys, lionstudio
    with lionstudio.record("forks", db=sys.argv[1]) as run:
        for number in range(20):
            if os.fork() == 0:
                for step in range(20):
                    run.user(f"{number}.{step}")
                os._exit(0)
            run.user(f"parent.{number}")
        for _ in range(20):
            assert os.wait()[1] == 0
    """
    assert run_agent(script, sqlite_path) == Ended(0, "", "")
    assert stock_sqlite(sqlite_path, "PRAGMA integrity_check") == [["ok"]]
    assert stock_sqlite(sqlite_path, "SELECT count(*), count(DISTINCT message_id) FROM progression_entries") == [
        [840, 420]  # each message stands in its branch and in its session
    ]


def test_what_a_child_sets_aside_follows_what_its_parent_set_aside(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = IMPATIENT + (
        """
import os, sys, lionstudio
with lionstudio.record("forks", db=sys.argv[1]) as run:  # the database is locked: even the beginning waits
    run.user("parent 1")
    child = os.fork()
    if child == 0:
        print("child", flush=True)
        sys.stdin.readline()
        run.user("child")  # the database is free, but this run is not in it yet
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    run.user("parent 2")
print(run.session_id)
"""
    )
    with locked(sqlite_path) as locker, Agent(script, sqlite_path) as agent:
        assert agent.line() == "child"
        let_go(locker)
        agent.tell()
        ended = agent.end()
    assert ended.returncode == 0, ended.stderr
    session_id = ended.stdout.strip()
    with lionstudio.open(sqlite_path) as reader:
        found = [message.content["instruction"] for message in reader.messages(session_id)]
        assert sorted(found) == ["child", "parent 1", "parent 2"]
        assert found.index("parent 1") < found.index("parent 2")
        assert (reader.session(session_id).status, reader.session(session_id).messages_lost) == ("completed", 0)


def test_a_lock_does_not_live_on_in_a_child_that_records_nothing(
    sqlite_ctx: Context, sqlite_path: Path, home: Path
) -> None:
    script = IMPATIENT + (
        """
import os, signal, sys, lionstudio
with lionstudio.record("forks", db=sys.argv[1]) as run:
    run.user("one")
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(tell, b"!")  # by now it has let go of everything that is its parent's
        os.close(1)
        os.close(2)
        sys.stdin.readline()  # until the test closes the pipe
        os._exit(0)
    os.read(told, 1)
    print(run.session_id, flush=True)
    signal.pause()
"""
    )
    with locked(sqlite_path) as locker, Agent(script, sqlite_path) as agent:
        session_id = agent.line()
        agent.signal(signal.SIGKILL)
        agent.process.wait()
        let_go(locker)
        with lionstudio.open(sqlite_path) as reader:
            assert [message.content for message in reader.messages(session_id)] == [{"instruction": "one"}]


def test_a_child_that_was_torn_out_of_a_transaction_loses_nothing(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = IMPATIENT + (
        """
import os, sys, threading, lionstudio
from lionstudio.store import database
from lionstudio.store.open import open_database
database.FORK_PATIENCE = 0.1
db, is_inside, may_leave = open_database(sys.argv[1]), threading.Event(), threading.Event()
def stay():
    with db.read() as tx:
        tx.value("SELECT count(*) FROM sessions")
        is_inside.set()
        may_leave.wait(20)
thread = threading.Thread(target=stay)
thread.start()
is_inside.wait()
child = os.fork()
if child == 0:
    with lionstudio.record("torn", db=sys.argv[1]) as run:
        print(run.session_id, flush=True)
        run.user("before")
        sys.stdin.readline()  # until the parent has closed the database, and would have taken the log away
        run.user("after")
    os._exit(0)
may_leave.set()
thread.join()
db.close()
print("closed", flush=True)
assert os.waitpid(child, 0)[1] == 0
with lionstudio.record("whole", db=sys.argv[1]):
    pass  # brings in what was set aside
"""
    )
    with Agent(script, sqlite_path) as agent:
        (session_id,) = {agent.line(), agent.line()} - {"closed"}
        code, _, told = agent.end()
    assert code == 0
    assert "forked in the middle of a transaction" in told
    assert said(sqlite_ctx, session_id) == ["before", "after"]
    assert get_session(sqlite_ctx, session_id).status == "completed"
