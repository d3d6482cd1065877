"""lionagi's live objects as the dicts it would write, read without its locks and whatever is in them.

Its own `to_dict` refuses a whole branch for one value that is not JSON; a tool may return anything. And who asks may
be a thread that lionagi knows nothing of, or a process that is about to die: it must not wait for a lock.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from lionstudio.domain.addresses import without_password
from lionstudio.domain.lionagi_live import as_json

TRIES = 5  # of reading something that another thread changes at the same time
Found = TypeVar("Found")


class Seen(NamedTuple):
    """A branch as it is when it is looked at. Who looks may be another thread than who writes it down."""

    source: Mapping[str, Any]
    copies: Mapping[str, str]  # which of its messages are copies, and of which others
    known_of: Mapping[str, Any]  # its agent, beside what the source tells: its prompt, its tools

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        found: list[Mapping[str, Any]] = self.source["messages"]["collections"]
        return found

    @property
    def order(self) -> list[str]:
        return [str(source["id"]) for source in self.messages]


def message_source(message: Any) -> dict[str, Any]:
    """A message as `to_dict(mode="db")` writes it; what is no JSON in it is told as text."""
    try:
        return _source(message, message.to_dict)
    except Exception:  # noqa: BLE001  it cannot be taken apart at all
        return _bare_source(message)


def branch_source(branch: Any, messages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A branch as it would be written, with these messages."""
    from lionagi.protocols.generic.element import Element

    source = _source(branch, lambda mode: Element.to_dict(branch, mode=mode))
    pile = branch.msgs.messages
    frame = _again_if_changed(lambda: pile.to_dict(mode="db", exclude={"collections"}))
    source["messages"] = {**frame, "collections": list(messages)}
    if branch.system is not None:
        source["system"] = message_source(branch.system)
    for name in ("chat_model", "parse_model"):
        model = getattr(branch, name)
        if name == "chat_model" or model is not branch.chat_model:
            source[name] = _model_source(model)
    return source


def _model_source(model: Any) -> Any:
    """A model as it may be kept: its address without a password, and without what is asked of it."""
    source = as_json(model.to_dict())
    with suppress(KeyError, TypeError):  # one without an address
        config = source["endpoint"]["config"]
        if isinstance(address := config["base_url"], str) and ("@" in address or "?" in address):
            config["base_url"] = without_password(address).partition("?")[0]
    return source


def session_source(session: Any) -> dict[str, Any]:
    """A session as it would be written, without its branches."""
    source = _source(session, lambda mode: session.to_dict(mode=mode, exclude={"branches"}))
    frame = _again_if_changed(lambda: session.branches.to_dict(mode="db", exclude={"collections"}))
    # Within a session a pile does not say its class, and may not.
    metadata = {name: value for name, value in frame.pop("node_metadata", {}).items() if name != "lion_class"}
    return {**source, "branches": {**frame, "metadata": metadata}}


def order_of(branch: Any) -> list[str]:
    """The ids of the messages that a branch has now, in their order."""
    return [str(name) for name in _again_if_changed(lambda: list(branch.msgs.messages.progression.order))]


def branches_of(session: Any) -> list[Any]:
    """The branches that a session has now, in their order."""
    return _items(session.branches)


def look_at(branch: Any, parent: Any = None, copies: Mapping[str, str] | None = None) -> Seen:
    """A branch as it is now; `parent` is what it was forked from, and `copies` those among the parent's messages."""
    sources = [message_source(message) for message in _items(branch.msgs.messages)]
    known_of = {"prompt": _prompt_of(branch), "tools": sorted(str(name) for name in list(branch.tools))}
    return Seen(branch_source(branch, sources), _copies_in(sources, parent, copies or {}), known_of)


def _copies_in(sources: Iterable[Mapping[str, Any]], parent: Any, known: Mapping[str, str]) -> dict[str, str]:
    """Which messages of a fork are copies, and of which first ones: lionagi copies them all, under new ids."""
    theirs = {} if parent is None else {str(message.id): message for message in _items(parent.msgs.messages)}
    found: dict[str, str] = {}
    for source in sources:
        original = (source.get("node_metadata") or {}).get("clone_from")
        if not isinstance(original, str):
            continue
        # A copy that was changed since is a message of its own.
        if original not in theirs or message_source(theirs[original])["content"] == source["content"]:
            found[str(source["id"])] = known.get(original, original)
    return found


def request_of(branch: Any, message: Any) -> Any:
    """The call that a message answers: lionagi writes the answer's id into it."""
    name = getattr(message.content, "action_request_id", None)
    if branch is None or name is None:
        return None
    with suppress(ValueError):  # somebody has made up an id
        return branch.msgs.messages.collections.get(UUID(str(name)))
    return None


def _prompt_of(branch: Any) -> str | None:
    text = None if branch.system is None else getattr(branch.system.content, "system_message", None)
    return text if isinstance(text, str) else None


def _items(pile: Any) -> list[Any]:
    def look() -> list[Any]:
        held = dict(pile.collections)
        return [held[name] for name in list(pile.progression.order) if name in held]

    return _again_if_changed(look)


def _source(element: Any, to_dict: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    try:
        return _again_if_changed(lambda: to_dict(mode="db"))
    except Exception:  # noqa: BLE001  it holds what is no JSON
        found: dict[str, Any] = as_json(_again_if_changed(lambda: to_dict(mode="python")))
        found["node_metadata"] = found.pop("metadata", {})
        return found


def _bare_source(message: Any) -> dict[str, Any]:
    """The least that can be told of a message: who said it, when, and its content as text."""
    lion_class = f"{type(message).__module__}.{type(message).__qualname__}"
    return {
        "id": str(message.id),
        "created_at": message.created_at,
        "content": {"text": as_json(message.content)},
        "embedding": None,
        **{name: as_json(getattr(message, name)) for name in ("sender", "recipient", "channel")},
        "role": str(getattr(message.role, "value", message.role)),
        "node_metadata": {**as_json(message.metadata), "lion_class": lion_class},
    }


def _again_if_changed(look: Callable[[], Found]) -> Found:
    for _ in range(TRIES - 1):
        try:
            return look()
        except RuntimeError:  # it changed size while we looked
            continue
    return look()
