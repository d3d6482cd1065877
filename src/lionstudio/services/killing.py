"""Ending the process of a run: planned first, proved afterwards, and written down with who did it and why."""

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from lionstudio import machine
from lionstudio.domain.change import Topic
from lionstudio.domain.errors import CannotKill, Error, IllegalTransition, InvalidRequest, Unauthorized
from lionstudio.domain.labels import status_label
from lionstudio.domain.process import ProcessLook, ProcessRecord, ProcessRole, ProcessState
from lionstudio.domain.session import RUN_ACTOR, Session, SessionStatus
from lionstudio.services import health, sessions
from lionstudio.services.admin import add_event, keep_history
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context
from lionstudio.services.following import RECORDER_PATIENCE, follow_sessions, way_on
from lionstudio.services.health import look_at_process
from lionstudio.services.kill_target import KillTarget, ended_before
from lionstudio.store import processes
from lionstudio.store import sessions as session_rows
from lionstudio.store.transaction import Tx

REASON_CODE = "run.cancelled.killed"
GRACE = 10.0  # seconds between SIGTERM and SIGKILL
LONGEST_GRACE = 24 * 3600.0
HELD_AT_MOST = 2.0  # seconds for which other writers wait for a process that is forced; nearly all go at once
KILL_PATIENCE = 10.0  # seconds after SIGKILL: only a process that waits for a disk needs as long


class KillPlan(NamedTuple):
    """Which process would be told to end."""

    session: Session
    process: ProcessRecord
    group: tuple[int, ...] | None  # who is in the group now, where all of it is told; else only that one process is
    sentence: str  # how we know that it is the run's process


class Killed(NamedTuple):
    """A run whose process is gone."""

    session: Session  # as it is afterwards
    plan: KillPlan
    signals: tuple[str, ...]
    proof: str
    ended_by_itself: bool  # its own recorder wrote the end
    event_id: str | None
    not_recorded: Error | None = None  # why nothing of it could be written down


def plan_kill(ctx: Context, session_id: str) -> KillPlan:
    """What `kill` would do; raises SessionNotFound, IllegalTransition if the run has ended, or CannotKill."""
    with ctx.db.read() as tx:
        session = sessions.get(tx, session_id)
        recorded = processes.list_of_session(tx, session_id)
    if session.status is not SessionStatus.RUNNING:
        raise IllegalTransition(
            f"The run {session.id} has ended: {status_label(session.status)}.",
            hint=f"There is nothing to kill. See how it ended: li runs show {session.id}",
        )
    here = machine.here()
    looks = [(record, look_at_process(record, here)) for record in recorded]
    process, look = _choose(ctx, session, looks)
    if process.pid == os.getpid():
        raise CannotKill("This very process records the run.", hint="End the run instead: run.finish(…)")
    return KillPlan(session, process, _find_group(process), look.sentence)


def kill(ctx: Context, plan: KillPlan, *, actor: str, reason: str | None = None, grace: float = GRACE) -> Killed:
    """Carry a plan out: SIGTERM, SIGKILL after `grace` seconds, proof, and the run's end if it wrote none itself.

    Raises CannotKill if the process is not the planned one any more or does not die, Unauthorized if it is somebody
    else's. What was done is written down in any case; where that cannot be, it is said all the same.
    """
    if not 0 <= grace <= LONGEST_GRACE:
        raise InvalidRequest("The grace must be between 0 seconds and a day.")
    if not actor.strip() or actor == RUN_ACTOR:
        raise InvalidRequest("Who ends the run must be known.")
    before = newest_number(ctx)
    sent: list[str] = []

    def in_our_name(force: Callable[[], bool]) -> bool:
        return _force(ctx, plan, force, lambda: _facts(plan, sent, reason, _by_force(grace)), actor=actor)

    try:
        with KillTarget(plan.process, whole_group=plan.group is not None) as target:
            _end_process(target, sent, grace=grace, in_our_name=in_our_name)
        if not sent:  # whatever ended it, it was not the operator
            raise ended_before(plan.process)
        look = look_at_process(plan.process, machine.here())
        if look.state is not ProcessState.DEAD:
            raise CannotKill(f"The process was told to end, but that it is gone is not proved. {look.sentence}")
    except BaseException as error:
        if sent:
            _account_for(ctx, plan, sent, error, actor=actor, reason=reason)
        raise
    how = "SIGTERM was enough" if len(sent) == 1 else _by_force(grace)
    try:
        _let_recorder_finish(ctx, plan, after=before)
        return _write_down(ctx, plan, _facts(plan, sent, reason, how), look.sentence, actor=actor)
    except Error as error:  # the process is gone all the same
        return Killed(plan.session, plan, tuple(sent), look.sentence, False, None, not_recorded=error)
    except KeyboardInterrupt as error:
        _account_for(ctx, plan, sent, error, actor=actor, reason=reason)
        raise


def _choose(
    ctx: Context, session: Session, looks: Sequence[tuple[ProcessRecord, ProcessLook]]
) -> tuple[ProcessRecord, ProcessLook]:
    """The process to end: the agent's, or that of the recorder where no agent lives."""
    ordered = sorted(looks, key=lambda pair: pair[0].role is not ProcessRole.AGENT)
    for process, look in ordered:
        if look.state is not ProcessState.DEAD:
            if look.state is ProcessState.UNKNOWN:
                _refuse_unknown(session, process, look)
            return process, look
    if not ordered:
        raise CannotKill(
            f"No process was recorded for the run {session.id}.", hint="End it where it was started; then the run ends."
        )
    evidence, verdict = ordered[0][1].sentence.removesuffix("."), health.judge(ctx, session.id)[1]
    raise CannotKill(
        f"{evidence}, so the process of the run {session.id} is gone.",
        hint=f"No signal was sent. {way_on(session.id, verdict.health)}",
    )


def _refuse_unknown(session: Session, process: ProcessRecord, look: ProcessLook) -> NoReturn:
    here, there = machine.here(), process.place
    if there.host is not None and there.host != here.host:
        way_on = f"Type it on that machine: li runs kill {session.id}"
    elif there.pid_namespace is not None and there.pid_namespace != here.pid_namespace:
        way_on = f"Type it in the container that it runs in: li runs kill {session.id}"
    else:
        way_on = f"Look at pid {process.pid} yourself, and end it if it is the run's."
    raise CannotKill(f"It cannot be told which process belongs to the run {session.id}. {look.sentence}", hint=way_on)


def _find_group(process: ProcessRecord) -> tuple[int, ...] | None:
    """Who is in the process's group, if all of it is the run's. A group that it does not lead is left alone."""
    if not process.owns_group or process.pgid != process.pid or _group_of(process.pid) != process.pid:
        return None
    if os.getpgid(0) == process.pgid:
        raise CannotKill(
            "This command runs in the process group of the run, and would end itself.",
            hint="Type it outside of the run, in another terminal.",
        )
    return tuple(sorted(seen.pid for seen in machine.list_group(process.pid)))


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _by_force(grace: float) -> str:
    return f"SIGKILL was needed {grace:g} s after SIGTERM"


def _end_process(
    target: KillTarget, sent: list[str], *, grace: float, in_our_name: Callable[[Callable[[], bool]], bool]
) -> None:
    try:
        if (
            _tell(target, signal.SIGTERM, sent, patience=grace)
            or in_our_name(lambda: _tell(target, signal.SIGKILL, sent, patience=HELD_AT_MOST))
            or target.wait(KILL_PATIENCE)
        ):
            return
    except machine.CannotLook as error:
        raise CannotKill(f"Whether the process is gone cannot be seen: {error.strerror}.") from error
    except PermissionError as error:
        raise Unauthorized(
            "The process belongs to another account, which does not let you end it.",
            hint="Type it as that account, or as root.",
        ) from error
    left = ", ".join(f"pid {seen.pid}" for seen in target.list_left())
    raise CannotKill(
        f"{left} did not end within {KILL_PATIENCE:.0f} seconds after SIGKILL.",
        hint="Such a process waits for a disk or a device; it ends when that answers.",
    )


def _tell(target: KillTarget, number: signal.Signals, sent: list[str], *, patience: float) -> bool:
    """Send a signal, and wait for its effect; whether everyone is gone."""
    try:
        if not target.list_left():
            return True
        _send(target, number, sent)
        target.send(signal.SIGCONT)  # one that stands still could not hear it
        return target.wait(patience)
    except ProcessLookupError:
        return True  # everyone has ended meanwhile


def _force(
    ctx: Context, plan: KillPlan, force: Callable[[], bool], facts: Callable[[], dict[str, Any]], *, actor: str
) -> bool:
    """Force the process, and end the run in the operator's name in the same breath; whether everyone is gone.

    Its recorder, which would say that signal 9 failed it, waits for this transaction. One that cannot be written is
    tried again afterwards; a process that takes longer than others can wait is left to its recorder.
    """
    gone: bool | None = None
    with suppress(Error), ctx.db.write() as tx:
        session = sessions.get(tx, plan.session.id, lock=True)
        gone = force()
        known, now = facts(), ctx.now()
        if gone and signal.SIGKILL.name in known["signals"] and session.status is SessionStatus.RUNNING:
            _cancel(ctx, tx, session, known, actor=actor, at=now)
            tx.tell(Topic.SESSION, session.id, session_id=session.id, at=now)
    return force() if gone is None else gone


def _send(target: KillTarget, number: signal.Signals, sent: list[str]) -> None:
    """Send a signal. It counts as sent before it is: who interrupts us at that very moment must be told of it."""
    sent.append(number.name)
    try:
        target.send(number)
    except OSError:
        sent.pop()
        raise


def _let_recorder_finish(ctx: Context, plan: KillPlan, *, after: int) -> None:
    """Give a recorder that outlives its agent the time to write how the run ended."""
    here, session_id = machine.here(), plan.session.id
    others = [record for record in sessions.list_processes(ctx, session_id) if record.pid != plan.process.pid]
    if not any(look_at_process(record, here).state is ProcessState.ALIVE for record in others):
        return
    until = time.monotonic() + RECORDER_PATIENCE
    for _ in follow_sessions(ctx, {session_id}, after=after, quiet=RECORDER_PATIENCE, until=until):
        if sessions.get_session(ctx, session_id).status is not SessionStatus.RUNNING:
            return


def _write_down(ctx: Context, plan: KillPlan, known: Mapping[str, Any], proof: str, *, actor: str) -> Killed:
    """The audit row, and the end of the run unless its recorder wrote one: that one stays."""
    with ctx.db.write() as tx:
        now = ctx.now()
        before = sessions.get(tx, plan.session.id, lock=True)
        ended_by_itself = before.status is not SessionStatus.RUNNING and before.end_reason != REASON_CODE
        facts = {**known, "proof": proof, "ended_by_itself": ended_by_itself}
        if before.status is SessionStatus.RUNNING:
            _cancel(ctx, tx, before, facts, actor=actor, at=now)
        event = add_event(ctx, tx, "kill", target_id=before.id, details=facts, actor=actor)
        tx.tell(Topic.SESSION, before.id, session_id=before.id, at=now)
        session = sessions.get(tx, before.id)
    return Killed(session, plan, tuple(facts["signals"]), proof, ended_by_itself, event.id)


def _cancel(ctx: Context, tx: Tx, session: Session, facts: Mapping[str, Any], *, actor: str, at: float) -> None:
    session_rows.end(
        tx, session.id, status=SessionStatus.CANCELLED, at=at, exit_code=None, actor=actor, reason=REASON_CODE
    )
    keep_history(
        ctx, tx, "session", session.id,
        before=session.status, after=SessionStatus.CANCELLED, at=at, actor=actor, reason=REASON_CODE,
        sentence=facts["sentence"], evidence=facts,
    )  # fmt: skip


def _account_for(
    ctx: Context, plan: KillPlan, sent: Sequence[str], error: BaseException, *, actor: str, reason: str | None
) -> None:
    """Write down what was done before it failed, and say it with the error: the process may be gone all the same."""
    done = _what_was_done(plan, sent)
    try:
        _write_down_failure(ctx, plan, sent, error, actor=actor, reason=reason)
    except Error as refused:
        done += f" That could not be written down: {refused.message}"
    if isinstance(error, Error):
        raise type(error)(f"{error.message} {done}", hint=error.hint) from error
    error.add_note(done)


def _what_was_done(plan: KillPlan, sent: Sequence[str]) -> str:
    """Which signals were sent to whom, and who lives now."""
    pid, group = plan.process.pid, plan.group or ()
    left = [str(seen.pid) for seen in machine.list_group(pid) if seen.pid in group] if group else []
    members = f" Of its group, pid {', '.join(left)} lives." if left else ""
    whom = f"The group {pid}" if group else f"pid {pid}"
    return f"{whom} was sent {' and '.join(sent)}. {look_at_process(plan.process, machine.here()).sentence}{members}"


def _write_down_failure(
    ctx: Context, plan: KillPlan, sent: Sequence[str], error: BaseException, *, actor: str, reason: str | None
) -> None:
    what = error.message if isinstance(error, Error) else f"It was interrupted ({type(error).__name__})."
    with ctx.db.write() as tx:
        facts = {
            **_facts(plan, sent, reason, f"it was sent {', '.join(sent)}. {what.removesuffix('.')}"),
            "failed": what,
        }
        add_event(ctx, tx, "kill", target_id=plan.session.id, details=facts, actor=actor)


def _facts(plan: KillPlan, sent: Sequence[str], reason: str | None, how: str) -> dict[str, Any]:
    process = plan.process
    return {
        "reason": reason,
        "sentence": f"{how[0].upper()}{how[1:]}." if reason is None else f"{reason} ({how})",  # for histories
        "signals": list(sent),
        "pid": process.pid,
        "start_time": process.start_time,
        "role": process.role.value,
        "command": process.command,
        "host": process.place.host,
        "group": None if plan.group is None else list(plan.group),
    }
