"""What the files of a show folder mean, and that what is written is read back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.show import Play, PlayStatus
from lionstudio.domain.show_files import (
    FinalVerdict,
    Told,
    check_name,
    parse_exit_code,
    parse_final_verdict,
    parse_meta,
    parse_pid,
    parse_verdict,
    render_final_verdict,
    render_meta,
    render_verdict,
)
from lionstudio.domain.show_plan import PlannedPlay, ShowPlan, parse_plan, render_plan


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        pytest.param("# T\n\nIntro.\n\n## Goal\n\nDo it\nwell.\n\nMore.", "Do it well.", id="under its heading"),
        pytest.param("# T\n\nIntro\nhere.\n\n## Plays\n", "Intro here.", id="else the first paragraph"),
        pytest.param("---\na: 1\n---\n\n# T\n\nIntro.", "Intro.", id="behind front matter"),
        pytest.param("## Goal\n\n## Plays\n\n**a**\n", "**a**", id="an empty goal is none"),
        pytest.param("## Goal: speed\n\nFast.", "Fast.", id="a heading with more words"),
        pytest.param("```\n## Goal\nno\n```\n\nYes.", "Yes.", id="not within code"),
        pytest.param("# Only a title\n", None, id="nowhere"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_the_goal_is_the_first_paragraph_under_its_heading(text, goal):
    assert parse_plan(text).goal == goal


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- Repo: /src/my ledger", {"repo": "/src/my ledger"}),
        ("- **Repo:** `/src/ledger` (the monorepo)", {"repo": "/src/ledger"}),
        ("* Repository path: /src/ledger (a clone)", {"repo": "/src/ledger"}),
        ("- Base: main", {"base_branch": "main"}),
        ("- **Base branch**: main, as of Monday", {"base_branch": "main"}),
        ("- Integration branch (new): show/x/integration", {"integration_branch": "show/x/integration"}),
        ("- Based on trust", {}),
        ("- Repo:", {}),
        ("Repo: /src", {}),
    ],
)
def test_the_context_is_found_whatever_stands_around_it(line, expected):
    assert parse_plan(f"## Setup of it all\n\n{line}\n") == ShowPlan(goal=line, **expected)


def test_decisions_do_not_change_the_context():
    text = "## Context\n\n- Base: main\n\n## Decisions log\n\n- Base: other\n- Repo: /no\n"
    assert (parse_plan(text).base_branch, parse_plan(text).repo) == ("main", None)


@pytest.mark.parametrize(
    ("text", "plays"),
    [
        pytest.param("**a**\n- Intent: x\n- deps: [b, c]\n- Acceptance: y", {"a": ("b", "c")}, id="as written"),
        pytest.param("**a**\n- deps: []\n\n**b** (big)\n- Deps: `a`", {"a": (), "b": ("a",)}, id="without brackets"),
        pytest.param(
            "1. **a**\n   - deps: none\n2. **b**\n   - depends_on: ['a']", {"a": (), "b": ("a",)}, id="numbers"
        ),
        pytest.param("- **a**\n  - **Deps:** [b]\n- **b**\n", {"a": ("b",), "b": ()}, id="a list"),
        pytest.param("### **a**\n- Depends on: b, b\n", {"a": ("b",)}, id="headings"),
        pytest.param("**a**\n- **Note**: careful\n- **deps**: [b]\n", {"a": ("b",)}, id="bold words are no plays"),
        pytest.param("**a**\n```\n**b**\n```\n", {"a": ()}, id="not within code"),
        pytest.param("Just prose.", {}, id="none"),
    ],
)
def test_plays_and_their_dependencies_are_found(text, plays):
    found = parse_plan(f"## Plays\n\n{text}\n\n## Decisions\n\n**no play**\n")
    assert {play.name: play.depends_on for play in found.plays} == plays


def test_a_name_that_is_given_twice_is_named_and_the_first_counts():
    found = parse_plan("## Plays\n\n**a**\n- deps: [b]\n\n**b**\n\n**a**\n- deps: [c]\n")
    assert found.plays == (PlannedPlay("a", ("b",)), PlannedPlay("b"))
    assert found.twice == ("a",)


def test_a_plan_that_is_written_is_read_back():
    plan = ShowPlan(
        "Do it well.",
        "/src/my ledger",
        "main",
        "show/x/integration",
        (PlannedPlay("a", (), "Begin", "works"), PlannedPlay("b c", ("a",))),
    )
    assert parse_plan(render_plan("x", plan)) == plan


def test_what_a_play_is_said_to_be_is_read_back():
    play = Play(
        "id", "show", "a", 1.0, 2.0, PlayStatus.MERGED, 2, "feature", "high", "run", 3.0, 4.5, 0, "/w", "show/x/a",
        "abc", 5.0, depends_on=("b", "\ud800"),
    )  # fmt: skip
    told = parse_meta(render_meta(play))
    assert told.complaints == ()
    assert told.facts == {name: getattr(play, name) for name in told.facts}


def test_verdicts_that_are_written_are_read_back():
    assert parse_verdict(render_verdict(gate_passed=False, feedback="no", notes="n")) == Told(
        {"gate_passed": False, "gate_feedback": "no"}
    )
    assert parse_final_verdict(render_final_verdict(show_passed=True, summary="s", blockers=["a: b"])) == FinalVerdict(
        True, "s", ("a: b",)
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1_700_000_000, 1_700_000_000.0),
        (1_700_000_000.25, 1_700_000_000.25),
        ("1700000000.5", 1_700_000_000.5),
        ("2023-11-14T22:13:20Z", 1_700_000_000.0),
        ("2023-11-14T22:13:20", 1_700_000_000.0),
        ("2023-11-15 00:13:20+02:00", 1_700_000_000.0),
        (None, None),
    ],
)
def test_times_are_seconds_or_dates(value, expected):
    assert parse_meta(_json(started_at=value)).facts["started_at"] == expected


@pytest.mark.parametrize("value", ["soon", "", True, -1, 1e300, float("nan"), float("inf"), 10**400, [], "9999-12-31"])
def test_what_is_no_time_is_a_complaint(value):
    told = parse_meta(_json(started_at=value, branch="b"))
    assert "started_at" not in told.facts
    assert [complaint.split(":")[0] for complaint in told.complaints] == ["started_at"]
    assert told.facts["branch"] == "b"


@pytest.mark.parametrize(
    "text", ["", "{", "null", "[]", '"x"', '{"gate_passed": "yes"}', '{"gate_passed": null}', "{}"]
)
def test_a_verdict_that_does_not_say_yes_or_no_is_none(text):
    told = parse_verdict(text)
    assert (told.facts, len(told.complaints)) == ({}, 1)
    assert parse_final_verdict(text.replace("gate", "show")).show_passed is None


@pytest.mark.parametrize(("text", "number"), [("12\n", 12), (" 7 ", 7), ("9\nnoise", 9)])
def test_a_pid_is_the_number_in_the_first_line(text, number):
    assert parse_pid(text) == number


@pytest.mark.parametrize("text", ["", "x", "-1", "0", "1.5", str(1 << 31), "9" * 5_000])
def test_what_is_no_pid_is_refused(text):
    with pytest.raises(ValueError, match="not a"):
        parse_pid(text)


@pytest.mark.parametrize("text", ["", "x", "1.5", str(1 << 31)])
def test_what_is_no_exit_code_is_refused(text):
    with pytest.raises(ValueError, match="not a"):
        parse_exit_code(text)


@pytest.mark.parametrize("name", ["a", "two words", "🦁" * 63, "Größe", "a.b", "-x"])
def test_names_of_one_folder_are_possible(name):
    assert check_name(name) is None


@pytest.mark.parametrize(
    "name", ["", " ", ".", "..", "../x", "a/b", "_x", ".x", "🦁" * 64, "x" * 4_000, "\ud800", "\0"]
)
def test_other_names_are_not(name):
    assert check_name(name)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FACTS = ("status", "attempt", "worktree", "started_at", "exit_code", "depends_on", "session_id", "gate_passed")


@given(st.dictionaries(st.sampled_from(FACTS), JSON))
def test_any_json_is_read_without_an_error(facts: dict[str, Any]):
    told = parse_meta(_json(**facts))
    assert len(told.facts) + len(told.complaints) == len(parse_meta("{}").facts)
    parse_verdict(_json(**facts))


@given(
    st.text() | st.lists(st.sampled_from(["## Plays", "## Goal", "**a**", "- deps: [", "]", "```", "---", "\n", "x"]))
)
def test_any_text_is_a_plan(text: str | list[str]):
    parse_plan(text if isinstance(text, str) else "\n".join(text))


def _json(**facts: Any) -> str:
    import json

    return json.dumps(facts)
