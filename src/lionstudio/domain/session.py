"""Sessions: what a run is called while it lives and after, and which words may follow which."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from lionstudio.domain.errors import IllegalTransition
from lionstudio.domain.words import find_word


class SessionStatus(StrEnum):
    """How far a run has come (D2). A session without a status is legacy: it predates this vocabulary."""

    RUNNING = "running"  # a process works, or claims to
    COMPLETED = "completed"  # it ended well; says nothing about review
    FAILED = "failed"  # it ended badly
    TIMED_OUT = "timed_out"  # our deadline passed
    ABORTED = "aborted"  # a person interrupted it
    CANCELLED = "cancelled"  # an orchestrator or an admin stopped it


class InvocationKind(StrEnum):
    """What started the run."""

    AGENT = "agent"
    PLAY = "play"
    FLOW = "flow"
    FANOUT = "fanout"
    SHOW_PLAY = "show-play"
    COMMAND = "command"  # li record -- CMD


class SourceKind(StrEnum):
    """How the run came to be recorded."""

    LIVE = "live"
    IMPORTED_FS = "imported_fs"
    IMPORTED_DB = "imported_db"
    IMPORTED_CLAUDE = "imported_claude"
    IMPORTED_CODEX = "imported_codex"
    DEMO = "demo"


STEPS = "steps"  # where the metadata of a run of several agents says who needed whom
TERMINAL_STATUSES = frozenset(SessionStatus) - {SessionStatus.RUNNING}
SESSION_MOVES: Mapping[SessionStatus, frozenset[SessionStatus]] = {SessionStatus.RUNNING: TERMINAL_STATUSES}
ADMIN_TARGETS = frozenset({SessionStatus.FAILED, SessionStatus.ABORTED, SessionStatus.CANCELLED})

RUN_ACTOR = "run"  # `Session.end_actor` of a run that ended by itself or by the process that started it

# D2: what other tools call the same thing. A word that is in neither list means legacy.
FOREIGN_STATUSES: Mapping[str, SessionStatus] = {
    "done": SessionStatus.COMPLETED,
    "success": SessionStatus.COMPLETED,
    "completed_empty": SessionStatus.COMPLETED,
    "error": SessionStatus.FAILED,
    "timeout": SessionStatus.TIMED_OUT,
    "interrupted": SessionStatus.ABORTED,
}

EXIT_CODES: Mapping[int, SessionStatus] = {
    0: SessionStatus.COMPLETED,
    124: SessionStatus.TIMED_OUT,  # our deadline, as timeout(1) says it
    129: SessionStatus.ABORTED,  # SIGHUP: the terminal was closed
    130: SessionStatus.ABORTED,  # SIGINT: a person
    143: SessionStatus.CANCELLED,  # SIGTERM: orchestrator or admin
}
# The other way round, for who waits for a run. A legacy run never said how it ended, which is no success.
STATUS_EXIT_CODES: Mapping[SessionStatus | None, int] = {
    None: 1,
    SessionStatus.COMPLETED: 0,
    SessionStatus.FAILED: 1,
    SessionStatus.TIMED_OUT: 124,
    SessionStatus.ABORTED: 130,
    SessionStatus.CANCELLED: 143,
}


class Session(NamedTuple):
    """One recorded run. Facts only: duration, health and severity are derived when read."""

    id: str
    created_at: float
    updated_at: float
    progression_id: str
    name: str | None = None
    user: str | None = None
    status: SessionStatus | None = None
    started_at: float | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    end_actor: str | None = None  # who ended it: the run itself, or an operator's name
    end_reason: str | None = None  # a registered reason code
    first_msg_id: str | None = None
    last_msg_id: str | None = None
    last_message_at: float | None = None
    messages_lost: int = 0  # messages that could be kept nowhere
    invocation_kind: InvocationKind | None = None
    source_kind: SourceKind | None = None
    playbook_name: str | None = None
    agent_name: str | None = None
    show_topic: str | None = None
    show_play_name: str | None = None
    artifacts_path: str | None = None
    parent_session_id: str | None = None
    node_metadata: Mapping[str, Any] | None = None
    message_count: int = 0
    branch_count: int = 0

    @property
    def duration_ms(self) -> float | None:
        """How long the run took; nothing while it is running or when a time is missing (R98)."""
        if self.status is SessionStatus.RUNNING or self.started_at is None or self.ended_at is None:
            return None
        return max(0.0, self.ended_at - self.started_at) * 1000  # clocks jump back


def last_step(session: Session) -> str | None:
    """Of a run of several agents the step whose answer nobody else needed; None if there are several, or no steps."""
    steps = steps_of(session)
    needed = {need for needs in steps.values() for need in needs}
    last = [name for name in steps if name not in needed]
    return last[0] if len(last) == 1 else None


def steps_of(session: Session) -> Mapping[str, Sequence[str]]:
    """By the names of its steps what each needs; empty for a run of one agent."""
    told = (session.node_metadata or {}).get(STEPS)
    if not isinstance(told, dict):
        return {}
    return {str(name): [str(need) for need in needs] if isinstance(needs, list) else [] for name, needs in told.items()}


def require_move(before: SessionStatus | None, after: SessionStatus) -> None:
    """Raise IllegalTransition unless a session in `before` may become `after`."""
    if before is None or after not in SESSION_MOVES.get(before, frozenset()):
        now = "legacy" if before is None else before
        raise IllegalTransition(
            f"A {now} session cannot become {after}.", hint="Only a running session can change its status."
        )


def status_from_exit_code(exit_code: int) -> SessionStatus:
    """What a process's exit code says about its run (D2). A negative code is a signal, as `subprocess` reports it."""
    return EXIT_CODES.get(128 - exit_code if exit_code < 0 else exit_code, SessionStatus.FAILED)


def exit_code_of(session: Session) -> int:
    """How a shell says the way a run ended: by the run's own exit code, unless that contradicts its status."""
    assert session.status is not SessionStatus.RUNNING
    own = session.exit_code or 0
    shell_code = 128 - own if own < 0 else own
    if session.status is SessionStatus.COMPLETED or not 0 < shell_code < 256:
        return STATUS_EXIT_CODES[session.status]
    return shell_code


def status_from_foreign(word: str | None) -> SessionStatus | None:
    """Our word for another tool's status; None (legacy) when it says nothing we know."""
    if word is None:
        return None
    return find_word(SessionStatus, word) or FOREIGN_STATUSES.get(word)


INDEXED_NAMES = ("name", "agent_name", "playbook_name", "show_topic")
LONGEST_NAME = 400  # characters of a name that is looked for; no index of a server takes more than 2,704 bytes


def with_fitting_names(session: Session) -> Session:
    """The session with names that every index takes; the whole of one that had to be cut is kept in its metadata."""
    names = {name: getattr(session, name) for name in INDEXED_NAMES}
    long = {name: text for name, text in names.items() if text is not None and len(text) > LONGEST_NAME}
    if not long:
        return session
    metadata = session.node_metadata or {}
    original = {**(metadata.get("original") or {}), **long}
    cut = {name: text[: LONGEST_NAME - 1] + "…" for name, text in long.items()}
    return session._replace(**cut, node_metadata={**metadata, "original": original})
