"""Every verdict opens: the rule, the facts with their proof, what is unknown, and what can be done."""

import re

from playwright.sync_api import Locator, Page, expect

from lionstudio.services.sessions import finish_session
from tests.browser.axe import expect_accessible_in_both_themes
from tests.browser.run_list import open_runs, row
from tests.browser.world import World


def card(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Evidence")


def chain(page: Page, name: str) -> Locator:
    return row(page, name).get_by_role("button")


def test_pointing_at_a_chain_tells_the_rule_the_facts_and_their_proof(page: Page) -> None:
    open_runs(page)
    chain(page, "Rewrite the importer").hover()
    expect(card(page)).to_contain_text("Stale: the process ended and the run never said how.")
    expect(card(page).get_by_text("run.health.process_dead", exact=True)).to_be_visible()
    facts = card(page).get_by_role("listitem")
    expect(facts.first).to_have_text(re.compile(r"^Against it: Process \d+ on .+ is gone\s*not found$"))
    expect(facts.filter(has_text="Unknown: Heartbeat unknown")).to_be_visible()
    expect(facts.filter(has_text=re.compile("Last message [89]h"))).to_be_visible()
    expect(facts.last).to_contain_text("Stored status is running")
    expect(card(page)).to_contain_text(re.compile(r"checked \d\d:\d\d"))
    expect_accessible_in_both_themes(page)


def test_what_nobody_could_look_at_is_listed_as_unknown(page: Page) -> None:
    open_runs(page)
    chain(page, "Silent on another host").hover()
    expect(card(page).get_by_role("listitem").first).to_have_text(
        re.compile(r"^Unknown: Process 4711 on build-07 is unknown")
    )


def test_an_orphan_and_a_zombie_say_what_makes_them_one(page: Page) -> None:
    open_runs(page)
    chain(page, "Never said a word").hover()
    expect(card(page)).to_contain_text("Orphaned: it never wrote a message or a file.")
    page.mouse.move(0, 0)
    expect(card(page)).to_have_count(0)
    open_runs(page, "?search=leave")
    chain(page, "Leave files behind").hover()
    expect(card(page)).to_contain_text("Zombie: the run has ended and left 1 stale lock behind.")
    expect(card(page)).to_contain_text("cache.lock")
    expect(card(page).get_by_role("button", name="Transition…")).to_have_count(0)


def test_the_keyboard_opens_it_reaches_its_actions_and_comes_back(page: Page) -> None:
    open_runs(page, "?search=importer")
    page.get_by_role("link", name="Rewrite the importer").focus()
    page.keyboard.press("Tab")
    expect(chain(page, "Rewrite the importer")).to_be_focused()
    expect(card(page)).to_contain_text("Stale:")
    expect(chain(page, "Rewrite the importer")).to_be_focused()  # it only explains, and takes nothing away
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(card(page).get_by_role("button", name="Transition…")).to_be_focused()
    page.keyboard.press("Escape")
    expect(card(page)).to_have_count(0)
    expect(chain(page, "Rewrite the importer")).to_be_focused()


def test_its_action_asks_before_anything_is_done(page: Page) -> None:
    open_runs(page)
    chain(page, "Rewrite the importer").click()
    card(page).get_by_role("button", name="Transition…").click()
    expect(page.get_by_role("dialog", name=re.compile("Transition 1 session"))).to_be_visible()
    expect(card(page)).to_have_count(0)


def test_inspect_leads_to_the_run(page: Page) -> None:
    open_runs(page)
    chain(page, "Collect papers").click()
    card(page).get_by_role("link", name="Inspect").click()
    expect(page.get_by_role("heading", name="Collect papers", level=1)).to_be_visible()


def test_what_is_known_stays_when_a_later_look_does_not_come_through(
    own_page: Page, own_world: World, expected_problems: list[str]
) -> None:
    expected_problems.append("503")
    told: dict[str, object] = {"code": "db.busy", "message": "The database is busy.", "hint": None, "refusals": []}
    run_id = own_world.runs["Rewrite the importer"]
    address = f"**/api/sessions/{run_id}"
    open_runs(own_page, "?search=importer")
    chain(own_page, "Rewrite the importer").click()
    expect(card(own_page)).to_contain_text("Stale:")
    own_page.route(address, lambda route: route.fulfill(status=503, json=told))
    with own_page.expect_response(address):
        ctx = own_world.open()
        finish_session(ctx, run_id, "failed", exit_code=1)
        ctx.db.close()
    with own_page.expect_response(address):  # it is tried once more
        pass
    expect(row(own_page, "Rewrite the importer")).to_contain_text("Failed")
    own_page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    expect(card(own_page)).to_contain_text("Stale:")
    expect(card(own_page).get_by_role("alert")).to_have_count(0)
