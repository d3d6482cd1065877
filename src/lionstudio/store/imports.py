"""What an import brings up to date on a session that is there already."""

from lionstudio.domain.session import Session, SessionStatus
from lionstudio.store.transaction import Tx

COMPLETE_SESSION = """
    UPDATE sessions
       SET updated_at = :updated_at, first_msg_id = :first_msg_id, last_msg_id = :last_msg_id,
           last_message_at = :last_message_at, parent_session_id = :parent_session_id
     WHERE id = :id
"""


def complete_session(tx: Tx, session: Session) -> None:
    """Write a session's times, bookmarks and parent; everything else stays as it is."""
    tx.run(
        COMPLETE_SESSION,
        id=session.id,
        updated_at=session.updated_at,
        first_msg_id=session.first_msg_id,
        last_msg_id=session.last_msg_id,
        last_message_at=session.last_message_at,
        parent_session_id=session.parent_session_id,
    )


END_LATER = """
    UPDATE sessions
       SET status = :status, ended_at = :ended_at, exit_code = :exit_code,
           updated_at = CASE WHEN updated_at > :ended_at THEN updated_at ELSE :ended_at END
     WHERE id = :session_id
"""


def end_later(tx: Tx, session_id: str, *, status: SessionStatus, at: float, exit_code: int | None) -> None:
    """Give a session that had ended the status and the time of its new end."""
    tx.run(END_LATER, session_id=session_id, status=status, ended_at=at, exit_code=exit_code)
