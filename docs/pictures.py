"""Takes every picture in docs/images: a believable world, a real studio, a real browser, both themes.

`make pictures` runs it. All pictures are of one size and hold the same runs each time; their clocks show when they
were taken. A name as argument takes that one picture only.
"""

import base64
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from tests.browser.studio import Studio, Visit, launch
from tests.browser.world import World, build

from lionstudio import machine

FOLDER = Path(__file__).parent / "images"
THEMES = ("light", "dark")
SIZE = {"width": 1440, "height": 900}
SCALE = 1.5  # pixels of the picture for each pixel of the page: sharp on a good screen, and small enough for a clone
QUALITY = 82
HOME, HOST = "/home/ana", "ana-laptop"  # what pictures say instead of the names of the machine that took them
ANSWERS = re.compile(r"/api/(?!events|.*/stream)")  # all but those that never end


class Picture(NamedTuple):
    """What is on a picture: an address of the studio, and what somebody did there."""

    name: str
    address: str
    do: Callable[[Page], None] = lambda page: None
    empty: bool = False  # in a studio where nothing was recorded yet


def main(names: list[str]) -> int:
    wanted = [picture for picture in PICTURES if not names or picture.name in names]
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lionstudio-pictures-") as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        for empty in (False, True):
            home = Path(folder) / ("new" if empty else "used") / "ana"
            # The studio writes ~ for the home of whoever runs it; here that is ana, not the one who takes pictures.
            os.environ["HOME"] = str(home)
            with build(home, size=0 if empty else 60) as world, Studio(world.settings) as studio:
                for picture in wanted:
                    if picture.empty is empty:
                        _take(picture, browser, studio, world)
        browser.close()
    return 0


def _take(picture: Picture, browser: Browser, studio: Studio, world: World) -> None:
    for theme in THEMES:
        visit = Visit(
            browser, studio.url, color_scheme=theme, viewport=SIZE, device_scale_factor=SCALE, timezone_id="UTC"
        )
        visit.context.route(ANSWERS, lambda route: _answer_without_names(route, world))
        visit.page.goto(_with_ids(picture.address, world))
        _settle(visit.page)
        picture.do(visit.page)
        _settle(visit.page)
        file = FOLDER / f"{picture.name}-{theme}.webp"
        file.write_bytes(_photograph(visit.page))
        visit.close()
        print(f"{file.relative_to(FOLDER.parent.parent)}  {file.stat().st_size / 1000:.0f} kB")


def _with_ids(address: str, world: World) -> str:
    ids = {**world.runs, **world.teams}
    return re.sub(r"\{([^}]*)\}", lambda name: ids[name[1]], address)


def _answer_without_names(route: Route, world: World) -> None:
    answer = route.fetch()
    text = answer.text().replace(str(world.home), HOME).replace(machine.here().host or HOST, HOST)
    route.fulfill(status=answer.status, content_type=answer.headers["content-type"], body=text)


def _settle(page: Page) -> None:
    """Wait until everything that was asked for is drawn."""
    expect(page.locator("main")).to_be_visible()
    expect(page.get_by_text("Live", exact=True).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    page.evaluate("() => document.fonts.ready.then(() => 0)")
    page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => 0)))")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _photograph(page: Page) -> bytes:
    """As WebP, which Playwright itself does not write: a third of a PNG."""
    session = page.context.new_cdp_session(page)
    shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    return base64.b64decode(shot["data"])


def _open_transcript(page: Page) -> None:
    page.keyboard.press("3")
    log = page.get_by_role("log")
    expect(log.get_by_role("table")).to_be_visible()
    expect(log.locator("pre span").first).to_be_visible()  # the colours of code come last


def _ask_for_evidence(page: Page) -> None:
    page.keyboard.press("e")


def _open_a_play(page: Page) -> None:
    page.get_by_role("button", name="Open docs").click()
    expect(page.locator("strong", has_text="docs")).to_be_visible()  # its intent is drawn as markdown


def _ask_for_a_transition(page: Page) -> None:
    for name in ("Rewrite the importer", "Fan out the audit", "Index the archive"):
        page.get_by_role("checkbox", name=f"Select {name}", exact=True).click()
    page.get_by_role("group", name="Selected").get_by_role("button", name="Transition selected…").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("would be refused")


def _ask_the_palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("pa")
    expect(page.get_by_role("option").nth(3)).to_be_visible()


PICTURES = (
    Picture("dashboard", "/"),
    Picture("runs", "/runs"),
    Picture("run", "/runs/{Refactor the parser}"),
    Picture("transcript", "/runs/{Refactor the parser}", _open_transcript),
    Picture("evidence", "/runs/{Rewrite the importer}", _ask_for_evidence),
    Picture("show", "/shows/payments-split", _open_a_play),
    Picture("team", "/teams/{payments-crew}"),
    Picture("admin", "/admin"),
    Picture("transition", "/admin", _ask_for_a_transition),
    Picture("palette", "/", _ask_the_palette),
    Picture("empty", "/", empty=True),
)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
