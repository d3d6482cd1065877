"""What a recorder has to say, as records that can be written to the database now or kept for later."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from lionstudio.domain.conversation import Line, MessageDraft
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message, send_message
from lionstudio.services.sessions import SessionDraft, finish_session, start_session

Record = dict[str, Any]  # JSON: a record must survive the process that made it


def start_record(draft: SessionDraft, process: ProcessRecord) -> Record:
    return {"do": "start", "draft": _fields(draft), "process": asdict(process)}


def branch_record(draft: BranchDraft) -> Record:
    return {"do": "branch", "draft": _fields(draft)}


def message_record(line: Line, draft: MessageDraft, at: float) -> Record:
    return {"do": "message", "line": list(line), "draft": _fields(draft), "at": at}


def send_record(session_id: str, draft: MessageDraft) -> Record:
    return {"do": "send", "session_id": session_id, "draft": _fields(draft)}


def finish_record(session_id: str, ending: Mapping[str, Any]) -> Record:
    return {"do": "finish", "session_id": session_id, "ending": dict(ending)}


def apply(ctx: Context, record: Record) -> None:
    """Write a record into the database. Doing it twice changes nothing."""
    write = _WRITERS.get(str(record.get("do")))
    if write is None:
        raise InvalidRequest(f"A record of a newer version: {record.get('do')!r}.")
    write(ctx, record)


def _fields(draft: SessionDraft | BranchDraft | MessageDraft) -> dict[str, Any]:
    values = {name: getattr(draft, name) for name in draft.__slots__}
    return {name: value for name, value in values.items() if value is not None}


def _start(ctx: Context, record: Record) -> None:
    fields, process = dict(record["draft"]), dict(record["process"])
    place = Place(**process.pop("place"))
    who = ProcessRecord(place=place, role=ProcessRole(process.pop("role")), **process)
    start_session(ctx, SessionDraft(line=Line(*fields.pop("line")), **fields), who)


def _branch(ctx: Context, record: Record) -> None:
    fields = dict(record["draft"])
    create_branch(ctx, BranchDraft(line=Line(*fields.pop("line")), **fields))


def _message(ctx: Context, record: Record) -> None:
    append_message(ctx, Line(*record["line"]), MessageDraft(**record["draft"]), at=record["at"])


def _send(ctx: Context, record: Record) -> None:
    send_message(ctx, record["session_id"], MessageDraft(**record["draft"]))


def _finish(ctx: Context, record: Record) -> None:
    finish_session(ctx, record["session_id"], **record["ending"])


_WRITERS: Mapping[str, Callable[[Context, Record], None]] = {
    "start": _start,
    "branch": _branch,
    "message": _message,
    "send": _send,
    "finish": _finish,
}
