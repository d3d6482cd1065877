"""Legacy sessions: those without a status, from before there was one (D7)."""

from lionstudio.store.transaction import Tx

COUNT_LEGACY = "SELECT count(*) FROM sessions WHERE status IS NULL"
LIST_LEGACY = "SELECT id FROM sessions WHERE status IS NULL ORDER BY created_at, id LIMIT :limit"
BACKFILL = """
    UPDATE sessions SET status = 'completed', ended_at = COALESCE(ended_at, last_message_at, updated_at)
     WHERE id = :session_id AND status IS NULL
"""


def count_legacy(tx: Tx) -> int:
    return int(tx.value(COUNT_LEGACY))


def list_legacy(tx: Tx, *, limit: int) -> list[str]:
    """The ids of legacy sessions, oldest first."""
    return [row[0] for row in tx.all(LIST_LEGACY, limit=limit)]


def backfill(tx: Tx, session_id: str) -> bool:
    """Let a legacy session count as completed, since its last sign of life; False if it has a status."""
    return tx.run(BACKFILL, session_id=session_id) == 1
