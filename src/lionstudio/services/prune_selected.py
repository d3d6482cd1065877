"""Prune of runs that an operator chose: all of them or none, and a reason for each that must stay (R173, R178)."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

from lionstudio.domain.errors import Error, InvalidRequest, SessionIsNeeded, SessionIsRunning
from lionstudio.domain.session import SessionStatus
from lionstudio.services import sessions
from lionstudio.services.context import Context
from lionstudio.services.prune import KeptSession, Order, Progress, carry_out, find_kept, put_in_batches
from lionstudio.services.refusing import refuse, require_ids
from lionstudio.store import maintenance
from lionstudio.store import sessions as session_rows
from lionstudio.store.maintenance import Removed
from lionstudio.store.transaction import Tx


class Pruned(NamedTuple):
    """The runs that were deleted, or would be; `kept` are those that had to be kept since they were looked at."""

    session_ids: tuple[str, ...]
    removed: Removed
    kept: tuple[KeptSession, ...] = ()
    event_id: str | None = None  # of a dry run, none


def prune_selected(
    ctx: Context,
    session_ids: Sequence[str],
    *,
    actor: str,
    reason: str | None = None,
    dry_run: bool = False,
    on_progress: Progress | None = None,
) -> Pruned:
    """Delete ended runs by their ids, by the rules of ADR 0016 but for their age.

    One refused run means that none is deleted: its own error for a single run, Refused with one entry each for
    several. Runs that descend from each other may go together. They go in batches, so that others can write; a run
    that is needed by the time its turn comes is kept.
    """
    if not actor.strip():
        raise InvalidRequest("Who prunes must be known.")
    wanted = require_ids(session_ids)
    with ctx.db.read() as tx:
        _require_free(tx, wanted)
        if dry_run:
            return Pruned(tuple(wanted), maintenance.count_sessions(tx, wanted))
        ended = maintenance.list_still_old(tx, wanted, ended_before=inf)
        batches = put_in_batches(tx, [ended[session_id] for session_id in wanted])
    target = wanted[0] if len(wanted) == 1 else None
    order = Order(batches, inf, actor, {"selected": True, "reason": reason}, target_id=target)
    done = carry_out(ctx, order, on_progress=on_progress)
    if done.event_id is None:
        with ctx.db.read() as tx:
            _require_free(tx, wanted)  # raises SessionNotFound
    gone = frozenset(done.gone)
    return Pruned(tuple(id for id in wanted if id in gone), done.removed, done.kept, done.event_id)


def _require_free(tx: Tx, wanted: Sequence[str]) -> None:
    """Raise what keeps each of the runs that may not go."""
    known = session_rows.find_many(tx, wanted)
    ended: list[str] = []
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
            ended.append(session_id)
    for session_id, kept in find_kept(tx, ended).items():
        refused[session_id] = SessionIsNeeded(
            f"The run {session_id} is still needed. {kept.sentence}", hint="Delete what needs it first, or with it."
        )
    if refused:
        in_order = {session_id: refused[session_id] for session_id in wanted if session_id in refused}
        refuse(in_order, asked=len(wanted), what="deleted")
