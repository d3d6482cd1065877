"""What somebody trips over who sees the studio for the first time: a server that goes, long words, old days, small
windows."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from lionstudio.domain.health import DAY, MINUTE
from lionstudio.services.context import Context
from tests.browser.run_list import open_runs, row
from tests.browser.studio import Studio
from tests.browser.telling import Teller
from tests.browser.world import World, build
from tests.factories import Clock

LONG_TOOL = "mcp__github-enterprise__create_pull_request_review_comment"
LONG_WORD = "w" * 2000


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with build(tmp_path_factory.mktemp("fresh")) as world:
        clock, ctx = Clock(world.now), world.open()
        teller = Teller(Context(ctx.db, now=clock), clock)
        run = teller.run("Comment on the change", at=world.now - 5 * MINUTE).process(world.live_process())
        run.user("Comment on it.")
        run.tool(LONG_TOOL, None, error="No such line.", line=9)
        run.call(LONG_TOOL, line=3)
        run = teller.run("One long word", at=world.now - 9 * MINUTE, agent=LONG_WORD, playbook=LONG_WORD)
        run.process(world.dead_process()).user("Hm.")
        run.end(exit_code=0)
        run = teller.run("Took its days", at=world.now - 400 * DAY)
        run.user("Begin.")
        run.at(world.now - 40 * DAY).assistant("A year later.")
        run.at(world.now - 40 * DAY + 1).assistant("The same day.")
        run.at(world.now - MINUTE).assistant("Today.")
        run.end(exit_code=0)
        world.runs |= teller.told
        ctx.db.close()
        yield world


@pytest.fixture(scope="module")
def studio(world: World) -> Iterator[Studio]:
    with Studio(world.settings) as studio:
        yield studio


def visit(page: Page, world: World, name: str) -> None:
    page.goto(f"/runs/{world.runs[name]}")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def expect_within(inner: Locator, outer: Locator) -> None:
    one, other = inner.bounding_box(), outer.bounding_box()
    assert one is not None
    assert other is not None
    assert other["x"] <= one["x"]
    assert one["x"] + one["width"] <= other["x"] + other["width"] + 0.5


def expect_no_sideways_scroll(page: Page) -> None:
    width, window = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert width <= window


class TestAway:
    @pytest.fixture
    def expected_problems(self) -> list[str]:
        return [
            "ERR_CONNECTION",
            "ERR_EMPTY_RESPONSE",
            "ERR_INCOMPLETE_CHUNKED",
            "503",
            "A part of the page is missing",
        ]

    def test_a_page_that_was_never_opened_waits_for_the_server(self, own_page: Page, own_studio: Studio) -> None:
        own_page.goto("/")
        expect(own_page.get_by_role("status", name="Connection: Live")).to_be_visible()
        own_studio.stop()
        own_page.get_by_role("navigation", name="Main").get_by_role("link", name="Admin").click()
        main = own_page.get_by_role("main")
        expect(main.get_by_text("The studio does not answer.")).to_be_visible()
        expect(own_page.get_by_role("navigation", name="Main")).to_be_visible()
        own_studio.start()
        expect(main.get_by_role("heading", name="Admin", level=1)).to_be_visible(timeout=30_000)
        expect(own_page).to_have_url(re.compile("/admin$"))

    def test_numbers_of_a_studio_that_is_gone_say_from_when_they_are(self, own_page: Page, own_studio: Studio) -> None:
        own_page.clock.install()
        own_page.goto("/")
        system = own_page.get_by_role("group", name="System")
        expect(system).to_contain_text("System healthy")
        active = own_page.get_by_role("list", name="Active now")
        expect(active).to_contain_text(re.compile(r"\d+m"))
        own_studio.stop()
        expect(system).to_contain_text(re.compile(r"as of \d\d:\d\d:\d\d"))
        expect(system).not_to_contain_text("healthy")
        ages = active.inner_text()
        own_page.clock.run_for(10 * 60_000)
        expect(own_page.get_by_role("status", name="Connection: Offline 10m")).to_be_visible()
        assert active.inner_text() == ages  # nobody knows how they go on
        own_studio.start()
        expect(system).to_contain_text("System healthy", timeout=30_000)


class TestLongWords:
    def test_a_long_tool_leaves_the_name_of_its_run_on_the_dashboard(self, page: Page) -> None:
        page.goto("/")
        name = page.get_by_role("link", name="Comment on the change").first
        expect(name).to_be_visible()
        assert name.evaluate("(link) => link.scrollWidth <= link.clientWidth")
        expect(page.get_by_role("main").get_by_title(LONG_TOOL).first).to_be_visible()

    def test_a_long_tool_stays_in_the_card_of_its_branch(self, page: Page, world: World) -> None:
        visit(page, world, "Comment on the change")
        card = page.get_by_role("button", name=re.compile("main")).filter(has_text="Activity").first
        expect(card).to_be_visible()
        expect_within(card.get_by_title(LONG_TOOL), card)
        failed = page.locator("#tool-errors").get_by_title(LONG_TOOL, exact=True).first
        expect(failed).to_have_css("text-overflow", "ellipsis")
        expect(failed).not_to_have_css("display", re.compile("flex"))  # where nothing is cut with an ellipsis

    def test_a_word_without_an_end_makes_no_page_wider(self, page: Page, world: World) -> None:
        visit(page, world, "One long word")
        expect(page.get_by_text("Process").first).to_be_attached()
        expect_no_sideways_scroll(page)


def test_a_transcript_says_where_another_day_begins(page: Page, world: World) -> None:
    visit(page, world, "Took its days")
    log = page.get_by_role("log", name="Transcript")
    expect(log.get_by_text("Today.", exact=True)).to_be_visible()
    days = log.get_by_role("heading", level=3)
    expect(days).to_have_count(3)
    expect(days.last).to_contain_text("Today, ")
    assert re.search(r" 20\d\d$", days.first.inner_text())


def test_a_time_is_found_in_a_transcript(page: Page, world: World) -> None:
    visit(page, world, "Took its days")
    page.get_by_role("searchbox", name="Find in transcript").fill(
        page.get_by_role("log").get_by_role("article").first.locator("time").inner_text()[-8:-3]
    )
    bar = page.get_by_role("status").filter(has_text=re.compile(r"^at \d\d:\d\d$"))
    expect(bar).to_be_visible()
    expect(page.get_by_text("no match")).to_have_count(0)


def test_a_run_opens_wherever_its_row_is_pressed(page: Page, world: World) -> None:
    open_runs(page)
    line = row(page, "Comment on the change")
    line.get_by_role("checkbox").click()
    expect(page).to_have_url(re.compile(r"/runs$"))
    line.get_by_role("checkbox").click()
    line.get_by_role("cell").last.click()
    expect(page).to_have_url(re.compile(f"/runs/{world.runs['Comment on the change']}$"))


class TestLinksThatMiss:
    def test_a_message_that_is_not_there_is_told(self, page: Page, world: World) -> None:
        page.goto(f"/runs/{world.runs['Took its days']}#m99999")
        said = page.get_by_text("The link names message #99,999, which is not there: the last one is #4.")
        expect(said).to_be_in_viewport()

    def test_a_branch_that_is_not_there_is_told(self, page: Page, world: World) -> None:
        page.goto(f"/runs/{world.runs['Took its days']}?branch=nope#m3")
        expect(page.get_by_text("The link names a branch that this run does not have.")).to_be_in_viewport()

    def test_a_link_that_leads_somewhere_says_nothing(self, page: Page, world: World) -> None:
        page.goto(f"/runs/{world.runs['Took its days']}#m3")
        expect(page.get_by_text("The same day.")).to_be_visible()
        expect(page.get_by_text("The link names")).to_have_count(0)


def test_the_palette_knows_what_the_console_does(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("status", name="Connection: Live")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or jump to").fill("vacuum")
    page.get_by_role("option", name=re.compile("Vacuum DB")).click()
    expect(page).to_have_url(re.compile("/admin$"))


def test_the_focus_stays_in_the_header_after_a_transition(own_page: Page, own_world: World) -> None:
    visit(own_page, own_world, "Rewrite the importer")
    own_page.get_by_role("button", name="Transition…").click()
    own_page.get_by_role("dialog").get_by_role("button", name="Transition to failed").click()
    expect(own_page.get_by_role("button", name="Transition…")).to_have_count(0)
    expect(own_page.get_by_role("group", name="Actions").locator(":focus")).to_have_count(1)


class TestSmall:
    @pytest.fixture
    def look(self) -> dict[str, Any]:
        return {"viewport": {"width": 360, "height": 740}}

    @pytest.mark.parametrize("path", ["/", "/runs", "/shows", "/teams", "/admin", "/admin/events", "/attention"])
    def test_no_page_scrolls_sideways(self, page: Page, path: str) -> None:
        page.goto(path)
        expect(page.get_by_role("main")).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        expect_no_sideways_scroll(page)

    def test_no_run_scrolls_sideways(self, page: Page, world: World) -> None:
        visit(page, world, "Refactor the parser")
        expect_no_sideways_scroll(page)
