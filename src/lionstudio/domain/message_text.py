"""What a message says, as text for people to read."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from lionstudio.domain.conversation import Message, MessageKind, error_in

# Where each kind keeps what was said, in lionagi's shapes.
_SPOKEN: Mapping[MessageKind, str] = {
    MessageKind.SYSTEM: "system_message",
    MessageKind.USER: "instruction",
    MessageKind.ASSISTANT: "assistant_response",
}

_DECODER = json.JSONDecoder()
LONGEST_ESCAPE = 12  # two of them make one character
HALVES = "".join(map(chr, range(0xD800, 0xDC00)))  # the first of the two, where the second is cut off

_NOTHING: tuple[Any, ...] = (None, "", [], {})


def text_of(message: Message) -> str:
    """All that a message says; content of an unknown shape is shown as JSON."""
    content, kind = message.content, message.kind
    if isinstance(content, Mapping):
        if kind in _SPOKEN and _SPOKEN[kind] in content:
            return _spoken(content, _SPOKEN[kind])
        if kind is MessageKind.TOOL_CALL and "function" in content:
            return f"{plain(content['function'])}({_arguments(content.get('arguments'))})"
        if kind is MessageKind.TOOL_RESULT and "output" in content:
            return _result(content)
    return plain(content)


def opening_of(kind: MessageKind, beginning: str) -> str | None:
    """What a message begins with, from the first letters of its content as JSON; None if that is not text."""
    before, found, rest = beginning.partition('"' if beginning.startswith('"') else f'"{_SPOKEN[kind]}":"')
    if not found or "\\" in before:
        return None
    for cut in range(LONGEST_ESCAPE):  # the last letters may be the beginning of an escape
        with suppress(ValueError):
            text, _ = _DECODER.raw_decode(f'"{rest[: len(rest) - cut]}"')
            return str(text).rstrip(HALVES)
    return None


def tool_in(beginning: str) -> str | None:
    """The tool that a call or a result is about, from the first letters of its content as JSON."""
    before, found, rest = beginning.partition('"function":')
    if before != "{" or not found:
        return None
    with suppress(ValueError):
        tool, _ = _DECODER.raw_decode(rest)
        return tool if isinstance(tool, str) else None
    return None


def members_in(beginning: str) -> dict[str, Any]:
    """The members of an object that the first letters of its JSON hold whole; of one that is cut off, again those."""
    found: dict[str, Any] = {}
    inner, at = found, 0
    while beginning[at : at + 1] in ("{", ","):
        try:
            key, at = _DECODER.raw_decode(beginning, at + 1)
        except ValueError:
            break
        at += 1
        try:
            value, end = _DECODER.raw_decode(beginning, at)
        except (ValueError, RecursionError):
            value, end = {}, at  # if it is an object, go on within it
            if not beginning.startswith("{", at):
                break
        if end == len(beginning):  # a number may go on
            break
        inner[key] = value
        if end == at:
            inner = value
        at = end
    return found


def error_text(message: Message) -> str:
    """What a failed tool said about it."""
    content = message.content
    if not isinstance(content, Mapping):
        return plain(content)
    error = error_in(content)
    return plain(content.get("output")) if error is True else plain(error)


def plain(value: Any) -> str:
    """A value as text: text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except ValueError:  # an integer that Python refuses to print
        return "(a number of more than 4,300 digits)"


def _spoken(content: Mapping[str, Any], key: str) -> str:
    """What was said, then whatever was given with it."""
    rest = [f"{name}: {plain(value)}" for name, value in content.items() if name != key and value not in _NOTHING]
    return "\n".join([plain(content[key]), *rest])


def _arguments(arguments: Any) -> str:
    if isinstance(arguments, Mapping):
        return ", ".join(f"{name}={plain(value)}" for name, value in arguments.items())
    return "" if arguments is None else plain(arguments)


def _result(content: Mapping[str, Any]) -> str:
    output, error = content.get("output"), content.get("error")
    said = "" if output is None else plain(output)
    if not error:
        return said
    return f"error: {said}" if error is True else "\n".join(filter(None, (f"error: {plain(error)}", said)))
