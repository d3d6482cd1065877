"""Importing whole sessions: the import use case against bare `executemany` building the same ids and JSON."""

import json
import sys
import time
import uuid
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks import measure
from benchmarks.sample import NAMESPACE, message_text

if TYPE_CHECKING:
    from lionstudio.services.imports import SessionImport

BAR = 0.60
SESSIONS, MESSAGES_EACH = 1_000, 100
QUICK_SESSIONS = 200


def run(*, quick: bool) -> list[measure.Table]:
    count = QUICK_SESSIONS if quick else SESSIONS
    table = measure.Table(
        f"import: {count:,} sessions of {MESSAGES_EACH} messages, messages a second",
        ("statistic", "ours /s", "bare /s", "ratio", "bar", "verdict", "CPU ratio"),
        note="both make their ids and their JSON within the time measured, and write as many rows to a transaction; "
        "CPU ratio = CPU seconds of bare / of ours",
    )
    times = 3 if quick else 5
    found = measure.alternate({side: partial(_measure, side, count) for side in ("ours", "bare")}, times=times)
    cpu = min(one["cpu"] for one in found["bare"]) / min(one["cpu"] for one in found["ours"])
    messages = count * MESSAGES_EACH
    for name, pick in (("best", max), ("median", measure.median)):
        ours, bare = (pick([messages / one["seconds"] for one in found[side]]) for side in ("ours", "bare"))
        met = measure.verdict(ours / bare >= BAR)
        table.add(f"{name} of {times}", ours, bare, ours / bare, f">= {BAR:.2f}", met, cpu)
    return [table]


def _measure(side: str, count: int) -> Any:
    with measure.fresh_folder() as folder:
        if side == "bare":
            return measure.run_worker("bare", "import", count, MESSAGES_EACH, folder=folder)
        return measure.run_worker("bench_import", count, MESSAGES_EACH, folder=folder)


def _sessions(count: int, messages_each: int) -> Iterator["SessionImport"]:
    from lionstudio.domain.conversation import ASSISTANT_CLASS, Branch, MessageDraft
    from lionstudio.domain.session import InvocationKind, Session, SessionStatus, SourceKind
    from lionstudio.services.imports import BranchImport, SessionImport

    for number in range(count):
        session_id, branch_id, session_line, branch_line = (
            str(uuid.uuid5(NAMESPACE, f"{part}:{number}")) for part in ("s", "b", "sp", "bp")
        )
        at = 1_700_000_000.0 + number
        drafts = [
            MessageDraft(
                "assistant",
                {"assistant_response": message_text(place)},
                ASSISTANT_CLASS,
                id=str(uuid.uuid5(NAMESPACE, f"m:{number}:{place}")),
                created_at=at + place,
            )
            for place in range(messages_each)
        ]
        session = Session(
            id=session_id,
            created_at=at,
            updated_at=at + messages_each,
            progression_id=session_line,
            name=f"imported run {number}",
            status=SessionStatus.COMPLETED,
            started_at=at,
            ended_at=at + messages_each,
            invocation_kind=InvocationKind.AGENT,
            source_kind=SourceKind.IMPORTED_CLAUDE,
            agent_name="bench",
        )
        branch = Branch(branch_id, at, session_id, branch_line, name="main")
        yield SessionImport(session, [BranchImport(branch, drafts)])


def _work(count: int, messages_each: int) -> dict[str, Any]:
    from lionstudio.services.context import open_context
    from lionstudio.services.imports import import_sessions
    from lionstudio.settings import load_settings

    ctx = open_context(load_settings())
    began, cpu = time.perf_counter(), time.process_time()
    imported = import_sessions(ctx, _sessions(count, messages_each))
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    ctx.db.close()
    assert imported.messages_added == count * messages_each
    return {"seconds": seconds, "cpu": cpu}


if __name__ == "__main__":
    print(json.dumps(_work(*map(int, sys.argv[1:]))))
