"""What was said before, as text: for agents that keep no conversation, or go on from the middle of one."""

from collections.abc import Iterable

from lionstudio.domain.conversation import Message, MessageKind
from lionstudio.domain.message_text import text_of
from lionstudio.engines.engine import Task

LONGEST = 400_000  # characters of a history; beyond that no model reads it, and the newest matter most
_WORDS = {
    MessageKind.USER: "User",
    MessageKind.ASSISTANT: "You",
    MessageKind.TOOL_CALL: "You called a tool",
    MessageKind.TOOL_RESULT: "Tool result",
}


def whole_prompt(task: Task) -> str:
    """The prompt, after what was said before it."""
    told = tell_history(task.history)
    return f"{told}\n{task.prompt}" if told else task.prompt


def tell_history(messages: Iterable[Message]) -> str:
    """A conversation as text, its newest part if it is long; empty if nothing was said."""
    said = [f"[{_WORDS[message.kind]}]\n{text_of(message)}" for message in messages if message.kind in _WORDS]
    if not said:
        return ""
    whole = "\n\n".join(said)
    if len(whole) > LONGEST:
        whole = f"(the beginning is left out)\n…{whole[-LONGEST:]}"
    return f"This is what was said so far in this conversation:\n\n{whole}\n\n[User]"
