"""The studio as a person sees it: a real Chromium, a real server and a real database.

`page` is in a studio full of runs that all tests share: look, do not change. `own_page` is in one of its own, with the
same world in it, and `empty_page` in one where nothing was recorded yet. Each of them fails the test for every error
on the console, every uncaught error, every violation of the content security policy and every request to another host;
a test that provokes one names it in `expected_problems`.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.studio import Studio, Visit, launch
from tests.browser.world import World, build

expect.set_options(timeout=15_000)  # the machine may be busy; nobody waits longer than it takes


# Not for the whole session: Playwright keeps an event loop running in this thread, and no test that comes later could
# run one of its own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()
    Studio.wait_for_leaving()  # tests that come later count the threads and descriptors of this process


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """What the shared studio shows. Nobody may change it."""
    with build(tmp_path_factory.mktemp("world")) as world:
        yield world


@pytest.fixture(scope="session")
def studio(world: World) -> Iterator[Studio]:
    _require_pages(world)
    with Studio(world.settings) as studio:
        yield studio


@pytest.fixture
def own_world(tmp_path: Path) -> Iterator[World]:
    """A world that the test may change; `own_world.open()` writes to it as another process would."""
    with build(tmp_path / "own") as world:
        yield world


@pytest.fixture
def own_studio(own_world: World) -> Iterator[Studio]:
    """A studio that the test may change, stop and start again."""
    _require_pages(own_world)
    with Studio(own_world.settings) as studio:
        yield studio


@pytest.fixture
def empty_world(tmp_path: Path) -> Iterator[World]:
    with build(tmp_path / "empty", size=0) as world:
        yield world


@pytest.fixture
def empty_studio(empty_world: World) -> Iterator[Studio]:
    """A studio in which nothing was recorded yet."""
    with Studio(empty_world.settings) as studio:
        yield studio


@pytest.fixture
def expected_problems() -> list[str]:
    """Patterns of problems that the test provokes. An answer that is no success is an error on the console too."""
    return []


@pytest.fixture
def look() -> dict[str, Any]:
    """How the browser is set up, beside the default; a test overrides it: `color_scheme`, `viewport` …"""
    return {}


@pytest.fixture
def page(browser: Browser, studio: Studio, look: dict[str, Any], expected_problems: list[str]) -> Iterator[Page]:
    yield from _visit(browser, studio, look, expected_problems)


@pytest.fixture
def own_page(
    browser: Browser, own_studio: Studio, look: dict[str, Any], expected_problems: list[str]
) -> Iterator[Page]:
    yield from _visit(browser, own_studio, look, expected_problems)


@pytest.fixture
def empty_page(
    browser: Browser, empty_studio: Studio, look: dict[str, Any], expected_problems: list[str]
) -> Iterator[Page]:
    yield from _visit(browser, empty_studio, look, expected_problems)


def _visit(browser: Browser, studio: Studio, look: dict[str, Any], expected: list[str]) -> Iterator[Page]:
    visit = Visit(browser, studio.url, **look)
    yield visit.page
    visit.close()
    problems = [problem for problem in visit.problems if not any(re.search(pattern, problem) for pattern in expected)]
    assert problems == []


def _require_pages(world: World) -> None:
    folder = Path(world.settings.web_folder)
    assert (folder / "index.html").is_file(), f"There are no pages in {folder}. Build them: make web"
