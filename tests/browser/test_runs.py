"""The list of runs: what a row says, how it is narrowed, chosen from and walked through."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import expect_accessible_in_both_themes
from tests.browser.run_list import cursor, names, open_runs, row, rows, table, tabs
from tests.browser.studio import Studio
from tests.browser.world import World

TABS = (
    "All", "Running", "Waiting for you", "Needs review", "Failed 24h", "Running over 60m", "Took over 60m", "Ended 24h",
    "Legacy",
)  # fmt: skip


def test_a_row_says_in_two_lines_what_a_run_is_and_how_it_does(page: Page, world: World) -> None:
    open_runs(page)
    flow = row(page, "Refactor the parser")
    cells = flow.get_by_role("cell")
    expect(cells.nth(1)).to_have_text(
        f"Refactor the parser{world.runs['Refactor the parser'][:8]} · playbook audit · architect"
    )
    expect(cells.nth(2)).to_have_text("flow")
    expect(cells.nth(3)).to_have_text("Running · process alive")
    expect(cells.nth(4)).to_contain_text("bash")
    expect(cells.nth(5)).to_have_text("4 br · 29 msg")
    expect(cells.nth(6)).to_have_text(re.compile(r"^\d+[sm] agoran \d+m$"))
    box = flow.bounding_box()
    assert box is not None
    assert box["height"] == 44
    headers = page.get_by_role("columnheader").all_text_contents()
    assert [header for header in headers if header] == ["Run", "Kind", "State", "Activity", "Size", "Updated"]


@pytest.mark.parametrize(
    ("name", "tone", "words", "status"),
    [
        ("Refactor the parser", "t-info", "Running · process alive", "running"),
        ("Collect papers", "t-info", "Running · quiet _h · process alive", "running"),
        ("Index the archive", "t-warning", "Running · quiet _h · process alive", "running"),
        ("Rewrite the importer", "t-stale", "Running · quiet _h · process gone", "running"),
        ("Silent on another host", "t-stale", "Running · quiet 1_h · process unknown", "running"),
        ("Never said a word", "t-review", "Running · no output · process gone", "running"),
        ("Leave files behind", "t-danger", "Completed · 1 stale lock · 2 unfinished files", "completed"),
        ("Build the image", "t-danger", "Failed · exit 1", "failed"),
        ("Load test at noon", "t-warning", "Timed out", "timed_out"),
        ("Old experiment", "t-neutral", "Legacy · unclassified", "legacy"),
    ],
)
def test_the_pill_is_coloured_by_health_and_tells_the_stored_status(
    page: Page, name: str, tone: str, words: str, status: str
) -> None:
    open_runs(page, f"?search={name.replace(' ', '+')}")
    chain = row(page, name).get_by_title(f"status {status}")
    expect(chain).to_have_text(re.compile(re.escape(words).replace("_h", r"\dh")))
    expect(chain).to_have_class(re.compile(rf"\b{tone}\b"))
    expect(chain.locator("svg")).to_have_count(1)  # colour, icon and word


def test_each_tab_counts_exactly_the_rows_of_its_list(page: Page) -> None:
    open_runs(page)
    expect(tabs(page)).to_have_text([re.compile(rf"^{name}[\d,]+$") for name in TABS])
    for place in range(len(TABS)):
        tab = tabs(page).nth(place)
        count = int(tab.locator("span").inner_text().replace(",", ""))
        tab.click()
        expect(tab).to_have_attribute("aria-current", "page")
        if count:
            expect(page.get_by_text(re.compile(rf"^{count} runs?( match(es)?)?$"))).to_be_visible()
            assert table(page).get_attribute("aria-rowcount") == str(count + 1)
        else:
            expect(page.get_by_text("No run matches these filters.")).to_be_visible()


def test_filters_are_in_the_address_and_survive_a_reload_and_the_way_back(page: Page) -> None:
    open_runs(page)
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("menuitem", name="Health").click()
    chosen = page.get_by_role("combobox", name="Health")
    expect(chosen).to_be_focused()
    chosen.select_option("stale")
    expect(page).to_have_url(re.compile(r"/runs\?health=stale$"))
    expect(row(page, "Rewrite the importer")).to_be_visible()
    expect(row(page, "Refactor the parser")).to_have_count(0)
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("menuitem", name="Agent").click()
    page.get_by_role("textbox", name="Agent").fill("builder")
    page.get_by_role("textbox", name="Agent").press("Enter")
    expect(page).to_have_url(re.compile(r"/runs\?health=stale&agent=builder$"))
    expect(page.get_by_text("1 run matches")).to_be_visible()
    page.reload()
    expect(page.get_by_role("combobox", name="Health")).to_have_value("stale")
    expect(page.get_by_role("textbox", name="Agent")).to_have_value("builder")
    expect(page.get_by_text("1 run matches")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile(r"/runs\?health=stale$"))
    expect(page.get_by_role("textbox", name="Agent")).to_have_count(0)
    expect(rows(page)).not_to_have_count(1)
    page.get_by_role("button", name="Remove the filter Health").click()
    expect(page).to_have_url(re.compile(r"/runs$"))
    expect(row(page, "Refactor the parser")).to_be_visible()


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("?kind=flow&status=running", ["Refactor the parser"]),
        ("?source=imported_fs", ["Old experiment", "Before the vocabulary", "Restored from a backup"]),
        ("?playbook=audit&status=running", ["Refactor the parser", "Fan out the audit"]),
        ("?show=payments-split&status=running", ["payments-split/ledger-api"]),
        ("?status=running&since=1h&agent=reviewer", ["Review the API change"]),
        ("?search=prompt", ["Try another prompt"]),
    ],
)
def test_every_filter_can_be_sent_as_an_address(page: Page, filters: str, found: list[str]) -> None:
    open_runs(page, filters)
    expect(rows(page)).to_have_count(len(found))
    assert names(page) == found


def test_a_slash_leads_to_the_words_and_typing_narrows_the_list(page: Page) -> None:
    open_runs(page)
    page.keyboard.press("/")
    words = page.get_by_label("Filter runs by words")
    expect(words).to_be_focused()
    page.keyboard.type("jxe parser")  # letters that are keys of the list rest while one types
    expect(page).to_have_url(re.compile(r"search=jxe"))
    expect(page.get_by_text("No run matches these filters.")).to_be_visible()
    words.fill("pars")
    expect(row(page, "Refactor the parser")).to_be_visible()
    expect(rows(page)).to_have_count(1)
    expect(words).to_be_focused()
    page.go_back()
    expect(words).to_have_value("")
    expect(rows(page)).not_to_have_count(1)


def test_the_order_can_be_chosen(page: Page) -> None:
    open_runs(page)
    page.get_by_role("button", name="Order: Running first, then newest").click()
    page.get_by_role("menuitem", name="Newest first").click()
    expect(page).to_have_url(re.compile(r"sort=created"))
    expect(page.get_by_role("button", name="Order: Newest first")).to_be_visible()


def test_an_empty_list_says_how_many_runs_which_filters_hide(page: Page, world: World) -> None:
    open_runs(page, "?health=orphaned&since=1h")
    count = re.sub(r"\D", "", tabs(page).first.inner_text())
    expect(page.get_by_text(f"{count} runs are hidden by Health: orphaned and Since: 1 hour.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page).to_have_url(re.compile(r"/runs$"))
    expect(row(page, "Refactor the parser")).to_be_visible()


def test_a_studio_without_runs_says_what_to_type(empty_page: Page, empty_studio: Studio) -> None:
    open_runs(empty_page)
    expect(empty_page.get_by_text("No run was recorded yet.")).to_be_visible()
    expect(empty_page.get_by_text("li state import", exact=True)).to_be_visible()
    command = empty_page.get_by_text(re.compile("^curl"))
    expect(command).to_contain_text(f"{empty_studio.url}/api/sessions")
    expect_accessible_in_both_themes(empty_page)


def test_the_browser_remembers_the_columns(page: Page) -> None:
    open_runs(page)
    page.get_by_role("button", name="Columns").click()
    for column in ("Kind", "Cost"):
        page.get_by_role("menuitemcheckbox", name=column).click()
    page.keyboard.press("Escape")
    shown = ["Run", "State", "Activity", "Size", "Cost", "Updated"]
    headers = page.get_by_role("columnheader").filter(has_text=re.compile(r"\w"))
    expect(headers).to_have_text(shown)
    page.reload()
    expect(headers).to_have_text(shown)
    expect(row(page, "Refactor the parser").get_by_role("cell").nth(5)).to_have_text(re.compile(r"^\$\d"))
    page.get_by_role("button", name="Columns").click()
    expect(page.get_by_role("menuitemcheckbox", name="State")).to_have_count(0)
    expect(page.get_by_role("menuitemcheckbox", name="Run")).to_have_count(0)


def test_the_list_is_walked_through_by_keys_alone(page: Page) -> None:
    open_runs(page)
    first, second, third = names(page)[:3]
    page.keyboard.press("j")
    expect(cursor(page)).to_contain_text(first)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    expect(cursor(page)).to_contain_text(third)
    expect(cursor(page)).to_be_focused()
    page.keyboard.press("k")
    expect(cursor(page)).to_contain_text(second)
    bar = cursor(page).evaluate("row => getComputedStyle(row).boxShadow")
    assert "2px 0px 0px 0px inset" in bar
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Shift+X")
    expect(page.get_by_role("region", name="Selected runs")).to_contain_text("3 selected")
    page.keyboard.press("e")
    expect(page.get_by_role("dialog", name="Evidence")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Evidence")).to_have_count(0)
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/runs/[0-9a-f-]{36}"))
    expect(page.get_by_role("heading", name=third, level=1)).to_be_visible()


def test_the_cursor_never_hides_behind_what_sticks_to_the_window(page: Page) -> None:
    open_runs(page)
    for _ in range(25):
        page.keyboard.press("j")
    for _ in range(20):
        page.keyboard.press("k")
    place = cursor(page).bounding_box()
    head = page.get_by_role("columnheader").nth(1).bounding_box()
    assert place is not None
    assert head is not None
    assert place["y"] >= head["y"] + head["height"]
    assert place["y"] + place["height"] <= 900


def test_runs_are_chosen_one_by_one_in_a_range_and_all_at_once(page: Page) -> None:
    open_runs(page)
    boxes = page.locator("[data-run]").get_by_role("checkbox")
    bar = page.get_by_role("region", name="Selected runs")
    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(bar).to_contain_text("4 selected")
    boxes.nth(2).click()
    expect(bar).to_contain_text("3 selected")
    everyone = page.get_by_role("columnheader").get_by_role("checkbox")
    expect(everyone).to_have_attribute("aria-checked", "mixed")
    everyone.click()
    expect(bar).to_contain_text(re.compile(r"5\d selected"))
    bar.get_by_role("button", name="Clear").click()
    expect(bar).to_have_count(0)


def test_chosen_runs_can_be_copied_exported_and_ended(page: Page, world: World) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_runs(page)
    for name in ("Rewrite the importer", "Fan out the audit"):
        row(page, name).get_by_role("checkbox").click()
    bar = page.get_by_role("region", name="Selected runs")
    bar.get_by_role("button", name="Copy ids").click()
    expect(page.get_by_text("2 ids copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.split("\n") == [world.runs["Rewrite the importer"], world.runs["Fan out the audit"]]
    with page.expect_download() as download:
        bar.get_by_role("button", name="Export").click()
    assert world.runs["Fan out the audit"] in download.value.path().read_text()
    bar.get_by_role("button", name="Transition…").click()
    expect(page.get_by_role("dialog", name=re.compile("Transition 2 sessions"))).to_be_visible()


def test_ended_by_hand_the_rows_change_and_the_choice_is_gone(own_page: Page) -> None:
    open_runs(own_page, "?status=running")
    row(own_page, "Rewrite the importer").get_by_role("checkbox").click()
    own_page.get_by_role("region", name="Selected runs").get_by_role("button", name="Transition…").click()
    own_page.get_by_role("button", name="Transition to failed").click()
    expect(own_page.get_by_role("region", name="Selected runs")).to_have_count(0)
    ended = row(own_page, "Rewrite the importer")
    expect(ended).to_contain_text("Failed")
    expect(ended).to_contain_text("no longer matches")


def test_the_second_line_says_nothing_twice(page: Page, world: World) -> None:
    open_runs(page, "?show=payments-split")
    name = "payments-split/docs"
    expect(row(page, name).get_by_role("cell").nth(1)).to_have_text(
        re.compile(rf"^{name}\w{{8}} · playbook feature · builder$")
    )


def test_the_order_ends_where_the_table_does(page: Page) -> None:
    open_runs(page)
    order, end = page.get_by_text("Running first, then newest").bounding_box(), table(page).bounding_box()
    assert order is not None and end is not None
    assert 0 <= end["x"] + end["width"] - (order["x"] + order["width"]) < 20  # its arrow is after the words


@pytest.mark.parametrize(
    "look", [{"viewport": {"width": 800, "height": 900}}, {"viewport": {"width": 1024, "height": 900}}]
)
def test_tabs_that_have_no_room_are_folded(page: Page) -> None:
    open_runs(page)
    nav = page.get_by_role("navigation", name="Lists of runs")
    box = nav.bounding_box()
    assert box is not None
    assert box["height"] < 40  # one line
    expect(tabs(page).filter(has_text="Legacy")).to_be_hidden()
    nav.get_by_role("button", name="More lists").click()
    page.get_by_role("menuitem", name="Legacy").click()
    expect(page).to_have_url(re.compile("view=legacy"))
    expect(tabs(page).filter(has_text="Legacy")).to_have_attribute("aria-current", "page")
    expect(tabs(page).filter(has_text="Legacy")).to_be_visible()


def test_a_narrow_window_has_no_kind_and_no_size_and_never_scrolls_sideways(page: Page) -> None:
    open_runs(page)
    for width in (800, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        is_wide = width > 1000
        for column in ("Kind", "Size"):
            expect(page.get_by_role("columnheader", name=column)).to_have_count(int(is_wide))
        expect(page.get_by_role("columnheader", name="State")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_nothing_of_the_list_keeps_people_out(page: Page) -> None:
    open_runs(page, "?agent=builder")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect_accessible_in_both_themes(page)
    page.set_viewport_size({"width": 800, "height": 900})
    expect_accessible_in_both_themes(page)


@pytest.mark.parametrize(
    ("look", "scheme"), [({"color_scheme": "light"}, "light"), ({"color_scheme": "dark"}, "dark")], indirect=["look"]
)
def test_the_list_is_there_in_both_themes(page: Page, scheme: str) -> None:
    open_runs(page)
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    expect(row(page, "Refactor the parser")).to_be_visible()


@pytest.fixture
def look(request: pytest.FixtureRequest) -> dict[str, Any]:
    return getattr(request, "param", {})


@pytest.mark.parametrize("query", ["?status=bogus", "?health=bogus&view=bogus"])
def test_a_word_that_nobody_knows_filters_nothing(page: Page, query: str) -> None:
    open_runs(page, query)
    expect(page.get_by_role("button", name=re.compile("^Remove the filter"))).to_have_count(0)
    expect(tabs(page).first).to_have_attribute("aria-current", "page")
    expect(rows(page).first).to_be_visible()


def test_who_types_a_name_still_sees_what_it_is_a_name_of(page: Page) -> None:
    open_runs(page)
    page.get_by_role("button", name="Filter", exact=True).click()
    page.get_by_role("menuitem", name="Agent").click()
    field = page.get_by_role("textbox", name="Agent")
    expect(field).to_be_focused()
    label, box = page.locator("label", has=field).locator("span").bounding_box(), field.bounding_box()
    assert label is not None and box is not None
    assert label["x"] + label["width"] + 4 <= box["x"]  # the ring around the field takes so much


@pytest.mark.parametrize("width", [1440, 1280, 1279, 1100, 1001, 900, 480])
def test_every_column_that_is_shown_is_within_the_table(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    open_runs(page)
    expect(rows(page).first).to_be_visible()
    table = page.get_by_role("table", name="Runs")
    outside = table.evaluate(
        """(table) => [...table.querySelectorAll('[role=columnheader], [role=cell]')]
          .filter((one) => one.getBoundingClientRect().right > table.getBoundingClientRect().right + 1)
          .map((one) => one.textContent)"""
    )
    assert outside == []
