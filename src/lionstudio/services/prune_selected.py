"""Prune of runs that an operator chose: all of them or none, and a reason for each that must stay (R173, R178)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.errors import Error, InvalidRequest, SessionIsNeeded, SessionIsRunning
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.services import sessions
from lionstudio.services.admin import add_event
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.prune import delete_runs, find_kept
from lionstudio.services.refusing import refuse, require_ids
from lionstudio.services.sessions import lock_sessions
from lionstudio.store import maintenance
from lionstudio.store import sessions as session_rows
from lionstudio.store.maintenance import Removed
from lionstudio.store.transaction import Tx


class Pruned(NamedTuple):
    """The runs that were deleted, or would be."""

    session_ids: tuple[str, ...]
    removed: Removed
    event_id: str | None = None  # of a dry run, none


@again_if_undone
def prune_selected(
    ctx: Context, session_ids: Sequence[str], *, actor: str, reason: str | None = None, dry_run: bool = False
) -> Pruned:
    """Delete ended runs by their ids, by the rules of ADR 0016 but for their age.

    One refused run means that none is deleted: its own error for a single run, Refused with one entry each for
    several. Runs that descend from each other may go together.
    """
    if not actor.strip():
        raise InvalidRequest("Who prunes must be known.")
    wanted = require_ids(session_ids)
    if dry_run:
        with ctx.db.read() as tx:
            _require_free(tx, wanted)
            return Pruned(tuple(wanted), maintenance.count_sessions(tx, wanted))
    try:
        with ctx.db.write_in_bulk() as tx:
            maintenance.take_turn(tx, at=ctx.now())
            lock_sessions(tx, {*wanted, *maintenance.list_children(tx, wanted)})
            found = _require_free(tx, wanted)
            removed = delete_runs(ctx, tx, {id: session.status for id, session in found.items()}, actor)
            details = {"selected": True, "reason": reason, **removed._asdict(), "session_ids": wanted}
            target = wanted[0] if len(wanted) == 1 else None
            event = add_event(ctx, tx, "prune", target_id=target, details=details, actor=actor)
    finally:
        ctx.db.end_bulk()
    return Pruned(tuple(wanted), removed, event.id)


def _require_free(tx: Tx, wanted: Sequence[str]) -> Mapping[str, Session]:
    """The runs, if every one of them may go; else raises what keeps each."""
    known = session_rows.find_many(tx, wanted)
    found: dict[str, Session] = {}
    refused: dict[str, Error] = {}
    for session_id in wanted:
        session = known.get(session_id)
        if session is None:
            refused[session_id] = sessions.no_session(session_id)
        elif session.status is SessionStatus.RUNNING:
            refused[session_id] = SessionIsRunning(
                f"The run {session_id} has not ended, and only ended runs are deleted.",
                hint="End it first: by hand if it is dead, else li runs kill. Its messages can be exported, too.",
            )
        else:
            found[session_id] = session
    for session_id, kept in find_kept(tx, found).items():
        refused[session_id] = SessionIsNeeded(
            f"The run {session_id} is still needed. {kept.sentence}", hint="Delete what needs it first, or with it."
        )
    if refused:
        in_order = {session_id: refused[session_id] for session_id in wanted if session_id in refused}
        refuse(in_order, asked=len(wanted), what="deleted")
    return found
