"""Profiles: what agents/*.md say of an agent, and where they say something that cannot be."""

from pathlib import Path

import pytest

from lionstudio.domain.errors import InvalidFile, NotFound
from lionstudio.engines.profile import Profile, find_profile, parse_profile

FIXTURES = Path(__file__).parents[1] / "fixtures"


def problems(text: str) -> list[str]:
    with pytest.raises(InvalidFile) as caught:
        parse_profile("it", "it.md", text)
    assert "docs/agents.md" in (caught.value.hint or "")
    return list(caught.value.problems)


def test_a_head_says_who_and_the_body_is_the_system_prompt() -> None:
    found = find_profile(str(FIXTURES), "architect")
    assert found == Profile(
        "architect",
        str(FIXTURES / "agents" / "architect.md"),
        model="claude/claude-sonnet-4-6",
        effort="high",
        tools=("read", "search"),
        system="# Architect\n\nYou draw plans. You never build.",
    )


def test_a_file_without_a_head_is_all_system_prompt() -> None:
    found = find_profile(str(FIXTURES), "plain")
    assert (found.model, found.tools) == (None, None)
    assert (found.system or "").startswith("# Plain\n\nNo head")


def test_a_profile_without_a_body_has_no_system_prompt() -> None:
    assert parse_profile("it", "it.md", "---\nmodel: exec\n---\n\n").system is None


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("tools: Read, Grep ,Bash", ("Read", "Grep", "Bash")),
        ("tools: [Read]", ("Read",)),
        ("tools: []", ()),
        ("tools:", None),
        ("color: red", None),
    ],
)
def test_tools_are_a_list_or_a_text_with_commas(written: str, tools: tuple[str, ...] | None) -> None:
    assert parse_profile("it", "it.md", f"---\n{written}\n---\nBe kind.").tools == tools


def test_what_other_programs_write_into_the_head_is_theirs() -> None:
    text = "---\nname: it\nmode: subagent\npermission: {edit: deny}\nmodel: exec/sh\n---\n"
    assert parse_profile("it", "it.md", text).model == "exec/sh"


def test_every_problem_is_told_with_its_line() -> None:
    found = problems("---\nmodel: [claude]\neffort: {}\ntools: {a: b}\ntools: x\n---\nBody")
    assert [one.split(" ")[0] for one in found] == ["it.md:2:8:", "it.md:3:9:", "it.md:4:8:", "it.md:5:1:"]
    assert "model is a text, not a list" in found[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("---\nmodel: exec\n", "it.md:1:1: Its head begins with --- and has no end"),
        ("---\nmodel: 'exec\n---\n", "it.md:"),
        ("---\n- a\n---\n", "it.md:2:1: The head of an agent is a mapping"),
        ("", "describes nobody"),
        ("---\nmodel: !!python/name:os.system x\n---\n", "means nothing here"),
    ],
)
def test_a_file_that_describes_nobody_says_why(text: str, said: str) -> None:
    assert said in problems(text)[0]


def test_a_file_that_cannot_be_read_is_a_problem_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "it.md").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidFile) as caught:
        find_profile(str(tmp_path), "it")
    assert "not UTF-8" in caught.value.problems[0]


def test_an_agent_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(NotFound, match="Did you mean architect") as caught:
        find_profile(str(FIXTURES), "architekt")
    assert caught.value.hint == "li agents ls shows what there is."


def test_where_there_are_no_agents_it_says_where_they_go(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        find_profile(str(tmp_path), "it")
    assert f"{tmp_path}/agents/NAME.md" in (caught.value.hint or "")
