"""Branches and sessions between lionagi's dicts and ours, as the runtime meant them, which is more than it writes.

lionagi 0.36 copies the messages of a fork under new ids, forgets which message is the system message, and gives a
restored session an empty branch. Forks share their parent's messages here, and `restore_branch` and `restore_session`
put the rest right.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.conversation import SYSTEM_CLASS, Branch, Message, MessageDraft
from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.lionagi_envelope import (
    read_metadata,
    text_of,
    unix_of,
    unstorable,
    with_envelope,
    without_envelope,
)
from lionstudio.domain.lionagi_messages import message_dict, message_draft, progression_ids, with_model
from lionstudio.domain.session import Session

BRANCH_CLASS = "lionagi.session.branch.Branch"
SESSION_CLASS = "lionagi.session.session.Session"

# A branch's `logs` are known and not kept: each repeats the whole conversation as the request it was sent in.
BRANCH_FIELDS = frozenset(
    {"id", "created_at", "name", "user", "messages", "system", "chat_model", "parse_model", "logs"}
)
SESSION_FIELDS = frozenset({"id", "created_at", "name", "user", "branches", "default_branch"})
TEXT_FIELDS = ("name", "user")
GOES_ON = "goes_on"  # the branch is recorded in more than one run; it goes on with the other one, and is no fork
METADATA_FIELDS = frozenset({"metadata", "node_metadata"})

# R34: bulk that a model needs to call, not to be known by. A credential has no place in a record at all, and lionagi
# itself reads none back from stored models.
UNKEPT_SETTING = re.compile(
    r"request_options|processor_config|.*(api[-_]?key|authorization|secret|password|cookie)", re.I
)


class BranchDraft(NamedTuple):
    """A branch as a runtime hands it in; a fork names its parent instead of repeating it."""

    id: str
    created_at: float | None
    order: tuple[str, ...]  # its whole history, by the ids under which the messages were born
    messages: tuple[MessageDraft, ...]  # those that were born here
    inherited: tuple[
        MessageDraft, ...
    ] = ()  # the fork's copies under the originals' ids, for when the parent is unknown
    name: str | None = None
    user: str | None = None
    progression_id: str | None = None
    system_msg_id: str | None = None
    parent_branch_id: str | None = None
    forked_at_ord: int | None = None  # how many messages of the parent's history it begins with
    node_metadata: Mapping[str, Any] | None = None


class SessionDraft(NamedTuple):
    """A session as a runtime hands it in, with its branches in their order."""

    id: str
    created_at: float | None
    branches: tuple[BranchDraft, ...]
    default_branch_id: str | None = None
    name: str | None = None
    user: str | None = None
    node_metadata: Mapping[str, Any] | None = None


def branch_draft(
    source: Mapping[str, Any], *, originals: Mapping[str, str] | None = None, infer_models: bool = True
) -> BranchDraft:
    """Our draft of a lionagi branch; raises InvalidContent if it is not a dict.

    `originals` says of which message a copied message is the copy. Without it the fork's own account is believed, which
    suffices unless it was forked from a fork: `session_draft` knows them all. A message that reports usage and no model
    is one of its branch's model, unless its writer always says which.
    """
    metadata, kept = read_metadata(source, known=BRANCH_FIELDS)
    pile = source.get("messages")
    drafts = {_required_id(item, "message"): message_draft(item) for item in _items(pile)}
    order = progression_ids(pile) if isinstance(pile, Mapping) else ()
    system = source.get("system")
    system_id = text_of(system.get("id")) if isinstance(system, Mapping) else None
    if isinstance(system, Mapping) and system_id is not None and system_id not in drafts:
        drafts = {system_id: message_draft(system), **drafts}
        order = (system_id, *order) if order else ()
    order = order or tuple(drafts)
    if system_id is None and order and order[0] in drafts and drafts[order[0]].lion_class == SYSTEM_CLASS:
        system_id = order[0]

    copies = _copies(source) if originals is None else originals
    history = _resolved(order, copies)
    clone_from = metadata.pop("clone_from", None)
    parent = clone_from if isinstance(clone_from, Mapping) and clone_from.get("id") else None
    if parent is None and clone_from is not None:
        metadata["clone_from"] = clone_from
    view = metadata.get("current_progression")
    if isinstance(view, Mapping):  # the part of the history that the model is shown
        metadata["current_progression"] = {**view, "order": list(_resolved(progression_ids(view), copies))}
    own_pile = (
        {name: value for name, value in pile.items() if name != "collections"} if isinstance(pile, Mapping) else {}
    )
    dirty = unstorable({name: source.get(name) for name in TEXT_FIELDS})
    envelope = {
        "fields": kept | dirty,
        "messages": _pile_frame(own_pile),
        "chat_model": _slim(source.get("chat_model")),
        "parse_model": _slim(source.get("parse_model")),
        "clone_from": {name: parent[name] for name in ("user", "created_at") if name in parent} if parent else None,
    }
    added = {name: value for name, value in agent_of(source.get("chat_model")).items() if name not in metadata}
    model = text_of(metadata.get("model") or added.get("model"))
    if infer_models:
        drafts = {name: with_model(draft, model) for name, draft in drafts.items()}
    progression = pile.get("progression") if isinstance(pile, Mapping) else None
    return BranchDraft(
        id=_required_id(source, "branch"),
        created_at=unix_of(source.get("created_at")),
        order=history,
        messages=tuple(draft for name, draft in drafts.items() if name not in copies),
        inherited=tuple(_as_original(drafts[name], copies) for name in drafts if name in copies),
        name=text_of(source.get("name")),
        user=text_of(source.get("user")),
        progression_id=text_of(progression.get("id")) if isinstance(progression, Mapping) else None,
        system_msg_id=None if system_id is None else _original(system_id, copies),
        parent_branch_id=str(parent["id"]) if parent else None,
        forked_at_ord=shared_beginning(history, _resolved(progression_ids(parent), copies)) if parent else None,
        node_metadata=with_envelope({**metadata, **added}, {**envelope, "added": list(added)}, cleaned=bool(dirty)),
    )


def branch_dict(branch: Branch | BranchDraft, messages: Sequence[Message | MessageDraft]) -> dict[str, Any]:
    """The dict that lionagi's `Branch.from_dict` reads; `messages` is the branch's whole history in its order."""
    metadata, envelope = without_envelope(branch.node_metadata)
    ids = [message.id for message in messages]
    metadata.setdefault("lion_class", BRANCH_CLASS)
    if branch.parent_branch_id is not None and not goes_on(branch):
        begin = ids[: branch.forked_at_ord or 0]
        metadata["clone_from"] = {
            "id": branch.parent_branch_id,
            **(envelope.get("clone_from") or {}),
            "progression": begin,
        }
    frame = envelope.get("messages") or {}
    nested = [_nested(message_dict(message)) for message in messages]
    found: dict[str, Any] = {
        "id": branch.id,
        "created_at": branch.created_at,
        "user": branch.user,
        "name": branch.name,
        # Branch.from_dict knows neither `node_metadata` nor a pile that has one.
        "metadata": metadata,
        "messages": {**frame, "collections": nested, "progression": {**frame.get("progression", {}), "order": ids}},
        **envelope.get("fields", {}),
    }
    found["system"] = next((item for item in nested if item.get("id") == branch.system_msg_id), None)
    found |= {name: envelope.get(name) for name in ("chat_model", "parse_model")}
    return {name: value for name, value in found.items() if value is not None or name in ("user", "name")}


def session_draft(
    source: Mapping[str, Any], *, default_branch_id: str | None = None, infer_models: bool = True
) -> SessionDraft:
    """Our draft of a lionagi session; raises InvalidContent if it is not a dict.

    lionagi does not write which branch is the default one: pass it where the live session is at hand, else it is the
    first.
    """
    metadata, kept = read_metadata(source, known=SESSION_FIELDS)
    pile = source.get("branches")
    sources = {_required_id(item, "branch"): item for item in _items(pile)}
    order = [name for name in progression_ids(pile) if name in sources] if isinstance(pile, Mapping) else []
    order = list(dict.fromkeys([*order, *sources]))
    contents = {
        str(item.get("id")): item.get("content")
        for branch in sources.values()
        for item in _items(branch.get("messages"))
    }
    originals = {
        copy: original
        for branch in sources.values()
        for copy, original in _copies(branch).items()
        # A copy that was changed since is a message of its own.
        if original not in contents or contents[copy] == contents[original]
    }
    default = default_branch_id or text_of(source.get("default_branch")) or next(iter(order), None)
    frame = {name: value for name, value in pile.items() if name != "collections"} if isinstance(pile, Mapping) else {}
    dirty = unstorable({name: source.get(name) for name in TEXT_FIELDS})
    envelope = {"fields": kept | dirty, "branches": _pile_frame(frame), "default_branch": default}
    return SessionDraft(
        id=_required_id(source, "session"),
        created_at=unix_of(source.get("created_at")),
        branches=tuple(branch_draft(sources[name], originals=originals, infer_models=infer_models) for name in order),
        default_branch_id=default,
        name=text_of(source.get("name")),
        user=text_of(source.get("user")),
        node_metadata=with_envelope(metadata, envelope, cleaned=bool(dirty)),
    )


def session_dict(session: Session | SessionDraft, branches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The dict that lionagi's `Session.from_dict` reads; `branches` are the dicts of its branches in their order."""
    metadata, envelope = without_envelope(session.node_metadata)
    ids = [branch["id"] for branch in branches]
    frame = envelope.get("branches") or {}
    default = envelope.get("default_branch")
    found: dict[str, Any] = {
        "id": session.id,
        "created_at": session.created_at,
        "user": session.user,
        "node_metadata": {"lion_class": SESSION_CLASS, **metadata},
        "branches": {
            **frame,
            "collections": list(branches),
            "progression": {**frame.get("progression", {}), "order": ids},
        },
        # Without a default branch that is among its branches lionagi makes another one.
        "default_branch": default if default in ids else next(iter(ids), None),
        "name": session.name,
        **envelope.get("fields", {}),
    }
    # lionagi gives a session without a name its own; it takes no null.
    return {name: value for name, value in found.items() if value is not None or name not in ("default_branch", "name")}


def restore_branch(branch_class: Any, source: Mapping[str, Any]) -> Any:
    """A live lionagi branch from `branch_dict`, with its system message: hand in lionagi's own Branch class."""
    metadata = {name: value for name, value in source["metadata"].items() if name != "lion_class"}
    branch = branch_class.from_dict({**source, "metadata": metadata})
    _mend(branch, source)
    return branch


def restore_session(session_class: Any, source: Mapping[str, Any]) -> Any:
    """A live lionagi session from `session_dict`, with its default branch and system messages."""
    session = session_class.from_dict(dict(source))
    if "default_branch" in source:
        session.change_default_branch(source["default_branch"])
    for branch in source["branches"]["collections"]:
        _mend(session.branches[branch["id"]], branch)
    return session


def _mend(branch: Any, source: Mapping[str, Any]) -> None:
    # Branch.from_dict drops `system` when there are messages, and builds the one model twice.
    if "system" in source:
        branch.msgs.system = branch.messages[source["system"]["id"]]
    if "parse_model" not in source:
        branch.mdls.register_imodel("parse", branch.chat_model)


def shared_beginning(history: Sequence[str], parent: Sequence[str]) -> int:
    """How many messages two histories begin with alike: lionagi lets a branch change what it began with."""
    pairs = zip(history, parent, strict=False)
    return next((at for at, (ours, theirs) in enumerate(pairs) if ours != theirs), min(len(history), len(parent)))


def goes_on(branch: Branch | BranchDraft) -> bool:
    """Whether a branch is no fork, but the same one as another run has recorded it."""
    return bool(without_envelope(branch.node_metadata)[1].get(GOES_ON))


def known_beginning(live: Sequence[str], stored: Sequence[str]) -> int:
    """How many stored messages it takes to have all that are still there: some before them may be gone."""
    wanted = set(live)
    return max((place for place, name in enumerate(stored, start=1) if name in wanted), default=0)


def _required_id(source: Mapping[str, Any], what: str) -> str:
    if source.get("id") is None:
        raise InvalidContent(f"A lionagi {what} without an id cannot be told from another one.")
    return str(source["id"])


def _copies(branch: Mapping[str, Any]) -> dict[str, str]:
    """Which messages of a fork are copies, and of which messages of its parent."""
    metadata, _ = read_metadata(branch, known=BRANCH_FIELDS)
    parents = set(progression_ids(metadata.get("clone_from")))
    if not parents:
        return {}
    found = (
        (item.get("id"), read_metadata(item, known=())[0].get("clone_from")) for item in _items(branch.get("messages"))
    )
    return {str(copy): original for copy, original in found if isinstance(original, str) and original in parents}


def _original(name: str, copies: Mapping[str, str]) -> str:
    seen = {name}
    while (before := copies.get(name)) is not None and before not in seen:
        seen.add(before)
        name = before
    return name


def _resolved(order: Iterable[str], copies: Mapping[str, str]) -> tuple[str, ...]:
    # A fork holds its system message twice: two copies of one original are one message.
    return tuple(dict.fromkeys(_original(name, copies) for name in order))


def _as_original(draft: MessageDraft, copies: Mapping[str, str]) -> MessageDraft:
    metadata = {name: value for name, value in (draft.node_metadata or {}).items() if name != "clone_from"}
    return draft._replace(id=_original(draft.id or "", copies), node_metadata=metadata)


def _items(pile: object) -> list[Mapping[str, Any]]:
    items = pile.get("collections") if isinstance(pile, Mapping) else pile
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list | tuple) else []


def _pile_frame(pile: Mapping[str, Any]) -> dict[str, Any]:
    """A pile without what it holds: its own id, time and settings, as nested piles are written."""
    frame = {name: value for name, value in pile.items() if name not in METADATA_FIELDS}
    metadata = next((pile[name] for name in ("node_metadata", "metadata") if name in pile), None)
    if isinstance(frame.get("progression"), Mapping):
        frame["progression"] = {name: value for name, value in frame["progression"].items() if name != "order"}
    return {name: value for name, value in frame.items() if value != {}} | (
        {"metadata": metadata} if metadata is not None else {}
    )


def _nested(message: dict[str, Any]) -> dict[str, Any]:
    return {("metadata" if name == "node_metadata" else name): value for name, value in message.items()}


def _slim(model: Any) -> Any:
    """A model's settings without bulk (R34) and without credentials."""
    if isinstance(model, Mapping):
        return {name: _slim(value) for name, value in model.items() if not UNKEPT_SETTING.fullmatch(str(name))}
    return [_slim(item) for item in model] if isinstance(model, list | tuple) else model


def agent_of(model: object) -> dict[str, Any]:
    """Who speaks on a branch (R23): provider, model and effort, where the model's settings say so."""
    config: Any = model
    for name in ("endpoint", "config"):
        config = config.get(name) if isinstance(config, Mapping) else None
    if not isinstance(config, Mapping):
        return {}
    settings = config.get("kwargs")
    settings = settings if isinstance(settings, Mapping) else {}
    effort = settings.get("reasoning_effort") or settings.get("effort")
    found = {"provider": config.get("provider"), "model": settings.get("model"), "effort": effort}
    return {name: value for name, value in found.items() if isinstance(value, str) and value}
