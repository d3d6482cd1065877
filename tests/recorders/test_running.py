"""A command that is run for a recording. The processes are real."""

import os
import signal
import subprocess
import threading
from typing import Any

import pytest

from lionstudio.recorders import flows
from lionstudio.recorders.guard import Guard
from lionstudio.recorders.running import FORWARDED, conduct
from lionstudio.recorders.stopping import Stopping
from tests.waiting import wait_until


class Nobody:
    """Who does not listen."""

    def begun(self, pid: int, *, leads_group: bool) -> None: ...

    def lasts(self) -> None: ...

    def hear(self, stream: str) -> Any: ...

    def say(self, what: str, sentence: str) -> None: ...


class Patient(Nobody):
    """Remembers whether the command was held for one that lasts."""

    lasted = False

    def lasts(self) -> None:
        self.lasted = True


class Collected(Guard):
    """Remembers which signals were passed on while the command was collected."""

    def collect(self) -> int:
        self.forwarded = [number for number in FORWARDED if callable(signal.getsignal(number))]
        return super().collect()


def test_no_signal_is_passed_on_to_a_number_that_may_be_anybodys() -> None:
    process = subprocess.Popen(["true"], process_group=0)
    watched = Collected(process.pid)
    assert conduct(watched, [], Nobody(), Stopping()).code == 0
    process.returncode = 0  # it is collected
    assert watched.forwarded == []


def test_a_command_lasts_while_what_it_printed_waits_for_its_reader() -> None:
    (reads, writes), (into, out) = flows.make_pipe(), os.pipe()
    process = subprocess.Popen(["head", "-c", "300000", "/dev/zero"], process_group=0, stdout=writes)
    os.close(writes)
    taken: list[bytes] = []

    def read() -> None:
        with open(into, "rb") as file:
            taken.append(file.read(300_000))

    class Reader(Patient):
        def lasts(self) -> None:  # only then it begins to read
            super().lasts()
            threading.Thread(target=read, daemon=True).start()
            at_last.cancel()

    at_last, listener = threading.Timer(20, read), Reader()
    at_last.start()
    assert conduct(Guard(process.pid), [flows.Flow(reads, flows.Target(out))], listener, Stopping()).code == 0
    process.returncode = 0  # it is collected
    wait_until(lambda: taken)
    assert (taken, listener.lasted) == ([bytes(300_000)], True)
    os.close(out)


def test_a_command_does_not_last_because_it_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "AT_ONCE", 30.0)
    (reads, writes), said, listener = flows.make_pipe(), [], Patient()
    process = subprocess.Popen(["sh", "-c", "echo one; sleep 0.1; echo two"], process_group=0, stdout=writes)
    os.close(writes)
    assert conduct(Guard(process.pid), [flows.Flow(reads, None, said.append)], listener, Stopping()).code == 0
    process.returncode = 0  # it is collected
    assert (b"".join(said), listener.lasted) == (b"one\ntwo\n", False)
