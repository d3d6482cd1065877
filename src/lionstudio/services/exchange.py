"""The exchange as people look into it: by recipient, by sender, between the two, or by channel (R8)."""

from lionstudio.domain.errors import InvalidRequest
from lionstudio.services.context import Context
from lionstudio.services.message_pages import PAGE_BYTES, MessagePage
from lionstudio.store import exchange

PAGE = 200


def list_exchanged(
    ctx: Context,
    *,
    recipient: str | None = None,
    sender: str | None = None,
    channel: str | None = None,
    after: int = 0,
    limit: int = PAGE,
) -> MessagePage:
    """Messages in the order of commits; a message's position is the next `after`. Raises InvalidRequest."""
    if recipient is None and sender is None and channel is None:
        raise InvalidRequest("Whose messages?", hint="Name a recipient, a sender or a channel: ?recipient=NAME")
    with ctx.db.read() as tx:
        names = {"recipient": recipient, "sender": sender, "channel": channel}
        limit = exchange.count_fitting(tx, names, after=after, limit=limit, budget=PAGE_BYTES)
        found = exchange.list_where(tx, names, after=after, limit=limit)
    return MessagePage(tuple(found), len(found) == limit)
