"""The dashboard: its cards and series, and rows of the lists that only it has."""

from typing import Self

from pydantic import BaseModel, Field

from lionstudio.domain.attention import Signal, Subject, play_address
from lionstudio.domain.dashboard import (
    AttentionNumbers,
    DurationNumbers,
    ExecutionNumbers,
    HourNumbers,
    LatencyNumbers,
    OutcomeNumbers,
)
from lionstudio.domain.health import Health, OperatorAction
from lionstudio.domain.session import SessionStatus
from lionstudio.domain.show import Play, PlayStatus
from lionstudio.domain.state import Severity
from lionstudio.server.schemas.doctor import DoctorOut
from lionstudio.server.schemas.runs import SessionRow
from lionstudio.server.schemas.states import StateOut
from lionstudio.services.attention import AttentionRow
from lionstudio.services.dashboard import ExecutionRow, Stats


class AttentionCard(BaseModel):
    """What needs a look. A thing counts once in the total, and in each signal that it gives; see /attention."""

    total: int
    by_signal: dict[Signal, int]
    by_severity: dict[Severity, int]
    oldest_at: float | None

    @classmethod
    def of(cls, numbers: AttentionNumbers) -> Self:
        return cls(**numbers._asdict())


class ExecutionsCard(BaseModel):
    """What is at work: shows, and runs outside of shows; see /executions."""

    invocations: int
    sessions: int
    plays: int
    by_health: dict[Health, int] = Field(description="of the runs; none of them can be a zombie")
    oldest_at: float | None

    @classmethod
    def of(cls, numbers: ExecutionNumbers) -> Self:
        return cls(**numbers._asdict())


class OutcomesCard(BaseModel):
    """What came of the last 24 hours: runs by how they ended, and plays whose gate asked for changes."""

    completed: int
    failed: int
    timed_out: int
    aborted: int
    cancelled: int
    request_changes: int = Field(description="plays; see /request-changes")
    pass_rate: float | None = Field(
        description="0 to 1: completed / (completed + failed + timed_out + request_changes)"
    )

    @classmethod
    def of(cls, numbers: OutcomeNumbers) -> Self:
        return cls(**numbers._asdict(), pass_rate=numbers.pass_rate)


class LatencyCard(BaseModel):
    """How long the runs took that ended in the last 24 hours."""

    measured: int = Field(description="those whose beginning is known")
    p95_seconds: float | None
    median_seconds: float | None
    over_60m: int

    @classmethod
    def of(cls, numbers: LatencyNumbers) -> Self:
        return cls(**numbers._asdict())


class HourOut(BaseModel):
    """What ended in the hour that begins so."""

    starts_at: float
    by_status: dict[SessionStatus, int]

    @classmethod
    def of(cls, numbers: HourNumbers) -> Self:
        return cls(**numbers._asdict())


class DurationOut(BaseModel):
    """Runs of the last 24 hours that took longer than `above` seconds and at most `up_to`."""

    above: float
    up_to: float | None = Field(description="null: without an end")
    runs: int

    @classmethod
    def of(cls, numbers: DurationNumbers) -> Self:
        return cls(**numbers._asdict())


class SystemStrip(BaseModel):
    """How the studio itself is doing. Null: this database has no such thing."""

    version: str
    started_at: float
    engine: str
    db_size_bytes: int
    wal_bytes: int | None
    connections: int | None
    sse_streams: int
    feed_problem: str | None = Field(description="why live news does not come now")
    legacy: int = Field(description="runs without a status, which are in no other number")
    doctor: DoctorOut


class StatsOut(BaseModel):
    """Every number of the dashboard, all of the same moment."""

    at: float
    attention: AttentionCard
    executions: ExecutionsCard
    outcomes_24h: OutcomesCard
    latency_24h: LatencyCard
    running: int
    failed_24h: int
    slow: int = Field(description="running for more than 60 minutes")
    waiting: int = Field(description="runs that a person is asked by")
    needs_review: int = Field(description="runs whose play is gated, escalated or blocked")
    stale: int
    shows_active: int
    teams_active: int
    legacy: int
    hours: list[HourOut] = Field(description="the last 24, oldest first")
    durations: list[DurationOut]
    recent: list[SessionRow] = Field(description="the runs that ended last")
    system: SystemStrip

    @classmethod
    def of(cls, stats: Stats, system: SystemStrip) -> Self:
        return cls(
            at=stats.at,
            attention=AttentionCard.of(stats.attention),
            executions=ExecutionsCard.of(stats.executions),
            outcomes_24h=OutcomesCard.of(stats.outcomes),
            latency_24h=LatencyCard.of(stats.latency),
            running=stats.running,
            failed_24h=stats.failed_24h,
            slow=stats.slow,
            waiting=stats.waiting,
            needs_review=stats.needs_review,
            stale=stats.stale,
            shows_active=stats.shows_active,
            teams_active=stats.teams_active,
            legacy=stats.legacy,
            hours=[HourOut.of(hour) for hour in stats.hours],
            durations=[DurationOut.of(bar) for bar in stats.durations],
            recent=[SessionRow.of(summary) for summary in stats.recent],
            system=system,
        )


class AttentionOut(BaseModel):
    """One thing that needs a look, and why."""

    subject: Subject
    id: str
    title: str
    signals: list[Signal]
    since: float
    severity: Severity
    state: StateOut
    chain: list[str] = Field(description="the state in words, most telling first")
    leads_to: str = Field(description="where the thing itself is read")
    session_id: str | None = Field(description="of a run, or of a play's latest attempt")
    topic: str | None
    play_name: str | None
    heard_at: float | None = Field(description="when a run that runs was last heard")
    actions: list[OperatorAction] = Field(description="what an operator is offered for a run")

    @classmethod
    def of(cls, row: AttentionRow) -> Self:
        return cls(
            subject=row.subject,
            id=row.id,
            title=row.title,
            signals=list(row.signals),
            since=row.since,
            severity=row.state.severity,
            state=StateOut.of(row.state),
            chain=list(row.chain),
            leads_to=row.leads_to,
            session_id=row.session_id,
            topic=row.topic,
            play_name=row.play_name,
            heard_at=row.heard_at,
            actions=list(row.actions),
        )


class ExecutionOut(BaseModel):
    """One invocation that is at work: a show, or a run outside of shows."""

    subject: Subject
    id: str = Field(description="the topic of a show, the id of a run")
    title: str
    sessions: int = Field(description="of it that run")
    plays: int = Field(description="of it whose agent works")
    since: float
    leads_to: str
    session_id: str | None = Field(description="of its run that is worst off, whose state this is")
    state: StateOut | None
    chain: list[str] = Field(description="the state in words, most telling first")
    heard_at: float | None = Field(description="when that run was last heard")

    @classmethod
    def of(cls, row: ExecutionRow) -> Self:
        return cls(**{**row._asdict(), "state": None if row.state is None else StateOut.of(row.state)})


class RefusedPlay(BaseModel):
    """A play whose gate asked for changes in the last 24 hours."""

    topic: str
    name: str
    status: PlayStatus
    attempt: int
    session_id: str | None
    started_at: float | None
    ended_at: float | None
    gate_feedback: str | None
    leads_to: str

    @classmethod
    def of(cls, topic: str, play: Play) -> Self:
        return cls(
            topic=topic,
            name=play.name,
            status=play.status,
            attempt=play.attempt,
            session_id=play.session_id,
            started_at=play.started_at,
            ended_at=play.ended_at,
            gate_feedback=play.gate_feedback,
            leads_to=play_address(topic, play.name),
        )
