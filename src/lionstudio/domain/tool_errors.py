"""Tool errors: which tools failed, how often, and whether in the same way."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from lionstudio.domain.conversation import Message, is_tool_error, tool_of
from lionstudio.domain.message_text import error_text

SENTENCE_LENGTH = 1_000  # a line may have megabytes; nobody tells two failures apart by what comes later
TRACEBACK = "Traceback (most recent call last)"
# Ids and numbers differ from time to time where the failure is the same.
_VARYING = re.compile(
    r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f-]{0,40}[0-9])[0-9a-f]{7,40}(?:-[0-9a-f]{2,40}){0,8}\b|[0-9]+(?:[.,:][0-9]+)*",
    re.IGNORECASE,
)


class Failure(NamedTuple):
    """One time that a tool failed."""

    message_id: str
    at: float


class ToolErrors(NamedTuple):
    """Times that one tool failed in the same way."""

    tool: str | None
    sentence: str  # the line of what it said the last time that tells most
    failures: tuple[Failure, ...]  # oldest first, one at least

    @property
    def times(self) -> int:
        return len(self.failures)

    @property
    def first_at(self) -> float:
        return self.failures[0].at

    @property
    def last_at(self) -> float:
        return self.failures[-1].at

    @property
    def last_message_id(self) -> str:
        return self.failures[-1].message_id


def group_tool_errors(messages: Iterable[Message]) -> list[ToolErrors]:
    """The failures among tool messages: same tool and same telling line together, the most frequent first.

    Lines that differ only in ids and numbers are the same.
    """
    sentences: dict[tuple[str | None, str], str] = {}
    failures: dict[tuple[str | None, str], list[Failure]] = {}
    for message in messages:
        if is_tool_error(message):
            sentence = telling_line(error_text(message))
            key = tool_of(message.content), masked(sentence)
            sentences[key] = sentence
            failures.setdefault(key, []).append(Failure(message.id, message.created_at))
    groups = [ToolErrors(key[0], sentences[key], tuple(failures[key])) for key in failures]
    return sorted(groups, key=lambda group: -group.times)


def telling_line(text: str) -> str:
    """The first line that says something; of a traceback the last one, because they all begin alike."""
    lines = [stripped for line in text.splitlines() if (stripped := line.strip())]
    if not lines:
        return ""
    return lines[-1 if lines[0].startswith(TRACEBACK) else 0][:SENTENCE_LENGTH]


def masked(sentence: str) -> str:
    """A sentence without the ids and numbers in it."""
    return _VARYING.sub("#", sentence)
