"""Cleaning up after ended runs: only files that a look just now found to be left over, and only inside their folder."""

import fcntl
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from lionstudio import machine
from lionstudio.domain.errors import CannotCleanUp, InvalidRequest, SessionIsRunning
from lionstudio.domain.health import Evidence, HealthVerdict, classify_health, leftover_kind
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.services import health, sessions
from lionstudio.services.admin import record_event
from lionstudio.services.context import Context
from lionstudio.services.examination import examine_sessions, keep_examined
from lionstudio.services.folders_in_use import FoldersInUse
from lionstudio.services.refusing import examine_each
from lionstudio.store import processes

FILES_IN_EVENT = 1_000  # more would make the event hard to read
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class KeptFile(NamedTuple):
    """A leftover that stays, and why."""

    path: str
    why: str


class CleanedUp(NamedTuple):
    """What was removed after a run, or would be."""

    session: Session
    removed: tuple[str, ...]
    kept: tuple[KeptFile, ...]
    size: int  # bytes of what was removed
    verdict: HealthVerdict  # how the run is afterwards; of a dry run, how it is
    event_id: str | None = None  # of a dry run, or where nothing was left, none


class _Task(NamedTuple):
    """What is known about an ended run whose folder may be touched."""

    session: Session
    folder: str
    evidence: Evidence
    verdict: HealthVerdict

    @property
    def files(self) -> tuple[str, ...]:
        return (*self.evidence.stale_locks, *self.evidence.temp_files)


def clean_up(
    ctx: Context,
    session_ids: Sequence[str],
    *,
    actor: str,
    dry_run: bool = False,
    only: Collection[str] | None = None,
) -> list[CleanedUp]:
    """Remove what ended runs left behind: stale locks and unfinished files in their artifacts folders.

    `only` names the files that somebody agreed to; any other stays. One refused run means that nothing is removed: its
    own error for a single run, Refused with one entry each for several.
    """
    if not actor.strip():
        raise InvalidRequest("Who cleans up must be known.")
    in_use = FoldersInUse(ctx)
    tasks = examine_each(session_ids, lambda id: _require_task(ctx, id, in_use), what="cleaned up after")
    agreed = None if only is None else frozenset(only)
    return [_clean(ctx, task, agreed, actor, dry_run=dry_run) for task in tasks]


def _require_task(ctx: Context, session_id: str, in_use: FoldersInUse) -> _Task:
    """What may be removed after a run; raises what stands against it."""
    with ctx.db.read() as tx:
        session = sessions.get(tx, session_id)
        recorded = processes.list_of_session(tx, session_id)
    if session.status is SessionStatus.RUNNING:
        raise SessionIsRunning(
            f"The run {session.id} has not ended; its files may be in use.",
            hint="Wait for it, stop it (li runs kill), or end it by hand first if it is dead.",
        )
    if not health.is_ours_to_see(recorded, machine.here()):
        hosts = sorted({process.place.host for process in recorded if process.place.host})
        raise CannotCleanUp(
            f"The run {session.id} ran on {', '.join(hosts)}; a path of it means another file here.",
            hint="Clean up there.",
        )
    folder = _require_folder(session)
    other = in_use.find_sharing(folder)
    if other is not None:
        raise CannotCleanUp(
            f"The run {other.session_id} runs, and works in {other.folder}; a file there may be its own.",
            hint="Wait until it has ended.",
        )
    seen = health.observe_session(ctx, session, processes=recorded)
    return _Task(session, folder, seen, classify_health(session, seen, now=ctx.now()))


def _require_folder(session: Session) -> str:
    """The folder that a run wrote to, if it may be somebody's own folder for artifacts."""
    folder = session.artifacts_path
    if folder is None:
        raise CannotCleanUp(f"The run {session.id} named no folder for its files.", hint="There is nothing to clean.")
    if not os.path.isabs(folder) or os.path.normpath(folder) != folder.rstrip("/"):
        raise CannotCleanUp(f"{folder!r} does not say which folder it is.", hint="Remove its leftovers by hand.")
    real = os.path.realpath(folder)
    if health.belongs_to_system(folder):
        raise CannotCleanUp(
            f"{folder} belongs to the system; a run may name it, but what lies there is not the run's.",
            hint="Leave it as it is.",
        )
    if os.path.islink(folder.rstrip("/")):
        raise CannotCleanUp(
            f"{folder} is a link to {real}, which may be somebody else's.",
            hint="Remove its leftovers there by hand.",
        )
    home = os.path.realpath(os.path.expanduser("~"))
    if os.path.commonpath([os.path.realpath(folder), home]) == os.path.realpath(folder):
        raise CannotCleanUp(
            f"{folder} holds a whole home; not everything in it that looks left over is the run's.",
            hint="Remove its leftovers by hand.",
        )
    return folder


def _clean(ctx: Context, task: _Task, agreed: Collection[str] | None, actor: str, *, dry_run: bool) -> CleanedUp:
    now = ctx.now()
    removed: list[str] = []
    kept: list[KeptFile] = []
    size = 0
    try:
        for path in task.files:
            if agreed is not None and path not in agreed:
                kept.append(KeptFile(path, "It was found after the plan was made."))
                continue
            try:
                size += _remove(task, path, now=now, dry_run=dry_run)
                removed.append(path)
            except FileNotFoundError:
                continue  # somebody else removed it
            except OSError as error:
                kept.append(KeptFile(path, error.strerror or str(error)))
    finally:
        done = CleanedUp(task.session, tuple(removed), tuple(kept), size, task.verdict)
        if not dry_run:  # what is removed is removed, and has to be on record
            done = _record(ctx, done, actor)
    return done


def _remove(task: _Task, path: str, *, now: float, dry_run: bool) -> int:
    """Remove one file of a run's folder, whatever links are on the way; its size. Raises OSError if it must stay."""
    *parents, name = os.path.relpath(path, task.folder).split(os.sep)
    with _open_inside(task.folder, parents) as parent:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "It is not a plain file any more.")
        if leftover_kind(name, found.st_mtime, began_at=task.session.started_at, now=now) is None:
            raise OSError(0, "It was written to just now.")
        _require_unlocked(name, parent)
        if not dry_run:
            os.unlink(name, dir_fd=parent)  # removes a name in this very folder, never what a link points to
    return found.st_size


@contextmanager
def _open_inside(folder: str, parents: Sequence[str]) -> Iterator[int]:
    """The folder of a file, opened step by step so that no link leads out; raises OSError."""
    opened = os.open(folder, FOLDER)
    try:
        for name in parents:
            if name == os.pardir:
                raise OSError(0, "It is not inside of the run's folder.")
            inner = os.open(name, FOLDER, dir_fd=opened)
            os.close(opened)
            opened = inner
        yield opened
    finally:
        os.close(opened)


def _require_unlocked(name: str, parent: int) -> None:
    """Raise OSError while some process holds a lock on a file: then somebody uses it, however old it is."""
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    except PermissionError:
        return  # whether it may be removed is for its folder to say
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OSError(0, "A process holds a lock on it.") from error
    finally:
        os.close(file)


def _record(ctx: Context, done: CleanedUp, actor: str) -> CleanedUp:
    """Look again, keep what was seen for the lists, and write down what was done."""
    examined = examine_sessions(ctx, [done.session.id])
    keep_examined(ctx, examined, requested_by=actor)
    verdict = examined[0].verdict if examined else done.verdict  # it may have been pruned meanwhile
    if not done.removed and not done.kept:
        return done._replace(verdict=verdict)
    details = {
        "files": list(done.removed[:FILES_IN_EVENT]),
        "files_left_out": max(0, len(done.removed) - FILES_IN_EVENT),
        "bytes": done.size,
        "kept": [kept._asdict() for kept in done.kept[:FILES_IN_EVENT]],
        "previous_health": done.verdict.health.value,
        "health": verdict.health.value,
    }
    event = record_event(ctx, "cleanup", target_id=done.session.id, details=details, actor=actor)
    return done._replace(verdict=verdict, event_id=event.id)
