"""`li fanout`: one task for several agents, and one answer of theirs. Those that fail are left out, which is said."""

from pathlib import Path

import pytest

from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import list_history
from tests.cli.crews import agent, runs, type_li, write
from tests.engines.recorded import said


@pytest.fixture(autouse=True)
def place(home: Path, location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_DB", location)


def asked(answers: dict[str, str], task: str) -> str:
    """What the agent is asked that makes one answer of several."""
    told = "\n\n".join(
        f"--- The answer of {name} ---\n{text}\n--- The end of the answer of {name} ---"
        for name, text in answers.items()
    )
    return f"--- The task ---\n{task}\n--- The end of the task ---\n\n{told}\n"


def test_the_same_task_goes_to_all_and_one_makes_one_answer(ctx: Context):
    answer = type_li("fanout", "-n", "3", "exec/cat", "Count {to} ten.")
    task = "Count {to} ten."
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("3 agents were given the task below")
    assert answer.out.endswith(asked({f"agent-{n}": task for n in (1, 2, 3)}, task))
    [run] = runs(ctx)
    assert (run.name, run.invocation_kind, run.status) == ("Count {to} ten.", "fanout", "completed")
    branches = list_branches(ctx, run.id)
    assert {branch.name for branch in branches} == {"agent-1", "agent-2", "agent-3", "synthesis"}
    assert {branch.parent_branch_id for branch in branches} == {None}
    for branch in branches[:-1]:
        assert said(ctx, run.id, branch.id) == [("user", task), ("assistant", task)]


def test_models_take_turns_and_another_one_may_make_the_answer(ctx: Context, tmp_path: Path):
    counts = agent(tmp_path / "count.sh", 'printf "%s answers" "$(grep -c "^--- The answer")"')
    [told] = type_li(
        "fanout", "-n", "5", "exec/cat", "exec/tr a-z A-Z", "go", "--synthesis", counts, "--json", "--name", "mine"
    ).objects
    assert (told["answer"], told["name"], told["status"]) == ("5 answers", "mine", "completed")
    assert [(step["model"], step["answer"]) for step in told["steps"]] == [
        *[("exec/cat", "go"), ("exec/tr a-z A-Z", "GO")] * 2, ("exec/cat", "go"), (counts, "5 answers"),
    ]  # fmt: skip


def test_without_a_synthesis_all_answers_are_printed(ctx: Context):
    answer = type_li("fanout", "exec/cat", "exec/tr a-z A-Z", "-", "--no-synthesis", stdin="go\n")
    assert answer == (0, "## agent-1 (exec/cat)\n\ngo\n\n## agent-2 (exec/tr a-z A-Z)\n\nGO\n", "")
    [run] = runs(ctx)
    assert len(list_branches(ctx, run.id)) == 2


def test_those_that_fail_are_left_out_and_that_is_said(ctx: Context, tmp_path: Path):
    failing = agent(tmp_path / "agent.sh", "echo no luck >&2; exit 3")
    answer = type_li("fanout", failing, "exec/cat", "go", "--synthesis", "exec/cat")
    lost = "exec ended with exit code 3: no luck"
    assert answer.code == 0
    assert answer.out.endswith(asked({"agent-1": f"(It did not complete: {lost})", "agent-2": "go"}, "go"))
    [run] = runs(ctx)
    sentence = f"1 agent of 2 did not complete. agent-1 failed: {lost}."
    assert answer.err == f"{sentence} li runs show {run.id} shows more.\n"
    assert run.status == "completed"
    assert list_history(ctx, run.id)[-1].sentence == sentence


def test_when_all_fail_so_does_the_run(ctx: Context, tmp_path: Path):
    failing = agent(tmp_path / "agent.sh", "exit 3")
    answer = type_li("fanout", "-n", "2", failing, "go", "--synthesis", "exec/cat")
    [run] = runs(ctx)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(
        "agent-1 failed: exec ended with exit code 3. agent-2 failed: exec ended with exit code 3. There is no "
        "synthesis."
    )
    assert (run.status, run.exit_code, run.end_reason) == ("failed", 1, "run.failed.step")
    assert type_li("fanout", "-n", "2", failing, "go", "--no-synthesis").code == 1


def test_a_synthesis_that_fails_fails_the_run(ctx: Context, tmp_path: Path):
    failing = agent(tmp_path / "agent.sh", "exit 3")
    answer = type_li("fanout", "-n", "2", "exec/cat", "go", "--synthesis", failing)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("synthesis failed: exec ended with exit code 3.")


def test_agents_can_be_those_of_files(home: Path, ctx: Context):
    write(home / "agents" / "loud.md", "---\nmodel: exec/tr a-z A-Z\n---\nBe loud.\n")
    answer = type_li("fanout", "exec/cat", "--agent", "loud", "go", "--no-synthesis")
    assert answer.out == "## agent-1 (exec/cat)\n\ngo\n\n## agent-2 (exec/tr a-z A-Z)\n\nBE LOUD.\n\nGO\n", answer.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        pytest.param(["go"], "li: Say which agents: a model, or --agent NAME.", id="no model"),
        pytest.param(["cluade/x", "go"], "li: 'cluade' is not an engine. Use one of: ", id="no such engine"),
        pytest.param(["exec/cat"], "li: A task is missing: what are the agents to do?", id="no task"),
        pytest.param(["exec/cat", "go", "-n", "0"], "li: -n must be from 1 to 64.", id="none"),
        pytest.param(["exec/cat", "exec/cat", "go", "-n", "1"], "li: -n 1 is less than the 2 agents", id="too few"),
        pytest.param(
            ["exec/cat", "go", "--parallel", "0"], "li: --parallel must be from 1 to 64.", id="none at a time"
        ),
        pytest.param(["exec/cat", "go", "-n", "few"], "li: li fanout: argument -n/--number", id="no number"),
        pytest.param(["exec/cat", "-f", "/nowhere"], "li: There is no file /nowhere.", id="no file"),
        pytest.param(["exec/cat", "go", "--timeout", "0"], "li: --timeout must be more than 0 seconds.", id="no time"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(ctx: Context, words: list[str], why: str):
    answer = type_li("fanout", *words)
    assert answer.code == (1 if why.startswith("li: There is no ") else 2)  # what is named is not there
    assert answer.out == ""
    assert answer.err.startswith(why)
    assert runs(ctx) == []


@pytest.mark.parametrize("way", ["--resume", "--fork-from"])
def test_who_goes_on_with_a_fanout_goes_on_with_its_synthesis(ctx: Context, way: str):
    type_li("fanout", "-n", "2", "exec/cat", "go", "--synthesis", "exec/tr a-z A-Z", "--name", "mine")
    answer = type_li("agent", way, "mine", "and now?")
    assert answer.err.startswith("It goes on with synthesis, the last step of the run.\n")
    assert (answer.code, answer.out.endswith("AND NOW?\n")) == (0, True)
    run, after = runs(ctx)
    parent = next(branch for branch in list_branches(ctx, run.id) if branch.name == "synthesis")
    assert [branch.parent_branch_id for branch in list_branches(ctx, after.id)] == [parent.id]
    positions = [(told["fork_position"] is None) for told in type_li("runs", "tail", "mine", "--json").objects]
    assert positions == [True] * 4 + [False] * 2  # nobody goes on from what the others said


def test_nobody_goes_on_with_a_fanout_in_which_nobody_had_the_last_word(ctx: Context):
    type_li("fanout", "-n", "2", "exec/cat", "go", "--no-synthesis", "--name", "mine")
    answer = type_li("agent", "--resume", "mine", "and now?")
    assert answer.code == 1
    assert "had several agents, and none that began had the last word: agent-1, agent-2." in answer.err
    assert len(runs(ctx)) == 1
