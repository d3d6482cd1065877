"""What the files of a run folder mean: run.json, which says how the run went, and branches/*.json, which it said."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.drafts import EXIT_CODES
from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.foreign_words import Foreign, read_kind, read_status
from lionstudio.domain.lionagi_envelope import ORIGINAL, unix_of
from lionstudio.domain.reasons import REASON_CODES
from lionstudio.domain.run_telling import METADATA, RUN_FILE
from lionstudio.domain.session import (
    TERMINAL_STATUSES,
    InvocationKind,
    Session,
    SessionStatus,
    SourceKind,
    status_from_exit_code,
)

KEPT = "run_json"  # the key of node_metadata that holds run.json as it was


class RunFile(NamedTuple):
    """What run.json says. A time is there only if the file names it."""

    run_id: str | None
    status: SessionStatus | None
    started_at: float | None
    ended_at: float | None
    exit_code: int | None
    kind: InvocationKind | None
    artifacts_path: str | None
    original: Mapping[str, Any]  # words that are not ours
    told: Mapping[str, Any]


class FileTimes(NamedTuple):
    """What the file system says about a run folder: the earliest and the latest time of its files."""

    first: float
    last: float


def read_run_file(told: object) -> RunFile:
    """What run.json says; raises InvalidContent unless it is an object."""
    if not isinstance(told, Mapping):
        raise InvalidContent(f"{RUN_FILE} holds no JSON object.")
    exit_code = _exit_code(told.get("exit_code"))
    kind = read_kind(told.get("invocation_kind") or told.get("kind"))
    status = _status(told.get("status"), exit_code)
    words = {"status": status.original, "invocation_kind": kind.original}
    return RunFile(
        run_id=_text(told, "run_id"),
        status=status.word,
        started_at=_time(told, "started_at", "created_at"),
        ended_at=_time(told, "ended_at", "finished_at"),
        exit_code=exit_code,
        kind=kind.word,
        artifacts_path=_text(told, "artifact_root", "artifacts_path"),
        original={name: word for name, word in words.items() if word is not None},
        told=told,
    )


def session_of(
    run: RunFile, known: Session, *, files: FileTimes, said: Sequence[float], artifacts: str | None
) -> Session:
    """The session of a run: `known` by its branches, with what run.json says, else the file system (R94 to R97).

    `said` are the times of its messages. A run began no later than its first one, and a file's time is no proof.
    """
    told = {name: value for name, value in run.told.items() if name != METADATA}
    own = run.told.get(METADATA)
    started_at = run.started_at if run.started_at is not None else min((files.first, *said))
    ended_at = run.ended_at
    if run.status is SessionStatus.RUNNING:
        ended_at = None
    elif ended_at is None:
        ended_at = max((files.last, *said, started_at))
    end_actor, end_reason = _end_of(run)
    metadata = {**(own if isinstance(own, Mapping) else {}), **(known.node_metadata or {}), KEPT: told}
    if run.original:
        metadata[ORIGINAL] = {**metadata.get(ORIGINAL, {}), **run.original}
    return known._replace(
        created_at=started_at,
        updated_at=max((started_at, *said) if ended_at is None else (started_at, ended_at)),
        name=_text(told, "name", "session_name"),
        user=_text(told, "user") or known.user,
        status=run.status,
        started_at=started_at,
        ended_at=ended_at,
        exit_code=run.exit_code,
        end_actor=end_actor,
        end_reason=end_reason,
        first_msg_id=_text(told, "first_msg_id"),
        last_msg_id=_text(told, "last_msg_id"),
        last_message_at=_time(told, "last_message_at"),
        invocation_kind=run.kind,
        source_kind=SourceKind.IMPORTED_FS,
        playbook_name=_text(told, "playbook_name", "playbook"),
        agent_name=_text(told, "agent_name", "agent"),
        show_topic=_text(told, "show_topic"),
        show_play_name=_text(told, "show_play_name", "show_play"),
        artifacts_path=artifacts,
        parent_session_id=_text(told, "parent_session_id"),
        node_metadata=metadata,
    )


def names_own_session(run: RunFile) -> bool:
    """Whether a run folder is that of one session, which has its id."""
    return run.run_id is not None and run.told.get("session_id") == run.run_id


def branch_config(run: RunFile, branch_id: str) -> dict[str, str]:
    """Provider and model of a branch, where its own file does not say (R23)."""
    listed = run.told.get("branches")
    own = next((item for item in _mappings(listed) if item.get("id") == branch_id), {})
    found = {name: _text(own, name) or _text(run.told, name) for name in ("provider", "model")}
    return {name: value for name, value in found.items() if value is not None}


def session_id_of(branches: Iterable[Mapping[str, Any]]) -> str | None:
    """lionagi's own id of the session, which it writes into each of its branches as their user, if they agree."""
    users = {branch.get("user") for branch in branches if isinstance(branch.get("user"), str | None)}
    only = users.pop() if len(users) == 1 else None
    return only if isinstance(only, str) and _is_uuid(only) else None


def _end_of(run: RunFile) -> tuple[str | None, str | None]:
    """Who ended a run and why, where its file says so in words that we know."""
    reason = _text(run.told, "end_reason")
    if run.status not in TERMINAL_STATUSES or reason not in REASON_CODES:
        return None, None
    return _text(run.told, "end_actor"), reason


def _status(word: object, exit_code: int | None) -> Foreign[SessionStatus]:
    if word is not None and word != "":
        return read_status(word)  # R94
    if exit_code is not None:
        return Foreign(status_from_exit_code(exit_code))  # R95
    return Foreign(SessionStatus.COMPLETED)  # R96: it was there to write its file to the end


def _exit_code(value: object) -> int | None:
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 12:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value in EXIT_CODES else None


def _time(told: Mapping[str, Any], *names: str) -> float | None:
    return next((at for name in names if (at := unix_of(told.get(name))) is not None), None)


def _text(told: Mapping[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := told.get(name), str) and value), None)


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _is_uuid(text: str) -> bool:
    digits = text.replace("-", "")
    return len(text) == 36 and len(digits) == 32 and all(digit in "0123456789abcdefABCDEF" for digit in digits)
