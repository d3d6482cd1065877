"""Steps in their order: what may begin begins, several at a time, and one that fails stops only what needs it."""

import threading
import time
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.engines.flow import SKIPPED, Done, Result, Results, judge, run_steps
from lionstudio.engines.passing import MOST_PASSED, ask, shorten
from lionstudio.engines.steps import Step, Worker
from lionstudio.recorders.stopping import Stopping

Act = Callable[[Stopping], Done]


def steps_of(**needs: str) -> list[Step]:
    """Steps by their names, with what each needs."""
    return [Step(name, f"Do {name}.", needs=tuple(wanted.split())) for name, wanted in needs.items()]


def run(steps: list[Step], acts: Mapping[str, Act] | None = None, **more: object) -> Results:
    def do(step: Step, before: Results, stopping: Stopping) -> Done:
        act = (acts or {}).get(step.name)
        return Done(f"{step.name} done") if act is None else act(stopping)

    return run_steps(steps, do, **{"stopping": Stopping(), **more})  # type: ignore[arg-type]


def fail(stopping: Stopping) -> Done:
    return Done(None, 3, sentence="It broke.")


def wait_to_stop(stopping: Stopping) -> Done:
    stopped = threading.Event()
    with stopping.each(lambda cause: stopped.set()):
        assert stopped.wait(20)
    assert stopping.cause is not None
    return Done(None, stopping.cause)


def test_each_step_is_given_what_came_of_those_before_it():
    seen: dict[str, dict[str, str | None]] = {}

    def do(step: Step, before: Results, stopping: Stopping) -> Done:
        seen[step.name] = {name: result.done.answer for name, result in before.items() if name in step.needs}
        return Done(step.name.upper(), branch_id=f"branch of {step.name}", model="m")

    results = run_steps(steps_of(d="b c", b="a", c="a", a=""), do, stopping=Stopping())
    assert seen == {"a": {}, "b": {"a": "A"}, "c": {"a": "A"}, "d": {"b": "B", "c": "C"}}
    assert list(results) == ["d", "b", "c", "a"]
    assert {result.status for result in results.values()} == {"completed"}
    assert results["b"].done == Done("B", branch_id="branch of b", model="m")


def test_steps_that_need_nothing_work_at_the_same_time_and_no_more_than_allowed():
    together = threading.Barrier(3, timeout=20)
    working: list[int] = []
    lock = threading.Lock()

    def meet(stopping: Stopping) -> Done:
        with lock:
            working.append(working[-1] + 1 if working else 1)
        together.wait()
        with lock:
            working.append(working[-1] - 1)
        return Done("met")

    names = [f"s{number}" for number in range(9)]
    results = run(steps_of(**dict.fromkeys(names, "")), dict.fromkeys(names, meet), parallel=3)
    assert {result.done.answer for result in results.values()} == {"met"}
    assert max(working) == 3


def test_a_failure_stops_only_what_needs_it():
    results = run(steps_of(plan="", build="plan", other="", test="build", ship="test other"), {"build": fail})
    assert {name: (result.status, result.done.sentence) for name, result in results.items()} == {
        "plan": ("completed", None),
        "build": ("failed", "It broke."),
        "other": ("completed", None),
        "test": (SKIPPED, "It needs build, which did not complete."),
        "ship": (SKIPPED, "It needs test, which was skipped."),
    }
    assert judge(results, Stopping()) == Done(
        None, 1, "run.failed.step", "build failed: It broke. 2 steps skipped for that."
    )


def test_who_settles_for_some_begins_with_what_there_is():
    steps = [*steps_of(a="", b=""), Step("all", "x", needs=("a", "b"), settles_for_some=True)]
    assert run(steps, {"a": fail})["all"].status == "completed"
    nothing = run(steps, {"a": fail, "b": fail})
    assert (nothing["all"].status, nothing["all"].done.sentence) == (
        SKIPPED,
        "It needs a, which did not complete and b, which did not complete.",
    )


def test_a_mistake_in_one_step_fails_it_and_nobody_waits_for_it():
    def stumble(stopping: Stopping) -> Done:
        raise RuntimeError("a mistake")

    results = run(steps_of(a="", b=""), {"a": stumble})
    assert results["a"].done == Done(None, 1, "run.failed.exception", "RuntimeError: a mistake")
    assert results["b"].status == "completed"


def test_a_stop_reaches_all_and_begins_nothing_more():
    stopping = Stopping()
    begun = threading.Barrier(3, action=lambda: stopping.stop(130))

    def wait(own: Stopping) -> Done:
        begun.wait(20)
        return wait_to_stop(own)

    steps = steps_of(a="", b="", c="", d="a", e="")
    results = run(steps, {"a": wait, "b": wait, "c": wait}, stopping=stopping, parallel=3)
    assert {name: result.status for name, result in results.items()} == {
        "a": "aborted", "b": "aborted", "c": "aborted", "d": SKIPPED, "e": SKIPPED,
    }  # fmt: skip
    assert results["e"].done.sentence == "The run was asked to stop before it began."
    assert judge(results, stopping) == Done(None, 130)


def test_a_step_has_a_time_of_its_own():
    slow = Step("slow", "x", Worker(timeout=0.05))
    results = run([slow, *steps_of(other="")], {"slow": wait_to_stop})
    assert (results["slow"].status, results["slow"].done.sentence) == ("timed_out", "It took longer than its 0.05 s.")
    assert 0.05 <= results["slow"].seconds < 20
    assert results["other"].status == "completed"
    assert judge(results, Stopping()).exit_code == 1
    assert judge({"slow": results["slow"]}, Stopping()).exit_code == 124  # as if it had been typed alone


def test_every_beginning_and_end_is_told_in_this_thread():
    told: list[tuple[str, str]] = []
    me = threading.get_ident()

    def hear(step: Step, result: Result | None) -> None:
        assert threading.get_ident() == me
        told.append((step.name, "begins" if result is None else result.status))

    run(steps_of(a="", b="a", c="b"), {"b": fail}, on_change=hear)
    assert told == [
        ("a", "begins"), ("a", "completed"), ("b", "begins"), ("b", "failed"), ("c", SKIPPED),
    ]  # fmt: skip


def test_the_failure_of_many_is_told_in_a_few_words():
    names = [f"s{number}" for number in range(9)]
    results = run(steps_of(**dict.fromkeys(names, "")), dict.fromkeys(names, lambda stopping: Done(None, 1)))
    assert judge(results, Stopping()).sentence == "s0 failed. s1 failed. s2 failed. 6 more did not complete."


@given(st.data())
def test_any_graph_is_done_in_an_order_that_keeps_its_needs(data: st.DataObject):
    count = data.draw(st.integers(1, 12))
    steps = [
        Step(str(number), "x", needs=tuple(data.draw(st.sets(st.sampled_from(earlier))) if earlier else ()))
        for number in range(count)
        for earlier in [[str(other) for other in range(number)]]
    ]
    failing = data.draw(st.sets(st.sampled_from([step.name for step in steps])))
    begun: list[str] = []

    def do(step: Step, before: Results, stopping: Stopping) -> Done:
        assert all(before[need].is_completed for need in step.needs)
        begun.append(step.name)
        return Done(None, int(step.name in failing))

    shuffled = data.draw(st.permutations(steps))
    results = run_steps(shuffled, do, stopping=Stopping(), parallel=data.draw(st.integers(1, 4)))
    lost: set[str] = set()
    for step in steps:
        is_lost = any(need in failing | lost for need in step.needs)
        assert (results[step.name].status == SKIPPED) == is_lost
        assert (step.name in begun) == (not is_lost)
        lost |= {step.name} if is_lost else set()
    assert len(begun) == len(set(begun))


def result_of(name: str, answer: str | None) -> Result:
    return Result(Step(name, ""), "completed", Done(answer))


def test_an_answer_stands_where_its_placeholder_is_and_else_behind_the_prompt():
    results = {"plan": result_of("plan", "{what} first"), "test": result_of("test", None)}
    step = Step("build", "Build {what} by {steps.plan}\n", Worker(system="Be {what}."), needs=("plan", "test"))
    asked = ask(step, {"what": "it"}, results)
    assert asked.prompt == (
        "Build it by {what} first\n\n"
        "--- The answer of test ---\n(It gave no answer.)\n--- The end of the answer of test ---"
    )
    assert asked.system == "Be it."
    assert ask(Step("a", "As {{it}} is\n"), {}, {}).prompt == "As {it} is\n"


def test_what_is_passed_on_is_bounded_and_the_cut_is_said():
    results = {"long": result_of("long", "a" * MOST_PASSED + "z" * 100), "short": result_of("short", "b" * 10)}
    asked = ask(Step("x", "{steps.long}|{steps.short}", needs=("long", "short")), {}, results)
    assert asked.cut == ("long",)
    assert "[… 100,100 characters are left out here …]" in asked.prompt
    assert asked.prompt.endswith("z" * 100 + "|" + "b" * 10)
    assert len(asked.prompt) < MOST_PASSED
    assert shorten("abcdef", 4) == "ab\n[… 2 characters are left out here …]\nef"


@pytest.mark.parametrize("count", [256])
def test_many_steps_take_no_time_of_their_own(count: int):
    chain = [Step(str(number), "x", needs=(str(number - 1),) if number else ()) for number in range(count)]
    began = time.process_time()
    assert all(result.is_completed for result in run(list(reversed(chain))).values())
    assert time.process_time() - began < 10
