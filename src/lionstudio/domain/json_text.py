"""JSON text that any Python string and any integer survives, written with ASCII escapes."""

import json
from collections.abc import Callable
from typing import Any

from lionstudio.domain.errors import InvalidContent


def _make_encode() -> Callable[[Any], str]:
    # Escapes keep NUL and lone surrogates out of files and columns, so that any Python string comes back equal.
    encoder = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    try:
        from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]

        # `encoder.encode` makes this anew for each value, which is half of its time. No markers: what holds itself is
        # refused as nested too deeply.
        chunks = c_make_encoder(None, encoder.default, encode_basestring_ascii, None, ":", ",", False, False, False)
    except (ImportError, TypeError):  # not CPython as we know it
        return encoder.encode
    return lambda value: "".join(chunks(value, 0))


_encode = _make_encode()
_HUGE = 1 << 14_000  # above it Python refuses to print an integer (4300 digits)


def to_json(value: Any, *, what: str = "content") -> str:
    """JSON text of `value`; raises InvalidContent, which says where the trouble is."""
    try:
        try:
            return _encode(value)
        except ValueError as error:
            if "digits" not in str(error):
                raise
            return _json_with_huge_integers(value)
    except RecursionError:
        raise InvalidContent(f"The {what} is nested too deeply to be stored, or holds itself.") from None
    except (TypeError, ValueError) as error:
        raise InvalidContent(
            f"The {what} is not JSON: {error}.",
            hint="Use only dicts with text keys, lists, text, finite numbers, booleans and None; str(…) makes text.",
        ) from None


def from_json(text: str) -> Any:
    """What `to_json` was given."""
    try:
        return json.loads(text)
    except ValueError as error:
        if "digits" not in str(error):
            raise
        from decimal import Decimal  # reads integers of any length

        return json.loads(text, parse_int=lambda digits: int(Decimal(digits)))


def _json_with_huge_integers(value: Any) -> str:
    """JSON text with a mark in the place of each integer that Python refuses to print, then with its digits."""
    from decimal import Decimal

    found: list[str] = []

    def replace(part: Any) -> Any:
        if isinstance(part, int) and not isinstance(part, bool) and abs(part) >= _HUGE:
            found.append(format(Decimal(part), "f"))
            return f"{mark}{len(found) - 1}"
        if isinstance(part, dict):
            return {key: replace(child) for key, child in part.items()}
        if isinstance(part, list | tuple):
            return [replace(child) for child in part]
        return part

    mark = "huge-integer-"
    text = _encode(replace(value))
    while text.count(f'"{mark}') > len(found):  # somebody's text looks like a mark
        mark += "x"
        found.clear()
        text = _encode(replace(value))
    for number, digits in enumerate(found):
        text = text.replace(f'"{mark}{number}"', digits)
    return text
