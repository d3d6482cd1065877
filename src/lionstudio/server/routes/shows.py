"""Shows and plays: list them, look at one with its files, ask about their structure, and judge a play."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from lionstudio.domain.errors import PlayNotFound, ShowNotFound
from lionstudio.domain.show import PlayStatus
from lionstudio.server.answers import Route
from lionstudio.server.dependencies import Actor, Ctx, PageCursor, PageLimit, SettingsDep
from lionstudio.server.schemas.page import Page
from lionstudio.server.schemas.plays import DiskPlayFull, GateIn, GateOut, PlayFull, PlayRow
from lionstudio.server.schemas.shows import DiskShow, ShowFull, ShowRow
from lionstudio.services import gating, show_list, show_pages

router = APIRouter(route_class=Route, tags=["shows"])

# Stored names may hold anything, a slash too; as paths they are never trusted.
Topic = Annotated[str, Path(max_length=1_000)]
Name = Annotated[str, Path(max_length=1_000)]


@router.get("/shows")
def list_shows(
    ctx: Ctx,
    settings: SettingsDep,
    status: Annotated[
        str | None, Query(max_length=100, json_schema_extra={"enum": list(map(str, show_list.LISTED_STATUSES))})
    ] = None,
    on_disk: Annotated[bool, Query(description="also those that are only on disk, with the status unknown")] = True,
    cursor: PageCursor = None,
    limit: PageLimit = 100,
) -> Page[ShowRow]:
    """Shows, newest first, then those that nobody brought in."""
    root = settings.shows_folder if on_disk else None
    page = show_list.page_shows(ctx, root, status=status, cursor=cursor, limit=limit)
    return Page(items=[ShowRow.of(found) for found in page.items], next_cursor=page.next_cursor)


@router.get("/plays")
def list_plays(
    ctx: Ctx,
    status: Annotated[list[PlayStatus] | None, Query(description="any of these; may be given several times")] = None,
    cursor: PageCursor = None,
    limit: PageLimit = 100,
) -> Page[PlayRow]:
    """Plays of every show, newest first: what is blocked, escalated, waits for a gate."""
    page = show_list.page_plays(ctx, status or (), cursor=cursor, limit=limit)
    return Page(items=[PlayRow.of(summary) for summary in page.items], next_cursor=page.next_cursor)


@router.post("/shows/{topic:path}/plays/{name:path}/gate")
def judge_play(ctx: Ctx, settings: SettingsDep, actor: Actor, topic: Topic, name: Name, body: GateIn) -> GateOut:
    """Accept or refuse a play: in its files first, then in the database. Only moves that its lifecycle allows."""
    judged = gating.judge_play(
        ctx, settings.shows_folder, topic, name, body.judgement(), actor=actor, dry_run=body.dry_run
    )
    return GateOut.of(topic, judged)


@router.get("/shows/{topic:path}/plays/{name:path}")
def get_play(ctx: Ctx, settings: SettingsDep, topic: Topic, name: Name) -> PlayFull | DiskPlayFull:
    """One play in full, with its files and its run."""
    root = settings.shows_folder
    try:
        detail = show_list.get_play_detail(ctx, topic, name)
    except ShowNotFound:
        found = show_pages.find_on_disk(root, topic)
        if found is None:
            raise
        play = next((play for play in found.plays if play.name == name), None)
        if play is None:
            raise PlayNotFound(
                f"The show {topic!r} has no play {name!r}.", hint="It is only on disk: li state import-shows"
            ) from None
        return DiskPlayFull.full(topic, play, show_pages.read_play(root, found.path, name))
    return PlayFull.full(detail, show_pages.read_play(root, detail.show.show_dir, name))


@router.get("/shows/{topic:path}")
def get_show(ctx: Ctx, settings: SettingsDep, topic: Topic) -> ShowFull | DiskShow:
    """One show in full, with its plays and its plan."""
    root = settings.shows_folder
    try:
        detail = show_list.get_show_detail(ctx, topic)
    except ShowNotFound:
        found = show_pages.find_on_disk(root, topic)
        if found is None:
            raise
        return DiskShow.of(found)
    names = [summary.play.name for summary in detail.plays]
    return ShowFull.full(detail, show_pages.read_show(root, detail.summary.show.show_dir, names))
