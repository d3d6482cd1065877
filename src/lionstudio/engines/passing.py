"""What one step passes on to those that need it: its answer, as text in their prompts, and never without bounds."""

from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.engines.flow import Result, Results
from lionstudio.engines.placeholders import STEPS, fill, find_placeholders
from lionstudio.engines.steps import Step

MOST_PASSED = 200_000  # characters of all answers that one step is given; a model reads no more than some such number
NO_ANSWER = "(It gave no answer.)"


class Asked(NamedTuple):
    """What a step asks its agent, with nothing left to fill in."""

    prompt: str
    system: str | None
    cut: tuple[str, ...] = ()  # steps of whose answers something was left out


def ask(step: Step, values: Mapping[str, str], results: Results) -> Asked:
    """The prompts of a step. An answer that they have no place for stands behind what the agent is asked."""
    system = step.worker.system or ""
    share = MOST_PASSED // max(1, len(step.needs))
    answers = {need: _answer(results[need]) for need in step.needs}
    known = {**values, **{f"{STEPS}{need}": shorten(answer, share) for need, answer in answers.items()}}
    shown = {found.step for text in (step.prompt, system) for found in find_placeholders(text)}
    behind = [
        f"--- The answer of {need} ---\n{known[f'{STEPS}{need}']}\n--- The end of the answer of {need} ---"
        for need in step.needs
        if need not in shown
    ]
    return Asked(
        prompt="\n\n".join([fill(step.prompt, known).rstrip("\n") if behind else fill(step.prompt, known), *behind]),
        system=fill(system, known) or None,
        cut=tuple(need for need, answer in answers.items() if len(answer) > share),
    )


def shorten(text: str, most: int) -> str:
    """A text of at most so many characters, and a few that say how many are missing in its middle."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are left out here …]\n{text[len(text) - half :]}"


def _answer(result: Result) -> str:
    if result.is_completed:
        return result.done.answer or NO_ANSWER
    return f"(It did not complete: {result.done.sentence or result.status})"
