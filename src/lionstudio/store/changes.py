"""Reading the news and forgetting what is old. It is written by `Tx.tell`, at the end of each use case."""

from lionstudio.domain.change import Change, Topic
from lionstudio.store.transaction import Tx

KEEP_ROWS = 100_000  # whichever is more: so many rows, or so many seconds
KEEP_SECONDS = 7 * 24 * 3600.0
TRIM_AT_MOST = 20_000  # rows at once, so that nobody waits long for the writer
TRIM_SLACK = 10_000  # rows beyond the limit before anyone counts them

TOPICS: dict[str, Topic] = {str(topic): topic for topic in Topic}  # a newer program may write others

READ_AFTER = """
    SELECT seq, at, topic, entity_id, session_id FROM changes WHERE seq > :after ORDER BY seq LIMIT :limit
"""
READ_OF_SESSION = """
    SELECT seq, at, topic, entity_id, session_id FROM changes
     WHERE session_id = :session_id AND seq > :after ORDER BY seq LIMIT :limit
"""
READ_NEWEST = "SELECT max(seq) FROM changes"
READ_TRIMMED = "SELECT value FROM schema_meta WHERE key = 'changes_trimmed_to'"


def list_after(tx: Tx, after: int, *, limit: int, session_id: str | None = None) -> list[Change]:
    """Changes with a higher number than `after`, in order."""
    if session_id is None:
        rows = tx.all(READ_AFTER, after=after, limit=limit)
    else:
        rows = tx.all(READ_OF_SESSION, after=after, limit=limit, session_id=session_id)
    return [Change(row[0], row[1], TOPICS.get(row[2]) or row[2], row[3], row[4]) for row in rows]


LIST_SESSIONS_AFTER = "SELECT DISTINCT entity_id FROM changes WHERE seq > :after AND seq <= :end AND topic = 'session'"


def list_sessions_after(tx: Tx, after: int, *, end: int) -> set[str]:
    """The sessions that began, ended or are doing otherwise in this stretch of the news."""
    return {session_id for (session_id,) in tx.all(LIST_SESSIONS_AFTER, after=after, end=end)}


def span(tx: Tx) -> tuple[int, int]:
    """The highest number that was forgotten, and the highest that was given."""
    trimmed = int(tx.value(READ_TRIMMED) or 0)
    return trimmed, int(tx.value(READ_NEWEST) or trimmed)


FIND_KEPT = "SELECT seq FROM changes ORDER BY seq DESC LIMIT 1 OFFSET :rows"
READ_OLDEST = "SELECT seq, at FROM changes WHERE seq < :before ORDER BY seq LIMIT :limit"
TRIM = "DELETE FROM changes WHERE seq <= :end"
REMEMBER_TRIMMED = """
    INSERT INTO schema_meta AS meta (key, value) VALUES ('changes_trimmed_to', :value)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
     WHERE CAST(meta.value AS bigint) < CAST(excluded.value AS bigint)
"""


def trim(tx: Tx, *, now: float) -> int:
    """Forget changes that are both old and many, up to the first young one; how many rows went.

    The newest always stays: with it gone, SQLite would give its number again.
    """
    trimmed, newest = span(tx)
    if newest - trimmed <= KEEP_ROWS + TRIM_SLACK:
        return 0
    kept_from = tx.value(FIND_KEPT, rows=max(KEEP_ROWS, 1) - 1)
    if kept_from is None:
        return 0
    end = 0
    for limit in (1, TRIM_AT_MOST):  # one look is enough where nothing is old
        for seq, at in tx.all(READ_OLDEST, before=kept_from, limit=limit):
            if at >= now - KEEP_SECONDS:
                break
            end = seq
        if not end:
            return 0
    tx.run(REMEMBER_TRIMMED, value=str(end))
    return tx.run(TRIM, end=end)
