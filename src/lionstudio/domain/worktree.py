"""Worktrees: what becomes of the folders in which plays and runs work."""

from enum import StrEnum
from typing import NamedTuple

WORKTREE_STALE_AFTER = 7 * 24 * 3600.0  # seconds; as long as what an ended run left behind is looked for


class WorktreeStatus(StrEnum):
    """How a worktree is doing."""

    ACTIVE = "active"  # everything is committed, and somebody was here in the last 7 days
    DIRTY = "dirty"  # it has changes that no commit holds
    STALE = "stale"  # everything is committed, and nobody was here for 7 days
    UNKNOWN = "unknown"  # it could not be looked at


class Worktree(NamedTuple):
    """A folder with a git checkout (R160). None is "nobody could tell"."""

    path: str
    branch: str | None  # None also for one that is on no branch
    status: WorktreeStatus
    last_modified: float | None
    uncommitted_changes: bool | None
    sentence: str | None = None  # why it could not be looked at


def classify_worktree(*, uncommitted_changes: bool | None, last_modified: float | None, now: float) -> WorktreeStatus:
    """What the facts about a worktree amount to. What would be lost with it comes first."""
    if uncommitted_changes is None:
        return WorktreeStatus.UNKNOWN
    if uncommitted_changes:
        return WorktreeStatus.DIRTY
    if last_modified is None:
        return WorktreeStatus.UNKNOWN
    return WorktreeStatus.STALE if now - last_modified > WORKTREE_STALE_AFTER else WorktreeStatus.ACTIVE
