"""The frame around every page: ways to go, the palette, keys, themes, and what is broken or not there."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from lionstudio.server.guard import Door
from lionstudio.services.teams import put_team
from tests.browser.axe import expect_accessible, expect_accessible_in_both_themes
from tests.browser.studio import Studio, Visit
from tests.browser.trouble import fail_until_tried_again
from tests.browser.world import SHOW, TEAM, World
from tests.factories import start_run
from tests.waiting import wait_until

TOKEN = "a-token-of-some-length"


def search(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search or jump to")


def jump(page: Page, text: str) -> None:
    """To the first thing that the palette finds, as fast as anybody types."""
    page.keyboard.press("Control+k")
    page.keyboard.type(text)
    page.keyboard.press("Enter")


def open_page(page: Page, path: str = "/") -> Page:
    page.goto(path)
    expect(page.get_by_role("status", name="Connection: Live")).to_be_visible()
    return page


def every(page: Page, path: str) -> list[Any]:
    """All items of a list, however many pages it has."""
    found: list[Any] = []
    cursor = ""
    while True:
        answer = page.request.get(f"{path}{'&' if '?' in path else '?'}limit=20{cursor}").json()
        found += answer["items"]
        if answer["next_cursor"] is None:
            return found
        cursor = f"&cursor={answer['next_cursor']}"


def side(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Sidebar")


def count_of(page: Page, name: str) -> int:
    return int(side(page).get_by_role("link", name=re.compile(rf"^{name} [\d,]+$")).inner_text().split()[-1])


class TestSidebar:
    @pytest.mark.parametrize(
        ("name", "address", "listed"),
        [
            ("Runs", "/runs", "/api/sessions"),
            ("Shows", "/shows", "/api/shows"),
            ("Teams", "/teams", "/api/teams"),
            ("Waiting for you", "/runs?view=waiting", "/api/sessions?view=waiting"),
            ("Needs attention", "/attention", "/api/attention"),
            ("Running", "/runs?status=running", "/api/sessions?status=running"),
            ("Failed 24h", "/runs?view=failed_24h", "/api/sessions?view=failed_24h"),
        ],
    )
    def test_a_count_is_the_length_of_the_list_it_opens(self, page: Page, name: str, address: str, listed: str) -> None:
        open_page(page)
        count = count_of(page, name)
        assert count == len(every(page, listed)) > 0
        side(page).get_by_role("link", name=re.compile(rf"^{name} ")).click()
        expect(page).to_have_url(re.compile(re.escape(address) + "$"))
        here = side(page).locator("[aria-current=page]")
        expect(here).to_have_count(1)
        expect(here).to_contain_text(name)

    def test_admin_counts_what_waits_for_an_operator(self, page: Page) -> None:
        open_page(page)
        health = page.request.get("/api/admin/health").json()
        queue = health["sessions"]["unhealthy_total"] - health["sessions"]["by_health"]["idle"]
        assert count_of(page, "Admin") == queue > 0

    def test_it_tells_where_everything_is_kept(self, page: Page, world: World) -> None:
        open_page(page)
        expect(side(page).get_by_title(world.settings.db)).to_contain_text("/state.db")
        expect(side(page)).to_contain_text("Lion Studio 0.1.0")

    def test_its_foot_stands_still_while_it_loads(self, page: Page) -> None:
        held: list[Route] = []
        page.route("**/api/totals", lambda route: held.append(route))
        page.goto("/")
        version = side(page).locator("div").last.locator("> span").last
        expect(version).to_be_visible()
        before = version.bounding_box()
        page.unroute_all(behavior="ignoreErrors")  # and let those go on that were held
        expect(version).to_have_text("Lion Studio 0.1.0")
        assert version.bounding_box() == before

    def test_it_becomes_a_rail_and_stays_one(self, page: Page) -> None:
        open_page(page)
        assert _width(side(page)) == 220
        page.keyboard.press("[")
        expect(page.get_by_role("button", name="Expand sidebar")).to_be_visible()
        assert _width(side(page)) == 52
        page.reload()
        expect(side(page).get_by_role("link", name="Runs")).to_be_visible()
        assert _width(side(page)) == 52
        page.get_by_role("button", name="Expand sidebar").click()
        expect(page.get_by_role("button", name="Collapse sidebar")).to_be_visible()


def _width(what: Locator) -> float:
    box = what.bounding_box()
    assert box is not None
    return box["width"]


class TestPalette:
    def test_it_jumps_to_a_run_by_keyboard_alone(self, page: Page, world: World) -> None:
        open_page(page)
        jump(page, "refac pars")
        expect(page).to_have_url(re.compile(f"/runs/{world.runs['Refactor the parser']}$"))
        expect(search(page)).to_have_count(0)

    def test_it_finds_a_run_by_the_beginning_of_its_id(self, page: Page, world: World) -> None:
        open_page(page)
        wanted = world.runs["Index the archive"]
        jump(page, wanted[:13])
        expect(page).to_have_url(re.compile(f"/runs/{wanted}$"))

    def test_it_jumps_to_a_show_and_to_a_team(self, page: Page, world: World) -> None:
        open_page(page)
        jump(page, "search v2")
        expect(page).to_have_url(re.compile("/shows/search-v2$"))
        page.keyboard.press("Control+k")
        page.keyboard.type(SHOW)
        group = page.get_by_role("group", name="Shows and teams")
        expect(group.get_by_role("option")).to_have_count(1)
        page.keyboard.press("Control+a")
        page.keyboard.type(TEAM)
        expect(group.get_by_role("option", name=TEAM)).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"/teams/{world.teams[TEAM]}$"))

    def test_arrows_move_and_the_match_is_marked(self, page: Page) -> None:
        open_page(page)
        page.keyboard.press("Control+k")
        page.keyboard.type("pay")
        options = page.get_by_role("option")
        expect(page.get_by_role("group", name="Runs").locator("mark").first).to_have_text("pay")
        expect(page.get_by_role("status").filter(has_text=re.compile(r"^6 found$"))).to_be_attached()
        expect(options.first).to_have_attribute("aria-selected", "true")
        page.keyboard.press("ArrowDown")
        expect(options.nth(1)).to_have_attribute("aria-selected", "true")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        expect(options.last).to_have_attribute("aria-selected", "true")
        named = search(page).get_attribute("aria-activedescendant")
        assert named == options.last.get_attribute("id")

    def test_with_control_it_opens_a_new_tab(self, page: Page, world: World) -> None:
        open_page(page)
        page.keyboard.press("Control+k")
        page.keyboard.type("refactor parser")
        expect(page.get_by_role("option", name="Refactor the parser")).to_have_attribute("aria-selected", "true")
        with page.context.expect_page() as opened:
            page.keyboard.press("Control+Enter")
        expect(opened.value).to_have_url(re.compile(f"/runs/{world.runs['Refactor the parser']}$"))
        assert urlsplit(page.url).path == "/"
        assert opened.value.evaluate("window.opener === null")  # each tab is on its own

    def test_names_show_what_they_are(self, own_page: Page, own_world: World) -> None:
        ctx = own_world.open()
        start_run(ctx, "turned", name="zebra \u202efdp.exe", agent="a\u202eb")
        put_team(ctx, "turned", actor="ana", name="zebra \u202eteam", members=("lead",))
        ctx.db.close()
        open_page(own_page)
        own_page.keyboard.press("Control+k")
        own_page.get_by_role("combobox").fill("zebra")
        found = own_page.get_by_role("listbox", name="Found")
        expect(found).to_contain_text("zebra ⟨RLO⟩fdp.exe")
        expect(found).to_contain_text("a⟨RLO⟩b")
        expect(found).to_contain_text("zebra ⟨RLO⟩team")
        assert "\u202e" not in found.inner_text()

    def test_an_action_is_done(self, own_page: Page) -> None:
        open_page(own_page)
        jump(own_page, "checkpoint")
        expect(own_page.get_by_text("Checkpoint made")).to_be_visible()
        assert own_page.request.get("/api/admin/events?action=checkpoint").json()["items"]
        jump(own_page, "doctor")
        expect(own_page.get_by_text(re.compile(r"The doctor looked at \d+ runs"))).to_be_visible()

    def test_what_is_not_there_is_said(self, page: Page) -> None:
        open_page(page)
        page.get_by_role("button", name="Search or jump to").click()
        expect(page.get_by_role("group", name="Latest runs").get_by_role("option")).to_have_count(5)
        for text in ("zzyzx", "§§"):
            search(page).fill(text)
            expect(page.get_by_text(f"Nothing begins with “{text}”.")).to_be_visible()
        page.keyboard.press("Escape")
        expect(search(page)).to_have_count(0)
        expect(page.get_by_role("button", name="Search or jump to")).to_be_focused()


class TestBrokenSearch:
    @pytest.fixture
    def expected_problems(self) -> list[str]:
        return ["503"]

    def test_the_palette_says_why_and_finds_the_rest(self, page: Page) -> None:
        open_page(page)
        trouble = {"code": "database_busy", "message": "The database is busy.", "hint": "Wait a moment."}
        busy = partial(Route.fulfill, status=503, json=trouble)
        fail_until_tried_again(page, "**/api/sessions?*search=*", busy)
        page.keyboard.press("Control+k")
        page.keyboard.type("payments")
        expect(page.get_by_role("alert")).to_contain_text("The database is busy.")
        expect(page.get_by_role("option", name=SHOW)).to_be_visible()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("group", name="Runs").get_by_role("option").first).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


class TestKeys:
    def test_two_letters_lead_to_each_page(self, page: Page) -> None:
        open_page(page)
        for key, path in (("r", "/runs"), ("s", "/shows"), ("t", "/teams"), ("a", "/admin"), ("d", "/")):
            page.keyboard.press("g")
            page.keyboard.press(key)
            expect(page).to_have_url(re.compile(rf"//[^/]+{path}/?$"))
        assert page.evaluate("document.documentElement.dataset.theme") == "light"

    def test_the_help_lists_them_and_escape_gives_the_focus_back(self, page: Page) -> None:
        open_page(page)
        button = page.get_by_role("button", name="Keyboard help")
        button.focus()
        page.keyboard.press("?")
        help = page.get_by_role("dialog", name="Keyboard")
        for words in ("Search or jump", "Go to Runs", "Narrow or wide sidebar", "Switch theme"):
            expect(help.get_by_text(words, exact=True)).to_be_visible()
        expect_accessible_in_both_themes(page, within="[role=dialog]")
        page.keyboard.press("t")
        page.keyboard.press("Escape")
        expect(help).to_have_count(0)
        expect(button).to_be_focused()

    def test_the_help_of_a_run_says_what_its_numbers_do(self, page: Page, world: World) -> None:
        open_page(page, f"/runs/{world.runs['Refactor the parser']}")
        page.keyboard.press("?")
        help = page.get_by_role("dialog", name="Keyboard")
        own = help.get_by_role("region", name="This page")
        expect(own.get_by_text("Go to that section", exact=True)).to_be_visible()
        expect(own.locator("dt").first).to_have_text("1to6")
        words = help.locator("dd").all_inner_texts()
        assert all(each[0].isupper() for each in words), words

    def test_letters_rest_while_somebody_types(self, page: Page) -> None:
        open_page(page)
        page.keyboard.press("Control+k")
        expect(search(page)).to_be_focused()
        page.keyboard.type("t[?gr")
        expect(search(page)).to_have_value("t[?gr")
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        assert urlsplit(page.url).path == "/"

    def test_the_first_tab_skips_to_the_content(self, page: Page) -> None:
        open_page(page)
        page.keyboard.press("Tab")
        skip = page.get_by_role("button", name="Skip to content")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()


class TestTheme:
    def test_a_chosen_theme_stays_and_reaches_other_tabs(self, page: Page) -> None:
        open_page(page)
        other = page.context.new_page()
        open_page(other)
        page.keyboard.press("t")
        for one in (page, other):
            expect(one.locator("html")).to_have_attribute("data-theme", "dark")
        page.reload()
        expect(side(page).get_by_role("link", name="Runs")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.get_by_role("button", name="Switch theme").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "light")

    def test_the_frame_keeps_nobody_out(self, page: Page) -> None:
        open_page(page, "/nowhere")
        expect(page.get_by_role("link", name=re.compile(r"Admin \d"))).to_be_visible()
        expect_accessible_in_both_themes(page)
        page.keyboard.press("Control+k")
        page.keyboard.type("pay")
        expect(page.get_by_role("group", name="Shows and teams")).to_be_visible()
        expect_accessible_in_both_themes(page, within="[role=dialog]")


class TestNarrow:
    @pytest.fixture
    def look(self) -> dict[str, Any]:
        return {"viewport": {"width": 800, "height": 900}, "color_scheme": "dark"}

    def test_a_narrow_window_has_a_rail_and_nothing_sticks_out(self, page: Page) -> None:
        open_page(page, "/nowhere")
        assert _width(side(page)) == 52
        for name in ("Dashboard", "Runs", "Admin", "Needs attention"):
            expect(page.get_by_role("link", name=re.compile(f"^{name}")).first).to_be_visible()
        expect(page.get_by_role("button", name="Search or jump to")).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("button", name="Switch theme")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth") == 800
        expect_accessible(page)


class TestPages:
    def test_an_unknown_address_says_so_and_leads_on(self, page: Page) -> None:
        open_page(page, "/no/such/page")
        expect(page.get_by_text("There is no page at this address.")).to_be_visible()
        expect(page).to_have_title("Not found – Lion Studio")
        page.locator("main").get_by_role("link", name="Runs").click()
        expect(page).to_have_url(re.compile("/runs$"))

    def test_back_leads_to_where_one_was(self, page: Page) -> None:
        page.set_viewport_size({"width": 1440, "height": 400})
        open_page(page)
        expect(page.get_by_role("heading", name="Recent runs")).to_be_visible()
        page.evaluate("scrollTo(0, 300)")
        wait_until(lambda: page.evaluate("scrollY") == 300)
        jump(page, "admin")
        expect(page).to_have_url(re.compile("/admin$"))
        wait_until(lambda: page.evaluate("scrollY") == 0)
        page.go_back()
        wait_until(lambda: page.evaluate("scrollY") == 300)

    def test_what_is_read_again_shows_a_line(self, own_page: Page, own_world: World) -> None:
        open_page(own_page)
        count_of(own_page, "Runs")
        held: list[Route] = []
        own_page.route("**/api/totals", lambda route: held.append(route))
        with own_page.expect_request("**/api/totals"):
            own_world_run(own_world, "somebody else")
        line = own_page.get_by_role("progressbar", name="Reading again")
        expect(line).to_be_visible()
        expect(line).to_have_css("height", "2px")
        assert own_page.locator("header").first.evaluate("bar => bar.getBoundingClientRect().bottom") == 48
        own_page.unroute_all(behavior="ignoreErrors")  # and let those go on that were held
        expect(line).to_have_count(0)


class TestLostPart:
    @pytest.fixture
    def expected_problems(self) -> list[str]:
        return ["ERR_FAILED", "dynamically imported module", "Failed to load resource"]

    def test_a_page_whose_part_is_gone_offers_to_load_again(self, page: Page) -> None:
        page.route("**/assets/admin-*.js", lambda route: route.abort())
        open_page(page, "/runs")
        page.keyboard.press("g")
        page.keyboard.press("a")
        expect(page.get_by_text("A part of this page could not be loaded.")).to_be_visible()
        expect(page.get_by_role("link", name=re.compile("^Runs"))).to_be_visible()


class TestToken:
    @pytest.fixture
    def guarded(self, own_world: World) -> Iterator[Studio]:
        with Studio(own_world.settings, Door(token=TOKEN)) as studio:
            yield studio

    def test_who_is_not_known_any_more_is_sent_to_the_door(self, browser: Browser, guarded: Studio) -> None:
        visit = Visit(browser, guarded.url)
        page = visit.page
        page.goto("/login")
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button").click()
        expect(page.get_by_role("status", name="Connection: Live")).to_be_visible()
        visit.context.clear_cookies()
        guarded.stop()
        guarded.start()
        expect(page).to_have_url(re.compile("/login$"))
        visit.close()


def own_world_run(world: World, name: str) -> None:
    ctx = world.open()
    start_run(ctx, name.replace(" ", "-"), name=name)
    ctx.db.close()
