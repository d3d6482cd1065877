"""Whole sessions at once: what importers hand over, stored in bulk, again and again without harm."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import MessageDraft
from lionstudio.domain.errors import AlreadyExists, DatabaseBusy, Error, InvalidRequest, Unavailable
from lionstudio.domain.session import (
    RUN_ACTOR,
    TERMINAL_STATUSES,
    Session,
    SessionStatus,
    SourceKind,
    with_fitting_names,
)
from lionstudio.services.admin import keep_history
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.import_parts import (
    BranchImport,
    Part,
    add_usage,
    complete_drafts,
    id_of,
    keep_open_calls,
    message_row,
    parents_first,
    store_part,
    time_of,
)
from lionstudio.services.messages import deliver_said
from lionstudio.services.sessions import find_locked, known_session
from lionstudio.store import branches, imports, messages, progressions, sessions
from lionstudio.store.rehearsal import is_rehearsal
from lionstudio.store.transaction import Tx

__all__ = ["BranchImport", "ImportProblem", "Imported", "SessionImport", "import_messages", "import_sessions"]

ROWS_AT_ONCE = 5_000  # messages a transaction: large enough to be fast, small enough to let others write
TRIES_WHILE_BUSY = 12  # each waits for as long as the database lets it
ACTOR = "import"
REASON = "run.imported"


class SessionImport(NamedTuple):
    """A session with everything in it, as its source tells it."""

    session: Session
    branches: Sequence[BranchImport]
    known_by_branch: bool = False  # it goes on with the session that has one of its branches, whatever its own id
    earlier: Callable[[], Iterable["SessionImport"]] = tuple  # reads again those before it that it may go on with


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

    What is there already is not touched: a known session gets the branches and messages it lacks, and its end if it was
    running and its source says how it ended. A session that cannot be stored is left out whole and becomes a problem.
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
    told = one.session if known is None else one.session._replace(id=known.id)
    session = known or told
    parts = [_part(tx, told, part, known) for part in parents_first(one.branches)]
    fresh = list({draft.id: draft for part in parts for draft in part.fresh}.values())
    added = _added(tx, fresh, known)
    messages.insert_many(tx, [message_row(tx, draft) for draft in fresh])
    if known is None:
        _add_session(tx, session, added)
        _keep_history(ctx, tx, session, before=None)
    else:
        _complete_session(tx, known, told, added)
    for part in parts:
        store_part(tx, part)
    progressions.enter_many(tx, session.progression_id, [id_of(draft) for draft in added])
    for draft in added:
        deliver_said(tx, session.id, id_of(draft), draft)
    add_usage(tx, session.id, added)
    ended = known is not None and (_end(ctx, tx, known, told) or _end_later(ctx, tx, known, told, added))
    if not ended and session.status is SessionStatus.RUNNING:
        keep_open_calls(tx, parts)
    renamed = ((one.session.id, told.id),) if told.id != one.session.id else ()
    if known is not None and not ended and not any(part.is_new or part.fresh for part in parts):
        return Imported(known_as=renamed)
    tx.tell(Topic.SESSION, session.id, session_id=session.id, at=ctx.now())
    return Imported(int(known is None), int(known is not None), len(added), known_as=renamed)


def _find_known(tx: Tx, one: SessionImport) -> Session | None:
    known = find_locked(tx, one.session.id)
    if known is not None or not one.known_by_branch:
        return known
    owners = (branches.find(tx, part.branch.id) for part in one.branches)
    owner = next((branch.session_id for branch in owners if branch is not None), None)
    return None if owner is None else find_locked(tx, owner)


def _part(tx: Tx, session: Session, part: BranchImport, known: Session | None) -> Part:
    drafts = complete_drafts(part.messages, session.created_at)
    branch = branches.find(tx, part.branch.id)
    if branch is None:
        return Part(part.branch._replace(session_id=session.id), drafts, drafts, is_new=True)
    if known is None or branch.session_id != known.id:
        raise InvalidRequest(f"The branch {branch.id!r} belongs to another session.")
    held = set(progressions.progression_ids(tx, branch.progression_id))
    return Part(branch, drafts, [draft for draft in drafts if draft.id not in held], is_new=False)


def _added(tx: Tx, fresh: Sequence[MessageDraft], known: Session | None) -> list[MessageDraft]:
    """What the session itself does not have yet, in the order of time."""
    if known is not None and fresh:
        held = set(progressions.progression_ids(tx, known.progression_id))
        fresh = [draft for draft in fresh if draft.id not in held]
    return sorted(fresh, key=time_of)


def _add_session(tx: Tx, session: Session, added: Sequence[MessageDraft]) -> None:
    progressions.add_head(tx, session.progression_id, created_at=session.created_at)
    parent = known_session(tx, session.parent_session_id)
    session = with_fitting_names(session)
    sessions.insert(tx, _with_bookmarks(session, added)._replace(parent_session_id=parent))


def _complete_session(tx: Tx, known: Session, told: Session, added: Sequence[MessageDraft]) -> None:
    after = _with_bookmarks(known, added)
    if added and time_of(added[-1]) >= (known.last_message_at or 0.0):
        after = after._replace(last_msg_id=added[-1].id, last_message_at=added[-1].created_at)
    if added:
        after = after._replace(updated_at=max(known.updated_at, told.updated_at, time_of(added[-1])))
    if known.parent_session_id is None:
        after = after._replace(parent_session_id=known_session(tx, told.parent_session_id))
    if after != known:
        imports.complete_session(tx, after)


def _end(ctx: Context, tx: Tx, known: Session, told: Session) -> bool:
    """End a run that was running when it was imported before. How a live run ends, its recorder knows better."""
    final = told.status
    if known.status is not SessionStatus.RUNNING or known.source_kind is SourceKind.LIVE:
        return False
    if final is None or final is SessionStatus.RUNNING:
        return False
    ended_at = told.updated_at if told.ended_at is None else told.ended_at
    actor, reason = told.end_actor or RUN_ACTOR, told.end_reason or REASON
    sessions.end(tx, known.id, status=final, at=ended_at, exit_code=told.exit_code, actor=actor, reason=reason)
    _keep_history(ctx, tx, told, before=known.status)
    return True


def _end_later(ctx: Context, tx: Tx, known: Session, told: Session, added: Sequence[MessageDraft]) -> bool:
    """Move the end of a run that had ended, was resumed, and has ended again. An operator's word stays."""
    if not added or known.source_kind is SourceKind.LIVE or known.end_actor not in (None, RUN_ACTOR):
        return False
    if known.status not in TERMINAL_STATUSES or told.status not in TERMINAL_STATUSES:
        return False
    if known.ended_at is None or told.ended_at is None or told.ended_at <= known.ended_at:
        return False
    imports.end_later(tx, known.id, status=told.status, at=told.ended_at, exit_code=told.exit_code)
    _keep_history(ctx, tx, told, before=known.status)
    return True


def _keep_history(ctx: Context, tx: Tx, session: Session, *, before: SessionStatus | None) -> None:
    if session.status is not None:
        keep_history(
            ctx, tx, "session", session.id,
            before=before, after=session.status, at=ctx.now(), actor=ACTOR, reason=REASON,
        )  # fmt: skip


def _with_bookmarks(session: Session, in_order: Sequence[MessageDraft]) -> Session:
    """The session with its first and last message, where it does not name them (R17)."""
    if not in_order:
        return session
    return session._replace(
        first_msg_id=session.first_msg_id or in_order[0].id,
        last_msg_id=session.last_msg_id or in_order[-1].id,
        last_message_at=session.last_message_at or in_order[-1].created_at,
    )
