"""The console of operators: what it shows, of whom, and that nothing moves under the pointer."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from lionstudio.domain.health import HOUR, MINUTE
from lionstudio.services.context import Context
from lionstudio.services.sessions import finish_session
from tests.browser.admin_console import (
    QUEUE,
    bulk,
    dialog,
    health,
    open_console,
    panel,
    queue_names,
    queue_row,
    select,
    tell_run,
)
from tests.browser.axe import expect_accessible_in_both_themes
from tests.browser.studio import Studio, Visit
from tests.browser.trouble import fail_until_tried_again
from tests.browser.world import World, build
from tests.postgres_server import PostgresServer

HEALTHS = ("Healthy", "Idle", "Unresponsive", "Stale", "Orphaned", "Zombie")
TONES = {"stale": "t-stale", "orphaned": "t-review", "unresponsive": "t-warning", "zombie": "t-danger"}
COUNT_TONES = ("success", "info", "warning", "stale", "review", "danger")  # R152
NO_EVIDENCE = "CREATE TRIGGER full BEFORE INSERT ON session_evidence BEGIN SELECT RAISE(ABORT, 'no evidence'); END"


@pytest.fixture
def ctx(own_world: World) -> Iterator[Context]:
    """The database of the studio, for who writes from elsewhere."""
    ctx = own_world.open()
    yield ctx
    ctx.db.close()


def test_the_head_says_when_it_looked_and_offers_what_can_be_done_to_the_whole(page: Page) -> None:
    """R174."""
    open_console(page)
    expect(page.get_by_role("heading", name="Admin", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile(r"^Checked \d\d:\d\d:\d\d$"))).to_be_visible()
    for name in ("Refresh", "Doctor now", "Checkpoint WAL", "Vacuum DB", "Export snapshot", "Prune…"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_enabled()


def test_refresh_looks_again(page: Page) -> None:
    open_console(page)
    with page.expect_response(re.compile("/api/admin/health")) as answer:
        page.get_by_role("button", name="Refresh").click()
    assert answer.value.ok


def test_the_strip_has_database_log_disk_and_stream(page: Page) -> None:
    """R175."""
    open_console(page)
    strip = page.get_by_role("group", name="System")
    for part in (r"DB\s*[\d.]+ [kM]B", r"WAL\s*[\d.]+ [kM]?B", r"WAL pending\s*[\d.]+ [kM]?B", r"Connections\s*–",
                 r"Disk OK\s*[\d.]+ [GT]B free", r"Stream live\s*\d+ watcher", r"journal\s*wal"):  # fmt: skip
        expect(strip).to_contain_text(re.compile(part))


def test_every_health_has_its_count_and_one_square_for_each_run(page: Page) -> None:
    """R176, R152."""
    open_console(page)
    counted = health(page)["sessions"]
    lines = panel(page, "Session health").locator("li a")
    expect(lines).to_have_count(6)
    for line, word, tone in zip(lines.all(), HEALTHS, COUNT_TONES, strict=True):
        count = counted["by_health"][word.lower()]
        expect(line).to_contain_text(f"{word}{count}")
        expect(line).to_have_class(re.compile(rf"\bt-{tone}\b"))
        squares = count - counted["ended"] if word == "Healthy" else count
        expect(line.locator("[data-unit]")).to_have_count(squares)
    expect(panel(page, "Session health")).to_contain_text(f"{counted['total']} runs")


def test_a_count_leads_to_a_list_of_exactly_those_runs(page: Page) -> None:
    open_console(page)
    for word in HEALTHS:
        line = panel(page, "Session health").get_by_role("link", name=re.compile(f"^{word}"))
        count = int(line.get_attribute("data-number") or "-1")
        assert line.get_attribute("href") == f"/runs?health={word.lower()}"
        listed = page.request.get(f"/api/sessions?health={word.lower()}&limit=500").json()["items"]
        assert (word, len(listed)) == (word, count)


def test_maintenance_advice_has_its_numbers(page: Page) -> None:
    """R176."""
    open_console(page)
    advice = panel(page, "Maintenance")
    for part in (r"WAL checkpoint available.*pending", r"Last checkpoint.*ana", r"Vacuum recommended: no.*pages free",
                 r"Export size estimate.*[kM]B", r"Legacy unclassified: \d+"):  # fmt: skip
        expect(advice).to_contain_text(re.compile(part))
    page.get_by_role("button", name=re.compile("Legacy unclassified")).focus()
    expect(page.get_by_text("Excluded from live operational metrics")).to_be_visible()


def test_the_queue_has_who_needs_somebody_and_one_thing_to_do_about_each(page: Page) -> None:
    """R177, R153, R138."""
    open_console(page)
    table = page.get_by_role("table", name="Intervention queue")
    heads = [head for head in table.locator("thead th").all_inner_texts() if head]
    assert heads == ["State", "Session", "Kind", "Invocation", "Last event", "Action"]
    assert set(queue_names(page)) == set(QUEUE)
    for name, (word, offer) in QUEUE.items():
        row = queue_row(page, name)
        expect(row).to_have_attribute("data-health", word)
        expect(row.get_by_role("link", name=f"Inspect {name}")).to_be_visible()
        expect(row).to_contain_text(offer)
        offered = row.get_by_role("button").filter(has_text=re.compile("…$")).all_inner_texts()
        assert offered == ([] if offer == "Logs" else [offer])
        expect(row.locator("[title^='status ']")).to_have_attribute("title", re.compile(f"health {word}"))
    expect(queue_row(page, "Fan out the audit")).to_contain_text("playbook audit")
    expect(queue_row(page, "Fan out the audit")).to_contain_text("fanout")
    expect(queue_row(page, "Rewrite the importer").locator(".t-stale")).to_contain_text("process gone")


def test_inspect_and_logs_lead_to_the_run(page: Page, world: World) -> None:
    """R153."""
    open_console(page)
    run = world.runs["Index the archive"]
    row = queue_row(page, "Index the archive")
    expect(row.get_by_role("link", name="Logs of Index the archive")).to_have_attribute("href", f"/runs/{run}#branches")
    row.get_by_role("link", name="Inspect Index the archive").click()
    expect(page).to_have_url(re.compile(f"/runs/{run}$"))


def test_a_state_opens_its_evidence(page: Page) -> None:
    open_console(page)
    queue_row(page, "Rewrite the importer").get_by_role("button", name=re.compile("process gone")).hover()
    expect(page.get_by_role("dialog", name="Evidence")).to_contain_text("run.health.process_dead")


def test_prune_is_secondary_and_says_why_it_is_disabled(page: Page) -> None:
    """R178, R181."""
    open_console(page)
    prune = bulk(page).get_by_role("button", name="Prune terminal only")
    expect(prune).to_be_disabled()
    expect(prune).to_have_accessible_description("Prune: select runs that have ended")
    expect(bulk(page).get_by_role("button", name="Transition selected…")).to_be_disabled()
    select(page, "Leave files behind")
    expect(prune).to_be_enabled()
    select(page, "Rewrite the importer")
    expect(prune).to_be_disabled()
    expect(prune).to_have_accessible_description("Prune: active runs must be ended or exported first")
    expect(bulk(page)).to_contain_text("2 selected")
    bulk(page).get_by_role("button", name="Clear").click()
    expect(bulk(page)).to_contain_text("Nothing selected")
    page.get_by_role("checkbox", name="Select all").click()
    expect(bulk(page)).to_contain_text(f"{len(QUEUE)} selected")


def test_resources_stand_beside_the_event_log(page: Page) -> None:
    """R179."""
    open_console(page)
    resources, log = panel(page, "Resources"), panel(page, "Admin event log")
    left, right = resources.bounding_box(), log.bounding_box()
    assert left and right
    assert (left["y"], left["x"] < right["x"]) == (right["y"], True)
    expect(resources).to_contain_text("2 total · 1 active · 1 dirty · 0 stale")
    expect(resources).to_contain_text("uncommitted changes · show/payments-split/ledger-api")
    for folder in ("Database", "Shows", "Worktrees", "Artifacts", "Backups"):
        expect(resources.locator("li", has_text=folder)).to_contain_text(re.compile(r"[\d.]+ [kM]?B"))
    expect(log).to_contain_text("Transitioned to failed")
    expect(log).to_contain_text("“A reboot.”")
    expect(log.locator("[data-action=classify]").first).to_contain_text("doctor_auto")


def test_the_event_log_is_filtered_by_the_address_and_paged(own_page: Page, ctx: Context, own_world: World) -> None:
    from lionstudio.services.admin import record_event

    for number in range(60):
        record_event(ctx, "vacuum", details={"number": number}, actor="bo")
    run = own_world.runs["Ended by a person"]
    own_page.goto("/admin/events?actor=bo")
    rows = own_page.get_by_role("list", name="Events").get_by_role("listitem")
    expect(rows).to_have_count(50)
    own_page.get_by_role("button", name="Load older events").click()
    expect(rows).to_have_count(60)
    own_page.get_by_role("button", name="Clear filters").click()
    expect(own_page).to_have_url(re.compile("/admin/events$"))
    own_page.get_by_label("Action").select_option("transition")
    expect(rows).to_have_count(1)
    own_page.get_by_label("Target").fill(run)
    own_page.get_by_label("Target").press("Enter")
    expect(own_page).to_have_url(re.compile(f"action=transition.*target_id={run}"))
    expect(rows).to_have_count(1)
    own_page.get_by_label("Actor").fill("nobody")
    own_page.get_by_label("Actor").press("Enter")
    expect(own_page.get_by_text("No event matches these filters.")).to_be_visible()
    record_event(ctx, "vacuum", target_id="123", actor="bo")
    own_page.goto("/admin/events?target_id=123")  # an id, although it looks like a number
    expect(own_page.get_by_label("Target")).to_have_value("123")
    expect(rows).to_have_count(1)
    own_page.goto("/admin/events?action=checkpoint&nobody=knows")
    expect(rows).to_have_count(1)
    record_event(ctx, "checkpoint", details={"mode": "FULL"}, actor="bo")
    expect(rows).to_have_count(2)  # by itself


def test_a_new_one_waits_and_one_that_ended_stays_in_its_place(own_page: Page, ctx: Context, own_world: World) -> None:
    open_console(own_page)
    names = queue_names(own_page)
    places = [queue_row(own_page, name).bounding_box() for name in names]
    below = panel(own_page, "Resources").bounding_box()
    tell_run(own_world, ctx, "Died just now", ago=30 * MINUTE).process(own_world.dead_process()).user("Begin.")
    new = own_page.get_by_role("button", name="1 new")
    expect(new).to_be_visible()
    assert queue_names(own_page) == names
    finish_session(ctx, own_world.runs["Fan out the audit"], "completed", exit_code=0)
    gone = queue_row(own_page, "Fan out the audit")
    expect(gone).to_have_attribute("data-gone", "true")
    expect(gone).to_contain_text("needs nobody any more")
    expect(gone.get_by_role("checkbox")).to_be_disabled()
    assert [queue_row(own_page, name).bounding_box() for name in names] == places
    assert panel(own_page, "Resources").bounding_box() == below
    new.click()
    expect(queue_row(own_page, "Died just now")).to_be_visible()
    expect(gone).to_have_count(0)


def test_a_doctor_that_fails_is_seen(own_page: Page, ctx: Context, own_world: World) -> None:
    open_console(own_page)
    expect(panel(own_page, "Session health")).to_contain_text("never changes a status")
    with ctx.db.write() as tx:
        tx.run(NO_EVIDENCE)
    tell_run(own_world, ctx, "Died just now", ago=30 * MINUTE).process(own_world.dead_process()).user("Begin.")
    told = panel(own_page, "Session health").get_by_role("alert")

    def looks() -> None:
        own_page.get_by_role("button", name="Refresh").click()
        expect(told).to_contain_text(re.compile("The doctor failed .*no evidence"), timeout=2_000)

    for _ in range(10):
        try:
            looks()
            break
        except AssertionError:
            continue
    looks()


def test_an_empty_studio_says_what_is_not_there(empty_page: Page) -> None:
    open_console(empty_page)
    expect(panel(empty_page, "Intervention queue")).to_contain_text("No run needs an operator.")
    expect(panel(empty_page, "Admin event log")).to_contain_text("Nothing was done yet.")
    expect(panel(empty_page, "Resources")).to_contain_text("No worktree.")
    lines = panel(empty_page, "Session health").locator("li a")
    expect(lines).to_have_count(6)
    for line in lines.all():
        assert line.get_attribute("data-number") == "0"
    backfill = empty_page.get_by_role("button", name="Backfill…")
    expect(backfill).to_be_disabled()
    expect(backfill).to_have_accessible_description("every run has a status")


def test_what_cannot_be_loaded_says_why_and_how_to_go_on(page: Page, expected_problems: list[str]) -> None:
    expected_problems.append("503")
    told = {"code": "database_busy", "message": "The database is busy for longer than 5s.", "hint": "Try again."}
    fail_until_tried_again(page, "**/api/admin/health*", lambda route: route.fulfill(status=503, json=told))
    page.goto("/admin")
    trouble = page.get_by_role("alert")
    expect(trouble).to_contain_text("The database is busy for longer than 5s.")
    expect(trouble).to_contain_text("database_busy")
    trouble.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="Session health")).to_be_visible()
    expect(page.get_by_role("table", name="Intervention queue")).to_be_visible()


def test_on_postgresql_what_does_not_exist_is_disabled_with_its_reason(
    browser: Browser, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres.new_database() as url, build(tmp_path / "pg", size=0) as world:
        world.environ["LIONAGI_DB"] = url
        ctx = world.open()
        tell_run(world, ctx, "Dead on a server", ago=2 * HOUR).process(world.dead_process()).user("Begin.")
        with Studio(world.settings) as studio:
            visit = Visit(browser, studio.url)
            open_console(visit.page)
            checkpoint = visit.page.get_by_role("button", name="Checkpoint WAL")
            expect(checkpoint).to_be_disabled()
            expect(checkpoint).to_have_accessible_description("The server checkpoints by itself.")
            strip = visit.page.get_by_role("group", name="System")
            expect(strip).to_contain_text(re.compile(r"WAL\s*–"))
            expect(strip).to_contain_text(re.compile(r"Connections\s*[1-9]"))
            expect(panel(visit.page, "Maintenance")).to_contain_text("dead rows")
            expect(panel(visit.page, "Resources")).to_contain_text("on a server")
            visit.page.get_by_role("button", name="Vacuum DB").click()
            expect(visit.page.get_by_text("Vacuum completed").first).to_be_visible()
            visit.page.get_by_role("button", name="Transition… Dead on a server").click()
            dialog(visit.page).get_by_role("button", name="Transition to failed").click()
            expect(visit.page.get_by_text("1 run transitioned to failed")).to_be_visible()
            visit.close()
            assert visit.problems == []
        ctx.db.close()


HOSTILE = "<img src=x onerror=alert(1)><b>bold</b> \u202egnp.exe"


def test_names_from_agents_are_text(own_page: Page, ctx: Context, own_world: World) -> None:
    run = tell_run(own_world, ctx, HOSTILE, ago=3 * HOUR, agent="<script>1</script>").process(own_world.dead_process())
    run.user("Begin.")
    open_console(own_page)
    row = queue_row(own_page, "<img src=x")
    expect(row).to_contain_text("<b>bold</b> ⟨RLO⟩gnp.exe")
    expect(row).to_contain_text("agent <script>1</script>")
    row.get_by_role("button", name=re.compile("^Transition…")).click()
    expect(dialog(own_page)).to_contain_text("<b>bold</b> ⟨RLO⟩gnp.exe")
    assert own_page.locator("main img, [role=dialog] img").count() == 0


@pytest.mark.parametrize("width", [800, 1024, 1280, 1680])
def test_nothing_scrolls_sideways(browser: Browser, studio: Studio, width: int) -> None:
    visit = Visit(browser, studio.url, viewport={"width": width, "height": 900})
    open_console(visit.page)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    table = visit.page.get_by_role("table", name="Intervention queue")
    expect(table.get_by_role("columnheader", name="Kind")).to_be_visible(visible=width >= 1280)
    cells = table.locator("tbody tr").first.locator("td:nth-child(3)").bounding_box()
    assert cells and cells["width"] > 120
    visit.close()
    assert visit.problems == []


def test_axe_finds_nothing_grave(page: Page) -> None:
    open_console(page)
    expect_accessible_in_both_themes(page)
    page.get_by_role("button", name="Transition… Rewrite the importer").click()
    expect(dialog(page)).to_contain_text("process gone")
    expect_accessible_in_both_themes(page, within="[role=dialog]")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clean up… Leave files behind").click()
    expect(dialog(page)).to_contain_text("cache.lock")
    expect_accessible_in_both_themes(page, within="[role=dialog]")
    page.goto("/admin/events")
    expect(page.get_by_role("list", name="Events").get_by_role("listitem").first).to_be_visible()
    expect_accessible_in_both_themes(page)


def test_the_queue_is_walked_and_selected_by_keys(page: Page) -> None:
    open_console(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    focused = page.locator("tr[data-run]").first
    expect(focused.get_by_role("link").first).to_be_focused()
    page.keyboard.press("x")
    expect(bulk(page)).to_contain_text("1 selected")
    expect(focused).to_have_attribute("aria-selected", "true")
    page.keyboard.press("x")
    expect(bulk(page)).to_contain_text("Nothing selected")


def test_the_acts_of_the_queue_stand_in_one_line(page: Page) -> None:
    open_console(page)
    lefts = page.get_by_role("link", name=re.compile("^Inspect ")).evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect().left)"
    )
    assert len(lefts) > 3 and max(lefts) - min(lefts) < 1


def test_the_console_can_be_used_by_keyboard_alone(page: Page) -> None:
    open_console(page)
    box = page.get_by_role("checkbox", name="Select Rewrite the importer")
    for _ in range(80):
        page.keyboard.press("Tab")
        if box.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Space")
    expect(bulk(page)).to_contain_text("1 selected")
    button = page.get_by_role("button", name="Transition selected…")
    for _ in range(60):
        page.keyboard.press("Tab")
        if button.evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(dialog(page)).to_contain_text("Transition 1 session to failed?")
    inside: Any = page.evaluate("document.querySelector('[role=dialog]').contains(document.activeElement)")
    assert inside is True
    page.keyboard.press("Escape")
    expect(dialog(page)).to_have_count(0)
    expect(button).to_be_focused()


@pytest.mark.parametrize("look", [{"viewport": {"width": 480, "height": 900}}])
def test_on_a_phone_a_run_of_the_queue_has_its_name_its_state_and_its_act(page: Page) -> None:
    open_console(page)
    for name, (_, act) in QUEUE.items():
        row = queue_row(page, name)
        link, chain = row.get_by_role("link", name=name, exact=True), row.get_by_title(re.compile("^running|^status"))
        button = row.get_by_text(act, exact=True)
        boxes = [one.bounding_box() for one in (link, chain, button)]
        assert all(box is not None and box["width"] > 40 and box["x"] + box["width"] <= 464 for box in boxes), name
        assert link.evaluate("one => one.scrollWidth <= one.clientWidth"), name
    notes = panel(page, "Session health").locator("li a > .cut")
    assert notes.evaluate_all("all => all.filter(one => one.scrollWidth > one.clientWidth).length") <= 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_log_without_anything_in_it_needs_no_checkpoint(page: Page) -> None:
    def answer(route: Route) -> None:
        told = route.fetch().json()
        told["db"]["wal_pending_bytes"] = 0
        route.fulfill(json=told)

    page.route("**/api/admin/health*", answer)
    open_console(page)
    expect(panel(page, "Maintenance")).to_contain_text("No checkpoint needed")
    expect(panel(page, "Maintenance")).not_to_contain_text("checkpoint available")


def test_what_stands_at_the_right_of_a_head_stands_above_its_rows(page: Page) -> None:
    open_console(page)
    for title, said in (("Session health", re.compile("^Doctor look")), ("Resources", re.compile("^measured"))):
        head, outer = panel(page, title).get_by_text(said).bounding_box(), panel(page, title).bounding_box()
        assert head is not None and outer is not None
        assert outer["x"] + outer["width"] - (head["x"] + head["width"]) == pytest.approx(17, abs=0.6)  # and a line
