"""What Codex writes down of its conversations and leaves out of its stream: the model, and what subagents consumed."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lionstudio.engines.json_lines import fields_in, parse_object, seconds_of, text

THREAD = re.compile(r"[0-9A-Za-z-]{1,64}")
# The kinds of lines that are looked at; the others may be megabytes each.
WANTED = ('"turn_context"', '"token_usage_record"')
KIND_WITHIN = 200  # letters from the beginning of a line


class Known(NamedTuple):
    """What a conversation's own file says."""

    model: str | None = None
    totals: Mapping[str, Any] = {}  # what it has consumed by now
    before: Mapping[str, Any] = {}  # … and what of that before a run began that goes on with another


NOTHING = Known()


def home_of(env: Mapping[str, str]) -> str:
    """Where Codex keeps its files, for a process with these variables beside ours."""
    told = {**os.environ, **env}
    return told.get("CODEX_HOME") or os.path.join(told.get("HOME") or os.path.expanduser("~"), ".codex")


def look_up(home: str, thread_id: str | None, began_at: float | None = None) -> Known:
    """What is written of a conversation; nothing if nobody can tell. `began_at` is when a run went on with another."""
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
                    known = _with(known, line, began_at)
    except OSError:
        return known
    return known


def _with(known: Known, line: str, began_at: float | None) -> Known:
    fields = parse_object(line) or {}
    payload = fields_in(fields.get("payload"))
    model, totals = text(payload.get("model")), fields_in(payload.get("thread_token_usage"))
    at = seconds_of(fields.get("timestamp"))
    was_before = began_at is not None and at is not None and at < began_at
    return Known(model or known.model, totals or known.totals, totals if totals and was_before else known.before)


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
