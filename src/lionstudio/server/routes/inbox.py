"""Messages between runs: what was delivered to a name, and what a name sent (R8)."""

from typing import Annotated

from fastapi import APIRouter, Query

from lionstudio.server.answers import Route
from lionstudio.server.dependencies import AfterPosition, Ctx, MessageLimit
from lionstudio.server.schemas.messages import MessageOut
from lionstudio.server.schemas.page import Page
from lionstudio.services.exchange import list_exchanged

router = APIRouter(route_class=Route, tags=["messages"])

Someone = Annotated[
    str | None, Query(max_length=4_000, description="a run's id, its name, its agent, or any name that was written to")
]


@router.get("/messages")
def list_exchange(
    ctx: Ctx,
    after: AfterPosition,
    recipient: Someone = None,
    sender: Someone = None,
    channel: Annotated[str | None, Query(max_length=4_000)] = None,
    limit: MessageLimit = 200,
) -> Page[MessageOut]:
    """What was delivered to a recipient, sent by a sender, or said on a channel, in the order of commits.

    The position of a message is where to go on; keep that of the last one, and ask again later for what is new.
    """
    page = list_exchanged(ctx, recipient=recipient, sender=sender, channel=channel, after=after, limit=limit)
    return Page(items=[MessageOut.of(message) for message in page.messages], next_cursor=page.next_cursor)
