"""Which files a run touched, as far as its tool calls say: read from what tools were asked, never from the disk."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from lionstudio.domain.conversation import Message, MessageKind, tool_of

PATH_KEYS = ("file_path", "notebook_path", "path", "filename", "file")
PATH_LENGTH = 1_000  # a longer value is no path
FILES_SHOWN = 500
# What a tool is called, in any runtime, when it changes a file.
WRITING_WORDS = ("write", "edit", "create", "patch", "replace", "insert", "delete", "save", "append", "move", "rename")
# And when it only looks for files: what it is told then is mostly a folder, and nobody read a file in it yet.
LOOKING_WORDS = frozenset(("ls", "list", "dir", "tree", "glob", "grep", "rg", "find", "search"))
_WORDS = re.compile("[A-Z]?[a-z]+|[A-Z]+")


class HowTouched(StrEnum):
    """What was done to a file."""

    READ = "read"
    WRITTEN = "written"


class FileTouched(NamedTuple):
    """A file, what was done to it at most, and when last."""

    path: str
    how: HowTouched
    times: int
    last_at: float
    last_message_id: str


def list_files_touched(messages: Iterable[Message]) -> list[FileTouched]:
    """The files that tool calls read or write: written ones first, then by when they were last touched.

    A search or a listing touches nothing, and a path that ends with a slash is a folder.
    """
    found: dict[str, FileTouched] = {}
    for message in messages:
        if message.kind is not MessageKind.TOOL_CALL:
            continue
        how = _how(tool_of(message.content))
        if how is None:
            continue
        path = path_in(message.content)
        if path is not None and not path.endswith("/"):
            before = found.get(path)
            written = how is HowTouched.WRITTEN or (before is not None and before.how is HowTouched.WRITTEN)
            found[path] = FileTouched(
                path,
                HowTouched.WRITTEN if written else HowTouched.READ,
                1 if before is None else before.times + 1,
                message.created_at,
                message.id,
            )
    return sorted(found.values(), key=lambda file: (file.how is HowTouched.READ, -file.last_at, file.path))


@lru_cache(maxsize=1_000)  # a run calls few tools, each of them thousands of times
def _how(tool: str | None) -> HowTouched | None:
    name = tool or ""
    if any(word in name.lower() for word in WRITING_WORDS):
        return HowTouched.WRITTEN
    looks = any(word.lower() in LOOKING_WORDS for word in _WORDS.findall(name))
    return None if looks else HowTouched.READ


def path_in(content: Any) -> str | None:
    """The file or folder that a tool call names."""
    arguments = content.get("arguments") if isinstance(content, Mapping) else None
    if isinstance(arguments, Mapping):
        for key in PATH_KEYS:
            value = arguments.get(key)
            if isinstance(value, str) and 0 < len(value) <= PATH_LENGTH and "\n" not in value:
                return value
    return None
