"""What recorders of any language send in: a run that begins, branches, lives and ends."""

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from lionstudio.domain.process import ProcessRole
from lionstudio.domain.session import InvocationKind, SessionStatus
from lionstudio.server.schemas.messages import LARGEST_POSITION, Id, Name, Seconds


class ProcessIn(BaseModel):
    """Which process does the work of a run, so that those on its machine can see whether it lives."""

    model_config = ConfigDict(extra="forbid")

    host: Name | None = None
    boot_id: Name | None = None
    pid_namespace: Name | None = None
    pid: int = Field(ge=1, lt=2**31)
    start_time: int | None = Field(None, ge=0, lt=2**62, description="clock ticks since boot")
    command: Name | None = None


class SessionIn(BaseModel):
    """A run that begins. Announcing the same id again changes nothing."""

    model_config = ConfigDict(extra="forbid")

    id: Id | None = None
    name: Name | None = None
    kind: InvocationKind | None = None
    agent: Name | None = None
    playbook: Name | None = None
    model: Name | None = None
    user: Name | None = None
    show_topic: Name | None = None
    show_play: Name | None = None
    artifacts_path: Name | None = None
    parent_session_id: Id | None = None
    branch_id: Id | None = Field(None, description="of the branch that every run begins with")
    branch_name: Name | None = None
    started_at: Seconds | None = None
    interactive: bool = Field(False, description="a person sits in front of it, for whom an answer waits")
    node_metadata: dict[str, JsonValue] | None = None
    process: ProcessIn | None = None


class Started(BaseModel):
    """A run that has begun, and the branch that its messages go to."""

    id: str
    branch_id: str
    status: SessionStatus | None


class BranchIn(BaseModel):
    """A branch that begins, or forks from another. Announcing the same id again changes nothing."""

    model_config = ConfigDict(extra="forbid")

    id: Id | None = None
    name: Name | None = None
    model: Name | None = None
    parent_branch_id: Id | None = None
    at: int | None = Field(
        None, ge=0, le=LARGEST_POSITION, description="how much of its parent it keeps (default: all)"
    )
    node_metadata: dict[str, JsonValue] | None = None


class FinishIn(BaseModel):
    """How a run ended. The exit code alone is enough; with neither it completed."""

    model_config = ConfigDict(extra="forbid")

    status: SessionStatus | None = None
    exit_code: int | None = Field(None, ge=-(2**31), lt=2**31)
    sentence: Name | None = Field(None, description="why, for people")


class HeartbeatIn(BaseModel):
    """A sign of life from a process that nobody here can look at."""

    model_config = ConfigDict(extra="forbid")

    role: ProcessRole = ProcessRole.RECORDER


class Beaten(BaseModel):
    """The sign of life was written down at this time."""

    at: float
