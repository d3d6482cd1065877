"""What forks share with their parents: where a message stands in a line, and which messages a history begins with."""

from lionstudio.domain.conversation import Branch
from lionstudio.store import branches
from lionstudio.store.progressions import READ_BRANCH
from lionstudio.store.transaction import Tx

FIND_POSITION = """
    SELECT position FROM progression_entries WHERE message_id = :message_id AND progression_id = :progression_id LIMIT 1
"""
LIST_FORKS = "SELECT id FROM branches WHERE parent_branch_id = :branch_id ORDER BY created_at, id"
READ_HISTORY = READ_BRANCH.format(columns="message.id")


def find_position(tx: Tx, progression_id: str, message_id: str) -> int | None:
    """Where a message stands in a progression, if it does."""
    found: int | None = tx.value(FIND_POSITION, progression_id=progression_id, message_id=message_id)
    return found


def list_history_ids(tx: Tx, branch_id: str, *, limit: int) -> list[str]:
    """The ids of the first messages of a branch's history, through all its ancestors."""
    return [row[0] for row in tx.all(READ_HISTORY, branch_id=branch_id, after=0, limit=limit)]


def list_forks(tx: Tx, branch_id: str) -> list[Branch]:
    """The branches that began with this one, oldest first."""
    found = (branches.find(tx, row[0]) for row in tx.all(LIST_FORKS, branch_id=branch_id))
    return [branch for branch in found if branch is not None]
