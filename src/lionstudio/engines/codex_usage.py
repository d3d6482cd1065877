"""What Codex consumed: it says the total of a whole conversation, again and again."""

from collections.abc import Mapping
from typing import Any

from lionstudio.domain.usage import NO_USAGE, Usage, usage_of
from lionstudio.engines.json_lines import Fields, fields_in

NAMES = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens")


class RunningTotal:
    """The total of a conversation, and what came to it since somebody last asked."""

    def __init__(self, before: Mapping[str, Any], *, goes_on: bool) -> None:
        # Where nobody knows the total of a conversation that goes on, its first turn cannot be told from the rest.
        self._known: dict[str, int] | None = None if goes_on and not before else _counts(before)

    def grow(self, reported: Any) -> Usage | None:
        """What a turn consumed; None if nobody can tell."""
        before, now = self._known, _counts(fields_in(reported))
        self._known = now
        if before is None:
            return None
        # A smaller total is that of another conversation.
        whole = any(now[name] < before[name] for name in NAMES)
        return _usage({name: now[name] - (0 if whole else before[name]) for name in NAMES})


def _counts(fields: Fields) -> dict[str, int]:
    return {name: _usage({"output_tokens": fields.get(name)}).output_tokens for name in NAMES}


def _usage(counts: Mapping[str, Any]) -> Usage:
    cached, written = counts.get("cached_input_tokens", 0), counts.get("cache_write_input_tokens", 0)
    told = usage_of(
        {
            "usage": {
                "input_tokens": max(0, counts.get("input_tokens", 0) - cached - written),  # theirs include the cached
                "cache_read_tokens": cached,
                "cache_write_tokens": written,
                "output_tokens": counts.get("output_tokens"),
                "reasoning_tokens": counts.get("reasoning_output_tokens"),
            }
        }
    )
    return NO_USAGE if told is None else told[1]
