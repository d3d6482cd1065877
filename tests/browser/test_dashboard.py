"""The dashboard: what it says at a glance, and that every number leads to as many rows."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

from lionstudio.domain.health import MINUTE
from lionstudio.services.sessions import finish_session
from lionstudio.services.teams import put_team
from tests.browser.axe import expect_accessible_in_both_themes
from tests.browser.studio import Studio
from tests.browser.trouble import fail_until_tried_again
from tests.browser.world import World
from tests.factories import start_run
from tests.waiting import wait_until

CLI = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
SHIFTS = """() => {
  window.shifts = []
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // The frame around the page has tests of its own.
      if (!entry.sources.some((one) => one.node?.parentElement?.closest('main'))) continue
      window.shifts.push({
        value: entry.value,
        what: entry.sources.map((one) => [
          one.node?.parentElement?.outerHTML?.slice(0, 200) ?? 'gone',
          JSON.stringify(one.previousRect), JSON.stringify(one.currentRect)
        ].join(' '))
      })
    }
  }).observe({ type: 'layout-shift', buffered: false })
}"""


def open_dashboard(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("region", name="Attention", exact=True)).to_be_visible()
    # The panels ask for themselves; all of them are there when none of them loads any more.
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


@contextmanager
def no_answers(page: Page) -> Iterator[None]:
    """No question is answered for a while: answers carry the time of the studio, by which the page sets its clock."""
    questions = re.compile("/api/(?!events)")
    held: list[Request] = []
    page.route(questions, lambda route: held.append(route.request))
    asked = [one for one in page.requests() if questions.search(one.url)]

    def is_nobody_waiting() -> bool:
        page.evaluate("true")  # which lets Playwright tell what it has heard
        return all(one.existing_response or one.failure or one in held for one in asked)

    wait_until(is_nobody_waiting)
    for answer in (one.existing_response for one in asked):
        if answer is not None:
            answer.finished()
    yield
    page.unroute_all(behavior="ignoreErrors")


def stats(page: Page) -> Any:
    return page.request.get("/api/stats").json()


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def count_rows(page: Page) -> int:
    """How many rows the list has in the end, with everything loaded."""
    empty = page.get_by_text(re.compile(r"^(No |Nothing )"))
    table = page.get_by_role("table").first
    expect(table.or_(empty).first).to_be_visible()
    if not table.is_visible():
        return 0
    more = page.get_by_role("button", name="Load more")
    while more.is_visible():
        before = table.get_by_role("row").count()
        more.click()
        expect(table.get_by_role("row")).not_to_have_count(before)
    told = table.get_attribute("aria-rowcount")  # of a long list only what is seen is drawn
    return (table.get_by_role("row").count() if told is None else int(told)) - 1  # its head


def numbers_of(page: Page) -> list[tuple[str, int, str]]:
    """Every number that leads somewhere: what it is called, what it says, where it leads."""
    found: list[dict[str, str]] = page.locator("[data-number]").evaluate_all(
        "all => all.map((a) => ({name: a.getAttribute('aria-label') ?? a.innerText, "
        "says: a.dataset.number, to: a.getAttribute('href')}))"
    )
    return [(one["name"], int(one["says"]), one["to"]) for one in found]


def go_home(page: Page) -> None:
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Dashboard").click()
    expect(card(page, "Attention")).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def press_number(page: Page, to: str) -> tuple[int, int]:
    """What a number says, and how many rows the list has that a press on it opens, all within one page."""
    link = page.locator(f'[data-number][href="{to}"]').first
    says = int(link.get_attribute("data-number") or "")
    # The card around a link may take the place in its middle.
    link.evaluate("a => a.click()")
    page.wait_for_function("to => location.pathname + location.search === to", arg=to)
    expect(card(page, "Attention")).to_have_count(0)
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    count = count_rows(page)
    go_home(page)
    return says, count


CHANGE = """
import lionstudio
with lionstudio.record("Ended elsewhere", agent="outsider") as run:
    run.user("Begin")
try:
    with lionstudio.record("Failed elsewhere", agent="outsider") as run:
        raise RuntimeError("It broke.")
except RuntimeError:
    pass
"""


def change_elsewhere(page: Page, world: World) -> None:
    """Another process records runs, and others say more through the API: every card counts otherwise afterwards."""
    subprocess.run([sys.executable, "-c", CHANGE], env=world.environ, check=True, timeout=60)
    for number in range(2):
        page.request.post("/api/sessions", data={"id": f"begun-{number}", "name": f"Begun elsewhere {number}"})
    ctx = world.open()
    put_team(ctx, "team-elsewhere", actor="ana", name="elsewhere", members=("lead",))
    finish_session(ctx, world.runs["Rewrite the importer"], "timed_out", exit_code=1)
    ctx.db.close()


def test_every_number_leads_to_a_list_of_exactly_so_many_rows(own_page: Page, own_world: World) -> None:
    """At first, and again in the same page after others changed what they count."""
    open_dashboard(own_page)
    numbers = numbers_of(own_page)
    # 4 cards and 3 small ones; 8 signals; runs, plays, 5 healths; 3 outcomes; over 60m; 3 panels; the legacy chip
    assert len(numbers) == 3 + 3 + 8 + 2 + 5 + 3 + 1 + 3 + 1
    assert sum(says > 0 for _, says, _ in numbers) > 20  # or this would prove little
    before = {to: press_number(own_page, to)[1] for to in dict.fromkeys(to for _, _, to in numbers)}
    for name, says, to in numbers:
        assert before[to] == says, f"{name} leads to {to}"
    change_elsewhere(own_page, own_world)
    told = stats(own_page)
    expect(card(own_page, "Teams active").locator(f"[data-number='{told['teams_active']}']")).to_be_visible()
    expect(own_page.locator("[data-number][href='/runs?status=running']").first).to_have_attribute(
        "data-number", str(told["running"])
    )
    expect(own_page.locator("[data-number][href='/attention']").first).to_have_attribute(
        "data-number", str(told["attention"]["total"])
    )
    changed = {to for _, says, to in numbers_of(own_page) if says != before[to]}
    assert {"/attention", "/executions", "/runs?status=running", "/teams?status=active"} <= changed
    assert len(changed) > 7  # or this would prove little
    for to in before:
        says, rows = press_number(own_page, to)
        assert rows == says, to


def names_in(page: Page, table: str) -> list[str]:
    return page.get_by_role("table", name=table).locator("tbody tr [data-stop]").all_inner_texts()


def test_rows_of_a_list_stay_in_their_places_until_somebody_asks(own_page: Page, own_world: World) -> None:
    own_page.goto("/attention")
    table = own_page.get_by_role("table", name="Attention")
    expect(table).to_be_visible()
    order = names_in(own_page, "Attention")
    ctx = own_world.open()
    finish_session(ctx, own_world.runs["Rewrite the importer"], "completed", exit_code=0)
    finish_session(ctx, own_world.runs["Review the API change"], "failed", exit_code=1)
    ctx.db.close()
    news = own_page.get_by_role("button", name="1 new")
    expect(news).to_be_visible()
    left = table.locator("tbody tr").filter(has_text="Rewrite the importer")
    expect(left).to_have_attribute("data-left", "true")
    expect(left.get_by_role("cell").last).to_have_text("left")  # no button to press by mistake
    assert names_in(own_page, "Attention") == order
    expect(own_page.get_by_text(f"{len(order) - 1} things")).to_be_visible()
    news.click()
    expect(left).to_have_count(0)
    expect(table).to_contain_text("Review the API change")
    assert sorted(names_in(own_page, "Attention")) == sorted(
        {*order, "Review the API change"} - {"Rewrite the importer"}
    )
    expect(news).to_have_count(0)


def test_the_numbers_on_the_page_are_those_of_the_server(page: Page) -> None:
    open_dashboard(page)
    told = stats(page)
    attention, executions, outcomes = told["attention"], told["executions"], told["outcomes_24h"]
    shown = sorted(says for _, says, _ in numbers_of(page))
    assert shown == sorted(
        [
            attention["total"], *attention["by_signal"].values(), attention["total"],
            executions["invocations"], executions["sessions"], executions["plays"], *executions["by_health"].values(),
            executions["sessions"], outcomes["completed"], outcomes["failed"], outcomes["timed_out"],
            outcomes["request_changes"], told["latency_24h"]["over_60m"], told["stale"], told["needs_review"],
            told["teams_active"], told["legacy"], told["shows_active"],
        ]
    )  # fmt: skip


def test_a_click_on_a_number_opens_its_list(page: Page) -> None:
    open_dashboard(page)
    card(page, "Attention").get_by_role("link", name="running over 60m").click()
    expect(page).to_have_url(re.compile(r"/attention\?signal=slow$"))
    expect(page.get_by_role("heading", name="Attention", level=1)).to_be_visible()
    page.go_back()
    card(page, "Active executions").click(position={"x": 200, "y": 200})  # the card itself, beside its links
    expect(page).to_have_url(re.compile(r"/executions$"))


def test_the_card_attention_says_what_and_how_old(page: Page) -> None:
    """R182."""
    open_dashboard(page)
    told = stats(page)["attention"]
    box = card(page, "Attention")
    expect(box.get_by_role("link", name=f"Attention: {told['total']} need a look")).to_be_visible()
    for word in (
        "stale", "failed or timed out", "running over 60m", "gate failed", "orphaned", "escalated", "zombie",
        "blocked show",
    ):  # fmt: skip
        expect(box.get_by_role("link", name=re.compile(rf"^{word}\s*\d+$"))).to_be_visible()
    expect(box.get_by_text(re.compile(r"^Oldest (17|18)h"))).to_be_visible()
    expect(box.get_by_text("counts each thing once")).to_be_visible()  # its parts are more, taken together
    expect(box.get_by_role("img", name="3 stale")).to_be_visible()  # the bar says its parts


def test_the_card_of_active_executions_tells_invocations_runs_and_plays(page: Page) -> None:
    """R183, and the count of running runs (R100)."""
    open_dashboard(page)
    told = stats(page)["executions"]
    box = card(page, "Active executions")
    expect(box.get_by_role("link", name=f"Active executions: {told['invocations']} invocations")).to_be_visible()
    expect(box.get_by_role("link", name=f"{told['sessions']} runs", exact=True)).to_be_visible()
    expect(box.get_by_role("link", name=f"{told['plays']} play", exact=True)).to_be_visible()
    expect(box.get_by_text(re.compile(r"^Oldest active 1[45]h"))).to_be_visible()
    for word in ("healthy", "idle", "unresponsive", "stale", "orphaned"):
        expect(box.get_by_role("link", name=re.compile(rf"^{word}\s*\d+$"))).to_be_visible()


def test_the_card_of_outcomes_tells_how_the_day_went(page: Page) -> None:
    """R184."""
    open_dashboard(page)
    told = stats(page)["outcomes_24h"]
    box = card(page, "Outcomes 24h")
    expect(box.get_by_role("link", name=f"Outcomes 24h: {told['completed']} completed")).to_be_visible()
    expect(box).to_contain_text(re.compile(rf"failed\s*{told['failed']}"))
    expect(box).to_contain_text(re.compile(rf"timed out\s*{told['timed_out']}"))
    expect(box).to_contain_text(re.compile(rf"request changes\s*{told['request_changes']}"))
    expect(box).to_contain_text(f"Pass rate {told['pass_rate'] * 100:.1f} %")


def test_the_card_of_latency_tells_tail_middle_and_what_took_over_60_minutes(page: Page) -> None:
    """R185 and R186."""
    open_dashboard(page)
    told = stats(page)["latency_24h"]
    box = card(page, "Latency 24h")
    expect(box).to_contain_text(re.compile(rf"took over 60m\s*{told['over_60m']}"))
    expect(box.get_by_text(re.compile(r"^Median \d+[smh]"))).to_be_visible()
    expect(box.get_by_role("link", name=re.compile(r"^Latency 24h: .+ P95$"))).to_be_visible()


def test_the_charts_are_drawn_and_open_as_tables(page: Page) -> None:
    open_dashboard(page)
    told = stats(page)
    over_time = card(page, "Outcomes 24h").get_by_role("button", name=re.compile("Runs that ended"))
    canvas = over_time.locator("canvas")
    expect(canvas).to_be_visible()
    inked = "(one) => one.getContext('2d').getImageData(0, 0, one.width, one.height).data.some((part) => part > 0)"
    assert canvas.evaluate(inked)
    over_time.click()
    table = page.get_by_role("dialog").get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(1 + 24)
    completed = table.locator("tbody tr td:nth-child(2)").all_inner_texts()
    assert sum(map(int, completed)) == told["outcomes_24h"]["completed"]
    page.keyboard.press("Escape")
    lengths = card(page, "Latency 24h").get_by_role("button", name=re.compile("How long"))
    expect(lengths.locator("rect")).to_have_count(len(told["durations"]))
    lengths.click()
    counts = page.get_by_role("dialog").locator("tbody td").all_inner_texts()
    assert sum(map(int, counts)) == told["latency_24h"]["measured"]


def test_the_hours_of_the_outcomes_are_named(page: Page) -> None:
    open_dashboard(page)
    box = card(page, "Outcomes 24h")
    places = [box.get_by_text(words, exact=True).bounding_box() for words in ("24h ago", "12h", "now")]
    canvas = box.locator("canvas").bounding_box()
    assert canvas is not None
    for place in places:
        assert place is not None
        assert place["y"] >= canvas["y"] + canvas["height"] - 1  # below the bars


def test_bars_of_the_same_kind_stand_at_the_same_height(page: Page) -> None:
    open_dashboard(page)
    one, other = (card(page, name).get_by_role("img").bounding_box() for name in ("Attention", "Active executions"))
    assert one is not None and other is not None
    assert one["y"] == other["y"]


def test_pointing_at_an_hour_says_what_ended_in_it(page: Page) -> None:
    open_dashboard(page)
    over_time = card(page, "Outcomes 24h").get_by_role("button", name=re.compile("Runs that ended"))
    expect(over_time.locator("canvas")).to_be_visible()
    over_time.hover()
    expect(card(page, "Outcomes 24h").get_by_text(re.compile(r"^From \d\d:\d\d: "))).to_be_visible()


def test_the_small_cards_tell_stale_runs_reviews_and_teams(page: Page) -> None:
    open_dashboard(page)
    told = stats(page)
    for name, number in (("Stale", "stale"), ("Needs review", "needs_review"), ("Teams active", "teams_active")):
        expect(card(page, name).get_by_role("link")).to_have_accessible_name(re.compile(rf"^{name}: {told[number]} "))


def test_the_strip_tells_how_the_studio_is(page: Page) -> None:
    open_dashboard(page)
    strip = page.get_by_role("group", name="System")
    for part in ("System healthy", "DB", "WAL", r"Watchers\s*\d+$", "Doctor"):
        expect(strip.get_by_role("link", name=re.compile(f"^{part}"))).to_be_visible()
    expect(strip).not_to_contain_text("Connections")  # a file has none
    expect(strip.get_by_text(re.compile(r"^\d+\.\d [kM]B$")).first).to_be_visible()


def test_legacy_runs_are_one_dashed_chip_that_explains_itself(page: Page) -> None:
    """R187."""
    open_dashboard(page)
    chip = page.get_by_role("link", name=re.compile("^Legacy unclassified"))
    expect(chip).to_have_text("Legacy unclassified 3")
    expect(chip).to_have_css("border-top-style", "dashed")
    told = "Runs created before the current status vocabulary. Excluded from live operational metrics."
    chip.hover()
    expect(page.get_by_text(told, exact=True)).to_be_visible()
    page.mouse.move(0, 0)
    expect(page.get_by_text(told, exact=True)).to_have_count(0)
    chip.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_text(told, exact=True)).to_be_visible()


def test_what_needs_attention_says_why_and_leads_to_the_thing(page: Page, world: World) -> None:
    open_dashboard(page)
    rows = page.get_by_role("list", name="Needs attention").get_by_role("listitem")
    expect(rows).to_have_count(7)
    row = rows.filter(has_text="Rewrite the importer")
    expect(row).to_contain_text(re.compile(r"Running · quiet \d+h · process gone"))
    expect(row).to_contain_text("The process ended and the run never said how.")
    expect(rows.filter(has_text=re.compile("^Failed"))).to_have_count(0)  # what can still be helped comes first
    rows.get_by_role("link", name="Never said a word").click()
    expect(page).to_have_url(re.compile(f"/runs/{world.runs['Never said a word']}$"))


@pytest.mark.parametrize("address", ["/", "/attention"])
def test_a_dead_run_is_ended_from_where_it_is_listed(
    own_page: Page, address: str, expected_problems: list[str]
) -> None:
    expected_problems.append("409")  # the dialog asks what would be refused, also in the moment when it is done
    own_page.goto(address)
    dead = stats(own_page)["attention"]["by_signal"]["stale"]
    own_page.get_by_role("button", name="Transition… Rewrite the importer").click()
    dialog = own_page.get_by_role("dialog")
    expect(dialog).to_contain_text("Rewrite the importer")
    dialog.get_by_role("button", name=re.compile("^Transition to ")).click()
    expect(dialog).to_have_count(0)
    own_page.goto("/")
    expect(card(own_page, "Stale").get_by_role("link")).to_have_accessible_name(f"Stale: {dead - 1} runs")


def test_what_is_offered_for_a_run_is_what_the_console_offers(page: Page) -> None:
    offered = {
        row["name"]: next((action for action in row["actions"] if action != "inspect"), None)
        for row in page.request.get("/api/admin/health").json()["sessions"]["unhealthy"]
    }
    words = {"transition": "Transition…", "repair": "Repair…", "cleanup": "Clean up…", "logs": "Logs"}
    assert {action for action in offered.values() if action} == set(words)  # or this would prove little
    page.goto("/attention")
    table = page.get_by_role("table", name="Attention")
    expect(table).to_be_visible()
    for name, action in offered.items():
        row = table.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))
        expect(row.get_by_role("cell").last).to_have_text("Inspect" if action is None else words[action])


@pytest.mark.parametrize(
    ("button", "says"), [("Repair… Never said a word", "Repair"), ("Clean up… Leave files behind", "Remove")]
)
def test_an_act_is_asked_for_where_its_run_is_listed(page: Page, button: str, says: str) -> None:
    page.goto("/attention")
    page.get_by_role("button", name=button).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(says)
    expect(dialog).to_contain_text(button.split("… ")[1])
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize("look", [{}, {"viewport": {"width": 800, "height": 900}}])
@pytest.mark.parametrize("address", ["/", "/attention", "/runs"])
def test_a_state_shows_whole_words(page: Page, address: str) -> None:
    page.goto(address)
    chain = page.get_by_role("button", name=re.compile("^Running · quiet .* · process unknown$"))
    expect(chain).to_be_visible()
    left_out = """(chain) => {
      const end = chain.getBoundingClientRect()
      return [...chain.querySelectorAll('b, b ~ span')].filter((word) => {
        const box = word.getBoundingClientRect()
        return box.right > end.right || box.bottom > end.bottom + 1 || word.scrollWidth > word.clientWidth
      }).map((word) => word.textContent)
    }"""
    assert chain.evaluate(left_out) == []


def test_silence_goes_on_in_what_needs_attention(page: Page) -> None:
    page.clock.install()
    page.goto("/attention?signal=stale")
    chain = page.get_by_role("row").filter(has_text="Rewrite the importer").get_by_role("button", name="process gone")
    hours = re.compile(r"quiet (\d+)h")
    expect(chain).to_have_text(hours)
    before = hours.search(chain.inner_text())
    assert before is not None
    with no_answers(page):
        page.clock.run_for(65 * MINUTE * 1000)
        expect(chain).to_have_text(re.compile(rf"quiet ({int(before[1]) + 1}|{int(before[1]) + 2})h"))


def test_a_state_opens_its_evidence(page: Page) -> None:
    open_dashboard(page)
    rows = page.get_by_role("list", name="Needs attention").get_by_role("listitem")
    rows.filter(has_text="Rewrite the importer").get_by_role("button", name="process gone").click()
    expect(page.get_by_role("dialog", name="Evidence")).to_contain_text("run.health.process_dead")


def test_active_now_recent_runs_and_shows_are_listed(page: Page) -> None:
    open_dashboard(page)
    active = page.get_by_role("list", name="Active now").get_by_role("listitem")
    triage = active.filter(has_text="Triage the nightly failures")
    expect(triage).to_contain_text(re.compile(r"Activity: bash for \d+m"))
    recent = page.get_by_role("list", name="Recent runs").get_by_role("listitem")
    names = [row["display_name"] for row in stats(page)["recent"][:7]]
    expect(recent).to_have_count(7)
    for row, name in zip(recent.all(), names, strict=True):
        expect(row).to_contain_text(name)
    shows = page.get_by_role("list", name="Shows in progress").get_by_role("listitem")
    expect(shows).to_have_count(2)
    expect(recent.filter(has_text="Mend the flaky upload test 1").get_by_role("button")).to_have_text("Completed")
    end, panel = (box.bounding_box() for box in (shows.last, page.locator("section").filter(has=shows.first).last))
    assert end is not None and panel is not None
    assert panel["y"] + panel["height"] - (end["y"] + end["height"]) < 2  # it ends where its content does
    expect(shows.filter(has_text="payments-split")).to_contain_text("1 of 6 merged")


def begin(world: World, name: str) -> None:
    """A run that another process records, and which goes on."""
    code = f"""
import lionstudio
run = lionstudio.record({name!r}, agent="builder").__enter__()
run.user("Go.")
import os
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], env={**world.environ}, check=True, timeout=60)


def test_a_run_of_another_process_appears_and_nothing_moves(own_page: Page, own_world: World) -> None:
    open_dashboard(own_page)
    before = stats(own_page)["executions"]["sessions"]
    expect(own_page.locator("canvas")).to_be_visible()
    own_page.evaluate(SHIFTS)
    begin(own_world, "Arrived just now")
    expect(own_page.get_by_role("list", name="Active now")).to_contain_text("Arrived just now")
    running = card(own_page, "Active executions").get_by_role("link", name=f"{before + 1} runs", exact=True)
    expect(running).to_be_visible()
    assert own_page.evaluate("window.shifts") == []


def test_who_waits_for_a_person_comes_first_however_many_runs_began_since(own_page: Page, own_world: World) -> None:
    ctx = own_world.open()
    for number in range(60):
        start_run(ctx, f"younger-{number}", name=f"Younger {number}")
    ctx.db.close()
    (waiting,) = own_page.request.get("/api/sessions?view=waiting").json()["items"]
    open_dashboard(own_page)
    first = own_page.get_by_role("list", name="Active now").get_by_role("listitem").first
    expect(first).to_contain_text(waiting["display_name"])


def test_a_row_that_is_pointed_at_stays_where_it_is(own_page: Page, own_world: World) -> None:
    open_dashboard(own_page)
    active = own_page.get_by_role("list", name="Active now").get_by_role("listitem")
    before = [text.splitlines()[0] for text in active.all_inner_texts()]
    active.nth(2).hover()
    begin(own_world, "Arrived while reading")
    news = own_page.get_by_role("button", name="1 new")
    expect(news).to_be_visible()
    assert [text.splitlines()[0] for text in active.all_inner_texts()] == before
    news.click()
    expect(active.filter(has_text="Arrived while reading")).to_be_visible()


def test_loading_shows_each_part_as_large_as_it_will_be(own_page: Page) -> None:
    held: list[Route] = []
    own_page.route("**/api/stats", lambda route: held.append(route))
    own_page.goto("/")
    own_page.evaluate(SHIFTS)
    expect(own_page.get_by_role("status", name="Loading").first).to_be_visible()
    expect(own_page.get_by_role("heading", name="Needs attention")).to_be_visible()
    for route in held:
        route.continue_()
    own_page.unroute("**/api/stats")
    expect(card(own_page, "Attention")).to_be_visible()
    expect(own_page.get_by_role("list", name="Needs attention")).to_be_visible()
    assert own_page.evaluate("window.shifts") == []


def test_an_error_says_what_failed_and_a_click_tries_again(own_page: Page, expected_problems: list[str]) -> None:
    expected_problems.append("503")
    told = {"code": "db.busy", "message": "The database is busy.", "hint": "Try again in a moment.", "refusals": []}
    fail_until_tried_again(own_page, "**/api/stats", lambda route: route.fulfill(status=503, json=told))
    own_page.goto("/")
    expect(own_page.get_by_role("alert")).to_contain_text("The database is busy.")
    own_page.get_by_role("button", name="Try again").click()
    expect(card(own_page, "Attention")).to_be_visible()


def test_a_fresh_studio_teaches_with_commands_that_exist(empty_page: Page) -> None:
    empty_page.goto("/")
    expect(empty_page.get_by_role("heading", name="Record your first run")).to_be_visible()
    for says in ("Nothing needs a look", "Nothing is running", "No run has ended yet", "Needs one finished run"):
        expect(empty_page.get_by_text(says, exact=True)).to_be_visible()
    commands = [text for text in empty_page.locator("code").all_inner_texts() if text.startswith("li ")]
    assert {"li state import", "li state import-db FILE"} <= set(commands)
    known = CLI.read_text()
    for command in commands:
        verb = command.removesuffix(" FILE")
        assert command == "li --help" or f"### {verb}\n" in known, command


def test_what_a_fresh_studio_says_to_type_records_a_run(empty_page: Page, empty_studio: Studio, tmp_path: Path) -> None:
    empty_page.goto("/")
    curl = empty_page.get_by_role("region", name="curl lines").inner_text()
    python = empty_page.get_by_role("region", name="Python lines").inner_text()
    subprocess.run(["sh", "-ec", curl], check=True, capture_output=True, timeout=60)
    expect(empty_page.get_by_role("list", name="Recent runs")).to_contain_text("nightly")
    home = tmp_path / "empty"
    environ = {"HOME": str(home), "LIONAGI_HOME": str(home / ".lionagi")}
    subprocess.run([sys.executable, "-c", python], env=environ, check=True, timeout=60)
    expect(empty_page.get_by_role("list", name="Recent runs")).to_contain_text("triage")
    expect(card(empty_page, "Outcomes 24h")).to_contain_text("2completed")


def test_a_command_is_copied(browser: Any, empty_studio: Studio) -> None:
    context = browser.new_context(base_url=empty_studio.url, permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/")
    page.get_by_role("button", name="Copy the Python lines").click()
    assert "lionstudio.record" in page.evaluate("navigator.clipboard.readText()")
    context.close()


@pytest.mark.parametrize("look", [{"viewport": {"width": 800, "height": 900}}])
def test_in_a_narrow_window_cards_stand_two_by_two(page: Page) -> None:
    open_dashboard(page)
    first, second, third = (
        card(page, name).bounding_box() for name in ("Attention", "Active executions", "Outcomes 24h")
    )
    assert first is not None and second is not None and third is not None
    assert first["y"] == second["y"]
    assert third["y"] > first["y"]
    assert third["x"] == first["x"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_play_has_the_same_state_in_the_list_of_plays_and_on_its_show(page: Page, world: World) -> None:
    def told(play: str, row: Locator) -> tuple[str, str, str]:
        state = re.sub(r"\d+[smh]\b", "", row.get_by_title(re.compile("^status ")).inner_html())  # silence goes on
        return play, state, row.locator("td").last.evaluate("cell => cell.querySelector('[title]')?.title ?? ''")

    topic = world.shows[0]
    page.goto(f"/shows/{topic}")
    rows = page.locator("tr[data-play]")
    expect(rows.first).to_be_visible()
    on_show = sorted(told(row.get_attribute("data-play") or "", row) for row in rows.all())
    page.goto("/plays")
    listed = page.get_by_role("table", name="Plays").get_by_role("row").filter(has_text=topic)
    expect(listed).to_have_count(len(on_show))
    assert sorted(told(row.get_by_role("link").first.inner_text(), row) for row in listed.all()) == on_show


@pytest.mark.parametrize("address", ["/", "/attention", "/executions", "/request-changes", "/plays?status=running"])
def test_nothing_keeps_people_out(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    expect_accessible_in_both_themes(page)


def test_every_number_is_reached_by_keyboard(page: Page) -> None:
    open_dashboard(page)
    page.evaluate(
        "() => { window.reached = new Set(); document.addEventListener('focusin', "
        "({ target }) => window.reached.add(target.getAttribute('href'))) }"
    )
    for _ in range(140):
        page.keyboard.press("Tab")
    assert {to for _, _, to in numbers_of(page)} <= set(page.evaluate("[...window.reached]"))


def test_how_long_a_run_runs_ticks(page: Page) -> None:
    page.clock.install()
    open_dashboard(page)
    active = page.get_by_role("list", name="Active now").get_by_role("listitem").filter(has_text="Refactor the parser")
    minutes = re.compile(r"architect · (\d+)m")
    expect(active).to_contain_text(minutes)
    before = minutes.search(active.inner_text())
    assert before is not None
    with no_answers(page):
        page.clock.run_for(3 * MINUTE * 1000)
        expect(active).to_contain_text(re.compile(rf"architect · ({int(before[1]) + 3}|{int(before[1]) + 4})m"))


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/attention", "Nothing needs a look."),
        ("/attention?signal=stale", "Nothing is stale."),
        ("/executions", "Nothing is running."),
        ("/request-changes", "No gate asked for changes in the last 24 hours."),
        ("/plays?status=running,redoing", "No play is so now."),
    ],
)
def test_an_empty_list_says_what_is_not_there(empty_page: Page, address: str, says: str) -> None:
    empty_page.goto(address)
    expect(empty_page.get_by_text(says, exact=True)).to_be_visible()


def test_a_long_list_is_loaded_page_by_page_until_it_is_as_long_as_its_number(
    empty_page: Page, empty_world: World
) -> None:
    ctx = empty_world.open()
    for number in range(205):
        start_run(ctx, f"run-{number}", name=f"run {number}")
        finish_session(ctx, f"run-{number}", "failed", exit_code=1)
    ctx.db.close()
    open_dashboard(empty_page)
    link = card(empty_page, "Attention").get_by_role("link", name=re.compile("^failed or timed out"))
    expect(link).to_have_attribute("data-number", "205")
    link.click()
    rows = empty_page.get_by_role("table", name="Attention").locator("tbody tr")
    expect(rows).to_have_count(100)
    assert count_rows(empty_page) == 205


def test_a_list_that_cannot_be_loaded_says_why(own_page: Page, expected_problems: list[str]) -> None:
    expected_problems.append("503")
    told: dict[str, Any] = {"code": "db.busy", "message": "The database is busy.", "hint": None, "refusals": []}
    fail_until_tried_again(own_page, "**/api/attention*", lambda route: route.fulfill(status=503, json=told))
    own_page.goto("/attention")
    expect(own_page.get_by_role("alert")).to_contain_text("The database is busy.")
    own_page.get_by_role("button", name="Try again").click()
    expect(own_page.get_by_role("table", name="Attention")).to_be_visible()


def test_rows_of_a_list_are_walked_by_keyboard(page: Page, world: World) -> None:
    page.goto("/attention?signal=zombie")
    expect(page.get_by_role("table", name="Attention")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="Leave files behind", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/runs/{world.runs['Leave files behind']}$"))


@pytest.mark.parametrize("look", [{"viewport": {"width": 480, "height": 900}}])
def test_on_a_phone_every_row_has_its_name_its_state_and_what_to_do(page: Page) -> None:
    open_dashboard(page)
    panel = page.get_by_role("list", name="Needs attention").get_by_role("listitem")
    for row in panel.all():
        expect_whole(row.get_by_role("link").first)
        expect_whole(row.get_by_role("button").or_(row.get_by_role("link")).last)
        expect_beside(row)
    legend = card(page, "Attention").locator("li .cut")
    assert legend.evaluate_all("all => all.every(one => one.scrollWidth <= one.clientWidth)")
    page.goto("/attention")
    for row in page.get_by_role("table", name="Attention").locator("tbody tr").all()[:3]:
        expect_whole(row.get_by_role("link").first)
        expect_whole(row.get_by_role("button").or_(row.get_by_role("link")).last)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("look", [{"viewport": {"width": width, "height": 900}} for width in (720, 1024, 1440)])
def test_what_to_do_about_a_thing_stands_in_its_row(page: Page) -> None:
    open_dashboard(page)
    for row in page.get_by_role("list", name="Needs attention").get_by_role("listitem").all():
        expect_beside(row)


def expect_beside(row: Locator) -> None:
    """The last control of a row stands at its end, and within its height."""
    inner = row.get_by_role("button").or_(row.get_by_role("link")).last.bounding_box()
    outer = row.bounding_box()
    assert inner is not None and outer is not None
    assert outer["y"] <= inner["y"] and inner["y"] + inner["height"] <= outer["y"] + outer["height"]
    assert inner["x"] > outer["x"] + outer["width"] / 2


def expect_whole(thing: Locator) -> None:
    """It is there, with room for some words, and nothing of it is beyond the edge of its panel."""
    expect(thing).to_be_visible()
    box = thing.bounding_box()
    assert box is not None and box["width"] > 40 and box["x"] + box["width"] <= 464, (thing.inner_text(), box)


def test_who_is_dead_is_seen_among_what_is_at_work(page: Page) -> None:
    page.goto("/executions")
    dead = (
        page.get_by_role("table", name="Active executions").get_by_role("row").filter(has_text="Rewrite the importer")
    )
    expect(dead.get_by_role("button", name=re.compile(r"Running · quiet \d+h · process gone"))).to_be_visible()
    open_dashboard(page)
    active = page.get_by_role("list", name="Active now").get_by_role("listitem")
    expect(active.filter(has_text="Never said a word")).to_contain_text("Running · no output")
    expect(active.filter(has_text="–")).to_have_count(0)
