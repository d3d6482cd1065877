"""`li play`: what a playbook asks agents to do, done; `li flow` does the same with any file."""

import os
from collections.abc import Mapping
from typing import Any

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.cli.crew import launch_of, run_crew
from lionstudio.cli.prompt import read_prompt
from lionstudio.domain.session import InvocationKind
from lionstudio.engines.agents import ready_for
from lionstudio.engines.flow import judge
from lionstudio.engines.placeholders import INPUT
from lionstudio.engines.playbook import Check, Playbook, find_playbook
from lionstudio.engines.playbook_arguments import bind_arguments, name_arguments, split_typed


def play(call: Call) -> int:
    """li play"""
    playbook = find_playbook(call.settings.home_folder, call.args.playbook, check_of(call))
    return run_playbook(call, playbook, kind=InvocationKind.PLAY.value, again=f"li play {call.args.playbook}")


def check_of(call: Call) -> Check:
    """What finds out whether the agents of a playbook can begin."""
    return lambda worker: ready_for(worker, call.settings.home_folder, call.args.model)


def run_playbook(call: Call, playbook: Playbook, *, kind: str, again: str) -> int:
    """Fill in what was typed, and let its agents work. `again` is the command, for people who typed it wrong."""
    values = _bind(call, playbook, again)
    if playbook.unused:
        call.out.say(f"{playbook.path}: {', '.join(playbook.unused)} means something to lionagi only; it is not used.")
    launch = launch_of(
        call,
        kind=kind,
        name=playbook.name,
        playbook=playbook.name,
        team=call.args.team_mode or playbook.team,
        metadata=_facts(playbook, values),
    )
    steps = playbook.steps
    if not playbook.uses_input and INPUT in values:  # nothing says where it goes
        steps = tuple(step if step.needs else step._replace(prompt=f"{step.prompt}\n\n{{{INPUT}}}") for step in steps)
    return run_crew(call, launch, steps, values, judge=judge, parallel=playbook.parallel, model=call.args.model)


def _facts(playbook: Playbook, values: Mapping[str, str]) -> dict[str, Any]:
    """What else is kept of the run: where its playbook was, and how it was filled in."""
    told = {
        "cwd": os.getcwd(),
        "playbook_path": os.path.abspath(playbook.path),
        "arguments": {name: value for name, value in values.items() if name != INPUT},
    }
    return {name: fact for name, fact in told.items() if fact}


def _bind(call: Call, playbook: Playbook, again: str) -> dict[str, str]:
    """What the placeholders stand for; raises WrongUsage with all that is wrong with what was typed."""
    typed, words = split_typed(call.args.words)
    values, problems = bind_arguments(playbook.arguments, typed)
    has_place = playbook.uses_input or not playbook.arguments
    if (words or call.args.file) and not has_place:
        extra = repr(words[0] if words else call.args.file)
        problems.append(f"It has no place for {extra}. {name_arguments(playbook.arguments)}")
    elif not problems:
        prompt = read_prompt(words, call.args.file, wanted=playbook.uses_input, within=call.args.timeout)
        if prompt is not None and not has_place:
            problems.append(f"It has no place for what is piped in. {name_arguments(playbook.arguments)}")
        elif prompt is not None:
            values[INPUT] = prompt
        elif playbook.uses_input:
            problems.append("Its {input} is missing: type it after the arguments, pipe it in, or name a --file.")
    problems += [
        f"If '{name}={text}' is text, pipe it in, or name a --file: it begins like an argument."
        for name, text in typed.items()
        if has_place and name not in playbook.arguments and " " in text
    ]
    if problems:
        usage = [again, *(f"{name}=…" for name in playbook.arguments), *(["INPUT"] if playbook.uses_input else [])]
        error = WrongUsage(f"{playbook.name} was not run.", hint=f"Type: {' '.join(usage)}")
        error.problems = [f"{playbook.name}: {problem}" for problem in problems]
        raise error
    return values
