"""What operators do on the console: what the plan says is what happens, and a refusal changes nothing."""

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from lionstudio.domain.health import HOUR
from lionstudio.domain.reasons import REASON_CODES, EndReason
from lionstudio.services.context import Context
from lionstudio.services.legacy import count_legacy
from lionstudio.services.sessions import finish_session
from tests.browser.admin_console import (
    bulk,
    dialog,
    events,
    health,
    open_console,
    panel,
    queue_row,
    select,
    status_of,
    tell_run,
)
from tests.browser.world import World

REFUSED = "status of 409"  # a dry run that is refused is an error on the console of the browser, too


@pytest.fixture
def ctx(own_world: World) -> Iterator[Context]:
    """The database of the studio, for who looks from elsewhere."""
    ctx = own_world.open()
    yield ctx
    ctx.db.close()


def ask_transition(page: Page, *names: str) -> None:
    open_console(page)
    select(page, *names)
    bulk(page).get_by_role("button", name="Transition selected…").click()
    expect(dialog(page)).to_contain_text(re.compile(r"checked \d\d:\d\d"))


def news(page: Page) -> Locator:
    """What toasts say."""
    return page.get_by_role("region", name="Notifications")


def confirm(page: Page, name: str) -> None:
    dialog(page).get_by_role("button", name=name).click()


def test_dead_runs_are_ended_with_reason_and_note_one_entry_each(
    own_page: Page, ctx: Context, own_world: World
) -> None:
    """R168, R178, R180."""
    names = ("Fan out the audit", "Rewrite the importer")
    ids = [own_world.runs[name] for name in names]
    ask_transition(own_page, *names)
    asked = dialog(own_page)
    expect(asked).to_contain_text("Transition 2 sessions to failed?")
    expect(asked).to_contain_text("Records and artifacts stay.")
    offered = asked.get_by_label("Reason").locator("option").evaluate_all("all => all.map((one) => one.value)")
    assert offered == [reason.value for reason in EndReason]
    assert set(offered) <= set(REASON_CODES)
    expect(asked.get_by_label("Reason")).to_have_value("run.health.process_dead")  # what most of them have themselves
    for name, id in zip(names, ids, strict=True):
        row = asked.get_by_role("listitem").filter(has_text=name)
        expect(row).to_contain_text(id[:8])
        expect(row).to_contain_text("process gone")
    asked.get_by_role("radio", name="Aborted").check()
    expect(asked).to_contain_text("Transition 2 sessions to aborted?")
    asked.get_by_label("Reason").select_option("run.delivery.missing")
    asked.get_by_role("textbox", name="Note").fill("Both died in the reboot.")
    confirm(own_page, "Transition to aborted")
    expect(news(own_page)).to_contain_text("2 runs transitioned to aborted")
    expect(news(own_page)).to_contain_text("2 entries in the event log.")
    expect(dialog(own_page).filter(has_text="Affected sessions")).to_have_count(0)
    for id in ids:
        assert status_of(ctx, id) == "aborted"
        (event,) = events(ctx, "transition", id)
        assert (event.details["reason_code"], event.details["note"]) == (
            "run.delivery.missing",
            "Both died in the reboot.",
        )
    for name in names:
        expect(queue_row(own_page, name)).to_have_count(0)
    log = panel(own_page, "Admin event log")
    expect(log.locator("[data-action=transition]").first).to_contain_text("“Both died in the reboot.”")


def test_what_would_be_refused_is_said_before_and_can_be_left_out(
    own_page: Page, ctx: Context, own_world: World, expected_problems: list[str]
) -> None:
    """R180: the plan, refusals first; nothing changes until they are left out."""
    expected_problems.append(REFUSED)
    dead, ended, alive = (
        own_world.runs[name] for name in ("Rewrite the importer", "Leave files behind", "Index the archive")
    )
    ask_transition(own_page, "Rewrite the importer", "Leave files behind", "Index the archive")
    asked = dialog(own_page)
    expect(asked.get_by_role("alert")).to_contain_text("2 of 3 would be refused, so nothing will change yet")
    rows = asked.get_by_role("region", name="Affected sessions").get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.nth(2)).to_contain_text("Rewrite the importer")
    told = rows.all_inner_texts()
    assert "Process alive" in told[0] + told[1] and "Already final" in told[0] + told[1]
    assert "Rewrite the importer" in told[2]
    command = rows.filter(has_text="Index the archive").locator("code")
    expect(command).to_have_text(f"li runs kill {alive}")
    expect(command).to_have_css("white-space-collapse", "collapse")
    expect(command).to_have_css("text-wrap-mode", "nowrap")
    expect(asked.get_by_role("button", name="Transition to failed")).to_be_disabled()
    assert [status_of(ctx, id) for id in (dead, ended, alive)] == ["running", "completed", "running"]
    asked.get_by_role("button", name="Leave the 2 refused runs out").click()
    expect(asked).to_contain_text("Transition 1 session to failed?")
    expect(asked.get_by_role("alert")).to_have_count(0)
    confirm(own_page, "Transition to failed")
    expect(news(own_page)).to_contain_text("1 run transitioned to failed")
    assert [status_of(ctx, id) for id in (dead, ended, alive)] == ["failed", "completed", "running"]
    assert events(ctx, "transition")[0].target_id == dead


def test_an_unresponsive_run_is_ended_by_force_with_a_note_only(
    own_page: Page, ctx: Context, own_world: World, expected_problems: list[str]
) -> None:
    expected_problems.append(REFUSED)
    run = own_world.runs["Index the archive"]
    ask_transition(own_page, "Index the archive")
    asked, button = dialog(own_page), dialog(own_page).get_by_role("button", name="Transition to failed")
    expect(button).to_be_disabled()
    expect(asked.get_by_role("button", name=re.compile("^Leave the"))).to_have_count(0)
    asked.get_by_role("checkbox", name="Force").click()
    expect(asked.get_by_role("listitem")).to_contain_text("Say in a note why it is ended all the same.")
    expect(button).to_be_disabled()
    asked.get_by_role("textbox", name="Note").fill("It waits for a dead socket.")
    expect(button).to_be_enabled()
    assert status_of(ctx, run) == "running"
    button.click()
    expect(news(own_page)).to_contain_text("1 run transitioned to failed")
    (event,) = events(ctx, "transition", run)
    assert (status_of(ctx, run), event.details["forced"]) == ("failed", True)


def test_the_plan_follows_what_happens_meanwhile(
    own_page: Page, ctx: Context, own_world: World, expected_problems: list[str]
) -> None:
    expected_problems.append(REFUSED)
    ask_transition(own_page, "Fan out the audit", "Rewrite the importer")
    expect(dialog(own_page).get_by_role("button", name="Transition to failed")).to_be_enabled()
    finish_session(ctx, own_world.runs["Fan out the audit"], "completed", exit_code=0)
    expect(dialog(own_page).get_by_role("alert")).to_contain_text("1 of 2 would be refused")
    expect(dialog(own_page).get_by_role("button", name="Transition to failed")).to_be_disabled()
    own_page.keyboard.press("Escape")
    assert status_of(ctx, own_world.runs["Rewrite the importer"]) == "running"
    assert len(events(ctx, "transition")) == 1  # the one that the world began with


def test_a_transition_that_is_refused_after_all_changes_nothing(
    own_page: Page, ctx: Context, own_world: World, expected_problems: list[str]
) -> None:
    """The run comes back between the last plan and the press."""
    expected_problems.append(REFUSED)
    ask_transition(own_page, "Fan out the audit", "Rewrite the importer")
    back = own_world.runs["Fan out the audit"]

    def come_back_first(route: Route) -> None:
        if not json.loads(route.request.post_data or "{}")["dry_run"]:
            finish_session(ctx, back, "completed", exit_code=0)
        route.continue_()

    own_page.route("**/api/admin/transition", come_back_first)
    confirm(own_page, "Transition to failed")
    expect(dialog(own_page).get_by_role("alert")).to_contain_text("1 of 2 would be refused")
    assert status_of(ctx, own_world.runs["Rewrite the importer"]) == "running"
    assert len(events(ctx, "transition")) == 1


def test_cleaning_up_removes_the_files_that_were_named_and_no_other(
    own_page: Page, ctx: Context, own_world: World
) -> None:
    """R153."""
    folder = own_world.home / "artifacts" / "left-behind"
    open_console(own_page)
    own_page.get_by_role("button", name="Clean up… Leave files behind").click()
    asked = dialog(own_page)
    expect(asked).to_contain_text("Clean up after 1 session?")
    expect(asked.locator("li li")).to_have_count(3)
    named = asked.locator("li li").all_inner_texts()
    assert sorted(Path(path).name for path in named) == ["cache.lock", "index.tmp", "upload.part"]
    assert all(Path(path).exists() for path in named)
    confirm(own_page, "Remove 3 files")
    expect(news(own_page)).to_contain_text("3 leftovers removed")
    assert [path.name for path in folder.iterdir()] == ["report.md"]
    (event,) = events(ctx, "cleanup", own_world.runs["Leave files behind"])
    assert sorted(event.details["files"]) == sorted(named)
    expect(queue_row(own_page, "Leave files behind")).to_have_count(0)
    expect(panel(own_page, "Admin event log")).to_contain_text("Removed 3 leftovers")


def test_a_repair_brings_back_what_its_plan_names(own_page: Page, ctx: Context, own_world: World) -> None:
    """R153."""
    run = tell_run(own_world, ctx, "Lost its folder", ago=2 * HOUR).process(own_world.dead_process())
    files = Path(own_world.settings.home) / "runs" / run.session_id / "artifacts"
    files.mkdir(parents=True)
    (files / "result.md").write_text("done\n")
    open_console(own_page)
    own_page.get_by_role("button", name="Repair… Lost its folder").click()
    expect(dialog(own_page)).to_contain_text(f"Its files are in {files}, which would be written down on the run.")
    confirm(own_page, "Repair")
    expect(news(own_page)).to_contain_text("1 run repaired")
    (event,) = events(ctx, "repair", run.session_id)
    assert (event.details["previous_health"], event.details["health"]) == ("orphaned", "stale")
    assert status_of(ctx, run.session_id) == "running"
    expect(queue_row(own_page, "Lost its folder")).to_contain_text("Transition…")


def test_where_nothing_is_to_be_repaired_the_way_on_is_a_transition(own_page: Page) -> None:
    open_console(own_page)
    own_page.get_by_role("button", name="Repair… Never said a word").click()
    expect(dialog(own_page)).to_contain_text("there is nothing to bring back")
    expect(dialog(own_page).get_by_role("button", name="Repair", exact=True)).to_be_disabled()
    confirm(own_page, "Transition…")
    expect(dialog(own_page)).to_contain_text("Transition 1 session to failed?")
    expect(dialog(own_page).get_by_label("Reason")).to_have_value("run.health.no_output")


def test_chosen_runs_are_pruned_as_planned(own_page: Page, ctx: Context, own_world: World) -> None:
    """R173, R178."""
    run = own_world.runs["Leave files behind"]
    open_console(own_page)
    total = health(own_page)["sessions"]["total"]
    select(own_page, "Leave files behind")
    bulk(own_page).get_by_role("button", name="Prune terminal only").click()
    asked = dialog(own_page)
    expect(asked).to_contain_text("Prune 1 session?")
    expect(asked).to_contain_text("1 run, 1 branch, 2 messages")
    asked.get_by_label("Reason").fill("It was a test.")
    confirm(own_page, "Delete 1 run")
    expect(news(own_page)).to_contain_text("1 run pruned")
    assert own_page.request.get(f"/api/sessions/{run}").status == 404
    assert health(own_page)["sessions"]["total"] == total - 1
    (event,) = events(ctx, "prune", run)
    assert (event.details["messages"], event.details["reason"]) == (2, "It was a test.")
    expect(queue_row(own_page, "Leave files behind")).to_have_count(0)


def test_old_runs_are_pruned_by_a_plan_that_says_what_stays(own_page: Page, ctx: Context) -> None:
    open_console(own_page)
    before = health(own_page)["sessions"]
    own_page.get_by_role("button", name="Prune…", exact=True).click()
    asked = dialog(own_page)
    expect(asked).to_contain_text("No run is old enough to go.")
    expect(asked.get_by_role("button", name="Delete 0 runs")).to_be_disabled()
    asked.get_by_label("Days to keep").fill("1")
    asked.get_by_label("Newest runs to keep").fill("0")
    button = asked.get_by_role("button", name=re.compile(r"^Delete [1-9]\d* runs$"))
    expect(button).to_be_enabled()
    planned = int(button.inner_text().split()[1])
    expect(asked).to_contain_text(f"Prune {planned} old runs?")
    expect(asked.get_by_role("region", name="To be deleted").get_by_role("listitem").first).to_be_visible()
    button.click()
    expect(news(own_page)).to_contain_text(f"{planned} runs pruned")
    after = health(own_page)["sessions"]
    assert before["total"] - after["total"] == planned
    assert after["by_status"]["running"] == before["by_status"]["running"]
    assert events(ctx, "prune")[0].details["sessions"] == planned


def test_checkpoint_vacuum_and_doctor_say_what_came_of_them(own_page: Page, ctx: Context) -> None:
    """R174, R176, R190."""
    open_console(own_page)
    own_page.get_by_role("button", name="Checkpoint WAL").click()
    expect(news(own_page)).to_contain_text(re.compile(r"\d+ pages? written back, WAL"))
    expect(panel(own_page, "Maintenance")).to_contain_text("TRUNCATE, admin")
    own_page.get_by_role("button", name="Vacuum DB").click()
    expect(news(own_page)).to_contain_text(re.compile(r"[\d.]+ [kM]B to [\d.]+ [kM]B\."))
    own_page.get_by_role("button", name="Doctor now").click()
    expect(news(own_page)).to_contain_text(re.compile(r"The doctor looked at \d+ running runs"))
    assert events(ctx, "checkpoint")[0].actor == "admin"
    assert "before" in events(ctx, "vacuum")[0].details
    log = panel(own_page, "Admin event log")
    expect(log.locator("[data-action=vacuum]").first).to_contain_text("admin")


def test_a_long_act_says_that_it_works_and_the_page_stays_usable(own_page: Page) -> None:
    open_console(own_page)
    held: list[Route] = []
    own_page.route("**/api/admin/vacuum", lambda route: held.append(route))
    own_page.get_by_role("button", name="Vacuum DB").click()
    expect(news(own_page)).to_contain_text("Vacuuming the database")
    expect(own_page.get_by_role("button", name="Vacuum DB")).to_be_disabled()
    select(own_page, "Rewrite the importer")
    expect(bulk(own_page)).to_contain_text("1 selected")
    held[0].continue_()
    expect(news(own_page)).to_contain_text("Vacuum completed")
    expect(news(own_page)).not_to_contain_text("Vacuuming the database")


def test_an_act_that_fails_says_why_and_stays_on_the_screen(own_page: Page, expected_problems: list[str]) -> None:
    expected_problems.append("503")
    told = {"code": "database_full", "message": "There is no room left.", "hint": "Free 12 MB."}
    open_console(own_page)
    own_page.route("**/api/admin/vacuum", lambda route: route.fulfill(status=503, json=told))
    own_page.get_by_role("button", name="Vacuum DB").click()
    expect(news(own_page)).to_contain_text("The database was not vacuumed")
    expect(news(own_page)).to_contain_text("There is no room left. Free 12 MB.")
    expect(own_page.get_by_role("button", name="Vacuum DB")).to_be_enabled()


def test_a_snapshot_is_a_database_and_lines_are_everything(own_page: Page, ctx: Context, tmp_path: Path) -> None:
    """R174, R196."""
    open_console(own_page)
    total = health(own_page)["sessions"]["total"]
    own_page.get_by_role("button", name="Export snapshot").click()
    with own_page.expect_download() as download:
        own_page.get_by_role("menuitem", name="SQLite file, a verified copy").click()
    assert re.fullmatch(r"state-\d{8}-\d{6}\.db", download.value.suggested_filename)
    copy = tmp_path / "copy.db"
    download.value.save_as(copy)
    with sqlite3.connect(copy) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (total,)
    expect(news(own_page)).to_contain_text("Exported a snapshot")
    own_page.get_by_role("button", name="Export snapshot").click()
    with own_page.expect_download() as download:
        own_page.get_by_role("menuitem", name="JSON lines, everything").click()
    assert download.value.suggested_filename.endswith(".jsonl")
    assert [event.details["what"] for event in events(ctx, "export")[:2]] == ["everything", "snapshot"]


def test_what_is_selected_is_exported(own_page: Page, own_world: World) -> None:
    """R178."""
    open_console(own_page)
    select(own_page, "Rewrite the importer", "Leave files behind")
    with own_page.expect_download() as download:
        bulk(own_page).get_by_role("button", name="Export selected").click()
    text = Path(download.value.path()).read_text()
    assert own_world.runs["Rewrite the importer"] in text
    assert own_world.runs["Leave files behind"] in text
    assert own_world.runs["Fan out the audit"] not in text
    expect(news(own_page)).to_contain_text("Exported 2 runs")


def test_legacy_runs_are_exported_and_backfilled(own_page: Page, ctx: Context) -> None:
    """R188."""
    open_console(own_page)
    count = count_legacy(ctx)
    assert count > 0
    with own_page.expect_download() as download:
        own_page.get_by_role("button", name="Export legacy runs").click()
    assert download.value.suggested_filename.startswith("legacy-")
    own_page.get_by_role("button", name="Backfill…").click()
    expect(dialog(own_page).get_by_role("list", name="Legacy runs").get_by_role("listitem")).to_have_count(count)
    confirm(own_page, f"Backfill {count} runs")
    expect(news(own_page)).to_contain_text(f"{count} legacy runs backfilled")
    assert count_legacy(ctx) == 0
    assert events(ctx, "backfill_legacy")[0].details == {"sessions": count}
    expect(panel(own_page, "Maintenance")).to_contain_text("Legacy unclassified: 0")
    expect(own_page.get_by_role("button", name="Archive…")).to_be_disabled()


def test_legacy_runs_are_archived_into_a_file_that_is_named(own_page: Page, ctx: Context, own_world: World) -> None:
    """R188."""
    open_console(own_page)
    count = count_legacy(ctx)
    own_page.get_by_role("button", name="Archive…").click()
    expect(dialog(own_page)).to_contain_text(f"Archive {count} legacy runs?")
    expect(dialog(own_page)).to_contain_text(f"{count} runs,")
    confirm(own_page, f"Archive {count} runs")
    expect(news(own_page)).to_contain_text(f"{count} legacy runs archived")
    (file,) = Path(own_world.settings.backups).glob("legacy-*.jsonl")
    expect(news(own_page)).to_contain_text(f"They are in {file}.")
    assert count_legacy(ctx) == 0


def test_a_transition_can_be_asked_for_where_its_evidence_is(own_page: Page) -> None:
    open_console(own_page)
    queue_row(own_page, "Rewrite the importer").get_by_role("button", name=re.compile("process gone")).hover()
    own_page.get_by_role("dialog", name="Evidence").get_by_role("button", name="Transition…").click()
    expect(dialog(own_page).filter(has_text="Transition 1 session to failed?")).to_be_visible()
