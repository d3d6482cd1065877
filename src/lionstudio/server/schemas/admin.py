"""The health report in the shape of ADR-0024, resources, and the audit log."""

from datetime import UTC, datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from lionstudio.doctor.failures import Failures
from lionstudio.doctor.loop import DoctorReport
from lionstudio.doctor.resources import Resources
from lionstudio.domain.audit import AdminEvent
from lionstudio.domain.chain import state_chain
from lionstudio.domain.health import Health, OperatorAction
from lionstudio.domain.session import InvocationKind, SessionStatus
from lionstudio.domain.state import derive_session_state
from lionstudio.domain.upkeep import Advice
from lionstudio.domain.worktree import Worktree, WorktreeStatus
from lionstudio.server.schemas.doctor import DoctorOut, SpoolOut
from lionstudio.server.schemas.states import ReasonOut, StateOut
from lionstudio.services.health_report import DatabaseReport, HealthReport, MaintenanceReport, UnhealthySession


class Unhealthy(BaseModel):
    """A run that is not well, why, and what an operator is offered for it."""

    session_id: str
    name: str
    health: Health
    status: SessionStatus | None
    chain: list[str] = Field(description="the state in words, most telling first")
    state: StateOut
    last_message_at: float | None
    idle_seconds: int | None = Field(description="null for one that has ended")
    process_alive: bool | None = Field(description="null: nobody can tell")
    invocation_kind: InvocationKind | None
    agent_name: str | None
    model: str | None
    message_count: int
    started_at: float | None
    show_topic: str | None
    show_play_name: str | None
    playbook_name: str | None
    observed_at: float | None = Field(description="when its process or its files were looked at")
    reasons: list[ReasonOut]
    actions: list[OperatorAction]

    @classmethod
    def of(cls, item: UnhealthySession) -> Self:
        session, idle = item.session, item.verdict.idle_seconds
        return cls(
            session_id=session.id,
            name=item.name,
            health=item.verdict.health,
            status=session.status,
            chain=list(state_chain(session, item.verdict)),
            state=StateOut.of(derive_session_state(session, item.verdict)),
            last_message_at=session.last_message_at,
            idle_seconds=None if idle is None else round(idle),
            process_alive=item.process_alive,
            invocation_kind=session.invocation_kind,
            agent_name=session.agent_name,
            model=item.model,
            message_count=session.message_count,
            started_at=session.started_at,
            show_topic=session.show_topic,
            show_play_name=session.show_play_name,
            playbook_name=session.playbook_name,
            observed_at=item.observed_at,
            reasons=[ReasonOut.of(reason) for reason in item.verdict.reasons],
            actions=list(item.actions),
        )


class SessionsHealth(BaseModel):
    """All runs, counted by each word, and those that are not well: the most urgent first."""

    total: int
    by_status: dict[SessionStatus, int]
    by_health: dict[Health, int] = Field(description="of all; one that ended and left nothing behind is healthy")
    legacy: int = Field(description="without a status")
    ended: int = Field(description="of the healthy ones")
    unhealthy: list[Unhealthy]
    unhealthy_total: int
    next_cursor: str | None = Field(description="of the rest of the unhealthy")

    @classmethod
    def of(cls, report: HealthReport) -> Self:
        counts, page = report.sessions, report.unhealthy
        return cls(
            total=counts.total,
            by_status=dict(counts.by_status),
            by_health=dict(counts.by_health),
            legacy=counts.legacy,
            ended=counts.ended,
            unhealthy=[Unhealthy.of(item) for item in page.items],
            unhealthy_total=page.total,
            next_cursor=page.next_cursor,
        )


class DatabaseHealth(BaseModel):
    """How the database is kept. Null: this one has no such thing."""

    engine: str
    version: str
    location: str
    database_id: str
    schema_version: str
    size_bytes: int
    wal_bytes: int | None
    wal_pending_bytes: int | None = Field(description="of it, what is not in the file yet")
    page_count: int | None
    freelist_count: int | None
    free_bytes: int | None = Field(description="what a vacuum gives back")
    journal_mode: str | None
    auto_checkpoint: int | None
    foreign_keys: bool
    busy_timeout: int | None
    synchronous: str | None
    connections: int | None
    max_connections: int | None
    live_rows: int | None
    dead_rows: int | None

    @classmethod
    def of(cls, report: DatabaseReport) -> Self:
        own, settings = report.figures, dict[str, Any](report.figures.settings)
        return cls(
            engine=own.engine,
            version=own.version,
            location=report.location,
            database_id=report.database_id,
            schema_version=str(report.schema_version),
            size_bytes=own.size,
            wal_bytes=own.log_size,
            wal_pending_bytes=report.log_pending,
            page_count=own.page_count,
            freelist_count=own.free_pages,
            free_bytes=own.free_size,
            journal_mode=settings.get("journal_mode"),
            auto_checkpoint=settings.get("wal_autocheckpoint"),
            foreign_keys=bool(settings.get("foreign_keys", True)),  # a server has no switch for them
            busy_timeout=settings.get("busy_timeout"),
            synchronous=settings.get("synchronous"),
            connections=own.connections,
            max_connections=settings.get("max_connections"),
            live_rows=own.live_rows,
            dead_rows=own.dead_rows,
        )


class WorktreeOut(BaseModel):
    """A folder with a git checkout. Null: nobody could tell, and `sentence` says why."""

    path: str
    branch: str | None
    status: WorktreeStatus
    last_modified: float | None
    uncommitted_changes: bool | None
    sentence: str | None

    @classmethod
    def of(cls, found: Worktree) -> Self:
        return cls(**found._asdict())


class ResourcesOut(BaseModel):
    """Worktrees and room on the disk, looked at once a minute at most."""

    pending: bool = Field(description="the first look still goes on; ask again soon")
    problem: str | None = Field(description="why the last look failed; it is tried again after a minute")
    observed_at: float | None
    took_seconds: float | None
    worktrees: list[WorktreeOut]
    worktrees_complete: bool
    disk: dict[str, int | None] = Field(description="bytes by folder, and total; null: it is not on this disk")
    disk_complete: bool = Field(description="false: it is at least this much")
    disk_free_bytes: int | None
    disk_capacity_bytes: int | None

    @classmethod
    def of(cls, found: Resources | None, problem: str | None) -> Self:
        if found is None:
            return cls(
                pending=problem is None,
                problem=problem,
                observed_at=None,
                took_seconds=None,
                worktrees=[],
                worktrees_complete=False,
                disk={},
                disk_complete=False,
                disk_free_bytes=None,
                disk_capacity_bytes=None,
            )
        sizes = {folder.name: folder.size_bytes for folder in found.disk.folders}
        return cls(
            pending=False,
            problem=problem,
            observed_at=found.observed_at,
            took_seconds=found.took_seconds,
            worktrees=[WorktreeOut.of(one) for one in found.worktrees.items],
            worktrees_complete=found.worktrees.complete,
            disk={**sizes, "total": found.disk.total_bytes},
            disk_complete=found.disk.complete,
            disk_free_bytes=found.disk.free_bytes,
            disk_capacity_bytes=found.disk.capacity_bytes,
        )


class EventOut(BaseModel):
    """One thing that an operator or the doctor did."""

    id: str
    created_at: float
    action: str
    target_id: str | None
    details: dict[str, Any]
    actor: str

    @classmethod
    def of(cls, event: AdminEvent) -> Self:
        return cls(**{**event._asdict(), "details": dict(event.details)})


class AdviceOut(BaseModel):
    """Whether to do something for the database, why, and when it was done last."""

    recommended: bool
    sentence: str
    last: EventOut | None

    @classmethod
    def of(cls, advice: Advice, last: AdminEvent | None) -> Self:
        event = None if last is None else EventOut.of(last)
        return cls(recommended=advice.recommended, sentence=advice.sentence, last=event)


class MaintenanceOut(BaseModel):
    """What may be done for the database."""

    checkpoint: AdviceOut
    vacuum: AdviceOut
    export_bytes: int = Field(description="about what a copy of everything takes")

    @classmethod
    def of(cls, report: MaintenanceReport) -> Self:
        return cls(
            checkpoint=AdviceOut.of(report.checkpoint, report.last_checkpoint),
            vacuum=AdviceOut.of(report.vacuum, report.last_vacuum),
            export_bytes=report.export_size,
        )


class HealthOut(BaseModel):
    """How everything is, looked at just now."""

    sessions: SessionsHealth
    db: DatabaseHealth
    resources: ResourcesOut
    maintenance: MaintenanceOut
    doctor: DoctorOut
    spool: SpoolOut
    diagnostic_run_at: str = Field(description="ISO 8601, UTC")

    @classmethod
    def of(cls, report: HealthReport, resources: ResourcesOut, doctor: DoctorReport, spool: Failures) -> Self:
        at = datetime.fromtimestamp(report.diagnostic_run_at, UTC)
        return cls(
            sessions=SessionsHealth.of(report),
            db=DatabaseHealth.of(report.database),
            resources=resources,
            maintenance=MaintenanceOut.of(report.maintenance),
            doctor=DoctorOut.of(doctor),
            spool=SpoolOut.of(spool),
            diagnostic_run_at=at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        )
