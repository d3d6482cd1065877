"""Things to test with: whole by default, every fact can be set."""

import json
from pathlib import Path
from typing import Any

from lionstudio.domain.conversation import Branch, MessageKind
from lionstudio.domain.health import DAY, HOUR, MINUTE, Evidence
from lionstudio.domain.process import Place, ProcessLook, ProcessRecord, ProcessRole, ProcessState, SeenProcess
from lionstudio.domain.session import InvocationKind, Session, SessionStatus
from lionstudio.domain.show import Play, PlayStatus, Show, ShowStatus
from lionstudio.domain.team import Team, TeamStatus

__all__ = ["DAY", "HOUR", "MINUTE", "NOW"]

FIXTURES = Path(__file__).parent.parent / "fixtures"
NOW = 1_750_000_000.0
HERE = Place(host="atlas-02", boot_id="boot-7", pid_namespace="4026531836")
LOOKS = {
    ProcessState.ALIVE: "pid 9120 is alive on atlas-02, same boot and start time.",
    ProcessState.DEAD: "pid 9120 is gone from atlas-02.",
    ProcessState.UNKNOWN: "No process was recorded for this run.",
}


def make_session(
    status: SessionStatus | str | None = "running", kind: InvocationKind | str | None = "agent", **facts: Any
) -> Session:
    """A run that began a day ago, wrote 42 messages, the last one just now."""
    defaults = {
        "id": "7c1f93d2-0000-4000-8000-000000000001",
        "created_at": NOW - DAY,
        "updated_at": NOW - DAY,
        "started_at": NOW - DAY,
        "progression_id": "progression-1",
        "last_message_at": NOW,
        "message_count": 42,
        "status": None if status is None else SessionStatus(status),
        "invocation_kind": None if kind is None else InvocationKind(kind),
    }
    return Session(**{**defaults, **facts})


def make_look(state: ProcessState | str = "alive", role: ProcessRole | str = "agent", **facts: Any) -> ProcessLook:
    """A look at pid 9120."""
    state = ProcessState(state)
    return ProcessLook(**{"state": state, "sentence": LOOKS[state], "role": ProcessRole(role), "pid": 9120, **facts})


def make_evidence(process: ProcessState | str | ProcessLook = "alive", **facts: Any) -> Evidence:
    """Evidence of a process and of an artifacts folder that was looked at and holds something."""
    look = process if isinstance(process, ProcessLook) else make_look(process)
    return Evidence(**{"process": look, "has_artifacts": True, **facts})


def make_record(place: Place = HERE, **facts: Any) -> ProcessRecord:
    """The agent's process, pid 123, started at tick 5000."""
    defaults = {"session_id": "s", "role": ProcessRole.AGENT, "place": place, "pid": 123, "start_time": 5000}
    return ProcessRecord(**{**defaults, **facts})


def make_seen(**facts: Any) -> SeenProcess:
    """What the system says about pid 123 while the recorded process sleeps."""
    return SeenProcess(**{"pid": 123, "start_time": 5000, "state": "S", **facts})


def make_branch(id: str = "main", last_kind: MessageKind | str | None = None, **facts: Any) -> Branch:
    """A branch that spoke a minute ago."""
    defaults = {
        "id": id,
        "created_at": NOW - DAY,
        "session_id": "s",
        "progression_id": f"progression-of-{id}",
        "last_kind": None if last_kind is None else MessageKind(last_kind),
        "last_at": NOW - MINUTE,
    }
    return Branch(**{**defaults, **facts})


def make_play(status: PlayStatus | str = "pending", name: str = "schema-map", **facts: Any) -> Play:
    """A play of the only show."""
    defaults = {"id": f"play-{name}", "show_id": "show-1", "created_at": NOW - DAY, "updated_at": NOW - DAY}
    return Play(**{**defaults, "name": name, "status": PlayStatus(status), **facts})


def make_show(status: ShowStatus | str = "active", **facts: Any) -> Show:
    """The only show."""
    defaults = {
        "id": "show-1",
        "topic": "ledger",
        "show_dir": "shows/ledger",
        "created_at": NOW - DAY,
        "updated_at": NOW,
        "status": ShowStatus(status),
    }
    return Show(**{**defaults, **facts})


def make_team(status: TeamStatus | str = "active", **facts: Any) -> Team:
    """A team of two."""
    defaults = {"id": "team-1", "name": "ledger", "created_at": NOW - DAY, "updated_at": NOW}
    return Team(**{**defaults, "members": ("ana", "architect"), "status": TeamStatus(status), **facts})


def lionagi_sample(name: str) -> Any:
    """A dict as lionagi itself wrote it."""
    return json.loads((FIXTURES / "lionagi" / f"{name}.db.json").read_text())
