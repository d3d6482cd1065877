"""Holding on to one process: a signal reaches it or nobody."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from lionstudio import machine
from lionstudio.machine import HeldProcess, list_group

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(SLEEPER, start_new_session=True)
    yield process
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(params=["told by the kernel", "looked at"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a descriptor of the process, and on a system that gives none."""
    if request.param == "looked at":

        def refuse(pid: int, flags: int = 0) -> int:
            raise OSError(errno.ENOSYS, "not here")

        monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)


def start_time_of(pid: int) -> float:
    seen = machine.look_at(pid)
    assert seen is not None
    assert seen.start_time is not None
    return seen.start_time


def test_a_held_process_gets_its_signal_and_its_end_is_seen(either_way: None, child: "subprocess.Popen[bytes]") -> None:
    with HeldProcess(child.pid, start_time_of(child.pid)) as held:
        assert held.is_alive()
        assert held.wait(0.01) is False
        held.send(signal.SIGKILL)
        assert held.wait(20.0) is True
        assert not held.is_alive()
        child.wait()
        with pytest.raises(ProcessLookupError):
            held.send(signal.SIGTERM)


def test_a_whole_group_gets_its_signal(either_way: None, child: "subprocess.Popen[bytes]") -> None:
    with HeldProcess(child.pid, start_time_of(child.pid)) as held:
        assert [seen.pid for seen in list_group(child.pid)] == [child.pid]
        held.send_to_group(signal.SIGKILL)
        assert held.wait(20.0)
        assert list_group(child.pid) == []  # what waits to be collected is nobody any more


def test_another_process_with_the_same_pid_is_not_held(either_way: None, child: "subprocess.Popen[bytes]") -> None:
    with pytest.raises(ProcessLookupError):
        HeldProcess(child.pid, start_time_of(child.pid) + 1)
    assert child.poll() is None


def test_a_process_that_is_gone_is_not_held(either_way: None, child: "subprocess.Popen[bytes]") -> None:
    started = start_time_of(child.pid)
    child.kill()
    child.wait()
    with pytest.raises(ProcessLookupError):
        HeldProcess(child.pid, started)


def test_letting_go_twice_does_no_harm(child: "subprocess.Popen[bytes]") -> None:
    held = HeldProcess(child.pid, start_time_of(child.pid))
    held.close()
    held.close()


def test_our_own_group_is_listed() -> None:
    assert os.getpid() in {seen.pid for seen in list_group(os.getpgid(0))}
