"""Holding on to one process: a signal reaches it or nobody."""

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from lionstudio import machine
from lionstudio.machine import HeldProcess, list_group
from tests.waiting import wait_until

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")
ENDS_ITS_FIRST_THREAD = """
import ctypes, threading
threading.Thread(target=threading.Event().wait).start()
ctypes.CDLL(None).pthread_exit(None)
"""
FIRST_TOO_HIGH_FOR_SELECT = 1024
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


@LINUX
def test_a_process_lives_as_long_as_any_of_its_threads(either_way: None) -> None:
    with subprocess.Popen([sys.executable, "-c", ENDS_ITS_FIRST_THREAD], start_new_session=True) as process:
        try:
            wait_until(lambda: state_of_first_thread(process.pid) == "Z")
            assert [seen.pid for seen in list_group(process.pid)] == [process.pid]
            with HeldProcess(process.pid, start_time_of(process.pid)) as held:
                assert held.wait(0.01) is False
                held.send(signal.SIGKILL)
                assert held.wait(20.0) is True
        finally:
            process.kill()


def state_of_first_thread(pid: int) -> str:
    return Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@LINUX
def test_a_process_is_waited_for_however_many_files_are_open(child: "subprocess.Popen[bytes]") -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    with open(os.devnull, "rb") as nothing, ExitStack() as opened:
        opened.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        while (fd := os.dup(nothing.fileno())) < FIRST_TOO_HIGH_FOR_SELECT:
            opened.callback(os.close, fd)
        opened.callback(os.close, fd)
        with HeldProcess(child.pid, start_time_of(child.pid)) as held:
            assert held.wait(0.01) is False
            held.send(signal.SIGKILL)
            assert held.wait(20.0) is True
