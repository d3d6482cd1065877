"""Repair of runs whose process is gone: bring back what they left outside of the database, and say what is left to do.

No status is changed (ADR 0024). A run whose own end was found in the spool has ended by itself; any other is ended by
an operator, by a transition.
"""

import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import CannotRepair, InvalidRequest
from lionstudio.domain.health import Evidence, Health, HealthVerdict, classify_health
from lionstudio.domain.labels import status_label
from lionstudio.domain.phrases import count_of
from lionstudio.domain.process import ProcessRecord, ProcessState
from lionstudio.domain.run_telling import ARTIFACTS_FOLDER, BRANCHES_FOLDER, RUN_FILE
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.services import health, sessions
from lionstudio.services.admin import record_event
from lionstudio.services.context import Context
from lionstudio.services.examination import examine_sessions, keep_examined
from lionstudio.services.refusing import examine_each
from lionstudio.store import processes, session_folders


class Spool(Protocol):
    """What waits outside of the database. Services do not know recorders, so it is given."""

    def count(self, session_id: str) -> int:
        """How many records of a run wait to be written."""
        ...

    def replay(self) -> int:
        """Write what dead processes left for the database; how many records."""
        ...


class Step(StrEnum):
    """What a repair may find."""

    SPOOL = "spool"  # records of the run wait on disk: they are written
    ARTIFACTS = "artifacts"  # a folder of the run's own name holds files: the run is told of it
    RUN_FOLDER = "run_folder"  # a folder of the run's own name can be imported
    PROCESS = "process"  # what is known of the process


class RepairStep(NamedTuple):
    """One thing that was found."""

    step: Step
    sentence: str
    changes: bool = False  # it was, or would be, acted on


class Repaired(NamedTuple):
    """What became of a run, or would."""

    session: Session  # as it is afterwards; of a dry run, as it is
    before: HealthVerdict
    after: HealthVerdict
    steps: tuple[RepairStep, ...]
    way_on: str  # what is left for the operator
    event_id: str | None = None  # of a dry run, none


class _Broken(NamedTuple):
    """A run whose process is gone."""

    session: Session
    processes: Sequence[ProcessRecord]
    evidence: Evidence
    verdict: HealthVerdict


def repair(
    ctx: Context, session_ids: Sequence[str], *, actor: str, spool: Spool, runs_folder: str, dry_run: bool = False
) -> list[Repaired]:
    """Bring back what runs left elsewhere: records in the spool, files under `runs_folder`.

    One refused run means that nothing is done: its own error for a single run, Refused with one entry each for several.
    """
    if not actor.strip():
        raise InvalidRequest("Who repairs must be known.")
    broken = examine_each(session_ids, lambda session_id: _require_broken(ctx, session_id), what="repaired")
    waiting = {one.session.id: spool.count(one.session.id) for one in broken}
    if any(waiting.values()) and not dry_run:
        spool.replay()  # what waits for other runs, too: records are written in the order in which they were kept
    done = []
    for one in broken:
        own = waiting[one.session.id]
        left = 0 if dry_run else spool.count(one.session.id)
        spooled = tuple(_tell_spool(own, left, dry_run=dry_run))
        done.append(_repair(ctx, one, spooled, runs_folder, actor, dry_run=dry_run))
    return done


def _require_broken(ctx: Context, session_id: str) -> _Broken:
    with ctx.db.read() as tx:
        session = sessions.get(tx, session_id)
        recorded = processes.list_of_session(tx, session_id)
    seen = health.observe_session(ctx, session, processes=recorded)
    verdict = classify_health(session, seen, now=ctx.now())
    if session.status is not SessionStatus.RUNNING:
        hint = f"Nothing of it needs repair. How it ended: li runs show {session.id}"
        if verdict.health is Health.ZOMBIE:
            hint = "Clean up what it left behind instead."
        raise CannotRepair(f"The run {session.id} has ended: {status_label(session.status)}.", hint=hint)
    if verdict.process is ProcessState.ALIVE:
        raise CannotRepair(
            f"The process of the run {session.id} lives. {seen.process.sentence}",
            hint=f"Watch it: li runs tail -f {session.id}",
        )
    if verdict.process is ProcessState.UNKNOWN:
        raise CannotRepair(
            f"Whether the process of the run {session.id} lives is unknown. {seen.process.sentence}",
            hint="Repair it where it ran. Once it is quiet for too long it can be ended by hand.",
        )
    return _Broken(session, recorded, seen, verdict)


def _repair(
    ctx: Context, one: _Broken, spooled: Sequence[RepairStep], runs_folder: str, actor: str, *, dry_run: bool
) -> Repaired:
    steps = (
        *spooled,
        *_find_folder(ctx, one, runs_folder, dry_run=dry_run),
        RepairStep(Step.PROCESS, one.evidence.process.sentence),
    )
    if dry_run:
        return Repaired(one.session, one.verdict, one.verdict, steps, _way_on(one.session, one.verdict))
    examined = examine_sessions(ctx, [one.session.id])
    keep_examined(ctx, examined, requested_by=actor)
    session, _, verdict = examined[0] if examined else (one.session, one.evidence, one.verdict)
    details = {
        "steps": [step._asdict() for step in steps],
        "previous_health": one.verdict.health.value,
        "health": verdict.health.value,
    }
    event = record_event(ctx, "repair", target_id=session.id, details=details, actor=actor)
    return Repaired(session, one.verdict, verdict, steps, _way_on(session, verdict), event.id)


def _tell_spool(waited: int, left: int, *, dry_run: bool) -> Iterator[RepairStep]:
    if waited and dry_run:
        records = count_of(waited, "record that waits on disk", "records that wait on disk")
        yield RepairStep(Step.SPOOL, f"{records} would be written.", changes=True)
    elif waited > left:
        records = count_of(waited - left, "record that waited on disk was", "records that waited on disk were")
        yield RepairStep(Step.SPOOL, f"{records} written.", changes=True)
    if left:
        records = count_of(left, "record still waits", "records still wait")
        yield RepairStep(Step.SPOOL, f"{records} on disk, where another process writes.")


def _find_folder(ctx: Context, one: _Broken, runs_folder: str, *, dry_run: bool) -> Iterator[RepairStep]:
    """A folder of the run's own name, where agents that were told no other leave their files."""
    session = one.session
    if session.id in ("", os.curdir, os.pardir) or "/" in session.id or "\0" in session.id:
        return  # an id from elsewhere may look like a path
    own = os.path.join(runs_folder, session.id)
    files = os.path.join(own, ARTIFACTS_FOLDER)
    if session.artifacts_path is None and _holds_files(ctx, one, files):
        sentence = f"Its files are in {files}, which {'would be' if dry_run else 'was'} written down on the run."
        if not dry_run:
            _put_folder(ctx, session.id, files)
        yield RepairStep(Step.ARTIFACTS, sentence, changes=True)
    if any(os.path.exists(os.path.join(own, name)) for name in (RUN_FILE, BRANCHES_FOLDER)):
        yield RepairStep(Step.RUN_FOLDER, f"{own} is a run folder; li state import {own} brings in what it holds.")


def _put_folder(ctx: Context, session_id: str, folder: str) -> None:
    with ctx.db.write() as tx:
        session_folders.put_folder(tx, session_id, folder)
        tx.tell(Topic.SESSION, session_id, session_id=session_id, at=ctx.now())


def _holds_files(ctx: Context, one: _Broken, folder: str) -> bool:
    if os.path.islink(folder):
        return False
    moved = one.session._replace(artifacts_path=folder)
    return health.observe_session(ctx, moved, processes=one.processes).has_artifacts is True


def _way_on(session: Session, verdict: HealthVerdict) -> str:
    if session.status is not SessionStatus.RUNNING:
        return f"The run's own end was found: {status_label(session.status)}. Nothing is left to do."
    if verdict.health is Health.ORPHANED:
        return "It never produced anything. End it by hand: a transition to failed, aborted or cancelled."
    return "Its process is gone and it never said how it ended. End it by hand: a transition."
