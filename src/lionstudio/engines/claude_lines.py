"""A line of Claude Code's stream: what it has in it, and who speaks."""

from typing import Any

from lionstudio.engines.engine import Begun
from lionstudio.engines.json_lines import Fields, fields_in, items_in, some, text, texts_in

# How text begins that the program puts into a user's mouth.
HARNESS = ("<local-command", "<command-", "<task-notification", "<system-reminder", "[Request interrupted")


def begun_in(line: Fields) -> Begun:
    """What the agent says of itself at the beginning of a turn."""
    return Begun(
        text(line.get("session_id")),
        text(line.get("model")),
        texts_in(line.get("tools")),
        some(
            agent_version=text(line.get("claude_code_version")),
            permission_mode=text(line.get("permissionMode")),
            cwd=text(line.get("cwd")),
        ),
    )


def blocks_in(message: Fields) -> list[Any]:
    """What a message consists of; text alone is one block."""
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else items_in(content)


def native_of(line: Fields) -> dict[str, Any]:
    """By what a message is found in the agent's own files."""
    message = fields_in(line.get("message"))
    return {
        "native": some(
            uuid=text(line.get("uuid")),
            session_id=text(line.get("session_id")),
            message_id=text(message.get("id")),
            request_id=text(line.get("request_id")),
            agent_id=text(line.get("agent_id")),
        )
    }


def is_spoken(line: Fields, words: str, *, to_subagent: bool) -> bool:
    """Whether somebody said it to the agent: a person, or the agent that spawned it."""
    origin = text(fields_in(line.get("origin")).get("kind"))
    if line.get("isSynthetic") is True or words.startswith(HARNESS):
        return False
    if origin is not None:
        return origin in ("human", "user")
    return to_subagent or line.get("isReplay") is True
