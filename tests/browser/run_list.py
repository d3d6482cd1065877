"""What tests of the list of runs ask of its page, and runs to fill it with."""

from typing import Any

from playwright.sync_api import Locator, Page, expect

from lionstudio.domain.session import Session, SessionStatus
from lionstudio.services.context import Context
from lionstudio.store import progressions
from lionstudio.store import sessions as session_rows

WATCH_SHIFTS = """() => {
  window.shifts = []
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      for (const { node, previousRect: before, currentRect: after } of entry.sources) {
        if (!node?.parentElement?.closest('main')) continue
        // A number that is written to the right begins elsewhere when it has other digits, and yet stays in its place.
        if (before.top === after.top && before.right === after.right) continue
        window.shifts.push(node.parentElement.outerHTML.slice(0, 200))
      }
  }).observe({ type: 'layout-shift', buffered: false })
}"""


def open_runs(page: Page, filters: str = "") -> None:
    page.goto(f"/runs{filters}")
    expect(page.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def table(page: Page) -> Locator:
    return page.get_by_role("table", name="Runs")


def rows(page: Page) -> Locator:
    return page.locator("[data-run]")


def row(page: Page, name: str) -> Locator:
    return rows(page).filter(has=page.get_by_role("link", name=name, exact=True))


def names(page: Page) -> list[str]:
    return page.locator("[data-run] a").all_text_contents()


def cursor(page: Page) -> Locator:
    return page.locator("[data-cursor]")


def tabs(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Lists of runs").get_by_role("link")


def fill(ctx: Context, count: int, **facts: Any) -> None:
    """Ended runs, one a minute, the last one newest."""
    now = ctx.now()
    with ctx.db.write() as tx:
        for number in range(count):
            at = now - (count - number) * 60
            session = Session(
                id=f"bulk-{number:06}",
                created_at=at,
                updated_at=at,
                progression_id=f"bulk-order-{number:06}",
                name=f"Bulk {number:06}",
                status=SessionStatus.COMPLETED,
                started_at=at,
                ended_at=at + 30,
                **facts,
            )
            progressions.add_head(tx, session.progression_id, created_at=at)
            session_rows.insert(tx, session)
