"""Messages that may be what somebody looks for. The database leaves out what cannot be, and the domain decides."""

from typing import NamedTuple

from lionstudio.domain.conversation import UNKNOWN_CLASS, Message
from lionstudio.domain.message_finding import MessageQuestion, MessageShare
from lionstudio.store.encoding import json_out
from lionstudio.store.progressions import READ_BRANCH, READ_SESSION
from lionstudio.store.transaction import Tx

# The content is only read where the answer depends on it: it may have megabytes.
_CONTENT = "CAST(message.content AS text)"
_HAS_PROBE = f"lower({_CONTENT}) LIKE :probe ESCAPE '!'"
_MAY_HAVE_FAILED = f"(message.lion_class = 5 OR message.role IN ('action', 'tool')) AND {_CONTENT} LIKE '%\"error\"%'"
_KIND_IS_IN_CONTENT = "message.lion_class NOT BETWEEN 1 AND 5"


class Stretch(NamedTuple):
    """Positions that follow each other: how many were looked at, and the messages among them that may be wanted."""

    length: int
    candidates: list[Message]


def list_candidates(
    tx: Tx, session_id: str, branch_id: str | None, question: MessageQuestion, *, after: int, limit: int
) -> Stretch:
    """What may be wanted of the history from position `after` + 1; contents that do not matter are left out."""
    wanted = [_HAS_PROBE] if question.probe else ["true"] if question.words else []
    if question.share is MessageShare.ERRORS:
        wanted.append(_MAY_HAVE_FAILED)
    needs_content = bool(wanted)
    condition = " AND ".join(wanted) or _KIND_IS_IN_CONTENT
    columns = f"type.lion_class, message.role, CASE WHEN {condition} THEN {_CONTENT} END"
    probe = f"%{_escaped(question.probe)}%" if question.probe else None
    asked = {"after": after, "limit": limit} | ({"probe": probe} if probe else {})
    if branch_id is None:
        rows = tx.all(READ_SESSION.format(columns=columns), session_id=session_id, **asked)
    else:
        rows = tx.all(READ_BRANCH.format(columns=columns), branch_id=branch_id, **asked)
    return Stretch(
        len(rows),
        [
            Message("", 0.0, role, json_out(content), lion_class or UNKNOWN_CLASS, position=position)
            for lion_class, role, content, position in rows
            if content is not None or not needs_content
        ],
    )


def _escaped(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
