"""Importing whole sessions, and run folders, against bare `executemany` building the same ids and JSON."""

import json
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import measure
from benchmarks.bare_folders import write_folders
from benchmarks.sample import NAMESPACE, message_text

if TYPE_CHECKING:
    from lionstudio.services.context import Context
    from lionstudio.services.imports import SessionImport

BAR = 0.60
SESSIONS, MESSAGES_EACH = 1_000, 100
QUICK_SESSIONS = 200


def run(*, quick: bool) -> list[measure.Table]:
    count, times = (QUICK_SESSIONS, 3) if quick else (SESSIONS, 5)
    sides = {side: partial(_measure, side, count) for side in ("ours", "bare")}
    note = (
        "both make their ids and their JSON within the time measured, and write as many rows to a transaction; "
        "CPU ratio = CPU seconds of bare / of ours"
    )
    tables = [_table("sessions", count, measure.alternate(sides, times=times), note)]
    with measure.fresh_folder() as folder:
        write_folders(folder / "runs", count, MESSAGES_EACH)
        sides = {side: partial(_measure_folders, side, folder / "runs") for side in ("ours", "bare")}
        found = measure.alternate(sides, times=times)
    note = "both read the same files, and write as many rows to a transaction; ours also asks what is there already"
    return [*tables, _table("run folders", count, found, note)]


def _table(what: str, count: int, found: Mapping[str, Sequence[Any]], note: str) -> measure.Table:
    table = measure.Table(
        f"import: {count:,} {what} of {MESSAGES_EACH} messages, messages a second",
        ("statistic", "ours /s", "bare /s", "ratio", "bar", "verdict", "CPU ratio"),
        note=note,
    )
    cpu = min(one["cpu"] for one in found["bare"]) / min(one["cpu"] for one in found["ours"])
    messages, times = count * MESSAGES_EACH, len(found["ours"])
    for name, pick in (("best", max), ("median", measure.median)):
        ours, bare = (pick([messages / one["seconds"] for one in found[side]]) for side in ("ours", "bare"))
        met = measure.verdict(ours / bare >= BAR)
        table.add(f"{name} of {times}", ours, bare, ours / bare, f">= {BAR:.2f}", met, cpu)
    return table


def _measure(side: str, count: int) -> Any:
    with measure.fresh_folder() as folder:
        if side == "bare":
            return measure.run_worker("bare", "import", count, MESSAGES_EACH, folder=folder)
        return measure.run_worker("bench_import", "sessions", count, folder=folder)


def _measure_folders(side: str, runs: Path) -> Any:
    with measure.fresh_folder() as folder:
        if side == "bare":
            return measure.run_worker("bare_folders", runs, folder=folder)
        return measure.run_worker("bench_import", "folders", runs, folder=folder)


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


def _timed(work: "Callable[[Context], None]") -> dict[str, Any]:
    from lionstudio.services.context import open_context
    from lionstudio.settings import load_settings

    ctx = open_context(load_settings())
    began, cpu = time.perf_counter(), time.process_time()
    work(ctx)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    ctx.db.close()
    return {"seconds": seconds, "cpu": cpu}


def _import_sessions(count: int) -> dict[str, Any]:
    from lionstudio.services.imports import import_sessions

    def work(ctx: "Context") -> None:
        assert import_sessions(ctx, _sessions(count, MESSAGES_EACH)).messages_added == count * MESSAGES_EACH

    return _timed(work)


def _import_folders(runs: str) -> dict[str, Any]:
    from lionstudio.importers.run_folders import import_run_folders

    def work(ctx: "Context") -> None:
        report = import_run_folders(ctx, runs)
        assert report.counts["messages added"] == report.counts["run folders"] * MESSAGES_EACH, report

    return _timed(work)


if __name__ == "__main__":
    what, given = sys.argv[1:]
    print(json.dumps(_import_sessions(int(given)) if what == "sessions" else _import_folders(given)))
