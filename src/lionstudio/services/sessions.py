"""Sessions: begin, end, read and list them."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import Branch, Line
from lionstudio.domain.drafts import require_exit_code
from lionstudio.domain.errors import AlreadyExists, InvalidRequest, SessionNotFound
from lionstudio.domain.process import UNKNOWN_PID, Place, ProcessRecord, ProcessRole
from lionstudio.domain.reasons import reason_for_exit, require_reason_code
from lionstudio.domain.session import (
    RUN_ACTOR,
    InvocationKind,
    Session,
    SessionStatus,
    SourceKind,
    with_fitting_names,
)
from lionstudio.domain.usage import Usage
from lionstudio.domain.words import parse_word
from lionstudio.services.admin import keep_history
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.forking import NO_FORK, ForkPoint, fork_point, history_length
from lionstudio.store import audit, branches, changes, processes, progressions, sessions, usage
from lionstudio.store.transaction import Tx, Undone


class SessionDraft(NamedTuple):
    """A run as its recorder announces it. Words are checked when it is stored."""

    line: Line  # its own id, that of the branch every run begins with, and their progressions
    name: str | None = None
    kind: str | None = None
    source: str = SourceKind.LIVE.value
    user: str | None = None
    agent: str | None = None
    playbook: str | None = None
    show_topic: str | None = None
    show_play: str | None = None
    artifacts_path: str | None = None
    parent_session_id: str | None = None
    branch_name: str | None = None
    node_metadata: Mapping[str, Any] | None = None
    branch_metadata: Mapping[str, Any] | None = None
    parent_branch_id: str | None = None  # the branch of another run that its first one goes on with
    forked_at_ord: int | None = None  # … and how much of it; None: all of it
    started_at: float | None = None


def session_of(draft: SessionDraft) -> Session:
    """The session that a recorder announces, as it begins; raises UnknownWord."""
    started_at = draft.started_at or 0.0
    return with_fitting_names(
        Session(
            id=draft.line.session_id,
            created_at=started_at,
            updated_at=started_at,
            progression_id=draft.line.session_progression_id,
            name=draft.name,
            user=draft.user,
            status=SessionStatus.RUNNING,
            started_at=started_at,
            invocation_kind=None if draft.kind is None else parse_word(InvocationKind, draft.kind, what="kind of run"),
            source_kind=parse_word(SourceKind, draft.source, what="source of a run"),
            playbook_name=draft.playbook,
            agent_name=draft.agent,
            show_topic=draft.show_topic,
            show_play_name=draft.show_play,
            artifacts_path=draft.artifacts_path or None,
            parent_session_id=draft.parent_session_id,
            node_metadata=draft.node_metadata,
            branch_count=1,
        )
    )


def first_branch_of(draft: SessionDraft, started_at: float) -> Branch:
    """The branch that a session begins with, before anything is known of the one that it goes on with."""
    return Branch(
        id=draft.line.branch_id,
        created_at=started_at,
        session_id=draft.line.session_id,
        progression_id=draft.line.branch_progression_id,
        name=draft.branch_name,
        node_metadata=draft.branch_metadata,
    )


@again_if_undone
def start_session(ctx: Context, draft: SessionDraft, process: ProcessRecord | None = None) -> Session:
    """Begin a run with its first branch (R90). Announcing the same run again changes nothing.

    One that began earlier is written now: that is its first sign of life, or it would be stale at once.
    """
    now = ctx.now()
    started_at = now if draft.started_at is None else draft.started_at
    session = session_of(draft._replace(started_at=started_at))._replace(updated_at=max(started_at, now))
    with ctx.db.write() as tx:
        known = sessions.find(tx, draft.line.session_id)
        if known is not None:
            return known
        session = session._replace(parent_session_id=known_session(tx, draft.parent_session_id))
        branch = first_branch_of(draft, started_at)._replace(**_fork_of(tx, draft)._asdict())
        progressions.add_head(tx, session.progression_id, created_at=started_at)
        if not sessions.insert(tx, session):  # somebody else announced it a moment ago, and now it is known
            raise Undone(f"The run {session.id!r} was announced twice at the same moment.")
        progressions.add_head(tx, branch.progression_id, created_at=started_at)
        if not branches.insert(tx, branch):
            raise taken_branch(branch.id)
        if process is not None:
            processes.put(tx, process)
        keep_history(
            ctx, tx, "session", session.id,
            before=None, after=session.status, at=started_at, actor=RUN_ACTOR, reason="run.started",
        )  # fmt: skip
        tx.tell(Topic.SESSION, session.id, session_id=session.id, at=ctx.now())
    return session


def _fork_of(tx: Tx, draft: SessionDraft) -> ForkPoint:
    """Where the first branch begins. No run fails for a branch that is not here any more."""
    parent = None if draft.parent_branch_id is None else branches.find(tx, draft.parent_branch_id)
    if parent is None:
        return NO_FORK
    at = draft.forked_at_ord
    return fork_point(tx, parent, None if at is None else min(at, history_length(parent)))


def finish_session(
    ctx: Context,
    session_id: str,
    status: str,
    *,
    exit_code: int | None = None,
    reason: str | None = None,
    sentence: str | None = None,
    at: float | None = None,
) -> Session:
    """End a run as it ended itself. One that has ended keeps its status, and the report is kept in its history (D6)."""
    final = parse_word(SessionStatus, status, what="status")
    if final is SessionStatus.RUNNING:
        raise InvalidRequest("A run cannot be finished as running.", hint="Use one of the final statuses.")
    if exit_code is not None:
        require_exit_code(exit_code)
    code = require_reason_code(reason or reason_for_exit(final, exit_code))
    ended_at = ctx.now() if at is None else at
    with ctx.db.write() as tx:
        before = get(tx, session_id, lock=True)
        ended = sessions.end(
            tx, session_id, status=final, at=ended_at, exit_code=exit_code, actor=RUN_ACTOR, reason=code
        )
        after: SessionStatus = final
        evidence: dict[str, Any] | None = None
        if not ended:
            evidence = {"reported": final.value, "exit_code": exit_code}
            if before.status is None or _is_known(tx, before, evidence):
                return before
            after, code = before.status, "run.ended.late_report"
            end = "it had ended" if _ended_itself(before) else f"{before.end_actor} had ended it"
            sentence = f"The run reported {final} after {end} as {after}."
        keep_history(
            ctx, tx, "session", session_id,
            before=before.status, after=after, at=ended_at, actor=RUN_ACTOR, reason=code, sentence=sentence,
            evidence=evidence,
        )  # fmt: skip
        changes.trim(tx, now=ctx.now())
        tx.tell(Topic.SESSION, session_id, session_id=session_id, at=ctx.now())
        return get(tx, session_id)


def _is_known(tx: Tx, session: Session, report: Mapping[str, Any]) -> bool:
    """Whether an ended run said this already: who hears no answer says it again, and so does a spool."""
    history = audit.list_transitions(tx, "session", session.id)
    said = [step.evidence or {} for step in history if step.reason_code == "run.ended.late_report"]
    if _ended_itself(session):
        said.append({"reported": session.status, "exit_code": session.exit_code})
    return any(_is_same(report, earlier) for earlier in said)


def _is_same(report: Mapping[str, Any], earlier: Mapping[str, Any]) -> bool:
    """Whether two reports say the same. One that leaves the exit code out does not contradict one that has it."""
    code, known = report["exit_code"], earlier.get("exit_code")
    return report["reported"] == earlier.get("reported") and (code == known or None in (code, known))


def _ended_itself(session: Session) -> bool:
    """Whether an ended run did so itself, as far as anybody knows: a legacy run says nothing of that."""
    return session.end_actor in (None, RUN_ACTOR)


def beat(ctx: Context, session_id: str, role: str) -> None:
    """A sign of life from a process that nobody here can look at. It is no news."""
    with ctx.db.write() as tx:
        processes.beat(tx, session_id, role, at=ctx.now())


def beat_from_afar(ctx: Context, session_id: str, role: ProcessRole) -> float:
    """A sign of life that came over the network; when it was written down. Raises SessionNotFound.

    It may come from a process that was never recorded: then all that is known of it is that it beats.
    """
    now = ctx.now()
    with ctx.db.write() as tx:
        get(tx, session_id)
        if not processes.beat(tx, session_id, role, at=now):
            unseen = ProcessRecord(session_id, role, Place(None, None, None), pid=UNKNOWN_PID, heartbeat_at=now)
            processes.put(tx, unseen)
    return now


def put_process(ctx: Context, process: ProcessRecord, *more: ProcessRecord) -> None:
    """Record which process does a run's work, and which writes it down."""
    with ctx.db.write() as tx:
        get(tx, process.session_id)
        for each in (process, *more):
            processes.put(tx, each)
        tx.tell(Topic.SESSION, process.session_id, session_id=process.session_id, at=ctx.now())


def count_lost(ctx: Context, session_id: str, count: int) -> None:
    """Say on the run that messages could be kept nowhere (`run.recording.lost`)."""
    with ctx.db.write() as tx:
        sessions.add_lost(tx, session_id, count=count, at=ctx.now())
        tx.tell(Topic.SESSION, session_id, session_id=session_id, at=ctx.now())


def get_session(ctx: Context, session_id: str) -> Session:
    """One session; raises SessionNotFound."""
    with ctx.db.read() as tx:
        return get(tx, session_id)


def list_message_ids(ctx: Context, session_id: str) -> list[str]:
    """The ids of a session's messages in their order; raises SessionNotFound."""
    with ctx.db.read() as tx:
        return progressions.progression_ids(tx, get(tx, session_id).progression_id)


def list_history(ctx: Context, session_id: str) -> list[StatusTransition]:
    """How a session came to its status, oldest first."""
    with ctx.db.read() as tx:
        return audit.list_transitions(tx, "session", session_id)


def list_processes(ctx: Context, session_id: str) -> list[ProcessRecord]:
    """The processes that were recorded for a run."""
    with ctx.db.read() as tx:
        return processes.list_of_session(tx, session_id)


def get_usage(ctx: Context, session_id: str) -> dict[str, Usage]:
    """What a run consumed, by model."""
    with ctx.db.read() as tx:
        get(tx, session_id)
        return usage.by_model(tx, session_id)


def lock_session(tx: Tx, session_id: str) -> None:
    """Keep other writers from a session, and it from being pruned, until the use case is done."""
    if tx.dialect.lock_session is not None:
        tx.all(tx.dialect.lock_session, session_id=session_id)


def lock_sessions(tx: Tx, session_ids: Collection[str]) -> None:
    """The same for many, in the one order that everyone keeps to: else two could wait for each other."""
    if tx.dialect.lock_session is not None:
        tx.many(tx.dialect.lock_session, [{"session_id": id} for id in sorted(session_ids)])


def find_locked(tx: Tx, session_id: str) -> Session | None:
    """One session within a transaction, kept from other writers, if it is there."""
    lock_session(tx, session_id)
    return sessions.find(tx, session_id)


def get(tx: Tx, session_id: str, *, lock: bool = False) -> Session:
    """One session within a transaction, kept from other writers if asked; raises SessionNotFound."""
    session = find_locked(tx, session_id) if lock else sessions.find(tx, session_id)
    if session is None:
        raise no_session(session_id)
    return session


def known_session(tx: Tx, session_id: str | None) -> str | None:
    """The id of a session that something is to refer to, unless it is recorded elsewhere: nothing fails for that.

    It stays known until the use case is done. Without the lock it could be pruned before it is referred to.
    """
    return session_id if session_id and find_locked(tx, session_id) is not None else None


def no_session(session_id: str) -> SessionNotFound:
    return SessionNotFound(f"There is no run {session_id!r}.", hint="li runs ls shows the runs there are.")


def taken_branch(branch_id: str) -> AlreadyExists:
    return AlreadyExists(f"Another run has a branch {branch_id!r}.", hint="Choose another id for the branch.")
