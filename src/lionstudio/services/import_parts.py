"""What the branches of an import bring: their messages put in order, and what follows from them for the session."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.conversation import Branch, MessageDraft, MessageKind, OpenCall, sign_of
from lionstudio.domain.drafts import require_message
from lionstudio.domain.errors import Invalid, InvalidRequest
from lionstudio.domain.lionagi_messages import progression_ids
from lionstudio.domain.session import Session
from lionstudio.domain.usage import Usage, usage_of
from lionstudio.services.sessions import lock_session
from lionstudio.store import branches, forks, messages, progressions, usage
from lionstudio.store.transaction import Tx

CLONE_FROM = "clone_from"  # what lionagi calls it, in the metadata of a fork whose parent was not at hand
NAMESPACE = uuid.UUID("5d1c3a52-9a6c-5a39-8f0d-6a1e3f1d7c44")  # for what its source gives no id


class BranchImport(NamedTuple):
    """A branch and its own messages. Each message brings its id; without a time it gets that of the one before."""

    branch: Branch
    messages: Sequence[MessageDraft]


class Part(NamedTuple):
    """A branch, all of its messages as its source tells them, and those that it does not have yet."""

    branch: Branch
    told: Branch  # as its source tells it
    drafts: Sequence[MessageDraft]
    fresh: Sequence[MessageDraft]
    is_new: bool


def complete_drafts(drafts: Iterable[MessageDraft], at: float) -> list[MessageDraft]:
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


def id_of(draft: MessageDraft) -> str:
    assert draft.id is not None  # complete_drafts let it through
    return draft.id


def time_of(draft: MessageDraft) -> float:
    return draft.created_at or 0.0


def parents_first(parts: Sequence[BranchImport]) -> list[BranchImport]:
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


def order_id(owner_id: str) -> str:
    """The id of the order of a session or branch, where its source names none, or one that is another's."""
    return str(uuid.uuid5(NAMESPACE, f"{owner_id} order"))


def first_branch_id(session_id: str) -> str:
    """The id of the branch of a session whose source names none."""
    return str(uuid.uuid5(NAMESPACE, f"{session_id} main"))


def first_part(session: Session) -> Part:
    """The branch of a session whose source names none: every run has one."""
    branch_id = first_branch_id(session.id)
    branch = Branch(branch_id, session.created_at, session.id, order_id(branch_id), name="main")
    return Part(branch, branch, (), (), is_new=True)


def with_own_orders(tx: Tx, session: Session, parts: Iterable[Part], *, is_new: bool) -> tuple[Session, list[Part]]:
    """What is new of a session and its branches, each with an order of its own: sources give one to several."""
    taken: set[str] = set()

    def own(owner_id: str, told: str) -> str:
        found = order_id(owner_id) if told in taken or progressions.find_head(tx, told) is not None else told
        taken.add(found)
        return found

    def owning(part: Part) -> Part:
        order = own(part.branch.id, part.branch.progression_id)
        return part._replace(branch=part.branch._replace(progression_id=order))

    found = [owning(part) if part.is_new else part for part in parts]
    return session._replace(progression_id=own(session.id, session.progression_id)) if is_new else session, found


def lost_parent(branch: Branch) -> str | None:
    """The branch that a fork says it was forked from, where that was not at hand when it was read."""
    told = (branch.node_metadata or {}).get(CLONE_FROM)
    parent_id = told.get("id") if isinstance(told, Mapping) else None
    return parent_id if isinstance(parent_id, str) else None


def with_parent(tx: Tx, part: BranchImport, known: Branch | None) -> BranchImport:
    """A branch that goes on with one of another session, as a fork of that one, if it is here and was as it says."""
    parent_id = lost_parent(part.branch)
    if parent_id is None or (known is not None and known.parent_branch_id != parent_id):
        return part
    parent = branches.find(tx, parent_id)
    beginning = progression_ids((part.branch.node_metadata or {})[CLONE_FROM])
    if parent is None or [draft.id for draft in part.messages[: len(beginning)]] != list(beginning):
        return part
    if forks.list_history_ids(tx, parent.id, limit=len(beginning)) != list(beginning):
        return part
    lock_session(tx, parent.session_id)  # it must not be pruned before the fork is stored
    metadata = {name: value for name, value in (part.branch.node_metadata or {}).items() if name != CLONE_FROM}
    branch = part.branch._replace(
        parent_branch_id=parent.id, forked_at_ord=len(beginning), node_metadata=metadata or None
    )
    return BranchImport(branch, part.messages[len(beginning) :])


def store_part(tx: Tx, part: Part) -> None:
    prompt = next((draft.id for draft in reversed(part.fresh) if draft.kind is MessageKind.SYSTEM), None)
    if part.is_new:
        progressions.add_head(tx, part.branch.progression_id, created_at=part.branch.created_at)
        branches.insert(tx, part.branch._replace(system_msg_id=part.branch.system_msg_id or prompt))
    elif prompt is not None:
        branches.set_system_message(tx, part.branch.id, prompt)  # R27
    progressions.enter_many(tx, part.branch.progression_id, [id_of(draft) for draft in part.fresh])
    if part.fresh:
        telling = (draft for draft in reversed(part.fresh) if draft.kind is not MessageKind.OTHER)
        shown = sign_of(next(telling, part.fresh[-1]))
        branches.touch(tx, part.branch.id, kind=shown.kind, tool=shown.tool, at=time_of(part.fresh[-1]))


def keep_open_calls(tx: Tx, parts: Iterable[Part]) -> None:
    """What a run that still goes on is waiting for (D5), told by the whole of each branch."""
    for part in parts:
        if not part.is_new and not part.fresh:
            continue
        waiting: dict[str, OpenCall] = {}
        for draft in part.drafts:
            shown = sign_of(draft)
            if shown.opens_call:
                waiting[id_of(draft)] = OpenCall(part.branch.id, id_of(draft), shown.tool, time_of(draft))
            elif shown.answers is not None:
                waiting.pop(shown.answers, None)
            elif shown.abandons_calls:
                waiting.clear()
        branches.close_calls(tx, part.branch.id)
        for call in waiting.values():
            branches.open_call(tx, call)


def add_usage(tx: Tx, session_id: str, drafts: Iterable[MessageDraft]) -> None:
    totals: dict[str, Usage] = {}
    for draft in drafts:
        reported = usage_of(draft.node_metadata) if draft.node_metadata else None
        if reported is not None:
            model, consumed = reported
            totals[model] = totals[model].plus(consumed) if model in totals else consumed
    for model, consumed in totals.items():
        usage.add(tx, session_id, model, consumed)


def message_row(tx: Tx, draft: MessageDraft) -> dict[str, object]:
    try:
        require_message(draft)
        return messages.message_row(tx, draft, id=id_of(draft), created_at=time_of(draft))
    except Invalid as error:
        raise InvalidRequest(f"The message {draft.id!r} cannot be stored. {error.message}", hint=error.hint) from error
