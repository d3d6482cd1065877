"""Tool calls that are seen at work before anything is said of them: lionagi tells a call together with its result."""

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import Line, OpenCall
from lionstudio.services.context import Context
from lionstudio.services.sessions import lock_session
from lionstudio.store import branches
from lionstudio.store.transaction import Tx


def open_call(ctx: Context, line: Line, call_id: str, tool: str, since: float) -> None:
    """Show that a branch waits for a tool (D5). Opening the same call again changes nothing."""
    with ctx.db.write() as tx:
        lock_session(tx, line.session_id)
        branches.open_call(tx, OpenCall(line.branch_id, call_id, tool, since))
        _tell(ctx, tx, line)


def close_call(ctx: Context, line: Line, call_id: str) -> None:
    """Show that a branch does not wait for it any more."""
    with ctx.db.write() as tx:
        lock_session(tx, line.session_id)
        branches.close_call(tx, line.branch_id, call_id)
        _tell(ctx, tx, line)


def _tell(ctx: Context, tx: Tx, line: Line) -> None:
    tx.tell(Topic.BRANCH, line.branch_id, session_id=line.session_id, at=ctx.now())
