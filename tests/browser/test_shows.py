"""Shows and one show in the browser: the list, the graph, the state cell, and the row that opens."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lionstudio.services import shows
from tests.browser.axe import expect_accessible_in_both_themes
from tests.browser.studio import Studio, Visit
from tests.browser.texts import HOSTILE
from tests.browser.world import SHOW, World, build
from tests.server.show_world import make_folder, make_play_folder, put_play, put_show

HOSTILE_NAME = "<b>bold</b> \u202egnp.exe"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio with shows of every size and kind, and nothing else."""
    with build(tmp_path_factory.mktemp("stage"), size=0) as world, Studio(world.settings) as studio:
        _put_shows(world)
        yield studio


def _put_shows(world: World) -> None:
    root = Path(world.environ["LIONAGI_SHOWS_ROOT"])
    ctx = world.open()
    try:
        put_show(ctx, "four", root)
        for number in range(4):
            put_play(ctx, f"play-{number}", "four", depends_on=[f"play-{number - 1}"] if number else [])
        put_show(ctx, "many", root)
        for number in range(25):
            put_play(ctx, f"play-{number}", "many", depends_on=[f"play-{number // 3}"] if number else [])
        put_show(ctx, "no-edges", root)
        put_play(ctx, "alone", "no-edges")
        put_show(ctx, "broken", root)
        put_play(ctx, "egg", "broken", depends_on=["hen"])
        put_play(ctx, "hen", "broken", depends_on=["egg"])
        put_play(ctx, "lost", "broken", depends_on=["nobody"])
        put_show(ctx, "words", root)
        for name, facts in WORDS.items():
            put_play(ctx, name, "words", **facts)
        folder = make_folder(root, "hostile", plan=f"# Hostile\n\n## Goal\n\n{HOSTILE}\n")
        make_play_folder(folder, "bait", intent=HOSTILE, verdict={"gate_passed": False, "feedback": HOSTILE})
        put_show(ctx, "hostile", root, goal=HOSTILE)
        put_play(ctx, "bait", "hostile", status="gate_failed", gate_passed=False, gate_feedback=HOSTILE)
        put_play(ctx, HOSTILE_NAME, "hostile", depends_on=["bait"])
        made = make_folder(root, "only-on-disk")
        make_play_folder(made, "schema", meta={"status": "running"}, verdict={"gate_passed": True})
        put_show(ctx, "a/b?c", root, goal="A name that looks like an address")
        put_play(ctx, "x/y", "a/b?c")
    finally:
        ctx.db.close()


# What the raw words become: pill, gate, integration (R82).
WORDS: dict[str, dict[str, Any]] = {
    "first": {"status": "pending"},
    "second": {"status": "prepared"},
    "third": {"status": "running_complete"},
    "fourth": {"status": "gated", "gate_passed": True},
    "fifth": {"status": "gated"},
    "sixth": {"status": "gate_failed", "gate_passed": False},
    "seventh": {"status": "redoing", "gate_passed": False, "attempt": 2},
    "eighth": {"status": "merged", "gate_passed": True},
    "ninth": {"status": "merged"},
    "tenth": {"status": "escalated", "gate_passed": False},
    "eleventh": {"status": "blocked"},
    "twelfth": {"status": "aborted_after_finish"},
}
CELLS = {
    "first": ["pending"],
    "second": ["prepared"],
    "third": ["awaiting gate"],
    "fourth": ["completed", "passed", "local"],
    "fifth": ["awaiting gate", "needs you"],
    "sixth": ["failed", "gate failed"],
    "seventh": ["running", "redo"],
    "eighth": ["completed", "passed", "merged"],
    "ninth": ["completed", "gate skipped", "merged"],
    "tenth": ["failed", "gate failed", "needs you"],
    "eleventh": ["blocked"],
    "twelfth": ["aborted"],
}


@pytest.fixture
def staged(browser: Browser, stage: Studio, expected_problems: list[str]) -> Iterator[Page]:
    visit = Visit(browser, stage.url)
    yield visit.page
    visit.close()
    assert [one for one in visit.problems if not any(re.search(pattern, one) for pattern in expected_problems)] == []


def row(page: Page, play: str) -> Locator:
    return page.locator(f'tr[data-play="{play}"]')


def node(page: Page, play: str) -> Locator:
    return page.locator(f'[data-graph] button[data-play="{play}"]')


def details(page: Page, play: str) -> Locator:
    return page.locator(f'tr[id="play-{play}-details"]')


class TestList:
    def test_each_show_has_its_goal_its_state_its_progress_and_its_age(self, page: Page) -> None:
        page.goto("/shows")
        line = page.get_by_role("row").filter(has_text=SHOW)
        expect(line).to_contain_text("Split the payments service into a ledger and a gateway")
        expect(line).to_contain_text("Active · 1 escalated · 1 blocked")
        expect(line.get_by_role("img")).to_have_attribute(
            "aria-label", "1 merged, 1 running, 2 failed, 1 blocked, 1 pending"
        )
        expect(line).to_contain_text("6 plays")
        expect(line).to_contain_text("ago")

    def test_a_view_lists_only_its_shows_and_has_an_address(self, page: Page) -> None:
        page.goto("/shows")
        page.get_by_role("link", name="Completed").click()
        expect(page).to_have_url(re.compile(r"/shows\?status=completed$"))
        expect(page.get_by_role("row").filter(has_text="docs-refresh")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text=SHOW)).to_have_count(0)

    def test_what_is_only_on_disk_is_listed_too(self, staged: Page) -> None:
        staged.goto("/shows")
        expect(staged.get_by_role("row").filter(has_text="only-on-disk")).to_contain_text("Not imported")

    def test_plays_that_need_somebody_are_counted_over_all_shows(self, page: Page) -> None:
        page.goto("/shows")
        link = page.get_by_role("link", name="Plays that need you 3")
        link.click()
        expect(page).to_have_url(re.compile("/plays"))
        for name in ("worker", "docs", "gateway"):
            expect(page.get_by_text(name, exact=True).first).to_be_visible()

    def test_each_view_counts_the_rows_of_its_list(self, staged: Page) -> None:
        staged.goto("/shows")
        views = staged.get_by_role("navigation", name="Views")
        for name in ("All", "Active", "Completed", "Aborted", "Not imported"):
            tab = views.get_by_role("link", name=re.compile(rf"^{name} \d+$"))
            tab.click()
            expect(views.locator("[aria-current]")).to_have_count(1)
            expect(tab).to_have_attribute("aria-current", "page")
            count = int(tab.inner_text().split()[-1])
            words = re.compile(rf"^{count} shows?$" if count else "^No show is")
            expect(staged.get_by_text(words)).to_be_visible()

    def test_an_empty_studio_says_what_to_type(self, empty_page: Page) -> None:
        empty_page.goto("/shows")
        expect(empty_page.get_by_text("li state import-shows")).to_be_visible()

    def test_the_list_is_walked_by_keys(self, page: Page) -> None:
        page.goto("/shows")
        expect(page.get_by_role("row").filter(has_text=SHOW)).to_be_visible()
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("k")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("docs-refresh")

    def test_a_new_show_waits_until_it_is_asked_for(self, own_page: Page, own_world: World) -> None:
        own_page.goto("/shows")
        first = own_page.get_by_role("row").nth(1)
        expect(first).to_contain_text("search-v2")
        ctx = own_world.open()
        put_show(ctx, "just-begun")
        ctx.db.close()
        own_page.get_by_role("button", name="1 new").click()
        expect(first).to_contain_text("just-begun")


class TestGraph:
    def test_it_is_above_the_table_and_all_of_it_is_seen(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        strip = page.locator("[data-graph]")
        expect(node(page, "rollout")).to_be_visible()
        frame, table = strip.bounding_box(), page.get_by_role("table", name="Plays").bounding_box()
        assert frame is not None and table is not None
        assert frame["y"] + frame["height"] <= table["y"]
        for name in ("schema", "ledger-api", "worker", "gateway", "docs", "rollout"):
            box = node(page, name).bounding_box()
            assert box is not None
            assert (round(box["width"]), round(box["height"])) == (154, 28)
            assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
            assert frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]
        expect(strip.locator(".react-flow__controls")).to_have_count(0)

    @pytest.mark.parametrize(("topic", "height"), [("four", 112), ("many", 220)])
    def test_its_height_follows_the_number_of_plays(self, staged: Page, topic: str, height: int) -> None:
        staged.goto(f"/shows/{topic}")
        expect(staged.locator("[data-graph]")).to_have_css("height", f"{height}px")

    def test_between_five_and_twenty_plays_it_has_160_px(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        expect(page.locator("[data-graph]")).to_have_css("height", "160px")

    def test_it_can_be_hidden_and_stays_hidden(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        page.get_by_role("button", name="Hide graph").click()
        expect(page.locator("[data-graph]")).to_have_count(0)
        page.goto("/shows/search-v2")
        expect(page.get_by_role("button", name="Show graph")).to_be_visible()
        expect(page.locator("[data-graph]")).to_have_count(0)
        page.get_by_role("button", name="Show graph").click()
        expect(node(page, "step-01")).to_be_visible()

    def test_pointing_at_a_node_lights_its_row(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        node(page, "worker").hover()
        expect(row(page, "worker")).to_have_attribute("data-lit", "true")
        node(page, "docs").hover()
        expect(row(page, "worker")).not_to_have_attribute("data-lit", "true")
        expect(row(page, "docs")).to_have_attribute("data-lit", "true")

    def test_pointing_at_a_row_lights_its_node(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        expect(node(page, "worker")).to_be_visible()
        row(page, "worker").hover()
        expect(node(page, "worker")).to_have_class(re.compile("ring-2"))
        expect(node(page, "docs")).not_to_have_class(re.compile("ring-2"))

    def test_the_focus_lights_like_the_pointer_both_ways(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        node(page, "worker").focus()
        expect(row(page, "worker")).to_have_attribute("data-lit", "true")
        row(page, "docs").get_by_role("button", name="Open docs").focus()
        expect(node(page, "docs")).to_have_class(re.compile("ring-2"))
        expect(row(page, "worker")).not_to_have_attribute("data-lit", "true")

    def test_pressing_a_node_scrolls_to_its_row_and_opens_it(self, staged: Page) -> None:
        staged.goto("/shows/many")
        expect(row(staged, "play-24")).not_to_be_in_viewport()
        node(staged, "play-24").focus()
        staged.keyboard.press("Enter")
        expect(row(staged, "play-24")).to_be_in_viewport()
        expect(details(staged, "play-24")).to_be_visible()
        expect(staged).to_have_url(re.compile(r"\?play=play-24$"))

    def test_the_critical_path_is_ink_in_the_graph_and_a_bar_in_the_table(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        expect(page.get_by_text("Critical path: 4 plays")).to_be_visible()
        edges = page.locator('[data-graph] path[data-kind="critical"]')
        expect(edges).to_have_count(3)
        for name in ("schema", "ledger-api", "gateway", "rollout"):
            expect(row(page, name).locator("[data-critical]")).to_have_css("width", "3px")
        expect(row(page, "docs").locator("[data-critical]")).to_have_count(0)

    def test_an_edge_out_of_a_failed_play_is_red_and_dashed(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        failed = page.locator('[data-graph] path[data-kind="failed"]')
        expect(failed).to_have_count(2)
        expect(page.locator('[data-edge="worker to gateway"]')).to_have_attribute("stroke-dasharray", "4 3")
        expect(page.locator('[data-edge="ledger-api to docs"]')).not_to_have_attribute("stroke-dasharray", "4 3")

    def test_without_dependencies_there_is_none(self, staged: Page) -> None:
        staged.goto("/shows/no-edges")
        expect(row(staged, "alone")).to_be_visible()
        expect(staged.get_by_text("Dependency graph")).to_have_count(0)

    def test_a_large_one_is_panned_not_the_page(self, staged: Page) -> None:
        staged.goto("/shows/many")
        expect(node(staged, "play-0")).to_be_visible()
        assert staged.evaluate("document.documentElement.scrollWidth <= innerWidth")
        expect(node(staged, "play-0")).to_be_in_viewport()
        node(staged, "play-24").focus()
        expect(node(staged, "play-24")).to_be_in_viewport()

    def test_a_long_one_can_be_read_and_fades_where_it_goes_on(self, page: Page) -> None:
        page.goto("/shows/search-v2")
        box = node(page, "step-01").bounding_box()
        assert box is not None and box["width"] >= 0.8 * 154 and box["height"] >= 0.8 * 28
        fades = page.locator("[data-fade]")
        expect(fades).to_have_count(1)
        expect(fades).to_have_attribute("data-fade", "right")
        widths = page.locator("[data-graph] path[data-kind]").evaluate_all(
            "all => all.map((one) => [one.dataset.kind, Number(one.getAttribute('stroke-width'))])"
        )
        assert min(wide for kind, wide in widths if kind == "critical") >= 2 * max(
            wide for kind, wide in widths if kind == "plain"
        )
        strip = page.locator("[data-graph]").bounding_box()
        assert strip is not None
        page.mouse.move(strip["x"] + 700, strip["y"] + 150)
        page.mouse.down()
        page.mouse.move(strip["x"] - 2_000, strip["y"] + 150, steps=5)
        page.mouse.up()
        expect(node(page, "step-12")).to_be_in_viewport()
        expect(fades).to_have_attribute("data-fade", "left")


class TestStateCell:
    @pytest.mark.parametrize("name", WORDS)
    def test_every_word_becomes_a_pill_and_its_badges(self, staged: Page, name: str) -> None:
        staged.goto("/shows/words")
        cell = row(staged, name).locator("td").nth(1).locator("[title]")
        expect(cell).to_have_text("".join(CELLS[name]))
        expect(cell).to_have_attribute("title", f"status {WORDS[name]['status']}")

    def test_the_raw_word_stands_in_the_open_row(self, staged: Page) -> None:
        staged.goto("/shows/words?play=tenth")
        expect(details(staged, "tenth")).to_contain_text("Raw statusescalated")

    def test_lifecycle_is_filled_gate_and_integration_are_outlines(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        pill = row(page, "schema").get_by_text("completed").locator("..")
        expect(pill).to_have_css("background-color", "rgb(230, 245, 236)")
        badge = row(page, "schema").get_by_text("passed")
        expect(badge).to_have_css("background-color", "rgba(0, 0, 0, 0)")
        expect(badge).to_have_css("border-top-color", "rgb(169, 217, 189)")


class TestRow:
    def test_a_press_on_the_row_opens_it_in_place(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        row(page, "worker").get_by_text("feature · high").click()
        expect(details(page, "worker")).to_be_visible()
        expect(row(page, "worker").locator("xpath=following-sibling::tr[1]")).to_have_id("play-worker-details")
        row(page, "worker").get_by_role("button", name="Close worker").click()
        expect(details(page, "worker")).to_have_count(0)

    def test_every_play_says_in_one_way_when_it_changed(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        expect(row(page, "schema")).to_be_visible()
        for told in page.locator("tr[data-play] td:last-child").all_inner_texts():
            assert re.fullmatch(r"–|\d+[smhd] ago", told), told

    def test_names_stand_below_the_head_of_their_column(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        name = row(page, "schema").get_by_text("schema", exact=True).bounding_box()
        head = page.get_by_role("columnheader", name="Play").evaluate(
            "one => one.getBoundingClientRect().left + parseFloat(getComputedStyle(one).paddingLeft)"
        )
        assert name is not None
        assert abs(name["x"] - head) < 1

    def test_what_is_to_be_done_opens_as_it_stays(self, page: Page) -> None:
        with page.expect_response(re.compile(r"/Markdown-.*\.js")):  # fetched before anybody opens a play
            page.goto(f"/shows/{SHOW}")
        row(page, "worker").get_by_role("button").first.click()
        expect(details(page, "worker").locator(".md .md-title")).to_have_text("worker")
        expect(page.get_by_role("heading", name="Intent _intent.md")).to_be_visible()

    def test_open_session_is_the_first_thing_in_it(self, page: Page, world: World) -> None:
        page.goto(f"/shows/{SHOW}?play=worker")
        first = details(page, "worker").locator("a, button").first
        expect(first).to_have_text("Open session")
        first.click()
        expect(page).to_have_url(re.compile(f"/runs/{world.runs[f'{SHOW}/worker']}"))

    def test_a_play_without_a_run_says_so_in_the_same_place(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}?play=rollout")
        first = details(page, "rollout").locator("a, button").first
        expect(first).to_have_text("Open session")
        expect(first).to_be_disabled()

    def test_it_tells_intent_duration_exit_code_attempt_verdict_and_feedback(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}?play=worker")
        opened = details(page, "worker")
        expect(opened).to_contain_text("What the plan says about worker, in more words.")
        expect(opened.locator("dl").first).to_have_text("Duration42mExit code0Attempt2")
        expect(opened.locator("dl").last).to_contain_text("show/payments-split/worker")
        expect(opened).to_contain_text("Attempt 2: changes requested")
        expect(opened).to_contain_text("The retry policy is not written down; the acceptance asks for it.")

    def test_raw_files_are_closed_until_they_are_opened(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}?play=worker")
        opened = details(page, "worker")
        verdict = opened.get_by_role("button", name="_verdict.json")
        expect(verdict).to_have_attribute("aria-expanded", "false")
        expect(opened.get_by_text('"gate_passed"')).to_have_count(0)
        verdict.click()
        expect(opened.get_by_text('"gate_passed": false')).to_be_visible()
        opened.get_by_role("button", name="_meta.json").click()
        expect(opened.get_by_text('"exit_code": 0')).to_be_visible()

    def test_what_a_person_has_to_decide_is_open(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}?play=docs")
        expect(details(page, "docs")).to_contain_text("Do operators need a way back on the first day?")

    def test_a_blocked_play_says_why(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}?play=gateway")
        expect(details(page, "gateway")).to_contain_text("It waits for ledger-api, worker")

    def test_the_address_names_the_open_play(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        row(page, "docs").get_by_role("button", name="Open docs").click()
        expect(page).to_have_url(re.compile(r"\?play=docs$"))
        page.reload()
        expect(details(page, "docs")).to_be_visible()
        expect(row(page, "docs")).to_be_in_viewport()

    def test_the_run_of_a_play_leads_back_to_it(self, page: Page, world: World) -> None:
        page.goto(f"/runs/{world.runs[f'{SHOW}/worker']}")
        page.locator(f'main a[href^="/shows/{SHOW}"]').first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(SHOW)
        expect(row(page, "worker")).to_be_visible()


class TestGate:
    def test_accepting_a_play_changes_it_and_its_files(self, own_page: Page, own_world: World) -> None:
        own_page.goto(f"/shows/{SHOW}?play=docs")
        details(own_page, "docs").get_by_role("button", name="Judge…").click()
        dialog = own_page.get_by_role("dialog")
        expect(dialog).to_contain_text("It is escalated and becomes gated.")
        dialog.get_by_label("Note").fill("Good enough for the first day.")
        dialog.get_by_role("button", name="Accept it").click()
        expect(dialog).to_have_count(0)
        expect(row(own_page, "docs").locator("td").nth(1)).to_have_text("completedpassedlocal")
        written = (own_world.home / "shows" / SHOW / "docs" / "_verdict.json").read_text()
        assert "Good enough for the first day." in written

    def test_what_would_be_refused_is_said_before(self, own_page: Page, expected_problems: list[str]) -> None:
        expected_problems.append("409")
        own_page.goto(f"/shows/{SHOW}?play=worker")
        details(own_page, "worker").get_by_role("button", name="Judge…").click()
        dialog = own_page.get_by_role("dialog")
        dialog.get_by_role("radio", name="Request changes").check()
        expect(dialog.get_by_role("alert")).to_contain_text("This would be refused")
        expect(dialog.get_by_role("button", name="Request changes")).to_be_disabled()

    def test_a_play_that_works_cannot_be_judged(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}?play=ledger-api")
        expect(details(page, "ledger-api").get_by_role("link", name="Open session")).to_be_visible()
        expect(details(page, "ledger-api").get_by_role("button", name="Judge…")).to_have_count(0)


class TestLive:
    def test_a_play_moves_on_while_it_is_watched(self, own_page: Page, own_world: World) -> None:
        own_page.goto(f"/shows/{SHOW}")
        expect(row(own_page, "ledger-api")).to_contain_text("running")
        before = row(own_page, "worker").bounding_box()
        ctx = own_world.open()
        shows.put_play(ctx, SHOW, "ledger-api", actor="director", status="running_complete", exit_code=0)
        ctx.db.close()
        expect(row(own_page, "ledger-api")).to_contain_text("awaiting gate")
        assert row(own_page, "worker").bounding_box() == before


class TestAround:
    def test_the_plan_is_below_closed_and_markdown(self, page: Page) -> None:
        page.goto(f"/shows/{SHOW}")
        plan = page.get_by_role("button", name="Plan _show.md")
        expect(plan).to_have_attribute("aria-expanded", "false")
        plan.click()
        expect(page.locator("#plan li").filter(has_text="the contract tests pass")).to_be_visible()
        expect(page.locator("#plan strong").filter(has_text="ledger-api")).to_be_visible()

    def test_a_show_on_disk_says_how_to_bring_it_in(self, staged: Page) -> None:
        staged.goto("/shows/only-on-disk")
        expect(staged.get_by_text("li state import-shows")).to_be_visible()
        expect(staged.get_by_text("Split the ledger.")).to_be_visible()
        staged.get_by_role("button", name="_meta.json").click()
        expect(staged.get_by_text('"status": "running"')).to_be_visible()

    def test_a_broken_plan_is_said_above_everything(self, staged: Page) -> None:
        staged.goto("/shows/broken")
        expect(staged.get_by_role("note").filter(has_text="wait for each other")).to_contain_text("egg → hen → egg")
        expect(staged.get_by_role("note").filter(has_text="do not exist")).to_contain_text("lost waits for nobody")
        expect(staged.get_by_role("note").filter(has_text="could be read")).to_be_visible()

    def test_a_final_verdict_is_shown(self, page: Page) -> None:
        page.goto("/shows/docs-refresh")
        expect(page.get_by_role("note").filter(has_text="The final gate passed")).to_contain_text("All pages are new.")

    def test_a_show_nobody_knows_is_an_error_with_a_way_on(self, page: Page, expected_problems: list[str]) -> None:
        expected_problems.append("404")
        page.goto("/shows/nobody-knows")
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_role("button", name="Try again")).to_be_visible()

    def test_names_that_look_like_addresses_work(self, staged: Page) -> None:
        staged.goto("/shows")
        staged.get_by_role("link", name="a/b?c").click()
        expect(staged.get_by_role("heading", level=1)).to_have_text("a/b?c")
        row(staged, "x/y").get_by_role("button").click()
        expect(staged.get_by_text("Raw status")).to_be_visible()

    def test_hostile_text_is_text(self, staged: Page) -> None:
        staged.goto("/shows/hostile?play=bait")
        expect(details(staged, "bait")).to_contain_text("<script>window.hacked = true</script>")
        staged.get_by_role("button", name="Plan _show.md").click()
        expect(staged.locator("#plan")).to_contain_text("one-very-long-line-without-any-space-")
        expect(staged.locator(f'tr[data-play="{HOSTILE_NAME}"]')).to_contain_text("⟨RLO⟩")
        assert staged.evaluate("window.hacked") is None
        expect(staged.locator("main script, main iframe, main img")).to_have_count(0)
        expect(staged.locator('main a[href^="javascript:"]')).to_have_count(0)
        assert staged.evaluate("document.documentElement.scrollWidth <= innerWidth")

    @pytest.mark.parametrize("path", ["/shows", f"/shows/{SHOW}?play=docs"])
    def test_nobody_is_kept_out(self, page: Page, path: str) -> None:
        page.goto(path)
        expect(page.get_by_role("table").first).to_be_visible()
        expect_accessible_in_both_themes(page)

    @pytest.mark.parametrize("look", [{"viewport": {"width": 800, "height": 900}}])
    def test_a_narrow_window_shows_names_and_states_without_scrolling_sideways(
        self, page: Page, look: dict[str, object]
    ) -> None:
        page.goto(f"/shows/{SHOW}?play=worker")
        expect(row(page, "docs").get_by_text("needs you")).to_be_visible()
        expect(details(page, "worker").get_by_role("link", name="Open session")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        table, last = page.get_by_role("table", name="Plays").bounding_box(), row(page, "docs").bounding_box()
        assert table is not None and last is not None
        assert abs(table["width"] - last["width"]) < 2

    @pytest.mark.parametrize("look", [{"viewport": {"width": 480, "height": 900}}])
    def test_on_a_phone_no_state_is_cut(self, page: Page, look: dict[str, object]) -> None:
        page.goto(f"/shows/{SHOW}?play=worker")
        expect(row(page, "docs").get_by_text("needs you")).to_be_visible()
        pills = page.locator("tr[data-play] [title^='status '] .cut")
        assert pills.evaluate_all("all => all.every((one) => one.scrollWidth <= one.clientWidth)")
        expect(details(page, "worker").get_by_role("link", name="Open session")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
