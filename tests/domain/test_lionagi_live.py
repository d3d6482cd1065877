"""What recording a live lionagi session works out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.json_text import to_json
from lionstudio.domain.lionagi_live import as_json, in_spans, spans_of


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("No.")


def nested(levels: int) -> Any:
    value: Any = "deepest"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, 2.5, None, True, "x"]}, {"a": [1, 2.5, None, True, "x"]}),
        ({1: (2, 3)}, {"1": [2, 3]}),
        (float("nan"), "nan"),
        ([float("-inf")], ["-inf"]),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        (Unprintable(), "<Unprintable>"),
        (ValueError("what it says"), "what it says"),
    ],
)
def test_anything_becomes_json(value: Any, expected: Any) -> None:
    assert as_json(value) == expected


def test_what_is_nested_without_end_becomes_json() -> None:
    circle: list[Any] = []
    circle.append(circle)
    for value in (nested(10_000), circle):
        assert to_json(as_json(value))


@pytest.mark.parametrize(
    ("stored", "live", "spans"),
    [
        pytest.param("abc", "abc", None, id="the same"),
        pytest.param("", "", None, id="nothing yet"),
        pytest.param("abcd", "dbc", [[4, 4], [2, 3], [5, None]], id="a new system message in the place of the old"),
        pytest.param("abcd", "a", [[1, 1], [5, None]], id="cleared"),
        pytest.param("abcd", "", [[5, None]], id="all forgotten"),
        pytest.param("abcd", "acd", [[1, 1], [3, None]], id="one forgotten"),
        pytest.param("abc", "abcx", None, id="one that is not stored yet"),
    ],
)
def test_a_live_order_is_a_selection_of_what_was_stored(stored: str, live: str, spans: Any) -> None:
    assert spans_of(stored, live) == spans
    assert in_spans(stored, spans) == [name for name in live if name in stored]
    assert in_spans(f"{stored}z", spans)[-1:] == ["z"]  # what is said later belongs to it


@given(stored=st.lists(st.text(min_size=1, max_size=3), unique=True), data=st.data())
def test_any_selection_comes_back(stored: list[str], data: st.DataObject) -> None:
    live = data.draw(st.lists(st.sampled_from(stored), unique=True)) if stored else []
    assert in_spans(stored, spans_of(stored, live)) == live


@pytest.mark.parametrize("nonsense", [[1, 2], [[1]], "ab", [["a", None]], 7])
def test_spans_that_make_no_sense_select_everything(nonsense: Any) -> None:
    assert in_spans("abc", nonsense) == ["a", "b", "c"]
