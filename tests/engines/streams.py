"""Captured streams, and what a reader makes of one."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from lionstudio.domain.conversation import MessageKind, kind_of
from lionstudio.domain.usage import NO_USAGE, Usage, usage_of
from lionstudio.engines.engine import Begun, NewBranch, Reader, Said, Unknown

SAMPLES = Path(__file__).parents[1] / "samples"


def lines_of(name: str) -> list[str]:
    """The lines of a captured stream, such as `claude/resumed`."""
    return (SAMPLES / f"{name}.jsonl").read_text().splitlines()


def as_lines(*objects: dict[str, Any]) -> list[str]:
    return [json.dumps(fields) for fields in objects]


class Heard(NamedTuple):
    """What a reader told, as it is when all was told."""

    said: list[Said]
    branches: list[NewBranch]
    begun: list[Begun]
    unknown: list[str]

    def of(self, branch: str | None = None) -> list[tuple[str, Any]]:
        """The messages of a branch: their kind and what they say."""
        return [(kind(one), spoken(one)) for one in self.said if one.branch == branch]

    def one(self, wanted: str) -> Said:
        """The message that says something."""
        return next(one for one in self.said if spoken(one) == wanted)

    @property
    def usage(self) -> dict[str, Usage]:
        """By model, what all messages together say that they consumed."""
        totals: dict[str, Usage] = {}
        for one in self.said:
            reported = usage_of(one.metadata)
            if reported is not None:
                totals[reported[0]] = totals.get(reported[0], NO_USAGE).plus(reported[1])
        return {model: total._replace(cost_usd=_rounded(total.cost_usd)) for model, total in totals.items()}


def hear(reader: Reader, lines: Iterable[str]) -> Heard:
    """Let a reader read a stream to its end. A message that is told again takes its old place."""
    said: dict[tuple[str | None, str], Said] = {}
    heard = Heard([], [], [], [])
    for events in (*map(reader.read, lines), reader.end()):
        for event in events:
            if isinstance(event, Said):
                said[event.branch, event.key] = event
            elif isinstance(event, NewBranch):
                heard.branches.append(event)
            elif isinstance(event, Begun):
                heard.begun.append(event)
            elif isinstance(event, Unknown):
                heard.unknown.append(event.line)
    heard.said.extend(said.values())
    return heard


def kind(said: Said) -> MessageKind:
    return kind_of(said.lion_class, said.role, said.content)


def spoken(said: Said) -> Any:
    """What a message says: its text, or the tool and what it was asked or answered."""
    content = said.content
    match kind(said):
        case MessageKind.USER:
            return content["instruction"]
        case MessageKind.ASSISTANT:
            return content.get("assistant_response", content)
        case MessageKind.TOOL_CALL:
            return content["function"], content["arguments"]
        case MessageKind.TOOL_RESULT:
            return (content["function"], content["output"], *(["error"] if content.get("error") else []))
    return content


def _rounded(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 9)
