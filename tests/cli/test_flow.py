"""`li flow`: agents in steps, at the same time where they can; whatever stops one of them, or us, is told as it was."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_session, list_history
from tests.cli.crews import DEADLINE, agent, runs, type_li, write
from tests.engines.recorded import said
from tests.fakes.agent_programs import replaying
from tests.fakes.fake_openai import FakeOpenAI
from tests.fakes.talking_agent import talking_claude
from tests.waiting import wait_until

# Says that it works, and then waits until it is stopped: by a signal that it may ignore.
WAITING = """\
cat >/dev/null
echo working
: > "$0.$$"
exec sleep 1000
"""
STUBBORN = """\
trap '' INT TERM HUP
cat >/dev/null
: > "$0.$$"
while :; do sleep 1000; done
"""


@pytest.fixture(autouse=True)
def place(home: Path, location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_DB", location)


@contextmanager
def typed(*words: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that goes on while we look; it is gone when the block is left."""
    li = subprocess.Popen(
        [sys.executable, "-m", "lionstudio", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield li
    finally:
        li.kill()
        li.communicate()


def pids_of(script: Path) -> list[int]:
    """The processes of agents that have begun to work."""
    return [int(path.suffix[1:]) for path in script.parent.glob(f"{script.name}.*")]


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_any_file_is_run_and_called_by_its_name(ctx: Context, tmp_path: Path):
    file = write(tmp_path / "night shift.flow.yaml", "model: exec/cat\nsteps: {a: {prompt: 'Do {input}.'}}\n")
    assert type_li("flow", str(file), "it") == (0, "Do it.\n", "")
    named = write(tmp_path / "other.yaml", "name: My flow\nmodel: exec/cat\nprompt: Go.\n")
    assert type_li("flow", str(named)).out == "Go.\n"
    assert [(run.name, run.invocation_kind, run.playbook_name) for run in runs(ctx)] == [
        ("night shift", "flow", "night shift"),
        ("My flow", "flow", "My flow"),
    ]
    assert type_li("flow", str(tmp_path / "none.yaml")).err.startswith(f"li: There is no file {tmp_path}/none.yaml.")


def test_what_is_piped_in_is_what_a_flow_begins_with(tmp_path: Path):
    file = write(tmp_path / "flow.yaml", "model: exec/cat\nsteps: {a: {prompt: A}, b: {prompt: '{steps.a}, B'}}\n")
    assert type_li("flow", str(file), stdin="piped\n").out == "A\n\npiped, B\n"
    assert type_li("flow", str(file), "piped").out == "A\n\npiped, B\n"


def test_an_answer_that_is_not_utf_8_is_said_once(tmp_path: Path):
    model = agent(tmp_path / "latin.sh", "printf 'caf\\351'\n")
    file = write(
        tmp_path / "flow.yaml",
        f"steps: {{a: {{model: {model}, prompt: A}}, b: {{model: exec/cat, prompt: B, needs: a}}}}\n",
    )
    answer = type_li("flow", str(file))
    assert "caf\ufffd" in answer.out
    assert answer.err.startswith("lionstudio: Where the answer has \ufffd, it was not UTF-8.")
    assert answer.err.count("\n") == 1


def test_agents_work_at_the_same_time_and_no_more_than_allowed(ctx: Context, tmp_path: Path):
    # Each waits for the other: alone none of them would ever end.
    meets = agent(
        tmp_path / "meet.sh",
        """\
        cat >/dev/null
        mkdir -p "$(dirname "$0")/here"
        : > "$(dirname "$0")/here/$LIONAGI_AGENT"
        while [ "$(ls "$(dirname "$0")/here" | wc -l)" -lt 2 ]; do sleep 0.02; done
        echo met
        """,
    )
    steps = "steps: {a: {prompt: x}, b: {prompt: x}}\n"
    file = write(tmp_path / "flow.yaml", f"model: {meets}\n{steps}")
    [told] = type_li("flow", str(file), "--json").objects
    assert [step["answer"] for step in told["steps"]] == ["met", "met"]
    (tmp_path / "here" / "a").unlink()
    (tmp_path / "here" / "b").unlink()
    alone = type_li("flow", str(file), "--parallel", "1", "--timeout", "2", "--json")
    assert alone.code == 124
    assert [step["status"] for step in alone.objects[0]["steps"]] == ["timed_out", "skipped"]
    file.write_text(f"parallel: 1\n{file.read_text()}")
    (tmp_path / "here" / "a").unlink()
    assert type_li("flow", str(file), "--timeout", "2").code == 124


@pytest.mark.parametrize(
    ("number", "code", "status", "reason"),
    [
        (signal.SIGINT, 130, "aborted", "run.aborted.interrupt"),
        (signal.SIGTERM, 143, "cancelled", "run.cancelled.terminated"),
        (signal.SIGHUP, 129, "aborted", "run.aborted.hangup"),
    ],
)
def test_a_signal_stops_every_agent_and_the_run_says_which(
    ctx: Context, tmp_path: Path, number: int, code: int, status: str, reason: str
):
    model = agent(tmp_path / "wait.sh", WAITING)
    steps = "{a: {prompt: x}, b: {prompt: x}, c: {prompt: x, needs: a}}"
    file = write(tmp_path / "flow.yaml", f"model: {model}\nsteps: {steps}\n")
    with typed("flow", str(file), "--json") as li:
        wait_until(lambda: len(pids_of(tmp_path / "wait.sh")) == 2, within=DEADLINE)
        [run] = runs(ctx)
        li.send_signal(number)
        out, err = li.communicate(timeout=DEADLINE)
    assert (li.returncode, err) == (-number, "")
    assert not any(is_there(pid) for pid in pids_of(tmp_path / "wait.sh"))
    ended = get_session(ctx, run.id)
    assert (ended.status, ended.exit_code, ended.end_reason) == (status, code, reason)
    for name in ("a", "b"):
        branch = next(branch for branch in list_branches(ctx, run.id) if branch.name == name)
        assert said(ctx, run.id, branch.id) == [("user", "x"), ("assistant", "working")]
    assert f'"status":"{status}"' in out.replace(" ", "")


def test_agents_of_every_engine_work_in_one_run(
    ctx: Context, tmp_path: Path, model_server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "claude").mkdir()
    monkeypatch.setenv("LIONSTUDIO_CLAUDE", str(talking_claude(tmp_path / "claude")))
    monkeypatch.setenv("LIONSTUDIO_CODEX", str(replaying(tmp_path, "codex/simple", name="codex")))
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model_server.url}/v1")
    for text in ("One.", "Two."):
        model_server.script.add({"text": text})
    file = write(
        tmp_path / "flow.yaml",
        """\
        steps:
          claude: {model: claude/claude-sonnet-4-5, prompt: Say hi.}
          codex: {model: codex/gpt-5, prompt: Say hi.}
          lion: {model: lionagi/openai/gpt-fake, prompt: Say hi., system: Be brief.}
          lioness: {model: lionagi/openai/gpt-fake, prompt: Say hi.}
          all: {model: exec/cat, prompt: "{steps.claude}|{steps.codex}|{steps.lion}|{steps.lioness}"}
        """,
    )
    answer = type_li("flow", str(file), "--json")
    [told] = answer.objects
    assert (answer.code, answer.err, {step["status"] for step in told["steps"]}) == (0, "", {"completed"})
    answers = [step["answer"] for step in told["steps"]]
    assert answers[0] == "You asked 1 times, last: Say hi."
    assert set(answers[2:4]) == {"One.", "Two."}
    assert answers[4] == "|".join(answers[:4])
    assert set(told["usage"]) >= {"claude-fake", "gpt-fake"}
    providers = {
        branch.name: (branch.node_metadata or {})["provider"] for branch in list_branches(ctx, told["session_id"])
    }
    assert providers == {"claude": "claude", "codex": "codex", "lion": "lionagi", "lioness": "lionagi", "all": "exec"}
    lion = next(branch for branch in list_branches(ctx, told["session_id"]) if branch.name == "lion")
    assert [kind for kind, _ in said(ctx, told["session_id"], lion.id)] == ["system", "user", "assistant"]
    assert lion.system_msg_id is not None


def test_the_time_of_a_run_ends_every_agent_also_one_that_does_not_listen(ctx: Context, tmp_path: Path):
    stubborn = agent(tmp_path / "stubborn.sh", STUBBORN)
    waiting = agent(tmp_path / "wait.sh", WAITING)
    file = write(
        tmp_path / "flow.yaml", f"steps: {{a: {{prompt: x, model: {stubborn}}}, b: {{prompt: x, model: {waiting}}}}}\n"
    )
    answer = type_li("flow", str(file), "--timeout", "3")
    [run] = runs(ctx)
    assert (answer.code, run.status, run.end_reason) == (124, "timed_out", "run.timed_out.deadline")
    assert answer.err.startswith("Its time was over. li runs show ")
    for script in ("stubborn.sh", "wait.sh"):
        assert not any(is_there(pid) for pid in pids_of(tmp_path / script))


def test_the_time_of_a_step_ends_only_that_step(ctx: Context, tmp_path: Path):
    waiting = agent(tmp_path / "wait.sh", WAITING)
    file = write(
        tmp_path / "flow.yaml",
        f"""\
        model: exec/cat
        steps:
          slow: {{model: {waiting}, prompt: x, timeout: 1}}
          after: {{needs: slow, prompt: x}}
          other: {{prompt: Fine.}}
        """,
    )
    answer = type_li("flow", str(file))
    [run] = runs(ctx)
    assert (answer.code, answer.out) == (1, "Fine.\n")
    assert answer.err.startswith("slow timed out: It took longer than its 1 s. 1 step skipped for that.")
    assert (run.status, run.end_reason) == ("failed", "run.failed.step")


def test_an_agent_that_is_killed_fails_alone(ctx: Context, tmp_path: Path):
    waiting = agent(tmp_path / "wait.sh", WAITING)
    file = write(
        tmp_path / "flow.yaml",
        f"steps: {{a: {{prompt: x, model: {waiting}}}, b: {{prompt: Fine., model: exec/cat}}}}\n",
    )
    with typed("flow", str(file)) as li:
        wait_until(lambda: pids_of(tmp_path / "wait.sh"), within=DEADLINE)
        os.kill(pids_of(tmp_path / "wait.sh")[0], signal.SIGKILL)
        out, err = li.communicate(timeout=DEADLINE)
    assert (li.returncode, out) == (1, "Fine.\n")
    assert err.startswith("a failed: exec was killed by signal 9.")
    [run] = runs(ctx)
    assert list_history(ctx, run.id)[-1].sentence == "a failed: exec was killed by signal 9."


def test_when_we_are_killed_the_agents_are_told_to_stop_and_the_run_is_seen_to_be_dead(ctx: Context, tmp_path: Path):
    waiting = agent(tmp_path / "wait.sh", WAITING)
    file = write(tmp_path / "flow.yaml", f"model: {waiting}\nsteps: {{a: {{prompt: x}}, b: {{prompt: x}}}}\n")
    with typed("flow", str(file)) as li:
        wait_until(lambda: len(pids_of(tmp_path / "wait.sh")) == 2, within=DEADLINE)
        [run] = runs(ctx)
        wait_until(lambda: len(said(ctx, run.id)) == 4, within=DEADLINE)
        li.kill()
        li.communicate(timeout=DEADLINE)
    wait_until(lambda: not any(map(is_there, pids_of(tmp_path / "wait.sh"))), within=DEADLINE)
    assert get_session(ctx, run.id).status == "running"
    shown = type_li("runs", "show", run.id)
    assert "process" in shown.out
    assert "gone" in shown.out
