"""Messages: store them, read them, exchange them between sessions, find similar ones."""

import heapq
import math
import operator
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import (
    Line,
    Message,
    MessageDraft,
    MessageKind,
    OpenCall,
    sign_of,
)
from lionstudio.domain.drafts import require_message, require_recipient
from lionstudio.domain.errors import AlreadyExists, BranchNotFound, MessageNotFound
from lionstudio.domain.usage import NO_USAGE, usage_of
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.forking import is_inherited
from lionstudio.services.sessions import get, lock_session, no_session
from lionstudio.store import branches, exchange, messages, progressions, sessions, usage
from lionstudio.store.transaction import Tx

PAGE = 200
PAGE_LIMIT = 10_000
SCAN_PAGE = 1_000
WAY_TO_BRANCHES = "li runs show RUN lists the branches of a run."
WAY_TO_MESSAGES = "li runs export RUN writes every message of a run, with its id."


def find_line(ctx: Context, session_id: str, branch_id: str | None = None) -> Line:
    """Where the messages of a branch go, or those of the run's first. It stays true for ever.

    Raises SessionNotFound or BranchNotFound.
    """
    with ctx.db.read() as tx:
        return _line(tx, session_id, branch_id)


def _line(tx: Tx, session_id: str, branch_id: str | None) -> Line:
    """Where the messages of a branch go, or those of a run that names none."""
    if branch_id:
        line = progressions.find_line(tx, session_id, branch_id)
    else:
        line = progressions.find_first_line(tx, session_id)
    if line is not None:
        return line
    if sessions.find(tx, session_id) is None:
        raise no_session(session_id)
    raise no_branch(session_id, branch_id)


def append_message(ctx: Context, line: Line, draft: MessageDraft, at: float | None = None) -> str:
    """Store one message at the end of its branch and tell every watcher; its id.

    A message id that is there already is overwritten in place and gets no second place (R29). `at` is when it was
    written, where that is not now.
    """
    return append_messages(ctx, line, (draft,), at=at)[0]


@again_if_undone
def append_messages(ctx: Context, line: Line, drafts: Sequence[MessageDraft], *, at: float | None = None) -> list[str]:
    """Store messages at the end of their branch, all or none; their ids."""
    now = ctx.now() if at is None else at
    ids = [draft.id or ctx.new_id() for draft in drafts]
    with ctx.db.write() as tx:
        lock_session(tx, line.session_id)
        _say(ctx, tx, line.session_id, zip(repeat(line), drafts, ids), at=now)
    return ids


@again_if_undone
def append_to_session(ctx: Context, session_id: str, said: Sequence[tuple[str | None, MessageDraft]]) -> list[str]:
    """Store messages of one run, each at the end of the branch that is named with it, else of the run's first.

    All or none; their ids. Raises SessionNotFound or BranchNotFound, and AlreadyExists for the id of a message that
    stands in another run: who numbers messages by hand must not overwrite those of somebody else.
    """
    ids = [draft.id or ctx.new_id() for _, draft in said]
    with ctx.db.write() as tx:
        lock_session(tx, session_id)
        if not said:
            get(tx, session_id)
        lines = {branch_id: _line(tx, session_id, branch_id) for branch_id in {branch_id for branch_id, _ in said}}
        branched = ((lines[branch_id], draft, id) for (branch_id, draft), id in zip(said, ids, strict=True))
        _say(ctx, tx, session_id, branched, at=ctx.now(), only_own=True)
    return ids


def _say(
    ctx: Context,
    tx: Tx,
    session_id: str,
    said: Iterable[tuple[Line, MessageDraft, str]],
    *,
    at: float,
    only_own: bool = False,
) -> None:
    """Store messages, and let the run and its watchers know."""
    newest, is_news = None, False
    told_at = ctx.now()
    for line, draft, message_id in said:
        is_new, is_changed = _store_in_line(tx, line, draft, message_id, at=at, only_own=only_own)
        if is_new:
            newest = message_id
        if is_new or is_changed:  # what a writer sends again because it heard no answer is no news
            is_news = True
            tx.tell(Topic.MESSAGE, message_id, session_id=session_id, at=told_at)
    if is_news:
        sessions.touch(tx, session_id, message_id=newest, at=at)


def _store_in_line(
    tx: Tx, line: Line, draft: MessageDraft, message_id: str, *, at: float, only_own: bool
) -> tuple[bool, bool]:
    """Store one message within a transaction; whether it was new to its branch, and whether it overwrote another."""
    require_message(draft)
    created_at = at if draft.created_at is None else draft.created_at
    row = messages.message_row(tx, draft, id=message_id, created_at=created_at)
    is_new, is_changed = messages.insert(tx, row), False
    if is_new:
        _enter(tx, line, (line.branch_progression_id, line.session_progression_id), message_id)
        _count_usage(tx, line.session_id, draft, None)
    else:
        # Asked now and not before: another run may have taken the id a moment ago.
        if only_own and not progressions.holds(tx, line.session_progression_id, message_id):
            raise AlreadyExists(
                f"There is a message {message_id!r} already, and it is not of this run.",
                hint="Message ids are known to all runs: begin them with the id of the run, or leave them out.",
            )
        is_changed = _replace(tx, draft, row, at=at, teller=line.session_id)
        if not is_inherited(tx, line.branch_id, message_id):  # else it has its place in the branch (R29)
            if not progressions.holds(tx, line.session_progression_id, message_id):
                _count_usage(tx, line.session_id, draft, None)
            is_new = _enter_where_missing(tx, line, message_id)
    deliver_said(tx, line.session_id, message_id, draft)
    if is_new:  # what is said again shows nothing about what the branch does now
        _follow_activity(tx, line.branch_id, draft, message_id, at=at)
    return is_new, is_changed


def store_message(ctx: Context, draft: MessageDraft) -> str:
    """Store a message that belongs to no branch and no session (R33); its id."""
    return _store_free(ctx, draft, session_id=None)


def send_message(ctx: Context, session_id: str | None, draft: MessageDraft) -> str:
    """Put a message into its recipient's inbox; it stands in no transcript. Its id."""
    require_recipient(draft)
    return _store_free(ctx, draft, session_id=session_id)


@again_if_undone
def _store_free(ctx: Context, draft: MessageDraft, *, session_id: str | None) -> str:
    require_message(draft)
    message_id = draft.id or ctx.new_id()
    now = ctx.now()
    with ctx.db.write() as tx:
        row = messages.message_row(
            tx, draft, id=message_id, created_at=now if draft.created_at is None else draft.created_at
        )
        if not messages.insert(tx, row):
            _replace(tx, draft, row, at=now, teller=None)
        _deliver(tx, session_id, message_id, draft)
        tx.tell(Topic.MESSAGE, message_id, at=now)  # no news of its sender's run, in whose transcript it does not stand
    return message_id


def get_message(ctx: Context, message_id: str) -> Message:
    """One message; raises MessageNotFound."""
    with ctx.db.read() as tx:
        message = messages.find(tx, message_id)
    if message is None:
        raise MessageNotFound(f"There is no message {message_id!r}.", hint=WAY_TO_MESSAGES)
    return message


def list_messages(
    ctx: Context, session_id: str, branch_id: str | None = None, *, after: int = 0, limit: int = PAGE
) -> list[Message]:
    """A session's messages, or a branch's whole history through its forks, from position `after` + 1."""
    limit = max(0, min(limit, PAGE_LIMIT))
    with ctx.db.read() as tx:
        if branch_id is None:
            if sessions.find(tx, session_id) is None:
                raise no_session(session_id)
            return progressions.list_in_session(tx, session_id, after=max(0, after), limit=limit)
        branch = branches.find(tx, branch_id)
        if branch is None or branch.session_id != session_id:
            raise no_branch(session_id, branch_id)
        return progressions.list_in_branch(tx, branch_id, after=max(0, after), limit=limit)


def no_branch(session_id: str, branch_id: str | None) -> BranchNotFound:
    """The error for a branch that a run does not have."""
    name = "" if branch_id is None else f" {branch_id!r}"
    return BranchNotFound(f"The run {session_id!r} has no branch{name}.", hint=WAY_TO_BRANCHES)


def list_inbox(
    ctx: Context, names: Sequence[str], *, channel: str | None = None, after: int = 0, limit: int = PAGE
) -> list[Message]:
    """What was sent to any of these names, in the order of commits; a message's position is the next `after`."""
    return _list_box(ctx, "recipient", names, channel=channel, after=after, limit=limit)


def list_outbox(
    ctx: Context, names: Sequence[str], *, channel: str | None = None, after: int = 0, limit: int = PAGE
) -> list[Message]:
    """What any of these names sent, in the order of commits."""
    return _list_box(ctx, "sender", names, channel=channel, after=after, limit=limit)


def _list_box(
    ctx: Context, box: str, names: Sequence[str], *, channel: str | None, after: int, limit: int
) -> list[Message]:
    with ctx.db.read() as tx:
        found = {
            message.position or 0: message
            for name in dict.fromkeys(names)
            for message in exchange.list_exchanged(tx, box, name, channel=channel, after=after, limit=limit)
        }
    return [found[seq] for seq in sorted(found)][:limit]


def list_names(ctx: Context, session_id: str) -> list[str]:
    """Every name a run answers to: its id, its name, its agent and its branches."""
    with ctx.db.read() as tx:
        session = sessions.find(tx, session_id)
        if session is None:
            return [session_id]
        own = [branch.id for branch in branches.list_in_session(tx, session_id)]
    return [name for name in (session_id, session.name, session.agent_name, *own) if name]


def deliver_said(tx: Tx, session_id: str, message_id: str, draft: MessageDraft) -> None:
    """Deliver what stands in a transcript, if it was said on a channel; once only (R8)."""
    if draft.channel is not None:
        _deliver(tx, session_id, message_id, draft)


def _deliver(tx: Tx, session_id: str | None, message_id: str, draft: MessageDraft) -> None:
    if draft.recipient is not None:
        sender = draft.sender or session_id
        tx.deliver(message_id, sender=sender, recipient=draft.recipient, channel=draft.channel)


def _enter_where_missing(tx: Tx, line: Line, message_id: str) -> bool:
    """Give a known message its place where it has none yet: it may come from another branch or session (R28)."""
    missing = [
        progression_id
        for progression_id in (line.branch_progression_id, line.session_progression_id)
        if not progressions.holds(tx, progression_id, message_id)
    ]
    _enter(tx, line, missing, message_id)
    return line.branch_progression_id in missing


def _enter(tx: Tx, line: Line, progression_ids: Sequence[str], message_id: str) -> None:
    for progression_id in progression_ids:
        if not progressions.enter(tx, progression_id, message_id):
            raise no_session(line.session_id)


def _replace(tx: Tx, draft: MessageDraft, row: dict[str, Any], *, at: float, teller: str | None) -> bool:
    """Overwrite a message, and let every session that holds it count the difference and tell its watchers.

    Whether that changed anything. Sent again without a time, it keeps the one it got when it was new.
    """
    before = messages.find(tx, row["id"])
    if draft.created_at is None and before is not None:
        row["created_at"] = before.created_at
    if messages.is_stored(tx, row):
        return False
    for session_id in progressions.list_holders(tx, row["id"]):
        _count_usage(tx, session_id, draft, before)
        if session_id != teller:
            tx.tell(Topic.MESSAGE, row["id"], session_id=session_id, at=at)
    messages.replace(tx, row)
    return True


def _follow_activity(tx: Tx, branch_id: str, draft: MessageDraft, message_id: str, *, at: float) -> None:
    """Keep what the branch is doing (D5), and its system prompt, with the message that shows it."""
    shown = sign_of(draft)
    if shown.opens_call:
        branches.open_call(tx, OpenCall(branch_id, message_id, shown.tool, at))
    elif shown.answers is not None:
        branches.close_call(tx, branch_id, shown.answers)
    elif shown.abandons_calls:
        branches.close_calls(tx, branch_id)
    elif shown.kind is MessageKind.SYSTEM:
        branches.set_system_message(tx, branch_id, message_id)  # R27
    branches.touch(tx, branch_id, kind=shown.kind, tool=shown.tool, at=at)


def _count_usage(tx: Tx, session_id: str, draft: MessageDraft, before: Message | None) -> None:
    """Add what the message reports; for one that is replaced, only the difference."""
    if not draft.node_metadata and before is None:
        return
    reported = usage_of(draft.node_metadata)
    counted = None if before is None else usage_of(before.node_metadata)
    if reported is not None:
        model, new = reported
        old = counted[1] if counted is not None and counted[0] == model else NO_USAGE
        usage.add(tx, session_id, model, new.minus(old))
    if counted is not None and (reported is None or reported[0] != counted[0]):
        usage.add(tx, session_id, counted[0], NO_USAGE.minus(counted[1]))


class Similar(NamedTuple):
    """A message and how far its embedding is from the vector asked for: 0 is the same direction, 2 the opposite."""

    message: Message
    distance: float


def find_similar(ctx: Context, vector: Sequence[float], *, limit: int = 10) -> list[Similar]:
    """Messages with the nearest embeddings (R7): computed by the database where it can, else by a plain scan."""
    with ctx.db.read() as tx:
        nearest = messages.nearest_ids(tx, vector, limit=limit)
        if nearest is None:
            nearest = _scan(tx, vector, limit)
        found = [(messages.find(tx, message_id), distance) for message_id, distance in nearest]
    return [Similar(message, distance) for message, distance in found if message is not None]


def _scan(tx: Tx, vector: Sequence[float], limit: int) -> list[tuple[str, float]]:
    """Every embedding of the same size against the vector, keeping the nearest."""
    length = math.hypot(*vector)
    best: list[tuple[float, str]] = []
    after = ""
    while page := messages.list_embeddings(tx, after=after, limit=SCAN_PAGE):
        after = page[-1][0]
        for message_id, embedding in page:
            if len(embedding) == len(vector):
                scale = length * math.hypot(*embedding)
                product = sum(map(operator.mul, vector, embedding))
                best.append((1.0 - product / scale if scale else 1.0, message_id))
        best = heapq.nsmallest(limit, best)
    return [(message_id, distance) for distance, message_id in best]
