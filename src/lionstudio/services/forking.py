"""Where a fork begins: how much of its parent's history it keeps, and under which system prompt (R25 to R27)."""

from typing import NamedTuple

from lionstudio.domain.conversation import Branch, MessageKind
from lionstudio.domain.errors import ForkOutOfRange
from lionstudio.domain.phrases import count_of
from lionstudio.store import branches, forks, progressions
from lionstudio.store.transaction import Tx


class ForkPoint(NamedTuple):
    """The columns of a branch that say where it began. A branch that is no fork has none of them."""

    parent_branch_id: str | None = None
    forked_at_ord: int | None = None
    system_msg_id: str | None = None  # of what it keeps


NO_FORK = ForkPoint()


def history_length(branch: Branch) -> int:
    """How many messages a branch has, with those it inherited."""
    return (branch.forked_at_ord or 0) + branch.message_count


def fork_point(tx: Tx, parent: Branch, at: int | None) -> ForkPoint:
    """Where a fork of a branch begins that keeps its first `at` messages, or all of them; raises ForkOutOfRange."""
    length = history_length(parent)
    position = length if at is None else at
    if not 0 <= position <= length:
        raise ForkOutOfRange(
            f"The branch has {count_of(length, 'message')} and cannot be forked at {position}.",
            hint=f"Choose a position from 0 (nothing is kept) to {length} (everything is kept).",
        )
    return ForkPoint(parent.id, position, _system_prompt(tx, parent, position))


def is_inherited(tx: Tx, branch_id: str, message_id: str) -> bool:
    """Whether a message is one of those that a fork began with."""
    branch = branches.find(tx, branch_id)
    if branch is None or branch.parent_branch_id is None:
        return False
    return _stands_within(tx, branches.find(tx, branch.parent_branch_id), message_id, branch.forked_at_ord or 0)


def _system_prompt(tx: Tx, branch: Branch, position: int) -> str | None:
    """The system prompt among the first messages of a history."""
    if branch.system_msg_id is None or position == 0:
        return None
    if _stands_within(tx, branch, branch.system_msg_id, position):
        return branch.system_msg_id
    first = progressions.list_in_branch(tx, branch.id, after=0, limit=1)  # a later one took its place
    return first[0].id if first and first[0].kind is MessageKind.SYSTEM else None


def _stands_within(tx: Tx, branch: Branch | None, message_id: str, position: int) -> bool:
    while branch is not None:
        inherited = branch.forked_at_ord or 0
        own = forks.find_position(tx, branch.progression_id, message_id)
        if own is not None:
            return inherited + own <= position
        position = min(position, inherited)
        branch = None if branch.parent_branch_id is None else branches.find(tx, branch.parent_branch_id)
    return False
