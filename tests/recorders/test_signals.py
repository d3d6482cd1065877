"""Signals: the run gets the right status, and the process still dies of the signal."""

import random
import signal
import threading
from pathlib import Path

import pytest

import lionstudio
from lionstudio.recorders.signals import signals
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session, list_history
from tests.recorders.agents import IMPATIENT, Agent, let_go, locked, run_agent, spool_files

WAITING = """
import signal, sys, lionstudio
with lionstudio.record("waits", db=sys.argv[1]) as run:
    run.user("one")
    print(run.session_id, flush=True)
    signal.pause()
"""


@pytest.mark.parametrize(
    ("number", "status", "exit_code", "reason"),
    [
        pytest.param(signal.SIGTERM, "cancelled", 143, "run.cancelled.terminated", id="SIGTERM"),
        pytest.param(signal.SIGHUP, "aborted", 129, "run.aborted.hangup", id="SIGHUP"),
        pytest.param(signal.SIGINT, "aborted", 130, "run.aborted.interrupt", id="SIGINT"),
    ],
)
def test_a_signal_ends_the_run_and_the_process(
    ctx: Context, location: str, number: int, status: str, exit_code: int, reason: str
) -> None:
    with Agent(WAITING, location) as agent:
        session_id = agent.line()
        agent.signal(number)
        ended = agent.end()
    assert ended.returncode == -number
    session = get_session(ctx, session_id)
    assert (session.status, session.exit_code, session.end_reason) == (status, exit_code, reason)
    assert len(list_history(ctx, session_id)) == 2


def test_a_killed_run_stays_running_for_nobody_knows_better(sqlite_ctx: Context, sqlite_path: Path) -> None:
    with Agent(WAITING, sqlite_path) as agent:
        session_id = agent.line()
        agent.signal(signal.SIGKILL)
        assert agent.end().returncode == -signal.SIGKILL
    assert get_session(sqlite_ctx, session_id).status == "running"


WRITING = """
import sys, lionstudio
with lionstudio.record("writes", db=sys.argv[1]) as run:
    print(run.session_id, flush=True)
    number = 0
    while True:
        number += 1
        run.user(str(number))
        print(number, flush=True)
"""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, "cancelled"), (signal.SIGHUP, "aborted"), (signal.SIGINT, "aborted")]
)
def test_a_signal_in_the_middle_of_a_write_waits_for_it(
    sqlite_ctx: Context, sqlite_path: Path, number: int, status: str
) -> None:
    for _ in range(8):
        with Agent(WRITING, sqlite_path) as agent:
            session_id = agent.line()
            for _ in range(random.randint(1, 60)):
                acknowledged = int(agent.line())
            agent.signal(number)
            ended = agent.end()
        acknowledged = max([acknowledged, *(int(line) for line in ended.stdout.split())])
        assert ended.returncode == -number, ended.stderr
        session = get_session(sqlite_ctx, session_id)
        assert session.status == status
        # The last message may have been stored without its number having been printed.
        assert session.message_count - acknowledged in (0, 1)


def test_a_signal_while_the_database_is_locked_is_not_forgotten(
    sqlite_ctx: Context, sqlite_path: Path, home: Path
) -> None:
    script = """
    import sys, threading, time, lionstudio
    from lionstudio.store import sqlite_turn
    sqlite_turn.BUSY_SECONDS = 1.0
    def tell_when_it_waits():
        while "_wait_for_others" not in functions(sys._current_frames()[threading.main_thread().ident]):
            time.sleep(0.001)
        print("waiting", flush=True)
    def functions(frame):
        while frame is not None:
            yield frame.f_code.co_name
            frame = frame.f_back
    with lionstudio.record("waits", db=sys.argv[1]) as run:
        print(run.session_id, flush=True)
        sys.stdin.readline()
        threading.Thread(target=tell_when_it_waits, daemon=True).start()
        run.user("one")
        print("never", flush=True)
    """
    with Agent(script, sqlite_path) as agent:
        session_id = agent.line()
        with locked(sqlite_path) as locker:
            agent.tell()
            assert agent.line() == "waiting"
            agent.signal(signal.SIGTERM)
            ended = agent.end()
            let_go(locker)
    assert (ended.returncode, ended.stdout) == (-signal.SIGTERM, "")
    assert len(spool_files(home)) == 1
    with lionstudio.open(sqlite_path) as reader:
        session = reader.session(session_id)
    assert (session.status, session.exit_code, session.message_count) == ("cancelled", 143, 1)


def test_a_handler_of_the_agent_is_not_replaced(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = """
    import signal, sys, lionstudio
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    mine = signal.getsignal(signal.SIGTERM)
    with lionstudio.record("own handler", db=sys.argv[1]) as run:
        assert signal.getsignal(signal.SIGTERM) is mine
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        print(run.session_id, flush=True)
        signal.pause()
    """
    with Agent(script, sqlite_path) as agent:
        session_id = agent.line()
        agent.signal(signal.SIGTERM)
        assert agent.end() == (7, "", "")
    assert (get_session(sqlite_ctx, session_id).status, get_session(sqlite_ctx, session_id).exit_code) == ("failed", 7)


def test_a_handler_that_calls_the_one_before_it_lets_the_process_die(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = """
    import signal, sys, lionstudio
    with lionstudio.record("chained", db=sys.argv[1]) as run:
        before = signal.getsignal(signal.SIGTERM)
        signal.signal(signal.SIGTERM, lambda number, frame: (print("mine", flush=True), before(number, frame)))
        print(run.session_id, flush=True)
        signal.pause()
    """
    with Agent(script, sqlite_path) as agent:
        session_id = agent.line()
        agent.signal(signal.SIGTERM)
        assert agent.end() == (-signal.SIGTERM, "mine\n", "")
    assert get_session(sqlite_ctx, session_id).status == "cancelled"


def test_the_default_action_is_back_after_the_last_run(home: Path, sqlite_path: Path) -> None:
    with lionstudio.record(db=sqlite_path) as outer:
        with lionstudio.record(db=sqlite_path):
            assert signal.getsignal(signal.SIGTERM) == signals._on_signal
        assert signal.getsignal(signal.SIGTERM) == signals._on_signal
        outer.user("Ctrl-C must still be what asyncio expects")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_only_the_main_thread_sets_handlers(home: Path, sqlite_path: Path) -> None:
    seen = []

    def work() -> None:
        with lionstudio.record(db=sqlite_path) as run:
            run.user("from a thread")
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.SIG_DFL]


def test_all_runs_of_a_process_end_with_it(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = """
    import os, signal, sys, threading, lionstudio
    def say(*ids):  # at once, where two of them speak
        os.write(1, "".join(f"{id}\\n" for id in ids).encode())
    def side_by_side():
        with lionstudio.record("thread", db=sys.argv[1]) as run:
            say(run.session_id)
            threading.Event().wait()
    with lionstudio.record("outer", db=sys.argv[1]) as outer:
        with lionstudio.record("inner", db=sys.argv[1]) as inner:
            threading.Thread(target=side_by_side, daemon=True).start()
            say(outer.session_id, inner.session_id)
            signal.pause()
    """
    with Agent(script, sqlite_path) as agent:
        session_ids = [agent.line() for _ in range(3)]
        agent.signal(signal.SIGTERM)
        assert agent.end() == (-signal.SIGTERM, "", "")
    assert {get_session(sqlite_ctx, session_id).status for session_id in session_ids} == {"cancelled"}


def test_threads_that_go_on_while_the_process_dies_are_not_blamed(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = """
    import signal, sys, threading, lionstudio
    def work(branch):
        while True:
            branch.user("one more")
    with lionstudio.record("threads", db=sys.argv[1]) as run:
        for number in range(4):
            threading.Thread(target=work, args=(run.branch(str(number)),), daemon=True).start()
        print(run.session_id, flush=True)
        signal.pause()
    """
    with Agent(script, sqlite_path) as agent:
        session_id = agent.line()
        agent.signal(signal.SIGTERM)
        assert agent.end() == (-signal.SIGTERM, "", "")
    assert get_session(sqlite_ctx, session_id).status == "cancelled"


def test_a_signal_after_the_run_is_none_of_our_business(home: Path, sqlite_path: Path) -> None:
    script = """
    import signal, sys, lionstudio
    with lionstudio.record("short", db=sys.argv[1]) as run:
        pass
    signal.raise_signal(signal.SIGTERM)
    """
    assert run_agent(script, sqlite_path) == (-signal.SIGTERM, "", "")
    with lionstudio.open(sqlite_path) as reader:
        assert [session.status for session in reader.sessions()] == ["completed"]


def test_a_signal_during_the_patience_of_leaving_does_not_wait_for_it(
    sqlite_ctx: Context, sqlite_path: Path, home: Path
) -> None:
    script = IMPATIENT + (
        """
keeper.LEAVING_PATIENCE = 3600.0
import sys, lionstudio
with lionstudio.record("leaving", db=sys.argv[1]) as run:
    print(run.session_id, flush=True)
    sys.stdin.readline()
    run.user("one")
    print("leaving", flush=True)
"""
    )
    with Agent(script, sqlite_path) as agent:
        session_id = agent.line()
        with locked(sqlite_path) as locker:
            agent.tell()
            assert agent.line() == "leaving"
            agent.signal(signal.SIGTERM)
            assert agent.end().returncode == -signal.SIGTERM
            let_go(locker)
    with lionstudio.open(sqlite_path) as reader:
        # It had left its block before the signal came, or was told to stop on its way out of it.
        assert reader.session(session_id).status in ("completed", "cancelled")
        assert [message.content for message in reader.messages(session_id)] == [{"instruction": "one"}]
    assert list_messages(sqlite_ctx, session_id)[0].position == 1
