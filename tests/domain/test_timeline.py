"""Who was busy when."""

from itertools import pairwise

import pytest

from lionstudio.domain.activity import ActivityKind
from lionstudio.domain.conversation import MessageKind
from lionstudio.domain.timeline import (
    FEWEST_SPANS,
    SPANS_OF_A_BRANCH,
    SPANS_OF_A_RUN,
    Span,
    Step,
    derive_spans,
    spans_allowed,
)

MODEL, TOOL, HUMAN = ActivityKind.MODEL, ActivityKind.TOOL, ActivityKind.HUMAN


def steps(*kinds: str, every: float = 10.0) -> list[Step]:
    """Messages of these kinds, one each ten seconds; a tool's name may follow its kind."""
    found = []
    for number, words in enumerate(kinds):
        kind, _, tool = words.partition(" ")
        found.append(Step(number + 1, number * every, MessageKind(kind), tool or None))
    return found


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        pytest.param(("user", "assistant"), [Span(MODEL, 0, 10, 2)], id="a question waits for the model"),
        pytest.param(("assistant", "user"), [Span(HUMAN, 0, 10, 2)], id="an answer waits for the person"),
        pytest.param(("system", "user"), [], id="before the first question nobody works"),
        pytest.param(
            ("tool_call bash", "tool_result bash", "assistant"),
            [Span(TOOL, 0, 10, 1, "bash"), Span(MODEL, 10, 20, 3)],
            id="a call waits for its tool, and its result for the model",
        ),
        pytest.param(
            ("tool_call a", "tool_call b", "tool_result a", "tool_result b", "assistant"),
            [Span(TOOL, 0, 20, 1, "a"), Span(TOOL, 20, 30, 2, "b"), Span(MODEL, 30, 40, 5)],
            id="of calls at once the oldest counts until it is answered",
        ),
        pytest.param(
            ("tool_call a", "user", "assistant"),
            [Span(TOOL, 0, 10, 1, "a"), Span(MODEL, 10, 20, 3)],
            id="a new question forgets calls without a result",
        ),
        pytest.param(
            ("assistant", "assistant", "tool_call a"), [Span(MODEL, 0, 20, 2)], id="what touches and is alike is one"
        ),
        pytest.param((), [], id="nothing was said"),
    ],
)
def test_who_is_busy_between_messages(kinds: tuple[str, ...], expected: list[Span]) -> None:
    assert derive_spans(steps(*kinds), interactive=True) == expected
    alone = [span for span in expected if span.kind is not HUMAN]
    assert derive_spans(steps(*kinds)) == alone  # nobody knows who spoke


def test_a_branch_that_begins_with_an_answer_waited_for_the_model() -> None:
    answer = [Step(4, 50.0, MessageKind.ASSISTANT)]
    assert derive_spans(answer, began_at=20.0) == [Span(MODEL, 20.0, 50.0, 4)]
    assert derive_spans(answer, began_at=60.0) == []  # imported later than it was said


def test_a_clock_that_jumps_back_makes_no_span() -> None:
    back = [Step(1, 10.0, MessageKind.USER), Step(2, 5.0, MessageKind.ASSISTANT), Step(3, 6.0, MessageKind.USER)]
    assert derive_spans(back, interactive=True) == [Span(HUMAN, 5.0, 6.0, 3)]


def test_thousands_of_messages_become_few_spans_that_cover_the_same_time() -> None:
    kinds = ("user", "tool_call a", "tool_result a", "assistant")
    many = steps(*(kinds[number % 4] for number in range(20_000)), every=1.0)
    spans = derive_spans(many, limit=100)
    assert len(spans) <= 100
    assert (spans[0].from_at, spans[-1].to_at) == (0.0, 19_999.0)
    assert all(one.to_at <= other.from_at for one, other in pairwise(spans))
    assert {span.kind for span in spans} == {MODEL}  # half of the time


def test_many_branches_share_what_a_run_may_have() -> None:
    assert spans_allowed(1) == SPANS_OF_A_BRANCH
    assert spans_allowed(40) == SPANS_OF_A_RUN // 40
    assert spans_allowed(100_000) == FEWEST_SPANS
    assert spans_allowed(0) == SPANS_OF_A_BRANCH
