"""Whole sessions at once: what importers hand over, stored in bulk, again and again without harm."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import Branch, MessageDraft, MessageKind, OpenCall, kind_of, tool_of
from lionstudio.domain.drafts import require_message
from lionstudio.domain.errors import DatabaseBusy, Error, Invalid, InvalidRequest, Unavailable
from lionstudio.domain.session import RUN_ACTOR, Session, SessionStatus, SourceKind
from lionstudio.domain.usage import Usage, usage_of
from lionstudio.services.admin import keep_history
from lionstudio.services.context import Context
from lionstudio.services.sessions import find_locked, known_session
from lionstudio.store import branches, exchange, imports, messages, progressions, sessions, usage
from lionstudio.store.transaction import Tx

ROWS_AT_ONCE = 5_000  # messages a transaction: large enough to be fast, small enough to let others write
ACTOR = "import"
REASON = "run.imported"
TOOL_KINDS = (MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT)


class BranchImport(NamedTuple):
    """A branch and its own messages. Each message brings its id; without a time it gets that of the one before."""

    branch: Branch
    messages: Sequence[MessageDraft]


class SessionImport(NamedTuple):
    """A session with everything in it, as its source tells it."""

    session: Session
    branches: Sequence[BranchImport]


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

    def plus(self, other: "Imported") -> "Imported":
        return Imported(
            self.sessions_added + other.sessions_added,
            self.sessions_completed + other.sessions_completed,
            self.messages_added + other.messages_added,
            self.problems + other.problems,
        )


NOTHING = Imported()


def import_sessions(ctx: Context, found: Iterable[SessionImport]) -> Imported:
    """Store sessions, several to a transaction, each with one line of news; raises only Unavailable.

    What is there already is not touched: a known session gets the branches and messages it lacks, and its end if it was
    running and its source says how it ended. A session that cannot be stored is left out whole and becomes a problem.
    """
    total = NOTHING
    for batch in _batches(found):
        total = total.plus(_import_batch(ctx, batch))
    return total


def _batches(found: Iterable[SessionImport]) -> Iterator[list[SessionImport]]:
    batch: list[SessionImport] = []
    rows = 0
    for one in found:
        batch.append(one)
        rows += 1 + sum(len(part.messages) for part in one.branches)
        if rows >= ROWS_AT_ONCE:
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
            total = total.plus(_store(ctx, [one]))
        except Unavailable:
            raise
        except Error as error:
            total = total.plus(Imported(problems=(ImportProblem(one.session.id, error.message),)))
    return total


def _store(ctx: Context, batch: Sequence[SessionImport]) -> Imported:
    total = NOTHING
    with ctx.db.write() as tx:
        for one in batch:
            changed = _import_one(ctx, tx, one)
            if changed != NOTHING:
                tx.tell(Topic.SESSION, one.session.id, session_id=one.session.id, at=ctx.now())
            total = total.plus(changed)
    return total


class _Part(NamedTuple):
    """A branch, all of its messages as its source tells them, and those that it does not have yet."""

    branch: Branch
    drafts: Sequence[MessageDraft]
    fresh: Sequence[MessageDraft]
    is_new: bool


def _import_one(ctx: Context, tx: Tx, one: SessionImport) -> Imported:
    known = find_locked(tx, one.session.id)
    session = one.session if known is None else known
    parts = [_part(tx, one.session, part, known) for part in _parents_first(one.branches)]
    fresh = list({draft.id: draft for part in parts for draft in part.fresh}.values())
    added = _added(tx, fresh, known)
    messages.insert_many(tx, [_row(tx, draft) for draft in fresh])
    if known is None:
        _add_session(tx, session, added)
        _keep_history(ctx, tx, session, before=None)
    else:
        _complete_session(tx, known, one.session, added)
    for part in parts:
        _store_part(tx, part)
    progressions.enter_many(tx, session.progression_id, [_id(draft) for draft in added])
    _deliver(tx, session.id, added)
    _add_usage(tx, session.id, added)
    ended = known is not None and _end(ctx, tx, known, one.session)
    if not ended and session.status is SessionStatus.RUNNING:
        _keep_open_calls(tx, parts)
    if known is None:
        return Imported(sessions_added=1, messages_added=len(added))
    changed = ended or any(part.is_new or part.fresh for part in parts)
    return Imported(sessions_completed=1, messages_added=len(added)) if changed else NOTHING


def _part(tx: Tx, session: Session, part: BranchImport, known: Session | None) -> _Part:
    drafts = _complete_drafts(part.messages, session.created_at)
    branch = branches.find(tx, part.branch.id)
    if branch is None:
        return _Part(part.branch, drafts, drafts, is_new=True)
    if known is None or branch.session_id != known.id:
        raise InvalidRequest(f"The branch {branch.id!r} belongs to another session.")
    held = set(progressions.progression_ids(tx, branch.progression_id))
    return _Part(branch, drafts, [draft for draft in drafts if draft.id not in held], is_new=False)


def _complete_drafts(drafts: Iterable[MessageDraft], at: float) -> list[MessageDraft]:
    """Messages in their order, each with a time, and each id once, the last of its kind."""
    found: dict[str, MessageDraft] = {}
    for draft in drafts:
        if draft.id is None:
            raise InvalidRequest("An imported message needs an id, so that importing it again changes nothing.")
        if draft.created_at is None:
            found[draft.id] = draft._replace(created_at=at)
        else:
            found[draft.id], at = draft, draft.created_at
    return list(found.values())


def _id(draft: MessageDraft) -> str:
    assert draft.id is not None  # _complete_drafts let it through
    return draft.id


def _at(draft: MessageDraft) -> float:
    return draft.created_at or 0.0


def _added(tx: Tx, fresh: Sequence[MessageDraft], known: Session | None) -> list[MessageDraft]:
    """What the session itself does not have yet, in the order of time."""
    if known is not None and fresh:
        held = set(progressions.progression_ids(tx, known.progression_id))
        fresh = [draft for draft in fresh if draft.id not in held]
    return sorted(fresh, key=_at)


def _parents_first(parts: Sequence[BranchImport]) -> list[BranchImport]:
    waiting = {part.branch.id: part for part in parts}
    ordered: list[BranchImport] = []
    for part in parts:
        chain = []
        step: BranchImport | None = part
        while step is not None and waiting.pop(step.branch.id, None) is not None:
            chain.append(step)
            step = waiting.get(step.branch.parent_branch_id or "")
        ordered += reversed(chain)
    return ordered


def _add_session(tx: Tx, session: Session, added: Sequence[MessageDraft]) -> None:
    progressions.add_head(tx, session.progression_id, created_at=session.created_at)
    parent = known_session(tx, session.parent_session_id)
    sessions.insert(tx, _with_bookmarks(session, added)._replace(parent_session_id=parent))


def _complete_session(tx: Tx, known: Session, told: Session, added: Sequence[MessageDraft]) -> None:
    after = _with_bookmarks(known, added)
    if added and _at(added[-1]) >= (known.last_message_at or 0.0):
        after = after._replace(last_msg_id=added[-1].id, last_message_at=added[-1].created_at)
    if added:
        after = after._replace(updated_at=max(known.updated_at, told.updated_at, _at(added[-1])))
    if known.parent_session_id is None:
        after = after._replace(parent_session_id=known_session(tx, told.parent_session_id))
    if after != known:
        imports.complete_session(tx, after)


def _with_bookmarks(session: Session, in_order: Sequence[MessageDraft]) -> Session:
    """The session with its first and last message, where it does not name them (R17)."""
    if not in_order:
        return session
    return session._replace(
        first_msg_id=session.first_msg_id or in_order[0].id,
        last_msg_id=session.last_msg_id or in_order[-1].id,
        last_message_at=session.last_message_at or in_order[-1].created_at,
    )


def _store_part(tx: Tx, part: _Part) -> None:
    prompt = next((draft.id for draft in reversed(part.fresh) if _kind(draft) is MessageKind.SYSTEM), None)
    if part.is_new:
        progressions.add_head(tx, part.branch.progression_id, created_at=part.branch.created_at)
        branches.insert(tx, part.branch._replace(system_msg_id=part.branch.system_msg_id or prompt))
    elif prompt is not None:
        branches.set_system_message(tx, part.branch.id, prompt)  # R27
    progressions.enter_many(tx, part.branch.progression_id, [_id(draft) for draft in part.fresh])
    if part.fresh:
        last = part.fresh[-1]
        kind = _kind(last)
        tool = tool_of(last.content) if kind in TOOL_KINDS else None
        branches.touch(tx, part.branch.id, kind=kind, tool=tool, at=_at(last))


def _keep_open_calls(tx: Tx, parts: Iterable[_Part]) -> None:
    """What a run that still goes on is waiting for (D5), told by the whole of each branch."""
    for part in parts:
        if not part.is_new and not part.fresh:
            continue
        waiting: dict[str, OpenCall] = {}
        for draft in part.drafts:
            kind = _kind(draft)
            if kind is MessageKind.TOOL_CALL:
                waiting[_id(draft)] = OpenCall(part.branch.id, _id(draft), tool_of(draft.content), _at(draft))
            elif kind is MessageKind.TOOL_RESULT and isinstance(draft.content, Mapping):
                waiting.pop(str(draft.content.get("action_request_id")), None)
            elif kind is MessageKind.USER:
                waiting.clear()
        branches.close_calls(tx, part.branch.id)
        for call in waiting.values():
            branches.open_call(tx, call)


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


def _keep_history(ctx: Context, tx: Tx, session: Session, *, before: SessionStatus | None) -> None:
    if session.status is not None:
        keep_history(
            ctx, tx, "session", session.id,
            before=before, after=session.status, at=ctx.now(), actor=ACTOR, reason=REASON,
        )  # fmt: skip


def _deliver(tx: Tx, session_id: str, drafts: Iterable[MessageDraft]) -> None:
    for draft in drafts:
        if draft.channel is not None and draft.recipient is not None:
            if exchange.find_delivery(tx, _id(draft)) is not None:
                continue
            sender = draft.sender or session_id
            tx.deliver(_id(draft), sender=sender, recipient=draft.recipient, channel=draft.channel)


def _add_usage(tx: Tx, session_id: str, drafts: Iterable[MessageDraft]) -> None:
    totals: dict[str, Usage] = {}
    for draft in drafts:
        reported = usage_of(draft.node_metadata) if draft.node_metadata else None
        if reported is not None:
            model, consumed = reported
            totals[model] = totals[model].plus(consumed) if model in totals else consumed
    for model, consumed in totals.items():
        usage.add(tx, session_id, model, consumed)


def _row(tx: Tx, draft: MessageDraft) -> dict[str, object]:
    try:
        require_message(draft)
        return messages.message_row(tx, draft, id=_id(draft), created_at=_at(draft))
    except Invalid as error:
        raise InvalidRequest(f"The message {draft.id!r} cannot be stored. {error.message}", hint=error.hint) from error


def _kind(draft: MessageDraft) -> MessageKind:
    return kind_of(draft.lion_class, draft.role, draft.content)
