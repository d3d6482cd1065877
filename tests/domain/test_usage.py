"""Usage: tokens by kind and money, as a message reports them and as they add up."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.usage import LARGEST_COUNT, NO_USAGE, Usage, usage_of

counts = st.integers(0, 2**40)
costs = st.none() | st.integers(0, 2**20).map(float)
usages = st.builds(Usage, counts, counts, counts, counts, counts, costs)


def test_a_message_reports_its_model_and_tokens_by_kind():
    reported = {
        "input_tokens": 900, "cache_read_tokens": 5, "cache_write_tokens": 6, "output_tokens": 40,
        "reasoning_tokens": 7, "cost_usd": 0.25, "something_else": 1,
    }  # fmt: skip
    assert usage_of({"model": "opus", "usage": reported}) == ("opus", Usage(900, 5, 6, 40, 7, 0.25))


@pytest.mark.parametrize("metadata", [None, {}, {"model": "opus"}, {"usage": None}, {"usage": 5}, {"usage": [1]}])
def test_a_message_without_usage_reports_nothing(metadata):
    assert usage_of(metadata) is None


@pytest.mark.parametrize("model", [None, "", 7, ["opus"]])
def test_usage_without_a_model_is_of_an_unknown_one(model):
    assert usage_of({"model": model, "usage": {"output_tokens": 1}}) == ("unknown", Usage(output_tokens=1))


@pytest.mark.parametrize("count", [None, "many", -1, 1.5, True, LARGEST_COUNT + 1, [3]])
def test_what_is_no_sensible_count_counts_as_nothing(count):
    assert usage_of({"usage": {"input_tokens": count, "output_tokens": 3}}) == ("unknown", Usage(output_tokens=3))


@pytest.mark.parametrize("cost", [None, "free", -0.1, True, math.nan, math.inf, 1e300])
def test_what_is_no_sensible_cost_is_no_cost(cost):
    assert usage_of({"usage": {"cost_usd": cost}}) == ("unknown", NO_USAGE)


@pytest.mark.parametrize(("cost", "expected"), [(0, 0.0), (2, 2.0), (0.015885, 0.015885)])
def test_a_cost_may_be_nothing_and_is_a_number(cost, expected):
    assert usage_of({"usage": {"cost_usd": cost}}) == ("unknown", Usage(cost_usd=expected))


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        pytest.param(None, None, None, id="neither is known"),
        pytest.param(0.5, None, 0.5, id="one is known"),
        pytest.param(None, 0.5, 0.5, id="the other is known"),
        pytest.param(0.5, 0.25, 0.75, id="both are known"),
    ],
)
def test_costs_add_up_as_far_as_they_are_known(one, other, together):
    assert Usage(cost_usd=one).plus(Usage(cost_usd=other)) == Usage(cost_usd=together)


@given(usages, usages)
def test_taking_away_what_was_added_leaves_what_was_there(one, other):
    found = one.plus(other).minus(other)
    assert found[:5] == one[:5]
    assert (found.cost_usd or 0) == (one.cost_usd or 0)


@given(usages, usages, usages)
def test_the_order_of_adding_does_not_matter(one, two, three):
    assert one.plus(two).plus(three) == three.plus(one).plus(two)
    assert one.plus(NO_USAGE) == one
