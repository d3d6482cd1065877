"""What a recorder has to say, as records that are kept until the database takes them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lionstudio.domain.conversation import Line, MessageDraft
from lionstudio.domain.drafts import require_message, require_recipient

if TYPE_CHECKING:
    from lionstudio.domain.process import ProcessRecord
    from lionstudio.services.branches import BranchDraft
    from lionstudio.services.sessions import SessionDraft

Record = dict[str, Any]  # JSON: a record must survive the process that made it


def start_record(draft: "SessionDraft", process: "ProcessRecord") -> Record:
    return {"do": "start", "draft": _fields(draft), "process": _process_fields(process)}


def processes_record(*processes: "ProcessRecord") -> Record:
    return {"do": "processes", "processes": [_process_fields(process) for process in processes]}


def branch_record(draft: "BranchDraft") -> Record:
    return {"do": "branch", "draft": _fields(draft)}


def describe_record(line: Line, facts: Mapping[str, Any]) -> Record:
    return {"do": "describe", "line": list(line), "facts": dict(facts)}


def session_facts_record(session_id: str, facts: Mapping[str, Any]) -> Record:
    return {"do": "describe_session", "session_id": session_id, "facts": dict(facts)}


def open_call_record(line: Line, call_id: str, tool: str, since: float) -> Record:
    return {"do": "open_call", "line": list(line), "call_id": call_id, "tool": tool, "since": since}


def close_call_record(line: Line, call_id: str) -> Record:
    return {"do": "close_call", "line": list(line), "call_id": call_id}


def message_record(line: Line, draft: MessageDraft, at: float) -> Record:
    return {"do": "message", "line": list(line), "draft": _message_fields(draft), "at": at}


def send_record(session_id: str, draft: MessageDraft) -> Record:
    require_recipient(draft)
    return {"do": "send", "session_id": session_id, "draft": _message_fields(draft)}


def finish_record(session_id: str, ending: Mapping[str, Any]) -> Record:
    return {"do": "finish", "session_id": session_id, "ending": dict(ending)}


def _fields(draft: "SessionDraft | BranchDraft | MessageDraft") -> dict[str, Any]:
    return {name: value for name, value in draft._asdict().items() if value is not None}


def _message_fields(draft: MessageDraft) -> dict[str, Any]:
    """What is checked here cannot be refused later, when nobody is there any more to be told."""
    fields = _fields(require_message(draft))
    if "embedding" in fields:
        fields["embedding"] = [float(number) for number in fields["embedding"]]  # an array is as good as a list
    return fields


def _process_fields(process: "ProcessRecord") -> dict[str, Any]:
    return {**process._asdict(), "place": process.place._asdict()}
