"""Health: look at a run's processes and files now, and judge what was seen."""

import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from lionstudio import machine
from lionstudio.domain.health import (
    Evidence,
    Health,
    HealthVerdict,
    Leftover,
    classify_health,
    derive_health,
    leftover_kind,
    may_be,
    should_look_for_leftovers,
)
from lionstudio.domain.health_words import GONE
from lionstudio.domain.process import (
    NOTHING_RECORDED,
    Place,
    ProcessLook,
    ProcessRecord,
    ProcessState,
    combine_looks,
    judge_process,
)
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.services import sessions
from lionstudio.services.context import Context
from lionstudio.services.folders_in_use import FoldersInUse
from lionstudio.store import evidence as evidence_rows
from lionstudio.store import processes as process_rows
from lionstudio.store.evidence import StoredEvidence
from lionstudio.store.transaction import Tx

Seen = tuple[Session, Evidence]

NOTHING_SEEN = Evidence(NOTHING_RECORDED)
LOOK_AT_MOST = 10_000  # entries of an artifacts folder: a verdict must not wait for a huge tree
SYSTEM_FOLDERS = (
    "/bin/",
    "/boot/",
    "/dev/",
    "/etc/",
    "/lib",
    "/proc/",
    "/run/",
    "/sbin/",
    "/sys/",
    "/usr/",
    "/var/lib/",
)


def judge(ctx: Context, session_id: str) -> tuple[Session, HealthVerdict]:
    """Look at a run now and say how it is doing; raises SessionNotFound."""
    session, seen = look(ctx, session_id)
    return session, classify_health(session, seen, now=ctx.now())


def judge_many(ctx: Context, tx: Tx, rows: Sequence[Session]) -> dict[str, HealthVerdict]:
    """How each of these runs is doing, for lists."""
    now = ctx.now()
    return {session.id: classify_health(session, seen, now=now) for session, seen in glance(tx, rows, now=now)}


def select_by_health(ctx: Context, tx: Tx, rows: Sequence[Session], health: Health) -> list[Session]:
    """Those of these runs that are doing so; who cannot be is not looked at."""
    now = ctx.now()
    likely = [session for session in rows if may_be(session, health, now=now)]
    seen = glance(tx, likely, now=now)
    return [session for session, evidence in seen if derive_health(session, evidence, now=now) is health]


def select_living(ctx: Context, tx: Tx, rows: Sequence[Session]) -> list[Session]:
    """Those of these running runs that are not held for dead."""
    now = ctx.now()
    seen = glance(tx, rows, now=now)
    return [session for session, evidence in seen if derive_health(session, evidence, now=now) not in GONE]


def glance(tx: Tx, rows: Sequence[Session], *, now: float) -> Iterator[Seen]:
    """What can quickly be seen of each: processes now, and files as they were when somebody last looked."""
    here = machine.here()
    running = [session.id for session in rows if session.status is SessionStatus.RUNNING]
    processes = process_rows.find_many(tx, running)
    looks = {
        session_id: combine_looks([look_at_process(recorded, here) for recorded in processes.get(session_id, ())])
        for session_id in running
    }
    by_files = {session.id for session in rows if session.id in looks and _files_decide(session, looks[session.id])}
    stored = evidence_rows.find_many(tx, [id for session in rows if (id := session.id) in by_files or id not in looks])
    for session in rows:
        id = session.id
        last = stored[id].evidence if id in stored else NOTHING_SEEN
        if id in looks:
            has_artifacts = False if id in by_files and session.artifacts_path is None else last.has_artifacts
            last = Evidence(looks[id], _last_heartbeat(processes.get(id, ())), has_artifacts, observed_at=now)
        yield session, last


def look_at_files(seen: Iterable[Seen], *, seconds: float | None = None) -> Iterator[Seen]:
    """The same, with a look at the files now where they decide; what there is no time for stays as it was.

    It walks through folders: never call it with a transaction open.
    """
    give_up = None if seconds is None else time.monotonic() + seconds
    found: dict[str | None, bool | None] = {}  # by folder, which many runs may share
    for session, evidence in seen:
        folder = session.artifacts_path
        if not _files_decide(session, evidence.process) or (give_up is not None and time.monotonic() > give_up):
            yield session, evidence
            continue
        if folder not in found:
            found[folder] = _look_for_output(session).has_artifacts
        yield session, evidence._replace(has_artifacts=found[folder])


def _files_decide(session: Session, process: ProcessLook) -> bool:
    """Only about a dead run that never wrote a message. Who sees it dead is on its machine, where its files are too."""
    is_silent = session.message_count == 0 and session.status is SessionStatus.RUNNING
    return is_silent and process.state is ProcessState.DEAD


def look(ctx: Context, session_id: str) -> tuple[Session, Evidence]:
    """A run and what can be seen of it now; raises SessionNotFound."""
    with ctx.db.read() as tx:
        session = sessions.get(tx, session_id)
        processes = process_rows.list_of_session(tx, session_id)
    return session, observe_session(ctx, session, processes=processes)


def observe_session(
    ctx: Context, session: Session, *, processes: Sequence[ProcessRecord], in_use: FoldersInUse | None = None
) -> Evidence:
    """The facts about a run, as they can be seen from here and now. Who observes many reads `in_use` once for all."""
    now, here = ctx.now(), machine.here()
    files = UNSEEN
    if is_ours_to_see(processes, here):
        files = _look_into_artifacts(ctx, session, in_use or FoldersInUse(ctx), now=now)
    return Evidence(
        process=combine_looks([look_at_process(process, here) for process in processes]),
        heartbeat_at=_last_heartbeat(processes),
        has_artifacts=files.has_artifacts,
        stale_locks=files.stale_locks,
        temp_files=files.temp_files,
        observed_at=now,
    )


def find_evidence(ctx: Context, session_id: str) -> StoredEvidence | None:
    """What was last seen of a run, if anyone looked."""
    with ctx.db.read() as tx:
        return evidence_rows.find(tx, session_id)


class _Files(NamedTuple):
    """What was seen in an artifacts folder. That nothing was found is a fact only when all of it was seen."""

    has_artifacts: bool | None = None
    stale_locks: tuple[str, ...] = ()
    temp_files: tuple[str, ...] = ()


UNSEEN = _Files()


def is_ours_to_see(processes: Sequence[ProcessRecord], here: Place) -> bool:
    """Whether a run's paths mean files of this machine: one that was recorded elsewhere only names them."""
    hosts = {process.place.host for process in processes if process.place.host is not None}
    return not hosts or here.host in hosts


def look_at_process(process: ProcessRecord, here: Place) -> ProcessLook:
    """Whether a recorded process lives, as far as this machine can tell."""
    if process.place != here:  # its pid means nothing here
        return judge_process(process, here=here, seen=None, could_look=False)
    try:
        seen, could_look = machine.look_at(process.pid), True
    except (machine.CannotLook, OverflowError):  # a pid from elsewhere may be larger than this system's are
        seen, could_look = None, False
    return judge_process(process, here=here, seen=seen, could_look=could_look)


def _last_heartbeat(processes: Sequence[ProcessRecord]) -> float | None:
    beats = [process.heartbeat_at for process in processes if process.heartbeat_at is not None]
    return max(beats) if beats else None


def _look_into_artifacts(ctx: Context, session: Session, in_use: FoldersInUse, *, now: float) -> _Files:
    if session.artifacts_path is None or session.status is SessionStatus.RUNNING:
        return _look_for_output(session)
    stored = find_evidence(ctx, session.id)
    known = UNSEEN if stored is None else _Files(None, stored.evidence.stale_locks, stored.evidence.temp_files)
    found_before = bool(known.stale_locks or known.temp_files)
    if not should_look_for_leftovers(session, found_before=found_before, now=now):
        return UNSEEN
    if belongs_to_system(session.artifacts_path):
        return UNSEEN
    found = _find_leftovers(session, session.artifacts_path, known, now=now)
    if not (found.stale_locks or found.temp_files) or in_use.find_sharing(session.artifacts_path) is None:
        return found
    # What a running run writes there is nobody's leftover; only what was left before it may still be.
    locks, temps = (tuple(filter(_may_exist, files)) for files in (known.stale_locks, known.temp_files))
    return _Files(found.has_artifacts, locks, temps)


def belongs_to_system(folder: str) -> bool:
    """Whether locks and unfinished files there are the system's own business, whatever a run says its folder is."""
    inside = os.path.realpath(folder).rstrip("/") + "/"
    return inside.startswith(SYSTEM_FOLDERS) or any(system.startswith(inside) for system in SYSTEM_FOLDERS)


def _look_for_output(session: Session) -> _Files:
    """Whether a run wrote anything: one file is enough."""
    if session.artifacts_path is None:
        return _Files(has_artifacts=False)
    walk = _Walk(session.artifacts_path)
    some_file = next(walk.files(), None)
    return _Files(has_artifacts=walk.proves_absence if some_file is None else True)


def _find_leftovers(session: Session, folder: str, known: _Files, *, now: float) -> _Files:
    walk = _Walk(folder)
    found: dict[Leftover, set[str]] = {kind: set() for kind in Leftover}
    some_file = False
    for file in walk.files():
        some_file = True
        with suppress(OSError):  # it vanished while we looked
            changed_at = file.stat(follow_symlinks=False).st_mtime
            kind = leftover_kind(file.name, changed_at, began_at=session.started_at, now=now)
            if kind is not None:
                found[kind].add(file.path)
    if not walk.complete:  # what was found before and may still be there is not clean
        found[Leftover.STALE_LOCK].update(filter(_may_exist, known.stale_locks))
        found[Leftover.TEMP_FILE].update(filter(_may_exist, known.temp_files))
    return _Files(
        has_artifacts=True if some_file else walk.proves_absence,
        stale_locks=tuple(sorted(found[Leftover.STALE_LOCK])),
        temp_files=tuple(sorted(found[Leftover.TEMP_FILE])),
    )


def _may_exist(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


class _Walk:
    """Files under a folder, those near its top first. Links are not followed, so nothing outside of it is seen."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.complete = True  # so far, everything was seen

    @property
    def proves_absence(self) -> bool | None:
        """False when everything was seen, so that "no file" is a fact; else None."""
        return False if self.complete else None

    def files(self) -> Iterator[os.DirEntry[str]]:
        """Each file once, among the first LOOK_AT_MOST entries."""
        if not os.path.isabs(self._folder):  # it was relative to a folder that nobody recorded
            self.complete = False
            return
        folders, left = deque([self._folder]), LOOK_AT_MOST
        while folders and left > 0:
            # One more than may be looked at tells whether something stays unseen.
            entries = self._entries(folders.popleft(), left + 1)
            if len(entries) > left:
                self.complete = False
            for entry in entries[:left]:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry
            left -= min(left, len(entries))
        if folders:
            self.complete = False

    def _entries(self, folder: str, at_most: int) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return list(islice(entries, at_most))
        except FileNotFoundError:
            return []
        except OSError:
            self.complete = False
            return []
