"""A fanout: who does what, and what it came to when some of its agents did not complete."""

import pytest

from lionstudio.engines.fanout import SYNTHESIS, fanout_steps, judge_fanout
from lionstudio.engines.flow import SKIPPED, Done, Result
from lionstudio.engines.steps import Worker
from lionstudio.recorders.stopping import Stopping

ONE, OTHER = Worker(model="claude/a"), Worker(agent="critic")


def results(**came: Done | None) -> dict[str, Result]:
    """What came of the agents and of the synthesis; None for who was skipped."""
    steps = fanout_steps([ONE], len([name for name in came if name != SYNTHESIS]), ONE if SYNTHESIS in came else None)
    return {
        step.name: Result(step, SKIPPED)
        if done is None
        else Result(step, "failed" if done.exit_code else "completed", done)
        for step, done in zip(steps, came.values(), strict=True)
    }


def test_workers_take_turns_and_one_needs_them_all():
    steps = fanout_steps([ONE, OTHER], 3, OTHER)
    assert [(step.name, step.worker, step.prompt) for step in steps[:-1]] == [
        ("agent-1", ONE, "{input}"),
        ("agent-2", OTHER, "{input}"),
        ("agent-3", ONE, "{input}"),
    ]
    assert (steps[-1].name, steps[-1].worker, steps[-1].needs, steps[-1].settles_for_some) == (
        "synthesis", OTHER, ("agent-1", "agent-2", "agent-3"), True,
    )  # fmt: skip
    assert steps[-1].prompt.startswith("3 agents were given the task below")
    assert steps[-1].prompt.endswith("who is right.\n\n--- The task ---\n{input}\n--- The end of the task ---")
    assert len(fanout_steps([ONE], 3, None)) == 3


def test_the_answer_of_one_agent_is_spoken_of_as_one():
    (_, synthesis) = fanout_steps([ONE], 1, OTHER)
    assert synthesis.prompt.startswith("An agent was given the task below. Its answer follows it.\n")
    assert synthesis.prompt.endswith("what is wrong.\n\n--- The task ---\n{input}\n--- The end of the task ---")
    assert "agents" not in synthesis.prompt


GOOD, BAD = Done("yes", model="claude/a"), Done(None, 3, sentence="It broke")


@pytest.mark.parametrize(
    ("came", "cause", "expected"),
    [
        pytest.param({"a": GOOD, "b": GOOD, SYNTHESIS: Done("both")}, None, Done("both"), id="all"),
        pytest.param(
            {"a": GOOD, "b": BAD, SYNTHESIS: Done("one")},
            None,
            Done("one", sentence="1 agent of 2 did not complete. agent-2 failed: It broke."),
            id="some",
        ),
        pytest.param(
            {"a": BAD, "b": BAD, SYNTHESIS: None},
            None,
            Done(
                None,
                1,
                "run.failed.step",
                "agent-1 failed: It broke. agent-2 failed: It broke. There is no synthesis.",
            ),
            id="none",
        ),
        pytest.param(
            {"a": GOOD, SYNTHESIS: BAD},
            None,
            Done(None, 1, "run.failed.step", "synthesis failed: It broke."),
            id="merge",
        ),
        pytest.param({"a": GOOD}, None, Done("## agent-1 (claude/a)\n\nyes"), id="without a synthesis"),
        pytest.param({"a": BAD}, None, Done(None, 1, "run.failed.step", "agent-1 failed: It broke."), id="nobody"),
        pytest.param({"a": GOOD, "b": BAD, SYNTHESIS: None}, 130, Done(None, 130), id="stopped"),
    ],
)
def test_what_a_fanout_came_to(came: dict[str, Done | None], cause: int | None, expected: Done):
    stopping = Stopping()
    if cause is not None:
        stopping.stop(cause)
    assert judge_fanout(results(**came), stopping) == expected
