"""One agent at work: what an engine tells is recorded, whatever it tells, and how it ended is judged by D2."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.usage import Usage
from lionstudio.engines.engine import Begun, Event, NewBranch, Noise, Process, Said, Task, Tell, Unknown, Verdict
from lionstudio.engines.saying import answer, instruction, notice, tool_call, tool_result
from lionstudio.engines.working import UNKNOWN_KEPT, Worked, resumed, work
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.branches import list_branches, list_open_calls
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_usage
from tests.engines.recorded import first_branch, messages, metadata, said


class Teller:
    """An engine that tells what it is given, and ends as it is told."""

    name = "claude"

    def __init__(self, *events: Event, verdict: Verdict | None = None, then: Callable[[], None] | None = None) -> None:
        self._events: Sequence[Event] = events
        self._verdict = verdict or Verdict()
        self._then = then
        self.task: Task | None = None

    def require(self) -> None: ...

    def run(self, task: Task, tell: Tell, stopping: Stopping) -> Verdict:
        self.task = task
        for event in self._events:
            tell(event)
        if self._then is not None:
            self._then()
        return self._verdict


def let(engine: Teller, run: Run, task: Task | None = None, **more: Any) -> Worked:
    return work(engine, task or Task("Find it."), run, stopping=more.pop("stopping", Stopping()), **more)


def test_system_prompt_comes_first_and_the_branch_knows_its_agent(ctx: Context, run: Run) -> None:
    task = Task("Find it.", model="sonnet", system="Be brief.", effort="high", tools=("Read", "Bash"))
    let(Teller(answer("There.", "a1"), verdict=Verdict(answer="There.")), run, task)

    assert said(ctx, run.session_id) == [("system", "Be brief."), ("user", "Find it."), ("assistant", "There.")]
    branch = first_branch(ctx, run.session_id)
    assert branch.system_msg_id == messages(ctx, run.session_id)[0].id
    assert metadata(branch) == {
        "provider": "claude",
        "model": "sonnet",
        "prompt": "Be brief.",
        "tools": ["Read", "Bash"],
        "effort": "high",
    }


def test_what_the_agent_says_of_itself_is_found_when_it_is_resumed(ctx: Context, run: Run) -> None:
    begun = Begun("native-1", "claude-sonnet-4-5", ("Bash",), {"agent_version": "2.1.325"}, {"input_tokens": 5})
    worked = let(Teller(begun), run)

    assert (worked.native_id, worked.model) == ("native-1", "claude-sonnet-4-5")
    branch = first_branch(ctx, run.session_id)
    assert branch.model == "claude-sonnet-4-5"
    assert metadata(branch)["agent_version"] == "2.1.325"
    again = resumed(Task("And now?"), branch)
    assert (again.resume, again.totals) == ("native-1", {"input_tokens": 5})


def test_a_tool_runs_from_its_call_to_its_result(ctx: Context, run: Run) -> None:
    call = tool_call("bash", {"command": "ls"}, "c1")
    open_calls: list[int] = []
    let(
        Teller(call, tool_result(call, "nothing", "r1", error=True)),
        run,
        watch=lambda _: open_calls.append(len(list_open_calls(ctx, run.session_id))),
    )
    assert open_calls == [1, 0]
    result = messages(ctx, run.session_id)[-1]
    request = next(message for message in messages(ctx, run.session_id) if message.kind == "tool_call")
    assert result.content == {
        "function": "bash",
        "arguments": {"command": "ls"},
        "output": "nothing",
        "action_request_id": request.id,
        "error": True,
    }


def test_saying_a_key_again_overwrites_the_message_and_counts_the_difference(ctx: Context, run: Run) -> None:
    first = answer("Thin", "a1", metadata={"model": "m", "usage": {"output_tokens": 1}})
    second = answer("Thinking.", "a1", metadata={"model": "m", "usage": {"output_tokens": 40}})
    let(Teller(first, second), run)
    assert said(ctx, run.session_id) == [("user", "Find it."), ("assistant", "Thinking.")]
    assert get_usage(ctx, run.session_id) == {"m": Usage(output_tokens=40)}


def test_agents_that_work_in_one_branch_one_after_the_other_keep_apart(sqlite_ctx: Context, sqlite_run: Run) -> None:
    for words in ("One.", "Two."):
        let(Teller(answer(words, "item_0"), Unknown("?"), verdict=Verdict(1)), sqlite_run)
    assert [text for kind, text in said(sqlite_ctx, sqlite_run.session_id) if kind == "assistant"] == ["One.", "Two."]


def test_subagents_are_branches_of_whoever_spawned_them(ctx: Context, run: Run) -> None:
    events = [
        NewBranch("one", "reviewer", facts={"agent": "general-purpose"}),
        instruction("Look.", "p1", branch="one"),
        NewBranch("two", "deeper", parent="one", model="haiku"),
        answer("I am deep.", "d1", branch="two"),
        NewBranch("one", "told twice"),
        answer("Done.", "a1"),
    ]
    let(Teller(*events), run)
    own, one, two = list_branches(ctx, run.session_id)
    assert (one.name, one.parent_branch_id, one.forked_at_ord) == ("reviewer", own.id, 0)
    assert (two.name, two.parent_branch_id, two.forked_at_ord) == ("deeper", one.id, 0)
    assert metadata(two) == {"provider": "claude", "native_id": "two", "model": "haiku"}
    assert said(ctx, run.session_id, one.id) == [("user", "Look.")]
    assert said(ctx, run.session_id, two.id) == [("assistant", "I am deep.")]
    assert said(ctx, run.session_id, own.id) == [("user", "Find it."), ("assistant", "Done.")]


def test_the_branch_of_a_subagent_names_the_model_of_its_first_answer(ctx: Context, run: Run) -> None:
    events = [
        Begun(model="opus"),
        NewBranch("one", "reviewer"),
        instruction("Look.", "p1", branch="one"),
        answer("Looked.", "a1", branch="one", metadata={"model": "haiku"}),
        answer("And again.", "a2", branch="one", metadata={"model": "sonnet"}),
    ]
    let(Teller(*events), run)
    assert [metadata(branch)["model"] for branch in list_branches(ctx, run.session_id)] == ["opus", "haiku"]


def test_messages_that_the_agent_has_named_get_the_same_id_in_any_run(sqlite_ctx: Context, sqlite_run: Run) -> None:
    native = answer("Mine.", "uuid-1", is_native=True)
    let(Teller(Begun("native-1"), native, answer("Ours.", "uuid-1")), sqlite_run)
    mine, ours = messages(sqlite_ctx, sqlite_run.session_id)[1:]
    assert mine.id == "0fdb525c-6e69-57d1-8c57-93f16991d7ef"
    assert ours.id != mine.id
    side = sqlite_run.fork("side", at=0)
    work(Teller(Begun("native-1"), native), Task("Again."), side, stopping=Stopping())
    assert messages(sqlite_ctx, sqlite_run.session_id, side.id)[-1].id == mine.id


def test_what_is_not_understood_is_kept_bounded_and_counted(sqlite_ctx: Context, sqlite_run: Run) -> None:
    lines = [Unknown(f"line {number} " + "x" * 5_000) for number in range(UNKNOWN_KEPT + 50)]
    worked = let(Teller(*lines), sqlite_run)
    assert worked.unknown_lines == UNKNOWN_KEPT + 50
    kept = messages(sqlite_ctx, sqlite_run.session_id)[-1]
    assert kept.kind == "other"
    assert kept.content["count"] == UNKNOWN_KEPT + 50
    assert len(kept.content["unknown_lines"]) == UNKNOWN_KEPT
    assert kept.content["unknown_lines"][0].startswith("line 0 x")
    assert max(map(len, kept.content["unknown_lines"])) == 2_000


def test_what_a_failed_agent_printed_is_kept_and_explains_it(sqlite_ctx: Context, sqlite_run: Run) -> None:
    noise = [Noise("x" * 100_000), Noise("\nError: no rollout found\n")]
    worked = let(Teller(*noise, verdict=Verdict(1)), sqlite_run)
    assert (worked.exit_code, worked.reason) == (1, None)
    assert worked.sentence == "claude ended with exit code 1: Error: no rollout found"
    assert len(worked.noise) == 64 * 1024
    last = messages(sqlite_ctx, sqlite_run.session_id)[-1]
    assert (last.kind, last.role) == ("other", "stderr")
    assert last.content.endswith("Error: no rollout found\n")


@pytest.mark.parametrize(
    ("noise", "sentence"),
    [
        ("", "claude ended with exit code 1."),
        ("warming up\nout of lions\n", "claude ended with exit code 1: out of lions"),
        (
            "Error: no such thread\n\nStack backtrace:\n   0: <unknown>\n",
            "claude ended with exit code 1: Error: no such thread",
        ),
        ("Traceback (most recent call last):\n  File\nValueError: x\n", "claude ended with exit code 1: ValueError: x"),
    ],
)  # fmt: skip
def test_why_it_failed_is_what_it_printed_last_that_says_so(sqlite_run: Run, noise: str, sentence: str) -> None:
    assert let(Teller(Noise(noise), verdict=Verdict(1)), sqlite_run).sentence == sentence


def test_what_a_successful_agent_printed_stays_out_of_its_transcript(sqlite_ctx: Context, sqlite_run: Run) -> None:
    worked = let(Teller(Noise("warning"), answer("Done.", "a")), sqlite_run)
    assert worked.noise == "warning"
    assert said(sqlite_ctx, sqlite_run.session_id) == [("user", "Find it."), ("assistant", "Done.")]


@pytest.mark.parametrize(
    ("verdict", "cause", "expected"),
    [
        pytest.param(Verdict(0), None, (0, None), id="it ended well"),
        pytest.param(Verdict(3), None, (3, None), id="it failed"),
        pytest.param(Verdict(0, failed=True), None, (1, "run.failed.reported"), id="it failed, and exited with 0"),
        pytest.param(Verdict(0), 130, (130, None), id="interrupted by us, and exited with 0"),
        pytest.param(Verdict(1, failed=True), 124, (124, None), id="out of time"),
        pytest.param(
            Verdict(130, True, "run.aborted.interrupt"), None, (130, "run.aborted.interrupt"), id="by somebody else"
        ),
    ],
)
def test_how_it_ended(sqlite_run: Run, verdict: Verdict, cause: int | None, expected: tuple[int, str | None]) -> None:
    stopping = Stopping()
    if cause is not None:
        stopping.stop(cause)
    worked = let(Teller(verdict=verdict), sqlite_run, stopping=stopping)
    assert (worked.exit_code, worked.reason) == expected


def test_what_an_agent_cannot_do_is_a_failure_with_a_sentence(sqlite_run: Run) -> None:
    def refuse() -> None:
        raise InvalidRequest("Codex takes no list of tools.", hint="Leave out tools.")

    worked = let(Teller(then=refuse), sqlite_run)
    assert (worked.exit_code, worked.sentence) == (2, "Codex takes no list of tools. Leave out tools.")


def test_content_that_no_database_takes_is_said_and_the_agent_goes_on(sqlite_ctx: Context, sqlite_run: Run) -> None:
    deep: Any = "bottom"
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]
    hostile = [
        Said("assistant", "x", {"assistant_response": float("nan")}, "nan"),
        Said("", "x", "no role", "role"),
        notice("\ud800 \0", "half"),
        answer("Still here.", "a"),
    ]
    worked = let(Teller(Said("assistant", "x", deep, "deep"), *hostile), sqlite_run)
    assert worked.exit_code == 0
    recorded = messages(sqlite_ctx, sqlite_run.session_id)
    assert "\ud800 \0" in [message.content for message in recorded]
    assert "Still here." in str(recorded[-2:])
    assert "Not recorded" in str(recorded[-1].content)


def test_who_watches_hears_every_event_and_cannot_break_it(sqlite_ctx: Context, sqlite_run: Run) -> None:
    heard: list[Event] = []

    def watch(event: Event) -> None:
        heard.append(event)
        raise RuntimeError("a mistake in what draws the screen")

    processes: list[Process] = []
    events = (Process(123, "agent"), answer("Done.", "a"))
    worked = let(Teller(*events), sqlite_run, watch=watch, on_process=processes.append)
    assert tuple(heard) == events
    assert processes == [events[0]]
    assert worked.exit_code == 0
    assert ("assistant", "Done.") in said(sqlite_ctx, sqlite_run.session_id)


def test_the_child_knows_its_run_and_its_branch(sqlite_run: Run) -> None:
    engine = Teller()
    side = sqlite_run.fork("side", at=0)
    work(engine, Task("x", env={"LIONAGI_TEAM": "t"}), side, stopping=Stopping())
    assert engine.task is not None
    assert engine.task.env == {
        "LIONAGI_TEAM": "t",
        "LIONAGI_SESSION_ID": sqlite_run.session_id,
        "LIONAGI_BRANCH_ID": side.id,
    }
