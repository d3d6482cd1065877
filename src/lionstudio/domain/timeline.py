"""Timeline: who was busy when, in each branch of a run, derived from the times between its messages."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from lionstudio.domain.activity import ActivityKind
from lionstudio.domain.conversation import MessageKind

SPANS_OF_A_BRANCH = 500  # more cannot be told apart on a screen
SPANS_OF_A_RUN = 4_000
FEWEST_SPANS = 20

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
        if after.at <= before.at:
            continue
        if open_calls:
            call = open_calls[0]
            yield Span(ActivityKind.TOOL, before.at, after.at, call.position, call.tool)
        elif (kind := _busy_between(before.kind, after.kind)) is not None:
            yield Span(kind, before.at, after.at, after.position)


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
