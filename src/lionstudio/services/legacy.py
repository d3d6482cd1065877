"""Legacy runs: they stay without a status until an operator decides otherwise (D7, R93, R188)."""

from collections.abc import Callable

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session import SessionStatus
from lionstudio.services.admin import add_event, keep_history
from lionstudio.services.context import Context
from lionstudio.services.sessions import lock_sessions
from lionstudio.store import legacy

BATCH = 500  # runs to a transaction, so that nobody waits for long
REASON = "run.backfilled.by_operator"


def count_legacy(ctx: Context) -> int:
    """How many runs have no status."""
    with ctx.db.read() as tx:
        return legacy.count_legacy(tx)


def list_legacy(ctx: Context, *, limit: int) -> list[str]:
    """The ids of runs without a status, oldest first."""
    with ctx.db.read() as tx:
        return legacy.list_legacy(tx, limit=limit)


def backfill_legacy(
    ctx: Context, *, actor: str, dry_run: bool = False, on_progress: Callable[[int], None] | None = None
) -> int:
    """Give every legacy run the status completed (R93), with its history and one event for all; how many."""
    if not actor.strip():
        raise InvalidRequest("Who backfills must be known.")
    if dry_run:
        return count_legacy(ctx)
    done = 0
    try:
        while batch := _backfill_some(ctx, actor):
            done += batch
            if on_progress is not None:
                on_progress(done)
    finally:
        if done:  # what has a status now is on record, even if the rest was interrupted
            with ctx.db.write() as tx:
                add_event(ctx, tx, "backfill_legacy", details={"sessions": done}, actor=actor)
    return done


def _backfill_some(ctx: Context, actor: str) -> int:
    with ctx.db.write() as tx:
        found = legacy.list_legacy(tx, limit=BATCH)
        lock_sessions(tx, found)
        changed = [session_id for session_id in found if legacy.backfill(tx, session_id)]
        for session_id in changed:
            after = SessionStatus.COMPLETED
            keep_history(
                ctx, tx, "session", session_id, before=None, after=after, at=ctx.now(), actor=actor, reason=REASON
            )
            tx.tell(Topic.SESSION, session_id, session_id=session_id, at=ctx.now())
    return len(changed)
