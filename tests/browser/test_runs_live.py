"""The list of runs while they change: in place, without a jump, and without reading everything again."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from lionstudio.services.sessions import finish_session
from tests.browser.conftest import _visit
from tests.browser.run_list import WATCH_SHIFTS, cursor, fill, names, open_runs, row, rows, table, tabs
from tests.browser.studio import Studio
from tests.browser.trouble import fail_until_tried_again
from tests.browser.world import World, build
from tests.factories import start_run

RECORD = """
import lionstudio, sys
for name in sys.argv[1:]:
    run = lionstudio.record(name, agent="outsider")
    run.__enter__()
    run.user("Begin")
"""


def record_elsewhere(world: World, *names: str) -> None:
    """Runs of another process, which then is gone."""
    subprocess.run([sys.executable, "-c", RECORD, *names], env=world.environ, check=True)


def finish(world: World, name: str, status: str = "completed") -> None:
    ctx = world.open()
    finish_session(ctx, world.runs[name], status, exit_code=int(status != "completed"))
    ctx.db.close()


def load_more(page: Page) -> None:
    """Go to the end of what is loaded, which loads more."""
    before = int(table(page).get_attribute("aria-rowcount") or 0)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_function(
        "before => Number(document.querySelector('[role=table]').getAttribute('aria-rowcount')) > before", arg=before
    )


def news(page: Page, words: str) -> Any:
    return page.get_by_role("button", name=re.compile(rf"^{words}$"))


def test_new_runs_of_another_process_wait_until_they_are_let_in(own_page: Page, own_world: World) -> None:
    open_runs(own_page)
    before = names(own_page)
    own_page.mouse.wheel(0, 600)
    expect(tabs(own_page).first).not_to_be_in_viewport()
    own_page.evaluate("scrollTo(0, 120)")
    own_page.evaluate(WATCH_SHIFTS)
    record_elsewhere(own_world, "From elsewhere", "And another")
    expect(news(own_page, "2 new")).to_be_visible()
    assert names(own_page)[: len(before)] == before[: len(names(own_page))]
    assert own_page.evaluate("window.shifts") == []
    assert own_page.evaluate("scrollY") == 120
    news(own_page, "2 new").click()
    expect(row(own_page, "From elsewhere")).to_be_visible()
    assert names(own_page)[:2] == ["And another", "From elsewhere"]
    assert own_page.evaluate("scrollY") == 0
    expect(news(own_page, "2 new")).to_have_count(0)


def test_a_row_changes_in_its_place(own_page: Page, own_world: World) -> None:
    open_runs(own_page)
    order = names(own_page)
    own_page.evaluate(WATCH_SHIFTS)
    finish(own_world, "Review the API change")
    ended = row(own_page, "Review the API change")
    expect(ended).to_contain_text("Completed")
    assert names(own_page) == order  # it ended, and stays where it was
    assert own_page.evaluate("window.shifts") == []
    expect(ended).not_to_have_attribute("data-left", "true")


@pytest.mark.parametrize("look", [{"reduced_motion": "no-preference"}])
def test_a_row_that_changed_is_tinted_for_a_moment(own_page: Page, own_world: World) -> None:
    open_runs(own_page)
    own_page.evaluate("""() => {
      window.tints = []
      const animate = Element.prototype.animate
      Element.prototype.animate = function (frames, timing) {
        if (this.dataset.run) window.tints.push([this.dataset.run, timing.duration])
        return animate.call(this, frames, timing)
      }
    }""")
    run_id = own_world.runs["Review the API change"]
    finish(own_world, "Review the API change", "failed")
    expect(row(own_page, "Review the API change")).to_contain_text("Failed")
    own_page.wait_for_function("window.tints.length > 0")
    assert [run_id, 220] in own_page.evaluate("window.tints")


def test_a_run_that_stops_matching_stays_dimmed_until_somebody_asks(own_page: Page, own_world: World) -> None:
    open_runs(own_page, "?status=running")
    order = names(own_page)
    finish(own_world, "Review the API change")
    left = row(own_page, "Review the API change")
    expect(left).to_have_attribute("data-left", "true")
    expect(left).to_contain_text("no longer matches")
    expect(left).to_contain_text("Completed")
    assert names(own_page) == order
    news(own_page, "1 left").click()
    expect(left).to_have_count(0)
    assert names(own_page) == [name for name in order if name != "Review the API change"]
    expect(news(own_page, "1 left")).to_have_count(0)


def test_one_comes_back_to_the_list_where_one_left_it_and_it_is_fresh(own_page: Page, own_world: World) -> None:
    open_runs(own_page)
    own_page.evaluate("scrollTo(0, 500)")
    row(own_page, "Silent on another host").get_by_role("link").click()
    expect(own_page.get_by_role("heading", name="Silent on another host", level=1)).to_be_visible()
    finish(own_world, "Silent on another host", "failed")
    own_page.go_back()
    expect(row(own_page, "Silent on another host")).to_contain_text("Failed")
    own_page.wait_for_function("Math.abs(scrollY - 500) < 2")


def count_of(page: Page, tab: str) -> int:
    shown = tabs(page).filter(has_text=re.compile(rf"^{tab}")).locator("span")
    expect(shown).to_have_text(re.compile(r"^[\d,]+$"))  # it is asked for apart from the list
    return int(shown.inner_text().replace(",", ""))


def open_tab(page: Page, tab: str) -> None:
    link = tabs(page).filter(has_text=re.compile(rf"^{tab}"))
    link.click()
    expect(link).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def expect_rows(page: Page, count: int) -> None:
    expect(table(page)).to_have_attribute("aria-rowcount", str(count + 1))
    expect(news(page, r"\d+ (new|left)")).to_have_count(0)


def test_a_tab_opens_as_many_rows_as_it_says_also_where_its_list_was_open_before(
    own_page: Page, own_world: World
) -> None:
    open_runs(own_page, "?view=ended_24h")
    before = count_of(own_page, "Ended 24h")
    expect_rows(own_page, before)
    open_tab(own_page, "All")
    finish(own_world, "Review the API change")
    expect(tabs(own_page).filter(has_text=f"Ended 24h{before + 1}")).to_be_visible()
    open_tab(own_page, "Ended 24h")
    expect_rows(own_page, before + 1)


def test_the_tab_that_is_open_lets_in_what_it_counts(own_page: Page, own_world: World) -> None:
    open_runs(own_page, "?view=ended_24h")
    before = count_of(own_page, "Ended 24h")
    finish(own_world, "Review the API change")
    expect(news(own_page, "1 new")).to_be_visible()
    expect(tabs(own_page).filter(has_text=f"Ended 24h{before + 1}")).to_be_visible()
    open_tab(own_page, "Ended 24h")
    expect_rows(own_page, before + 1)


def test_the_palette_and_the_sidebar_open_a_list_as_it_is_now(own_page: Page, own_world: World) -> None:
    open_runs(own_page, "?view=failed_24h")
    before = count_of(own_page, "Failed 24h")
    open_tab(own_page, "All")
    finish(own_world, "Review the API change", "failed")
    failed = own_page.get_by_role("navigation", name="Views").get_by_role("link", name=re.compile("^Failed 24h"))
    expect(failed).to_contain_text(str(before + 1))
    failed.click()
    expect_rows(own_page, before + 1)
    open_tab(own_page, "All")
    finish(own_world, "Triage the nightly failures", "failed")
    expect(failed).to_contain_text(str(before + 2))
    own_page.keyboard.press("Control+k")
    own_page.get_by_role("combobox").fill("failed 24h")
    expect(own_page.get_by_role("option")).to_have_count(1)
    own_page.keyboard.press("Enter")
    expect(own_page).to_have_url(re.compile(r"view=failed_24h$"))
    expect_rows(own_page, before + 2)


def test_the_list_heals_after_the_server_was_away(
    own_page: Page, own_world: World, own_studio: Studio, expected_problems: list[str]
) -> None:
    expected_problems.append("ERR_|Failed to load")
    open_runs(own_page)
    own_studio.stop()
    finish(own_world, "Review the API change")
    own_studio.start()
    expect(row(own_page, "Review the API change")).to_contain_text("Completed", timeout=30_000)


def test_a_list_that_cannot_be_loaded_says_why_and_tries_again(
    own_page: Page, own_studio: Studio, expected_problems: list[str]
) -> None:
    expected_problems.append("ERR_|Failed to load|503")
    own_page.goto("/")
    expect(own_page.get_by_role("link", name="Runs").first).to_be_visible()
    fail_until_tried_again(own_page, "**/api/sessions?*", lambda route: route.abort())
    own_page.get_by_role("navigation", name="Main").get_by_role("link", name="Runs").click()
    trouble = own_page.get_by_role("main").get_by_role("alert")
    expect(trouble).to_contain_text("The studio does not answer.")
    trouble.get_by_role("button", name="Try again").click()
    expect(row(own_page, "Refactor the parser")).to_be_visible()


HOSTILE = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "turned": "invoice\u202efdp.exe",
    "escaped": "\x1b[31mred\x1b[0m\x07",
    "long": "a" * 4_000,
    "arabic": "مرحبا بالعالم",
}


def test_hostile_names_are_text(empty_page: Page, tmp_path: Path) -> None:
    world = World(tmp_path / "empty")
    ctx = world.open()
    for number, name in enumerate(HOSTILE.values()):
        start_run(ctx, f"run-{number}", name=name)
    ctx.db.close()
    open_runs(empty_page)
    expect(rows(empty_page)).to_have_count(5)
    shown = names(empty_page)
    assert HOSTILE["markup"] in shown
    assert "invoice⟨RLO⟩fdp.exe" in shown
    assert "⟨ESC⟩[31mred⟨ESC⟩[0m⟨BEL⟩" in shown
    assert HOSTILE["arabic"] in shown
    assert {box["height"] for box in (one.bounding_box() for one in rows(empty_page).all()) if box} == {44}
    assert empty_page.evaluate("document.documentElement.scrollWidth <= innerWidth")


MANY = 20_000


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with build(tmp_path_factory.mktemp("crowd"), size=0) as world:
        ctx = world.open()
        fill(ctx, MANY)
        ctx.db.close()
        yield world


@pytest.fixture
def crowd_page(browser: Browser, crowd: World, look: dict[str, Any], expected_problems: list[str]) -> Iterator[Page]:
    with Studio(crowd.settings) as studio:
        yield from _visit(browser, studio, look, expected_problems)


def test_scrolling_loads_on_through_tens_of_thousands_of_runs(crowd_page: Page) -> None:
    open_runs(crowd_page)
    expect(crowd_page.get_by_text("Showing 100 of 20,000")).to_be_visible()
    for _ in range(12):
        load_more(crowd_page)
        assert rows(crowd_page).count() < 120
    loaded = int(table(crowd_page).get_attribute("aria-rowcount") or 0) - 1
    assert loaded >= 2_000
    crowd_page.evaluate("scrollTo(0, 1500 * 44)")
    expect(row(crowd_page, "Bulk 018500")).to_be_visible()
    assert rows(crowd_page).count() < 120


def test_a_change_asks_for_rows_on_the_screen_and_never_for_all_pages(crowd_page: Page, crowd: World) -> None:
    open_runs(crowd_page)
    for _ in range(6):
        load_more(crowd_page)
    crowd_page.evaluate("scrollTo(0, 0)")
    expect(row(crowd_page, "Bulk 019999")).to_be_visible()
    asked: list[str] = []
    crowd_page.on("request", lambda request: asked.append(request.url) if "/api/sessions" in request.url else None)
    record_elsewhere(crowd, "Something new")
    expect(crowd_page.get_by_role("button", name=re.compile(r"^\d+ new$"))).to_be_visible()
    assert asked
    assert not [url for url in asked if "cursor=" in url and "cursor=&" not in url]
    assert len(asked) < 6


def test_the_cursor_walks_on_into_pages_that_are_not_loaded_yet(crowd_page: Page) -> None:
    open_runs(crowd_page)
    for _ in range(140):
        crowd_page.keyboard.press("j")
    expect(cursor(crowd_page)).to_contain_text("Bulk 0198")
    expect(cursor(crowd_page)).to_be_in_viewport()


def test_more_runs_than_one_act_may_take_are_not_sent(crowd_page: Page) -> None:
    open_runs(crowd_page)
    crowd_page.get_by_role("checkbox", name="Select all 100 loaded runs").check()
    bar = crowd_page.get_by_role("region", name="Selected runs")
    expect(bar).to_contain_text("100 selected")
    expect(bar.get_by_role("button", name="Export")).to_be_enabled()
    for _ in range(4):
        load_more(crowd_page)
    everything = crowd_page.get_by_role("checkbox", name=re.compile(r"^Select all 1\d\d\d loaded runs$"))
    everything.click()
    expect(bar).to_contain_text(re.compile(r"1,\d\d\d selected, but up to 1,000 at a time"))
    expect(bar.get_by_role("button", name="Transition…")).to_be_disabled()
    expect(bar.get_by_role("button", name="Export")).to_be_disabled()
    expect(bar.get_by_role("button", name="Copy ids")).to_be_enabled()


def test_a_run_that_was_let_go_is_not_chosen_any_more(own_page: Page, own_world: World) -> None:
    open_runs(own_page, "?status=running")
    for name in ("Review the API change", "Refactor the parser"):
        row(own_page, name).get_by_role("checkbox").check()
    bar = own_page.get_by_role("region", name="Selected runs")
    expect(bar).to_contain_text("2 selected")
    finish(own_world, "Review the API change")
    news(own_page, "1 left").click()
    expect(row(own_page, "Review the API change")).to_have_count(0)
    expect(bar).to_contain_text("1 selected")
