"""Backups of the whole database, and putting one back while everyone goes on."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from lionstudio.domain.contents import Contents
from lionstudio.domain.errors import DatabaseDamaged, InvalidRequest, NotFound, Unavailable
from lionstudio.services.admin import add_event
from lionstudio.services.context import Context
from lionstudio.services.scratch import ScratchFolder
from lionstudio.services.whole_file import make_own_folder, whole_file
from lionstudio.store.contents import list_running, read_contents
from lionstudio.store.copies import continue_numbers, keep_identity, read_numbers, require_same
from lionstudio.store.maintenance import list_present
from lionstudio.store.open import open_database
from lionstudio.store.sqlite_copies import require_whole, stage, sum_file

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Callable

    from lionstudio.store.copies import Numbers

    OnRows = Callable[[int], None]  # told how many more rows, or pages, are done

IDS_IN_EVENT = 1_000
NEEDS_A_FOLDER = (
    "A restore keeps a copy and a backup of what is there now in that folder. Name a home where that is possible, and "
    "the database: LIONAGI_HOME=FOLDER li state restore --db DATABASE FILE"
)


class Backup(NamedTuple):
    """A copy of the database, in a file."""

    path: str
    size: int
    rows: dict[str, int]  # by table; empty if it was not verified
    verified: bool = True  # its pages, its references, and every row against the source


class RestorePlan(NamedTuple):
    """What a restore would do."""

    file: str
    size: int
    database: str  # whose contents are replaced
    now: Contents | None  # None if the database is too damaged to tell
    then: Contents
    forgotten: tuple[str, ...]  # runs that are running and not in the backup: what they say later is refused
    other_id: str | None  # of the database that was backed up, if it is another one than that whose contents go


class Restored(NamedTuple):
    """What a restore did."""

    plan: RestorePlan
    safety: Backup | None  # what was there before; None if nothing was
    rows: dict[str, int]  # by table
    event_id: str


def back_up(ctx: Context, path: str, on_rows: OnRows) -> Backup:
    """Copy the database while others write, and prove that the copy is whole and equal to that moment.

    Raises what `whole_file` raises; then nothing is left there.
    """
    path = os.path.abspath(os.path.expanduser(path))
    with whole_file(path) as draft:
        source = ctx.db.dialect.copies().write(draft, on_rows)
        require_whole(draft, named=f"The database {ctx.db.dialect.location}", hint="Look closer: li state verify")
        require_same(sum_file(draft, on_rows), source, what="The copy")
        size = os.path.getsize(draft)
    return Backup(path, size, {table: found.rows for table, found in sorted(source.items())})


def name_backup(ctx: Context, folder: str, stem: str = "state", suffix: str = ".db") -> str:
    """A path in our folder of backups that no file has yet, named by the time."""
    make_own_folder(folder, hint="Name a file in another folder: li state backup FILE")
    at = time.strftime("%Y%m%d-%H%M%S", time.gmtime(ctx.now()))
    for more in ("", *(f"-{number}" for number in range(2, 1000))):
        path = os.path.join(folder, f"{stem}-{at}{more}{suffix}")
        if not os.path.lexists(path):
            return path
    raise InvalidRequest(f"{folder} is full of backups of this second.", hint="Name a file.")


class StagedRestore:
    """A backup that was copied, proven to be whole and brought to today's schema, ready to be put in place."""

    def __init__(self, ctx: Context, file: str, folder: ScratchFolder, on_rows: OnRows) -> None:
        self._ctx = ctx
        self._folder = folder
        self._copy = os.path.join(folder.path, "staged.db")
        stage(file, self._copy, on_rows)
        db = open_database(self._copy, create=False, backups=folder.path)
        self._staged = Context(db, now=ctx.now, new_id=ctx.new_id)
        with db.read() as tx:
            then = read_contents(tx)
        now, forgotten = self._look()
        live, saved = ctx.db.dialect, db.dialect.database_id
        other_id = None if saved == live.database_id or (now is not None and now.is_empty) else saved
        size = os.path.getsize(file)
        self.plan = RestorePlan(os.path.abspath(file), size, live.location, now, then, forgotten, other_id)

    def __enter__(self) -> StagedRestore:
        return self

    def __exit__(self, *_: object) -> None:
        self._staged.db.close()
        self._folder.close()

    def restore(self, *, backups: str, actor: str, on_rows: OnRows) -> Restored:
        """Put the backup in the place of all there is, after a backup of that; whoever follows the news reloads."""
        before = _find_numbers(self._ctx)
        safety = self._save(backups, on_rows)
        events: list[str] = []

        def settle(given: Numbers) -> None:
            nonlocal safety
            if given != before:  # someone wrote since then, and was told that it is stored; now nobody can
                safety = self._save(backups, on_rows, instead_of=safety)
            events.append(self._settle(given, safety, actor))

        found = self._ctx.db.dialect.copies().take(self._copy, settle, on_rows)
        rows = {table: sum.rows for table, sum in sorted(found.items())}
        return Restored(self.plan, safety, rows, events[-1])

    def _look(self) -> tuple[Contents | None, tuple[str, ...]]:
        """What the database holds now, and the runs in it that the backup does not know."""
        now, running = _look_at(self._ctx)
        with self._staged.db.read() as tx:
            kept = list_present(tx, running)
        return now, tuple(session_id for session_id in running if session_id not in kept)

    def _save(self, backups: str, on_rows: OnRows, *, instead_of: Backup | None = None) -> Backup | None:
        """Back up what is there now, unless nothing is; the plan was made when other things may have been there."""
        now, forgotten = self._look()
        self.plan = self.plan._replace(now=now, forgotten=forgotten)
        if instead_of is not None:
            os.unlink(instead_of.path)  # first, so that there is room
        return None if now is not None and now.is_empty else _save_what_is_there(self._ctx, backups, on_rows)

    def _settle(self, given: Numbers, safety: Backup | None, actor: str) -> str:
        """Write into the copy what must be there from its first moment on."""
        details = {
            "file": self.plan.file,
            "safety_backup": None if safety is None else safety.path,
            "sessions_before": None if self.plan.now is None else self.plan.now.sessions,
            "sessions_after": self.plan.then.sessions,
            "running_sessions_forgotten": list(self.plan.forgotten[:IDS_IN_EVENT]),
        }
        ctx = self._staged
        with ctx.db.write() as tx:
            continue_numbers(tx, given, at=ctx.now(), new_id=ctx.new_id)
            keep_identity(tx, self._ctx.db.dialect.database_id)
            event = add_event(ctx, tx, "restore", details=details, actor=actor)
        ctx.db.close()
        return event.id


def stage_restore(ctx: Context, file: str, *, backups: str, on_rows: OnRows) -> StagedRestore:
    """Look at a backup and plan what restoring it would do. The backup itself is only read.

    Raises NotFound, ForeignDatabase, DatabaseDamaged or NewerDatabase for a file that cannot be restored.
    """
    if not os.path.isfile(file):
        raise NotFound(f"There is no file {file}.", hint=f"Backups are in {backups}; li state backup makes one.")
    if os.path.exists(ctx.db.dialect.location) and os.path.samefile(file, ctx.db.dialect.location):
        raise InvalidRequest("A database cannot be restored from itself.", hint="Name a backup of it.")
    make_own_folder(backups, hint=NEEDS_A_FOLDER)
    try:
        folder = ScratchFolder(backups)
    except OSError as error:
        raise Unavailable(f"Nothing can be written to {backups} ({error.strerror}).", hint=NEEDS_A_FOLDER) from error
    try:
        return StagedRestore(ctx, file, folder, on_rows)
    except BaseException:
        folder.close()
        raise


def _look_at(ctx: Context) -> tuple[Contents | None, list[str]]:
    """What the database holds, and which runs are running, as far as it can still tell."""
    try:
        with ctx.db.read() as tx:
            return read_contents(tx), list_running(tx)
    except DatabaseDamaged:
        return None, []


def _find_numbers(ctx: Context) -> Numbers | None:
    try:
        with ctx.db.read() as tx:
            return read_numbers(tx.connection, tx.dialect)
    except DatabaseDamaged:
        return None


def _save_what_is_there(ctx: Context, backups: str, on_rows: OnRows) -> Backup:
    path = name_backup(ctx, backups, "state-before-restore")
    try:
        return back_up(ctx, path, on_rows)
    except DatabaseDamaged:
        # That may be why somebody restores. What can still be read from it is worth keeping as it is.
        with whole_file(path) as draft:
            ctx.db.dialect.copies().salvage(draft, on_rows)
            return Backup(path, os.path.getsize(draft), {}, verified=False)
