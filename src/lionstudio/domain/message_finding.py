"""Which messages somebody looks for: some kinds of them, and those that say some words."""

import re
from enum import StrEnum
from typing import NamedTuple

from lionstudio.domain.conversation import Message, MessageKind, is_tool_error
from lionstudio.domain.message_text import text_of

# Characters that stand in JSON as they are, whoever wrote it.
_AS_THEY_ARE = re.compile(r"[A-Za-z0-9 _.,:;()=-]+")


class MessageShare(StrEnum):
    """A part of all that was said."""

    TEXT = "text"  # everything but tools
    TOOLS = "tools"  # tool calls and their results
    ERRORS = "errors"  # results of tools that failed


_TOOLS = frozenset({MessageKind.TOOL_CALL, MessageKind.TOOL_RESULT})


class MessageQuestion(NamedTuple):
    """What is looked for; nothing means everything."""

    share: MessageShare | None = None
    words: str | None = None  # in any case

    @property
    def probe(self) -> str | None:
        """Text that the JSON of every message with these words contains, in small letters; None if there is none."""
        found = max(_AS_THEY_ARE.findall(self.words or ""), key=len, default="")
        return found.lower() or None

    def matches(self, message: Message) -> bool:
        if self.share is MessageShare.ERRORS and not is_tool_error(message):
            return False
        if self.share is MessageShare.TOOLS and message.kind not in _TOOLS:
            return False
        if self.share is MessageShare.TEXT and message.kind in _TOOLS:
            return False
        return not self.words or self.words.casefold() in text_of(message).casefold()
