"""Opening a database to read: it is not created for that, and what dead processes left for it is brought in first."""

from __future__ import annotations

import os
from contextlib import suppress

from lionstudio.domain.errors import Unavailable
from lionstudio.services.context import open_context

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from lionstudio.services.context import Context
    from lionstudio.settings import Settings


def open_to_read(settings: Settings, *, create: bool = False) -> Context:
    """The database that the settings name; raises DatabaseGone where there is none and none may be made."""
    if not has_spooled(settings):
        return open_context(settings, create=create)
    from lionstudio.recorders.spool import waits_for  # only when something waits there

    ctx = open_context(settings, create=create or waits_for(settings.spool, settings.db))
    bring_back(ctx, settings)
    return ctx


def has_spooled(settings: Settings) -> bool:
    """Whether anything waits for any database; who knows that nothing does need not load what brings it back."""
    return any(files for _, _, files in os.walk(os.path.join(settings.home_folder, "spool")))


def bring_back(ctx: Context, settings: Settings) -> None:
    """Write what dead processes left for this database, if it can be written now."""
    from lionstudio.recorders.spool import replay_left_behind

    with suppress(Unavailable, OSError):  # a database that cannot be written now can still be read
        replay_left_behind(ctx, settings.spool, settings.db)
