"""The numbers of the dashboard, and what each of them means.

Which runs are slow, took long or failed today is said once, by the views of lists; here it is only counted.
"""

import math
import statistics
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.attention import Concern, Signal, count_signals
from lionstudio.domain.health import DAY, HOUR, MINUTE, SLOW_AFTER, Health, began_at
from lionstudio.domain.session import TERMINAL_STATUSES, Session, SessionStatus
from lionstudio.domain.show import Play
from lionstudio.domain.state import Severity

WINDOW = DAY  # of outcomes and latency
HOURS_SHOWN = WINDOW // HOUR
P95 = 95
# Upper limits of the bars of the histogram, in seconds. One is the limit of slow, so that all bars above it together
# are the runs over 60 minutes.
DURATION_LIMITS: tuple[int, ...] = (
    10, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 30 * MINUTE, SLOW_AFTER, 2 * HOUR, 6 * HOUR,
)  # fmt: skip


class EndedRun(NamedTuple):
    """A run that ended within the window: as much of it as numbers take."""

    status: SessionStatus
    started_at: float | None
    ended_at: float


class AttentionNumbers(NamedTuple):
    """The card Attention (R182). A thing counts once, and in each signal that it gives."""

    total: int
    by_signal: Mapping[Signal, int]
    by_severity: Mapping[Severity, int]
    oldest_at: float | None


class ExecutionNumbers(NamedTuple):
    """The card Active executions (R183). An invocation is a show, or a run outside of shows."""

    invocations: int
    sessions: int
    plays: int
    by_health: Mapping[Health, int]  # of the runs; none is a zombie
    oldest_at: float | None


class OutcomeNumbers(NamedTuple):
    """The card Outcomes (R184). Runs by how they ended; plays whose gate asked for changes."""

    completed: int
    failed: int
    timed_out: int
    aborted: int
    cancelled: int
    request_changes: int

    @property
    def pass_rate(self) -> float | None:
        """The completed among all that came to a verdict; nothing when there was none."""
        judged = self.completed + self.failed + self.timed_out + self.request_changes
        return self.completed / judged if judged else None


class LatencyNumbers(NamedTuple):
    """The card Latency (R185), over all runs that ended by themselves and whose beginning is known."""

    measured: int
    p95_seconds: float | None
    median_seconds: float | None
    over_60m: int


class HourNumbers(NamedTuple):
    """One bar of the runs over time: what ended in the hour that begins so."""

    starts_at: float
    by_status: Mapping[SessionStatus, int]


class DurationNumbers(NamedTuple):
    """One bar of the histogram: runs that took longer than `above` and at most `up_to`; the last bar has no end."""

    above: float
    up_to: float | None
    runs: int


class Execution(NamedTuple):
    """One invocation that is at work: a show by its topic, or a run outside of shows."""

    topic: str | None
    session: Session | None  # of a run outside of shows
    runs: tuple[Session, ...]  # of it that run
    plays: int
    since: float


def derive_attention(concerns: Sequence[Concern]) -> AttentionNumbers:
    severities = Counter(concern.severity for concern in concerns)
    return AttentionNumbers(
        total=len(concerns),
        by_signal=count_signals(concerns),
        by_severity={severity: severities[severity] for severity in Severity},
        oldest_at=min((concern.since for concern in concerns), default=None),
    )


def derive_executions(
    running: Iterable[Session], plays: Iterable[tuple[str, Play]], topics: Mapping[str, str]
) -> list[Execution]:
    """What is at work, the oldest first: from the runs that run, the plays whose agent works, each with its topic, and
    the topics of plays that name a run.
    """
    shows: dict[str, Execution] = {}
    alone: list[Execution] = []
    for session in running:
        topic, since = session.show_topic or topics.get(session.id), began_at(session)
        if topic is None:
            alone.append(Execution(None, session, (session,), 0, since))
        else:
            before = shows.get(topic, Execution(topic, None, (), 0, since))
            shows[topic] = before._replace(runs=(*before.runs, session), since=min(before.since, since))
    for topic, play in plays:
        since = play.updated_at if play.started_at is None else play.started_at
        before = shows.get(topic, Execution(topic, None, (), 0, since))
        shows[topic] = before._replace(plays=before.plays + 1, since=min(before.since, since))
    return sorted([*shows.values(), *alone], key=execution_place)


def execution_place(execution: Execution) -> tuple[float, str]:
    """Where an execution stands in the list."""
    session = execution.session
    return execution.since, f"show:{execution.topic}" if session is None else f"session:{session.id}"


def sum_executions(executions: Sequence[Execution], healths: Iterable[Health]) -> ExecutionNumbers:
    counts = Counter(healths)
    return ExecutionNumbers(
        invocations=len(executions),
        sessions=sum(len(execution.runs) for execution in executions),
        plays=sum(execution.plays for execution in executions),
        by_health={health: counts[health] for health in Health if health is not Health.ZOMBIE},
        oldest_at=min((execution.since for execution in executions), default=None),
    )


def derive_outcomes(ended: Iterable[EndedRun], *, request_changes: int) -> OutcomeNumbers:
    counts = Counter(run.status for run in ended)
    return OutcomeNumbers(
        completed=counts[SessionStatus.COMPLETED],
        failed=counts[SessionStatus.FAILED],
        timed_out=counts[SessionStatus.TIMED_OUT],
        aborted=counts[SessionStatus.ABORTED],
        cancelled=counts[SessionStatus.CANCELLED],
        request_changes=request_changes,
    )


def durations_of(ended: Iterable[EndedRun]) -> list[float]:
    """How long each took, where that is known, the shortest first; never negative, because clocks jump back."""
    return sorted(max(0.0, run.ended_at - run.started_at) for run in ended if run.started_at is not None)


def derive_latency(durations: Sequence[float], *, over_60m: int) -> LatencyNumbers:
    """The card, from sorted durations."""
    if not durations:
        return LatencyNumbers(0, None, None, over_60m)
    p95 = durations[math.ceil(len(durations) * P95 / 100) - 1]  # the shortest that 95 % do not exceed
    return LatencyNumbers(len(durations), p95, statistics.median(durations), over_60m)


def derive_hours(ended: Iterable[EndedRun], *, now: float) -> tuple[HourNumbers, ...]:
    """The window in hours, oldest first. What a clock that was ahead dated in the future is in the last one."""
    begins = now - WINDOW
    counts = Counter((min((run.ended_at - begins) // HOUR, HOURS_SHOWN - 1), run.status) for run in ended)
    words = [status for status in SessionStatus if status in TERMINAL_STATUSES]
    return tuple(
        HourNumbers(begins + number * HOUR, {status: counts[number, status] for status in words})
        for number in range(HOURS_SHOWN)
    )


def derive_histogram(durations: Sequence[float]) -> tuple[DurationNumbers, ...]:
    """How many runs took how long, from sorted durations."""
    ends = [*(bisect_right(durations, limit) for limit in DURATION_LIMITS), len(durations)]
    counts = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    edges = zip((0, *DURATION_LIMITS), (*DURATION_LIMITS, None), counts, strict=True)
    return tuple(DurationNumbers(above, up_to, count) for above, up_to, count in edges)
