"""A command that is run for a recording. The processes are real."""

import signal
import subprocess
from typing import Any

from lionstudio.recorders.guard import Guard
from lionstudio.recorders.running import FORWARDED, conduct
from lionstudio.recorders.stopping import Stopping


class Nobody:
    """Who does not listen."""

    def begun(self, pid: int, *, leads_group: bool) -> None: ...

    def lasts(self) -> None: ...

    def hear(self, stream: str) -> Any: ...

    def say(self, what: str, sentence: str) -> None: ...


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
