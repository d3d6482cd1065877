"""lionagi's own sessions and branches in and out of the store: drafts become imports, rows become dicts again."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from lionstudio.domain.conversation import Branch, Message, MessageDraft
from lionstudio.domain.errors import BranchNotFound, SessionNotFound
from lionstudio.domain.lionagi_envelope import LIONAGI
from lionstudio.domain.lionagi_live import in_spans
from lionstudio.domain.lionagi_sessions import (
    BranchDraft,
    SessionDraft,
    branch_dict,
    goes_on,
    session_dict,
    shared_beginning,
)
from lionstudio.domain.session import Session, SourceKind
from lionstudio.services import branches, messages, sessions
from lionstudio.services.context import Context
from lionstudio.services.import_parts import order_id
from lionstudio.services.imports import BranchImport, SessionImport

BRANCH_ORDER = "branch_order"  # lionagi orders branches by hand, the store by time
SPANS = "spans"  # what of a recorded branch lionagi still has, and in which order


def session_import(
    draft: SessionDraft, *, at: float, known_branches: Mapping[str, Sequence[str]] | None = None
) -> SessionImport:
    """A lionagi session as an import takes it, without a status: lionagi keeps none. `at` stands in for missing times.

    `known_branches` are histories of branches in the store, by id: a fork of one of them, or of another branch of the
    session, shares its beginning. Any other fork brings its whole history, and remembers whose it was.
    """
    created_at = at if draft.created_at is None else draft.created_at
    born = {message.id: message for branch in draft.branches for message in branch.messages}
    orders = {**(known_branches or {}), **{branch.id: branch.order for branch in draft.branches}}
    parts = [_branch_import(branch, draft.id, created_at, born, orders) for branch in draft.branches]
    times = [message.created_at for message in born.values() if message.created_at is not None]
    metadata = dict(draft.node_metadata or {})
    metadata[LIONAGI] = {**metadata.get(LIONAGI, {}), BRANCH_ORDER: [branch.id for branch in draft.branches]}
    session = Session(
        id=draft.id,
        created_at=created_at,
        updated_at=max([created_at, *times]),
        progression_id=order_id(draft.id),
        name=draft.name,
        user=draft.user,
        source_kind=SourceKind.IMPORTED_DB,
        node_metadata=metadata,
    )
    return SessionImport(session, parts)


def get_lionagi_session(ctx: Context, session_id: str) -> dict[str, Any]:
    """A stored session as lionagi's `Session.from_dict` reads it; raises SessionNotFound."""
    session = sessions.get_session(ctx, session_id)
    order = ((session.node_metadata or {}).get(LIONAGI) or {}).get(BRANCH_ORDER) or []
    places = {branch_id: place for place, branch_id in enumerate(order)}
    found = branches.list_branches(ctx, session_id)
    found.sort(key=lambda branch: places.get(branch.id, len(places)))
    return session_dict(session, [_branch_dict(ctx, branch) for branch in found])


def get_lionagi_branch(ctx: Context, branch_id: str) -> dict[str, Any]:
    """A stored branch with its whole history as lionagi's `Branch.from_dict` reads it; raises BranchNotFound."""
    return _branch_dict(ctx, branches.get_branch(ctx, branch_id))


def find_lionagi_session(ctx: Context, session_id: str) -> Session | None:
    """A stored session, if it is here: one of lionagi's may be recorded more than once."""
    with suppress(SessionNotFound):
        return sessions.get_session(ctx, session_id)
    return None


def find_history(ctx: Context, branch_id: str, live: Sequence[str]) -> tuple[Branch, list[str]] | None:
    """A stored branch and the ids of its whole history, if it is here.

    Runs that recorded it later went on with it; of all of them, the last that has most of the live messages.
    """
    try:
        found = [branches.get_branch(ctx, branch_id)]
    except BranchNotFound:
        return None
    for branch in found:  # which grows
        found += [fork for fork in branches.list_forks(ctx, branch.id) if goes_on(fork)]
    newest = [(branch, [message.id for message in _history(ctx, branch)]) for branch in reversed(found)]
    known = [len(set(live).intersection(history)) for _, history in newest]
    return newest[known.index(max(known))]


def _branch_import(
    draft: BranchDraft,
    session_id: str,
    at: float,
    born: Mapping[str | None, MessageDraft],
    orders: Mapping[str, Sequence[str]],
) -> BranchImport:
    parent = orders.get(draft.parent_branch_id or "")
    forked_at = None if parent is None else shared_beginning(draft.order[: draft.forked_at_ord], parent)
    said = {**{message.id: message for message in draft.inherited}, **born}
    branch = Branch(
        id=draft.id,
        created_at=at if draft.created_at is None else draft.created_at,
        session_id=session_id,
        progression_id=draft.progression_id or order_id(draft.id),
        name=draft.name,
        user=draft.user,
        system_msg_id=draft.system_msg_id,
        parent_branch_id=None if forked_at is None else draft.parent_branch_id,
        forked_at_ord=forked_at,
        node_metadata=_with_lost_parent(draft) if forked_at is None else draft.node_metadata,
    )
    return BranchImport(branch, [said[name] for name in draft.order[forked_at or 0 :] if name in said])


def _with_lost_parent(draft: BranchDraft) -> Mapping[str, Any] | None:
    """A fork whose parent is not here keeps lionagi's own account of it."""
    if draft.parent_branch_id is None:
        return draft.node_metadata
    metadata = dict(draft.node_metadata or {})
    told = (metadata.get(LIONAGI) or {}).get("clone_from") or {}
    begin = list(draft.order[: draft.forked_at_ord])
    return {**metadata, "clone_from": {"id": draft.parent_branch_id, **told, "progression": begin}}


def _branch_dict(ctx: Context, branch: Branch) -> dict[str, Any]:
    spans = ((branch.node_metadata or {}).get(LIONAGI) or {}).get(SPANS)
    return branch_dict(branch, in_spans(_history(ctx, branch), spans))


def _history(ctx: Context, branch: Branch) -> list[Message]:
    history: list[Message] = []
    while page := messages.list_messages(
        ctx, branch.session_id, branch.id, after=len(history), limit=messages.PAGE_LIMIT
    ):
        history += page
    return history
