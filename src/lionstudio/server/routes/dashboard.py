"""The dashboard: every number in one answer, and the lists behind them that no other page has."""

from fastapi import APIRouter

from lionstudio.domain.attention import Signal
from lionstudio.server.answers import Route
from lionstudio.server.dependencies import Ctx, PageCursor, PageLimit, StudioDep
from lionstudio.server.schemas.dashboard import AttentionOut, ExecutionOut, RefusedPlay, StatsOut, SystemStrip
from lionstudio.server.schemas.doctor import DoctorOut
from lionstudio.server.schemas.page import Page
from lionstudio.server.studio import Studio
from lionstudio.services import attention, dashboard
from lionstudio.services.maintenance import read_figures
from lionstudio.version import __version__

router = APIRouter(route_class=Route, tags=["dashboard"])


@router.get("/stats")
def get_stats(studio: StudioDep) -> StatsOut:
    """Every number of the dashboard, all of the same moment. Each is the length of a list."""
    stats = dashboard.get_stats(studio.ctx)
    return StatsOut.of(stats, _system(studio, legacy=stats.legacy))


def _system(studio: Studio, *, legacy: int) -> SystemStrip:
    own = read_figures(studio.ctx)
    return SystemStrip(
        version=__version__,
        started_at=studio.started_at,
        engine=own.engine,
        db_size_bytes=own.size,
        wal_bytes=own.log_size,
        connections=own.connections,
        sse_streams=studio.live.count,
        feed_problem=studio.live.problem,
        legacy=legacy,
        doctor=DoctorOut.of(studio.doctor.report()),
    )


@router.get("/attention")
def list_attention(
    ctx: Ctx, signal: Signal | None = None, cursor: PageCursor = None, limit: PageLimit = 100
) -> Page[AttentionOut]:
    """What needs a look, each thing once: first what is stuck or waits for a person, then what failed, newest first."""
    page = attention.list_attention(ctx, signal=signal, cursor=cursor, limit=limit)
    return Page(items=[AttentionOut.of(row) for row in page.items], next_cursor=page.next_cursor)


@router.get("/executions")
def list_executions(ctx: Ctx, cursor: PageCursor = None, limit: PageLimit = 100) -> Page[ExecutionOut]:
    """What is at work: shows, and runs outside of shows, the oldest first."""
    page = dashboard.list_executions(ctx, cursor=cursor, limit=limit)
    return Page(items=[ExecutionOut.of(row) for row in page.items], next_cursor=page.next_cursor)


@router.get("/request-changes")
def list_request_changes(ctx: Ctx, cursor: PageCursor = None, limit: PageLimit = 100) -> Page[RefusedPlay]:
    """Plays whose gate asked for changes in the last 24 hours, newest first."""
    page = dashboard.list_request_changes(ctx, cursor=cursor, limit=limit)
    return Page(items=[RefusedPlay.of(topic, play) for topic, play in page.items], next_cursor=page.next_cursor)
