"""Messages and progressions between lionagi's dicts and ours: what `to_dict(mode="db")` writes comes in and goes out.

Either comes back exactly as it came. What our columns cannot hold as it was waits in the envelope; the metadata itself
is called `node_metadata` on the way out, as in mode "db" (R4).
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.conversation import UNKNOWN_CLASS, Message, MessageDraft
from lionstudio.domain.drafts import is_time
from lionstudio.domain.lionagi_envelope import (
    LIONAGI,
    read_metadata,
    text_of,
    unix_of,
    unstorable,
    with_envelope,
    without_envelope,
)

PROGRESSION_CLASS = "lionagi.protocols.generic.progression.Progression"
UNSET_ROLE = "unset"  # lionagi's own word for a message without a role

TEXT_FIELDS = ("id", "sender", "recipient", "channel", "role")
MESSAGE_FIELDS = (*TEXT_FIELDS, "created_at", "content", "embedding")
USUAL_FIELDS = tuple({*MESSAGE_FIELDS, name} for name in ("metadata", "node_metadata"))


class ProgressionDraft(NamedTuple):
    """An order of messages."""

    id: str | None
    created_at: float | None
    order: tuple[str, ...]
    name: str | None = None
    node_metadata: Mapping[str, Any] | None = None


def message_draft(source: Mapping[str, Any]) -> MessageDraft:
    """Our draft of a lionagi message, whichever fields it has; raises InvalidContent if it is not a dict."""
    return _usual_draft(source) or _any_draft(source)


def _usual_draft(source: Mapping[str, Any]) -> MessageDraft | None:
    """The draft of a message with just the fields that lionagi writes, if every column takes it as it is.

    Nearly all are such, and looking for what must be kept beside the columns was half the time of an import.
    """
    if type(source) is not dict or source.keys() not in USUAL_FIELDS:
        return None
    metadata = source["node_metadata"] if "node_metadata" in source else source["metadata"]
    at, role = source["created_at"], source["role"]
    texts = (source["id"], source["sender"], source["recipient"], source["channel"], role)
    if type(metadata) is not dict or LIONAGI in metadata or "model_response" in metadata or not role:
        return None
    if type(at) is not float or not is_time(at) or source["embedding"] is not None:
        return None
    for text in texts:
        if text is not None and (type(text) is not str or not text.isascii() or "\0" in text):
            return None
    lion_class = metadata.get("lion_class")
    lion_class = lion_class if isinstance(lion_class, str) and lion_class else UNKNOWN_CLASS
    id, sender, recipient, channel, _ = texts
    return MessageDraft(role, source["content"], lion_class, sender, recipient, channel, dict(metadata), None, id, at)


def _any_draft(source: Mapping[str, Any]) -> MessageDraft:
    metadata, kept = read_metadata(source, known=MESSAGE_FIELDS)
    text = {name: text_of(source.get(name)) for name in TEXT_FIELDS}
    role = text["role"] = text["role"] or UNSET_ROLE
    created_at = unix_of(source.get("created_at"))
    vector = _vector(source.get("embedding"))
    stored_vector = _as_float32(vector)
    dirty = unstorable(text)
    held = {**text, "created_at": created_at, "embedding": stored_vector}
    changed = [name for name, value in held.items() if name in dirty or not _same(source.get(name), value)]
    kept |= {name: source[name] for name in changed if name in source}
    absent = [name for name in (*MESSAGE_FIELDS, "node_metadata") if name not in source]
    if "metadata" in source and "node_metadata" not in source:
        absent.remove("node_metadata")
    added = {name: value for name, value in _answer(metadata).items() if name not in metadata}
    classes = (metadata.get("lion_class"), source.get("lion_class"))
    lion_class = next((name for name in classes if isinstance(name, str) and name), UNKNOWN_CLASS)
    return MessageDraft(
        id=text["id"],
        created_at=created_at,
        role=role,
        content=source.get("content"),
        lion_class=lion_class,
        sender=text["sender"],
        recipient=text["recipient"],
        channel=text["channel"],
        node_metadata=with_envelope(
            {**metadata, **added}, {"fields": kept, "absent": absent, "added": list(added)}, cleaned=bool(dirty)
        ),
        embedding=None if stored_vector is None else vector,
    )


def without_class(draft: MessageDraft) -> MessageDraft:
    """The draft without a class in its metadata that it has anyway: `message_dict` puts it back."""
    metadata = dict(draft.node_metadata or {})
    if metadata.get("lion_class") == draft.lion_class:
        del metadata["lion_class"]
    return draft._replace(node_metadata=metadata or None)


def message_dict(message: Message | MessageDraft) -> dict[str, Any]:
    """The dict that lionagi's `Message.from_dict` reads: the very one that was handed in, if it came from there."""
    metadata, envelope = without_envelope(message.node_metadata)
    kept = envelope.get("fields", {})
    if message.lion_class != UNKNOWN_CLASS and "lion_class" not in kept:
        metadata.setdefault("lion_class", message.lion_class)
    embedding = None if message.embedding is None else list(message.embedding)
    found = {name: getattr(message, name) for name in MESSAGE_FIELDS}
    found |= {"embedding": embedding, "node_metadata": metadata, **kept}
    # A field that was missing is missing again, unless storing the message has given it a value.
    absent = envelope.get("absent", ())
    return {name: value for name, value in found.items() if name not in absent or value not in (None, UNSET_ROLE, {})}


def progression_draft(source: Mapping[str, Any]) -> ProgressionDraft:
    """Our draft of a lionagi progression; raises InvalidContent if it is not a dict."""
    metadata, kept = read_metadata(source, known=("id", "created_at", "order", "name"))
    created_at = unix_of(source.get("created_at"))
    if "created_at" in source and not _same(source["created_at"], created_at):
        kept["created_at"] = source["created_at"]
    absent = [name for name in ("id", "created_at", "name") if name not in source]
    return ProgressionDraft(
        id=text_of(source.get("id")),
        created_at=created_at,
        order=progression_ids(source),
        name=text_of(source.get("name")),
        node_metadata=with_envelope(metadata, {"fields": kept, "absent": absent}),
    )


def progression_dict(progression: ProgressionDraft) -> dict[str, Any]:
    """The dict that lionagi's `Progression.from_dict` reads."""
    metadata, envelope = without_envelope(progression.node_metadata)
    found = {
        "id": progression.id,
        "created_at": progression.created_at,
        "order": list(progression.order),
        "name": progression.name,
        "node_metadata": {"lion_class": PROGRESSION_CLASS, **metadata},
        **envelope.get("fields", {}),
    }
    return {name: value for name, value in found.items() if name not in envelope.get("absent", ())}


def progression_ids(source: object) -> tuple[str, ...]:
    """The ids in a progression, in a pile that holds one, or in a plain list; nothing where there is no order."""
    if isinstance(source, Mapping):
        return progression_ids(source.get("order", source.get("progression")))
    if not isinstance(source, Sequence) or isinstance(source, str | bytes):
        return ()
    return tuple(str(item) for item in source)


def _answer(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Which model answered and what it used, from the provider's own answer, in our words."""
    # Where an answer had to be brought into a form by a second call, lionagi keeps the first one beside it.
    told = [_response(metadata.get(name)) for name in ("original_model_response", "model_response")]
    responses = [response for response in told if response is not None]
    if len(responses) == 2 and responses[0] == responses[1]:
        del responses[0]
    found: dict[str, Any] = {}
    for response in responses:
        if isinstance(response.get("model"), str):
            found["model"] = response["model"]
        for kind, count in _counted(response).items():
            found.setdefault("usage", {})
            found["usage"][kind] = found["usage"].get(kind, 0) + count
    return found


def _response(told: object) -> Mapping[str, Any] | None:
    """A provider's answer. Of one that came in pieces the last count is the one: each includes those before it."""
    if not isinstance(told, list | tuple):
        return told if isinstance(told, Mapping) else None
    pieces = [piece for piece in told if isinstance(piece, Mapping)]
    return next((piece for piece in reversed(pieces) if isinstance(piece.get("usage"), Mapping)), None)


def _counted(response: Mapping[str, Any]) -> dict[str, Any]:
    """What one answer used, by kind, and what it cost, where it says so."""
    usage = response.get("usage")
    counted: dict[str, Any] = _whole_tree(response.get("model_usage"))
    counted = counted or _usage(usage if isinstance(usage, Mapping) else response)
    for cost in (response.get("total_cost_usd"), response.get("cost")):
        if isinstance(cost, int | float) and not isinstance(cost, bool):
            return {**counted, "cost_usd": cost}
    return counted


_TREE_KINDS = {
    "inputTokens": "input_tokens",
    "cacheReadInputTokens": "cache_read_tokens",
    "cacheCreationInputTokens": "cache_write_tokens",
    "outputTokens": "output_tokens",
}


def _whole_tree(models: object) -> dict[str, int]:
    """What an agent used together with its subagents, which its `usage` leaves out; nothing unless it is told whole."""
    entries = list(models.values()) if isinstance(models, Mapping) else []
    if not all(
        isinstance(entry, Mapping) and all(_is_count(entry.get(name)) for name in _TREE_KINDS) for entry in entries
    ):
        return {}
    found = {kind: sum(entry[name] for entry in entries) for name, kind in _TREE_KINDS.items()}
    return found if any(found.values()) else {}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def with_model(draft: MessageDraft, model: str | None) -> MessageDraft:
    """A message that reports usage with the model of its branch, where it does not name one itself."""
    metadata = draft.node_metadata or {}
    if model is None or "usage" not in metadata or "model" in metadata:
        return draft
    envelope = metadata.get(LIONAGI, {})
    added = {**envelope, "added": [*envelope.get("added", ()), "model"]}
    return draft._replace(node_metadata={**metadata, "model": model, LIONAGI: added})


def _usage(usage: Mapping[str, Any]) -> dict[str, int]:
    """Tokens by kind. Anthropic counts cached input beside the input, OpenAI within it."""

    def count(*path: str) -> int:
        value: Any = usage
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else 0

    within = count("prompt_tokens_details", "cached_tokens") or count("input_tokens_details", "cached_tokens")
    reasoning = count("completion_tokens_details", "reasoning_tokens") or count(
        "output_tokens_details", "reasoning_tokens"
    )
    found = {
        "input_tokens": max(0, (count("prompt_tokens") or count("input_tokens")) - within),
        "cache_read_tokens": within or count("cache_read_input_tokens"),
        "cache_write_tokens": count("cache_creation_input_tokens"),
        "output_tokens": count("completion_tokens") or count("output_tokens"),
        "reasoning_tokens": reasoning,
    }
    return found if any(found.values()) else {}


def _same(one: object, other: object) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return one == (list(other) if isinstance(other, tuple) else other)


def _vector(value: object) -> tuple[float, ...] | None:
    numbers = isinstance(value, list | tuple) and all(
        isinstance(item, int | float) and not isinstance(item, bool) for item in value
    )
    return tuple(map(float, value)) if numbers and isinstance(value, list | tuple) else None


def _as_float32(vector: tuple[float, ...] | None) -> tuple[float, ...] | None:
    """What is left of a vector in the column for it (R6)."""
    if vector is None:
        return None
    try:
        return struct.unpack(f"<{len(vector)}f", struct.pack(f"<{len(vector)}f", *vector))
    except OverflowError:
        return None
