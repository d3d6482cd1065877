"""The real Codex against a fake model: what we tell it works, and what it tells is recorded."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.usage import Usage, usage_of
from lionstudio.engines.codex import CodexEngine
from lionstudio.engines.engine import Event, Said, Task
from lionstudio.engines.working import Worked, resumed, work
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_usage
from tests.engines.recorded import first_branch, messages, said
from tests.fakes.fake_openai import FakeOpenAI
from tests.real_agents import find_program

pytestmark = pytest.mark.real
CONFIG = """
model = "gpt-x"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
web_search = "disabled"

[model_providers.fake]
name = "Fake"
base_url = "{url}/v1"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"
trace_exporter = "none"
metrics_exporter = "none"

[features]
apps = false
"""

Let = Callable[..., Worked]


@pytest.fixture
def api() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def let(api: FakeOpenAI, sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Let:
    """Let Codex do a task in a project and a home of its own, in which its user allows everything."""
    monkeypatch.setenv("LIONSTUDIO_CODEX", str(find_program("codex")))
    project, settings = tmp_path / "project", tmp_path / ".codex"
    project.mkdir()
    settings.mkdir()
    (settings / "config.toml").write_text(CONFIG.format(url=api.url))
    environment = {"HOME": str(tmp_path), "CODEX_HOME": str(settings)}

    def run_it(task: Task, *, branch: Any = None, **more: Any) -> Worked:
        task = task._replace(cwd=str(project), env=environment)
        return work(CodexEngine(), task, branch or sqlite_run, **{"stopping": Stopping(), **more})

    return run_it


def test_a_whole_run_with_a_command(api: FakeOpenAI, let: Let, sqlite_ctx: Context, sqlite_run: Run) -> None:
    api.script.add(
        {
            "thinking": "First look.",
            "text": "I look.",
            "tools": [{"name": "exec_command", "input": {"cmd": "echo hi"}}],
            "usage": {"input": 100, "output": 10, "cache_read": 50},
        },
        {"text": "All done.", "usage": {"input": 200, "output": 20}},
    )
    worked = let(Task("Do it", system='Speak like a "lion" ü.\n', effort="high", model="gpt-y"))

    assert worked[:4] == ("All done.", 0, None, None)
    request = api.requests[0]["body"]
    told = [item for item in request["input"] if item.get("role") == "developer"]
    assert 'Speak like a "lion" ü.' in str(told)
    assert (request["model"], request["reasoning"]["effort"], worked.model) == ("gpt-y", "high", "gpt-y")
    recorded = [one for one in said(sqlite_ctx, sqlite_run.session_id) if one[0] != "other"]
    assert [kind for kind, _ in recorded] == ["system", "user", "assistant", "tool_call", "tool_result", "assistant"]
    assert recorded[4] == ("tool_result", "hi\n")
    assert get_usage(sqlite_ctx, sqlite_run.session_id) == {"gpt-y": Usage(250, 50, 0, 30, 2)}
    assert worked.unknown_lines == 0


def test_one_goes_on_with_the_conversation_of_another_or_with_a_copy(
    api: FakeOpenAI, let: Let, sqlite_ctx: Context, sqlite_run: Run
) -> None:
    api.script.add({"text": "First.", "usage": {"input": 100, "output": 10}})
    first = let(Task("One"))
    before = first_branch(sqlite_ctx, sqlite_run.session_id)
    api.script.add({"text": "Second.", "usage": {"input": 200, "output": 20}})
    copied = let(resumed(Task("Two"), before)._replace(fork=True), branch=sqlite_run.fork("copy", at=0))
    api.script.add({"text": "Third.", "usage": {"input": 400, "output": 40}})
    gone_on = let(resumed(Task("Three"), before), branch=sqlite_run.fork("on", at=0))

    assert (copied.answer, gone_on.answer) == ("Second.", "Third.")
    assert gone_on.native_id == first.native_id != copied.native_id
    assert "First." in str(api.requests[-1]["body"]["input"])
    assert "Second." not in str(api.requests[-1]["body"]["input"])
    assert get_usage(sqlite_ctx, sqlite_run.session_id) == {"gpt-x": Usage(700, 0, 0, 70)}


def test_a_subagent_is_a_branch(api: FakeOpenAI, let: Let, sqlite_ctx: Context, sqlite_run: Run) -> None:
    space = {"namespace": "multi_agent_v1"}
    wait = {"targets": [{"$match": r"agent_id\W+([0-9a-f-]{36})"}], "timeout_ms": 20000}
    spawn = {"message": "count the words"}
    api.script.add(
        {
            "when": {"last_user": "count the words", "after_tool": False},
            "text": "Three.",
            "usage": {"input": 30, "output": 3},
        },
        {"when": {"last_user": "subagent_notification"}, "text": "All done."},
        {"when": {"last_tool_result": "agent_id"}, "tools": [{"name": "wait_agent", "input": wait, **space}]},
        {"when": {"after_tool": True}, "text": "All done."},
        {"when": {"last_user": "Do it"}, "tools": [{"name": "spawn_agent", "input": spawn, **space}]},
    )
    assert let(Task("Do it")).answer == "All done."
    _, helper = list_branches(sqlite_ctx, sqlite_run.session_id)
    asked, answered = messages(sqlite_ctx, sqlite_run.session_id, helper.id)
    assert (asked.content, answered.content) == ({"instruction": "count the words"}, {"assistant_response": "Three."})
    assert usage_of(answered.node_metadata) == ("gpt-x", Usage(30, 0, 0, 3))


def test_a_run_is_interrupted_in_the_middle_of_a_command(api: FakeOpenAI, let: Let) -> None:
    command = {"cmd": "tail -f /dev/null", "yield_time_ms": 60000}
    api.script.add({"text": "Waiting.", "tools": [{"name": "exec_command", "input": command}]})
    stopping = Stopping()

    def watch(event: Event) -> None:
        if isinstance(event, Said) and "tail" in str(event.content):
            stopping.stop(130)

    worked = let(Task("Do it"), stopping=stopping, watch=watch)
    assert (worked.exit_code, worked.answer) == (130, "Waiting.")


def test_a_refused_request_is_a_sentence(api: FakeOpenAI, let: Let) -> None:
    error = {"status": 400, "type": "invalid_request_error", "message": "The model gpt-x does not exist"}
    api.script.add({"error": error, "repeat": True})
    worked = let(Task("Do it"))
    assert (worked.exit_code, worked.sentence) == (1, "Codex: The model gpt-x does not exist")


def test_a_conversation_that_is_not_there_is_a_sentence(let: Let) -> None:
    worked = let(Task("x", resume="11111111-1111-4111-8111-111111111111"))
    assert worked.exit_code == 1
    assert worked.sentence is not None and "no rollout found" in worked.sentence


def test_prompts_of_any_length_arrive(api: FakeOpenAI, let: Let) -> None:
    api.script.add({"text": "Read."})
    assert let(Task("-x " + "Look at this line.\n" * 20_000)).answer == "Read."
    assert str(api.requests[0]["body"]["input"]).count("Look at this line.") == 20_000
