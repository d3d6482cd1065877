"""What a run said, as people read it: markdown, tools, values, forks, links, and what somebody tries to smuggle in."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from lionstudio.domain.conversation import MessageDraft
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from tests.browser import texts
from tests.browser.axe import expect_accessible_in_both_themes
from tests.browser.studio import Studio
from tests.browser.telling import Teller
from tests.browser.world import World, build
from tests.factories import Clock

MEGABYTE = 1_000_000
SCRIPTED = """<script>window.hurt = true</script><img src=x onerror="window.hurt = true">
[press me](javascript:window.hurt=true) [and me](JaVaScRiPt:window.hurt=true) [me too](data:text/html,<b>x</b>)
[a page of yours](/api/admin/prune) [good](https://example.com/good)
![a beacon](https://evil.example/beacon.png)
"""
# The words that are marked can be seen: nothing lies over them, and they lie in no part that is scrolled away.
FOUND_IN_SIGHT = """() => [...(CSS.highlights.get('found') ?? [])].some((range) => {
  const { left, top, width, height } = range.getBoundingClientRect()
  const there = document.elementFromPoint(left + width / 2, top + height / 2)
  return there !== null && there.contains(range.startContainer) && there.closest('[role=log]') !== null })"""
TURNED = "run \u202egnp.exe\u202c now"
PILED = "Z" + "\u0301\u0316\u0320" * 300


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with build(tmp_path_factory.mktemp("transcripts"), size=0) as world:
        clock, ctx = Clock(world.now), world.open()
        teller = Teller(Context(ctx.db, now=clock), clock)
        _everything(world, teller)
        _hostile(world, teller)
        _forked(world, teller)
        _fails_in_a_fork(world, teller)
        _many_errors(world, teller)
        _haystack(world, teller)
        teller.run("Silent", at=world.now - 4).process(world.live_process())
        run = teller.run("One long answer", at=world.now - 80)
        run.assistant("\n\n".join(f"Line {number}." for number in range(200)))
        run.end(exit_code=0)
        teller.run("Never spoke", at=world.now - 90).end("failed", exit_code=1)
        world.runs = dict(teller.told)
        ctx.db.close()
        yield world


@pytest.fixture(scope="module")
def studio(world: World) -> Iterator[Studio]:
    with Studio(world.settings) as studio:
        yield studio


def _everything(world: World, teller: Teller) -> None:
    run = teller.run("Everything", at=world.now - 600, agent="architect", step=1.0).process(world.live_process())
    run.system("You are careful.")  # 1
    run.user("Make it **bold**, with `code`.")
    run.assistant(texts.PLAN)  # 3
    run.tool("bash", "\n".join(f"line {n}" for n in range(1, 31)), cmd="seq 30", took=9.1)  # 4, 5
    run.tool("bash", "\n".join(f"trace {n}" for n in range(1, 31)), error=True, cmd="make", took=2.0)  # 6, 7
    run.tool("read_file", {"rows": [{"deep": {"deeper": {"deepest": 1}}}], "none": []}, path="a.json")  # 8, 9
    run.tool("edit", "done", path="a.py", old_string="before = 1", new_string="after = 1\nmore = 2")  # 10, 11
    run.tool(
        "bash", "\u001b[31mFAILED\u001b[0m \u001b[1;32mpassed\u001b[0m\u001b]0;title\u0007", cmd="pytest"
    )  # 12, 13
    draft = MessageDraft(
        "assistant", {"assistant_response": "I looked."}, sender="verifier",
        node_metadata={"thinking": "Is it true?", "thinking_seconds": 11},
    )  # fmt: skip
    append_message(teller.ctx, run.line, draft)  # 14
    append_message(teller.ctx, run.line, MessageDraft("checkpoint", {"state": {"step": 3}, "tags": ["a", "b"]}))  # 15
    run.at(world.now - 192).call("bash", cmd="python -m ledger.backfill")  # 16


def _hostile(world: World, teller: Teller) -> None:
    run = teller.run("Hostile", at=world.now - 600, step=1.0, agent="<b>agent</b>")
    run.user(SCRIPTED)
    run.assistant(TURNED)
    run.assistant(PILED)
    run.assistant("x" * MEGABYTE)
    run.tool("bash", "y" * MEGABYTE, cmd=f"cat {TURNED}")
    odd: dict[str, Any] = {"<u>name</u>": "<script>window.hurt = true</script>"}
    run.tool("<i>odd</i>", SCRIPTED, **odd)
    run.assistant("[" * 19_000)  # 9
    run.assistant(">" * 4_900)
    run.assistant("- " * 2_400)
    run.assistant("\n".join("  " * depth + "- a" for depth in range(190)))
    run.tool("bash", " " * 60_000 + "x", cmd="spaces")  # 13, 14
    run.assistant("And all is well.")
    run.end()


def _forked(world: World, teller: Teller) -> None:
    main = teller.run("Forked", at=world.now - 900, agent="architect", step=1.0)
    for number in range(1, 6):
        main.assistant(f"shared {number}")
    retry = main.fork("retry", at=3, model="openai/gpt-5")
    retry.assistant("only in the retry")
    again = retry.fork("again", at=4)
    again.assistant("only in the second retry")
    main.assistant("only in main")
    main.end()


def _fails_in_a_fork(world: World, teller: Teller) -> None:
    main = teller.run("Fails in a fork", at=world.now - 900, step=1.0)
    main.assistant("All is well here.")
    retry = main.fork("retry")
    retry.tool("bash", "it failed in the retry", error=True, cmd="make")
    main.assistant("Still well.")
    main.end()


def _many_errors(world: World, teller: Teller) -> None:
    run = teller.run("Errors", at=world.now - 5000, step=1.0)
    for number in range(60):
        run.assistant(f"Attempt {number}. " + "I try again. " * (number % 7))
        run.tool("bash", f"it failed {number}", error=number % 20 == 10 or None, cmd=f"try {number}")
    run.assistant("The needle is in here.")
    run.end()


def _haystack(world: World, teller: Teller) -> None:
    run = teller.run("Haystack", at=world.now - 6000, step=1.0)
    for number in range(30):
        run.assistant(f"Straw {number}.")
    run.assistant("\n\n".join(f"Blade **{number}**{' of amber' * (number == 250)}." for number in range(400)))
    run.tool("bash", "\n".join(f"stalk {n}{' of copper' * (n == 1500)}" for n in range(2_000)), cmd="harvest")
    run.tool("read_file", {"rows": [{"far": {"down": {"lies": "some silver"}}}]}, path="barn.json")
    for number in range(30):
        run.assistant(f"Hay {number}.")
    run.end()


def open_run(page: Page, world: World, name: str, *, more: str = "") -> Locator:
    """The transcript of a run, once something of it is drawn."""
    page.goto(f"/runs/{world.runs[name]}{more}")
    log = page.get_by_role("log", name="Transcript")
    expect(log.get_by_role("article").first).to_be_visible()
    return log


def row(log: Locator, position: int) -> Locator:
    return log.locator(f'article[data-position="{position}"]')


def reach(log: Locator, position: int) -> Locator:
    """A row, scrolled to by its number in the address."""
    log.page.evaluate("hash => { location.hash = hash }", f"m{position}")
    found = row(log, position)
    expect(found).to_be_in_viewport()
    return found


def test_what_was_said_is_asked_for_before_everything_else_of_the_page(page: Page, world: World) -> None:
    asked: list[str] = []
    run = f"/api/sessions/{world.runs['Errors']}"
    page.on("request", lambda request: asked.append(request.url.partition(run)[2]) if run in request.url else None)
    page.goto(f"/runs/{world.runs['Errors']}")
    expect(page.get_by_role("log").get_by_role("article").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    kinds = [re.match(r"/?(\w*)", one)[1] for one in asked]  # type: ignore[index]
    first, second, *others = dict.fromkeys(kinds)
    assert (first, second) == ("", "messages")  # the run itself, and then its end
    assert {"timeline", "history", "positions"} <= set(others)


def test_a_transcript_opens_at_its_end_with_numbers_times_and_speakers(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything")
    expect(row(log, 16)).to_be_visible()
    said = reach(log, 14)
    expect(said).to_contain_text("verifier")
    expect(said.locator("time")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
    answer = reach(log, 3)
    expect(answer).to_contain_text("architect")
    expect(answer).to_contain_text("claude-sonnet-4-6 · 10.8 k in · 260 out")


def test_markdown_is_drawn_and_code_has_its_colours(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything", more="#m3")
    answer = row(log, 3)
    expect(answer.get_by_role("table")).to_contain_text("parser/many.py")
    expect(answer.locator("ol > li")).to_have_count(3)
    link = answer.get_by_role("link", name="the notes")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")
    expect(answer.locator("pre .code-keyword").first).to_have_text("def")


def test_a_call_and_its_result_are_one_block_under_the_number_of_the_call(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything", more="#m4")
    block = row(log, 4)
    expect(block).to_contain_text("bash")
    expect(block).to_contain_text("seq 30")
    expect(block).to_contain_text("30 lines · 9.1s")
    expect(block).to_contain_text("line 8")
    expect(block).not_to_contain_text("line 9")
    expect(row(log, 5)).to_have_count(0)
    block.get_by_role("button", name="Show 22 more lines").click()
    expect(block).to_contain_text("line 30")
    block.get_by_role("button", name=re.compile("^bash")).click()
    expect(block).not_to_contain_text("line 1")


def test_an_error_shows_its_last_lines_first(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything", more="#m6")
    block = row(log, 6)
    expect(block.get_by_text("Failed", exact=True)).to_have_count(1)
    expect(block).to_contain_text("trace 30")
    expect(block).not_to_contain_text("trace 22")
    block.get_by_role("button", name="Show 22 earlier lines").click()
    expect(block).to_contain_text("trace 1")


def test_a_call_without_a_result_says_how_long_it_has_been_running(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything")
    expect(row(log, 16)).to_contain_text(re.compile(r"No result yet\. Running for \d+m \d\ds, since \d\d:\d\d:\d\d\."))


def test_values_can_be_looked_into(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything", more="#m8")
    block = row(log, 8)
    block.get_by_role("button", name=re.compile("^read_file")).click()
    expect(block).to_contain_text("rows: 1 item")
    expect(block).not_to_contain_text("deeper")
    block.get_by_role("button", name="0: 1 field").click()
    block.get_by_role("button", name="deep: 1 field").click()
    expect(block.get_by_role("button", name="deeper: 1 field")).to_be_visible()
    other = reach(log, 15)
    expect(other).to_contain_text("checkpoint")
    expect(other).to_contain_text("step: 3")


def test_an_edit_shows_what_it_changed(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything", more="#m10")
    block = row(log, 10)
    expect(block).to_contain_text("+2 −1")
    block.get_by_role("button", name=re.compile("^edit")).click()
    expect(block.locator(".code-del")).to_have_text("− before = 1")
    expect(block.locator(".code-add")).to_have_text(["+ after = 1", "+ more = 2"])


def test_thoughts_fold_to_how_long_they_took(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything", more="#m14")
    expect(row(log, 14)).not_to_contain_text("Is it true?")
    row(log, 14).get_by_role("button", name="Thought for 11s").click()
    expect(row(log, 14)).to_contain_text("Is it true?")


def test_colours_of_a_terminal_are_tones_and_its_orders_are_gone(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything", more="#m12")
    output = row(log, 12).locator("pre")
    expect(output).to_have_text("FAILED passed")
    expect(output.locator(".t-danger")).to_have_text("FAILED")
    expect(output.locator(".t-success.strong")).to_have_text("passed")


def test_what_agents_write_never_runs_loads_or_leads_inside(page: Page, world: World) -> None:
    log = open_run(page, world, "Hostile", more="#m1")
    said = row(log, 1)
    expect(said).to_contain_text("<script>window.hurt = true</script>")
    expect(said.get_by_text("press me")).to_be_visible()
    expect(said.locator("img, script, iframe")).to_have_count(0)
    addresses = said.locator("a[target]").evaluate_all("all => all.map((one) => one.href)")
    assert addresses == ["https://example.com/good", "https://evil.example/beacon.png"]
    expect(said.get_by_role("link", name="Image: a beacon")).to_be_visible()
    block = reach(log, 7)
    expect(block).to_contain_text("<i>odd</i>")
    block.get_by_role("button", name=re.compile("odd")).first.click()
    expect(block).to_contain_text("<u>name</u>")
    assert page.evaluate("window.hurt") is None


def test_characters_that_turn_text_around_are_named(page: Page, world: World) -> None:
    log = open_run(page, world, "Hostile", more="#m2")
    expect(row(log, 2)).to_contain_text("run ⟨RLO⟩gnp.exe⟨PDF⟩ now")


def test_piled_marks_stay_in_their_message(page: Page, world: World) -> None:
    log = open_run(page, world, "Hostile", more="#m3")
    assert row(log, 3).evaluate("element => getComputedStyle(element).overflowY") == "clip"


def test_a_megabyte_in_one_line_is_cut_until_somebody_asks_for_it(page: Page, world: World) -> None:
    log = open_run(page, world, "Hostile", more="#m4")
    said = row(log, 4)
    assert len(said.inner_text()) < 30_000
    said.get_by_role("button", name="Show all 1.0 MB").click()
    expect(said.get_by_role("button", name="Show all 1.0 MB")).to_have_count(0)
    assert len(said.inner_text()) > MEGABYTE
    block = reach(log, 5)
    assert len(block.inner_text()) < 5_000
    block.get_by_role("button", name="Show whole lines").click()
    block.get_by_role("button", name="Show all 1.0 MB").click()
    assert len(block.inner_text()) > MEGABYTE
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_text_that_is_hard_to_read_as_markdown_does_not_hold_up_the_page(page: Page, world: World) -> None:
    log = open_run(page, world, "Hostile")
    expect(row(log, 15)).to_contain_text("And all is well.")
    page.evaluate(
        """() => { window.longest = 0; new PerformanceObserver((list) => { for (const one of list.getEntries())
             window.longest = Math.max(window.longest, one.duration) }).observe({ type: 'longtask' }) }"""
    )
    for position, text in ((9, "[[[["), (10, ">>>>"), (11, "- - - -"), (12, "- a"), (13, "spaces")):
        expect(reach(log, position)).to_contain_text(text)
    assert page.evaluate("window.longest") < 1_500  # seconds and minutes, before they were left as they are


def test_branches_are_a_tree_of_forks_and_inherited_messages_are_shown_once(page: Page, world: World) -> None:
    log = open_run(page, world, "Forked")
    tree = page.get_by_role("navigation", name="Branches")
    names = tree.get_by_role("button").all_inner_texts()
    assert [re.split(r"\n", name)[0] for name in names] == ["All in order", "main", "retry", "again"]
    expect(tree).to_contain_text("forked at #3 · gpt-5")
    expect(tree).to_contain_text("forked at #4")
    expect(log).to_contain_text("only in main")
    tree.get_by_role("button", name=re.compile("again")).click()
    expect(log.get_by_role("article")).to_have_count(5)
    said = [text.splitlines()[-1] for text in log.get_by_role("article").all_inner_texts()]
    assert said == ["shared 1", "shared 2", "shared 3", "only in the retry", "only in the second retry"]
    tree.get_by_role("button", name=re.compile("All in order")).click()
    expect(log.get_by_role("article")).to_have_count(8)
    expect(log.get_by_text("shared 1")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"branch=all"))


def test_the_address_of_a_branch_opens_it(page: Page, world: World) -> None:
    log = open_run(page, world, "Forked")
    page.get_by_role("navigation", name="Branches").get_by_role("button", name=re.compile("^retry")).click()
    expect(log).to_contain_text("only in the retry")
    page.reload()
    expect(page.get_by_role("log")).to_contain_text("only in the retry")
    expect(page.get_by_role("log")).not_to_contain_text("only in main")


def test_a_permalink_centres_its_message_and_tints_it_until_the_reader_scrolls(page: Page, world: World) -> None:
    log = open_run(page, world, "Errors", more="#m94")
    target = row(log, 94)
    expect(target).to_be_in_viewport()
    expect(target).to_have_class(re.compile(r"bg-selected"))
    box, pane = target.bounding_box(), log.bounding_box()
    assert box is not None and pane is not None
    assert abs((box["y"] + box["height"] / 2) - (pane["y"] + pane["height"] / 2)) < 60
    log.hover()
    page.mouse.wheel(0, 120)
    expect(target).not_to_have_class(re.compile(r"bg-selected"))


def test_the_number_of_a_message_copies_its_link(page: Page, world: World) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log = open_run(page, world, "Forked")
    row(log, 6).get_by_role("link", name="Copy link to message 6").click()
    expect(page.get_by_text("Link to #6 copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.endswith("#m6")
    page.goto("/")
    page.goto(link)
    expect(row(page.get_by_role("log"), 6)).to_have_class(re.compile(r"bg-selected"))


@pytest.mark.parametrize(("can_select", "says"), [("true", "Link to #6 copied"), ("false", "Nothing was copied")])
def test_without_a_clipboard_it_is_copied_the_old_way_or_told(
    page: Page, world: World, can_select: str, says: str
) -> None:
    page.add_init_script(
        f"""Object.defineProperty(navigator, 'clipboard', {{ value: undefined }})
            document.execCommand = () => {can_select}"""
    )
    log = open_run(page, world, "Forked")
    row(log, 6).get_by_role("link", name="Copy link to message 6").click()
    expect(page.get_by_text(says).first).to_be_visible()
    copying = row(log, 6).get_by_role("button", name="Copy message")
    copying.focus()
    page.keyboard.press("Enter")
    expect(row(log, 6).get_by_role("button", name="Copied")).to_have_count(1 if can_select == "true" else 0)


def test_messages_and_blocks_are_copied_from_the_data(page: Page, world: World) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log = open_run(page, world, "Everything", more="#m3")
    row(log, 3).hover()
    row(log, 3).get_by_role("button", name="Copy message").click()
    assert page.evaluate("navigator.clipboard.readText()") == texts.PLAN
    row(log, 3).get_by_role("button", name="Copy code").click(force=True)
    assert page.evaluate("navigator.clipboard.readText()").startswith("def parse_many(")
    block = reach(log, 4)
    block.get_by_role("button", name="Copy output").focus()
    page.keyboard.press("Enter")
    expect(block.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").endswith("line 30")


def test_n_and_p_go_from_error_to_error(page: Page, world: World) -> None:
    log = open_run(page, world, "Errors")
    expect(page.get_by_text("Errors 3")).to_be_visible()
    for key, number in (("p", 50), ("p", 30), ("p", 10), ("n", 30)):
        page.keyboard.press(key)
        expect(log.locator("article.bg-selected")).to_contain_text(f"it failed {number}")
        expect(log.locator("article.bg-selected")).to_be_in_viewport()


def test_where_a_branch_has_no_error_n_says_where_they_are(page: Page, world: World) -> None:
    open_run(page, world, "Forked")
    page.keyboard.press("n")
    expect(page.get_by_text("No tool failed in this run", exact=True)).to_be_visible()
    log = open_run(page, world, "Fails in a fork")
    page.get_by_role("radio", name="Errors").check(force=True)
    expect(page.get_by_text("No tool failed here.")).to_be_visible()  # it is known where there are none
    page.get_by_role("radio", name="All").check(force=True)
    log.focus()
    page.keyboard.press("n")
    expect(page.get_by_text("No error in main; 1 in retry")).to_be_visible()
    page.get_by_role("button", name="Go to the first").click()
    expect(log.locator("article.bg-selected")).to_contain_text("it failed in the retry")


def test_only_text_tools_or_errors_are_shown(page: Page, world: World) -> None:
    log = open_run(page, world, "Errors")
    page.get_by_role("radio", name="Errors 3").check(force=True)
    expect(log.get_by_role("article")).to_have_count(3)
    page.get_by_role("radio", name="Text").check(force=True)
    expect(log).to_contain_text("The needle is in here.")
    expect(log.get_by_text("it failed")).to_have_count(0)
    page.get_by_role("radio", name="Tools").check(force=True)
    expect(log).not_to_contain_text("The needle is in here.")
    expect(log).to_contain_text("try 59")
    page.goto(f"/runs/{world.runs['Forked']}")
    page.get_by_role("radio", name="Tools").check(force=True)
    expect(page.get_by_text("No tool was called here.")).to_be_visible()


def test_while_it_is_looked_for_nobody_says_that_there_is_nothing(page: Page, world: World) -> None:
    log = open_run(page, world, "Errors")
    asked: list[Route] = []
    page.route("**/positions?*share=text*", lambda route: asked.append(route))
    with page.expect_request("**/positions?*share=text*"):
        page.get_by_role("radio", name="Text").check(force=True)
    expect(log.get_by_role("status", name="Loading")).to_be_visible()
    expect(page.get_by_text("No text was said here.")).to_have_count(0)
    asked[0].fulfill(json={"positions": [1, 4], "is_all": False})
    expect(log.get_by_role("article")).to_have_count(2)
    expect(page.get_by_text("Only the first 2 are shown.")).to_be_visible()


def test_words_are_found_in_what_was_never_drawn(page: Page, world: World) -> None:
    log = open_run(page, world, "Errors")
    field = page.get_by_role("searchbox", name="Find in transcript")
    field.fill("ATTEMPT 3")
    expect(page.get_by_text("of 11", exact=False)).to_be_visible()
    field.press("Enter")
    expect(log.locator("article.bg-selected")).to_contain_text(re.compile("Attempt 3"))
    page.wait_for_function("() => CSS.highlights.get('found').size > 0")  # they are drawn a moment later
    field.fill("nobody said this")
    expect(page.get_by_text("no match")).to_be_visible()
    field.press("Escape")
    expect(log).to_be_focused()


@pytest.mark.parametrize(
    ("run", "words"),
    [
        pytest.param("Haystack", "of amber", id="a message that is taller than the pane"),
        pytest.param("Haystack", "of copper", id="a folded output"),
        pytest.param("Haystack", "some silver", id="a value within values"),
        pytest.param("Everything", "You are careful", id="a system prompt"),
    ],
)
def test_what_is_found_is_brought_into_sight_wherever_it_hides(page: Page, world: World, run: str, words: str) -> None:
    open_run(page, world, run)
    page.get_by_role("searchbox", name="Find in transcript").fill(words)
    expect(page.get_by_text("1 of 1")).to_be_visible()
    page.wait_for_function(FOUND_IN_SIGHT)


def test_what_was_opened_for_what_was_found_can_be_closed(page: Page, world: World) -> None:
    log = open_run(page, world, "Haystack")
    page.get_by_role("searchbox", name="Find in transcript").fill("of copper")
    less = log.get_by_role("button", name="Show less")
    expect(less).to_be_visible()
    less.click()
    expect(log.get_by_role("button", name="Show 1,992 more lines")).to_be_visible()


def test_f_gives_the_transcript_the_whole_window(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything")
    page.keyboard.press("f")
    expect(page.get_by_role("button", name=re.compile("Back to the page"))).to_be_visible()
    pane = log.bounding_box()
    assert pane is not None and pane["y"] + pane["height"] == 900
    expect(row(log, 16)).to_be_in_viewport()
    tops = log.locator("article").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])"
    )
    assert all(abs(bottom - top) < 1 for (_, bottom), (top, _) in pairwise(tops)), "no gaps"
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=re.compile("Focus mode"))).to_be_visible()
    expect(page.locator("[inert]")).to_have_count(0)


def test_behind_the_whole_window_nothing_is_reached(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything")
    page.keyboard.press("f")
    expect(log).to_be_focused()
    is_behind = "() => document.activeElement !== document.body && document.activeElement.closest('.fixed') === null"
    for _ in range(60):
        page.keyboard.press("Tab")
        assert not page.evaluate(is_behind)


def test_the_pane_has_its_own_height_and_scroll(page: Page, world: World) -> None:
    log = open_run(page, world, "Errors")
    box = log.locator("xpath=ancestor::div[contains(@class, 'rounded-panel')][1]").bounding_box()
    assert box is not None and box["height"] == min(760, 900 - 160)
    expect(log).to_have_attribute("aria-live", "polite")


def test_the_pane_of_an_ended_run_ends_where_its_few_messages_end(page: Page, world: World) -> None:
    page.goto(f"/runs/{world.runs['Never spoke']}#branches")
    expect(page.get_by_text("No message was recorded.")).to_be_visible()
    box = page.locator("#branches").bounding_box()
    assert box is not None and box["height"] < 300
    log = open_run(page, world, "Fails in a fork", more="#branches")
    expect(row(log, 2)).to_be_in_viewport()
    last, whole = row(log, 2).bounding_box(), page.locator("#branches").bounding_box()
    assert last is not None and whole is not None
    assert whole["height"] < 400 and last["y"] + last["height"] <= whole["y"] + whole["height"]


def test_a_long_message_of_a_short_run_has_the_whole_height_and_its_scroll(page: Page, world: World) -> None:
    log = open_run(page, world, "One long answer")
    whole = page.locator("#branches").bounding_box()
    assert whole is not None and whole["height"] == min(760, 900 - 160)
    assert log.evaluate("one => one.scrollHeight > one.clientHeight")
    page.set_viewport_size({"width": 800, "height": 900})
    assert log.evaluate("one => one.scrollHeight > one.clientHeight")


def test_it_is_read_by_keyboard_alone(page: Page, world: World) -> None:
    log = open_run(page, world, "Everything")
    log.focus()
    page.keyboard.press("Home")
    expect(row(log, 1)).to_be_in_viewport()
    ring = log.locator("xpath=following-sibling::*[@data-ring]")  # over the rows, whose tints would hide it
    expect(ring).to_have_css("box-shadow", re.compile(r"inset"))
    fold = row(log, 1).get_by_role("button", name="System prompt")
    fold.focus()
    page.keyboard.press("Enter")
    expect(row(log, 1)).to_contain_text("You are careful.")
    page.keyboard.press("End")
    expect(row(log, 16)).to_be_in_viewport()


def test_a_run_that_said_nothing_says_so(page: Page, world: World) -> None:
    page.goto(f"/runs/{world.runs['Silent']}")
    expect(page.get_by_text(re.compile(r"No message yet\. The run started .+ ago\."))).to_be_visible()
    page.goto(f"/runs/{world.runs['Never spoke']}")
    expect(page.get_by_text("No message was recorded.")).to_be_visible()


@pytest.mark.parametrize("name", ["Everything", "Hostile", "Forked"])
def test_nothing_keeps_people_out(page: Page, world: World, name: str) -> None:
    log = open_run(page, world, name)
    expect(log.get_by_role("article").first).to_be_visible()
    expect_accessible_in_both_themes(page, within="#branches")


class TestNarrow:
    @pytest.fixture
    def look(self) -> dict[str, Any]:
        return {"viewport": {"width": 800, "height": 900}}

    def test_nothing_scrolls_sideways_but_code(self, page: Page, world: World) -> None:
        log = open_run(page, world, "Everything", more="#m3")
        expect(row(log, 3)).to_be_in_viewport()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert log.evaluate("element => element.scrollWidth <= element.clientWidth")

    def test_the_branches_stand_in_one_line_each_and_fade_where_there_are_more(self, page: Page, world: World) -> None:
        open_run(page, world, "Forked", more="#branches")
        branches = page.get_by_role("navigation", name="Branches")
        for name in ("All in order", "main", "retry", "again"):
            one = branches.get_by_role("button", name=re.compile(f"^{name}"))
            expect(one).to_be_in_viewport(ratio=1)
            box, whole = one.bounding_box(), branches.bounding_box()
            assert box is not None and whole is not None
            assert box["height"] <= 36
            assert box["y"] + box["height"] <= whole["y"] + whole["height"]
        page.set_viewport_size({"width": 800, "height": 500})  # where not all have room
        assert branches.evaluate("one => one.scrollHeight > one.clientHeight")
        fade, whole = branches.locator("> span").last.bounding_box(), branches.bounding_box()
        assert fade is not None and whole is not None
        assert abs(fade["y"] + fade["height"] - whole["y"] - whole["height"]) < 2
