"""Whole sessions at once: what importers hand over, stored in bulk, again and again without harm."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import MessageDraft
from lionstudio.domain.errors import AlreadyExists, DatabaseBusy, Error, InvalidRequest, Unavailable
from lionstudio.domain.session import Session, SessionStatus, with_fitting_names
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.import_known import (
    complete,
    complete_branches,
    end,
    end_later,
    keep_status,
    with_bookmarks,
    with_end,
)
from lionstudio.services.import_parts import (
    BranchImport,
    Part,
    add_usage,
    complete_drafts,
    first_branch_id,
    first_part,
    id_of,
    keep_open_calls,
    message_row,
    parents_first,
    store_part,
    time_of,
    with_own_orders,
    with_parent,
)
from lionstudio.services.messages import deliver_said
from lionstudio.services.sessions import find_locked, known_session
from lionstudio.store import branches, imports, messages, progressions, sessions
from lionstudio.store.rehearsal import is_rehearsal
from lionstudio.store.transaction import Tx

__all__ = ["BranchImport", "ImportProblem", "Imported", "SessionImport", "import_messages", "import_sessions"]

ROWS_AT_ONCE = 5_000  # messages a transaction: large enough to be fast, small enough to let others write
TRIES_WHILE_BUSY = 12  # each waits for as long as the database lets it


class SessionImport(NamedTuple):
    """A session with everything in it, as its source tells it."""

    session: Session
    branches: Sequence[BranchImport]
    known_by_branch: bool = False  # it goes on with the session that has one of its branches, whatever its own id
    alias: str | None = None  # the id under which it may be stored since a time when it did not tell its own
    earlier: Callable[[], Iterable["SessionImport"]] = tuple  # reads again those before it that it may go on with
    order: Sequence[str] = ()  # of all its messages, where that is told; else their times tell it
    is_own: bool = False  # its source is about this one session, and says so


class ImportProblem(NamedTuple):
    """Why a session could not be imported. Nothing of it was stored; the others were."""

    session_id: str
    message: str


class Imported(NamedTuple):
    """What an import changed."""

    sessions_added: int = 0
    sessions_completed: int = 0  # that were there before and got something new
    messages_added: int = 0  # to their sessions; one that stands in two sessions counts twice
    problems: tuple[ImportProblem, ...] = ()
    known_as: tuple[tuple[str, str], ...] = ()  # sessions that go on with another one: their ids, and those of these

    def plus(self, other: "Imported") -> "Imported":
        return Imported(
            self.sessions_added + other.sessions_added,
            self.sessions_completed + other.sessions_completed,
            self.messages_added + other.messages_added,
            self.problems + other.problems,
            self.known_as + other.known_as,
        )


NOTHING = Imported()


def import_sessions(ctx: Context, found: Iterable[SessionImport]) -> Imported:
    """Store sessions, several to a transaction, each with one line of news; raises only Unavailable.

    A known session gets what it lacks, branches and messages too, and its end if it was running and its source says how
    it ended; `domain.completing` says whom to believe. A session that cannot be stored is left out whole and becomes a
    problem.
    """
    total = NOTHING
    for batch in _batches(found, 1 if is_rehearsal(ctx.db) else ROWS_AT_ONCE):
        total = total.plus(_import_batch(ctx, batch))
    return total


def import_messages(ctx: Context, found: Iterable[MessageDraft]) -> int:
    """Store messages that stand in no session; how many were new. Each brings its id and its time."""
    drafts = list(found)
    added = 0
    for first in range(0, len(drafts), ROWS_AT_ONCE):
        with ctx.db.write() as tx:
            added += sum(messages.insert(tx, message_row(tx, draft)) for draft in drafts[first : first + ROWS_AT_ONCE])
    return added


def _batches(found: Iterable[SessionImport], rows_at_once: int) -> Iterator[list[SessionImport]]:
    batch: list[SessionImport] = []
    rows = 0
    for one in found:
        batch.append(one)
        rows += 1 + sum(len(part.messages) for part in one.branches)
        if rows >= rows_at_once:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _import_batch(ctx: Context, batch: Sequence[SessionImport]) -> Imported:
    try:
        return _store(ctx, batch)
    except Error as error:
        if isinstance(error, Unavailable) and not isinstance(error, DatabaseBusy):
            raise
    # One of them is wrong, or somebody else imports the same: one by one the others get in.
    total = NOTHING
    for one in batch:
        try:
            total = total.plus(_store_patiently(ctx, one))
        except Unavailable:
            raise
        except Error as error:
            total = total.plus(Imported(problems=(ImportProblem(one.session.id, error.message),)))
    return total


def _store_patiently(ctx: Context, one: SessionImport) -> Imported:
    """Store one session. Who imports the same at the same time may hold it for as long as a batch takes, and may have
    stored it when we get our turn: then it is a known one.
    """
    for _ in range(TRIES_WHILE_BUSY - 1):
        try:
            return _store(ctx, [one])
        except (DatabaseBusy, AlreadyExists):
            continue
    return _store(ctx, [one])


@again_if_undone
def _store(ctx: Context, batch: Sequence[SessionImport]) -> Imported:
    total = NOTHING
    # A rehearsal has forgotten those before. They are read before others have to wait for it.
    forgotten = [again for one in batch for again in one.earlier()] if is_rehearsal(ctx.db) else []
    with ctx.db.write() as tx:
        for again in forgotten:
            _repeat(ctx, tx, again)
        for one in batch:
            total = total.plus(_import_one(ctx, tx, one))
    return total


def _repeat(ctx: Context, tx: Tx, one: SessionImport) -> None:
    """Import a session that was counted before, or was a problem before."""
    tx.connection.savepoint()
    try:
        _import_one(ctx, tx, one)
    except Unavailable:
        raise
    except Error:
        tx.connection.rollback_to_savepoint()
    else:
        tx.connection.release()


def _import_one(ctx: Context, tx: Tx, one: SessionImport) -> Imported:
    known = _find_known(tx, one)
    told = with_end(one.session if known is None else one.session._replace(id=known.id))
    parts = [_part(tx, told, part, known) for part in parents_first(one.branches)]
    if not parts and (known is None or not known.branch_count):
        parts = [first_part(told)]
    session, parts = with_own_orders(tx, known or told, parts, is_new=known is None)
    fresh = list({draft.id: draft for part in parts for draft in part.fresh}.values())
    added = _added(tx, fresh, known, one.order)
    messages.insert_many(tx, [message_row(tx, draft) for draft in fresh])
    filled = False
    if known is None:
        _add_session(tx, session, added)
        keep_status(ctx, tx, session, before=None)
    else:
        filled = complete(ctx, tx, known, told, added)
        filled = complete_branches(tx, known, told, parts) or filled
    for part in parts:
        store_part(tx, part)
    if known is not None and any(part.is_new for part in parts):
        _drop_stand_in(tx, known, parts)
    progressions.enter_many(tx, session.progression_id, [id_of(draft) for draft in added])
    for draft in added:
        deliver_said(tx, session.id, id_of(draft), draft)
    add_usage(tx, session.id, added)
    ended = known is not None and (end(ctx, tx, known, told) or end_later(ctx, tx, known, told, added))
    if not ended and session.status is SessionStatus.RUNNING:
        keep_open_calls(tx, parts)
    renamed = ((one.session.id, told.id),) if told.id != one.session.id else ()
    if known is not None and not (filled or ended or any(part.is_new or part.fresh for part in parts)):
        return Imported(known_as=renamed)
    tx.tell(Topic.SESSION, session.id, session_id=session.id, at=ctx.now())
    return Imported(int(known is None), int(known is not None), len(added), known_as=renamed)


def _find_known(tx: Tx, one: SessionImport) -> Session | None:
    known = find_locked(tx, one.session.id)
    if known is not None or not one.known_by_branch:
        return known
    owners = (branches.find(tx, part.branch.id) for part in one.branches)
    owner = next((branch.session_id for branch in owners if branch is not None), None)
    if owner is None and one.alias is not None:
        owner = one.alias
    return None if owner is None else find_locked(tx, owner)


def _drop_stand_in(tx: Tx, known: Session, parts: Sequence[Part]) -> None:
    """Take away the branch that a session was given while its source named none."""
    stand_in = first_branch_id(known.id)
    if all(part.branch.id != stand_in for part in parts):
        imports.drop_empty_branch(tx, stand_in)


def _part(tx: Tx, session: Session, part: BranchImport, known: Session | None) -> Part:
    branch = branches.find(tx, part.branch.id)
    part = with_parent(tx, part, branch)
    drafts = complete_drafts(part.messages, session.created_at)
    if branch is None:
        new = part.branch._replace(session_id=session.id)
        return Part(new, new, drafts, drafts, is_new=True)
    if known is None and branch.session_id == session.id:
        raise AlreadyExists(f"The session {session.id!r} was stored by another import in this moment.")
    if known is None or branch.session_id != known.id:
        raise InvalidRequest(f"The branch {branch.id!r} belongs to another session.")
    held = set(progressions.progression_ids(tx, branch.progression_id))
    fresh = [draft for draft in drafts if draft.id not in held]
    return Part(branch, part.branch, drafts, fresh, is_new=False)


def _added(tx: Tx, fresh: Sequence[MessageDraft], known: Session | None, order: Sequence[str]) -> list[MessageDraft]:
    """What the session itself does not have yet, in the order that was told, else in that of time."""
    if known is not None and fresh:
        held = set(progressions.progression_ids(tx, known.progression_id))
        fresh = [draft for draft in fresh if draft.id not in held]
    places = {id: place for place, id in enumerate(order)}
    return sorted(fresh, key=lambda draft: (places.get(id_of(draft), len(places)), time_of(draft)))


def _add_session(tx: Tx, session: Session, added: Sequence[MessageDraft]) -> None:
    progressions.add_head(tx, session.progression_id, created_at=session.created_at)
    parent = known_session(tx, session.parent_session_id)
    session = with_fitting_names(session)
    if not sessions.insert(tx, with_bookmarks(session, added)._replace(parent_session_id=parent)):
        raise AlreadyExists(f"Somebody else stored the run {session.id!r} at the same time.", hint="Import it again.")
