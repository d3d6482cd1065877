"""Archive of legacy runs: all of them in a file that was read back, then deleted (D7, R188)."""

from typing import NamedTuple

from lionstudio.domain.errors import InvalidRequest
from lionstudio.services.archive import name_backup
from lionstudio.services.context import Context
from lionstudio.services.prune import KeptSession, plan_prune, prune
from lionstudio.services.prune_archive import archive_plan
from lionstudio.store.maintenance import Removed


class ArchivedLegacy(NamedTuple):
    """The legacy runs that are in a file now and no longer in the database, or would be."""

    removed: Removed
    kept: tuple[KeptSession, ...]  # they stay, and why
    path: str | None = None  # of a dry run, or where there were none, none
    event_id: str | None = None


def archive_legacy(ctx: Context, folder: str, *, actor: str, dry_run: bool = False) -> ArchivedLegacy:
    """Write every legacy run that may go into a new file in our folder of backups, verify it, and delete them.

    What is written to meanwhile stays. Raises Unavailable when the file cannot be written; then nothing is deleted.
    """
    if not actor.strip():
        raise InvalidRequest("Who archives must be known.")
    plan = plan_prune(ctx, keep_days=0, keep_n=0, only_legacy=True)
    if dry_run or not plan.session_ids:
        return ArchivedLegacy(plan.removed, plan.kept)
    archive = archive_plan(ctx, plan, name_backup(ctx, folder, "legacy", ".jsonl"))
    done = prune(ctx, plan, actor=actor, archive=archive)
    return ArchivedLegacy(done.removed, done.kept, archive.path, done.event_id)
