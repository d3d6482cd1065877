"""The doctor: how it is doing itself, and what one of its rounds found."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from lionstudio.doctor.failures import Failure, Failures
from lionstudio.doctor.loop import DoctorReport, Round
from lionstudio.doctor.scan import Scan
from lionstudio.domain.health import Health
from lionstudio.server.schemas.interventions import Transitioned
from lionstudio.services.interventions import Intervention


class RoundOut(BaseModel):
    """The last round that went through."""

    began_at: float
    ended_at: float
    took_seconds: float
    looked_at: int = Field(description="runs, running and ended")
    changed: int = Field(description="runs that are doing otherwise than at the last look")

    @classmethod
    def of(cls, last: Round) -> Self:
        return cls(**last._asdict())


class FailureOut(BaseModel):
    """The last thing that went wrong."""

    at: float
    sentence: str

    @classmethod
    def of(cls, failure: Failure) -> Self:
        return cls(**failure._asdict())


class SpoolOut(BaseModel):
    """Whether what recorders that are gone set aside can be written to the database."""

    last_failure: FailureOut | None
    failures_in_a_row: int = Field(description="0: it works")

    @classmethod
    def of(cls, failures: Failures) -> Self:
        last = failures.last
        return cls(last_failure=None if last is None else FailureOut.of(last), failures_in_a_row=failures.in_a_row)


class DoctorOut(BaseModel):
    """What the doctor does, and whether it can. It never changes a status by itself."""

    is_running: bool
    every_seconds: float
    last_round: RoundOut | None = Field(description="null until the first one is through")
    last_failure: FailureOut | None
    failures_in_a_row: int = Field(description="0: it works")
    watched_processes: int
    deaths_seen: int

    @classmethod
    def of(cls, report: DoctorReport) -> Self:
        last, failure = report.last_round, report.last_failure
        return cls(
            is_running=report.is_running,
            every_seconds=report.every_seconds,
            last_round=None if last is None else RoundOut.of(last),
            last_failure=None if failure is None else FailureOut.of(failure),
            failures_in_a_row=report.failures_in_a_row,
            watched_processes=report.watched_processes,
            deaths_seen=report.deaths_seen,
        )


class ScanIn(BaseModel):
    """What the doctor is asked to do now."""

    model_config = ConfigDict(extra="forbid")

    transition_stale: Annotated[
        bool, Field(description="fail every run that is stale and whose process is surely gone")
    ] = False
    dry_run: Annotated[bool, Field(description="only look: nothing is kept, and nothing is changed")] = False


class ScanOut(BaseModel):
    """What was found, and what was ended because of it."""

    dry_run: bool
    looked_at: int = Field(description="runs that run")
    changed: int = Field(description="runs that are doing otherwise than at the last look; 0 for a dry run")
    by_health: dict[Health, int]
    transitioned: list[Transitioned] = Field(description="runs that were failed, or would be")

    @classmethod
    def of(cls, found: Scan, ended: Sequence[Intervention], *, dry_run: bool) -> Self:
        return cls(
            dry_run=dry_run,
            looked_at=len(found.examined),
            changed=found.changed,
            by_health=dict(found.counts),
            transitioned=[Transitioned.of(one) for one in ended],
        )
