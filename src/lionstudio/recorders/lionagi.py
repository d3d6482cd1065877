"""Recording a user's own lionagi session or branch in two lines, and reading one back.

import lionstudio
lionstudio.attach(session)
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from lionstudio.domain.errors import InvalidRequest, NotFound, Unavailable
from lionstudio.domain.lionagi_messages import message_dict, message_draft
from lionstudio.domain.lionagi_sessions import branch_draft
from lionstudio.domain.lionagi_sessions import restore_branch as branch_from
from lionstudio.domain.lionagi_sessions import restore_session as session_from
from lionstudio.recorders.keeper import Keeper
from lionstudio.recorders.lionagi_attachment import Attachment, require_unrecorded
from lionstudio.recorders.lionagi_facts import facts_of, session_facts
from lionstudio.recorders.lionagi_objects import branches_of, look_at, message_source
from lionstudio.recorders.lionagi_writer import Writer
from lionstudio.recorders.reading import open_to_read
from lionstudio.recorders.recorder import announce
from lionstudio.recorders.recording import Recording
from lionstudio.services.context import Context, new_id
from lionstudio.services.lionagi import find_lionagi_session, get_lionagi_branch, get_lionagi_session
from lionstudio.services.messages import get_message, store_message
from lionstudio.settings import Settings, load_settings

INSTALL = "pip install 'lionstudio[lionagi]'"
UNNAMED = "Session"  # what lionagi calls a session that nobody has named

Database = str | os.PathLike[str] | None


def attach(target: Any, *, name: str | None = None, db: Database = None, **options: Any) -> Attachment:
    """Record a lionagi Session with all of its branches, those that come later too, or one Branch.

    Use it as a context manager, or call `detach`; without either, the end of the process ends the run. The options are
    those of `record`. Raises InvalidRequest for anything else, and what `record` raises. Nothing is raised later: what
    goes wrong in recording is said on stderr, and lionagi does not notice.
    """
    session = _require_session_or_branch(target)
    require_unrecorded(target, *([] if session is None else branches_of(session)))
    draft = announce(name or _name_of(target, session), **options)
    keeper, session_id, parent_session_id = _keeper_for(load_settings(db=db), session)
    writer = Writer(keeper, session_id)
    seen = look_at(target if session is None else branches_of(session)[0])
    told = branch_draft(seen.source, originals=seen.copies)
    place = writer.place(told)
    known = {told.id: place.line.branch_id}
    recording = Recording(
        keeper,
        draft._replace(
            line=place.line,
            branch_name=told.name,
            branch_metadata=facts_of(told, place, seen.known_of),
            node_metadata={**(draft.node_metadata or {}), **session_facts(target, known, draft.node_metadata)},
            parent_session_id=parent_session_id or place.parent_session_id,
            parent_branch_id=place.parent_branch_id,
            forked_at_ord=place.forked_at_ord,
        ),
    )
    recording.begin()
    recording.write_in_a_thread()
    attachment = Attachment(target, session, recording, writer, first=(told.id, place))
    attachment.listen()
    return attachment


def restore(db: Database, session_id: str) -> Any:
    """A recorded run as a live lionagi Session, with its system messages and its default branch.

    Raises SessionNotFound, Unavailable, and NotFound where lionagi is not installed.
    """
    lionagi = require_lionagi()
    with _reading(db) as ctx:
        return session_from(lionagi.Session, get_lionagi_session(ctx, session_id))


def restore_branch(db: Database, branch_id: str) -> Any:
    """A recorded branch as a live lionagi Branch with its whole history; raises BranchNotFound, and as `restore`."""
    lionagi = require_lionagi()
    with _reading(db) as ctx:
        return branch_from(lionagi.Branch, get_lionagi_branch(ctx, branch_id))


def keep_message(db: Database, message: Any) -> str:
    """Store a lionagi message that belongs to no branch and no session (R33); its id. Raises Unavailable."""
    with _reading(db, create=True) as ctx:
        return store_message(ctx, message_draft(message_source(message)))


def restore_message(db: Database, message_id: str) -> Any:
    """A stored message as a live lionagi message; raises MessageNotFound, and as `restore`."""
    require_lionagi()
    from lionagi.protocols.generic.element import Element

    with _reading(db) as ctx:
        return Element.from_dict(message_dict(get_message(ctx, message_id)))


def require_lionagi() -> Any:
    """The lionagi package; raises NotFound, which says how to install it."""
    try:
        import lionagi
    except ImportError as error:
        raise NotFound("The package lionagi is not installed.", hint=f"Install it: {INSTALL}") from error
    return lionagi


@contextmanager
def _reading(db: Database, *, create: bool = False) -> Iterator[Context]:
    ctx = open_to_read(load_settings(db=db), create=create)
    try:
        yield ctx
    finally:
        ctx.db.close()


def _require_session_or_branch(target: Any) -> Any:
    """The session that is to be recorded, or None for a branch alone."""
    lionagi = require_lionagi()
    if isinstance(target, lionagi.Session):
        return target
    if isinstance(target, lionagi.Branch):
        return None
    raise InvalidRequest(
        f"Only a lionagi Session or Branch can be attached to, not {type(target).__name__}.",
        hint="Give the session itself: lionstudio.attach(session).",
    )


def _name_of(target: Any, session: Any) -> str | None:
    name = target.name
    return None if not isinstance(name, str) or (session is not None and name == UNNAMED) else name


def _keeper_for(settings: Settings, session: Any) -> tuple[Keeper, str, str | None]:
    """A way to the database, the id of the run, and that of the run that it goes on with.

    A run has lionagi's own id, unless it was recorded before: an end is an end, so what is said now is another run's.
    """
    session_id = new_id() if session is None else str(session.id)
    keeper = Keeper(settings, session_id)
    if session is not None:
        with suppress(Unavailable):  # then nobody can know, and beginning says what is wrong
            if find_lionagi_session(keeper.ctx, session_id) is not None:
                keeper.finish(patience=0.0)
                again = new_id()
                return Keeper(settings, again), again, session_id
    return keeper, session_id, None
