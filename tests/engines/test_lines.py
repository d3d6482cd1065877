"""Bytes in any pieces, as lines of text."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lionstudio.engines.lines import Lines


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
def test_lines_are_the_same_in_whatever_pieces_they_come(data: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    lines = Lines()
    found = [line for start, end in pairwise(places) for line in lines.feed(data[start:end])]
    found += lines.end()
    whole = data.split(b"\n")
    if not whole[-1]:
        whole.pop()
    whole = [line.removesuffix(b"\r") for line in whole]
    assert found == [line.decode(errors="replace") for line in whole]
    assert lines.has_replaced == any(line.decode(errors="ignore").encode() != line for line in whole)


def test_a_line_without_end_does_not_fill_the_memory() -> None:
    lines = Lines(longest=10)
    assert list(lines.feed(b"0123456")) == []
    assert list(lines.feed(b"789abc" * 1_000)) == []
    assert list(lines.feed(b"\nnext\n")) == ["0123456789", "next"]
