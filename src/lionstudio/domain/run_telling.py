"""What the files of a run folder say of a run that is recorded here; `run_files` reads them back."""

from collections.abc import Sequence
from typing import Any

from lionstudio.domain.conversation import Branch
from lionstudio.domain.session import Session

RUN_FILE = "run.json"
ORDER_FILE = "progression.json"  # the order of all its messages, which several branches do not tell
BRANCHES_FOLDER, ARTIFACTS_FOLDER = "branches", "artifacts"
METADATA = "node_metadata"
# Columns that stand in run.json under their own names.
TOLD_AS_IT_IS = (
    "name", "user", "agent_name", "playbook_name", "invocation_kind", "show_topic", "show_play_name",
    "parent_session_id", "status", "started_at", "ended_at", "exit_code", "end_actor", "end_reason",
    "first_msg_id", "last_msg_id", "last_message_at", METADATA,
)  # fmt: skip


def run_object(session: Session, first: Branch, *, folder: str, cwd: str | None) -> dict[str, Any]:
    """What run.json says of a session and its first branch: `session_of` reads it back."""
    told: dict[str, Any] = {
        "run_id": session.id,
        "session_id": session.id,
        "state_root": folder,
        "artifact_root": session.artifacts_path,
        "branch_id": first.id,
        "provider": _told(first, "provider"),
        "model": _told(first, "model"),
        "cwd": cwd,
    }
    return told | {name: getattr(session, name) for name in TOLD_AS_IT_IS}


def order_object(session: Session, order: Sequence[str]) -> dict[str, Any]:
    """The order of all messages of a run, as lionagi writes a progression."""
    return {"id": session.progression_id, "created_at": session.created_at, "order": list(order)}


def _told(branch: Branch, name: str) -> str | None:
    word = (branch.node_metadata or {}).get(name)
    return word if isinstance(word, str) and word else None
