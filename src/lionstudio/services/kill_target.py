"""The process that is told to end, and its group: who they are is made sure of before each signal."""

import time
from contextlib import suppress

from lionstudio import machine
from lionstudio.domain.errors import CannotKill
from lionstudio.domain.process import ProcessRecord, SeenProcess


class KillTarget:
    """The process, and its group where all of that is told, held so that no signal reaches anyone else."""

    def __init__(self, process: ProcessRecord, *, whole_group: bool) -> None:
        """Raises CannotKill if what was planned is not there any more."""
        self._held = _take_hold(process)
        self._whole_group = whole_group
        self._known: set[SeenProcess] = set()
        if self._whole_group and self._list_group() is None:
            self._held.close()
            raise CannotKill(f"pid {self._held.pid} changed its process group.", hint="Nothing was done. Try again.")

    def send(self, number: int) -> None:
        """Raises ProcessLookupError if nobody is left, PermissionError if the signal may not be sent."""
        if not self._whole_group:
            self._held.send(number)
        elif self._list_group():
            self._held.send_to_group(number)
        else:
            raise ProcessLookupError

    def wait(self, seconds: float) -> bool:
        """Wait for the end of everyone, but not longer than so; whether all are gone."""
        give_up = time.monotonic() + seconds
        if not self._held.wait(seconds):
            return False
        while left := self.list_left():
            pid, start_time, _ = left[0]
            if start_time is None:
                return False  # this system does not let us wait for it
            with suppress(ProcessLookupError), machine.HeldProcess(pid, start_time) as member:
                if not member.wait(give_up - time.monotonic()):
                    return False
        return True

    def list_left(self) -> list[SeenProcess]:
        """Who still lives."""
        if self._whole_group:
            return self._list_group() or []
        return [SeenProcess(self._held.pid, self._held.start_time)] if self._held.is_alive() else []

    def _list_group(self) -> list[SeenProcess] | None:
        """Who is in the group now. Its number can be given to others only after the last one of it is gone, so it is
        ours as long as somebody whom we knew is in it."""
        found = [seen._replace(state=None) for seen in machine.list_group(self._held.pid)]
        if not self._known:
            if (self._held.pid, self._held.start_time) not in {(seen.pid, seen.start_time) for seen in found}:
                return None
        elif self._known.isdisjoint(found):
            return None
        self._known.update(found)
        return found

    def __enter__(self) -> "KillTarget":
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()


def _take_hold(process: ProcessRecord) -> machine.HeldProcess:
    assert process.start_time is not None  # without it nobody would have called it alive
    try:
        return machine.HeldProcess(process.pid, process.start_time)
    except ProcessLookupError:
        raise ended_before(process) from None
    except machine.CannotLook as error:
        raise CannotKill(f"pid {process.pid} cannot be looked at: {error.strerror}.") from error


def ended_before(process: ProcessRecord) -> CannotKill:
    """What is said where there is nobody left to be told."""
    return CannotKill(
        f"pid {process.pid} ended before it was told to.",
        hint=f"No signal was sent: li runs show {process.session_id}",
    )
