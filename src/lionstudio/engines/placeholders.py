"""Placeholders in a prompt: {name} for an argument, {input}, {steps.NAME} for an answer, {{name}} for the braces alone.

Braces around anything else are text, so that JSON and code in a prompt stay as they are.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

INPUT = "input"
STEPS = "steps."
_NAME = r"[A-Za-z_][\w-]*(?:\.[\w-]+)?"
_PLACEHOLDER = re.compile(rf"\{{\{{(?P<kept>{_NAME})\}}\}}|\{{(?P<name>{_NAME})\}}", re.ASCII)


class Placeholder(NamedTuple):
    """One that is used."""

    name: str
    times: int  # how often this name stood in braces up to here, in single or in double ones

    @property
    def step(self) -> str | None:
        """The step whose answer it stands for."""
        return self.name.removeprefix(STEPS) if self.name.startswith(STEPS) else None


def find_placeholders(text: str) -> Iterator[Placeholder]:
    """Each that is used in a text, from its beginning to its end."""
    seen: Counter[str] = Counter()
    for found in _PLACEHOLDER.finditer(text):
        seen[name := found["name"] or found["kept"]] += 1
        if found["name"]:
            yield Placeholder(name, seen[name])


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled; what a value says is text, whatever is in it."""
    return _PLACEHOLDER.sub(lambda found: f"{{{found['kept']}}}" if found["kept"] else values[found["name"]], text)
