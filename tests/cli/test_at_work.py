"""What agents do, told to a person at a terminal in a line each, and to nobody else."""

import io

import pytest

from lionstudio.cli.at_work import AtWork, News, words_for
from lionstudio.cli.output import Console
from lionstudio.domain.conversation import ACTION_RESPONSE_CLASS
from lionstudio.engines.claude_stream import ClaudeReader
from lionstudio.engines.engine import Begun, Event, NewBranch, Noise, Said
from lionstudio.engines.saying import answer, tool_call
from tests.cli.conftest import Terminal
from tests.engines.streams import lines_of

FAILED = {"function": "Bash", "arguments": {}, "output": "no\nsuch file", "error": True}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        pytest.param(tool_call("Bash", {"command": "ls"}, "1"), "Bash(command=ls)", id="a tool"),
        pytest.param(answer("First.\nThen this.\n", "2"), "Then this.", id="an answer"),
        pytest.param(answer(" \n", "3"), "", id="an empty answer"),
        pytest.param(Said("action", ACTION_RESPONSE_CLASS, FAILED, "4"), "a tool failed: such file", id="a tool error"),
        pytest.param(
            Said("action", ACTION_RESPONSE_CLASS, {**FAILED, "error": None}, "4"), None, id="what a tool answers"
        ),
        pytest.param(NewBranch("k", "explorer"), "begins the subagent explorer", id="a subagent"),
        pytest.param(Noise("x"), None, id="noise"),
        pytest.param(Begun("id"), None, id="who it is"),
    ],
)
def test_an_event_in_a_few_words(event: Event, words: str | None):
    assert words_for(event) == words


def test_an_agent_that_does_much_is_told_once_a_second(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "60")
    talk = Terminal()
    at_work = AtWork(Console(stderr=talk), ["plan", "b\x1b[2Jld"])
    at_work.begins("plan", "claude")
    for number in range(100):
        at_work.does("plan", answer(f"line {number}", "1"))
    at_work.does("b\x1b[2Jld", answer("x" * 100, "2"))
    at_work.is_over("plan", "timed_out", 61.5, "Too long.")
    assert talk.getvalue().splitlines() == [
        "  0:00  plan        begins (claude)",
        "  0:00  plan        line 0",
        "  0:00  b\\x1b[2Jld  " + "x" * 39 + "…",
        "  0:00  plan        timed out after 1m 01s: Too long.",
    ]


def test_a_log_and_a_pipe_are_told_nothing():
    talk = io.StringIO()
    at_work = AtWork(Console(stderr=talk), ["plan"])
    at_work.begins("plan", "claude")
    at_work.does("plan", answer("x", "1"))
    assert talk.getvalue() == ""


def test_what_is_told_again_with_its_usage_is_no_news() -> None:
    reader, news = ClaudeReader(), News()
    lines = lines_of("claude/foreground_subagent")
    told = [news.words_for(event) for line in lines for event in reader.read(line)]
    assert [words.partition("(")[0] for words in told if words] == [
        "Spawn.",
        "Agent",
        "begins the subagent Count words",
        "Bash",
        "Sub says 3.",
        "All done.",
    ]


def test_an_answer_that_grows_is_news() -> None:
    news = News()
    assert [news.words_for(answer(text, "1")) for text in ("One", "One", "One\nTwo")] == ["One", None, "Two"]
