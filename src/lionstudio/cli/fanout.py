"""`li fanout`: the same task for several agents, and one answer of theirs."""

import os

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.cli.crew import launch_of, run_crew
from lionstudio.cli.prompt import read_prompt
from lionstudio.domain.phrases import first_words
from lionstudio.domain.session import InvocationKind
from lionstudio.engines.fanout import AGENTS, MOST_AGENTS, fanout_steps, judge_fanout
from lionstudio.engines.known import names_engine
from lionstudio.engines.placeholders import INPUT
from lionstudio.engines.steps import Worker


def fanout(call: Call) -> int:
    """li fanout"""
    args = call.args
    models, words = _split(args.words, has_file=args.file is not None)
    workers = [*(Worker(model=model) for model in models), *(Worker(agent=name) for name in args.agent or ())]
    if not workers:
        raise WrongUsage("Say which agents: a model, or --agent NAME.", hint='Type: li fanout claude "…"')
    prompt = read_prompt(words, args.file, within=args.timeout)
    if prompt is None:
        said = "A task is missing: what are the agents to do?"
        raise WrongUsage(said, hint="Type it last, pipe it in, or name a --file.")
    count = _count(args.number, len(workers))
    synthesis = None if args.no_synthesis else Worker(model=args.synthesis) if args.synthesis else workers[0]
    steps = fanout_steps(workers, count, synthesis)
    name = first_words(" ".join(prompt.split()))
    launch = launch_of(call, kind=InvocationKind.FANOUT.value, name=name, metadata={"cwd": os.getcwd()})
    return run_crew(call, launch, steps, {INPUT: prompt}, judge=judge_fanout, parallel=count)


def _split(words: list[str], *, has_file: bool) -> tuple[list[str], list[str]]:
    """Models, and the task behind them. Where nothing but models is typed the task is somewhere else."""
    nothing_else = has_file or (bool(words) and names_engine(words[-1]))
    return (words, []) if nothing_else else (words[:-1], words[-1:])


def _count(typed: int | None, workers: int) -> int:
    if typed is None:
        return AGENTS if workers == 1 else workers
    if not 1 <= typed <= MOST_AGENTS:
        raise WrongUsage(f"-n must be from 1 to {MOST_AGENTS}.")
    if typed < workers:
        said = f"-n {typed} is less than the {workers} agents that are named."
        raise WrongUsage(said, hint="Name fewer, or leave -n out.")
    return typed
