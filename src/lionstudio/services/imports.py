"""Whole sessions at once: what importers hand over, stored in bulk, again and again without harm."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import Branch, Line, MessageDraft, kind_of, tool_of
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session import Session
from lionstudio.domain.usage import Usage, usage_of
from lionstudio.services.context import Context
from lionstudio.services.messages import require_role, store_in_line
from lionstudio.store import branches, messages, progressions, sessions, usage
from lionstudio.store.database import Tx

ROWS_AT_ONCE = 5_000  # messages a transaction: large enough to be fast, small enough to let others write


class BranchImport(NamedTuple):
    """A branch and its own messages; each message brings its id and its time."""

    branch: Branch
    messages: Sequence[MessageDraft]


class SessionImport(NamedTuple):
    """A session with everything in it, as its source tells it. Parents come before their forks."""

    session: Session
    branches: Sequence[BranchImport]


class Imported(NamedTuple):
    """What an import changed."""

    sessions_added: int = 0
    messages_added: int = 0

    def plus(self, other: "Imported") -> "Imported":
        return Imported(self.sessions_added + other.sessions_added, self.messages_added + other.messages_added)


def import_sessions(ctx: Context, found: Iterable[SessionImport]) -> Imported:
    """Store sessions, several to a transaction, each with one line of news. What is there already is not touched."""
    total = Imported()
    batch: list[SessionImport] = []
    rows = 0
    for one in found:
        batch.append(one)
        rows += 1 + sum(len(part.messages) for part in one.branches)
        if rows >= ROWS_AT_ONCE:
            total = total.plus(_import_batch(ctx, batch))
            batch, rows = [], 0
    return total.plus(_import_batch(ctx, batch)) if batch else total


def _import_batch(ctx: Context, batch: Sequence[SessionImport]) -> Imported:
    result = Imported()
    with ctx.db.write() as tx:
        for one in batch:
            changed = _import_one(tx, one)
            if changed != Imported():
                tx.tell(Topic.SESSION, one.session.id, session_id=one.session.id, at=ctx.now())
            result = result.plus(changed)
    return result


def _import_one(tx: Tx, one: SessionImport) -> Imported:
    if sessions.find(tx, one.session.id) is None:
        return _import_new(tx, one)
    if tx.dialect.lock_session is not None:
        tx.all(tx.dialect.lock_session, session_id=one.session.id)
    return Imported(messages_added=sum(_complete_branch(tx, one.session, part) for part in one.branches))


def _import_new(tx: Tx, one: SessionImport) -> Imported:
    drafts = [draft for part in one.branches for draft in part.messages]
    ids = list(dict.fromkeys(_id(draft) for draft in drafts))
    progressions.add_head(tx, one.session.progression_id, created_at=one.session.created_at)
    in_order = sorted(drafts, key=lambda draft: draft.created_at or 0.0)
    sessions.insert(tx, _with_bookmarks(one.session, in_order))
    messages.insert_many(tx, (_row(tx, draft) for draft in drafts))
    for part in one.branches:
        _add_branch(tx, part)
        own = [_id(draft) for draft in part.messages]
        progressions.enter_many(tx, part.branch.progression_id, own)
        if part.messages:
            _touch_branch(tx, part.branch.id, part.messages[-1])
    progressions.enter_many(tx, one.session.progression_id, list(dict.fromkeys(map(_id, in_order))))
    _add_usage(tx, one.session.id, drafts)
    return Imported(1, len(ids))


def _with_bookmarks(session: Session, in_order: Sequence[MessageDraft]) -> Session:
    """The session with its first and last message, where its source does not name them (R17)."""
    if not in_order:
        return session
    return session._replace(
        first_msg_id=session.first_msg_id or in_order[0].id,
        last_msg_id=session.last_msg_id or in_order[-1].id,
        last_message_at=session.last_message_at or in_order[-1].created_at,
    )


def _complete_branch(tx: Tx, session: Session, part: BranchImport) -> int:
    """Add what a known session does not have yet; how many messages were new."""
    if branches.find(tx, part.branch.id) is None:
        _add_branch(tx, part)
    line = progressions.find_line(tx, session.id, part.branch.id)
    if line is None:
        raise InvalidRequest(f"The branch {part.branch.id!r} belongs to another session.")
    added = [draft for draft in part.messages if _store_if_new(tx, line, draft)]
    if added:
        sessions.touch(tx, session.id, message_id=_id(added[-1]), at=added[-1].created_at or session.updated_at)
    return len(added)


def _store_if_new(tx: Tx, line: Line, draft: MessageDraft) -> bool:
    if progressions.holds(tx, line.branch_progression_id, _id(draft)):
        return False
    return store_in_line(tx, line, draft, _id(draft), at=draft.created_at or 0.0)


def _add_branch(tx: Tx, part: BranchImport) -> None:
    progressions.add_head(tx, part.branch.progression_id, created_at=part.branch.created_at)
    branches.insert(tx, part.branch)


def _touch_branch(tx: Tx, branch_id: str, last: MessageDraft) -> None:
    kind = kind_of(last.lion_class, last.role, last.content)
    branches.touch(tx, branch_id, kind=kind, tool=tool_of(last.content), at=last.created_at or 0.0)


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
    require_role(draft)
    return messages.message_row(tx, draft, id=_id(draft), created_at=draft.created_at or 0.0)


def _id(draft: MessageDraft) -> str:
    if draft.id is None:
        raise InvalidRequest("An imported message needs an id, so that importing it again changes nothing.")
    return draft.id
