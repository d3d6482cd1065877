"""What was seen of a run and of its processes."""

from typing import Self

from pydantic import BaseModel

from lionstudio.domain.health import Evidence
from lionstudio.domain.process import ProcessLook, ProcessRecord, ProcessRole, ProcessState


class EvidenceOut(BaseModel):
    """What was seen of a run, just now. Null: nobody could look."""

    observed_at: float | None
    process: ProcessState
    process_sentence: str
    heartbeat_at: float | None
    has_artifacts: bool | None
    stale_locks: list[str]
    temp_files: list[str]

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        return cls(
            observed_at=evidence.observed_at,
            process=evidence.process.state,
            process_sentence=evidence.process.sentence,
            heartbeat_at=evidence.heartbeat_at,
            has_artifacts=evidence.has_artifacts,
            stale_locks=list(evidence.stale_locks),
            temp_files=list(evidence.temp_files),
        )


class ProcessOut(BaseModel):
    """A process of a run: as it was recorded, and as it was seen just now."""

    role: ProcessRole
    host: str | None
    pid: int
    command: str | None
    heartbeat_at: float | None
    state: ProcessState
    sentence: str

    @classmethod
    def of(cls, record: ProcessRecord, look: ProcessLook) -> Self:
        return cls(
            role=record.role,
            host=record.place.host,
            pid=record.pid,
            command=record.command,
            heartbeat_at=record.heartbeat_at,
            state=look.state,
            sentence=look.sentence,
        )
