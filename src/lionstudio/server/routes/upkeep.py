"""Looking after the database: its log and its room, exports of it, and the runs that have no status."""

from typing import Any

from fastapi import APIRouter

from lionstudio.domain.session_list import SessionFilter, View
from lionstudio.server.answers import SlowRoute
from lionstudio.server.dependencies import Actor, Ctx, SettingsDep
from lionstudio.server.downloads import Download
from lionstudio.server.schemas.runs import SessionRow
from lionstudio.server.schemas.upkeep import (
    ArchivedOut,
    BackfilledOut,
    CheckpointIn,
    CheckpointMode,
    CheckpointOut,
    ExportFormat,
    ExportIn,
    LegacyIn,
    LegacyOut,
    VacuumIn,
    VacuumOut,
)
from lionstudio.services import export_stream, legacy, maintenance
from lionstudio.services.legacy_archive import archive_legacy as archive
from lionstudio.services.runs import summarise
from lionstudio.services.session_list import list_sessions

router = APIRouter(route_class=SlowRoute, prefix="/admin", tags=["admin"])

LEGACY_SHOWN = 20


def _file(*kinds: str) -> dict[int | str, dict[str, Any]]:
    content = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in kinds}
    return {200: {"description": "A file to be kept; it is sent while it is read.", "content": content}}


LINES_FILE = _file(export_stream.LINES)
ANY_FILE = _file(export_stream.LINES, export_stream.DATABASE)


@router.post("/checkpoint")
def checkpoint(
    ctx: Ctx, who: Actor, mode: CheckpointMode = "TRUNCATE", body: CheckpointIn | None = None
) -> CheckpointOut:
    """Move SQLite's log into the file. A PostgreSQL server does that itself, and this says so."""
    mode = (body or CheckpointIn()).mode or mode
    done = maintenance.checkpoint(ctx, mode, actor=who)
    return CheckpointOut(
        mode=mode.upper(),
        busy=done.busy,
        pages_moved=done.pages_moved,
        pages_left=done.pages_left,
        wal_bytes_before=done.log_size_before,
        wal_bytes_after=done.log_size_after,
    )


@router.post("/vacuum")
def vacuum(ctx: Ctx, who: Actor, body: VacuumIn | None = None) -> VacuumOut:
    """Give back the room of deleted rows. On SQLite other writers wait meanwhile."""
    done = maintenance.vacuum(ctx, actor=who)
    return VacuumOut.of(done, gives_room_back=maintenance.vacuum_gives_room_back(ctx))


@router.get("/export", status_code=200, response_class=Download, responses=ANY_FILE)
def export_everything(
    ctx: Ctx, settings: SettingsDep, who: Actor, format: ExportFormat = ExportFormat.JSONL
) -> Download:
    """Everything: as JSON lines, or as a verified copy of the database of one moment."""
    if format is ExportFormat.SQLITE:
        return Download(export_stream.export_snapshot(ctx, str(settings.backups), actor=who))
    return Download(export_stream.export_everything(ctx, actor=who))


@router.post("/export", status_code=200, response_class=Download, responses=ANY_FILE)
def export_sessions(ctx: Ctx, settings: SettingsDep, who: Actor, body: ExportIn) -> Download:
    """Some runs, with all that was said in them. A database file also holds the runs they were forked from."""
    if body.format is ExportFormat.SQLITE:
        folder = str(settings.backups)
        return Download(export_stream.export_sessions_file(ctx, body.session_ids, folder, actor=who))
    return Download(export_stream.export_sessions(ctx, body.session_ids, actor=who))


@router.get("/legacy")
def get_legacy(ctx: Ctx) -> LegacyOut:
    """Runs from before there were statuses. They are in no other number, until an operator decides about them."""
    page = list_sessions(ctx, SessionFilter(view=View.LEGACY), limit=LEGACY_SHOWN)
    return LegacyOut(
        total=legacy.count_legacy(ctx), sample=[SessionRow.of(summary) for summary in summarise(ctx, page.items)]
    )


@router.post("/legacy/backfill")
def backfill_legacy(ctx: Ctx, who: Actor, body: LegacyIn) -> BackfilledOut:
    """Give every one of them the status completed. Without a body nothing is done: who means all of them says `{}`."""
    sessions = legacy.backfill_legacy(ctx, actor=who, dry_run=body.dry_run)
    return BackfilledOut(dry_run=body.dry_run, sessions=sessions)


@router.post("/legacy/archive")
def archive_legacy(ctx: Ctx, settings: SettingsDep, who: Actor, body: LegacyIn) -> ArchivedOut:
    """Write them into a file in the folder of backups, read it back, and then delete them; with a body, as above."""
    archived = archive(ctx, str(settings.backups), actor=who, dry_run=body.dry_run)
    return ArchivedOut.of(archived, dry_run=body.dry_run)


@router.get("/legacy/export", status_code=200, response_class=Download, responses=LINES_FILE)
def export_legacy(ctx: Ctx, who: Actor) -> Download:
    """All of them as JSON lines; they stay."""
    return Download(export_stream.export_legacy(ctx, actor=who))
