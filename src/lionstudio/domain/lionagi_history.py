"""How a status came to be, as rows of a lionagi state.db tell it, in the shape of our own history.

lionagi gives reasons by codes of its own: one that is registered here stays, any other is kept in the evidence, with
whatever else a row says that we have no place for.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.foreign_words import read_status
from lionstudio.domain.lionagi_envelope import unix_of
from lionstudio.domain.lionagi_rows import KEPT, Row, plain_text, read_json
from lionstudio.domain.reasons import REASON_CODES
from lionstudio.domain.show import PlayStatus, ShowStatus
from lionstudio.domain.team import TeamStatus
from lionstudio.domain.words import find_word

UNKNOWN_ACTOR = "lionagi"
_PLACED = frozenset({"id", "entity_type", "entity_id", "created_at", "actor", "reason_summary"})
_STATUSES: Mapping[str, Callable[[Any], StrEnum | None]] = {
    "session": lambda word: read_status(word).word,
    "show": lambda word: find_word(ShowStatus, word),
    "play": lambda word: find_word(PlayStatus, word),
    "team": lambda word: find_word(TeamStatus, word),
}
ENTITIES = frozenset(_STATUSES)  # what has a history here; lionagi's schedules and invocations have no place


def transition_of(row: Row, entity: str, entity_id: str) -> StatusTransition | None:
    """The move that a row tells of something that is here under this id; None for what cannot be told honestly.

    That is a move without a time, or into a status that we have no word for: without one it would read as a deletion.
    """
    id, at = plain_text(row, "id"), unix_of(row.get("created_at"))
    before, after = (_STATUSES[entity](plain_text(row, name)) for name in ("previous_status", "status"))
    if id is None or not id.isprintable() or at is None or after is None:
        return None
    code = plain_text(row, "reason_code")
    placed = {"previous_status": before, "status": after, "reason_code": code if code in REASON_CODES else None}
    told = {name: read_json(value) for name, value in row.items() if name not in _PLACED}
    kept = {name: value for name, value in told.items() if value not in (None, "", [], {}, placed.get(name))}
    return StatusTransition(
        id=id,
        entity=entity,
        entity_id=entity_id,
        from_status=before,
        to_status=after,
        at=at,
        actor=plain_text(row, "actor") or plain_text(row, "source") or UNKNOWN_ACTOR,
        reason_code=placed["reason_code"],
        sentence=plain_text(row, "reason_summary"),
        evidence={KEPT: kept} if kept else None,
    )
