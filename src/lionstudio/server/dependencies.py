"""What routes ask for: the database, who acts, and the parts of the studio that live as long as the server.

They are coroutines although they wait for nothing: FastAPI would run plain functions in a thread, which takes longer
than all that they do.
"""

from typing import Annotated

from fastapi import Depends, Header, Query, Request

from lionstudio.domain.drafts import LARGEST_TIME
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session import RUN_ACTOR
from lionstudio.domain.session_list import PAGE_LIMIT
from lionstudio.server.schemas.messages import LARGEST_POSITION, MESSAGES_AT_ONCE
from lionstudio.server.studio import Studio
from lionstudio.services.context import Context
from lionstudio.services.examination import DOCTOR_ACTOR
from lionstudio.settings import Settings

ACTOR = "admin"  # who acts, where nobody gave a name
ACTOR_LENGTH = 100  # bytes
# A person of such a name would pass for the doctor, or end a run as if the run had ended itself.
RESERVED_ACTORS = frozenset({DOCTOR_ACTOR, RUN_ACTOR})


async def get_studio(request: Request) -> Studio:
    studio: Studio = request.app.state.studio
    return studio


async def get_context(request: Request) -> Context:
    return (await get_studio(request)).ctx


async def get_settings(request: Request) -> Settings:
    return (await get_studio(request)).settings


async def get_actor(
    x_lionstudio_actor: Annotated[
        str | None, Header(max_length=ACTOR_LENGTH, description="who acts, for the audit log (default: admin)")
    ] = None,
) -> str:
    name = " ".join(_text(x_lionstudio_actor or "").split())
    if name.casefold() in RESERVED_ACTORS:
        raise InvalidRequest(
            f"{name} is not the name of a person: it marks what happens by itself.",
            hint="Give your own name in X-Lionstudio-Actor, or leave the header out.",
        )
    return name if name.isprintable() and name else ACTOR


def _text(header: str) -> str:
    """A header as it was meant: clients send UTF-8, and the framework reads each byte as a letter."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


async def get_position(
    after: Annotated[int, Query(ge=0, le=LARGEST_POSITION, description="the position of the last one you have")] = 0,
    cursor: Annotated[int, Query(ge=0, le=LARGEST_POSITION, description="next_cursor of the page before")] = 0,
) -> int:
    return max(after, cursor)


StudioDep = Annotated[Studio, Depends(get_studio)]
Ctx = Annotated[Context, Depends(get_context)]
SettingsDep = Annotated[Settings, Depends(get_settings)]
Actor = Annotated[str, Depends(get_actor)]
AfterPosition = Annotated[int, Depends(get_position)]
PageCursor = Annotated[str | None, Query(max_length=1_000, description="next_cursor of the page before")]
PageLimit = Annotated[int, Query(ge=1, le=PAGE_LIMIT)]
MessageLimit = Annotated[int, Query(ge=1, le=MESSAGES_AT_ONCE)]
Moment = Annotated[float | None, Query(ge=-LARGEST_TIME, le=LARGEST_TIME, description="unix seconds")]
