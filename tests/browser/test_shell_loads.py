"""Every page of the studio opens, whichever address one comes in by, from this machine alone and without much weight.

That nothing is wrong on the console, that the policy is kept and that no other host is asked is what `page` looks at.
"""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.studio import Studio
from tests.browser.world import SHOW, TEAM, World

ROUTE_TREE = Path(__file__).parents[2] / "web/src/routeTree.gen.ts"
PARAMETERS = {"$runId": "{Refactor the parser}", "$topic": SHOW, "$team": f"{{{TEAM}}}"}
SCRIPT_LIMIT = 300_000  # bytes of packed script before anything can be done
FOR_EVER = "public, max-age=31536000, immutable"


def _routes() -> list[str]:
    """Every address that the router knows."""
    (union,) = re.findall(r"fullPaths:((?:\s*\| '[^']*')+)", ROUTE_TREE.read_text())
    return [path.rstrip("/") or "/" for path in re.findall(r"'([^']*)'", union)]


def _filled(route: str, world: World) -> str:
    ids = {**world.runs, **world.teams}
    filled = "/".join(PARAMETERS.get(part, part) for part in route.split("/"))
    assert "$" not in filled, f"say in PARAMETERS what {route} is tried with"
    return re.sub(r"\{(.*?)\}", lambda name: ids[name[1]], filled)


def expect_loaded(page: Page) -> None:
    """The page has said what it is, and waits for nothing."""
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    expect(page.get_by_role("main").get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    expect(page.get_by_role("main").get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("route", _routes())
def test_a_link_to_any_page_opens_it(page: Page, world: World, route: str) -> None:
    page.goto(_filled(route, world))
    expect_loaded(page)
    expect(page).to_have_title(re.compile(r"Lion Studio$"))


PLACES = """() => [...document.querySelectorAll('main, main > *, main section, main tr')].map((one) => {
  const { top, height } = one.getBoundingClientRect()
  return `${one.tagName} ${top} ${height}`
})"""


@pytest.mark.parametrize("route", _routes())
def test_nothing_moves_when_the_fonts_come(page: Page, world: World, route: str) -> None:
    page.route("**/*.woff2", lambda font: None)  # asked for, and on its way
    page.goto(_filled(route, world), wait_until="commit")  # text that is drawn early makes a page wait for its font
    expect_loaded(page)
    page.wait_for_function("() => document.fonts.status === 'loading'")
    before = page.evaluate(PLACES)
    page.unroute("**/*.woff2")  # which lets them come
    page.wait_for_function("() => document.fonts.status === 'loaded'")
    assert page.evaluate(PLACES) == before


class TestTheme:
    @pytest.fixture(params=["light", "dark"])
    def look(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        return {"color_scheme": request.param}

    def test_a_page_comes_in_the_colours_that_the_system_has(self, page: Page, look: dict[str, Any]) -> None:
        page.goto("/")
        expect(page.locator("html")).to_have_attribute("data-theme", look["color_scheme"])
        expect_loaded(page)


def test_every_page_can_be_loaded_again_where_it_is(page: Page, world: World) -> None:
    page.goto("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
    expect(page).to_have_url(re.compile(r"/runs/?$"))
    expect_loaded(page)
    page.reload()
    expect(page).to_have_url(re.compile(r"/runs/?$"))
    expect_loaded(page)


@pytest.fixture
def answers(page: Page) -> Iterator[list[Response]]:
    """What the server answers while the test looks at pages."""
    heard: list[Response] = []
    page.on("response", lambda answer: heard.append(answer))
    yield heard


def test_the_first_load_is_light(page: Page, answers: list[Response]) -> None:
    page.goto("/")
    expect_loaded(page)
    page.evaluate("() => new Promise((done) => requestIdleCallback(done))")  # what comes late counts too
    scripts = {answer.url: answer for answer in answers if answer.request.resource_type == "script"}
    sizes = {url: len(gzip.compress(answer.body(), 9)) for url, answer in scripts.items()}
    assert sizes
    assert sum(sizes.values()) <= SCRIPT_LIMIT, sizes


def test_files_come_packed_and_are_kept_for_ever(page: Page, answers: list[Response]) -> None:
    page.goto("/")
    expect_loaded(page)
    assets = [answer for answer in answers if "/assets/" in answer.url]
    assert {answer.request.resource_type for answer in assets} >= {"script", "stylesheet", "font"}
    assert {answer.headers["cache-control"] for answer in assets} == {FOR_EVER}
    packed = [answer for answer in assets if answer.request.resource_type in {"script", "stylesheet"}]
    assert {answer.headers["content-encoding"] for answer in packed} == {"gzip"}


def test_a_second_visit_asks_for_no_file_again(page: Page, answers: list[Response]) -> None:
    page.goto("/")
    expect_loaded(page)
    answers.clear()
    page.goto("/runs")
    expect_loaded(page)
    again = [answer for answer in answers if "/assets/index-" in answer.url]
    assert again
    timings = page.evaluate(
        "() => performance.getEntriesByType('resource').filter((one) => one.name.includes('/assets/index-'))"
        ".map((one) => one.transferSize)"
    )
    assert set(timings) == {0}  # from the cache of the browser


def test_every_packed_file_is_the_one_beside_it(studio: Studio, world: World) -> None:
    packed = list(Path(world.settings.web_folder).rglob("*.gz"))
    assert packed
    for path in packed:
        assert gzip.decompress(path.read_bytes()) == path.with_suffix("").read_bytes()


def test_an_address_that_is_no_page_says_so_inside_the_studio(page: Page, studio: Studio) -> None:
    assert httpx2.get(f"{studio.url}/no/such/page").status_code == 200
    page.goto("/no/such/page")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("There is no page at this address.")
    expect(page.get_by_role("main")).to_contain_text("/no/such/page")
    expect(page).to_have_title(re.compile("^Not found"))
