"""Messages page by page, each bounded by count and by bytes: a message may have megabytes."""

from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.domain.conversation import Message
from lionstudio.domain.message_finding import MessageQuestion
from lionstudio.services import sessions
from lionstudio.services.context import Context
from lionstudio.services.messages import no_branch
from lionstudio.store import branches, message_finding, progressions
from lionstudio.store.transaction import Tx

STRETCH = 1_000  # positions that are looked at at once
MOST_FOUND = 20_000  # positions in one answer
PAGE_BYTES = 1024 * 1024  # of JSON; one message always fits


class MessagePage(NamedTuple):
    """Messages that follow each other. `is_full`: there may be more after the last."""

    messages: tuple[Message, ...]
    is_full: bool
    branch_ids: Mapping[str, tuple[str, ...]] = {}  # by message, where they are known

    @property
    def next_cursor(self) -> str | None:
        return str(self.messages[-1].position) if self.is_full and self.messages else None


def read_session_page(ctx: Context, session_id: str, *, after: int, limit: int) -> MessagePage:
    """A run's messages from position `after` + 1; raises SessionNotFound."""
    with ctx.db.read() as tx:
        sessions.get(tx, session_id)
        limit = progressions.count_fitting(tx, session_id, after=after, limit=limit, budget=PAGE_BYTES)
        found = progressions.list_in_session(tx, session_id, after=after, limit=limit)
        places = progressions.list_places(tx, session_id, after=after, limit=limit)
    branch_ids = {id: tuple(branch for branch, _ in known) for id, known in places.items()}
    return MessagePage(tuple(found), len(found) == limit, branch_ids)


def read_branch_page(ctx: Context, session_id: str, branch_id: str, *, after: int, limit: int) -> MessagePage:
    """A branch's whole history through its forks, from position `after` + 1; raises BranchNotFound."""
    with ctx.db.read() as tx:
        _require_branch(tx, session_id, branch_id)
        limit = progressions.count_fitting_in_branch(tx, branch_id, after=after, limit=limit, budget=PAGE_BYTES)
        found = progressions.list_in_branch(tx, branch_id, after=after, limit=limit)
    return MessagePage(tuple(found), len(found) == limit)


class Found(NamedTuple):
    """Positions of messages, in order. `is_all`: there are no more."""

    positions: tuple[int, ...]
    is_all: bool


def find_messages(
    ctx: Context, session_id: str, branch_id: str | None, question: MessageQuestion, *, limit: int = MOST_FOUND
) -> Found:
    """Where in a run, or in a branch's whole history, messages stand; raises SessionNotFound and BranchNotFound."""
    found: list[int] = []
    after = 0
    with ctx.db.read() as tx:
        sessions.get(tx, session_id)
        if branch_id is not None:
            _require_branch(tx, session_id, branch_id)
        while True:
            stretch = message_finding.list_candidates(tx, session_id, branch_id, question, after=after, limit=STRETCH)
            found += [one.position for one in stretch.candidates if one.position and question.matches(one)]
            after += STRETCH
            if stretch.length < STRETCH or len(found) > limit:
                return Found(tuple(found[:limit]), len(found) <= limit)


def _require_branch(tx: Tx, session_id: str, branch_id: str) -> None:
    branch = branches.find(tx, branch_id)
    if branch is None or branch.session_id != session_id:
        raise no_branch(session_id, branch_id)
