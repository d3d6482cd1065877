"""Processes: which one belongs to a run, and what a look at it proves (D3)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

UNKNOWN_PID = 0  # of a process that only sends signs of life, over the network
HEARTBEAT_EVERY = 15  # seconds without another write, where the process cannot be looked at


class Place(NamedTuple):
    """Where pids mean something. None is unknown and equals nothing; a system without namespaces names one constant."""

    host: str | None
    boot_id: str | None
    pid_namespace: str | None


class ProcessRole(StrEnum):
    """What a process does for its run."""

    AGENT = "agent"  # does the work
    RECORDER = "recorder"  # writes it down


class ProcessRecord(NamedTuple):
    """A process as it was when its run recorded it."""

    session_id: str
    role: ProcessRole
    place: Place
    pid: int
    start_time: float | int | None = None  # clock ticks since boot: tells a process from a later one with its pid
    pgid: int | None = None
    owns_group: bool = False  # the whole group is this run's, so a signal may go to all of it
    command: str | None = None
    heartbeat_at: float | None = None


class SeenProcess(NamedTuple):
    """What the operating system says about a pid right now."""

    pid: int
    start_time: float | int | None = None
    state: str | None = None  # one letter, as in ps: R, S, D, T, Z, X


class ProcessState(StrEnum):
    """What we hold true about a process."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


class ProcessLook(NamedTuple):
    """A judgement about a process, and the sentence that says how we know."""

    state: ProcessState
    sentence: str
    role: ProcessRole | None = None
    pid: int | None = None
    recorder_gone: bool = False  # the agent lives, but nobody writes it down any more


ENDED_STATES = frozenset("ZX")  # ended and not yet collected, or being taken down: it will never write again
NOTHING_RECORDED = ProcessLook(ProcessState.UNKNOWN, "No process was recorded for this run.")


def judge_process(
    recorded: ProcessRecord | None, *, here: Place, seen: SeenProcess | None, could_look: bool
) -> ProcessLook:
    """Whether a recorded process lives, seen from `here`; `seen` is what its pid belongs to now, None if nothing."""
    if recorded is None:
        return NOTHING_RECORDED
    state, sentence = _judge_place(recorded, here) or _judge_sight(recorded, seen, could_look)
    return ProcessLook(state, sentence, recorded.role, recorded.pid)


def _judge_place(recorded: ProcessRecord, here: Place) -> tuple[ProcessState, str] | None:
    """What the places alone decide; None when the process would be visible from here."""
    there, pid = recorded.place, recorded.pid
    if pid == UNKNOWN_PID:
        return ProcessState.UNKNOWN, "Which process does the work was not said; only its signs of life are known."
    if there.host is None or here.host is None:
        return ProcessState.UNKNOWN, f"The host of pid {pid} is not known."
    if there.host != here.host:
        return ProcessState.UNKNOWN, f"pid {pid} is on {there.host} and cannot be seen from {here.host}."
    if there.boot_id is None or here.boot_id is None:
        return ProcessState.UNKNOWN, f"Whether {here.host} was rebooted since pid {pid} started is not known."
    if there.boot_id != here.boot_id:
        return ProcessState.DEAD, f"{here.host} was rebooted since pid {pid} started."
    if there.pid_namespace is None or here.pid_namespace is None:
        return ProcessState.UNKNOWN, f"The pid namespace of pid {pid} is not known."
    if there.pid_namespace != here.pid_namespace:
        return ProcessState.UNKNOWN, f"pid {pid} is in another pid namespace of {here.host} and cannot be seen."
    return None


def _judge_sight(recorded: ProcessRecord, seen: SeenProcess | None, could_look: bool) -> tuple[ProcessState, str]:
    """What a look at the pid decides, once the places match."""
    pid, host = recorded.pid, recorded.place.host
    if not could_look:
        return ProcessState.UNKNOWN, f"pid {pid} on {host} could not be looked at."
    if seen is None:
        return ProcessState.DEAD, f"pid {pid} is gone from {host}."
    if seen.pid != pid:
        return ProcessState.UNKNOWN, f"pid {seen.pid} was looked at instead of pid {pid}."
    if recorded.start_time is None or seen.start_time is None:
        return ProcessState.UNKNOWN, f"pid {pid} exists, but whether it is the same process is not known."
    if recorded.start_time != seen.start_time:
        return ProcessState.DEAD, f"pid {pid} now belongs to another process."
    if seen.state in ENDED_STATES:
        return ProcessState.DEAD, f"pid {pid} has ended and waits to be collected (state {seen.state})."
    return ProcessState.ALIVE, f"pid {pid} is alive on {host}, same boot and start time."


# One living process proves life; one that cannot be seen may be alive; only all of them gone is death.
_STRONGEST_FIRST = (ProcessState.ALIVE, ProcessState.UNKNOWN, ProcessState.DEAD)


def combine_looks(looks: Sequence[ProcessLook]) -> ProcessLook:
    """One judgement for a run: its agent's process decides, and a recorder's only where no agent is recorded."""
    if len(looks) == 1:
        return looks[0]
    agent = _strongest([look for look in looks if look.role is ProcessRole.AGENT])
    recorder = _strongest([look for look in looks if look.role is ProcessRole.RECORDER])
    if agent is None:
        return recorder or NOTHING_RECORDED
    if agent.state is ProcessState.ALIVE and recorder is not None and recorder.state is ProcessState.DEAD:
        sentence = f"{agent.sentence} Its recorder is gone: {recorder.sentence}"
        return agent._replace(sentence=sentence, recorder_gone=True)
    return agent


def _strongest(looks: Sequence[ProcessLook]) -> ProcessLook | None:
    return min(looks, key=lambda look: _STRONGEST_FIRST.index(look.state), default=None)
