"""What Claude Code consumed: its messages say it one by one and not finally, its results in running totals."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lionstudio.domain.usage import NO_USAGE, TOKEN_KINDS, Usage, usage_of
from lionstudio.engines.json_lines import Fields, fields_in, text

# Our word for a kind of token, and theirs: in a message, and in the totals by model.
_IN_MESSAGE = {
    "input_tokens": "input_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
    "output_tokens": "output_tokens",
}
_IN_TOTALS = {
    "input_tokens": "inputTokens",
    "cache_read_tokens": "cacheReadInputTokens",
    "cache_write_tokens": "cacheCreationInputTokens",
    "output_tokens": "outputTokens",
    "reasoning_tokens": "thinkingTokens",
}
SMALLEST_COST = 1e-9  # dollars; less is what adding up floats leaves
# How names of one model differ: by a date, by the size of its window, by who hosts it.
_VARYING = re.compile(r"\[[^\]]*\]\Z|[-@]\d{8}(?=\Z|-v\d|\[)|-v\d+:\d+\Z|\A.*(?:anthropic\.|/)")


def usage_in_message(fields: Any) -> Usage:
    """What one answer of the model consumed, as far as it is known."""
    reported = fields_in(fields)
    thought = fields_in(reported.get("output_tokens_details")).get("thinking_tokens")
    return _usage({kind: reported.get(name) for kind, name in _IN_MESSAGE.items()} | {"reasoning_tokens": thought})


def usage_in_totals(fields: Any) -> Usage:
    """What all answers of one model consumed, and what that cost."""
    reported = fields_in(fields)
    counts = {kind: reported.get(name) for kind, name in _IN_TOTALS.items()}
    return _usage({**counts, "cost_usd": reported.get("costUSD")})


def is_nothing(usage: Usage) -> bool:
    return not any(getattr(usage, kind) for kind in TOKEN_KINDS) and abs(usage.cost_usd or 0) < SMALLEST_COST


def at_least_nothing(usage: Usage) -> Usage:
    """The usage without what is less than nothing, which no message can say."""
    cost = usage.cost_usd
    counts = {kind: max(0, getattr(usage, kind)) for kind in TOKEN_KINDS}
    return Usage(**counts, cost_usd=None if cost is None or cost < SMALLEST_COST else cost)


def _usage(counts: Mapping[str, Any]) -> Usage:
    found = usage_of({"usage": counts})
    return NO_USAGE if found is None else found[1]


def _read(usage: Usage) -> int:
    """Tokens that a model read: known from the beginning of an answer, unlike those that it writes."""
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens


class Accounts:
    """What the messages of a run say that it consumed, against what the program itself says."""

    def __init__(self, before: Mapping[str, Any] = {}, *, goes_on: bool = False) -> None:
        self._before = {model: usage_in_totals(total) for model, total in before.items()}
        self._goes_on = goes_on  # with a conversation that consumed something before
        self._counted: dict[str, Usage] = {}
        self._total: dict[str, Usage] = {}
        self._cost_told = 0.0

    def count(self, model: str, usage: Usage) -> None:
        """Something that messages say now, more or less than before."""
        self._counted[model] = self._counted.get(model, NO_USAGE).plus(usage)

    def report(self, result: Fields, model: str) -> None:
        """What a result says. `model` is what it speaks of where it names none."""
        since, running = result.get("model_usage_since_last_result"), fields_in(result.get("modelUsage"))
        if isinstance(since, dict):
            for name, part in self._named(since):
                self._total[name] = self._total.get(name, NO_USAGE).plus(part)
        elif running and (totals := self._of_this_run(dict(self._named(running)))) is not None:
            self._total.update(totals)  # running totals: the last one counts
        else:
            part = usage_in_message(result.get("usage"))
            self._total[model] = self._total.get(model, NO_USAGE).plus(part)
            if not self._goes_on:  # else it may be what the whole conversation cost
                self._report_cost(result, model)

    def _of_this_run(self, running: Mapping[str, Usage]) -> Mapping[str, Usage] | None:
        """Running totals without what an earlier run consumed, which some versions include; None if nobody can tell."""
        if not self._goes_on:
            return running
        rest = {model: total.minus(self._before.get(model, NO_USAGE)) for model, total in running.items()}
        for candidate in (rest, running):
            if all(_read(candidate.get(model, NO_USAGE)) == _read(known) for model, known in self._counted.items()):
                return candidate
        includes = all(_read(rest.get(model, NO_USAGE)) > _read(known) for model, known in self._counted.items())
        return rest if self._before and includes else None

    def missing(self) -> Iterator[tuple[str, Usage]]:
        """By model, what no message says yet."""
        for model, total in self._total.items():
            rest = total.minus(self._counted.get(model, NO_USAGE))
            if not is_nothing(rest):
                yield model, rest

    def _report_cost(self, result: Fields, model: str) -> None:
        cost = _usage({"cost_usd": result.get("total_cost_usd")}).cost_usd
        if cost is not None and cost > self._cost_told:  # a running total, too
            self._total[model] = self._total[model].plus(Usage(cost_usd=cost - self._cost_told))
            self._cost_told = cost

    def _named(self, by_model: Fields) -> Iterator[tuple[str, Usage]]:
        """Each total under the name that its messages have."""
        known = {plain_name(model): model for model in self._counted}
        for name, total in by_model.items():
            canonical = text(fields_in(total).get("canonicalModel")) or name
            yield known.get(plain_name(name)) or known.get(plain_name(canonical)) or name, usage_in_totals(total)


def plain_name(model: str) -> str:
    """The name of a model without what differs from place to place."""
    before = None
    while before != model:
        before, model = model, _VARYING.sub("", model)
    return model
