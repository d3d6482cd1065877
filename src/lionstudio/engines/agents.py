"""Agents at the steps of a run: who does each is known before anything begins; each works in a branch of its own."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.errors import InvalidRequest
from lionstudio.engines.engine import Engine, Event, Process, Task
from lionstudio.engines.flow import Done, Results
from lionstudio.engines.known import engine_for, require, require_possible
from lionstudio.engines.launch import Launched
from lionstudio.engines.passing import ask
from lionstudio.engines.steps import Step, Worker
from lionstudio.engines.working import work
from lionstudio.recorders.branch import BranchRecorder
from lionstudio.recorders.processes import record_agent
from lionstudio.recorders.stopping import Stopping

Watch = Callable[[Step, Event], None]  # is called in the threads of the steps


class Ready(NamedTuple):
    """An agent that can begin."""

    engine: Engine
    task: Task  # without a prompt; its system prompt is that of a profile, which has no placeholders
    model: str  # ENGINE/MODEL, as it was named


def make_ready(steps: Sequence[Step], home: str, *, model: str | None = None) -> dict[str, Ready]:
    """An agent for each step; `model` is for those that name none. Raises why one cannot begin."""
    return {step.name: ready_for(step.worker, home, model) for step in steps}


def ready_for(worker: Worker, home: str, model: str | None) -> Ready:
    """Who does what a worker says; raises what makes that impossible."""
    system = None
    if worker.agent is not None:
        from lionstudio.engines.profile import find_profile

        profile = find_profile(home, worker.agent)
        worker = worker._replace(
            model=worker.model or profile.model,
            effort=worker.effort or profile.effort,
            tools=worker.tools if worker.tools is not None else profile.tools,
        )
        system = profile.system
    name = worker.model or model
    if name is None:
        raise InvalidRequest(
            "It names neither a model nor an agent.", hint="Say --model ENGINE/MODEL for all that name none."
        )
    engine, its_model = engine_for(name)
    require(engine)
    task = Task("", model=its_model, effort=worker.effort, tools=worker.tools, system=system)
    require_possible(engine, task)
    return Ready(engine, task, name)


class Crew:
    """The agents of one run, at work."""

    def __init__(
        self,
        launched: Launched,
        steps: Sequence[Step],
        ready: Mapping[str, Ready],
        values: Mapping[str, str],
        watch: Watch | None = None,
    ) -> None:
        self._launched = launched
        self._steps = steps
        self._ready = ready
        self._values = values
        self._watch = watch
        self._first = first_step(steps).name

    def do(self, step: Step, before: Results, stopping: Stopping) -> Done:
        """Let the agent of a step do it; called in a thread of its own."""
        ready = self._ready[step.name]
        asked = ask(step, self._values, before)
        for need in asked.cut:
            self._launched.say(f"cut {need}", f"The answer of {need} is long: {step.name} is given a part of it.")
        branch = self._branch(step, ready)
        member = member_of(step, self._steps, self._ready)
        task = ready.task._replace(
            prompt=asked.prompt,
            system=asked.system or ready.task.system,
            env=self._launched.env(branch, member=member),
            ends_with_us=not self._is_alone,  # its process is written down nowhere, and nobody would hear its answer
        )
        task = task._replace(system=self._launched.system(ready.engine.name, task, member=member))
        watch = self._watch
        worked = work(
            ready.engine,
            task,
            branch,
            stopping=stopping,
            watch=None if watch is None else lambda event: watch(step, event),
            on_process=self._record_process if self._is_alone else None,
        )
        self._launched.save("answer.md" if self._is_alone else f"{step.name}.md", worked)
        return Done(worked.answer, worked.exit_code, worked.reason, worked.sentence, branch.id, ready.model)

    @property
    def _is_alone(self) -> bool:
        return len(self._steps) == 1

    def _record_process(self, process: Process) -> None:
        """One agent alone is the process of the run; several are ours, which stops them all."""
        record_agent(self._launched.run, process.pid, process.command)

    def _branch(self, step: Step, ready: Ready) -> BranchRecorder:
        """The run begins with the branch of its first agent, so that no branch stays empty."""
        run = self._launched.run
        return run if step.name == self._first else run.agent(step.name, model=ready.model)


def member_of(step: Step, steps: Sequence[Step], ready: Mapping[str, Ready]) -> str:
    """Who does a step, to a team and to the agent itself: one alone is known by what it is, several by what they do."""
    return step.name if len(steps) > 1 else step.worker.agent or ready[step.name].engine.name


def first_step(steps: Sequence[Step]) -> Step:
    """The step that begins first."""
    return next(step for step in steps if not step.needs)
