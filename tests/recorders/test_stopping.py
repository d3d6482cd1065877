"""Who asks a run to stop: signals, a deadline, or another thread."""

import os
import signal
import threading

import pytest

from lionstudio.recorders.signals import signals
from lionstudio.recorders.stopping import Stopping
from tests.recorders.agents import Agent


@pytest.mark.parametrize(
    ("number", "cause"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=str
)
def test_a_signal_asks_to_stop_and_ends_nothing(number: int, cause: int) -> None:
    before = signal.getsignal(number)
    stopping, told = Stopping(), []
    with stopping.listen(), stopping.each(told.append):
        os.kill(os.getpid(), number)
    assert (stopping.cause, told) == (cause, [cause])
    assert signal.getsignal(number) is before


def test_the_first_cause_counts_and_later_ones_are_passed_on() -> None:
    stopping, told = Stopping(), []
    with stopping.each(told.append):
        stopping.stop(130)
        stopping.stop(143)
    stopping.stop(129)
    assert (stopping.cause, told) == (130, [130, 143])


def test_who_comes_late_is_told_at_once() -> None:
    stopping, told = Stopping(), []
    stopping.stop(143)
    with stopping.each(told.append):
        assert told == [143]


def test_a_deadline_asks_to_stop() -> None:
    stopping, heard = Stopping(), threading.Event()
    with stopping.each(lambda cause: heard.set()):
        with stopping.within(None):
            assert not heard.is_set()
        with stopping.within(0.01):
            assert heard.wait(30)
    assert stopping.cause == 124


def test_a_deadline_that_was_kept_asks_nothing() -> None:
    stopping = Stopping()
    with stopping.within(30):
        pass
    assert all(not isinstance(thread, threading.Timer) or thread.finished.is_set() for thread in threading.enumerate())
    assert stopping.cause is None


def test_a_signal_in_the_middle_of_an_act_does_not_wait_for_itself() -> None:
    stopping, told = Stopping(), []

    def act(cause: int) -> None:
        told.append(cause)
        if cause == 143:
            os.kill(os.getpid(), signal.SIGINT)

    with stopping.listen(), stopping.each(act):
        stopping.stop(143)
    assert told == [143, 130]


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stopping = Stopping()
        with stopping.listen():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


RECORDS = """
import os, signal, sys, lionstudio
from lionstudio.recorders.signals import signals
from lionstudio.recorders.stopping import Stopping
stopping = Stopping()
run = lionstudio.record("listens", db=sys.argv[1])
if sys.argv[2] == "before":
    with stopping.listen():
        run.start()
        os.kill(os.getpid(), signal.SIGTERM)
        assert signals.told_to_stop  # so that nobody waits for a database that is away
        run.user("still here")
        run.finish(exit_code=stopping.cause)
else:
    run.start()
    with stopping.listen():
        os.kill(os.getpid(), signal.SIGTERM)
        run.user("still here")
        run.finish(exit_code=stopping.cause)
assert not signals.told_to_stop
print(run.session_id, stopping.cause, flush=True)
os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.parametrize("order", ["before", "after"])
def test_while_somebody_listens_a_recorder_does_not_die_of_the_signal(location: str, home: object, order: str) -> None:
    import lionstudio

    with Agent(RECORDS, location, order) as agent:
        session_id, cause = agent.line().split()
        ended = agent.end()
    assert (cause, ended.returncode, ended.stderr) == ("143", -signal.SIGTERM, "")  # nobody listens any more
    with lionstudio.open(location) as db:
        assert db.session(session_id).status == "cancelled"
        assert [message.content for message in db.messages(session_id)] == [{"instruction": "still here"}]
    assert not signals.told_to_stop
