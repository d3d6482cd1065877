"""Agents that are lionagi, started by each command that starts agents: real processes, and a model server of ours."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_usage, list_processes
from tests.cli.crews import DEADLINE, runs, type_li, write
from tests.engines.recorded import said
from tests.fakes.fake_openai import FakeOpenAI
from tests.waiting import wait_until

MODEL = "lionagi/gpt-fake"


@pytest.fixture(autouse=True)
def place(home: Path, location: str, tmp_path: Path, model_server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LIONAGI_DB", location)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model_server.url}/v1")


def test_an_agent_answers_and_goes_on_and_is_forked(ctx: Context, model_server: FakeOpenAI) -> None:
    model_server.script.add({"text": "Noted."}, {"text": "Blue."}, {"text": "Or green."})
    assert type_li("agent", MODEL, "My colour is blue.") == (0, "Noted.\n", "")
    [first] = runs(ctx)
    assert [process.role for process in list_processes(ctx, first.id)] == ["agent"]  # it is ours
    assert list(get_usage(ctx, first.id)) == ["gpt-fake"]
    assert type_li("agent", "--resume", first.id, "Which?") == (0, "Blue.\n", "")
    assert type_li("agent", "--fork-from", f"{first.id}:1", "Guess.") == (0, "Or green.\n", "")
    _, second, third = runs(ctx)
    assert {second.parent_session_id, third.parent_session_id} == {first.id}
    whole, part = ([text for _, text in said(ctx, run.id, list_branches(ctx, run.id)[0].id)] for run in (second, third))
    assert whole == ["My colour is blue.", "Noted.", "Which?", "Blue."]
    assert part == ["My colour is blue.", "Guess.", "Or green."]
    assert "Noted." not in str(model_server.requests[2]["body"])


def test_its_folder_gives_its_messages_back_as_they_were_recorded(
    ctx: Context, location: str, tmp_path: Path, model_server: FakeOpenAI
) -> None:
    model_server.script.add({"text": "Noted."})
    assert type_li("agent", MODEL, "My colour is blue.").code == 0
    elsewhere = str(tmp_path / "elsewhere.db")
    assert type_li("state", "import", "--db", elsewhere).code == 0
    [run] = runs(ctx)
    here, there = (type_li("runs", "tail", run.id, "--json", "--db", db).objects for db in (location, elsewhere))
    assert there == here
    assert [message["kind"] for message in here] == ["user", "assistant"]


def test_a_flow_passes_answers_on_and_a_fanout_makes_one(
    ctx: Context, tmp_path: Path, model_server: FakeOpenAI
) -> None:
    model_server.script.add(
        {"when": {"last_user": "Plan it"}, "text": "The plan."},
        {"when": {"last_user": "Do The plan."}, "text": "Done."},
        {"when": {"last_user": "The answer of agent-1"}, "text": "Both agree."},
    )
    steps = "{plan: {prompt: Plan it}, do: {prompt: 'Do {steps.plan}', needs: plan}}"
    file = write(tmp_path / "flow.yaml", f"model: {MODEL}\nsteps: {steps}\n")
    [told] = type_li("flow", str(file), "--json").objects
    assert [(step["answer"], step["status"]) for step in told["steps"]] == [
        ("The plan.", "completed"), ("Done.", "completed"),
    ]  # fmt: skip
    assert type_li("fanout", "-n", "2", MODEL, "Count.") == (0, "Both agree.\n", "")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, "aborted"), (signal.SIGTERM, "cancelled")])
def test_a_signal_stops_it(ctx: Context, model_server: FakeOpenAI, number: int, status: str) -> None:
    model_server.script.add({"text": "too late", "delay": 30})
    li = subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "agent", MODEL, "Wait."],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_until(lambda: model_server.requests, within=DEADLINE)
        li.send_signal(number)
        out, err = li.communicate(timeout=20)
    finally:
        li.kill()
        li.communicate()
    assert (li.returncode, out, "Traceback" in err) == (-number, "", False)
    [run] = runs(ctx)
    assert (run.status, said(ctx, run.id)) == (status, [("user", "Wait.")])


def test_what_is_missing_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, ctx: Context) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answer = type_li("agent", "lionagi/openai/gpt-4o", "Hi")
    assert (answer.code, answer.out) == (2, "")
    assert "Set OPENAI_API_KEY" in answer.err
