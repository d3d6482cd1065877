"""Following some runs: which of them has news, as it is committed, and which will never have any again."""

import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from lionstudio import machine
from lionstudio.domain.change import Topic
from lionstudio.domain.errors import SessionNotFound
from lionstudio.domain.health import Health
from lionstudio.domain.process import ProcessState, combine_looks
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.services import sessions
from lionstudio.services.change_feed import ChangeFeed
from lionstudio.services.context import Context
from lionstudio.services.health import look_at_process

RECORDER_PATIENCE = 5.0  # seconds in which a recorder that lives may write how the run ended
LAST_WORD_PATIENCE = 1.0  # seconds in which a server may still commit what a process sent just before it died


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


class Death(NamedTuple):
    """A run that runs by its row only: its process is confirmed dead, and nobody wrote how the run ended."""

    session: Session
    sentence: str  # how we know
    nobody_lives: bool  # its recorder is confirmed dead too

    @property
    def patience(self) -> float:
        """For how many seconds its end may still be written."""
        return LAST_WORD_PATIENCE if self.nobody_lives else RECORDER_PATIENCE


def way_on(session_id: str, health: Health) -> str:
    """What to type about a run whose process is gone. The doctor fails only those that said something (R133)."""
    if health is Health.STALE:
        return "Fail such runs: li state doctor --transition-stale"
    return f"It never wrote a message or a file. What is known of it: li runs show {session_id}"


class DeathWatch:
    """Tells which runs will never say how they ended. A process that merely cannot be seen is not dead."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._seen_at: dict[str, float] = {}  # when each was first seen dead, by the monotonic clock

    def look(self, session_ids: Iterable[str], *, last: bool = False) -> list[Death]:
        """Those whose end would have been written by now. The `last` look waits for no commit of the dead any more."""
        gone = []
        for session_id in session_ids:
            death = _find_death(self._ctx, session_id)
            if death is None:
                self._seen_at.pop(session_id, None)
                continue
            now = time.monotonic()
            since = self._seen_at.setdefault(session_id, now)
            if now - since >= death.patience or (last and death.nobody_lives):
                gone.append(death)
        return gone


def may_still_be_written_to(ctx: Context, session: Session) -> bool:
    """Whether somebody may still write to a run: it runs, and not all of its processes are known to be gone."""
    if session.status is not SessionStatus.RUNNING:
        return False
    death = _find_death(ctx, session.id)
    return death is None or not death.nobody_lives


def _find_death(ctx: Context, session_id: str) -> Death | None:
    here = machine.here()
    looks = [look_at_process(record, here) for record in sessions.list_processes(ctx, session_id)]
    seen = combine_looks(looks)
    if seen.state is not ProcessState.DEAD:
        return None
    with suppress(SessionNotFound):
        # Read after the look: a process that was dead by then may have committed its end just before.
        session = sessions.get_session(ctx, session_id)
        if session.status is SessionStatus.RUNNING:
            return Death(session, seen.sentence, all(look.state is ProcessState.DEAD for look in looks))
    return None
