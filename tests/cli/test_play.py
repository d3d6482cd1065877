"""`li play`: a playbook is filled in, its agents work in one run, and only the answer comes out."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import list_history, list_processes
from tests.cli.crews import DEADLINE, agent, runs, type_li, write
from tests.engines.recorded import said


@pytest.fixture(autouse=True)
def place(home: Path, location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_DB", location)


def playbook(home: Path, text: str, name: str = "review") -> Path:
    return write(home / "playbooks" / f"{name}.yaml", text)


def test_one_agent_answers_and_everything_it_said_is_recorded(home: Path, ctx: Context):
    path = playbook(
        home,
        """\
        description: Reviews something.
        args:
          path: {help: what to review}
          depth: {default: normal, choices: [quick, normal]}
        model: exec/cat
        prompt: |
          Review {path} at {depth}: {input}
        """,
    )
    answer = type_li("play", "review", "path=src/{depth}", "be", "kind")
    assert answer == (0, "Review src/{depth} at normal: be kind\n", "")
    [run] = runs(ctx)
    assert (run.name, run.invocation_kind, run.playbook_name, run.status) == ("review", "play", "review", "completed")
    assert (run.node_metadata or {})["arguments"] == {"path": "src/{depth}", "depth": "normal"}
    assert (run.node_metadata or {})["playbook_path"] == str(path)
    [branch] = list_branches(ctx, run.id)
    assert (branch.name, (branch.node_metadata or {})["provider"]) == ("main", "exec")
    agent_process, recorder = sorted(list_processes(ctx, run.id), key=lambda process: process.role)
    assert (agent_process.command, agent_process.owns_group) == ("cat", True)
    assert "play review" in str(recorder.command)
    text = "Review src/{depth} at normal: be kind"
    assert said(ctx, run.id) == [("user", f"{text}\n"), ("assistant", text)]


STEPS = """\
model: exec/cat
steps:
  plan: {prompt: "Plan {input}."}
  build: {model: exec/tr a-z A-Z, prompt: "Build: {steps.plan}", system: Hurry}
  check: {needs: [build], prompt: Check it.}
"""


def test_steps_are_branches_of_one_run_and_pass_their_answers_on(home: Path, ctx: Context):
    playbook(home, STEPS)
    answer = type_li("play", "review", "it")
    passed = "--- The answer of build ---\nHURRY\n\nBUILD: PLAN IT.\n--- The end of the answer of build ---"
    assert answer == (0, f"Check it.\n\n{passed}\n", "")
    [run] = runs(ctx)
    branches = list_branches(ctx, run.id)
    assert [(one.name, one.parent_branch_id) for one in branches] == [("plan", None), ("build", None), ("check", None)]
    assert said(ctx, run.id, branches[0].id) == [("user", "Plan it."), ("assistant", "Plan it.")]
    assert said(ctx, run.id, branches[1].id) == [
        ("system", "Hurry"),
        ("user", "Build: Plan it."),
        ("assistant", "HURRY\n\nBUILD: PLAN IT."),
    ]
    assert branches[1].system_msg_id is not None
    [process] = list_processes(ctx, run.id)
    assert process.command is not None
    assert "play review it" in process.command


def test_what_came_of_each_step_is_one_object_for_programs(home: Path, ctx: Context):
    playbook(home, STEPS)
    [told] = type_li("play", "review", "it", "--json").objects
    [run] = runs(ctx)
    steps = told.pop("steps")
    assert told == {
        "session_id": run.id,
        "name": "review",
        "kind": "play",
        "status": "completed",
        "exit_code": 0,
        "sentence": None,
        "answer": steps[-1]["answer"],
        "usage": {},
    }
    assert [(step["name"], step["needs"], step["status"], step["model"]) for step in steps] == [
        ("plan", [], "completed", "exec/cat"),
        ("build", ["plan"], "completed", "exec/tr a-z A-Z"),
        ("check", ["build"], "completed", "exec/cat"),
    ]
    assert [step["branch_id"] for step in steps] == [branch.id for branch in list_branches(ctx, run.id)]
    assert steps[0] == {**steps[0], "answer": "Plan it.", "exit_code": 0, "reason": None, "sentence": None}


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        pytest.param(["-"], "from\nhere\n", id="a dash"),
        pytest.param([], "from\nhere", id="a pipe"),
        pytest.param(["--file", "{file}"], None, id="a file"),
        pytest.param(["-f", "-"], "from\nhere", id="a dash for a file"),
    ],
)
def test_its_input_is_read_from_where_it_is_said(home: Path, ctx: Context, tmp_path: Path, words, stdin):
    playbook(home, "model: exec/cat\nprompt: 'Do {input}.'\n")
    file = write(tmp_path / "task.md", "from\nhere\n")
    answer = type_li("play", "review", *[word.format(file=file) for word in words], stdin=stdin)
    assert (answer.code, answer.out) == (0, "Do from\nhere.\n"), answer.err


def test_a_playbook_without_any_place_for_it_gets_the_input_behind_its_prompt(home: Path, ctx: Context):
    playbook(home, "model: exec/cat\nprompt: Explain this.\n")
    assert type_li("play", "review", "a", "{b}").out == "Explain this.\n\na {b}\n"
    assert type_li("play", "review", stdin="piped\n").out == "Explain this.\n\npiped\n"
    assert type_li("play", "review", "a", stdin="piped\n").out == "Explain this.\n\na\n\npiped\n"
    assert type_li("play", "review", stdin="").out == "Explain this.\n"
    assert type_li("play", "review").out == "Explain this.\n"


def test_what_is_typed_wrong_is_told_all_at_once_and_nothing_is_run(home: Path, ctx: Context):
    playbook(
        home,
        """\
        args: {path: {help: what to review}, rounds: {type: int, default: 1}}
        model: exec/cat
        prompt: "{path} {rounds} {input}"
        """,
    )
    assert type_li("play", "review", "paht=x", "rounds=few") == (
        2,
        "",
        "review: There is no argument 'paht'. Did you mean path? It takes: path=…, rounds=….\n"
        "review: The argument path is missing: path=STR, what to review.\n"
        "review: rounds is a whole number, not 'few'.\n"
        "li: review was not run. Type: li play review path=… rounds=… INPUT\n",
    )
    missing = type_li("play", "review", "path=x")
    assert missing.err.startswith("review: Its {input} is missing: type it after the arguments, pipe it in, or name")
    empty = type_li("play", "review", "path=x", stdin="\n")
    assert (empty.code, empty.err) == (2, "li: Standard input holds no prompt: it is empty.\n")
    assert type_li("play", "review", "path=x", "a", "-f", "b").err.startswith("li: There are two prompts")
    assert type_li("play", "review", "path=x", "path=y", "z").err.startswith("li: The argument path is given twice.")
    sentence = type_li("play", "review", "path=x", "x=y is an equation")
    assert sentence.code == 2
    assert sentence.err.splitlines()[1] == (
        "review: If 'x=y is an equation' is text, pipe it in, or name a --file: it begins like an argument."
    )
    playbook(home, "args: {path: x}\nmodel: exec/cat\nprompt: '{path}'\n")
    assert "It has no place for 'depth'. It takes: path=…." in type_li("play", "review", "depth").err
    piped = type_li("play", "review", stdin="depth")
    assert (piped.code, piped.out) == (2, "")
    assert "It has no place for what is piped in. It takes: path=…." in piped.err
    assert runs(ctx) == []


def test_a_file_that_says_what_cannot_be_is_refused_with_every_place(home: Path, ctx: Context):
    path = playbook(home, "model: exec/cat\nsteps:\n  plan: {promt: x}\n  build: {prompt: x, needs: plam}\n")
    answer = type_li("play", "review")
    assert (answer.code, answer.out) == (2, "")
    problems = answer.err.splitlines()
    assert [line.split(": ")[0] for line in problems] == [f"{path}:3:3", f"{path}:3:10", f"{path}:4:29", "li"]
    assert problems[-1] == (
        f"li: {path} has 3 problems, so nothing was run. What such a file may say is in docs/playbooks.md."
    )
    told = json.loads(type_li("play", "review", "--json").err)["error"]
    assert (told["code"], told["problems"]) == ("invalid_file", problems[:-1])
    assert runs(ctx) == []


def test_a_playbook_that_is_not_there_is_said_with_exit_code_1(home: Path, ctx: Context):
    answer = type_li("play", "nobody-wrote-this")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("li: There is no playbook 'nobody-wrote-this'.")
    assert runs(ctx) == []


def test_agents_that_cannot_begin_are_told_before_anything_does(home: Path, ctx: Context, tmp_path: Path):
    path = playbook(
        home,
        """\
        steps:
          nobody: {prompt: a}
          unknown: {prompt: b, model: cluade/x}
          missing: {prompt: c, model: claude}
          lost: {prompt: d, agent: nobody-has-this}
          fine: {prompt: e, model: exec/cat}
          strained: {prompt: f, model: exec/cat, effort: high}
          handy: {prompt: g, model: codex, tools: [x]}
          empty: {prompt: h, model: exec}
          typo: {promtp: i, model: exec/cat}
        """,
    )
    answer = type_li(
        "play",
        "review",
        PATH=str(tmp_path),
        LIONSTUDIO_CLAUDE=str(tmp_path / "no-claude"),
        LIONSTUDIO_CODEX="/bin/true",
    )
    assert (answer.code, answer.out) == (2, "")
    told = answer.err.splitlines()
    assert told[0].startswith(f"{path}:2:3: It names neither a model nor an agent.")
    assert told[1].startswith(f"{path}:3:31: 'cluade' is not an engine.")
    assert "exec" in told[1]
    assert told[2].startswith(f"{path}:4:31: ")
    assert told[3].startswith(f"{path}:5:28: There is no agent 'nobody-has-this'.")
    assert told[4] == f"{path}:7:32: A command has no effort. Leave out effort, or choose another engine."
    assert told[5].startswith(f"{path}:8:29: Codex takes no list of tools.")
    assert told[6].startswith(f"{path}:9:29: The engine exec needs a command.")
    assert told[7] == f"{path}:10:3: The step typo has no prompt: what is its agent to do?"
    assert told[-1].startswith(f"li: {path} has 9 problems, so nothing was run.")
    assert runs(ctx) == []
    assert type_li("play", "nothing").err.startswith("li: There is no playbook 'nothing'.")


def test_a_model_can_be_given_for_steps_that_name_none(home: Path, ctx: Context):
    playbook(home, "prompt: Do {input}.\n")
    assert type_li("play", "review", "it", "--model", "exec/cat").out == "Do it.\n"


def test_an_agent_is_who_its_file_says(home: Path, ctx: Context):
    write(home / "agents" / "reviewer.md", "---\nmodel: exec/cat\n---\nYou {are} careful.\n")
    playbook(home, "agent: reviewer\nprompt: Review {input}.\n")
    assert type_li("play", "review", "it").out == "You {are} careful.\n\nReview it.\n"
    [run] = runs(ctx)
    assert run.agent_name == "reviewer"
    assert said(ctx, run.id)[0] == ("system", "You {are} careful.")


def test_one_agent_that_fails_ends_the_run_as_it_ended(home: Path, ctx: Context, tmp_path: Path):
    failing = agent(tmp_path / "agent.sh", "echo half of it; echo no luck >&2; exit 3")
    playbook(home, f"model: {failing}\nprompt: Go.\n")
    answer = type_li("play", "review")
    [run] = runs(ctx)
    assert (answer.code, answer.out) == (3, "half of it\n")
    assert answer.err == f"exec ended with exit code 3: no luck. li runs show {run.id} shows more.\n"
    assert (run.status, run.exit_code, run.end_reason) == ("failed", 3, "run.failed.exit_nonzero")


def test_a_step_that_fails_stops_only_what_needs_it(home: Path, ctx: Context, tmp_path: Path):
    failing = agent(tmp_path / "agent.sh", "echo no luck >&2; exit 3")
    playbook(
        home,
        f"""\
        model: exec/cat
        steps:
          plan: {{prompt: Plan.}}
          build: {{model: {failing}, needs: plan, prompt: Build.}}
          other: {{needs: plan, prompt: Something else.}}
          test: {{needs: build, prompt: Test.}}
          ship: {{needs: [test, other], prompt: Ship.}}
        """,
    )
    answer = type_li("play", "review", "--json")
    [told] = answer.objects
    [run] = runs(ctx)
    assert answer.code == told["exit_code"] == 1
    assert told["answer"] is None
    assert {step["name"]: (step["status"], step["sentence"]) for step in told["steps"]} == {
        "plan": ("completed", None),
        "build": ("failed", "exec ended with exit code 3: no luck"),
        "other": ("completed", None),
        "test": ("skipped", "It needs build, which did not complete."),
        "ship": ("skipped", "It needs test, which was skipped."),
    }
    assert (run.status, run.exit_code, run.end_reason) == ("failed", 1, "run.failed.step")
    assert list_history(ctx, run.id)[-1].sentence == told["sentence"]
    assert told["sentence"] == "build failed: exec ended with exit code 3: no luck. 2 steps skipped for that."
    assert {branch.name for branch in list_branches(ctx, run.id)} == {"plan", "build", "other"}


def test_a_play_of_a_show_has_its_name_and_lineage(home: Path, ctx: Context, tmp_path: Path):
    tells = agent(tmp_path / "agent.sh", 'cat >/dev/null; echo "$LIONAGI_SHOW_TOPIC/$LIONAGI_SHOW_PLAY"')
    playbook(home, f"model: {tells}\nprompt: Go.\n")
    answer = type_li("play", "review", "--show-topic", "signals", "--show-play", "store")
    [run] = runs(ctx)
    assert (answer.code, answer.out) == (0, "signals/store\n"), answer.err
    assert (run.name, run.invocation_kind, run.show_topic, run.show_play_name, run.playbook_name) == (
        "show_signals_store", "show-play", "signals", "store", "review",
    )  # fmt: skip
    for words in (["--show-play", "store"], ["--show-topic", "s", "--show-play", "p", "--name", "mine"]):
        assert type_li("play", "review", *words).code == 2
    assert len(runs(ctx)) == 1


def test_its_agents_join_a_team_and_their_answers_are_saved(home: Path, ctx: Context, tmp_path: Path):
    tells = agent(tmp_path / "agent.sh", 'cat >/dev/null; echo "$LIONAGI_TEAM $LIONAGI_AGENT $LIONAGI_SESSION_ID"')
    playbook(home, f"model: {tells}\nsteps: {{plan: {{prompt: a}}, build: {{prompt: b, needs: plan}}}}\n")
    saved = tmp_path / "saved"
    answer = type_li("play", "review", "--team-mode", "crew", "--save", str(saved), "--name", "mine")
    [run] = runs(ctx)
    assert answer == (0, f"crew build {run.id}\n", "")
    assert run.name == "mine"
    assert {path.name: path.read_text() for path in saved.iterdir()} == {
        "plan.md": f"crew plan {run.id}\n",
        "build.md": f"crew build {run.id}\n",
    }
    members = type_li("team", "members", "crew").out
    assert "plan" in members
    assert "build" in members


def test_what_only_lionagi_understands_is_said_and_not_used(home: Path, ctx: Context):
    path = playbook(home, "model: exec/cat\nmax-ops: 5\nshow_graph: true\nprompt: Go.\n")
    answer = type_li("play", "review")
    assert answer.out == "Go.\n"
    assert answer.err == f"{path}: max-ops, show-graph means something to lionagi only; it is not used.\n"


def test_a_program_gets_what_an_agent_says_as_it_is(home: Path, ctx: Context, tmp_path: Path):
    hostile = agent(tmp_path / "agent.sh", r"printf '\033]0;owned\007\033[2Jfine\n'")
    playbook(home, f"model: {hostile}\nprompt: Go.\n")
    assert type_li("play", "review").out == "\x1b]0;owned\x07\x1b[2Jfine\n"


def on_terminal(*words: str) -> tuple[int, str, str]:
    """A command whose talk goes to a terminal, and whose answer goes to a pipe."""
    ours, theirs = pty.openpty()
    li: Any = subprocess.Popen(
        [sys.executable, "-m", "lionstudio", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
    )
    os.close(theirs)
    talk = b""
    while True:
        try:
            read = os.read(ours, 65536)
        except OSError:  # everybody has closed it
            break
        if not read:
            break
        talk += read
    os.close(ours)
    out, _ = li.communicate(timeout=DEADLINE)
    return li.returncode, out, talk.decode().replace("\r\n", "\n")


def test_on_a_terminal_each_agent_says_what_it_is_doing(home: Path, ctx: Context, tmp_path: Path):
    failing = agent(tmp_path / "agent.sh", r"printf 'I \033[31mtry\n'; exit 3")
    playbook(
        home,
        f"""\
        steps:
          plan: {{model: exec/cat, prompt: Plan it.}}
          build: {{model: {failing}, needs: plan, prompt: Build.}}
          check: {{model: exec/cat, needs: build, prompt: Check.}}
        """,
    )
    code, out, talk = on_terminal("play", "review")
    [run] = runs(ctx)
    assert (code, out) == (1, "")
    lines = [line.split(maxsplit=2)[1:] if line.startswith(" ") else line for line in talk.splitlines()]
    assert lines == [
        f"Run {run.id}",
        ["plan", "begins (exec/cat)"],
        ["plan", "Plan it."],
        ["plan", "completed after 0s"],
        ["build", f"begins ({failing})"[:84] + "…"],
        ["build", "I \\x1b[31mtry"],
        ["build", "failed after 0s: exec ended with exit code 3."],
        ["check", "skipped: It needs build, which did not complete."],
        f"build failed: exec ended with exit code 3. 1 step skipped for that. li runs show {run.id} shows more.",
    ]
    assert "\x1b" not in talk
