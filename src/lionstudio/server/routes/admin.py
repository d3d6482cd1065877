"""How everything is: the health report, the machine's resources, the audit log, and a round of the doctor on demand."""

from typing import Annotated

from fastapi import APIRouter, Query

from lionstudio.doctor.scan import scan
from lionstudio.server.answers import Route, SlowRoute
from lionstudio.server.dependencies import Actor, Ctx, Moment, PageCursor, PageLimit, StudioDep
from lionstudio.server.schemas.admin import EventOut, HealthOut, ResourcesOut
from lionstudio.server.schemas.doctor import ScanIn, ScanOut
from lionstudio.server.schemas.page import Page
from lionstudio.server.studio import Studio
from lionstudio.services.event_list import EventFilter, page_events
from lionstudio.services.health_report import read_health
from lionstudio.services.interventions import Intervention, transition_stale

router = APIRouter(route_class=Route, prefix="/admin", tags=["admin"])

RESOURCES_WITHIN = 0.5  # seconds; a look that takes longer goes on in the background
Word = Annotated[str | None, Query(max_length=200)]


@router.get("/health")
def get_health(studio: StudioDep, cursor: PageCursor = None, limit: PageLimit = 100) -> HealthOut:
    """How every run is doing, looked at now, and how the database, the machine and the doctor are.

    `cursor` and `limit` are for the list of the unhealthy; the counts are always of all runs.
    """
    report = read_health(studio.ctx, cursor=cursor, limit=limit)
    return HealthOut.of(report, _read_resources(studio), studio.doctor.report(), studio.bringing_back)


@router.get("/resources")
def get_resources(studio: StudioDep) -> ResourcesOut:
    """Worktrees and room on the disk, as they were within the last minute or so."""
    return _read_resources(studio)


def _read_resources(studio: Studio) -> ResourcesOut:
    return ResourcesOut.of(studio.resources.read_soon(RESOURCES_WITHIN), studio.resources.problem)


@router.get("/events")
def list_admin_events(
    ctx: Ctx,
    action: Word = None,
    target_id: Word = None,
    actor: Word = None,
    since: Moment = None,
    before: Moment = None,
    cursor: PageCursor = None,
    limit: PageLimit = 100,
) -> Page[EventOut]:
    """What operators and the doctor did, newest first: of 30 days, and the newest 1,000 in any case."""
    wanted = EventFilter(action, target_id, actor, since, before)
    page = page_events(ctx, wanted, cursor=cursor, limit=limit)
    return Page(items=[EventOut.of(event) for event in page.items], next_cursor=page.next_cursor)


def run_doctor(studio: StudioDep, who: Actor, body: ScanIn | None = None) -> ScanOut:
    """Look at every run that runs, now. With `transition_stale`, fail those that are stale and surely dead."""
    order = body or ScanIn()
    found = scan(studio.ctx, keep=False) if order.dry_run else studio.doctor.scan_now(requested_by=who)
    ended: list[Intervention] = []
    if order.transition_stale:
        dead = [one.session.id for one in found.confirmed_dead]
        ended = transition_stale(studio.ctx, actor=who, only=dead, dry_run=order.dry_run)
    return ScanOut.of(found, ended, dry_run=order.dry_run)


router.add_api_route("/doctor", run_doctor, methods=["POST"], route_class_override=SlowRoute)
