"""Health: how a run is doing, judged from facts that come in as arguments, with the reasons for the verdict (D3)."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from lionstudio.domain.health_words import Health as Health  # noqa: PLC0414  everyone takes it from here
from lionstudio.domain.phrases import count_of, format_duration
from lionstudio.domain.process import HEARTBEAT_EVERY, ProcessLook, ProcessState
from lionstudio.domain.reasons import EvidenceKind, EvidenceRef, Reason
from lionstudio.domain.session import RUN_ACTOR, InvocationKind, Session, SessionStatus

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR

IDLE_AFTER = 1 * HOUR  # ADR-0024: long enough for a slow tool or a person at lunch
STALE_AFTER: Mapping[InvocationKind, int] = {  # R130: many agents at once are legitimately quiet for longer than one
    InvocationKind.AGENT: 6 * HOUR,
    InvocationKind.PLAY: 6 * HOUR,
    InvocationKind.FLOW: 12 * HOUR,
    InvocationKind.FANOUT: 12 * HOUR,
    InvocationKind.SHOW_PLAY: 12 * HOUR,
}
DEFAULT_STALE_AFTER = 6 * HOUR  # R130: a command, or a kind that was not recorded
ORPHANED_AFTER = 1 * MINUTE  # D3: a run may need a while before its first message or file
SLOW_AFTER = 60 * MINUTE  # D8: slow and "active too long"; ADR-0024 wins over ADR-0017's 30
HEARTBEAT_FRESH_FOR = 4 * HEARTBEAT_EVERY  # three may be lost or late before the sign of life is doubted
CLOCK_TOLERANCE = 1 * MINUTE  # clocks of two machines differ; more than this is said
OLDER_BY = HOUR  # than the run, by the clocks of two machines that may not agree
STALE_LOCK_AFTER = 1 * HOUR  # D3: a younger lock may belong to someone who works
TEMP_FILE_AFTER = 1 * MINUTE  # a younger one may be written in this moment, and renamed in the next
LEFTOVERS_LOOKED_FOR = 7 * DAY  # D3: after that only where some were found before


class HealthColour(StrEnum):
    """The colour a health is drawn in (R152)."""

    GREEN = "green"
    BLUE = "blue"
    AMBER = "amber"
    ORANGE = "orange"
    PURPLE = "purple"
    RED = "red"


class OperatorAction(StrEnum):
    """What an operator is offered for a run (R153)."""

    INSPECT = "inspect"
    LOGS = "logs"
    TRANSITION = "transition"
    REPAIR = "repair"
    CLEANUP = "cleanup"
    PRUNE = "prune"


class Leftover(StrEnum):
    """What an ended run may leave behind."""

    STALE_LOCK = "stale_lock"
    TEMP_FILE = "temp_file"


HEALTH_LABELS: Mapping[Health, str] = {
    Health.HEALTHY: "Healthy",
    Health.IDLE: "Idle",
    Health.UNRESPONSIVE: "Unresponsive",
    Health.STALE: "Stale",
    Health.ORPHANED: "Orphaned",
    Health.ZOMBIE: "Zombie",
}
HEALTH_COLOURS: Mapping[Health, HealthColour] = {
    Health.HEALTHY: HealthColour.GREEN,
    Health.IDLE: HealthColour.BLUE,
    Health.UNRESPONSIVE: HealthColour.AMBER,
    Health.STALE: HealthColour.ORANGE,
    Health.ORPHANED: HealthColour.PURPLE,
    Health.ZOMBIE: HealthColour.RED,
}
HEALTH_ACTIONS: Mapping[Health, tuple[OperatorAction, ...]] = {
    Health.HEALTHY: (OperatorAction.INSPECT,),
    Health.IDLE: (OperatorAction.INSPECT,),
    Health.UNRESPONSIVE: (OperatorAction.INSPECT, OperatorAction.LOGS),
    Health.STALE: (OperatorAction.INSPECT, OperatorAction.TRANSITION),
    Health.ORPHANED: (OperatorAction.INSPECT, OperatorAction.REPAIR, OperatorAction.TRANSITION),
    Health.ZOMBIE: (OperatorAction.INSPECT, OperatorAction.CLEANUP, OperatorAction.PRUNE),
}

TEMP_SUFFIXES = (".tmp", ".part")
LOCK_SUFFIX = ".lock"
# Results of package managers, not locks: a run that delivered one is no zombie, and cleaning up must not delete it.
_PACKAGE_MANAGERS = "bun cargo composer deno flake gemfile mix pdm pipfile pixi podfile poetry pubspec uv yarn"
DEPENDENCY_LOCKS = frozenset(f"{tool}.lock" for tool in _PACKAGE_MANAGERS.split())


CLEAN_END = Reason("run.health.ended", "The run has ended, and no file was found that it should have removed.")
# It is treated as ended: nothing that predates the vocabulary still runs.
LEGACY = Reason("run.legacy.unclassified", "The run predates the status vocabulary and counts as ended.")
RECORDER_GONE = Reason("run.recording.recorder_gone", "The agent works on, but its recorder is gone.")


class Evidence(NamedTuple):
    """The dated facts a verdict rests on; None is "nobody could look", which is not the same as "no"."""

    process: ProcessLook
    heartbeat_at: float | None = None
    has_artifacts: bool | None = None  # whoever looks says False for a run that names no artifacts folder
    stale_locks: tuple[str, ...] = ()
    temp_files: tuple[str, ...] = ()
    observed_at: float | None = None


class HealthVerdict(NamedTuple):
    """How a run is doing, and why. The first reason is the one that decided."""

    health: Health
    reasons: tuple[Reason, ...]
    idle_seconds: float | None = None  # of a running run; nothing for one that has ended
    process: ProcessState = ProcessState.UNKNOWN  # what was held true; a fresh heartbeat proves life too


def classify_health(session: Session, evidence: Evidence, *, now: float) -> HealthVerdict:
    """The one rule that says how a run is doing; every run gets a verdict, whatever is missing from its row."""
    if session.status is not SessionStatus.RUNNING:
        return _classify_ended(session, evidence)
    process, idle = _held_true(evidence, now=now), quiet_seconds(session, now=now)
    health, code = _judge_running(session, process, evidence.has_artifacts, idle, now=now)
    reasons = [_process_reason(evidence, process, now=now)]
    if code is not None:
        # A dead process explains everything after it; for the rest, what was heard from the run comes first.
        place = 1 if process is ProcessState.DEAD else 0
        reasons.insert(place, _deciding_reason(code, session, process, idle))
    if last_activity_at(session) - now > CLOCK_TOLERANCE:
        reasons.append(_clock_reason(session, now=now))
    if evidence.process.recorder_gone:
        reasons.append(RECORDER_GONE)
    if session.messages_lost > 0:
        reasons.append(_lost_reason(session))
    return HealthVerdict(health, tuple(reasons), idle, process)


def derive_health(session: Session, evidence: Evidence, *, now: float) -> Health:
    """The health of `classify_health` alone, for lists: finding words for the reasons takes longer than judging."""
    if session.status is not SessionStatus.RUNNING:
        return _judge_ended(evidence)
    process, idle = _held_true(evidence, now=now), quiet_seconds(session, now=now)
    return _judge_running(session, process, evidence.has_artifacts, idle, now=now)[0]


# What a look at a running run can decide: its process, and for a dead one whether it left files.
_LOOKS = (
    (ProcessState.ALIVE, None),
    (ProcessState.UNKNOWN, None),
    (ProcessState.DEAD, None),
    (ProcessState.DEAD, False),
)


def may_be(session: Session, health: Health, *, now: float) -> bool:
    """Whether a run could be doing so, whatever a look at it would show."""
    if session.status is not SessionStatus.RUNNING:
        return health in (Health.HEALTHY, Health.ZOMBIE)
    idle = quiet_seconds(session, now=now)
    return any(_judge_running(session, process, files, idle, now=now)[0] is health for process, files in _LOOKS)


def quiet_seconds(session: Session, *, now: float) -> float:
    """How long nothing was heard from a run; never negative, because clocks jump back."""
    return max(0.0, now - last_activity_at(session))


def last_activity_at(session: Session) -> float:
    """When a run was last heard from; a run that never spoke counts from when its row last changed (R144)."""
    # Asked several times for each row of a list, so the common case comes first and nothing is built.
    if session.last_message_at is not None:
        return session.last_message_at
    times = (session.updated_at, session.started_at)
    return next((at for at in times if at is not None), session.created_at)


def stale_after(kind: InvocationKind | None) -> int:
    """For how many seconds a run of this kind may be quiet (R130)."""
    return DEFAULT_STALE_AFTER if kind is None else STALE_AFTER.get(kind, DEFAULT_STALE_AFTER)


def wrote_after_end(session: Session) -> bool:
    """Whether messages arrived after an operator had ended the run (D6)."""
    if session.status is SessionStatus.RUNNING or session.end_actor in (None, RUN_ACTOR):
        return False
    if session.last_message_at is None or session.ended_at is None:
        return False
    return session.last_message_at > session.ended_at


def leftover_kind(file_name: str, modified_at: float, *, began_at: float | None, now: float) -> Leftover | None:
    """What a file under an ended run's artifacts folder is left over from, if it is (D3).

    An unfinished file that is older than the run is somebody else's.
    """
    age = now - modified_at
    if file_name.endswith(TEMP_SUFFIXES):
        is_older = began_at is not None and modified_at < began_at - OLDER_BY
        return Leftover.TEMP_FILE if age > TEMP_FILE_AFTER and not is_older else None
    if not file_name.endswith(LOCK_SUFFIX) or file_name.lower() in DEPENDENCY_LOCKS:
        return None
    return Leftover.STALE_LOCK if age > STALE_LOCK_AFTER else None


def should_look_for_leftovers(session: Session, *, found_before: bool, now: float) -> bool:
    """Whether an ended run's folder is worth a look: for 7 days after its end, and for as long as it is not clean."""
    if session.status is SessionStatus.RUNNING or session.artifacts_path is None:
        return False
    ended_at = session.updated_at if session.ended_at is None else session.ended_at
    return found_before or now - ended_at <= LEFTOVERS_LOOKED_FOR


def _judge_running(
    session: Session, process: ProcessState, has_artifacts: bool | None, idle: float, *, now: float
) -> tuple[Health, str | None]:
    """The health of a running run, and the code of the reason that decided, if it is not its process alone."""
    if process is not ProcessState.DEAD:
        if idle > stale_after(session.invocation_kind):
            health = Health.UNRESPONSIVE if process is ProcessState.ALIVE else Health.STALE
            return health, "run.health.quiet_too_long"
        return (Health.IDLE, "run.health.quiet") if idle > IDLE_AFTER else (Health.HEALTHY, None)
    if session.message_count > 0 or has_artifacts:
        return Health.STALE, "run.health.quiet" if idle > IDLE_AFTER else None
    if has_artifacts is None:
        # Orphaned claims that nothing was produced; without a look at the folder nobody can claim that.
        return Health.STALE, "run.health.artifacts_unknown"
    if not now - began_at(session) >= ORPHANED_AFTER:
        return Health.STALE, "run.health.too_young"
    return Health.ORPHANED, "run.health.no_output"


def _judge_ended(evidence: Evidence) -> Health:
    return Health.ZOMBIE if evidence.stale_locks or evidence.temp_files else Health.HEALTHY


def began_at(session: Session) -> float:
    """When a run began, as far as anyone knows."""
    return session.created_at if session.started_at is None else session.started_at


def _deciding_reason(code: str, session: Session, process: ProcessState, idle: float) -> Reason:
    match code:
        case "run.health.artifacts_unknown":
            sentence = "It has no messages; whether it left files is not known."
            path = session.artifacts_path
            return Reason(code, sentence, () if path is None else (EvidenceRef(EvidenceKind.FILE, path),))
        case "run.health.too_young":
            sentence = f"It has no output, but is younger than {format_duration(ORPHANED_AFTER)}."
            return Reason(code, sentence, (_fact("started_at", began_at(session)),))
        case "run.health.no_output":
            return Reason(code, "It never wrote a message or a file.", (_fact("message_count", 0),))
        case _:
            return _quiet_reason(code, session, process, idle)


def _quiet_reason(code: str, session: Session, process: ProcessState, idle: float) -> Reason:
    sentence = f"Nothing was heard for {format_duration(idle)}"
    if process is not ProcessState.DEAD:
        sentence += f"; {_allowance(session.invocation_kind)}"
    return Reason(code, f"{sentence}.", _heard_refs(session))


@cache  # there are few kinds, and a list asks for each row
def _allowance(kind: InvocationKind | None) -> str:
    runs = "runs" if kind is None else f"{kind} runs"
    return f"{runs} may be quiet for {format_duration(stale_after(kind))}"


def _classify_ended(session: Session, evidence: Evidence) -> HealthVerdict:
    health = _judge_ended(evidence)
    reasons = list(_leftover_reasons(evidence)) if health is Health.ZOMBIE else []
    if session.status is None:
        reasons.append(LEGACY)
    elif not reasons:
        reasons.append(CLEAN_END)
    if wrote_after_end(session):
        reasons.append(_late_reason(session))
    if session.messages_lost > 0:
        reasons.append(_lost_reason(session))
    return HealthVerdict(health, tuple(reasons), None, evidence.process.state)


def _held_true(evidence: Evidence, *, now: float) -> ProcessState:
    """What is held true about the process. A heartbeat speaks only where nobody could look."""
    state, heartbeat_at = evidence.process.state, evidence.heartbeat_at
    if state is not ProcessState.UNKNOWN or heartbeat_at is None:
        return state
    # Both ways: a heartbeat far in the future comes from a clock that proves nothing.
    return ProcessState.ALIVE if abs(now - heartbeat_at) <= HEARTBEAT_FRESH_FOR else state


def _process_reason(evidence: Evidence, held_true: ProcessState, *, now: float) -> Reason:
    look, heartbeat_at = evidence.process, evidence.heartbeat_at
    seen = EvidenceRef(EvidenceKind.PROCESS, "none" if look.pid is None else str(look.pid), look.sentence)
    facts = (seen,) if evidence.observed_at is None else (seen, _observed(evidence.observed_at))
    if look.state is ProcessState.ALIVE:
        return Reason("run.health.process_alive", "Its process is alive.", facts)
    if look.state is ProcessState.DEAD:
        return Reason("run.health.process_dead", "The process ended and the run never said how.", facts)
    if held_true is ProcessState.ALIVE and heartbeat_at is not None:
        sentence = f"Its process cannot be seen, but sent a heartbeat {format_duration(now - heartbeat_at)} ago."
        return Reason("run.health.heartbeat_fresh", sentence, (*facts, _fact("heartbeat_at", heartbeat_at)))
    return Reason("run.health.process_unknown", "Whether its process lives is unknown.", facts)


def _heard_refs(session: Session) -> tuple[EvidenceRef, ...]:
    heard = _fact("last_activity_at", last_activity_at(session))
    if session.last_msg_id is None:
        return (heard,)
    return (EvidenceRef(EvidenceKind.MESSAGE, session.last_msg_id, "last message"), heard)


def _leftover_reasons(evidence: Evidence) -> Iterator[Reason]:
    for code, noun, files in (
        ("run.health.stale_locks", "stale lock", evidence.stale_locks),
        ("run.health.temp_files", "unfinished file", evidence.temp_files),
    ):
        if files:
            refs = tuple(EvidenceRef(EvidenceKind.FILE, file) for file in files)
            yield Reason(code, f"The run has ended and left {count_of(len(files), noun)} behind.", refs)


def _late_reason(session: Session) -> Reason:
    facts = (_fact("ended_at", session.ended_at), _fact("last_message_at", session.last_message_at))
    sentence = f"Messages arrived after {session.end_actor} had ended the run."
    return Reason("run.health.wrote_after_end", sentence, facts)


def _clock_reason(session: Session, *, now: float) -> Reason:
    ahead = format_duration(last_activity_at(session) - now)
    sentence = f"Its last activity is dated {ahead} in the future; two clocks differ."
    return Reason("run.health.clock_ahead", sentence, _heard_refs(session))


def _lost_reason(session: Session) -> Reason:
    sentence = f"{count_of(session.messages_lost, 'message')} could be stored nowhere."
    return Reason("run.recording.lost", sentence, (_fact("messages_lost", session.messages_lost),))


@lru_cache(maxsize=1, typed=True)  # all rows of a list are looked at in one moment
def _observed(at: float) -> EvidenceRef:
    return _fact("observed_at", at)


def _fact(name: str, value: object) -> EvidenceRef:
    return EvidenceRef(EvidenceKind.FACT, name, str(value))
