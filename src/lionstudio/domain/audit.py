"""What operators and the doctor did, and how every status came to be."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lionstudio.domain.reasons import REASON_CODES


class AdminEvent(NamedTuple):
    """One thing an operator or the doctor did. Kept as written (R189)."""

    id: str
    created_at: float
    action: str
    target_id: str | None
    details: Mapping[str, Any]
    actor: str


class StatusTransition(NamedTuple):
    """One move in the life of a session, play, show or team. Kept as written."""

    id: str
    entity: str
    entity_id: str
    from_status: str | None
    to_status: str | None
    at: float
    actor: str
    reason_code: str | None = None
    sentence: str | None = None
    evidence: Mapping[str, Any] | None = None

    @property
    def telling(self) -> str | None:
        """Why it happened: the sentence that was written down, else that of its registered reason."""
        return self.sentence or REASON_CODES.get(self.reason_code or "")


EVENT_RETENTION_SECONDS = 30 * 24 * 3600  # R192
EVENT_RETENTION_COUNT = 1_000  # R192
