"""JSON text: any Python string and any integer survives, and what is no JSON says so."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.json_text import from_json, to_json

# NUL and lone surrogates, too; but two that make a pair are one character in JSON.
PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
text = st.text(st.characters(codec=None)).filter(lambda one: not PAIR.search(one))
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
)
HUGE = 7**20_000  # more digits than Python prints


@given(values)
def test_any_value_comes_back_equal_and_its_text_is_plain_ascii(value):
    written = to_json(value)
    assert from_json(written) == value
    assert written.isascii()
    assert "\0" not in written


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("nul \0, lone \ud800, low \ude00", id="text no column takes"),
        pytest.param({"": "", "é": "😀"}, id="empty and other keys"),
        pytest.param(5e-324, id="the smallest float"),
        pytest.param(HUGE, id="an integer Python does not print"),
        pytest.param({"deep": [1, {"n": -HUGE, "m": HUGE + 1}], "true": True}, id="such integers deep within"),
        pytest.param([10**4299, 10**4300, 2**14_000, -(2**14_000)], id="integers at the limit of printing"),
        pytest.param({"mark": "huge-integer-0", "huge-integer-1": HUGE}, id="text that looks like our mark"),
        pytest.param(["huge-integer-0", "huge-integer-x0", 'a"huge-integer-', HUGE, HUGE], id="more of such text"),
    ],
)
def test_what_is_hard_to_write_comes_back_equal(value):
    assert from_json(to_json(value)) == value


def test_a_float_keeps_its_sign_and_an_integer_stays_one():
    assert math.copysign(1, from_json(to_json(-0.0))) == -1
    assert type(from_json(to_json(1))) is int
    assert type(from_json(to_json(1.0))) is float


def test_text_is_as_short_as_it_can_be():
    assert to_json({"a": [1, 2.5, None, True, "é"]}) == r'{"a":[1,2.5,null,true,"\u00e9"]}'


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def circle():
    loop = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        pytest.param({"a": {1, 2}}, "not JSON", id="a set"),
        pytest.param(object(), "not JSON", id="an object"),
        pytest.param(b"bytes", "not JSON", id="bytes"),
        pytest.param(math.nan, "not JSON", id="not a number"),
        pytest.param([math.inf], "not JSON", id="infinity"),
        pytest.param({("a", "b"): 1}, "not JSON", id="a key that is no text"),
        pytest.param(circle(), "nested too deeply to be stored, or holds itself", id="a circle"),
        pytest.param(nested(100_000), "nested too deeply", id="too deep"),
        pytest.param([HUGE, {1, 2}], "not JSON", id="a set beside an integer Python does not print"),
        pytest.param([HUGE, math.nan], "not JSON", id="not a number beside such an integer"),
    ],
)
def test_what_is_no_json_is_refused_with_the_place_of_trouble(value, complaint):
    with pytest.raises(InvalidContent, match=f"The details is {complaint}"):
        to_json(value, what="details")
