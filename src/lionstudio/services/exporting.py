"""Whole runs as plain values, one after the other, for files that other programs read."""

from collections.abc import Iterable, Iterator
from typing import Any

from lionstudio.domain.errors import Conflict
from lionstudio.domain.process import ProcessRecord
from lionstudio.services import sessions
from lionstudio.services.context import Context
from lionstudio.services.message_pages import PAGE_BYTES
from lionstudio.store import audit, branches, processes, progressions, usage

PAGE = 200  # messages read at once, so that a run of any length takes no more memory than a short one


def export_lines(ctx: Context, session_ids: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Each run as one line for itself, one for each branch and one for each message; raises SessionNotFound.

    A run that goes on meanwhile is exported as it was when its first line was written. Raises Conflict in the middle of
    one that is deleted, or replaced by a restore, before all of it was read.
    """
    for session_id in session_ids:
        with ctx.db.read() as tx:
            session = sessions.get(tx, session_id)
            session_line = {
                "type": "session",
                **session._asdict(),
                "usage": {model: used._asdict() for model, used in usage.by_model(tx, session_id).items()},
                "processes": [_flat_process(record) for record in processes.list_of_session(tx, session_id)],
                "history": [step._asdict() for step in audit.list_transitions(tx, "session", session_id)],
            }
            known = branches.list_in_session(tx, session_id)
        yield session_line
        yield from ({"type": "branch", **branch._asdict()} for branch in known)
        lengths = {branch.id: branch.message_count for branch in known}
        yield from _message_lines(ctx, session_id, lengths, upto=session.message_count)


def _message_lines(ctx: Context, session_id: str, lengths: dict[str, int], *, upto: int) -> Iterator[dict[str, Any]]:
    after = 0
    while after < upto:
        with ctx.db.read() as tx:
            most = min(PAGE, upto - after)
            limit = progressions.count_fitting(tx, session_id, after=after, limit=most, budget=PAGE_BYTES)
            page = progressions.list_in_session(tx, session_id, after=after, limit=limit)
            places = progressions.list_places(tx, session_id, after=after, limit=limit)
        if len(page) != limit:  # half a run must not pass for a whole one
            raise Conflict(f"The run {session_id} was deleted or replaced while it was exported.", hint="Export again.")
        after += limit
        for message in page:
            yield {
                "type": "message",
                "session_id": session_id,
                **message._asdict(),
                "kind": message.kind,
                "places": [
                    {"branch_id": branch_id, "position": position}
                    for branch_id, position in places.get(message.id, ())
                    if position <= lengths.get(branch_id, 0)  # what came later is not part of this export
                ],
            }


def _flat_process(record: ProcessRecord) -> dict[str, Any]:
    flat = record._asdict()
    return {**flat.pop("place")._asdict(), **flat}
