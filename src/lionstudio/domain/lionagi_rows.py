"""Rows of a lionagi state.db, whichever columns they have, in the shapes that the rest of us reads.

What a row lacks is filled by these rules. A time is the nearest other time of the same row; a status that is missing or
not known leaves a run legacy, a show imported, a team active, and a play at the furthest step that left a trace. A
column that we have no place for is kept in the metadata, under `state_db`.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.drafts import EXIT_CODES
from lionstudio.domain.foreign_words import read_kind, read_status
from lionstudio.domain.json_text import from_json
from lionstudio.domain.lionagi_envelope import ORIGINAL, text_of, unix_of
from lionstudio.domain.lionagi_messages import progression_ids
from lionstudio.domain.lionagi_sessions import agent_of
from lionstudio.domain.session import Session, SourceKind
from lionstudio.domain.show import PlayStatus, ShowStatus, StatusSource, derive_play_status
from lionstudio.domain.team import RESERVED_NAMES, TeamStatus
from lionstudio.domain.words import find_word

Row = Mapping[str, Any]
KEPT = "state_db"  # the key of node_metadata that holds columns without a place of their own
MODELS = ("chat_model", "parse_model")  # lionagi keeps them in a branch's metadata here, and beside it in its dicts

_MESSAGE_COLUMNS = frozenset(
    {
        "id",
        "created_at",
        "content",
        "embedding",
        "sender",
        "recipient",
        "channel",
        "role",
        "node_metadata",
        "lion_class",
    }
)
_BRANCH_COLUMNS = frozenset(
    {"id", "created_at", "name", "user", "session_id", "progression_id", "system_msg_id", "parent_branch_id",
     "forked_at_ord", "node_metadata"}
)  # fmt: skip
_SESSION_COLUMNS = frozenset(
    {"id", "created_at", "updated_at", "node_metadata", "name", "user", "progression_id", "first_msg_id", "last_msg_id",
     "last_message_at", "status", "started_at", "ended_at", "exit_code", "invocation_kind", "playbook_name",
     "agent_name", "show_topic", "show_play_name", "artifacts_path", "parent_session_id"}
)  # fmt: skip


_TEAM_MESSAGE_COLUMNS = frozenset(
    {"id", "team_id", "created_at", "sender", "recipient", "content", "summary", "read_by", "session_id",
     "node_metadata"}
)  # fmt: skip


class Fork(NamedTuple):
    """Where a branch left its parent, as columns tell it."""

    parent_branch_id: str
    at: int


def message_source(row: Row, classes: Mapping[Any, str]) -> dict[str, Any]:
    """A row of messages as the dict that lionagi writes; `classes` are the names of its class numbers."""
    metadata = _with_kept(row, _MESSAGE_COLUMNS)
    number = row.get("lion_class")
    named = classes.get(number) or (number if isinstance(number, str) else None)
    if named is not None and isinstance(metadata, dict):
        metadata.setdefault("lion_class", named)
    found = {name: row[name] for name in ("created_at", "sender", "recipient", "channel", "role") if name in row}
    return {
        **{name: plain(value) for name, value in found.items()},
        "id": str(row["id"]),
        "content": read_json(row.get("content")),
        "embedding": _vector(row.get("embedding")),
        "node_metadata": metadata,
    }


def branch_source(row: Row, messages: Sequence[Mapping[str, Any]], order: Sequence[str]) -> dict[str, Any]:
    """A row of branches with its messages, as the dict that lionagi writes."""
    metadata = _with_kept(row, _BRANCH_COLUMNS)
    models: dict[str, Any] = {}
    if isinstance(metadata, dict):
        models = {name: metadata.pop(name) for name in MODELS if name in metadata}
        told = agent_of(models.get("chat_model"))
        for name in ("provider", "model"):  # R23
            if isinstance(row.get(name), str) and name not in told:
                metadata.setdefault(name, row[name])
    system = next((message for message in messages if message["id"] == row.get("system_msg_id")), None)
    return {
        "id": str(row["id"]),
        "created_at": plain(row.get("created_at")),
        "name": plain(row.get("name")),
        "user": plain(row.get("user")),
        "node_metadata": metadata,
        "messages": {
            "collections": list(messages),
            "progression": {"id": text_of(row.get("progression_id")), "order": list(order)},
        },
        **({"system": system} if system is not None else {}),
        **models,
    }


def session_source(row: Row, branches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A row of sessions with its branches, as the dict that lionagi writes."""
    return {
        "id": str(row["id"]),
        "created_at": plain(row.get("created_at")),
        "name": plain(row.get("user_label")) or plain(row.get("name")),
        "user": plain(row.get("user")),
        "node_metadata": _with_kept(row, _SESSION_COLUMNS),
        "branches": list(branches),
    }


def session_of(row: Row, known: Session, *, said: Sequence[float]) -> Session:
    """The session of a row: `known` by its branches, with what the columns say. `said` are its messages' times."""
    status, kind = read_status(row.get("status")), read_kind(row.get("invocation_kind"))
    words = {"status": status.original, "invocation_kind": kind.original}
    original = {name: plain(word) for name, word in words.items() if word is not None}
    metadata = dict(known.node_metadata or {})
    if original:
        metadata[ORIGINAL] = {**metadata.get(ORIGINAL, {}), **original}
    created_at = first_time(row, "created_at", "started_at", "updated_at")
    created_at = min(said, default=known.created_at) if created_at is None else created_at
    updated_at = first_time(row, "updated_at", "ended_at")
    exit_code = row.get("exit_code")
    return known._replace(
        created_at=created_at,
        updated_at=max((created_at, *said)) if updated_at is None else updated_at,
        status=status.word,
        started_at=unix_of(row.get("started_at")),
        ended_at=unix_of(row.get("ended_at")),
        exit_code=exit_code if isinstance(exit_code, int) and exit_code in EXIT_CODES else None,
        last_message_at=None if said else unix_of(row.get("last_message_at")),
        invocation_kind=kind.word,
        source_kind=SourceKind.IMPORTED_DB,
        playbook_name=plain_text(row, "playbook_name"),
        agent_name=plain_text(row, "agent_name"),
        show_topic=plain_text(row, "show_topic"),
        show_play_name=plain_text(row, "show_play_name"),
        artifacts_path=plain_text(row, "artifacts_path"),
        parent_session_id=plain_text(row, "parent_session_id"),
        node_metadata=metadata,
    )


def fork_of(row: Row) -> Fork | None:
    """Where a branch left its parent, if its columns say so."""
    parent, at = row.get("parent_branch_id"), row.get("forked_at_ord")
    return Fork(str(parent), at) if parent is not None and isinstance(at, int) and at >= 0 else None


def collection_of(row: Row) -> tuple[str, ...] | None:
    """The ids in a row of progressions, each once; None if that is no list."""
    told = read_json(row.get("collection"))
    return tuple(dict.fromkeys(progression_ids(told))) if isinstance(told, list | Mapping) else None


def show_facts(row: Row, *, shows_root: str) -> dict[str, Any]:
    """What a row says about a show."""
    source = find_word(StatusSource, plain_text(row, "status_source"))
    facts = {name: plain_text(row, name) for name in ("goal", "repo", "base_branch", "integration_branch")}
    return {
        **facts,
        "show_dir": plain_text(row, "show_dir") or f"{shows_root}/{row['topic']}",
        "status": find_word(ShowStatus, plain_text(row, "status")) or ShowStatus.IMPORTED,
        "status_source": source,
        **_created(row),
    }


def play_facts(row: Row) -> dict[str, Any]:
    """What a row says about a play, but for the run it belongs to."""
    attempt, passed, exit_code = row.get("attempt"), row.get("gate_passed"), row.get("exit_code")
    facts: dict[str, Any] = {
        name: plain_text(row, name)
        for name in ("playbook", "effort", "worktree", "branch", "merge_sha", "gate_feedback")
    }
    facts |= {name: unix_of(row.get(name)) for name in ("started_at", "ended_at", "merged_at")}
    facts["attempt"] = attempt if isinstance(attempt, int) and attempt >= 1 else 1
    facts["gate_passed"] = bool(passed) if isinstance(passed, int) else None
    facts["exit_code"] = exit_code if isinstance(exit_code, int) and exit_code in EXIT_CODES else None
    facts["status"] = find_word(PlayStatus, plain_text(row, "status")) or derive_play_status(
        **{name: facts[name] for name in _TRACES}
    )
    facts["depends_on"] = _names(row.get("depends_on"))
    if isinstance(row.get("sort_order"), int):
        facts["sort_order"] = row["sort_order"]
    return {**facts, **_created(row)}


def team_facts(row: Row) -> dict[str, Any]:
    """What a row says about a team."""
    metadata = read_json(row.get("node_metadata"))
    return {
        "name": plain_text(row, "name") or str(row["id"]),
        "members": [name for name in _names(row.get("members")) if name.strip() and name not in RESERVED_NAMES],
        "node_metadata": metadata if isinstance(metadata, Mapping) else None,
        "status": find_word(TeamStatus, plain_text(row, "status")) or TeamStatus.ACTIVE,
        **_created(row),
    }


def team_message_facts(row: Row) -> dict[str, Any]:
    """What a row says about a message of a team, but for the run it came from."""
    content, metadata = row.get("content"), _with_kept(row, _TEAM_MESSAGE_COLUMNS)
    return {
        "id": str(row["id"]),
        "created_at": unix_of(row.get("created_at")),
        "sender": plain_text(row, "sender") or "system",
        "recipient": plain_text(row, "recipient") or "all",
        "content": content if isinstance(content, str) else str(plain(content) or ""),
        "summary": plain_text(row, "summary"),
        "read_by": _names(row.get("read_by")),
        "node_metadata": metadata if isinstance(metadata, Mapping) and metadata else None,
    }


def first_time(row: Row, *names: str) -> float | None:
    """The first of these columns that holds a time."""
    return next((at for name in names if (at := unix_of(row.get(name))) is not None), None)


def plain_text(row: Row, name: str) -> str | None:
    value = plain(row.get(name))
    return None if value is None or value == "" else str(value)


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    return value.hex() if isinstance(value, bytes) else value


def read_json(value: Any) -> Any:
    """What a JSON column holds; what is no JSON is itself."""
    if not isinstance(value, str):
        return plain(value)
    try:
        return from_json(value)
    except (ValueError, RecursionError):
        return value


_TRACES = ("merge_sha", "gate_passed", "exit_code", "started_at", "worktree", "attempt")


def _with_kept(row: Row, known: frozenset[str]) -> Any:
    """A row's metadata, with the columns that have no place of their own; as it is, if it is no object."""
    told = read_json(row.get("node_metadata"))
    kept = {name: plain(value) for name, value in row.items() if name not in known and value is not None}
    if told is None or isinstance(told, dict):
        return {**(told or {}), **({KEPT: kept} if kept else {})}
    return told


def _vector(value: Any) -> Any:
    if isinstance(value, bytes):
        return list(struct.unpack(f"<{len(value) // 4}f", value)) if value and len(value) % 4 == 0 else None
    return read_json(value)


def _names(value: Any) -> list[str]:
    told = read_json(value)
    items = [item.get("name") if isinstance(item, Mapping) else item for item in told] if isinstance(told, list) else []
    return list(dict.fromkeys(item for item in items if isinstance(item, str)))


def _created(row: Row) -> dict[str, float]:
    at = first_time(row, "created_at", "updated_at")
    return {} if at is None else {"created_at": at}
