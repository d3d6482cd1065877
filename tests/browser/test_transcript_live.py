"""A transcript while it is written by another process, and one that is too long to be drawn at once."""

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from lionstudio.services.messages import append_to_session
from lionstudio.services.sessions import SessionDraft, start_session
from tests.browser import texts
from tests.browser.studio import Studio
from tests.browser.test_transcript import row
from tests.browser.world import World, build
from tests.browser.writer import Writer
from tests.factories import assistant_says, line_of

LONG = 10_000
# Until two frames in a row are alike.
SETTLE = """one => new Promise((done) => { let last = -1; const look = () => {
  if (one.scrollTop === last) done(last); else { last = one.scrollTop; setTimeout(look, 200) } }; look() })"""
FIRST_SEEN = """one => Number([...one.querySelectorAll('article')].find((article) =>
  article.getBoundingClientRect().bottom > one.getBoundingClientRect().top + 1).dataset.position)"""
# In every frame from now on: the first row in sight and where it is, or that none is drawn.
WATCH = """one => { window.seen = new Set(); const look = () => {
  const { top, bottom } = one.getBoundingClientRect()
  const first = [...one.querySelectorAll('[data-index]')].find((row) => row.getBoundingClientRect().bottom > top + 1)
  const row = first?.querySelector('article')
  window.seen.add(row ? `${row.dataset.position} at ${row.getBoundingClientRect().top - top}` : 'nothing')
  requestAnimationFrame(look) }; look() }"""
MOST_NODES = 3_000  # in the pane, however long the run is


@pytest.fixture
def own_world(tmp_path: Path) -> Iterator[World]:
    with build(tmp_path / "own", size=0) as world:
        yield world


@pytest.fixture
def writer(own_world: World) -> Iterator[Writer]:
    with Writer(own_world.environ) as writer:
        for number in range(1, 41):
            writer.say("assistant", f"message {number}\n\n" + "and more of it. " * 20)
        yield writer


def watch(page: Page, writer: Writer) -> Locator:
    """The transcript that is being written, at its end."""
    page.goto(f"/runs/{writer.run_id}")
    log = page.get_by_role("log")
    expect(row(log, 40)).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Live")).to_be_visible()
    log.scroll_into_view_if_needed()
    return log


def is_at_end(log: Locator) -> bool:
    return bool(log.evaluate("one => one.scrollHeight - one.scrollTop - one.clientHeight <= 40"))


def test_at_the_end_it_follows_and_pairs_what_comes(own_page: Page, writer: Writer) -> None:
    log = watch(own_page, writer)
    writer.say("assistant", "the next one")
    expect(row(log, 41)).to_contain_text("the next one")
    call = writer.say("tool_call", "bash", {"cmd": "make"})
    expect(row(log, 42)).to_contain_text("No result yet. Running for")
    writer.say("tool_result", call, "it is made")
    expect(row(log, 42)).to_contain_text("it is made")
    expect(row(log, 43)).to_have_count(0)
    assert is_at_end(log)


def test_whoever_leaves_the_end_while_much_comes_is_not_taken_back(own_page: Page, writer: Writer) -> None:
    log = watch(own_page, writer)
    log.focus()
    is_enough = threading.Event()

    def go_on() -> int:
        return len([writer.say("assistant", "more") for _ in iter(lambda: is_enough.wait(0.01), True)])

    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(go_on)
        try:
            for _ in range(10):
                own_page.keyboard.press("End")
                expect(own_page.get_by_role("button", name=re.compile("To the end|new"))).to_have_count(0)
                own_page.keyboard.press("Home")
                expect(row(log, 1)).to_be_in_viewport()
        finally:
            is_enough.set()
        assert written.result(20) > 10


def test_scrolled_up_it_stays_still_and_counts_what_is_new(own_page: Page, writer: Writer) -> None:
    log = watch(own_page, writer)
    log.hover()
    own_page.mouse.wheel(0, -1500)
    expect(own_page.get_by_role("button", name="To the end")).to_be_visible()
    log.evaluate(SETTLE)
    expect(log.get_by_role("article").first).to_be_attached()  # rows that rush by are not drawn
    first = log.evaluate(FIRST_SEEN)
    seen = row(log, first)
    before = seen.bounding_box()
    log.evaluate(WATCH)
    for number in range(6):
        writer.say("assistant", f"new {number}\n\n" + texts.PLAN)
    button = own_page.get_by_role("button", name="6 new")
    expect(button).to_be_visible()
    assert (log.evaluate(FIRST_SEEN), seen.bounding_box()) == (first, before)
    assert len(own_page.evaluate("[...window.seen]")) == 1  # in no frame was it elsewhere, or not drawn
    own_page.keyboard.press("End")
    expect(row(log, 46)).to_be_in_viewport()
    expect(button).to_have_count(0)
    writer.say("assistant", "and on it goes")
    expect(row(log, 47)).to_be_in_viewport()


def test_only_what_is_shown_is_counted_as_new(own_page: Page, writer: Writer) -> None:
    log = watch(own_page, writer)
    own_page.get_by_role("radio", name="Text").check(force=True)
    expect(row(log, 40)).to_be_visible()
    log.hover()
    own_page.mouse.wheel(0, -1500)
    expect(own_page.get_by_role("button", name="To the end")).to_be_visible()
    for number in range(3):
        writer.say("tool_result", writer.say("tool_call", "bash", {"cmd": "make"}), f"made {number}")
        writer.say("assistant", f"I made {number}")
    expect(own_page.get_by_role("button", name="3 new")).to_be_visible()


def test_a_run_that_goes_on_is_searched_in_steps_and_nothing_moves(own_page: Page, writer: Writer) -> None:
    log = watch(own_page, writer)
    own_page.get_by_role("searchbox", name="Find in transcript").fill("message")
    expect(own_page.get_by_text("of 40", exact=False).first).to_be_visible()
    log.hover()
    own_page.mouse.wheel(0, -700)
    log.evaluate(SETTLE)
    expect(log.get_by_role("article").first).to_be_attached()
    first = log.evaluate(FIRST_SEEN)
    before = row(log, first).bounding_box()
    asked: list[str] = []
    own_page.on("request", lambda request: asked.append(request.url) if "/positions?" in request.url else None)
    began = time.monotonic()
    for number in range(30):
        writer.say("assistant", f"one more message {number}")
        own_page.evaluate("new Promise(requestAnimationFrame)")
    expect(own_page.get_by_text("of 70", exact=False).first).to_be_visible()
    assert len(asked) <= (time.monotonic() - began) + 2
    assert (log.evaluate(FIRST_SEEN), row(log, first).bounding_box()) == (first, before)


def test_a_message_that_grows_moves_nothing_above_it(own_page: Page, writer: Writer) -> None:
    log = watch(own_page, writer)
    log.hover()
    own_page.mouse.wheel(0, -300)
    expect(own_page.get_by_role("button", name="To the end")).to_be_visible()
    above = row(log, 38)
    text = "It begins."
    message_id = writer.say("message", role="assistant", content={"assistant_response": text}, id="growing")
    expect(own_page.get_by_role("button", name="1 new")).to_be_visible()
    before = above.bounding_box()
    for number in range(5):
        text += f"\n\nThen it says more, {number}."
        writer.say("message", role="assistant", content={"assistant_response": text}, id=message_id)
    expect(row(log, 41)).to_contain_text("more, 4.")
    assert above.bounding_box() == before
    expect(own_page.get_by_role("button", name="1 new")).to_be_visible()


def test_a_restart_of_the_server_leaves_no_gap(
    own_page: Page, own_studio: Studio, writer: Writer, expected_problems: list[str]
) -> None:
    expected_problems.extend(["Failed to load resource", "ERR_", "net::"])
    log = watch(own_page, writer)
    own_page.wait_for_load_state("networkidle")  # what the frame fetches beside the page is not what is tested here
    own_studio.stop()
    for number in range(1, 8):
        writer.say("assistant", f"while it was away {number}")
    expect(own_page.get_by_text(re.compile("Reconnecting|Offline"))).to_be_visible()
    own_studio.start()
    expect(row(log, 47)).to_contain_text("while it was away 7", timeout=40_000)
    writer.say("assistant", "back again")
    expect(row(log, 48)).to_contain_text("back again")
    shown = [int(one) for one in log.locator("article").evaluate_all("all => all.map((one) => one.dataset.position)")]
    assert shown == list(range(shown[0], 49))


def test_a_message_is_on_the_screen_soon_after_its_commit(own_page: Page, writer: Writer) -> None:
    log = watch(own_page, writer)
    waits = []
    for number in range(10):
        own_page.evaluate(
            """text => { window.seen = new Promise((done) => {
                 const look = () => document.querySelector('[role=log]').textContent.includes(text)
                   ? done(Date.now()) : requestAnimationFrame(look)
                 look() }) }""",
            f"soon {number};",
        )
        writer.say("assistant", f"soon {number};")
        stored = time.time() * 1000
        waits.append(own_page.evaluate("window.seen") - stored)
    expect(row(log, 50)).to_be_in_viewport()
    assert sorted(waits)[len(waits) // 2] <= 300, waits


@pytest.fixture
def long_run(own_world: World) -> str:
    ctx = own_world.open()
    session = start_session(ctx, SessionDraft(line_of("long"), name="Ten thousand"))
    for start in range(0, LONG, 1_000):
        numbers = range(start + 1, start + 1_001)
        said = [assistant_says(f"**Number {n}**\n\n{texts.PLAN if n % 9 == 0 else 'Short.'}") for n in numbers]
        append_to_session(ctx, session.id, [(None, one) for one in said])
    ctx.db.close()
    return session.id


def test_ten_thousand_messages_open_and_scroll_with_few_of_them_drawn(own_page: Page, long_run: str) -> None:
    asked: list[str] = []
    own_page.on("request", lambda request: asked.append(request.url) if "/messages?" in request.url else None)
    own_page.goto(f"/runs/{long_run}")
    log = own_page.get_by_role("log")
    expect(row(log, LONG)).to_contain_text(f"Number {LONG}")
    assert len(asked) <= 4, "only the end is read"
    for place in (0.5, 0.1, 0.9, 0.0):
        log.evaluate("(one, place) => { one.scrollTop = one.scrollHeight * place }", place)
        expect(log.locator("article").first).to_contain_text(re.compile(r"Number \d+"))
        assert log.evaluate("one => one.querySelectorAll('*').length") < MOST_NODES
    expect(row(log, 1)).to_be_in_viewport()
    own_page.goto(f"/runs/{long_run}#m5000")
    expect(row(log, 5000)).to_be_in_viewport()
