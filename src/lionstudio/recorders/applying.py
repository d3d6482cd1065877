"""Records on their way back: what was kept is written to the database as it would have been."""

from collections.abc import Callable, Mapping
from typing import Any

from lionstudio.domain.conversation import Line, MessageDraft
from lionstudio.domain.errors import Conflict, ForkOutOfRange, Invalid, InvalidRequest, NotFound
from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.recorders.records import Record
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.describing import describe_branch, describe_session
from lionstudio.services.messages import append_message, append_messages, send_message
from lionstudio.services.open_calls import close_call, open_call
from lionstudio.services.sessions import SessionDraft, finish_session, put_process, start_session


def apply(ctx: Context, record: Any) -> None:
    """Write a record into the database. Doing it twice changes nothing."""
    write = _WRITERS.get(record["do"])
    if write is None:
        raise InvalidRequest(f"A record of a newer version: {record['do']!r}.")
    write(ctx, record)


def _process(fields: Mapping[str, Any]) -> ProcessRecord:
    place, role = Place(**fields["place"]), ProcessRole(fields["role"])
    return ProcessRecord(**{**fields, "place": place, "role": role})


def _start(ctx: Context, record: Record) -> None:
    fields = dict(record["draft"])
    start_session(ctx, SessionDraft(line=Line(*fields.pop("line")), **fields), _process(record["process"]))


def _processes(ctx: Context, record: Record) -> None:
    put_process(ctx, *(_process(fields) for fields in record["processes"]))


def _branch(ctx: Context, record: Record) -> None:
    fields = dict(record["draft"])
    line = Line(*fields.pop("line"))
    try:
        create_branch(ctx, BranchDraft(line=line, **fields))
    except ForkOutOfRange:
        # Too late to tell the caller. Without its branch every message in it would be refused too.
        create_branch(ctx, BranchDraft(line=line, **{**fields, "forked_at_ord": None}))


def _describe(ctx: Context, record: Record) -> None:
    describe_branch(ctx, Line(*record["line"]), record["facts"])


def _describe_session(ctx: Context, record: Record) -> None:
    describe_session(ctx, record["session_id"], record["facts"])


def _open_call(ctx: Context, record: Record) -> None:
    open_call(ctx, Line(*record["line"]), record["call_id"], record["tool"], record["since"])


def _close_call(ctx: Context, record: Record) -> None:
    close_call(ctx, Line(*record["line"]), record["call_id"])


def _message(ctx: Context, record: Record) -> None:
    append_message(ctx, Line(*record["line"]), _message_draft(record["draft"]), at=record["at"])


def _messages(ctx: Context, record: Record) -> None:
    drafts = [_message_draft(fields) for fields in record["drafts"]]
    append_messages(ctx, Line(*record["line"]), drafts, at=record["at"])


def _send(ctx: Context, record: Record) -> None:
    send_message(ctx, record["session_id"], _message_draft(record["draft"]))


def _message_draft(fields: Mapping[str, Any]) -> MessageDraft:
    return MessageDraft(**{"content": None, **fields})


def _finish(ctx: Context, record: Record) -> None:
    finish_session(ctx, record["session_id"], **record["ending"])


# What says that a record will never be taken, however often it is tried: it makes no sense, or its place is gone.
REFUSED_FOR_GOOD = (Invalid, Conflict, NotFound, KeyError, TypeError, ValueError, AttributeError, RecursionError)

_WRITERS: Mapping[str, Callable[[Context, Record], None]] = {
    "start": _start,
    "processes": _processes,
    "branch": _branch,
    "describe": _describe,
    "describe_session": _describe_session,
    "open_call": _open_call,
    "close_call": _close_call,
    "message": _message,
    "messages": _messages,
    "send": _send,
    "finish": _finish,
}
