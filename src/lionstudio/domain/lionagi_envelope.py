"""What our columns cannot hold as lionagi wrote it waits in an envelope: the `lionagi` key of `node_metadata`."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from lionstudio.domain.drafts import is_time
from lionstudio.domain.errors import InvalidContent

LIONAGI = "lionagi"  # the key of node_metadata that holds what only lionagi can read
ORIGINAL = "original"  # the key under which the store keeps texts that no column takes
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def read_metadata(source: Mapping[str, Any], *, known: Iterable[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The metadata of a dict under either of its names, and the fields that we do not know."""
    if not isinstance(source, Mapping):
        raise InvalidContent(f"A dict as lionagi writes it was expected, not {type(source).__name__}.")
    name = "node_metadata" if "node_metadata" in source else "metadata"
    metadata = source.get(name)
    known = {*known, name}
    kept = {field: value for field, value in source.items() if field not in known}
    if isinstance(metadata, Mapping):
        return dict(metadata), kept
    return {}, kept | ({"node_metadata": metadata} if name in source else {})


def with_envelope(metadata: Mapping[str, Any], envelope: Mapping[str, Any], *, cleaned: bool = False) -> dict[str, Any]:
    """Metadata with what only lionagi can read beside it; most messages need no such thing.

    `cleaned` says that the store will have to clean a text, which it notes in the metadata.
    """
    filled = {name: value for name, value in envelope.items() if value}
    own = dict(metadata)
    if LIONAGI in own:
        filled["kept"] = own[LIONAGI]
    if cleaned:
        filled["cleaned"] = {ORIGINAL: own.pop(ORIGINAL)} if ORIGINAL in own else {}
    return {**own, LIONAGI: filled} if filled else own


def without_envelope(metadata: Mapping[str, Any] | None) -> tuple[dict[str, Any], Mapping[str, Any]]:
    own = dict(metadata or {})
    envelope = own.pop(LIONAGI, {})
    if "kept" in envelope:
        own[LIONAGI] = envelope["kept"]
    if "cleaned" in envelope:
        own.pop(ORIGINAL, None)
        own |= envelope["cleaned"]
    for name in envelope.get("added", ()):
        own.pop(name, None)
    return own, envelope


def unstorable(texts: Mapping[str, Any]) -> dict[str, str]:
    """Those of the texts that no column of a database takes as they are."""
    return {name: text for name, text in texts.items() if isinstance(text, str) and _UNSTORABLE.search(text)}


def text_of(value: object) -> str | None:
    return None if value is None else str(value)


def unix_of(value: object) -> float | None:
    """A time as unix seconds, from a number or an ISO string; None for what is neither."""
    try:
        if isinstance(value, str):
            at = datetime.fromisoformat(value)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        if isinstance(value, int | float) and is_time(value):
            return float(value)
    except (ValueError, OverflowError):  # no date, or beyond every calendar
        pass
    return None
