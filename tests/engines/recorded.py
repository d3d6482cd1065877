"""What was recorded, in the few words that a test compares."""

from typing import Any

from lionstudio.domain.conversation import Branch, Message
from lionstudio.domain.message_text import text_of
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages


def said(ctx: Context, session_id: str, branch_id: str | None = None) -> list[tuple[str, str]]:
    """Every message of a run or branch: its kind and its text."""
    return [(message.kind.value, text_of(message)) for message in messages(ctx, session_id, branch_id)]


def messages(ctx: Context, session_id: str, branch_id: str | None = None) -> list[Message]:
    return list_messages(ctx, session_id, branch_id, limit=10_000)


def branch_named(ctx: Context, session_id: str, name: str) -> Branch:
    return next(branch for branch in list_branches(ctx, session_id) if branch.name == name)


def first_branch(ctx: Context, session_id: str) -> Branch:
    return list_branches(ctx, session_id)[0]


def metadata(branch: Branch) -> dict[str, Any]:
    return dict(branch.node_metadata or {})
