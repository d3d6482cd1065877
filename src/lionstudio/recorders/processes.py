"""Which processes a run is made of: the agent's, which does the work, and ours, which writes it down."""

import os

from lionstudio import machine
from lionstudio.domain.process import ProcessRecord, ProcessRole, SeenProcess
from lionstudio.recorders.command_lines import kept, own_command
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.records import processes_record
from lionstudio.services.sessions import put_process


def record_agent(run: Run, pid: int, command: str, *, leads_group: bool = True) -> None:
    """Write down that a child of ours does the work of a run, so that we are its recorder only."""
    put_processes(run, *see_processes(run, pid, command, leads_group=leads_group))


def see_processes(run: Run, pid: int, command: str, *, leads_group: bool = True) -> tuple[ProcessRecord, ProcessRecord]:
    """The child of ours that does the work of a run, which must not be collected yet, and ourselves.

    `leads_group` says that the whole group of the child is the run's, so that all of it may be told to end.
    """
    agent = _recorded(run.session_id, ProcessRole.AGENT, _look_at(pid), kept(command))
    agent = agent._replace(pgid=pid if leads_group else os.getpgrp(), owns_group=leads_group)
    recorder = _recorded(run.session_id, ProcessRole.RECORDER, machine.own_identity(), own_command())
    return agent, recorder._replace(pgid=os.getpgrp())


def put_processes(run: Run, agent: ProcessRecord, recorder: ProcessRecord) -> None:
    """Write down who works and who records."""
    run._recording.write(put_process, agent, recorder, record=lambda: processes_record(agent, recorder))


def _recorded(session_id: str, role: ProcessRole, seen: SeenProcess, command: str | None) -> ProcessRecord:
    return ProcessRecord(session_id, role, machine.here(), seen.pid, start_time=seen.start_time, command=command)


def _look_at(pid: int) -> SeenProcess:
    try:
        return machine.look_at(pid) or SeenProcess(pid)
    except machine.CannotLook:
        return SeenProcess(pid)
