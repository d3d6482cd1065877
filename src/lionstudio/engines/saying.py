"""The messages that engines tell, in the one shape that every reader of ours knows."""

from collections.abc import Mapping
from typing import Any

from lionstudio.domain.conversation import (
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
    ASSISTANT_CLASS,
    INSTRUCTION_CLASS,
    UNKNOWN_CLASS,
)
from lionstudio.domain.usage import Usage
from lionstudio.engines.engine import Said

NOTICE = "notice"  # the role of what a program says about itself: no person and no model said it


def answer(text: str, key: str, **more: Any) -> Said:
    """What a model said."""
    return Said("assistant", ASSISTANT_CLASS, {"assistant_response": text}, key, **more)


def instruction(text: str, key: str, **more: Any) -> Said:
    """What an agent was told, by a person or by the agent that spawned it."""
    return Said("user", INSTRUCTION_CLASS, {"instruction": text}, key, **more)


def tool_call(function: str, arguments: Any, key: str, **more: Any) -> Said:
    return Said("action", ACTION_REQUEST_CLASS, {"function": function, "arguments": arguments}, key, **more)


def tool_result(
    call: Said | None, output: Any, key: str, *, error: Any = None, call_id: str | None = None, **more: Any
) -> Said:
    """What a tool call came to. `call_id` is how the agent names a call that was made before this stream began."""
    asked: Mapping[str, Any] = {} if call is None else call.content
    content = {
        "function": asked.get("function"),
        "arguments": asked.get("arguments"),
        "output": output,
        "action_request_id": call_id,
        **({"error": error} if error else {}),
    }
    return Said("action", ACTION_RESPONSE_CLASS, content, key, answers=None if call is None else call.key, **more)


def notice(text: str, key: str, **more: Any) -> Said:
    """What an agent's program says about itself: a retry, a warning, a compaction."""
    return Said(NOTICE, UNKNOWN_CLASS, text, key, **more)


def as_metadata(usage: Usage) -> dict[str, Any]:
    """Usage as the metadata of a message holds it."""
    return {name: value for name, value in usage._asdict().items() if value is not None}
