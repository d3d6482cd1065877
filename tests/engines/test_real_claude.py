"""The real Claude Code against a fake model: what we tell it works, and what it tells is recorded."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.usage import Usage
from lionstudio.engines.claude import ClaudeEngine
from lionstudio.engines.engine import Event, Said, Task
from lionstudio.engines.working import Worked, resumed, work
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_usage
from tests.engines.recorded import first_branch, messages, said
from tests.fakes.fake_anthropic import FakeAnthropic
from tests.real_agents import find_program

pytestmark = pytest.mark.real
MODEL = "claude-sonnet-4-5"
SPAWN = {
    "description": "Count words",
    "prompt": "count the words",
    "subagent_type": "general-purpose",
    "run_in_background": False,
}

Let = Callable[..., Worked]


@pytest.fixture
def api() -> Iterator[FakeAnthropic]:
    with FakeAnthropic() as server:
        yield server


@pytest.fixture
def let(api: FakeAnthropic, sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Let:
    """Let Claude Code do a task in a project and a home of its own."""
    monkeypatch.setenv("LIONSTUDIO_CLAUDE", str(find_program("claude")))
    project = tmp_path / "project"
    project.mkdir()
    environment = {
        "HOME": str(tmp_path),
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }

    def run_it(task: Task, *, branch: Any = None, **more: Any) -> Worked:
        task = task._replace(cwd=str(project), env=environment, model=MODEL)
        return work(ClaudeEngine(), task, branch or sqlite_run, **{"stopping": Stopping(), **more})

    return run_it


def requests(api: FakeAnthropic) -> list[dict[str, Any]]:
    return [request["body"] for request in api.requests if request["body"].get("stream")]


def test_a_whole_run_with_a_tool_and_a_subagent(
    api: FakeAnthropic, let: Let, sqlite_ctx: Context, sqlite_run: Run
) -> None:
    api.script.add(
        {"when": {"last_user": "count the words"}, "text": "Three.", "usage": {"input": 30, "output": 3}},
        {
            "when": {"last_user": "Do it", "after_tool": False},
            "thinking": "First look.",
            "text": "I look.",
            "tools": [{"name": "Bash", "input": {"command": "echo h''i", "description": "x"}}],
            "usage": {"input": 100, "output": 10, "cache_write": 50},
        },
        {
            "when": {"last_tool_result": "^hi"},
            "tools": [{"name": "Agent", "input": SPAWN}],
            "usage": {"input": 200, "output": 20},
        },
        {
            "when": {"last_tool_result": "Three"},
            "text": "All done.",
            "usage": {"input": 300, "output": 30, "cache_read": 40},
        },
    )
    worked = let(Task("Do it", system="Speak like a lion.", tools=("Bash", "Agent")))

    assert worked[:4] == ("All done.", 0, None, None)
    first = requests(api)[0]
    assert "Speak like a lion." in str(first["system"])
    assert {tool["name"] for tool in first["tools"]} >= {"Bash", "Agent"}
    assert not {tool["name"] for tool in first["tools"]} & {"Read", "Write", "Edit"}
    own, helper = list_branches(sqlite_ctx, sqlite_run.session_id)
    assert said(sqlite_ctx, sqlite_run.session_id, own.id)[:6] == [
        ("system", "Speak like a lion."),
        ("user", "Do it"),
        ("assistant", "I look."),
        ("tool_call", "Bash(command=echo h''i, description=x)"),
        ("tool_result", "hi"),
        ("tool_call", said(sqlite_ctx, sqlite_run.session_id, own.id)[5][1]),
    ]
    assert messages(sqlite_ctx, sqlite_run.session_id, own.id)[2].node_metadata["thinking"] == "First look."  # type: ignore[index]
    assert said(sqlite_ctx, sqlite_run.session_id, helper.id) == [("user", "count the words"), ("assistant", "Three.")]
    usage = get_usage(sqlite_ctx, sqlite_run.session_id)[MODEL]
    assert usage._replace(cost_usd=None) == Usage(630, 40, 50, 63)
    assert usage.cost_usd is not None and usage.cost_usd > 0
    assert worked.unknown_lines == 0


def test_one_goes_on_with_the_conversation_of_another_or_with_a_copy(
    api: FakeAnthropic, let: Let, sqlite_ctx: Context, sqlite_run: Run
) -> None:
    api.script.add({"text": "First.", "usage": {"input": 100, "output": 10}})
    first = let(Task("One"))
    before = first_branch(sqlite_ctx, sqlite_run.session_id)

    for text, fork in (("Second.", False), ("Third.", True)):
        api.script.add({"text": text, "usage": {"input": 200, "output": 20}})
        total = get_usage(sqlite_ctx, sqlite_run.session_id)[MODEL]
        task = resumed(Task("Two"), before)._replace(fork=fork)
        worked = let(task, branch=sqlite_run.fork(text, at=0))
        assert worked.answer == text
        assert (worked.native_id == first.native_id) is not fork
        assert "First." in str(requests(api)[-1]["messages"])
        grown = get_usage(sqlite_ctx, sqlite_run.session_id)[MODEL].minus(total)
        assert grown._replace(cost_usd=None) == Usage(200, 0, 0, 20)


def test_a_run_is_interrupted_in_the_middle_of_a_tool(
    api: FakeAnthropic, let: Let, sqlite_ctx: Context, sqlite_run: Run
) -> None:
    api.script.add({"text": "Waiting.", "tools": [{"name": "Bash", "input": {"command": "tail -f /dev/null"}}]})
    stopping = Stopping()

    def watch(event: Event) -> None:
        if isinstance(event, Said) and "tail" in str(event.content) and event.answers is None:
            stopping.stop(130)

    worked = let(Task("Do it", tools=("Bash",)), stopping=stopping, watch=watch)
    assert (worked.exit_code, worked.answer) == (130, "Waiting.")
    assert said(sqlite_ctx, sqlite_run.session_id)[1] == ("assistant", "Waiting.")


def test_a_bad_key_is_a_sentence(api: FakeAnthropic, let: Let) -> None:
    api.script.add(
        {"error": {"status": 401, "type": "authentication_error", "message": "invalid x-api-key"}, "repeat": True}
    )
    worked = let(Task("Do it"))
    assert worked.exit_code == 1
    assert worked.sentence is not None and worked.sentence.startswith("Claude Code: Invalid API key")
    assert worked.answer is None


def test_what_its_user_did_not_allow_stays_forbidden(
    api: FakeAnthropic, let: Let, sqlite_ctx: Context, sqlite_run: Run, tmp_path: Path
) -> None:
    command = {"command": f"touch {tmp_path}/made", "description": "x"}
    api.script.add({"text": "I try.", "tools": [{"name": "Bash", "input": command}]}, {"text": "I may not."})
    worked = let(Task("Do it"))
    assert worked.answer == "I may not."
    assert not (tmp_path / "made").exists()
    result = messages(sqlite_ctx, sqlite_run.session_id)[-2]
    assert (result.content["error"], (result.node_metadata or {})["denied"]) == (True, True)


def test_prompts_of_any_length_arrive(api: FakeAnthropic, let: Let) -> None:
    api.script.add({"text": "Read."})
    system, prompt = "You are a lion. " * 20_000, "-p " + "Look at this line.\n" * 20_000
    assert let(Task(prompt, system=system)).answer == "Read."
    request = requests(api)[0]
    assert str(request["system"]).count("You are a lion.") == 20_000
    assert str(request["messages"]).count("Look at this line.") == 20_000


def test_a_conversation_that_is_not_there_is_a_sentence(let: Let) -> None:
    worked = let(Task("x", resume="11111111-1111-4111-8111-111111111111"))
    assert worked.exit_code == 1
    assert worked.sentence is not None and "No conversation found" in worked.sentence
