"""FRONT DOOR: PYTHON. Reading what was recorded: the other half of the SDK."""

from __future__ import annotations

from lionstudio.domain.errors import InvalidRequest
from lionstudio.recorders.reading import open_to_read
from lionstudio.settings import load_settings

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Any

    from lionstudio.domain.conversation import Branch, Message
    from lionstudio.domain.health import HealthVerdict
    from lionstudio.domain.session import Session
    from lionstudio.domain.usage import Usage
    from lionstudio.services.context import Context
    from lionstudio.services.messages import Similar

PAGE = 200

# What a method needs is loaded by that method: most programs that open a database ask for one or two things, and
# opening it must not cost more than a few times a bare interpreter.


class SessionPage(list["Session"]):
    """Runs, and in `next_cursor` where the next page begins."""

    next_cursor: str | None = None


class Reader:
    """An open database to read from; use it as a context manager or call `close`."""

    def __init__(self, db: str | os.PathLike[str] | None = None) -> None:
        self._open: Context | None = open_to_read(load_settings(db=db))

    def sessions(
        self, *, sort: str = "active", cursor: str | None = None, limit: int = 100, **filters: Any
    ) -> SessionPage:
        """A page of runs, running first, then newest.

        Filters are status, kind, source, health, agent, playbook, show, since, search, view and ids.
        """
        from lionstudio.domain.drafts import require_texts, require_whole_number
        from lionstudio.domain.session_list import Sort, parse_filter
        from lionstudio.domain.words import parse_word
        from lionstudio.services.session_list import list_sessions

        require_whole_number("limit", limit)
        require_texts({"cursor": cursor})
        order = parse_word(Sort, sort, what="order")
        page = list_sessions(self._ctx, parse_filter(filters), sort=order, cursor=cursor, limit=limit)
        found = SessionPage(page.items)
        found.next_cursor = page.next_cursor
        return found

    def session(self, session_id: str) -> Session:
        """One run; raises SessionNotFound."""
        from lionstudio.services.sessions import get_session

        _require_id(session_id)
        return get_session(self._ctx, session_id)

    def messages(
        self, session_id: str, branch_id: str | None = None, after: int = 0, limit: int = PAGE
    ) -> list[Message]:
        """A run's messages, or a branch's whole history through its forks, from position `after` + 1.

        A page holds `limit` of them at most; the position of its last one is the `after` of the next page.
        """
        from lionstudio.domain.drafts import require_whole_number
        from lionstudio.services.messages import list_messages

        _require_id(session_id)
        _require_id(branch_id)
        require_whole_number("after", after)
        require_whole_number("limit", limit)
        return list_messages(self._ctx, session_id, branch_id, after=after, limit=limit)

    def branches(self, session_id: str) -> list[Branch]:
        """A run's branches, oldest first."""
        from lionstudio.services.branches import list_branches

        _require_id(session_id)
        return list_branches(self._ctx, session_id)

    def usage(self, session_id: str) -> dict[str, Usage]:
        """What a run consumed, by model; raises SessionNotFound."""
        from lionstudio.services.sessions import get_usage

        _require_id(session_id)
        return get_usage(self._ctx, session_id)

    def health(self, session_id: str) -> HealthVerdict:
        """How a run is doing, looked at now, with the reasons; raises SessionNotFound."""
        from lionstudio.services.health import judge

        _require_id(session_id)
        return judge(self._ctx, session_id)[1]

    def similar(self, vector: Sequence[float], limit: int = 10) -> list[Similar]:
        """The messages whose embeddings are nearest to a vector, nearest first."""
        from lionstudio.domain.drafts import require_vector, require_whole_number
        from lionstudio.services.messages import find_similar

        require_vector(vector, what="A vector to look for")
        if not any(vector):
            raise InvalidRequest("A vector of zeros has no direction, so nothing is near it.")
        require_whole_number("limit", limit)
        return find_similar(self._ctx, vector, limit=max(0, limit))

    @property
    def _ctx(self) -> Context:
        if self._open is None:
            raise InvalidRequest("This reader is closed.", hint="Open the database again: lionstudio.open(…)")
        return self._open

    def close(self) -> None:
        """Let go of the database. A second time it does nothing."""
        if self._open is not None:
            self._open.db.close()
            self._open = None

    def __repr__(self) -> str:
        return "<Reader, closed>" if self._open is None else f"<Reader of {self._open.db.dialect.location}>"

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _require_id(value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise InvalidRequest(
            f"Runs and branches are asked for by their id, not by {type(value).__name__}.",
            hint="Use run.session_id, or branch.id.",
        )


def open(db: str | os.PathLike[str] | None = None) -> Reader:
    """Open a database to read from, by default the one that `record` writes to; raises Unavailable."""
    return Reader(db)
