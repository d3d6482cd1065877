"""What an import changes about a session that is known: what it lacked, and its end."""

from collections.abc import Sequence

from lionstudio.domain.completing import completed_branch, completed_session, is_believed
from lionstudio.domain.conversation import MessageDraft
from lionstudio.domain.session import (
    RUN_ACTOR,
    TERMINAL_STATUSES,
    Session,
    SessionStatus,
    SourceKind,
    with_fitting_names,
)
from lionstudio.services.admin import keep_history
from lionstudio.services.context import Context
from lionstudio.services.import_parts import Part, time_of
from lionstudio.services.sessions import known_session
from lionstudio.store import imports, sessions
from lionstudio.store.transaction import Tx

ACTOR = "import"
REASON = "run.imported"


def complete(ctx: Context, tx: Tx, known: Session, told: Session, added: Sequence[MessageDraft]) -> bool:
    """Write what a source adds to a session; whether that was more than what follows from its messages."""
    facts = with_fitting_names(completed_session(known, told))
    if known.parent_session_id is None:
        facts = facts._replace(parent_session_id=known_session(tx, told.parent_session_id))
    is_more = facts != known
    after = with_bookmarks(facts, added)
    if added and time_of(added[-1]) >= (known.last_message_at or 0.0):
        after = after._replace(last_msg_id=added[-1].id, last_message_at=added[-1].created_at)
    if added:
        after = after._replace(updated_at=max(known.updated_at, told.updated_at, time_of(added[-1])))
    elif is_more:
        after = after._replace(updated_at=max(known.updated_at, told.updated_at))
    if after != known:
        imports.complete_session(tx, after)
    if after.status is not known.status:
        keep_status(ctx, tx, after, before=known.status)
    return is_more


def complete_branches(tx: Tx, known: Session, told: Session, parts: Sequence[Part]) -> bool:
    """Write what a source adds to the branches that a session has; whether it added anything."""
    believed = is_believed(told, over=known)
    found = [
        (part.branch, completed_branch(part.branch, part.told, believed=believed))
        for part in parts
        if not part.is_new and known.source_kind is not SourceKind.LIVE
    ]
    changed = [after for before, after in found if after != before]
    for branch in changed:
        imports.complete_branch(tx, branch)
    return bool(changed)


def end(ctx: Context, tx: Tx, known: Session, told: Session) -> bool:
    """End a run that was running when it was imported before. How a live run ends, its recorder knows better."""
    final = told.status
    if known.status is not SessionStatus.RUNNING or known.source_kind is SourceKind.LIVE:
        return False
    if final is None or final is SessionStatus.RUNNING:
        return False
    ended_at = told.updated_at if told.ended_at is None else told.ended_at
    actor, reason = told.end_actor or RUN_ACTOR, told.end_reason or REASON
    sessions.end(tx, known.id, status=final, at=ended_at, exit_code=told.exit_code, actor=actor, reason=reason)
    keep_status(ctx, tx, told, before=known.status)
    return True


def end_later(ctx: Context, tx: Tx, known: Session, told: Session, added: Sequence[MessageDraft]) -> bool:
    """Move the end of a run that had ended, was resumed, and has ended again. An operator's word stays."""
    if not added or known.source_kind is SourceKind.LIVE or known.end_actor not in (None, RUN_ACTOR):
        return False
    if known.status not in TERMINAL_STATUSES or told.status not in TERMINAL_STATUSES:
        return False
    if known.ended_at is None or told.ended_at is None or told.ended_at <= known.ended_at:
        return False
    imports.end_later(tx, known.id, status=told.status, at=told.ended_at, exit_code=told.exit_code)
    keep_status(ctx, tx, told, before=known.status)
    return True


def with_end(session: Session) -> Session:
    """The session with what ended it: its source says so, as far as anybody knows, where there is no exit code."""
    if session.status not in TERMINAL_STATUSES or session.end_reason is not None or session.exit_code is not None:
        return session
    return session._replace(end_actor=session.end_actor or RUN_ACTOR, end_reason=REASON)


def keep_status(ctx: Context, tx: Tx, session: Session, *, before: SessionStatus | None) -> None:
    """Keep that an import gave a session its status."""
    if session.status is not None:
        keep_history(
            ctx, tx, "session", session.id,
            before=before, after=session.status, at=ctx.now(), actor=ACTOR, reason=REASON,
        )  # fmt: skip


def with_bookmarks(session: Session, in_order: Sequence[MessageDraft]) -> Session:
    """The session with its first and last message, where it does not name them (R17)."""
    if not in_order:
        return session
    return session._replace(
        first_msg_id=session.first_msg_id or in_order[0].id,
        last_msg_id=session.last_msg_id or in_order[-1].id,
        last_message_at=session.last_message_at or in_order[-1].created_at,
    )
