"""The engine `lionagi`: the real runtime in this process, against a model server of ours."""

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.conversation import MessageKind, is_tool_error
from lionstudio.domain.errors import InvalidRequest, UnknownWord
from lionstudio.domain.usage import Usage
from lionstudio.engines import lionagi
from lionstudio.engines.engine import Event, Said, Task
from lionstudio.engines.known import engine_for
from lionstudio.engines.lionagi import Job, LionagiEngine
from lionstudio.engines.working import Worked, work
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_usage
from tests.engines.recorded import first_branch, messages, metadata, said
from tests.fakes.fake_openai import FakeOpenAI
from tests.recorders.agents import run_agent
from tests.waiting import wait_until

# lionagi leaves the pipes of a command that it is interrupted in to the garbage collector, whenever that comes.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <_io\.FileIO:pytest.PytestUnraisableExceptionWarning"
)

SCRIPT = Path(__file__).parent.parent / "fixtures" / "lionagi" / "scripted_agent.json"


@pytest.fixture(autouse=True)
def own_server(model_server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model_server.url}/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def ask(run: Run, prompt: str = "Say hi", model: str | None = "openai/gpt-fake", **more: Any) -> Worked:
    stopping = more.pop("stopping", None) or Stopping()
    return work(LionagiEngine(), Task(prompt, model, **more), run, stopping=stopping)


def sent(server: FakeOpenAI, number: int = -1) -> str:
    """What a request said to the model."""
    return json.dumps(server.requests[number]["body"]["messages"])


def test_an_answer_is_recorded_with_what_it_used(ctx: Context, run: Run, model_server: FakeOpenAI) -> None:
    model_server.script.add({"text": "Hi.", "usage": {"input": 20, "output": 3, "cache_read": 8}})
    worked = ask(run, system="Be brief.")
    assert (worked.answer, worked.exit_code, worked.model) == ("Hi.", 0, "openai/gpt-fake")
    assert said(ctx, run.session_id) == [("system", "Be brief."), ("user", "Say hi"), ("assistant", "Hi.")]
    assert get_usage(ctx, run.session_id) == {"gpt-fake": Usage(input_tokens=12, cache_read_tokens=8, output_tokens=3)}
    branch = first_branch(ctx, run.session_id)
    assert branch.system_msg_id == messages(ctx, run.session_id)[0].id
    assert metadata(branch)["model"] == "openai/gpt-fake"
    assert "Be brief." in sent(model_server)


def test_nothing_is_written_into_the_users_folder_or_lionagis_own(
    sqlite_run: Run, tmp_path: Path, home: Path, model_server: FakeOpenAI
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert ask(sqlite_run).exit_code == 0
    assert [path for path in sorted(tmp_path.rglob("*")) if path not in before] == []
    assert len(model_server.requests) == 1  # and nothing else was asked for, such as a table of tokens


def test_a_model_of_any_name_is_asked_for_at_the_users_own_server(sqlite_run: Run, model_server: FakeOpenAI) -> None:
    for named in ("llama-3", "meta-llama/llama-3", "openai/meta-llama/llama-3"):
        engine, model = engine_for(f"lionagi/{named}")
        worked = work(engine, Task("Hello", model), sqlite_run, stopping=Stopping())
        assert worked.exit_code == 0, worked
    assert [request["body"]["model"] for request in model_server.requests] == [
        "llama-3", "meta-llama/llama-3", "meta-llama/llama-3",
    ]  # fmt: skip


def test_it_goes_on_with_what_was_said_before(
    ctx: Context, run: Run, sqlite_run: Run, sqlite_ctx: Context, model_server: FakeOpenAI
) -> None:
    model_server.script.add({"text": "Noted."}, {"text": "It was blue."})
    ask(run, "My colour is blue.", system="Remember everything.")
    history = tuple(messages(ctx, run.session_id))
    assert ask(sqlite_run, "What was it?", history=history).answer == "It was blue."
    request = sent(model_server)
    assert [text in request for text in ("Remember everything.", "My colour is blue.", "Noted.", "What was it?")] == [
        True
    ] * 4
    assert said(sqlite_ctx, sqlite_run.session_id) == [("user", "What was it?"), ("assistant", "It was blue.")]


def test_a_history_of_other_agents_is_understood(ctx: Context, run: Run, model_server: FakeOpenAI) -> None:
    run.user("Look.", id="not-a-uuid")
    call = run.tool_call("bash", {"cmd": "ls"})
    run.tool_result(call, "nothing")
    run.message(role="notice", content="a retry")
    run.assistant("Nothing is there.")
    assert ask(run, "Sure?", history=tuple(messages(ctx, run.session_id))).exit_code == 0
    request = sent(model_server)
    assert [text in request for text in ("Look.", "nothing", "Nothing is there.", "Sure?")] == [True] * 4


def test_tools_run_in_the_folder_of_the_task_and_are_seen_before_they_end(
    ctx: Context, run: Run, tmp_path: Path, model_server: FakeOpenAI
) -> None:
    (tmp_path / "note.txt").write_text("The answer is 42.\n")
    look = [{"function": "reader", "arguments": {"action": "read", "path": "note.txt"}}]
    escape = [{"function": "reader", "arguments": {"action": "read", "path": "/etc/hostname"}}]
    destroy = [{"function": "bash", "arguments": {"command": "rm -rf /"}}]
    model_server.script.add(
        *({"text": json.dumps({"extension_needed": True, "action_requests": use})} for use in (look, escape, destroy)),
        {"text": json.dumps({"extension_needed": False})},
        {"text": json.dumps({"answer": "It is 42."})},
    )
    told: list[Event] = []
    task = Task("What is the answer?", "gpt-fake", tools=("reader", "bash"), cwd=str(tmp_path))
    worked = work(LionagiEngine(), task, run, stopping=Stopping(), watch=told.append)
    assert (worked.exit_code, worked.answer) == (0, "It is 42.")
    found = messages(ctx, run.session_id)
    calls = [message for message in found if message.kind is MessageKind.TOOL_CALL]
    results = [message for message in found if message.kind is MessageKind.TOOL_RESULT]
    assert [message.content["action_request_id"] for message in results] == [message.id for message in calls]
    assert "42" in str(results[0].content["output"])
    assert [is_tool_error(message) or "error" in str(message.content["output"]) for message in results] == [
        False, True, True,
    ]  # fmt: skip
    keys = [event.key for event in told if isinstance(event, Said) and event.role == "action"]
    assert keys[0] == keys[1] != keys[2]  # told when the tool begins, then again with its result


# lionagi leaves the pipes of its commands to the collector.
uses_bash = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")


def use_bash(server: FakeOpenAI, command: str) -> None:
    use = [{"function": "bash", "arguments": {"command": command}}]
    server.script.add(
        {"text": json.dumps({"extension_needed": True, "action_requests": use})},
        {"text": json.dumps({"extension_needed": False})},
        {"text": json.dumps({"answer": "Done."})},
    )


@uses_bash
def test_its_commands_find_in_their_environment_who_they_work_for(
    ctx: Context, run: Run, model_server: FakeOpenAI
) -> None:
    use_bash(model_server, "env")
    env = {"LIONAGI_TEAM": "R&D; it's $HOME", "LIONAGI_AGENT": "ana"}
    assert ask(run, tools=("bash",), env=env).exit_code == 0
    found = messages(ctx, run.session_id)
    [call] = [message for message in found if message.kind is MessageKind.TOOL_CALL]
    [result] = [message for message in found if message.kind is MessageKind.TOOL_RESULT]
    assert call.content["arguments"] == {"command": "env"}  # as the model said it
    lines = str(result.content["output"]["stdout"]).splitlines()
    assert {"LIONAGI_TEAM=R&D; it's $HOME", "LIONAGI_AGENT=ana", f"LIONAGI_BRANCH_ID={run.id}"} <= set(lines)


@uses_bash
@pytest.mark.parametrize("first", ["", "trap '' TERM"])
def test_its_commands_end_with_it(
    sqlite_run: Run, tmp_path: Path, model_server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    monkeypatch.setattr(lionagi, "GRACE", 1.0)
    trace = tmp_path / "trace"
    script = tmp_path / "long.sh"
    script.write_text(f"{first}\necho $$ > {trace}.new\nmv {trace}.new {trace}\nsleep 100\nsleep 100\n")
    use_bash(model_server, f"sh {script}")
    stopping = Stopping()

    def stop_once_it_runs() -> None:
        wait_until(trace.exists, within=30)
        stopping.stop(143)

    threading.Thread(target=stop_once_it_runs, daemon=True).start()
    worked = ask(sqlite_run, stopping=stopping, tools=("bash",))
    assert worked.exit_code == 143
    pid = int(trace.read_text())
    wait_until(lambda: not os.path.exists(f"/proc/{pid}/exe"), within=10)


@pytest.mark.parametrize("cause", [124, 130, 143])
def test_a_model_that_does_not_answer_can_be_stopped(sqlite_run: Run, model_server: FakeOpenAI, cause: int) -> None:
    model_server.script.add({"text": "too late", "delay": 20})
    stopping = Stopping()

    def stop_once_asked() -> None:
        while not model_server.requests:
            time.sleep(0.01)
        stopping.stop(cause)

    threading.Thread(target=stop_once_asked, daemon=True).start()
    began = time.monotonic()
    worked = ask(sqlite_run, stopping=stopping)
    assert (worked.exit_code, worked.answer) == (cause, None)
    assert time.monotonic() - began < 10


def test_what_is_stopped_before_it_begins_asks_nobody(sqlite_run: Run, model_server: FakeOpenAI) -> None:
    stopping = Stopping()
    stopping.stop(130)
    assert ask(sqlite_run, stopping=stopping).exit_code == 130
    assert model_server.requests == []


def test_what_does_not_stop_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lionagi, "GRACE", 0.05)
    monkeypatch.setattr(lionagi, "LOOK_EVERY", 0.01)
    begun, may_end = threading.Event(), threading.Event()

    async def deaf() -> None:
        begun.set()
        may_end.wait(20)  # a tool that blocks the loop hears nothing

    job = Job(deaf, lambda event: None)
    threading.Thread(target=lambda: begun.wait(20) and job.stop(143), daemon=True).start()
    verdict = job.run()
    may_end.set()
    assert (verdict.exit_code, verdict.sentence) == (143, "lionagi went on although it was asked to stop.")


def test_an_error_of_the_model_is_told_and_fails_the_agent(
    ctx: Context, run: Run, model_server: FakeOpenAI, capfd: pytest.CaptureFixture[str]
) -> None:
    model_server.script.add({"error": {"status": 400, "type": "invalid_request_error", "message": "no such model"}})
    worked = ask(run)
    assert (worked.exit_code, worked.reason, worked.answer) == (1, "run.failed.exception", None)
    assert worked.sentence is not None
    assert "400" in worked.sentence
    assert said(ctx, run.session_id)[0] == ("user", "Say hi")
    assert capfd.readouterr() == ("", "")


def test_several_threads_talk_at_once(ctx: Context, run: Run, model_server: FakeOpenAI) -> None:
    for number in range(6):
        model_server.script.add({"when": {"last_user": f"Question {number}"}, "text": f"Answer {number}"})
    branches = [run.branch(f"agent {number}", at=0) for number in range(6)]
    answers: dict[int, Worked] = {}

    def talk(number: int) -> None:
        task = Task(f"Question {number}", "gpt-fake")
        answers[number] = work(LionagiEngine(), task, branches[number], stopping=Stopping())

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answers[number].answer for number in range(6)] == [f"Answer {number}" for number in range(6)]
    for number, branch in enumerate(branches):
        assert said(ctx, run.session_id, branch.id) == [
            ("user", f"Question {number}"), ("assistant", f"Answer {number}"),
        ]  # fmt: skip


def test_an_agent_that_streams_is_recorded_with_its_thoughts_and_tools(
    ctx: Context, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_TEST_SCRIPT", str(SCRIPT))
    worked = ask(run, model="scripted/scripted-test")
    assert (worked.exit_code, worked.answer) == (0, "Done: hi.")
    assert [kind for kind, _ in said(ctx, run.session_id)] == [
        "user", "assistant", "tool_call", "tool_result", "assistant",
    ]  # fmt: skip
    first, last = (message for message in messages(ctx, run.session_id) if message.kind is MessageKind.ASSISTANT)
    assert first.node_metadata is not None
    assert first.node_metadata["thinking"] == "I should echo."
    assert last.node_metadata is not None
    assert get_usage(ctx, run.session_id) == {
        "scripted-test": Usage(input_tokens=100, output_tokens=20, cost_usd=0.0012)
    }


@pytest.mark.parametrize(
    ("task", "error", "match"),
    [
        (Task("x", "nobody/model"), UnknownWord, "openai"),
        (Task("x", "groq/model"), InvalidRequest, "GROQ_API_KEY"),
        (Task("x", "openai/model", tools=("telepathy",)), UnknownWord, "reader"),
    ],
    ids=["a provider", "a key", "a tool"],
)
def test_what_lionagi_cannot_do_is_refused_with_what_it_can(
    monkeypatch: pytest.MonkeyPatch, task: Task, error: type[Exception], match: str
) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    if task.tools is None:
        monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(error) as caught:
        LionagiEngine().run(task, lambda event: None, Stopping())
    assert match in f"{caught.value} {caught.value.hint}"  # type: ignore[attr-defined]


def test_a_missing_lionagi_says_how_to_install_it() -> None:
    ended = run_agent("""
import sys
sys.modules["lionagi"] = None
from lionstudio.domain.errors import NotFound
from lionstudio.engines.known import engine_for
engine, _ = engine_for("lionagi/openai/gpt-4o")
try:
    engine.require()
except NotFound as error:
    print(error.hint)
""")
    assert ended == (0, "Install it: pip install 'lionstudio[lionagi]'\n", "")


def test_nothing_is_left_open(home: Path, model_server: FakeOpenAI) -> None:
    script = """
import lionstudio
from lionstudio.engines.engine import Task
from lionstudio.engines.lionagi import LionagiEngine
from lionstudio.engines.working import work
from lionstudio.recorders.stopping import Stopping
with lionstudio.record("asked") as run:
    print(work(LionagiEngine(), Task("Hello", "gpt-fake"), run, stopping=Stopping()).answer)
"""
    ended = run_agent(script, OPENAI_BASE_URL=f"{model_server.url}/v1", PYTHONDEVMODE="1")
    assert (ended.returncode, ended.stdout) == (0, "ok\n")
    assert [line for line in ended.stderr.splitlines() if "ResourceWarning" in line or "never awaited" in line] == []
