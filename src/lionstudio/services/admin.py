"""The record of what was done: events of operators and the doctor, and the history of every status."""

from collections.abc import Mapping, Sequence
from typing import Any

from lionstudio.domain.audit import AdminEvent, StatusTransition
from lionstudio.domain.change import Topic
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.reasons import require_reason_code
from lionstudio.services.context import Context, again_if_undone
from lionstudio.store import audit
from lionstudio.store.transaction import Tx

PAGE = 100
ADMIN_ACTOR = "admin"
# The database checks the age of an event by its own clock, which may differ from ours: what is nearly old enough stays.
CLOCK_MARGIN = 3600.0


def record_event(
    ctx: Context,
    action: str,
    *,
    target_id: str | None = None,
    details: Mapping[str, Any] | None = None,
    actor: str = ADMIN_ACTOR,
) -> AdminEvent:
    """Write down that something was done (R190)."""
    with ctx.db.write() as tx:
        return add_event(ctx, tx, action, target_id=target_id, details=details, actor=actor)


def list_events(
    ctx: Context,
    *,
    action: str | None = None,
    target_id: str | None = None,
    before: tuple[float, str] | None = None,
    limit: int = PAGE,
) -> list[AdminEvent]:
    """Events newest first, from the one after `before`, which is the (created_at, id) of the last one seen."""
    with ctx.db.read() as tx:
        return audit.list_events(tx, action=action, target_id=target_id, before=before, limit=limit)


def trim_events(ctx: Context) -> int:
    """Forget events that are older than 30 days and not among the newest 1,000 (R192); how many went."""
    with ctx.db.write() as tx:
        return audit.trim_events(tx, now=ctx.now() - CLOCK_MARGIN)


def add_event(
    ctx: Context,
    tx: Tx,
    action: str,
    *,
    target_id: str | None = None,
    details: Mapping[str, Any] | None = None,
    actor: str = ADMIN_ACTOR,
) -> AdminEvent:
    """Write down, within the transaction that does it, that something was done."""
    if not action.strip() or not actor.strip():
        raise InvalidRequest("An event needs an action and an actor.", hint="Say who does it: actor='ana'.")
    event = AdminEvent(ctx.new_id(), ctx.now(), action, target_id, dict(details or {}), actor)
    audit.add_event(tx, event)
    audit.trim_events(tx, now=ctx.now() - CLOCK_MARGIN)
    tx.tell(Topic.ADMIN, event.id, at=event.created_at)
    return event


@again_if_undone
def take_over_history(ctx: Context, steps: Sequence[StatusTransition]) -> int:
    """Keep steps that are told elsewhere, each once, under the ids they have; how many were new."""
    told = {step.id: step for step in steps}
    with ctx.db.write() as tx:
        known = audit.list_known(tx, told)
        audit.add_transitions(tx, [step for id, step in told.items() if id not in known])
    return len(told) - len(known)


def keep_history(
    ctx: Context,
    tx: Tx,
    entity: str,
    entity_id: str,
    *,
    before: str | None,
    after: str | None,
    at: float,
    actor: str,
    reason: str | None = None,
    sentence: str | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> None:
    """Keep how a session, play, show or team came to its status. `after` is None for one that was deleted."""
    code = None if reason is None else require_reason_code(reason)
    step = StatusTransition(ctx.new_id(), entity, entity_id, before, after, at, actor, code, sentence, evidence)
    audit.add_transitions(tx, [step])
