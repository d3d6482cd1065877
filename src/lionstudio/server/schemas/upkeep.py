"""Looking after the database, and after the runs that have no status: orders, and what came of them."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from lionstudio.server.schemas.interventions import DryRun, KeptOut, RemovedOut, SessionIds
from lionstudio.server.schemas.runs import SessionRow
from lionstudio.services.legacy_archive import ArchivedLegacy
from lionstudio.services.maintenance import CHECKPOINT_MODES, SERVER_KEEPS_ROOM, Vacuumed

CheckpointMode = Annotated[str, Field(max_length=100, json_schema_extra={"enum": [*CHECKPOINT_MODES]})]


class CheckpointIn(BaseModel):
    """How the log is moved into the file."""

    model_config = ConfigDict(extra="forbid")

    mode: CheckpointMode | None = Field(default=None, description="the same as the parameter; this one counts")


class CheckpointOut(BaseModel):
    """What a checkpoint came to."""

    mode: str
    busy: bool = Field(description="somebody was in the way, so that it could not be done as asked")
    pages_moved: int
    pages_left: int
    wal_bytes_before: int
    wal_bytes_after: int


class SizeOut(BaseModel):
    """How large the database is. Null: this one has no such thing."""

    size_bytes: int
    wal_bytes: int | None
    free_bytes: int | None
    live_rows: int | None
    dead_rows: int | None


class VacuumIn(BaseModel):
    """A vacuum takes no wishes: one that it does not know, such as a dry run, is refused and not passed over."""

    model_config = ConfigDict(extra="forbid")


class VacuumOut(BaseModel):
    """What the database was like before and after a vacuum."""

    before: SizeOut
    after: SizeOut
    gives_room_back: bool = Field(description="whether a vacuum can make this database smaller")
    sentence: str | None

    @classmethod
    def of(cls, done: Vacuumed, *, gives_room_back: bool) -> Self:
        sizes = [
            SizeOut(
                size_bytes=own.size,
                wal_bytes=own.log_size,
                free_bytes=own.free_size,
                live_rows=own.live_rows,
                dead_rows=own.dead_rows,
            )
            for own in done
        ]
        sentence = None if gives_room_back else SERVER_KEEPS_ROOM
        return cls(before=sizes[0], after=sizes[1], gives_room_back=gives_room_back, sentence=sentence)


class ExportFormat(StrEnum):
    """What an export is written as."""

    JSONL = "jsonl"  # one JSON value a line
    SQLITE = "sqlite"  # a file that can be opened like any database of ours


class ExportIn(BaseModel):
    """Runs to export, in this order."""

    model_config = ConfigDict(extra="forbid")

    session_ids: SessionIds
    format: ExportFormat = ExportFormat.JSONL


class LegacyOut(BaseModel):
    """Runs without a status, and some of them."""

    total: int
    sample: list[SessionRow] = Field(description="the newest; all of them are in /sessions?view=legacy")


class LegacyIn(BaseModel):
    """What to do with all runs without a status."""

    model_config = ConfigDict(extra="forbid")

    dry_run: DryRun = False


class BackfilledOut(BaseModel):
    """How many runs got the status completed, or would."""

    dry_run: bool
    sessions: int


class ArchivedOut(BaseModel):
    """Runs that are in a file now and no longer in the database, or would be."""

    dry_run: bool
    removed: RemovedOut
    kept: list[KeptOut]
    path: str | None = Field(description="of the file, on the machine of the server")
    event_id: str | None

    @classmethod
    def of(cls, done: ArchivedLegacy, *, dry_run: bool) -> Self:
        return cls(
            dry_run=dry_run,
            removed=RemovedOut(**done.removed._asdict()),
            kept=[KeptOut.of(one) for one in done.kept],
            path=done.path,
            event_id=done.event_id,
        )
