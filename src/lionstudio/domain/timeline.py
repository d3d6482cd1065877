"""Timeline: who was busy when, in each branch of a run, derived from the times between its messages."""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from lionstudio.domain.activity import ActivityKind
from lionstudio.domain.conversation import MessageKind

SPANS_OF_A_BRANCH = 500  # more cannot be told apart on a screen
SPANS_OF_A_RUN = 4_000
FEWEST_SPANS = 20
STEPS_OF_A_RUN = 3_000  # that are read to derive its spans, however many messages it has
FEWEST_STEPS = 60
PARTS = 8  # into which a time is divided that is looked at more closely

_SPEAKS = frozenset({MessageKind.ASSISTANT, MessageKind.TOOL_CALL})  # what a model says


class Step(NamedTuple):
    """One message of a branch, as far as time is concerned."""

    position: int  # in the branch's history
    at: float
    kind: MessageKind
    tool: str | None = None


class Span(NamedTuple):
    """A time in which a branch waited for one of them: the model, a tool or a person."""

    kind: ActivityKind
    from_at: float
    to_at: float
    position: int  # of the message to look at: a tool's call, else the answer
    tool: str | None = None

    @property
    def seconds(self) -> float:
        return self.to_at - self.from_at


def spans_allowed(branches: int) -> int:
    """Into how many spans each branch of a run may fall, so that the whole stays small."""
    return max(FEWEST_SPANS, min(SPANS_OF_A_BRANCH, SPANS_OF_A_RUN // max(1, branches)))


def steps_allowed(messages: Sequence[int]) -> int:
    """How many steps of each branch are read, where branches have so many messages."""
    if sum(messages) <= STEPS_OF_A_RUN:
        return STEPS_OF_A_RUN
    return max(FEWEST_STEPS, STEPS_OF_A_RUN // len(messages))


def telling_steps(read: Callable[[list[int]], list[Step]], first: int, last: int, *, limit: int) -> list[Step]:
    """About `limit` steps of a long branch, from position `first` to `last`, that tell who was busy when.

    Evenly taken ones at first; then what took longest is divided again and again, so that whatever is long enough to be
    seen is known message by message. What passed quickly stays untold.
    """
    steps = read(_evenly(first, last, max(2, limit // 4)))
    while len(steps) < limit and (wanted := _where_to_look(steps, limit // 4)):
        steps = sorted([*steps, *read(wanted)], key=lambda step: step.position)
    return steps


def _evenly(first: int, last: int, count: int) -> list[int]:
    """So many positions from one to another, both among them."""
    count = min(count, last - first + 1)
    return [first + number * (last - first) // (count - 1) for number in range(count)] if count > 1 else [first]


def _where_to_look(steps: Sequence[Step], limit: int) -> list[int]:
    """Positions within the longest times between steps that are no neighbours."""
    seen = (steps[-1].at - steps[0].at) / SPANS_OF_A_BRANCH if steps else 0.0
    gaps = [
        (after.at - before.at, before.position, after.position)
        for before, after in pairwise(steps)
        if after.position > before.position + 1 and after.at - before.at > seen
    ]
    longest = sorted(gaps, reverse=True)[: max(1, limit // PARTS)]
    return [position for _, before, after in longest for position in _evenly(before, after, PARTS + 1)[1:-1]]


def derive_spans(
    steps: Sequence[Step],
    *,
    began_at: float | None = None,
    interactive: bool = False,
    limit: int = SPANS_OF_A_BRANCH,
) -> list[Span]:
    """Who was busy between the messages of a branch, at most `limit` spans; what it waits for now is not among them.

    Only in an `interactive` one a person is waited for; elsewhere whoever speaks next may be another program.
    """
    waits = _waits(steps, began_at)
    return _fewer(_joined(span for span in waits if interactive or span.kind is not ActivityKind.HUMAN), limit)


def _waits(steps: Sequence[Step], began_at: float | None) -> Iterable[Span]:
    if steps and began_at is not None and steps[0].kind in _SPEAKS and began_at < steps[0].at:
        yield Span(ActivityKind.MODEL, began_at, steps[0].at, steps[0].position)
    open_calls: list[Step] = []  # without a look at their ids: which one is answered does not change who is busy
    for before, after in pairwise(steps):
        if before.kind is MessageKind.TOOL_CALL:
            open_calls.append(before)
        elif before.kind is MessageKind.TOOL_RESULT and open_calls:
            open_calls.pop(0)
        elif before.kind is MessageKind.USER:
            open_calls.clear()
        is_untold = after.position > before.position + 1  # by the messages between, which passed quickly
        if after.at > before.at and open_calls:
            call = open_calls[0]
            yield Span(ActivityKind.TOOL, before.at, after.at, call.position, call.tool)
        elif after.at > before.at and is_untold:
            yield Span(ActivityKind.MODEL, before.at, after.at, after.position)
        elif after.at > before.at and (kind := _busy_between(before.kind, after.kind)) is not None:
            yield Span(kind, before.at, after.at, after.position)
        if is_untold:
            open_calls.clear()


def _busy_between(before: MessageKind, after: MessageKind) -> ActivityKind | None:
    if after in _SPEAKS:
        return ActivityKind.MODEL
    if after is MessageKind.USER and before is MessageKind.ASSISTANT:
        return ActivityKind.HUMAN
    return None


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Spans of one kind that touch are one."""
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last is not None and last.kind is span.kind and last.tool == span.tool and last.to_at == span.from_at:
            joined[-1] = last._replace(to_at=span.to_at)
        else:
            joined.append(span)
    return joined


def _fewer(spans: list[Span], limit: int) -> list[Span]:
    """At most `limit` spans: what is too short to be seen becomes one with its neighbours, named by the longest."""
    if len(spans) <= limit:
        return spans
    begin = spans[0].from_at
    width = (spans[-1].to_at - begin) / limit
    buckets: dict[int, list[Span]] = {}
    for span in spans:
        number = min(limit - 1, int((span.from_at - begin) / width)) if width > 0 else 0
        buckets.setdefault(number, []).append(span)
    return [_as_one(bucket) for bucket in buckets.values()]


def _as_one(spans: list[Span]) -> Span:
    totals: dict[ActivityKind, float] = {}
    for span in spans:
        totals[span.kind] = totals.get(span.kind, 0.0) + span.seconds
    kind = max(totals, key=totals.__getitem__)
    longest = max((span for span in spans if span.kind is kind), key=lambda span: span.seconds)
    return longest._replace(from_at=spans[0].from_at, to_at=spans[-1].to_at)
