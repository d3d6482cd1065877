"""Runs and branches described: what is known of an agent only while it works, such as its id of the conversation."""

from collections.abc import Mapping
from typing import Any

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import Line
from lionstudio.domain.drafts import require_mapping
from lionstudio.domain.errors import BranchNotFound
from lionstudio.services.context import Context
from lionstudio.services.messages import WAY_TO_BRANCHES
from lionstudio.services.sessions import get, lock_session
from lionstudio.store import branch_metadata, session_metadata


def describe_branch(ctx: Context, line: Line, facts: Mapping[str, Any]) -> None:
    """Add facts to the metadata of a branch, over those of the same name (R23); raises BranchNotFound.

    Saying the same again changes nothing and is no news.
    """
    require_mapping("facts", facts)
    with ctx.db.write() as tx:
        lock_session(tx, line.session_id)
        changed = branch_metadata.merge(tx, line.session_id, line.branch_id, facts)
        if changed is None:
            raise BranchNotFound(f"The run {line.session_id!r} has no branch {line.branch_id!r}.", hint=WAY_TO_BRANCHES)
        if changed:
            tx.tell(Topic.BRANCH, line.branch_id, session_id=line.session_id, at=ctx.now())


def describe_session(ctx: Context, session_id: str, facts: Mapping[str, Any]) -> None:
    """Add facts to the metadata of a run, over those of the same name; raises SessionNotFound."""
    require_mapping("facts", facts)
    with ctx.db.write() as tx:
        session = get(tx, session_id, lock=True)
        after = {**(session.node_metadata or {}), **facts}
        if after != session.node_metadata:
            session_metadata.replace(tx, session_id, after)
            tx.tell(Topic.SESSION, session_id, session_id=session_id, at=ctx.now())
