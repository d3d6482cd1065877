"""The answers of the model within Claude Code, and what each of them consumed.

An answer comes in several lines. Its first message says what it consumed, once; that is put right when the end of the
answer or a result tells better, so that the sum over all messages is what the program itself says.
"""

from collections.abc import Iterator
from typing import Any

from lionstudio.domain.usage import NO_USAGE, Usage
from lionstudio.engines.claude_usage import (
    Accounts,
    at_least_nothing,
    is_nothing,
    usage_in_message,
)
from lionstudio.engines.engine import Event, Said, Task
from lionstudio.engines.json_lines import Fields, fields_in, some, text
from lionstudio.engines.saying import as_metadata, notice


class Answer:
    """One answer of the model, as far as it has come."""

    __slots__ = ("branch", "holder", "is_over", "model", "reported", "thought", "usage")

    def __init__(self, branch: str | None, model: str) -> None:
        self.branch = branch
        self.model = model
        self.reported: dict[str, Any] = {}  # its usage in the program's own words
        self.usage = NO_USAGE
        self.holder: Said | None = None  # the message that says what it consumed
        self.thought: Said | None = None  # a message that has thinking in it, and no text yet
        self.is_over = False  # another one came, and what it consumed will not change any more


class Answers:
    """All answers of a run."""

    def __init__(self, task: Task) -> None:
        self._accounts = Accounts(task.totals, goes_on=task.resume is not None)
        self._by_id: dict[str, Answer] = {}
        self._ends: dict[str, dict[str, Any]] = {}  # what ended answers consumed of which nothing was heard yet
        self._latest: dict[tuple[str | None, str], Answer] = {}  # by branch and model: those that may be put right
        self._main = NO_USAGE  # what the answers of the agent itself say
        self._main_told = NO_USAGE  # … and what the results say of them
        self._other: dict[str, Usage] = {}  # by model, what no answer is there for
        self._model = ""

    def open(self, id: str, message: Fields, branch: str | None) -> Answer:
        """The answer that a line belongs to."""
        known = self._by_id.get(id)
        if known is None:
            known = self._by_id[id] = Answer(branch, text(message.get("model")) or self._model)
            known.reported = self._ends.pop(id, {})
            if branch is None:
                self._model = known.model
        return known

    def tell(self, answer: Answer, said: Said, reported: Any) -> Iterator[Event]:
        """A message of an answer, with what is known of its usage by now."""
        said = said._replace(metadata={**said.metadata, **some(model=answer.model)})
        if answer.is_over:  # a line of it came late, and one before it has said what it consumed
            yield said
            return
        if answer.holder is None:
            self._forget(answer)
            self._latest[answer.branch, answer.model] = answer
        if answer.holder is None or answer.holder.key == said.key:
            answer.holder = said
            self._put(answer, _better(answer.reported, reported))
            yield _with_usage(said, answer.usage)
            return
        yield said
        if self._put(answer, _better(answer.reported, reported)):
            yield _with_usage(answer.holder, answer.usage)

    def finish(self, id: str, reported: Any) -> Iterator[Event]:
        """The end of an answer says what it consumed."""
        answer = self._by_id.get(id)
        if answer is None:
            self._ends[id] = _better(self._ends.get(id, {}), reported)
        elif answer.holder is not None and self._put(answer, _better(answer.reported, reported)):
            yield _with_usage(answer.holder, answer.usage)

    def settle(self, result: Fields) -> Iterator[Event]:
        """A result says what the agent's own answers consumed, and what everything cost."""
        self._main_told = self._main_told.plus(usage_in_message(result.get("usage")))
        self._accounts.report(result, self._model)
        models = {model for branch, model in self._latest if branch is None}
        if len(models) == 1:
            yield from self._add(self._model, self._main_told.minus(self._main)._replace(cost_usd=None))
        for model, missing in list(self._accounts.missing()):
            if model in models:
                yield from self._add(model, Usage(cost_usd=missing.cost_usd))

    def close(self) -> Iterator[Event]:
        """What no answer says is of subagents, whose answers do not tell how long they became; else of nobody."""
        for model, missing in list(self._accounts.missing()):
            yield from self._add(model, missing, to_subagents=True)

    def _put(self, answer: Answer, reported: dict[str, Any]) -> bool:
        """Keep what an answer consumed; whether that is something new."""
        if reported == answer.reported and answer.usage is not NO_USAGE:
            return False
        answer.reported = reported
        return self._change(answer, usage_in_message(reported)._replace(cost_usd=answer.usage.cost_usd))

    def _change(self, answer: Answer, usage: Usage) -> bool:
        difference = usage.minus(answer.usage)
        answer.usage = usage
        self._accounts.count(answer.model, difference)
        if answer.branch is None:
            self._main = self._main.plus(difference)
        return not is_nothing(difference)

    def _add(self, model: str, usage: Usage, *, to_subagents: bool = False) -> Iterator[Event]:
        """Put more onto the last answer that may have consumed it, or say it in a message of its own."""
        if is_nothing(usage):
            return
        answer = (self._last_of_subagents(model) if to_subagents else None) or self._latest.get((None, model))
        if answer is not None and answer.holder is not None:
            self._change(answer, at_least_nothing(answer.usage.plus(usage)))
            yield _with_usage(answer.holder, answer.usage)
            return
        total = at_least_nothing(self._other.get(model, NO_USAGE).plus(usage))
        self._other[model] = total
        self._accounts.count(model, usage)
        metadata = {"model": model, "usage": as_metadata(total)}
        yield notice(f"Claude Code used {model} for work of its own.", f"other work of {model}", metadata=metadata)

    def _last_of_subagents(self, model: str) -> Answer | None:
        found = [answer for (branch, used), answer in self._latest.items() if branch is not None and used == model]
        return found[-1] if found else None

    def _forget(self, answer: Answer) -> None:
        """Let go of what the answer before said: it may be long, and nothing about it will change."""
        before = self._latest.pop((answer.branch, answer.model), None)
        if before is not None:
            before.holder = before.thought = None
            before.is_over = True


def _better(known: dict[str, Any], reported: Any) -> dict[str, Any]:
    """What is known of an answer's usage: each line says all of it, the end what became of it; more is later."""
    told = {name: value for name, value in fields_in(reported).items() if value is not None}
    if _count(told) < _count(known):
        told.pop("output_tokens", None)
    return {**known, **told}


def _count(reported: Fields) -> int:
    return usage_in_message(reported).output_tokens


def _with_usage(said: Said, usage: Usage) -> Said:
    return said._replace(metadata={**said.metadata, "usage": as_metadata(usage)})
