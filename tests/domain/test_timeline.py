"""Who was busy when."""

from itertools import pairwise

import pytest

from lionstudio.domain.activity import ActivityKind
from lionstudio.domain.conversation import MessageKind
from lionstudio.domain.timeline import (
    FEWEST_SPANS,
    FEWEST_STEPS,
    SPANS_OF_A_BRANCH,
    SPANS_OF_A_RUN,
    STEPS_OF_A_RUN,
    Span,
    Step,
    derive_spans,
    spans_allowed,
    steps_allowed,
    telling_steps,
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


@pytest.mark.parametrize("count", [3_500, 10_000, 100_000])
def test_of_a_long_branch_few_steps_are_read_and_every_long_wait_is_found(count: int) -> None:
    kinds = ("user", "tool_call a", "tool_result a", "assistant")
    waits = {count // 3 | 3: 7_200.0, count // 2 // 4 * 4 + 2: 3_600.0}  # before these, for a person and for a tool
    many, at = [], 0.0
    for number in range(count):
        at += waits.get(number + 1, 0.01)
        many.append(Step(number + 8, at, MessageKind(kinds[number % 4].split()[0]), "a"))
    asked = []

    def read(positions: list[int]) -> list[Step]:
        asked.extend(positions)
        return [many[position - 8] for position in positions]

    found = telling_steps(read, 8, count + 7, limit=STEPS_OF_A_RUN)
    assert (found[0], found[-1]) == (many[0], many[-1])
    assert len(asked) == len(set(asked)) < 1.3 * STEPS_OF_A_RUN
    exact = {span for span in derive_spans(many, interactive=True, limit=count) if span.seconds > 60}
    assert {span for span in derive_spans(found, interactive=True, limit=count) if span.seconds > 60} == exact
    assert len(exact) == 2


def test_what_passed_too_quickly_to_be_read_leaves_no_hole_and_no_open_call() -> None:
    call, later = Step(1, 0.0, MessageKind.TOOL_CALL, "a"), Step(9, 10.0, MessageKind.TOOL_RESULT, "a")
    question, answer = Step(20, 20.0, MessageKind.USER), Step(21, 25.0, MessageKind.ASSISTANT)
    assert derive_spans([call, later, question, answer]) == [Span(TOOL, 0.0, 10.0, 1, "a"), Span(MODEL, 10.0, 25.0, 20)]


def test_many_branches_share_what_is_read_of_a_run() -> None:
    assert steps_allowed([]) == steps_allowed([STEPS_OF_A_RUN]) == STEPS_OF_A_RUN
    assert steps_allowed([STEPS_OF_A_RUN, 1]) == STEPS_OF_A_RUN // 2
    assert steps_allowed([1_000] * 10_000) == FEWEST_STEPS


def test_many_branches_share_what_a_run_may_have() -> None:
    assert spans_allowed(1) == SPANS_OF_A_BRANCH
    assert spans_allowed(40) == SPANS_OF_A_RUN // 40
    assert spans_allowed(100_000) == FEWEST_SPANS
    assert spans_allowed(0) == SPANS_OF_A_BRANCH
