"""Teams and one team in the browser: the list, the lanes, what was written, who is in it, and the runs behind it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from lionstudio.services import teams
from tests.browser.axe import expect_accessible_in_both_themes
from tests.browser.studio import Studio, Visit
from tests.browser.telling import id_of
from tests.browser.texts import HOSTILE
from tests.browser.world import OLD_TEAM, SHOW, TEAM, World, build

BUSY, QUIET, EVIL = id_of("busy"), id_of("quiet"), id_of("evil")
EVIL_NAME = "it's <i>evil</i>"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A studio with teams of every kind, and nothing else."""
    with build(tmp_path_factory.mktemp("stage"), size=0) as world, Studio(world.settings) as studio:
        ctx = world.open()
        teams.put_team(ctx, BUSY, actor="ana", name="busy", members=("lead", "builder"))
        for number in range(130):
            sender, recipient = ("lead", "all") if number % 2 else ("builder", "lead")
            teams.add_message(
                ctx, BUSY, sender=sender, recipient=recipient, content=f"message {number}",
                created_at=world.now - 7200 + number * 50,
            )  # fmt: skip
        teams.put_team(ctx, QUIET, actor="ana", name="quiet", members=("lead",))
        teams.put_team(ctx, EVIL, actor="ana", name=EVIL_NAME, members=("<u>lead</u>", "b\u202erob"))
        teams.add_message(ctx, EVIL, sender="<u>lead</u>", content=HOSTILE)
        ctx.db.close()
        yield studio


@pytest.fixture
def staged(browser: Browser, stage: Studio) -> Iterator[Page]:
    visit = Visit(browser, stage.url)
    yield visit.page
    visit.close()
    assert visit.problems == []


def messages(page: Page) -> Locator:
    return page.locator("[data-message]")


def open_team(page: Page, team: str = id_of(TEAM), rest: str = "") -> None:
    page.goto(f"/teams/{team}{rest}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


class TestList:
    def test_each_team_has_its_state_members_messages_and_its_last_message(self, page: Page) -> None:
        page.goto("/teams")
        cells = page.get_by_role("row").filter(has_text=TEAM).get_by_role("cell")
        expect(cells.nth(1)).to_have_text("Active")
        expect(cells.nth(2)).to_have_text("4")
        expect(cells.nth(3)).to_have_text("15")
        expect(cells.nth(4)).to_contain_text("ago")
        expect(page.get_by_role("row").filter(has_text=OLD_TEAM)).to_contain_text("Archived")

    def test_a_view_lists_only_its_teams_and_has_an_address(self, page: Page) -> None:
        page.goto("/teams")
        page.get_by_role("link", name="Archived").click()
        expect(page).to_have_url(re.compile(r"/teams\?status=archived$"))
        expect(page.get_by_role("row").filter(has_text=OLD_TEAM)).to_be_visible()
        expect(page.get_by_role("row").filter(has_text=TEAM)).to_have_count(0)

    def test_each_view_counts_the_rows_of_its_list(self, page: Page) -> None:
        page.goto("/teams")
        views = page.get_by_role("navigation", name="Views")
        for name in ("All", "Active", "Archived"):
            tab = views.get_by_role("link", name=re.compile(rf"^{name} \d+$"))
            tab.click()
            expect(views.locator("[aria-current]")).to_have_count(1)
            expect(tab).to_have_attribute("aria-current", "page")
            count = int(tab.inner_text().split()[-1])
            words = re.compile(rf"^{count} teams?$" if count else "^No team is")
            expect(page.get_by_text(words)).to_be_visible()

    def test_an_empty_studio_says_what_to_type(self, empty_page: Page) -> None:
        empty_page.goto("/teams")
        expect(empty_page.get_by_text("li team create NAME MEMBER MEMBER")).to_be_visible()
        expect(empty_page.get_by_text("li state import-teams")).to_be_visible()

    def test_the_list_is_walked_by_keys(self, page: Page) -> None:
        page.goto("/teams")
        expect(page.get_by_role("row").filter(has_text=TEAM)).to_be_visible()
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(TEAM)


class TestLanes:
    def test_every_member_has_a_lane_of_22_px_with_a_tick_for_each_message(self, page: Page) -> None:
        open_team(page)
        for name, count in (("lead", 4), ("architect", 3), ("builder", 4), ("tester", 3)):
            lane = page.locator(f'[data-lane="{name}"]')
            expect(lane).to_have_css("height", "22px")
            expect(lane.locator("[data-tick]")).to_have_count(count)

    def test_to_everyone_is_tall_to_one_is_short_an_escalation_a_square(self, page: Page) -> None:
        open_team(page)
        lead = page.locator('[data-lane="lead"]')
        expect(lead.locator('[data-tick="all"]').first).to_have_css("height", "16px")
        expect(lead.locator('[data-tick="one"]').first).to_have_css("height", "10px")
        square = lead.locator('[data-tick="escalation"]')
        expect(square).to_have_css("width", "10px")
        expect(square).to_have_css("background-color", "rgb(125, 75, 214)")

    def test_who_cannot_see_them_hears_a_sentence(self, page: Page) -> None:
        open_team(page)
        lanes = page.get_by_role("img", name=re.compile("Who wrote when"))
        expect(lanes).to_have_attribute("aria-label", re.compile("lead 4 messages, architect 3 messages"))


class TestMessages:
    def test_the_newest_is_first_and_says_from_whom_to_whom(self, page: Page) -> None:
        open_team(page)
        expect(messages(page)).to_have_count(15)
        expect(messages(page).first).to_contain_text("leadtoall")
        expect(messages(page).first).to_contain_text("Good work.")
        expect(messages(page).last).to_contain_text("Morning.")

    def test_a_long_one_is_a_summary_until_it_is_expanded(self, page: Page) -> None:
        open_team(page)
        long = messages(page).filter(has_text="Notes on the gateway")
        expect(long).not_to_contain_text("send it back")
        long.get_by_role("button", name="Expand raw message").click()
        expect(long).to_contain_text("send it back")
        long.get_by_role("button", name="Collapse raw message").click()
        expect(long).not_to_contain_text("send it back")

    def test_a_short_one_has_nothing_to_expand(self, page: Page) -> None:
        open_team(page)
        expect(messages(page).first.get_by_role("button", name="Expand raw message")).to_have_count(0)

    def test_who_has_read_it_is_said(self, page: Page) -> None:
        open_team(page)
        expect(messages(page).first).to_contain_text("read by 2 of 3")

    def test_a_notice_of_the_system_is_one_quiet_line(self, page: Page) -> None:
        open_team(page)
        expect(messages(page).nth(1)).to_contain_text("lead added tester-2 to the team.")
        expect(page.locator("article[data-message]")).to_have_count(14)

    def test_older_ones_are_loaded_page_by_page_to_the_end(self, staged: Page) -> None:
        open_team(staged, BUSY)
        expect(messages(staged)).to_have_count(50)
        for count in (100, 130):
            staged.get_by_role("button", name="Load more").click()
            expect(messages(staged)).to_have_count(count)
        expect(messages(staged).last).to_contain_text("message 0")
        expect(staged.get_by_role("button", name="Load more")).to_have_count(0)

    def test_pressing_a_member_lists_what_they_wrote(self, page: Page) -> None:
        open_team(page)
        page.get_by_role("button", name=re.compile("^tester")).click()
        expect(messages(page)).to_have_count(3)
        expect(page).to_have_url(re.compile(r"\?from=tester$"))
        page.reload()
        expect(messages(page)).to_have_count(3)
        page.get_by_role("button", name="Clear").click()
        expect(messages(page)).to_have_count(15)

    def test_the_list_can_be_narrowed_to_what_is_there_for_somebody_and_unread(self, page: Page) -> None:
        open_team(page)
        page.get_by_role("combobox", name=re.compile("^To")).select_option("tester")
        expect(messages(page)).to_have_count(8)
        page.get_by_role("button", name="Unread 7").click()
        expect(messages(page)).to_have_count(7)

    def test_the_run_it_was_sent_from_is_one_press_away(self, page: Page, world: World) -> None:
        open_team(page)
        sent = messages(page).filter(has_text="Measured:")
        sent.get_by_role("link").click()
        expect(page).to_have_url(re.compile(f"/runs/{world.runs[f'{SHOW}/ledger-api']}"))

    def test_a_team_in_which_nobody_wrote_says_how(self, staged: Page) -> None:
        open_team(staged, QUIET)
        expect(staged.get_by_text("Nobody has written yet.")).to_be_visible()
        expect(staged.get_by_text('li team send quiet "…"').first).to_be_visible()


class TestBeside:
    def test_members_say_how_much_they_wrote_and_what_they_have_not_read(self, page: Page) -> None:
        open_team(page)
        tester = page.get_by_role("button", name=re.compile("^tester"))
        expect(tester).to_contain_text("3 sent · 8 received")
        expect(tester).to_contain_text("7 unread")

    def test_linked_runs_have_their_state_and_lead_to_the_run(self, page: Page, world: World) -> None:
        open_team(page)
        linked = page.get_by_role("listitem").filter(has_text=f"{SHOW}/ledger-api")
        expect(linked).to_contain_text("4 messages")
        expect(linked).to_contain_text("Running")
        linked.get_by_role("link").click()
        expect(page).to_have_url(re.compile(f"/runs/{world.runs[f'{SHOW}/ledger-api']}"))

    def test_the_lanes_move_nothing_when_they_come(self, page: Page) -> None:
        lanes = re.compile(r"/messages\?.*limit=300")
        page.route(lanes, lambda asked: None)  # asked for, and on its way
        open_team(page)
        expect(messages(page)).to_have_count(15)
        before = messages(page).first.bounding_box()
        page.unroute(lanes)  # which lets them come
        expect(page.get_by_role("img", name="Who wrote when")).to_be_visible()
        assert messages(page).first.bounding_box() == before


class TestLive:
    def test_a_new_message_waits_above_and_moves_nothing(self, own_page: Page, own_world: World) -> None:
        open_team(own_page)
        expect(messages(own_page)).to_have_count(15)
        before = messages(own_page).first.bounding_box()
        ctx = own_world.open()
        teams.add_message(ctx, id_of(TEAM), sender="lead", content="One more thing.")
        ctx.db.close()
        new = own_page.get_by_role("button", name="1 new")
        expect(new).to_be_visible()
        expect(own_page.get_by_text("16 messages")).to_be_visible()
        expect(messages(own_page).first).to_contain_text("Good work.")
        assert messages(own_page).first.bounding_box() == before
        new.click()
        expect(messages(own_page).first).to_contain_text("One more thing.")


class TestAround:
    def test_a_team_nobody_knows_is_an_error_with_a_way_on(self, page: Page, expected_problems: list[str]) -> None:
        expected_problems.append("404")
        page.goto("/teams/nobody-knows")
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_role("button", name="Try again")).to_be_visible()

    def test_hostile_text_is_text(self, staged: Page) -> None:
        open_team(staged, EVIL)
        expect(staged.get_by_role("heading", level=1)).to_have_text(EVIL_NAME)
        expect(staged.get_by_text("li team send 'it'\\''s <i>evil</i>' \"…\"")).to_be_visible()
        expect(staged.get_by_text("b⟨RLO⟩rob").first).to_be_visible()
        staged.get_by_role("button", name="Expand raw message").click()
        expect(messages(staged).first).to_contain_text("<script>window.hacked = true</script>")
        expect(messages(staged).first).to_contain_text("⟨ESC⟩[31mred by ANSI")
        assert staged.evaluate("window.hacked") is None
        expect(staged.locator("main script, main iframe, main img")).to_have_count(0)
        assert staged.evaluate("document.documentElement.scrollWidth <= innerWidth")

    @pytest.mark.parametrize("path", ["/teams", f"/teams/{id_of(TEAM)}"])
    def test_nobody_is_kept_out(self, page: Page, path: str) -> None:
        page.goto(path)
        expect(page.get_by_text(TEAM).first).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        expect_accessible_in_both_themes(page)

    @pytest.mark.parametrize("look", [{"viewport": {"width": 800, "height": 900}}])
    def test_a_narrow_window_stacks_and_does_not_scroll_sideways(self, page: Page, look: dict[str, object]) -> None:
        open_team(page)
        expect(messages(page)).to_have_count(15)
        expect(page.get_by_role("heading", name="Members")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
