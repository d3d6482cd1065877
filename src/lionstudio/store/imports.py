"""What an import brings up to date on a session that is there already."""

from lionstudio.domain.conversation import Branch
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.store.encoding import optional_json_in, texts_in
from lionstudio.store.sessions import TEXT_COLUMNS, put_words
from lionstudio.store.transaction import Tx

COMPLETE_SESSION = """
    UPDATE sessions
       SET created_at = :created_at, updated_at = :updated_at, node_metadata = :node_metadata, name = :name,
           "user" = :user, first_msg_id = :first_msg_id, last_msg_id = :last_msg_id,
           last_message_at = :last_message_at, status = :status, started_at = :started_at, ended_at = :ended_at,
           exit_code = :exit_code, end_actor = :end_actor, end_reason = :end_reason,
           invocation_kind = :invocation_kind, source_kind = :source_kind, playbook_name = :playbook_name,
           agent_name = :agent_name, show_topic = :show_topic, show_play_name = :show_play_name,
           artifacts_path = :artifacts_path, parent_session_id = :parent_session_id
     WHERE id = :id
"""
FORGET_WORDS = "DELETE FROM session_words WHERE session_id = :session_id"


def complete_session(tx: Tx, session: Session) -> None:
    """Write everything about a session but its order and what it lost, and find it by its new words."""
    texts, node_metadata = texts_in(session.node_metadata, {name: getattr(session, name) for name in TEXT_COLUMNS})
    tx.run(
        COMPLETE_SESSION,
        id=session.id,
        created_at=session.created_at,
        updated_at=session.updated_at,
        node_metadata=optional_json_in(node_metadata),
        first_msg_id=session.first_msg_id,
        last_msg_id=session.last_msg_id,
        last_message_at=session.last_message_at,
        status=session.status,
        started_at=session.started_at,
        ended_at=session.ended_at,
        exit_code=session.exit_code,
        invocation_kind=session.invocation_kind,
        source_kind=session.source_kind,
        parent_session_id=session.parent_session_id,
        **texts,
    )
    tx.run(FORGET_WORDS, session_id=session.id)
    put_words(tx, session)


COMPLETE_BRANCH = """
    UPDATE branches SET created_at = :created_at, node_metadata = :node_metadata, name = :name, "user" = :user
     WHERE id = :id
"""


def complete_branch(tx: Tx, branch: Branch) -> None:
    """Write what a branch is called and what is known of it."""
    texts, node_metadata = texts_in(branch.node_metadata, {"name": branch.name, "user": branch.user})
    tx.run(
        COMPLETE_BRANCH,
        id=branch.id,
        created_at=branch.created_at,
        node_metadata=optional_json_in(node_metadata),
        **texts,
    )


FIND_EMPTY_BRANCH = """
    SELECT branch.progression_id
      FROM branches AS branch JOIN progression_heads AS head ON head.id = branch.progression_id
     WHERE branch.id = :branch_id AND head.length = 0
       AND NOT EXISTS (SELECT 1 FROM branches AS child WHERE child.parent_branch_id = branch.id)
"""
DROP_BRANCH = "DELETE FROM branches WHERE id = :branch_id"
DROP_ORDER = "DELETE FROM progression_heads WHERE id = :progression_id"


def drop_empty_branch(tx: Tx, branch_id: str) -> None:
    """Take away a branch that holds nothing, if it is there."""
    for (progression_id,) in tx.all(FIND_EMPTY_BRANCH, branch_id=branch_id):
        tx.run(DROP_BRANCH, branch_id=branch_id)
        tx.run(DROP_ORDER, progression_id=progression_id)


END_LATER = """
    UPDATE sessions
       SET status = :status, ended_at = :ended_at, exit_code = :exit_code,
           updated_at = CASE WHEN updated_at > :ended_at THEN updated_at ELSE :ended_at END
     WHERE id = :session_id
"""


def end_later(tx: Tx, session_id: str, *, status: SessionStatus, at: float, exit_code: int | None) -> None:
    """Give a session that had ended the status and the time of its new end."""
    tx.run(END_LATER, session_id=session_id, status=status, ended_at=at, exit_code=exit_code)
