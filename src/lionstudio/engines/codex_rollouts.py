"""What Codex writes down of its conversations and leaves out of its stream: the model, and what subagents consumed."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lionstudio.engines.json_lines import fields_in, parse_object, text

THREAD = re.compile(r"[0-9A-Za-z-]{1,64}")
# The kinds of lines that are looked at; the others may be megabytes each.
WANTED = ('"turn_context"', '"token_usage_record"')
KIND_WITHIN = 200  # letters from the beginning of a line


class Known(NamedTuple):
    """What a conversation's own file says."""

    model: str | None = None
    totals: Mapping[str, Any] = {}  # what it has consumed by now


NOTHING = Known()


def home_of(env: Mapping[str, str]) -> str:
    """Where Codex keeps its files, for a process with these variables beside ours."""
    told = {**os.environ, **env}
    return told.get("CODEX_HOME") or os.path.join(told.get("HOME") or os.path.expanduser("~"), ".codex")


def look_up(home: str, thread_id: str | None) -> Known:
    """What is written of a conversation; nothing if nobody can tell."""
    if thread_id is None or THREAD.fullmatch(thread_id) is None:
        return NOTHING
    known = NOTHING
    try:
        path = next((file for file in _files(home) if file.endswith(f"-{thread_id}.jsonl")), None)
        if path is None:
            return NOTHING
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if any(kind in line[:KIND_WITHIN] for kind in WANTED):
                    known = _with(known, line)
    except OSError:
        return known
    return known


def _with(known: Known, line: str) -> Known:
    fields = parse_object(line) or {}
    payload = fields_in(fields.get("payload"))
    model, totals = text(payload.get("model")), fields_in(payload.get("thread_token_usage"))
    return Known(model or known.model, totals or known.totals)


def _files(home: str) -> Iterator[str]:
    """Every file of a conversation, those of the last days first: sessions/YEAR/MONTH/DAY/rollout-….jsonl."""
    folders = [os.path.join(home, "sessions")]
    for _ in range(3):
        folders = [inner for folder in folders for inner in _inside(folder) if os.path.isdir(inner)]
    for folder in folders:
        yield from _inside(folder)


def _inside(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder), reverse=True)]
    except OSError:
        return []
