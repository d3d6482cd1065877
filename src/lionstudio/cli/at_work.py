"""Agents at work, as a person at a terminal sees them: a line when one begins, does something else, or is over.

Plain lines, none of which is ever taken back, so that they can be read in any terminal and kept in any log.
"""

import threading
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lionstudio.cli.output import Console, width_of
from lionstudio.domain.conversation import Message, MessageKind, is_tool_error
from lionstudio.domain.message_text import error_text, text_of
from lionstudio.domain.phrases import format_duration
from lionstudio.domain.printable import one_line
from lionstudio.engines.engine import Event, NewBranch, Said

if TYPE_CHECKING:
    from lionstudio.engines.flow import Result
    from lionstudio.engines.steps import Step

EVERY = 1.0  # seconds between two lines of one agent that only say what it does


class AtWork:
    """What the agents of a run are doing. Its methods may be called from any thread."""

    def __init__(self, out: Console, names: Iterable[str]) -> None:
        self._out = out
        self._width = max((width_of(one_line(name)) for name in names), default=0)
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._said_at: dict[str, float] = {}
        self._news: dict[str, News] = {}

    def begins(self, name: str, model: str) -> None:
        self._say(name, f"begins ({model})")

    def does(self, name: str, event: Event) -> None:
        """Something that an agent did; what comes right after it is passed over."""
        if not self._out.is_watched:
            return
        now, words = time.monotonic(), self._news.setdefault(name, News()).words_for(event)
        if words and now - self._said_at.get(name, float("-inf")) >= EVERY:
            self._said_at[name] = now
            self._say(name, words)

    def is_over(self, name: str, status: str, seconds: float, why: str | None = None) -> None:
        self._say(name, f"{status.replace('_', ' ')} after {format_duration(seconds)}" + (f": {why}" if why else ""))

    def step_changed(self, step: "Step", result: "Result | None", model: str) -> None:
        """A step begins, is over, or never begins."""
        if result is None:
            self.begins(step.name, model)
        elif result.done.branch_id is None:
            self._say(step.name, f"{result.status}: {result.done.sentence}")
        else:
            self.is_over(step.name, result.status, result.seconds, result.done.sentence)

    def _say(self, name: str, words: str) -> None:
        with self._lock:
            minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
            self._out.say_live(f"{minutes:3}:{seconds:02}  {one_line(name).ljust(self._width)}  {words}")


class News:
    """What events say that was not said before: a message is told again when more is known of it than its words."""

    def __init__(self) -> None:
        self._told: dict[tuple[str | None, str], int] = {}  # by message: which words

    def words_for(self, event: Event) -> str | None:
        """What an event says in a few words; None for what is not new, or not worth a line."""
        words = words_for(event)
        if words and isinstance(event, Said):
            before, now = self._told.get((event.branch, event.key)), hash(words)
            self._told[event.branch, event.key] = now
            return None if before == now else words
        return words


def words_for(event: Event) -> str | None:
    """What an event says in a few words; None for what is not worth a line."""
    if isinstance(event, NewBranch):
        return f"begins the subagent {event.name or event.key}"
    if not isinstance(event, Said):
        return None
    message = Message("", 0.0, event.role, event.content, event.lion_class)
    if message.kind is MessageKind.TOOL_CALL:
        return text_of(message)
    if message.kind is MessageKind.ASSISTANT:
        return _last_line(text_of(message))
    return f"a tool failed: {_last_line(error_text(message))}" if is_tool_error(message) else None


def _last_line(text: str) -> str:
    """What was said last, which is what an answer that grows has got to."""
    return text.rstrip().rpartition("\n")[2].strip()
