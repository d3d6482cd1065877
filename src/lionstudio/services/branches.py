"""Branches: begin a line of messages, fork it, read what there is."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import Branch, Line, Message, OpenCall
from lionstudio.domain.errors import BranchNotFound
from lionstudio.domain.session import Session, last_step, steps_of
from lionstudio.services.context import Context
from lionstudio.services.forking import NO_FORK, fork_point, history_length
from lionstudio.services.messages import PAGE_LIMIT, WAY_TO_BRANCHES, find_line, list_messages
from lionstudio.services.sessions import get, lock_sessions, taken_branch
from lionstudio.store import branches, forks, progressions
from lionstudio.store.transaction import Tx


class BranchDraft(NamedTuple):
    """A branch as its recorder announces it; a fork names its parent and how much of its history it keeps."""

    line: Line
    name: str | None = None
    user: str | None = None
    parent_branch_id: str | None = None
    forked_at_ord: int | None = None  # None: all that the parent has by now
    node_metadata: Mapping[str, Any] | None = None
    created_at: float | None = None


def create_branch(ctx: Context, draft: BranchDraft) -> Branch:
    """Begin a branch, or fork one: one row and an empty head, no message is copied (R25).

    Announcing the same branch again changes nothing. Raises ForkOutOfRange, BranchNotFound or SessionNotFound, and
    AlreadyExists for the id of a branch of another run.
    """
    created_at = ctx.now() if draft.created_at is None else draft.created_at
    with ctx.db.write() as tx:
        lock_sessions(tx, _owners(tx, draft))
        session = get(tx, draft.line.session_id)
        known = branches.find(tx, draft.line.branch_id)
        if known is not None:
            if known.session_id != session.id:
                raise taken_branch(known.id)
            return known
        fork = NO_FORK
        if draft.parent_branch_id is not None:
            fork = fork_point(tx, _get(tx, draft.parent_branch_id), draft.forked_at_ord)
        branch = Branch(
            id=draft.line.branch_id,
            created_at=created_at,
            session_id=session.id,
            progression_id=draft.line.branch_progression_id,
            name=draft.name,
            user=draft.user,
            node_metadata=draft.node_metadata,
            **fork._asdict(),
        )
        progressions.add_head(tx, branch.progression_id, created_at=created_at)
        if not branches.insert(tx, branch):  # another run took the id a moment ago
            raise taken_branch(branch.id)
        tx.tell(Topic.BRANCH, branch.id, session_id=session.id, at=ctx.now())
    return branch


def get_branch(ctx: Context, branch_id: str) -> Branch:
    """One branch; raises BranchNotFound."""
    with ctx.db.read() as tx:
        return _get(tx, branch_id)


def list_branches(ctx: Context, session_id: str) -> list[Branch]:
    """A session's branches, oldest first; raises SessionNotFound."""
    with ctx.db.read() as tx:
        get(tx, session_id)
        return branches.list_in_session(tx, session_id)


def find_own_branch(ctx: Context, session: Session) -> Branch | None:
    """The branch that can be gone on with: the first, or of several agents that of the last step; None if none is."""
    if not steps_of(session):
        return get_branch(ctx, find_line(ctx, session.id).branch_id)
    last, found = last_step(session), list_branches(ctx, session.id)
    return next((branch for branch in found if branch.name == last and branch.parent_branch_id is None), None)


def walk_history(ctx: Context, branch: Branch, *, upto: int | None = None) -> Iterator[Message]:
    """The messages of a branch with those it inherited, the first `upto` of them or all."""
    after, end = 0, history_length(branch) if upto is None else upto
    while after < end:
        limit = min(PAGE_LIMIT, end - after)
        page = list_messages(ctx, branch.session_id, branch.id, after=after, limit=limit)
        if not page:
            return
        after += len(page)
        yield from page


def list_forks(ctx: Context, branch_id: str) -> list[Branch]:
    """The branches that went on with this one, of whichever session, oldest first."""
    with ctx.db.read() as tx:
        return forks.list_forks(tx, branch_id)


def list_open_calls(ctx: Context, session_id: str) -> list[OpenCall]:
    """Tool calls of a session that have no result yet, longest first."""
    with ctx.db.read() as tx:
        return branches.list_open_calls(tx, session_id)


def _get(tx: Tx, branch_id: str) -> Branch:
    branch = branches.find(tx, branch_id)
    if branch is None:
        raise BranchNotFound(f"There is no branch {branch_id!r}.", hint=WAY_TO_BRANCHES)
    return branch


def _owners(tx: Tx, draft: BranchDraft) -> set[str]:
    """The session of the branch and that of its parent, which must not be pruned before the fork is stored."""
    parent = None if draft.parent_branch_id is None else branches.find(tx, draft.parent_branch_id)
    return {draft.line.session_id} if parent is None else {draft.line.session_id, parent.session_id}
