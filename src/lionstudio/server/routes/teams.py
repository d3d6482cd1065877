"""Teams: list them, look at one, and read what was written there, also beside a run."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from lionstudio.domain.team import TeamStatus
from lionstudio.domain.team_list import MessageFilter
from lionstudio.server.answers import Route
from lionstudio.server.dependencies import Ctx, PageCursor, PageLimit
from lionstudio.server.schemas.page import Page
from lionstudio.server.schemas.teams import Order, TeamFull, TeamMessageOut, TeamRow
from lionstudio.services import team_pages
from lionstudio.services.team_pages import TeamMessagePage

router = APIRouter(route_class=Route, tags=["teams"])

TeamName = Annotated[str, Path(max_length=1_000, description="an id or a name")]
Someone = Annotated[str | None, Query(max_length=1_000)]
Full = Annotated[bool, Query(description="false: no content where a summary stands for it")]


@router.get("/teams")
def list_teams(
    ctx: Ctx, status: TeamStatus | None = None, cursor: PageCursor = None, limit: PageLimit = 100
) -> Page[TeamRow]:
    """Teams, newest first."""
    page = team_pages.page_teams(ctx, status=status, cursor=cursor, limit=limit)
    return Page(items=[TeamRow.of(listed) for listed in page.items], next_cursor=page.next_cursor)


@router.get("/teams/{team:path}/messages")
def list_team_messages(
    ctx: Ctx,
    team: TeamName,
    member: Annotated[
        str | None, Query(max_length=1_000, description="what is there for them: to them, or to all by someone else")
    ] = None,
    unread: Annotated[bool, Query(description="only what that member has not read")] = False,
    sender: Someone = None,
    recipient: Someone = None,
    order: Order = Order.NEWEST,
    full: Full = True,
    cursor: PageCursor = None,
    limit: PageLimit = 100,
) -> Page[TeamMessageOut]:
    """What was written in a team. A page may end before its limit when the messages are very long."""
    wanted = MessageFilter(member=member, is_unread=unread, sender=sender, recipient=recipient)
    page = team_pages.page_messages(ctx, team, wanted, newest_first=order is Order.NEWEST, cursor=cursor, limit=limit)
    return written(page, full=full)


@router.get("/teams/{team:path}/messages/{message_id}")
def get_team_message(ctx: Ctx, team: TeamName, message_id: Annotated[str, Path(max_length=1_000)]) -> TeamMessageOut:
    """One message in full."""
    page = team_pages.get_message(ctx, team, message_id)
    return TeamMessageOut.of(page.items[0], page)


@router.get("/teams/{team:path}")
def get_team(ctx: Ctx, team: TeamName) -> TeamFull:
    """One team in full, with its members and the runs that coordinated through it."""
    return TeamFull.full(team_pages.get_team_detail(ctx, team))


def written(page: TeamMessagePage, *, full: bool) -> Page[TeamMessageOut]:
    items = [TeamMessageOut.of(message, page, full=full) for message in page.items]
    return Page(items=items, next_cursor=page.next_cursor)
