"""Several agents in one run: what `li play`, `li flow` and `li fanout` share."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from lionstudio.cli.at_work import AtWork
from lionstudio.cli.command import Call, WrongUsage
from lionstudio.domain.errors import Error
from lionstudio.domain.session import STEPS, status_from_exit_code
from lionstudio.engines.agents import Crew, Ready, first_step, make_ready, member_of
from lionstudio.engines.flow import PARALLEL, Done, Result, Results, full_stop, run_steps
from lionstudio.engines.launch import Launch, Launched, launched
from lionstudio.engines.pausing import pausing
from lionstudio.engines.playbook import MOST_PARALLEL
from lionstudio.engines.steps import Step
from lionstudio.recorders.guard import GRACE, INTERRUPT
from lionstudio.recorders.stopping import Stopping

STOPPED = {
    124: "Its time was over.",
    129: "Its terminal was closed.",
    130: "It was interrupted.",
    143: "It was told to stop.",
}
PATIENCE = f"\nThe agent has {GRACE:.0f} seconds to end. Ctrl-C again ends it at once.\n"
Judge = Callable[[Results, Stopping], Done]


def launch_of(call: Call, *, kind: str, name: str | None, **more: Any) -> Launch:
    """The run that the options ask for; raises WrongUsage."""
    args = call.args
    if args.name is not None and args.show_play is not None:
        raise WrongUsage("A play of a show has a name already, so --name cannot be given.", hint="Leave it out.")
    return Launch(
        kind=kind,
        name=args.name or name,
        show_topic=args.show_topic,
        show_play=args.show_play,
        save=args.save,
        timeout=args.timeout,
        db=args.db,
        **{"team": args.team_mode, **more},
    )


def run_crew(
    call: Call,
    launch: Launch,
    steps: Sequence[Step],
    values: Mapping[str, str],
    *,
    judge: Judge,
    parallel: int | None = None,
    model: str | None = None,
) -> int:
    """Let agents do the steps of a run, print what they came to, and exit as the run ended."""
    call.require_place()
    most = _parallel(call.args.parallel, parallel)
    ready = make_ready(steps, call.settings.home_folder, model=model)
    at_work = AtWork(call.out, ready)
    with launched(_settled(launch, steps, ready)) as begun, patience_told(call, begun.stopping):
        call.out.say_live(f"Run {begun.run.session_id}")
        crew = Crew(begun, steps, ready, values, lambda step, event: at_work.does(step.name, event))
        results = run_steps(
            steps,
            crew.do,
            stopping=begun.stopping,
            parallel=most,
            on_change=lambda step, result: at_work.step_changed(step, result, ready[step.name].model),
        )
        done = judge(results, begun.stopping)
        begun.end(done.exit_code, done.reason, done.sentence)
    _print(call, begun, results, done)
    return begun.way_to_end


@contextmanager
def patience_told(call: Call, stopping: Stopping) -> Iterator[None]:
    """Inside, a person who interrupts agents at work is told what is waited for, and how not to wait."""
    is_told = False

    def tell(cause: int) -> None:
        nonlocal is_told
        if cause == INTERRUPT and pausing.has_agents and not is_told:
            is_told = True
            os.write(2, PATIENCE.encode())  # in the middle of anything: whoever prints there now has not ended

    with stopping.each(tell) if call.out.is_watched else nullcontext():
        yield


def _settled(launch: Launch, steps: Sequence[Step], ready: Mapping[str, Ready]) -> Launch:
    """The launch with what its agents add to it: the run begins with the branch of the first one."""
    first = first_step(steps)
    members = tuple(member_of(step, steps, ready) for step in steps)
    launch = launch._replace(model=ready[first.name].model, members=members)
    if len(steps) == 1:
        return launch._replace(agent=first.worker.agent)
    needs = {step.name: list(step.needs) for step in steps}
    return launch._replace(branch_name=first.name, metadata={**(launch.metadata or {}), STEPS: needs})


def _parallel(typed: int | None, written: int | None) -> int:
    """How many agents may work at a time: as it was typed, as it is written, or the usual number."""
    if typed is not None and not 1 <= typed <= MOST_PARALLEL:
        raise WrongUsage(f"--parallel must be from 1 to {MOST_PARALLEL}.")
    return typed or written or PARALLEL


def why_ended(exit_code: int, sentence: str | None) -> str:
    """Why a run did not complete, as a sentence: what its agents say, or what stopped them."""
    return full_stop(sentence or STOPPED.get(exit_code) or f"It ended with exit code {exit_code}")


def usage_values(call: Call, session_id: str) -> dict[str, Any] | None:
    """What a run consumed, by model, for programs; None where that cannot be read now."""
    from lionstudio.services.sessions import get_usage

    with suppress(Error):  # the database is away; its agents have answered all the same
        return {model: used._asdict() for model, used in get_usage(call.ctx, session_id).items()}
    return None


def _print(call: Call, begun: Launched, results: Results, done: Done) -> None:
    session_id = begun.run.session_id
    if call.out.as_json:
        call.out.json(
            {
                "session_id": session_id,
                "name": begun.launch.name,
                "kind": begun.launch.kind,
                "status": status_from_exit_code(begun.exit_code).value,
                "exit_code": begun.exit_code,
                "sentence": done.sentence,
                "answer": done.answer,
                "usage": usage_values(call, session_id),
                "steps": [_as_json(result) for result in results.values()],
            }
        )
        return
    if done.answer is not None:
        call.out.say_answer(done.answer)
    if done.exit_code or done.sentence:
        call.out.say(f"{why_ended(done.exit_code, done.sentence)} li runs show {session_id} shows more.")


def _as_json(result: Result) -> dict[str, Any]:
    done = result.done
    return {
        "name": result.step.name,
        "needs": list(result.step.needs),
        "status": result.status,
        "model": done.model,
        "answer": done.answer,
        "exit_code": None if done.branch_id is None else done.exit_code,
        "reason": done.reason,
        "sentence": done.sentence,
        "branch_id": done.branch_id,
        "seconds": round(result.seconds, 3),
    }
