"""How values become columns and come back equal, on both databases."""

from collections.abc import Iterable, Mapping
from typing import Any

from lionstudio.domain.json_text import from_json, to_json
from lionstudio.store.texts import text_in

json_in = to_json

# A list of ids travels as one JSON object whose keys they are: both databases read that alike, however long it is.
IDS = "(SELECT item.key FROM json_each(:ids) AS item)"
POSITIONS = "(SELECT CAST(item.key AS bigint) FROM json_each(:ids) AS item)"  # the same for whole numbers


def ids_in(ids: Iterable[str]) -> str:
    """What :ids stands for in IDS."""
    return to_json(dict.fromkeys(ids, 1), what="list of ids")


def optional_json_in(value: Any, *, what: str = "node_metadata") -> str | None:
    return None if value is None else to_json(value, what=what)


def json_out(text: str | None) -> Any:
    return None if text is None else from_json(text)


def texts_in(
    node_metadata: Mapping[str, Any] | None, texts: dict[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """Texts that both databases take, and the metadata, which keeps the originals of those that had to change."""
    for value in texts.values():
        if value is not None and text_in(value) is not value:
            break
    else:
        return texts, node_metadata  # nearly always
    clean = {column: text_in(value) for column, value in texts.items()}
    changed = {column: value for column, value in texts.items() if clean[column] != value}
    if changed:
        originals = {**((node_metadata or {}).get("original") or {}), **changed}
        node_metadata = {**(node_metadata or {}), "original": originals}
    return clean, node_metadata
