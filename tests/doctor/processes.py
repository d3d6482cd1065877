"""Real processes for tests of the doctor: cheap ones, that live until they are ended."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lionstudio import machine
from lionstudio.domain.audit import AdminEvent
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.services import admin
from lionstudio.services.context import Context
from lionstudio.services.sessions import SessionDraft, put_process, start_session
from tests.factories import line_of

NEVER = 3600.0  # seconds between rounds, for tests in which a round must not be what finds it


@contextmanager
def living(count: int = 1, **more: Any) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Processes that wait for ever."""
    started = [subprocess.Popen(["cat"], stdin=subprocess.PIPE, **more) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


def dead_process(session_id: str = "run-1") -> ProcessRecord:
    with living() as [process]:
        return recorded(session_id, process.pid)


def recorded(session_id: str, pid: int, role: ProcessRole = ProcessRole.AGENT) -> ProcessRecord:
    seen = machine.look_at(pid)
    return ProcessRecord(session_id, role, machine.here(), pid, None if seen is None else seen.start_time)


def start_in(ctx: Context, process: ProcessRecord) -> None:
    """A run that says from its first moment which process it is."""
    start_session(ctx, SessionDraft(line_of(process.session_id)), process)


def record(ctx: Context, session_id: str, pid: int, role: ProcessRole = ProcessRole.AGENT) -> None:
    put_process(ctx, recorded(session_id, pid, role))


def verdicts(ctx: Context) -> dict[str | None, AdminEvent]:
    """The one event of each run; fails where a run has more."""
    events = admin.list_events(ctx, action="classify", limit=10_000)
    assert len({event.target_id for event in events}) == len(events)
    return {event.target_id: event for event in events}


def open_notices() -> int:
    """How many processes this one holds a descriptor of."""
    count = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{fd}") == "anon_inode:[pidfd]"
        except FileNotFoundError:
            continue
    return count
