"""Lines that no agent should print, for readers that must stand them all."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

WORDS = st.sampled_from(["", "x", "\0", "\ud800", "é", "toolu_1", "item_1", "success", "text", "x" * 5_000, "\u2028\r"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=True, allow_infinity=True), WORDS
)


def values(names: Sequence[str]) -> st.SearchStrategy[Any]:
    """Any JSON at all, made of the names that a stream uses."""
    keys = st.one_of(st.sampled_from(sorted(names)), WORDS)
    return st.recursive(
        SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=6)),
        max_leaves=12,
    )


def names_in(lines: Sequence[str]) -> set[str]:
    """Every name and every short text of these lines: what a reader may look for."""
    found: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            found.update(value)
            for child in value.values():
                look(child)
        elif isinstance(value, list):
            for child in value:
                look(child)
        elif isinstance(value, str) and len(value) < 30:
            found.add(value)

    for line in lines:
        look(json.loads(line))
    return found


def bent(line: str, draw: st.DrawFn, any_value: st.SearchStrategy[Any]) -> str:
    """A real line in which something is cut off or is not what it should be."""
    if draw(st.integers(0, 4)) == 0:
        return line[: draw(st.integers(0, len(line)))]
    fields = json.loads(line)
    place: Any = fields
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or draw(st.booleans()):
            place[key] = draw(any_value)
            break
        place = place[key]
    return json.dumps(fields)


@st.composite
def hostile_streams(draw: st.DrawFn, lines: Sequence[str]) -> list[str]:
    """A captured stream, its lines shuffled, doubled, lost, bent, and others between them."""
    any_value = values(sorted(names_in(lines)))
    chosen = draw(st.lists(st.sampled_from(lines), max_size=12))
    made = [bent(line, draw, any_value) if draw(st.integers(0, 2)) == 0 else line for line in chosen]
    others = draw(st.lists(st.one_of(st.text(max_size=20), any_value.map(json.dumps)), max_size=4))
    return draw(st.permutations([*made, *others]))


HUGE = [
    "[" * 100_000,
    '{"type":"assistant","message":' * 5_000,
    '{"type":"assistant","message":{"content":[{"type":"text","text":"' + "x" * 3_000_000 + '"}]}}',
    '{"type":"assistant","message":{"usage":{"output_tokens":' + "9" * 5_000 + "}}}",
    '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"' + "x" * 3_000_000 + '"}}',
    '{"type":"turn.completed","usage":{"input_tokens":1e999,"output_tokens":-5}}',
    '{"type":"result","modelUsage":{"m":{"inputTokens":-1,"costUSD":1e308}},"usage":NaN}',
    "\0" * 1_000,
    '{"type":"assistant","message":{"id":"\\u0000","content":"\\ud800"},"uuid":"\\udfff"}',
]
