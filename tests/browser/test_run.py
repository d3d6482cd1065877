"""One run: its state and the evidence behind it, who was busy when, what failed, and what can be done about it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from lionstudio.domain.health import HOUR, MINUTE
from lionstudio.services import interventions
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from lionstudio.services.prune_selected import prune_selected
from lionstudio.services.sessions import get_session
from tests.browser.axe import expect_accessible_in_both_themes
from tests.browser.studio import Studio
from tests.browser.telling import Teller, id_of
from tests.browser.trouble import fail_until_tried_again
from tests.browser.world import SHOW, TEAM, World, build
from tests.browser.writer import Writer
from tests.factories import Clock, assistant_says

SECTIONS = ("Overview", "Tool errors", "Branches", "Files", "Team messages", "History")
IDS = ("overview", "tool-errors", "branches", "files", "team-messages", "history")
DEEP = "src/a/very/long/folder/that/goes/on/and/on/and/never/seems/to/come/to/any/end/at/all/whatever/one/does"
LONG_NAME = "the_name_of_the_file_is_always_whole.py"
HOSTILE = "Timed out after 120s\n\x1b[31mred\x1b[0m <script>window.hurt = true</script>"
TURNED = "name \u202etxt.exe"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with build(tmp_path_factory.mktemp("run")) as world:
        clock, ctx = Clock(world.now), world.open()
        teller = Teller(Context(ctx.db, now=clock), clock)
        _family(world, teller)
        _failing(world, teller)
        _late(world, teller)
        beside = {"long": "x" * 199_986 + " the end of it", "same name": 1, "same\nname": 2}
        beside |= {f"ticket {number}": number for number in range(28)}
        teller.run("Much beside", at=world.now - 80, node_metadata=beside).end(exit_code=0)
        teller.run("Never spoke", at=world.now - 90).end("failed", exit_code=1)
        teller.run("Pruned later", at=world.now - 9 * HOUR).end(exit_code=0)
        clock.now = world.now
        prune_selected(teller.ctx, [teller.told["Pruned later"]], actor="ana", reason="not needed")
        world.runs |= teller.told
        ctx.db.close()
        yield world


@pytest.fixture(scope="module")
def studio(world: World) -> Iterator[Studio]:
    with Studio(world.settings) as studio:
        yield studio


def _family(world: World, teller: Teller) -> None:
    parent = teller.run("Parent of two", at=world.now - 2 * HOUR, kind="flow", node_metadata={"cwd": "/srv/ledger"})
    parent.process(world.live_process())
    parent.user("Start two of them.")
    for name in ("First child", "Second child"):
        child = teller.run(name, at=world.now - HOUR, parent_session_id=parent.session_id)
        child.user("Do your part.")
        child.end(exit_code=0)


def _failing(world: World, teller: Teller) -> None:
    """Eight failures of three kinds in two branches, and files of every length."""
    run = teller.run("Fails in three ways", at=world.now - 40 * MINUTE, step=20.0)
    run.user("Load the ledger.")  # 1
    for row in range(5):
        run.tool("bash", f"Key (entry_id)=({row * 17}) already exists.\nin flush", error=True, cmd="load")
    run.tool("edit_file", None, error="The text to replace was not found.", path=f"{DEEP}/{LONG_NAME}")
    run.tool("bash", HOSTILE, error=True, cmd="pytest")
    fork = run.fork("retry")
    fork.tool("bash", "Key (entry_id)=(99) already exists.", error=True, cmd="load")
    fork.tool("read_file", "…", path="README.md")
    for number in range(12):
        fork.tool("write_file", "ok", path=f"src/part_{number}.py")
    run.end("failed", exit_code=3)


def _late(world: World, teller: Teller) -> None:
    run = teller.run("Wrote after its end", at=world.now - 9 * HOUR).process(world.dead_process())
    run.user("Go on.")
    teller.clock.now = world.now - HOUR
    interventions.transition(
        teller.ctx, [run.session_id], to="cancelled", reason="run.health.process_dead", actor="mira", note="Rebooted."
    )
    teller.clock.now = world.now - HOUR + 60
    append_message(teller.ctx, run.line, assistant_says("I am back."))


def visit(page: Page, world: World, name: str, rest: str = "") -> None:
    page.goto(f"/runs/{world.runs[name]}{rest}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def panel(page: Page, id: str) -> Locator:
    return page.locator(f"#{id}")


def chain(page: Page) -> Locator:
    return page.locator("header [title^='status ']")


def fact(page: Page, term: str) -> Locator:
    return page.locator("#overview dl > div").filter(has=page.locator("dt", has_text=re.compile(f"^{term}$")))


def expect_in_view(page: Page, section: str) -> None:
    links = page.get_by_role("navigation", name="Sections").get_by_role("link")
    expect(links.filter(has_text=section)).to_have_attribute("aria-current", "true")
    assert page.locator("nav[aria-label=Sections] a[aria-current=true]").count() == 1


# The header.


def test_the_header_says_the_whole_state_in_one_chain(page: Page, world: World) -> None:
    visit(page, world, "Rewrite the importer")
    expect(page).to_have_title("Rewrite the importer – Lion Studio")
    expect(page.get_by_role("heading", level=1)).to_have_text("Rewrite the importer")
    expect(chain(page)).to_have_text("Running · quiet 8h · process gone · 3 messages")
    expect(chain(page)).to_have_attribute("title", "status running")
    box = chain(page).bounding_box()
    assert box is not None
    assert box["height"] == 26
    assert page.locator("header [title^='status ']").count() == 1


def test_a_running_run_shows_what_it_waits_for(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    expect(page.locator("header").get_by_text(re.compile(r"Activity: bash for \d"))).to_be_attached()


def test_a_branch_says_what_it_does_in_full_and_nothing_once_the_run_is_gone(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    branches = page.get_by_role("navigation", name="Branches")
    busy = branches.get_by_role("button", name=re.compile("^architect"))
    expect(busy.get_by_text(re.compile(r"Activity: bash for \d"))).to_be_attached()
    assert busy.locator("b", has_text="bash").evaluate("one => one.scrollWidth <= one.clientWidth")
    visit(page, world, "Rewrite the importer")
    expect(branches.get_by_role("button", name=re.compile("^main"))).to_be_visible()
    expect(branches.get_by_text("Activity:")).to_have_count(0)


def test_the_header_and_its_links_stay_in_sight(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    page.keyboard.press("6")
    expect(panel(page, "history")).to_be_in_viewport()
    expect(chain(page)).to_be_in_viewport()
    expect(page.get_by_role("navigation", name="Sections")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("Rewrite the importer", "Transition…"),
        ("Build the image", "First error"),
        ("Wrote after its end", "Show them"),
        ("Leave files behind", "Clean up…"),
        ("Never said a word", "Repair…"),
        ("Sync the mirrors", "Export"),
        ("Refactor the parser", "How to end it…"),
    ],
)
def test_the_action_that_fits_comes_last(page: Page, world: World, name: str, action: str) -> None:
    visit(page, world, name)
    actions = page.get_by_role("group", name="Actions").locator("> *")
    expect(actions.first).to_have_text("Copy link")
    expect(actions.last).to_have_text(action)


def test_the_first_error_and_late_messages_are_one_click_away(page: Page, world: World) -> None:
    visit(page, world, "Build the image")
    page.get_by_role("link", name="First error").click()
    expect(page).to_have_url(re.compile(r"\?branch=.+#m3$"))
    visit(page, world, "Wrote after its end")
    page.get_by_role("link", name="Show them").click()
    expect(page).to_have_url(re.compile(r"\?branch=.+#m2$"))
    expect(page.get_by_text("I am back.")).to_be_in_viewport()


# Sections.


def test_numbers_jump_to_sections_and_the_address_says_so(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    expect_in_view(page, "Overview")
    for number, (section, id) in enumerate(zip(SECTIONS, IDS, strict=True), 1):
        page.keyboard.press(str(number))
        expect(page).to_have_url(re.compile(f"#{id}$"))
        expect_in_view(page, section)
        expect(panel(page, id)).to_be_in_viewport()
    header = page.locator("header").nth(1).bounding_box()
    for number, id in ((2, "tool-errors"), (3, "branches")):
        page.keyboard.press(str(number))
        expect(page).to_have_url(re.compile(f"#{id}$"))
        box = panel(page, id).bounding_box()
        assert header is not None
        assert box is not None
        assert header["y"] + header["height"] <= box["y"] < header["y"] + header["height"] + 40


def test_a_link_jumps_and_scrolling_says_where_one_is(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="Team messages").click()
    expect(page).to_have_url(re.compile("#team-messages$"))
    expect_in_view(page, "Team messages")
    page.mouse.move(100, 600)  # beside the transcript, which has a scroll of its own
    page.mouse.wheel(0, -20_000)
    expect_in_view(page, "Overview")


def test_an_address_with_a_section_opens_there(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser", "#history")
    expect(panel(page, "history")).to_be_in_viewport()
    expect_in_view(page, "History")


@pytest.mark.parametrize("hash", ["#m1", "#m7", "#m5000"])
def test_an_address_with_a_message_opens_with_the_head_of_the_transcript_below_the_header(
    page: Page, world: World, hash: str
) -> None:
    visit(page, world, "Refactor the parser", hash)
    expect(panel(page, "branches").get_by_placeholder("Find in transcript")).to_be_in_viewport()
    expect_in_view(page, "Branches")
    expect(panel(page, "history").locator("tbody tr").first).to_be_visible()  # everything is there
    header = page.locator("header").nth(1).bounding_box()
    assert header is not None
    below = header["y"] + header["height"]
    page.wait_for_function(
        "below => { const { top } = document.getElementById('branches').getBoundingClientRect()\n"
        "return below <= top && top < below + 40 }",
        arg=below,
        timeout=5_000,
    )


def test_keys_rest_while_somebody_types(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    page.get_by_placeholder("Find in transcript").fill("")
    page.keyboard.type("6c")
    assert "#history" not in page.url
    expect(page.get_by_text("Link copied")).to_have_count(0)


@pytest.mark.parametrize("name", ["Never spoke"])
def test_empty_sections_say_so_in_one_line(page: Page, world: World, name: str) -> None:
    visit(page, world, name)
    expect(panel(page, "tool-errors")).to_contain_text("No tool failed in this run.")
    expect(panel(page, "files")).to_contain_text("No tool call of this run names a file.")
    expect(panel(page, "team-messages")).to_contain_text("This run wrote to no team.")
    expect(panel(page, "overview")).to_contain_text("Too little time passed between its messages to draw it.")


# The overview.


def test_the_evidence_is_told_in_full_with_what_is_unknown(page: Page, world: World) -> None:
    visit(page, world, "Rewrite the importer")
    why = page.locator("section", has=page.get_by_role("heading", name="Why this state")).last
    expect(why).to_contain_text("Stale: the process ended and the run never said how.")
    expect(why).to_contain_text("run.health.process_dead")
    expect(why).to_contain_text(re.compile(r"Process \d+ on .+ is gone"))
    expect(why).to_contain_text("Unknown: Heartbeat unknown")
    expect(why).to_contain_text("Stored status is running")
    why.get_by_role("link", name="main #3").click()
    expect(page).to_have_url(re.compile(r"#m3$"))
    expect(panel(page, "branches")).to_be_in_viewport()


def test_the_timeline_of_a_dead_run_ends_with_its_last_sign_of_life(page: Page, world: World) -> None:
    visit(page, world, "Rewrite the importer")
    timeline = page.locator("section", has=page.get_by_role("heading", name="Timeline")).last
    expect(timeline).to_contain_text(re.compile(r"\d\d – .*, its last sign of life"))
    bar = timeline.locator(".lane-open")
    expect(bar).to_have_css("min-width", "28px")
    tone = re.compile("t-stale")
    expect(timeline.locator(".lane .rounded-full").first).to_have_class(tone)
    expect(page.get_by_role("navigation", name="Branches").locator(".rounded-full").first).to_have_class(tone)


def test_nothing_of_a_fact_is_cut_that_fits_on_two_lines(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    note = fact(page, "Cost").locator("dd").last
    expect(note).to_contain_text("gpt-5 $")
    assert note.evaluate("one => one.scrollHeight <= one.clientHeight && one.scrollWidth <= one.clientWidth")


def test_evidence_opens_by_key_and_leaves_with_escape(page: Page, world: World) -> None:
    visit(page, world, "Rewrite the importer")
    expect(panel(page, "history").locator("tbody tr")).to_have_count(1)  # everything is there
    card = page.get_by_role("dialog", name="Evidence")
    page.keyboard.press("e")
    expect(card).to_contain_text("run.health.process_dead")
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)


def test_pointing_at_the_chain_opens_the_evidence(page: Page, world: World) -> None:
    visit(page, world, "Rewrite the importer")
    expect(panel(page, "history").locator("tbody tr")).to_have_count(1)
    box = chain(page).bounding_box()
    assert box is not None
    page.mouse.move(900, 700)
    page.mouse.move(box["x"] + 40, box["y"] + 12, steps=20)  # as a hand does
    card = page.get_by_role("dialog", name="Evidence")
    expect(card).to_contain_text("the process ended and the run never said how.")


def test_the_facts_of_a_run(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    expect(fact(page, "Duration")).to_contain_text(re.compile(r"\d\dm"))
    expect(fact(page, "Messages")).to_contain_text("294 branches")
    expect(fact(page, "Tokens")).to_contain_text(re.compile(r"47\.6 k36\.0 k cached · 1,970 out"))
    expect(fact(page, "Cost")).to_contain_text(re.compile(r"\$0\.\d+.*gpt-5 \$"))
    expect(fact(page, "Model")).to_contain_text("claude-sonnet-4-6and gpt-5")
    expect(fact(page, "Process").first).to_contain_text("pid")
    expect(fact(page, "Tool errors")).to_contain_text("22 kinds")
    expect(fact(page, "Interactive")).to_contain_text("yes, a person sits in front of it")
    metadata = page.get_by_role("region", name="Metadata")
    expect(metadata.locator("dt")).to_have_text(["ticket"])
    expect(metadata.locator("dd")).to_have_text(["PAY-118"])
    expect(fact(page, "User")).to_contain_text("ana")
    expect(fact(page, "Artifacts")).to_contain_text("artifacts/parser")


def test_much_that_was_written_down_beside_is_shown_when_asked_for(page: Page, world: World) -> None:
    visit(page, world, "Much beside")
    metadata = page.get_by_role("region", name="Metadata")
    expect(metadata.locator("dt")).to_have_count(20)
    long = metadata.locator("dd").first
    assert len(long.inner_text()) < 400
    long.get_by_role("button", name="Show all 200.0 kB").click()
    expect(long).to_contain_text("the end of it")
    box = long.bounding_box()
    assert box is not None and box["height"] <= 260
    metadata.get_by_role("button", name="11 more").click()
    expect(metadata.locator("dt")).to_have_count(31)
    expect(metadata.locator("dt").filter(has_text="same name")).to_have_count(2)  # two names that are drawn alike


def test_the_duration_of_a_running_run_ticks(page: Page, world: World) -> None:
    """R98: nothing stores it; it is counted while one looks."""
    page.clock.install()
    visit(page, world, "Refactor the parser")
    before = fact(page, "Duration").locator("dd").first.inner_text()
    page.clock.fast_forward("05:00")
    expect(fact(page, "Duration").locator("dd").first).not_to_have_text(before)


def test_an_ended_run_says_how_long_it_took_and_how_it_ended(page: Page, world: World) -> None:
    visit(page, world, "Load test at noon")
    expect(fact(page, "Duration")).to_contain_text("1h 10m")
    expect(fact(page, "Ended")).to_contain_text("exit 124")


def test_agent_and_playbook_lead_to_the_runs_that_share_them(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    fact(page, "Playbook").get_by_role("link", name="audit").click()
    expect(page).to_have_url(re.compile(r"/runs\?playbook=audit$"))
    page.go_back()
    fact(page, "Agent").first.get_by_role("link", name="architect").click()
    expect(page).to_have_url(re.compile(r"/runs\?agent=architect$"))


def test_a_run_of_a_play_leads_back_to_it(page: Page, world: World) -> None:
    """R78."""
    visit(page, world, f"{SHOW}/worker")
    source = page.locator("header").get_by_role("link", name=f"Show {SHOW} / Play worker")
    expect(page.locator("header").get_by_text("Source:")).to_be_visible()
    source.click()
    expect(page).to_have_url(re.compile(rf"/shows/{SHOW}\?play=worker$"))


def test_parents_and_children_are_linked(page: Page, world: World) -> None:
    visit(page, world, "Parent of two")
    started = fact(page, "Started")
    expect(started).to_contain_text(re.compile("Completed"))
    expect(fact(page, "cwd")).to_contain_text("/srv/ledger")
    started.get_by_role("link", name="First child").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("First child")
    fact(page, "Started by").get_by_role("link", name="Parent of two").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Parent of two")


# The timeline.


def lane(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=f"Timeline of {name}", exact=True)


def test_each_branch_has_a_lane_with_its_errors_its_fork_and_what_goes_on(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    expect(page.get_by_role("slider")).to_have_count(4)
    expect(lane(page, "builder").locator(".lane-error")).to_have_count(2)
    expect(lane(page, "builder").locator(".lane-fork")).to_have_count(1)
    expect(lane(page, "architect").locator(".lane-fork")).to_have_count(0)
    expect(lane(page, "architect").locator(".lane-open")).to_have_count(1)
    expect(lane(page, "architect").locator(".lane-human")).to_have_count(1)
    expect(lane(page, "architect").locator(".lane-model").first).to_be_visible()
    box = lane(page, "architect").bounding_box()
    assert box is not None
    assert box["height"] == 26


@pytest.mark.parametrize("name", ["Refactor the parser", "Never spoke"])
def test_the_timeline_moves_nothing_when_it_comes(page: Page, world: World, name: str) -> None:
    page.route("**/timeline", lambda asked: None)  # asked for, and on its way
    visit(page, world, name)
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    before = panel(page, "tool-errors").bounding_box()
    with page.expect_response("**/timeline"):
        page.unroute("**/timeline")  # which lets it come
    expect(page.locator(".lane-model").first.or_(page.get_by_text("Too little time passed"))).to_be_visible()
    assert panel(page, "tool-errors").bounding_box() == before


def test_pointing_at_a_lane_tells_and_pressing_goes_there(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    busy = lane(page, "architect").locator(".lane-human")
    expect(busy).to_be_visible()
    busy.hover(force=True)
    expect(lane(page, "architect")).to_have_attribute("aria-valuetext", re.compile(r"waited for a person .* · #8$"))
    expect(lane(page, "architect").get_by_text(re.compile(r"waited for a person \d+m · #8"))).to_be_visible()
    busy.click(force=True)
    expect(page).to_have_url(re.compile(r"#m8$"))
    expect(panel(page, "branches")).to_be_in_viewport()


def test_a_lane_is_read_and_left_by_keyboard(page: Page, world: World) -> None:
    visit(page, world, "Fails in three ways")
    track = lane(page, "main")
    expect(track.locator(".lane-error")).to_have_count(7)
    track.focus()
    page.keyboard.press("End")
    expect(track).to_have_attribute("aria-valuetext", re.compile(r"bash failed: Timed out after 120s · #15$"))
    page.keyboard.press("ArrowLeft")
    expect(track).not_to_have_attribute("aria-valuetext", re.compile(r"failed: Timed out"))
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"#m15$"))


def test_what_is_chosen_in_a_lane_stays_so_when_more_comes(page: Page, world: World) -> None:
    page.route("**/timeline", lambda asked: None)  # asked for, and on its way; the errors are known without it
    visit(page, world, "Fails in three ways")
    track = lane(page, "main")
    expect(track.locator(".lane-error")).to_have_count(7)
    expect(track.locator(".lane-model")).to_have_count(0)
    track.focus()
    page.keyboard.press("End")
    expect(track).to_have_attribute("aria-valuetext", re.compile(r"· #15$"))
    page.unroute("**/timeline")
    expect(track.locator(".lane-model").first).to_be_visible()
    expect(track).to_have_attribute("aria-valuetext", re.compile(r"· #15$"))


# Tool errors.


def test_tool_errors_are_grouped_by_tool_and_masked_line(page: Page, world: World) -> None:
    """R106: counted here, from what tools said."""
    visit(page, world, "Fails in three ways")
    expect(chain(page)).to_contain_text("Failed · exit 3 · 8 tool errors")
    rows = panel(page, "tool-errors").get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("×6")
    expect(rows.nth(0)).to_contain_text("Key (entry_id)=(99) already exists.")
    expect(rows.nth(0)).to_contain_text("main 5 · retry 1")
    expect(rows.nth(0).locator(".lane-tick")).to_have_count(6)
    expect(panel(page, "tool-errors")).to_contain_text("3 kinds, grouped by tool and message")
    rows.nth(0).get_by_role("link", name="Last one").click()
    expect(page).to_have_url(re.compile(r"\?branch=.+#m17$"))


def test_an_error_opens_to_what_the_tool_said(page: Page, world: World) -> None:
    visit(page, world, "Fails in three ways")
    row = panel(page, "tool-errors").get_by_role("listitem").filter(has_text="Timed out after 120s")
    row.get_by_role("button", name="Open bash").click()
    said = row.locator("pre")
    expect(said).to_contain_text("red <script>window.hurt = true</script>")
    assert page.evaluate("window.hurt") is None
    expect(row.get_by_role("link", name="main #15")).to_be_visible()
    row.get_by_role("button", name="Close bash").click()
    expect(said).to_have_count(0)


# Files, teams, history.


def test_the_folder_of_a_file_is_cut_never_its_name(page: Page, world: World) -> None:
    visit(page, world, "Fails in three ways")
    files = panel(page, "files")
    expect(files).to_contain_text("14")
    expect(files.get_by_role("row")).to_have_count(9)  # one is the head
    files.get_by_role("button", name="Show 6 more files").click()
    expect(files.get_by_role("row")).to_have_count(15)
    row = files.get_by_role("row").filter(has_text=LONG_NAME)
    expect(row).to_contain_text("written")
    expect(row).to_contain_text("1 time")
    cut = "one => one.scrollWidth > one.clientWidth"
    assert row.get_by_text(DEEP).evaluate(cut)
    assert not row.get_by_text(LONG_NAME, exact=True).evaluate(cut)
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"#m12$"))


def test_team_messages_come_newest_first_and_open_in_full(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    team = panel(page, "team-messages")
    expect(team.get_by_role("listitem")).to_have_count(3)
    expect(team.get_by_role("listitem").last).to_contain_text("The schema is merged.")
    expect(team.get_by_role("listitem").last.locator("code")).to_have_text("bookings")
    expect(team.get_by_role("listitem").first).to_contain_text("architect to all")
    team.get_by_role("button", name="Expand raw message").click()
    expect(team.get_by_role("button", name="Close raw message")).to_be_visible()
    team.get_by_role("link", name=TEAM).click()
    expect(page).to_have_url(re.compile(r"/teams/"))


def test_history_says_who_changed_what_and_why(page: Page, world: World) -> None:
    visit(page, world, "Wrote after its end")
    rows = panel(page, "history").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text(re.compile(r"Running.*Cancelled"))
    expect(rows.nth(0)).to_contain_text("Rebooted.")
    expect(rows.nth(0)).to_contain_text("run.ended.by_operator")
    expect(rows.nth(0)).to_contain_text("mira")
    expect(rows.nth(0)).to_contain_text("Known then: The process ended and the run never said how.")
    expect(rows.nth(1)).to_contain_text("A recorder began the run.")
    expect(rows.nth(1)).to_contain_text("run.started")


# Addresses that lead nowhere, and servers that do not answer.


class TestWithoutTheRun:
    @pytest.fixture
    def expected_problems(self) -> list[str]:
        return [r"status of (404|503)"]

    def test_a_run_that_does_not_exist_has_a_kind_page(self, page: Page) -> None:
        page.goto("/runs/nobody-1")
        expect(page.get_by_text("There is no run with this id.")).to_be_visible()
        expect(page.get_by_role("link", name="All runs")).to_be_visible()
        page.get_by_role("link", name="Search for it").click()
        expect(page).to_have_url(re.compile(r"/runs\?search=nobody-1$"))

    def test_the_beginning_of_an_id_leads_to_the_run(self, page: Page, world: World) -> None:
        wanted = world.runs["Fails in three ways"]
        others = {one["id"] for one in page.request.get("/api/sessions?limit=500").json()["items"]} - {wanted}
        size = next(size for size in range(1, 40) if not any(one.startswith(wanted[:size]) for one in others))
        page.goto(f"/runs/{wanted[:size]}?branch=all#m1")
        expect(page.get_by_role("heading", name="Fails in three ways", level=1)).to_be_visible()
        expect(page).to_have_url(re.compile(rf"/runs/{wanted}\?branch=all#m1$"))
        expect(page.get_by_role("log").locator('article[data-position="1"]')).to_be_in_viewport()
        page.go_back()
        expect(page).not_to_have_url(re.compile("/runs/"))  # it took the place of what was typed

    def test_a_beginning_that_several_ids_have_says_so_and_names_them(self, page: Page, world: World) -> None:
        ids = [one["id"] for one in page.request.get("/api/sessions?limit=500").json()["items"]]
        shared = next(letter for letter in "0123456789abcdef" if sum(one.startswith(letter) for one in ids) > 1)
        page.goto(f"/runs/{shared}")
        expect(page.get_by_text("Several runs have an id that begins so.")).to_be_visible()
        named = page.get_by_role("list", name="Runs whose ids begin so").get_by_role("listitem")
        first = named.first.get_by_role("link")
        name = first.inner_text()
        first.click()
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()

    def test_a_deleted_run_keeps_its_history(self, page: Page) -> None:
        page.goto(f"/runs/{id_of('Pruned later')}")
        expect(page.get_by_text("This run was deleted.")).to_be_visible()
        expect(panel(page, "history").locator("tbody tr").first).to_contain_text("Deleted")

    def test_a_run_that_cannot_be_loaded_says_why_and_tries_again(self, page: Page, world: World) -> None:
        def busy(route: Route) -> None:
            body = {"code": "db.busy", "message": "The database is busy.", "hint": "Another program writes."}
            route.fulfill(status=503, content_type="application/json", body=json.dumps(body))

        address = f"**/api/sessions/{world.runs['Never spoke']}"
        fail_until_tried_again(page, address, busy)
        page.goto(f"/runs/{world.runs['Never spoke']}")
        expect(page.get_by_role("alert")).to_contain_text("The database is busy.")
        expect(page.get_by_role("alert")).to_contain_text("db.busy")
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Never spoke")


# What can be done.


def test_c_copies_the_link(page: Page, world: World) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, world, "Refactor the parser", "#files")
    page.keyboard.press("c")
    expect(page.get_by_text("Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.get_by_role("button", name="Copy id").click()
    expect(page.get_by_role("button", name="Copied").first).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == world.runs["Refactor the parser"]


def test_a_run_is_exported_as_a_file(page: Page, world: World) -> None:
    visit(page, world, "Build the image")
    with page.expect_download() as coming:
        page.get_by_role("button", name="Export").click()
    assert coming.value.suggested_filename.endswith(".jsonl")
    lines = coming.value.path().read_text().splitlines()
    assert world.runs["Build the image"] in lines[0] + lines[1]
    assert len(lines) > 8


def test_a_run_that_works_says_why_it_cannot_be_ended(page: Page, world: World) -> None:
    visit(page, world, "Refactor the parser")
    page.get_by_role("button", name="How to end it…").click()
    said = page.get_by_role("dialog", name="Why this run cannot be ended here")
    expect(said).to_contain_text("Its process is alive, so it ends by itself.")
    expect(said).to_contain_text(f"li runs kill {world.runs['Refactor the parser']}")
    page.keyboard.press("Escape")
    expect(said).to_have_count(0)
    expect(page.get_by_role("button", name="How to end it…")).to_be_focused()


class TestEnding:
    """An own studio each, because they change it."""

    @pytest.fixture
    def expected_problems(self) -> list[str]:
        return [r"status of 409"]  # a refused plan is one

    def test_an_unresponsive_run_is_refused_before_anything_is_pressed(self, own_page: Page, own_world: World) -> None:
        visit(own_page, own_world, "Index the archive")
        own_page.get_by_role("button", name="End run…").click()
        dialog = own_page.get_by_role("dialog")
        expect(dialog).to_contain_text("1 of 1 would be refused")
        expect(dialog.get_by_role("button", name="Transition to failed")).to_be_disabled()

    def test_a_dead_run_is_ended_safely_from_its_page(self, own_page: Page, own_world: World) -> None:
        """R163, R168, R180: ended with a reason and a note, nothing lost, and the page says so by itself."""
        visit(own_page, own_world, "Rewrite the importer")
        own_page.get_by_role("button", name="Transition…").click()
        dialog = own_page.get_by_role("dialog")
        expect(dialog).to_contain_text("Transition 1 session to failed?")
        dialog.get_by_role("textbox", name="Note").fill("The machine was rebooted.")
        dialog.get_by_role("button", name="Transition to failed").click()
        expect(chain(own_page)).to_contain_text("Failed · by admin")
        expect(chain(own_page)).to_have_attribute("title", "status failed")
        expect(own_page.get_by_role("button", name="Transition…")).to_have_count(0)
        step = panel(own_page, "history").locator("tbody tr").first
        expect(step).to_contain_text(re.compile(r"Running.*Failed"))
        expect(step).to_contain_text("The machine was rebooted.")
        ctx = own_world.open()
        session = get_session(ctx, own_world.runs["Rewrite the importer"])
        ctx.db.close()
        assert (session.status, session.message_count, session.end_actor) == ("failed", 3, "admin")

    def test_what_a_run_left_behind_is_removed_from_its_page(self, own_page: Page, own_world: World) -> None:
        visit(own_page, own_world, "Leave files behind")
        own_page.get_by_role("button", name="Clean up…").click()
        dialog = own_page.get_by_role("dialog")
        expect(dialog).to_contain_text("cache.lock")
        dialog.get_by_role("button", name="Remove 3 files").click()
        expect(own_page.get_by_text("3 leftovers removed")).to_be_visible()
        expect(own_page.get_by_role("button", name="Clean up…")).to_have_count(0)
        expect(own_page.get_by_role("button", name="Export")).to_be_focused()
        left = own_world.home / "artifacts" / "left-behind"
        assert [one.name for one in left.iterdir()] == ["report.md"]

    def test_an_orphan_is_repaired_from_its_page(self, own_page: Page, own_world: World) -> None:
        visit(own_page, own_world, "Never said a word")
        own_page.get_by_role("button", name="Repair…").click()
        expect(own_page.get_by_role("dialog")).to_contain_text("Repair 1 session?")


# Live.


def test_messages_and_state_of_another_process_arrive_without_moving_the_page(own_page: Page, own_world: World) -> None:
    with Writer(own_world.environ, "Written live") as writer:
        writer.say("user", "Begin")
        writer.say("tool_call", "bash", {"cmd": "true"})
        own_page.goto(f"/runs/{writer.run_id}")
        expect(chain(own_page)).to_have_text("Running · process alive · 2 messages")
        expect(own_page.get_by_text("No result yet.")).to_be_visible()
        expect(panel(own_page, "history").locator("tbody tr")).to_have_count(1)
        tops = {id: panel(own_page, id).bounding_box() for id in IDS}
        for number in range(7):
            writer.say("assistant", f"Answer {number}", usage={"input_tokens": 50, "output_tokens": 9})
        expect(chain(own_page)).to_contain_text("9 messages")
        expect(fact(own_page, "Messages")).to_contain_text("9")
        expect(fact(own_page, "Tokens")).to_contain_text("413")
        expect(own_page.get_by_text("Answer 6")).to_be_visible()
        expect(lane(own_page, "main").locator(".lane-model").first).to_be_attached()
        assert {id: panel(own_page, id).bounding_box() for id in IDS} == tops
    expect(chain(own_page)).to_contain_text("Completed")
    expect(chain(own_page)).to_have_attribute("title", "status completed")
    expect(own_page.get_by_role("button", name="How to end it…")).to_have_count(0)
    expect(panel(own_page, "history").locator("tbody tr")).to_have_count(2)


def test_the_death_of_a_process_is_seen_on_its_page(own_page: Page, own_world: World) -> None:
    visit(own_page, own_world, "Refactor the parser")
    expect(chain(own_page)).to_contain_text("process alive")
    own_world.close()
    expect(chain(own_page)).to_contain_text("process gone")
    expect(own_page.get_by_role("button", name="Transition…")).to_be_visible()


# For everyone.


@pytest.mark.parametrize("name", ["Refactor the parser", "Fails in three ways", "Never spoke"])
def test_a_run_keeps_nobody_out(page: Page, world: World, name: str) -> None:
    visit(page, world, name)
    expect(panel(page, "history").locator("tbody tr").first).to_be_visible()
    expect(page.get_by_role("slider").first).to_be_visible()
    expect_accessible_in_both_themes(page, within="main")


@pytest.mark.parametrize(
    ("width", "order"), [(1440, "name state actions"), (900, "name actions state"), (480, "name state actions")]
)
@pytest.mark.parametrize("name", ["Refactor the parser", "Rewrite the importer", "Sync the mirrors"])
def test_the_header_is_read_from_its_name_at_any_width(
    page: Page, world: World, width: int, order: str, name: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    visit(page, world, name)
    parts = {
        "name": page.get_by_role("heading", level=1),
        "state": chain(page),
        "actions": page.get_by_role("group", name="Actions"),
    }
    boxes = {part: one.bounding_box() for part, one in parts.items()}
    middles = {part: (box["y"] + box["height"] / 2) // 16 for part, box in boxes.items() if box}
    lefts = {part: box["x"] for part, box in boxes.items() if box}
    assert sorted(boxes, key=lambda part: (middles[part], lefts[part])) == order.split()
    assert lefts["state"] == lefts["name"] or width == 1440, "a line begins at the left"


class TestNarrow:
    @pytest.fixture
    def look(self) -> dict[str, Any]:
        return {"viewport": {"width": 800, "height": 900}, "color_scheme": "dark"}

    @pytest.mark.parametrize("name", ["Refactor the parser", "Fails in three ways", "Wrote after its end"])
    def test_nothing_scrolls_sideways(self, page: Page, world: World, name: str) -> None:
        visit(page, world, name)
        expect(panel(page, "history").locator("tbody tr").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        expect(page.locator("header").get_by_role("button", name="Export")).to_be_in_viewport()
        for id in IDS:
            box = panel(page, id).bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 800


class TestOnAPhone:
    @pytest.fixture
    def look(self) -> dict[str, Any]:
        return {"viewport": {"width": 480, "height": 900}, "has_touch": True}

    def test_the_reason_of_a_status_has_the_whole_width(self, page: Page, world: World) -> None:
        visit(page, world, "Wrote after its end")
        reason = panel(page, "history").get_by_text("Known then: The process ended")
        box, whole = reason.bounding_box(), panel(page, "history").bounding_box()
        assert box is not None and whole is not None
        assert box["width"] > 0.8 * whole["width"]
        expect(panel(page, "history").get_by_role("row").last).to_contain_text("A recorder began the run.")

    def test_a_tap_on_a_lane_goes_to_its_message(self, page: Page, world: World) -> None:
        visit(page, world, "Refactor the parser")
        lane(page, "architect").locator(".lane-human").tap(force=True)
        expect(page).to_have_url(re.compile(r"#m8$"))


def test_names_that_try_to_turn_text_are_shown_as_what_they_are(own_page: Page, own_world: World) -> None:
    ctx = own_world.open()
    teller = Teller(ctx, Clock(own_world.now))
    run = teller.run(TURNED, at=own_world.now, agent="<b>bold</b>", playbook="\u202epb")
    run.user("Hello")
    ctx.db.close()
    own_page.goto(f"/runs/{run.session_id}")
    expect(own_page.get_by_role("heading", level=1)).to_have_text("name ⟨RLO⟩txt.exe")
    expect(fact(own_page, "Agent").first).to_contain_text("<b>bold</b>")
    expect(fact(own_page, "Playbook")).to_contain_text("⟨RLO⟩pb")
