"""History: what operators did, and how every status came to be. The database itself refuses to change it."""

from collections.abc import Iterable

from lionstudio.domain.audit import EVENT_RETENTION_COUNT, EVENT_RETENTION_SECONDS, AdminEvent, StatusTransition
from lionstudio.store import pages
from lionstudio.store.encoding import IDS, ids_in, json_in, json_out, optional_json_in
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

ADD_TRANSITION = """
    INSERT INTO status_transitions (
        id, entity, entity_id, from_status, to_status, at, actor, reason_code, sentence, evidence)
    VALUES (:id, :entity, :entity_id, :from_status, :to_status, :at, :actor, :reason_code, :sentence, :evidence)
"""
LIST_TRANSITIONS = """
    SELECT id, entity, entity_id, from_status, to_status, at, actor, reason_code, sentence, evidence
      FROM status_transitions WHERE entity = :entity AND entity_id = :entity_id ORDER BY at, id
"""


def add_transitions(tx: Tx, steps: Iterable[StatusTransition]) -> None:
    """Keep moves, all at once: a prune makes thousands."""
    tx.many(
        ADD_TRANSITION,
        [
            {
                "id": step.id,
                "entity": step.entity,
                "entity_id": step.entity_id,
                "from_status": step.from_status,
                "to_status": step.to_status,
                "at": step.at,
                "actor": text_in(step.actor),
                "reason_code": step.reason_code,
                "sentence": text_in(step.sentence),
                "evidence": optional_json_in(step.evidence, what="evidence"),
            }
            for step in steps
        ],
    )


# Who takes over what others tell takes turns, so that two do not bring in the same.
LOCK_HISTORY = "UPDATE schema_meta SET value = value WHERE key = 'version'"
LIST_KNOWN = f"SELECT id FROM status_transitions WHERE id IN {IDS}"


def list_known(tx: Tx, ids: Iterable[str]) -> set[str]:
    """Those of these ids that moves have already; who else asks waits until this use case is done."""
    tx.run(LOCK_HISTORY)
    return {id for (id,) in tx.all(LIST_KNOWN, ids=ids_in(ids))}


def list_transitions(tx: Tx, entity: str, entity_id: str) -> list[StatusTransition]:
    """The moves of one entity, oldest first."""
    rows = tx.all(LIST_TRANSITIONS, entity=entity, entity_id=entity_id)
    return [
        StatusTransition(
            id=row[0],
            entity=row[1],
            entity_id=row[2],
            from_status=row[3],
            to_status=row[4],
            at=row[5],
            actor=row[6],
            reason_code=row[7],
            sentence=row[8],
            evidence=json_out(row[9]),
        )
        for row in rows
    ]


ADD_EVENT = """
    INSERT INTO admin_events (id, created_at, action, target_id, details, actor)
    VALUES (:id, :created_at, :action, :target_id, :details, :actor)
"""


def add_event(tx: Tx, event: AdminEvent) -> None:
    add_events(tx, [event])


def add_events(tx: Tx, events: Iterable[AdminEvent]) -> None:
    """Keep events, all at once: a round of the doctor makes thousands."""
    tx.many(
        ADD_EVENT,
        [
            {
                "id": event.id,
                "created_at": event.created_at,
                "action": text_in(event.action),
                "target_id": text_in(event.target_id),
                "details": json_in(dict(event.details), what="details"),
                "actor": text_in(event.actor),
            }
            for event in events
        ],
    )


SELECT_EVENT = "SELECT id, created_at, action, target_id, details, actor FROM admin_events"


def list_events(
    tx: Tx,
    *,
    action: str | None = None,
    target_id: str | None = None,
    actor: str | None = None,
    since: float | None = None,
    before: pages.Key | None,
    limit: int,
) -> list[AdminEvent]:
    """Events newest first, from the one after `before` back to `since`."""
    rows = pages.list_newest(
        tx,
        SELECT_EVENT,
        before=before,
        limit=limit,
        since=since,
        action=text_in(action),
        target_id=text_in(target_id),
        actor=text_in(actor),
    )
    return [AdminEvent(row[0], row[1], row[2], row[3], json_out(row[4]), row[5]) for row in rows]


FIND_OLDEST_KEPT = "SELECT created_at FROM admin_events ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET :offset"
TRIM_EVENTS = "DELETE FROM admin_events WHERE created_at < :before"


def trim_events(tx: Tx, *, now: float) -> int:
    """Forget events that are older than 30 days and not among the newest 1,000 (R192); how many went."""
    oldest_kept = tx.value(FIND_OLDEST_KEPT, offset=EVENT_RETENTION_COUNT - 1)
    if oldest_kept is None:
        return 0
    return tx.run(TRIM_EVENTS, before=min(oldest_kept, now - EVENT_RETENTION_SECONDS))
