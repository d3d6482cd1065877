"""A fanout: the same task for several agents that do not know of each other, and one that merges their answers."""

from collections.abc import Sequence

from lionstudio.domain.phrases import count_of
from lionstudio.engines.flow import SKIPPED, Done, Results, tell_failed
from lionstudio.engines.steps import Step, Worker
from lionstudio.recorders.stopping import Stopping

AGENTS = 3  # unless somebody says how many, or names more models
MOST_AGENTS = 64
SYNTHESIS = "synthesis"
CHECK = """\
An agent was given the task below. Its answer follows it.
Write the answer that whoever gave the task should get: keep what is right, and leave out what is wrong.
{task}"""
MERGE = """\
{count} agents were given the task below, each without knowing of the others. Their answers follow it.
Write the one answer that whoever gave the task should get: keep what is right, also where only one of them saw it,
leave out what is wrong, and say where they disagree and you cannot tell who is right.
{task}"""
TASK = """
--- The task ---
{input}
--- The end of the task ---"""


def fanout_steps(workers: Sequence[Worker], count: int, synthesis: Worker | None) -> tuple[Step, ...]:
    """So many agents, the workers in turn, and one that makes one answer of theirs. Their prompts use {input}."""
    steps = [Step(f"agent-{number + 1}", "{input}", workers[number % len(workers)]) for number in range(count)]
    if synthesis is None:
        return tuple(steps)
    needs = tuple(step.name for step in steps)
    merge = (CHECK if count == 1 else MERGE).replace("{count}", str(count)).replace("{task}", TASK)
    return (*steps, Step(SYNTHESIS, merge, synthesis, needs, settles_for_some=True))


def judge_fanout(results: Results, stopping: Stopping) -> Done:
    """What a fanout came to: it takes one agent that completed, and the synthesis if there is one."""
    agents = [result for name, result in results.items() if name != SYNTHESIS]
    completed = [result for result in agents if result.is_completed]
    merged = results.get(SYNTHESIS)
    if merged is not None:
        answer = merged.done.answer if merged.is_completed else None
    else:
        answer = "\n\n".join(
            f"## {one.step.name} ({one.done.model})\n\n{one.done.answer or ''}".rstrip() for one in completed
        )
    if stopping.cause is not None:
        return Done(answer or None, stopping.cause)
    if not completed or (merged is not None and not merged.is_completed):
        is_skipped = merged is not None and merged.status == SKIPPED
        why = tell_failed({name: result for name, result in results.items() if result.status != SKIPPED})
        return Done(None, 1, "run.failed.step", f"{why} There is no synthesis." if is_skipped else why)
    lost = len(agents) - len(completed)
    said = f"{count_of(lost, 'agent')} of {len(agents)} did not complete. {tell_failed(results)}" if lost else None
    return Done(answer or None, 0, sentence=said)
