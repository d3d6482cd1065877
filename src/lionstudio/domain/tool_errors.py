"""Tool errors: which tools failed, how often, and whether in the same way."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from lionstudio.domain.conversation import Message, is_tool_error, tool_of
from lionstudio.domain.message_text import error_text

SENTENCE_LENGTH = 200  # a line may have megabytes; nobody tells two failures apart by what comes later
KINDS_SHOWN = 50  # the most frequent
FAILURES_OF_A_RUN = 1_000  # that are shown, of all kinds together
FAILURES_OF_A_KIND = range(20, 101)
LINES_READ = 2_000  # of one output, its last: what went wrong is said near the end, and an output may have millions
TRACEBACK = "Traceback (most recent call last)"
# How a line begins or reads that says what failed, the one that says most first.
_SAYING = (
    re.compile(r"\A(?:--- )?FAIL(?:ED)?:? +\S"),  # test runners: FAILED tests/test_a.py::test_b - ValueError
    re.compile(r"\AE {2,}\S"),  # pytest, where it failed
    re.compile(r"(?:[Ee]rror|ERROR|Exception|\b[Ff]atal|\bFATAL|\bpanic(?:ked)?)\b.{0,40}:|\bERR!"),
)
# A line that only frames an output: a rule with or without a title, or the bare fact that it failed.
_FRAMING = re.compile(
    r"[^\w]*\Z|[=\-_*#~]{3}|(?:Error: )?(?:[Cc]ommand )?(?:failed with )?[Ee]xit (?:code|status):? -?\d+\Z"
)
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

    def latest(self, limit: int) -> tuple[Failure, ...]:
        """The last so many failures, newest first."""
        return self.failures[: -limit - 1 : -1]

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


def first_failure(groups: Iterable[ToolErrors]) -> Failure | None:
    """The first time that any tool failed."""
    return min((group.failures[0] for group in groups), key=lambda failure: failure.at, default=None)


def failures_shown(kinds: int) -> int:
    """How many failures of each kind are shown where there are so many kinds: few of many, more of few."""
    fewest, most = FAILURES_OF_A_KIND[0], FAILURES_OF_A_KIND[-1]
    return max(fewest, min(most, FAILURES_OF_A_RUN // max(1, min(kinds, KINDS_SHOWN))))


def telling_line(text: str) -> str:
    """The line that says what failed: of a traceback the last one, because they all begin alike; else one that names a
    failure; else the first, or the last where the first only frames what follows.
    """
    lines = [stripped[:SENTENCE_LENGTH] for line in text.splitlines()[-LINES_READ:] if (stripped := line.strip())]
    if len(lines) < 2 or lines[0].startswith(TRACEBACK):
        return lines[-1] if lines else ""
    for saying in _SAYING:
        if found := next((line for line in lines if saying.search(line)), None):
            return found
    if not _FRAMING.match(lines[0]):
        return lines[0]
    return next((line for line in reversed(lines) if not _FRAMING.match(line)), lines[0])


def masked(sentence: str) -> str:
    """A sentence without the ids and numbers in it."""
    return _VARYING.sub("#", sentence)
