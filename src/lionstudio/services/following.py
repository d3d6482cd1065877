"""Following some runs: which of them has news, as it is committed."""

import time
from collections.abc import Collection, Iterator

from lionstudio.domain.change import Topic
from lionstudio.services.change_feed import ChangeFeed
from lionstudio.services.context import Context


def follow_sessions(
    ctx: Context, session_ids: Collection[str], *, after: int, quiet: float, until: float | None = None
) -> Iterator[str | None]:
    """The id of each of these runs that something was committed about, after the change numbered `after`.

    None says that nothing was heard for `quiet` seconds, or that everything is to be read again. Ends when the
    monotonic clock shows `until`.
    """
    only = next(iter(session_ids)) if len(session_ids) == 1 else None
    with ChangeFeed(ctx, session_id=only) as feed:
        while True:
            left = quiet if until is None else min(quiet, until - time.monotonic())
            if left <= 0:
                return
            heard_at = time.monotonic()
            for change in feed.follow(after, idle=left):
                after, now = change.seq, time.monotonic()
                if until is not None and now >= until:
                    return
                if change.session_id in session_ids:
                    yield change.session_id
                elif change.topic is Topic.RELOAD or now - heard_at >= quiet:  # others may be all the louder
                    yield None
                else:
                    continue
                heard_at = now
            yield None
