"""A flow: steps of one run, each begun as soon as all it needs is there, several at a time.

It knows nothing of agents: what does a step is given to it. One that fails stops only what needs it.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import NamedTuple

from lionstudio.domain.phrases import count_of
from lionstudio.domain.session import SessionStatus, status_from_exit_code
from lionstudio.engines.steps import Step
from lionstudio.recorders.stopping import DEADLINE, Stopping

PARALLEL = 4  # agents at a time, unless somebody says otherwise
SKIPPED = "skipped"  # the status of a step that was never begun
TOLD = 3  # steps that are named in the sentence about a run that failed


class Done(NamedTuple):
    """What came of a step that was begun, or of a whole run."""

    answer: str | None = None
    exit_code: int = 0
    reason: str | None = None  # a registered code, where the exit code alone does not tell it
    sentence: str | None = None  # why it did not complete, for people
    branch_id: str | None = None
    model: str | None = None


class Result(NamedTuple):
    """What came of a step."""

    step: Step
    status: str  # one of those of runs, or skipped
    done: Done = Done()
    seconds: float = 0.0

    @property
    def is_completed(self) -> bool:
        return self.status == SessionStatus.COMPLETED


Results = Mapping[str, Result]  # by the names of steps
Do = Callable[[Step, Results, Stopping], Done]
OnChange = Callable[[Step, Result | None], None]  # a step begins, or is over


def run_steps(
    steps: Sequence[Step], do: Do, *, stopping: Stopping, parallel: int = PARALLEL, on_change: OnChange | None = None
) -> Results:
    """Do all steps, at most `parallel` of them at a time; what came of each, in their order.

    `do` is called in a thread, with what came of the steps before, and with what asks this one step to stop. When the
    run is asked to stop, what was begun is waited for and nothing else is begun. They must not wait for each other.
    """
    tell = on_change or (lambda step, result: None)
    over: SimpleQueue[Result] = SimpleQueue()
    waiting = {step.name: step for step in steps}
    results: dict[str, Result] = {}
    running = 0
    while waiting or running:
        while (lost := _find_lost(waiting, results, stopping)) is not None:
            results[lost.step.name] = lost
            del waiting[lost.step.name]
            tell(lost.step, lost)
        for step in _ready(waiting, results)[: parallel - running]:
            del waiting[step.name]
            running += 1
            tell(step, None)
            work = (step, do, dict(results), stopping, over)
            threading.Thread(target=_work, args=work, name=f"step {step.name}", daemon=True).start()
        if running:
            result = over.get()
            running -= 1
            results[result.step.name] = result
            tell(result.step, result)
    return {step.name: results[step.name] for step in steps}


def judge(results: Results, stopping: Stopping) -> Done:
    """What a run came to: what stopped it, else the failure of any step; its answer is that of the last step."""
    last = list(results.values())[-1]
    answer = last.done.answer if last.is_completed or len(results) == 1 else None
    if stopping.cause is not None:
        return Done(answer, stopping.cause)
    if len(results) == 1:
        return last.done
    if all(result.is_completed for result in results.values()):
        return Done(answer)
    return Done(answer, 1, "run.failed.step", tell_failed(results))


def tell_failed(results: Results) -> str:
    """Which steps failed and why, and how many were skipped for that."""
    failed = [result for result in results.values() if result.status not in (SessionStatus.COMPLETED, SKIPPED)]
    told = [_tell(result) for result in failed[:TOLD]]
    if len(failed) > TOLD:
        told.append(f"{len(failed) - TOLD} more did not complete.")
    if skipped := sum(result.status == SKIPPED for result in results.values()):
        told.append(f"{count_of(skipped, 'step')} skipped for that.")
    return " ".join(told)


def _find_lost(waiting: Mapping[str, Step], results: Results, stopping: Stopping) -> Result | None:
    """A step that cannot begin any more."""
    for step in waiting.values():
        failed = [need for need in step.needs if need in results and not results[need].is_completed]
        if stopping.cause is not None:
            return Result(step, SKIPPED, Done(sentence="The run was asked to stop before it began."))
        if failed and (len(failed) == len(step.needs) or not step.settles_for_some):
            told = " and ".join(f"{need}, which {_fate(results[need])}" for need in failed)
            return Result(step, SKIPPED, Done(sentence=f"It needs {told}."))
    return None


def _tell(result: Result) -> str:
    told = f"{result.step.name} {result.status.replace('_', ' ')}"
    return full_stop(f"{told}: {result.done.sentence}" if result.done.sentence else told)


def full_stop(sentence: str) -> str:
    """A sentence that another one may follow; what agents say often ends with nothing."""
    return sentence if sentence.endswith((".", "!", "?", "…")) else f"{sentence}."


def _fate(result: Result) -> str:
    return "was skipped" if result.status == SKIPPED else "did not complete"


def _ready(waiting: Mapping[str, Step], results: Results) -> list[Step]:
    return [step for step in waiting.values() if all(need in results for need in step.needs)]


def _work(step: Step, do: Do, before: Results, stopping: Stopping, over: "SimpleQueue[Result]") -> None:
    began, own = time.monotonic(), Stopping()
    try:
        with stopping.each(own.stop), own.within(step.worker.timeout):
            done = do(step, before, own)
    except Exception as error:  # noqa: BLE001  a mistake of ours fails this step; without a result all would wait for it
        done = Done(None, 1, "run.failed.exception", f"{type(error).__name__}: {error}")
    if done.exit_code == DEADLINE and stopping.cause is None and step.worker.timeout is not None:
        done = done._replace(sentence=f"It took longer than its {step.worker.timeout:g} s.")
    over.put(Result(step, status_from_exit_code(done.exit_code).value, done, time.monotonic() - began))
