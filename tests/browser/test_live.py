"""News as it happens: in every tab, through restarts, and never more often than a reader can take."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, Request, Route, expect

from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from tests.browser.studio import Studio
from tests.browser.world import World
from tests.factories import line_of, start_run, user_says


@contextmanager
def another_process(world: World) -> Iterator[Context]:
    """The database as any agent has it: not through the server."""
    ctx = world.open()
    try:
        yield ctx
    finally:
        ctx.db.close()


def expect_runs(page: Page, count: int) -> None:
    expect(page.get_by_role("link", name=re.compile(rf"^Runs {count}$"))).to_be_visible()


def expect_live(page: Page) -> None:
    expect(page.get_by_role("status", name="Connection: Live")).to_be_visible()


def runs_in(page: Page) -> int:
    return int(page.request.get("/api/totals").json()["runs"])


def test_eight_tabs_are_live_with_one_stream(own_page: Page, own_world: World) -> None:
    own_page.goto("/runs")
    expect_live(own_page)
    count = runs_in(own_page)
    tabs = [own_page, *(own_page.context.new_page() for _ in range(7))]
    for tab in tabs[1:]:
        tab.goto("/runs")
    with another_process(own_world) as ctx:
        start_run(ctx, "seen-by-all", name="seen by all")
        for tab in tabs:
            expect_live(tab)
            expect_runs(tab, count + 1)
        assert own_page.request.get("/api/ready").json()["streams"] == 1


def test_another_tab_takes_over_and_misses_nothing(own_page: Page, own_world: World) -> None:
    own_page.goto("/runs")
    expect_live(own_page)
    count = runs_in(own_page)
    others = [own_page.context.new_page() for _ in range(2)]
    for tab in others:
        tab.goto("/runs")
        expect_runs(tab, count)
    with another_process(own_world) as ctx:
        own_page.close()
        start_run(ctx, "while-nobody-led", name="while nobody led")
        for tab in others:
            expect_runs(tab, count + 1)
        others[0].close()
        start_run(ctx, "to-the-last", name="to the last")
        expect_runs(others[1], count + 2)
    expect_live(others[1])


def test_lists_are_read_at_most_about_once_a_second(own_page: Page, own_world: World) -> None:
    own_page.goto("/runs")
    expect_live(own_page)
    count = runs_in(own_page)
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url.split("?")[0].rsplit("/api/")[-1])

    own_page.on("request", note)
    began = own_page.evaluate("performance.now()")
    with another_process(own_world) as ctx:
        for reading in range(4):  # each time something is read again, more has changed meanwhile
            with own_page.expect_request("**/api/totals"):
                for number in range(15):
                    run_id = f"busy-{reading}-{number}"
                    start_run(ctx, run_id, name=run_id)
                    append_message(ctx, line_of(run_id), user_says("x"))
    expect_runs(own_page, count + 60)
    seconds = (own_page.evaluate("performance.now()") - began) / 1000
    assert asked.count("totals") >= 4
    for name in ("totals", "sessions", "stats"):
        assert asked.count(name) <= seconds + 3, (name, seconds, asked)


def test_a_line_that_died_without_a_word_is_noticed_after_a_sleep(own_page: Page, own_world: World) -> None:
    own_page.clock.install()
    own_page.goto("/runs")
    expect_live(own_page)
    count = runs_in(own_page)
    with own_page.expect_request("**/api/events?after=*"):
        own_page.clock.fast_forward(20_000)
    expect_live(own_page)
    with another_process(own_world) as ctx:
        start_run(ctx, "awake", name="awake")
    expect_runs(own_page, count + 1)


class TestRestart:
    @pytest.fixture
    def expected_problems(self) -> list[str]:
        return ["ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "ERR_INCOMPLETE_CHUNKED", "503"]

    def test_a_restart_is_told_and_heals_by_itself(self, own_page: Page, own_studio: Studio, own_world: World) -> None:
        own_page.clock.install()
        own_page.goto("/runs")
        expect_live(own_page)
        count = runs_in(own_page)
        second = own_page.context.new_page()
        second.goto("/runs")
        expect_live(second)
        own_studio.stop()
        for tab in (own_page, second):
            expect(tab.get_by_role("status", name=re.compile(r"Connection: Reconnecting, try \d+"))).to_be_visible()
        with another_process(own_world) as ctx:
            start_run(ctx, "meanwhile", name="meanwhile")
        own_page.clock.fast_forward(10_000)  # a hitch is not worth a banner
        banner = own_page.get_by_role("alert")
        expect(banner).to_contain_text(re.compile(r"What you see is from \d\d:\d\d"))
        expect(banner).to_contain_text("fills the gap")
        box = banner.bounding_box()
        assert box is not None and box["x"] < 40  # beside what floats in the middle of a transcript
        expect_runs(own_page, count)  # what was read stays
        own_studio.start()
        for tab in (own_page, second):
            expect_live(tab)
            expect_runs(tab, count + 1)
        expect(banner).to_have_count(0)
        with another_process(own_world) as ctx:
            start_run(ctx, "afterwards", name="afterwards")
        for tab in (own_page, second):
            expect_runs(tab, count + 2)

    def test_a_server_that_is_too_busy_for_the_stream_is_tried_again(self, own_page: Page) -> None:
        tries = 0

        def refuse(route: Route) -> None:
            nonlocal tries
            tries += 1
            route.fulfill(status=503, json={"code": "too_many_streams", "message": "Full.", "hint": None})

        own_page.route("**/api/events*", refuse)
        own_page.goto("/runs")
        expect(own_page.get_by_role("status", name=re.compile("Connection: Reconnecting, try 3"))).to_be_visible()
        assert tries >= 3
        own_page.unroute("**/api/events*")
        expect_live(own_page)
