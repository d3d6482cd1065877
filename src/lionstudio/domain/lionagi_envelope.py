"""What our columns cannot hold as lionagi wrote it waits in an envelope: the `lionagi` key of `node_metadata`."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from lionstudio.domain.errors import InvalidContent

LIONAGI = "lionagi"  # the key of node_metadata that holds what only lionagi can read


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


def with_envelope(metadata: Mapping[str, Any], envelope: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with what only lionagi can read beside it; most messages need no such thing."""
    filled = {name: value for name, value in envelope.items() if value}
    if LIONAGI in metadata:
        filled["kept"] = metadata[LIONAGI]
    return {**metadata, LIONAGI: filled} if filled else dict(metadata)


def without_envelope(metadata: Mapping[str, Any] | None) -> tuple[dict[str, Any], Mapping[str, Any]]:
    own = dict(metadata or {})
    envelope = own.pop(LIONAGI, {})
    if "kept" in envelope:
        own[LIONAGI] = envelope["kept"]
    for name in envelope.get("added", ()):
        own.pop(name, None)
    return own, envelope


def text_of(value: object) -> str | None:
    return None if value is None else str(value)


def unix_of(value: object) -> float | None:
    """A time as unix seconds, from a number or an ISO string; None for what is neither."""
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    known = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if known and isinstance(value, int | float) else None
