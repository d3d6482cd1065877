"""The console of operators, as its tests talk about it."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from lionstudio.services import admin, sessions
from lionstudio.services.context import Context
from tests.browser.telling import RunStory, Teller
from tests.browser.world import World
from tests.factories import Clock

QUEUE = {  # of the world: each run that needs somebody, with its health and what is offered beside a look
    "Fan out the audit": ("stale", "Transition…"),
    "Rewrite the importer": ("stale", "Transition…"),
    "Silent on another host": ("stale", "Transition…"),
    "Never said a word": ("orphaned", "Repair…"),
    "Index the archive": ("unresponsive", "Logs"),
    "Leave files behind": ("zombie", "Clean up…"),
}


def open_console(page: Page) -> None:
    page.goto("/admin")
    # What is there when everything was asked for, the first look at the disk too.
    expect(page.get_by_role("group", name="System")).to_be_visible()
    expect(page.get_by_text("in all")).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def panel(page: Page, title: str) -> Locator:
    return page.locator("section", has=page.get_by_role("heading", name=title, exact=True))


def queue_row(page: Page, name: str) -> Locator:
    return page.get_by_role("table", name="Intervention queue").locator("tbody tr", has_text=name)


def queue_names(page: Page) -> list[str]:
    cells = page.get_by_role("table", name="Intervention queue").locator("tbody tr td:nth-child(3) a")
    return cells.all_inner_texts()


def select(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Select {name}", exact=True).click()


def bulk(page: Page) -> Locator:
    return page.get_by_role("group", name="Selected")


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def toast(page: Page, text: str) -> Locator:
    return page.get_by_role("dialog").filter(has_text=text).or_(page.get_by_text(text)).first


def health(page: Page) -> Any:
    answer = page.request.get("/api/admin/health?limit=500")
    assert answer.ok, answer.text()
    return answer.json()


def status_of(ctx: Context, session_id: str) -> str | None:
    return sessions.get_session(ctx, session_id).status


def events(ctx: Context, action: str, target_id: str | None = None) -> list[Any]:
    return admin.list_events(ctx, action=action, target_id=target_id)


def tell_run(world: World, ctx: Context, name: str, *, ago: float, **facts: Any) -> RunStory:
    """A run that began a while ago, told by somebody else."""
    clock = Clock(world.now)
    return Teller(Context(ctx.db, now=clock), clock).run(name, at=world.now - ago, **facts)
