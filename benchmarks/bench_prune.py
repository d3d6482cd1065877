"""Pruning half of what there is: how long it takes, and how long others who write meanwhile have to wait."""

import json
import random
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import measure
from benchmarks.bench_feed import _postgres
from benchmarks.sample import message_text

if TYPE_CHECKING:
    from lionstudio.services.imports import SessionImport

SESSIONS, QUICK_SESSIONS, MESSAGES_EACH = 10_000, 2_000, 20
SECONDS_BAR, WAIT_BAR_MS = 3.0, 500.0
YEAR = 365 * 86_400.0
PAUSE = 0.005  # seconds between two messages of the one who writes meanwhile


def run(*, quick: bool) -> list[measure.Table]:
    count = QUICK_SESSIONS if quick else SESSIONS
    table = measure.Table(
        f"prune: half of {count:,} sessions of {MESSAGES_EACH} messages, alone and while another process writes",
        ("database", "ids", "what", "measured", "bar", "verdict"),
        note="ids sorted by time are those of our own recorder, random ones those of imports; "
        "a wait is the time of one append call of the other process, its commit included",
    )
    for ids in ("by time", "random"):
        with measure.fresh_folder() as folder:
            db = str(folder / "state.db")
            measure.run_worker("bench_prune", "build", db, ids, count, folder=folder)
            shutil.copy(db, folder / "alone.db")  # closed, so its log is in it
            alone = measure.run_worker("bench_prune", "prune", str(folder / "alone.db"), count, folder=folder)
            verdict = measure.verdict(alone["seconds"] <= SECONDS_BAR)
            table.add("SQLite", ids, "seconds, alone", alone["seconds"], f"<= {SECONDS_BAR:.0f}", verdict)
            _add(table, "SQLite", ids, _measure(db, count, folder), bar=SECONDS_BAR)
    with measure.fresh_folder() as folder, _postgres(folder) as url:
        measure.run_worker("bench_prune", "build", url, "random", count, folder=folder)
        _add(table, "PostgreSQL", "random", _measure(url, count, folder), bar=None)
    return [table]


def _add(table: measure.Table, database: str, ids: str, found: dict[str, Any], *, bar: float | None) -> None:
    seconds, worst = found["seconds"], max(found["waits"]) * 1000
    verdict = "" if bar is None else measure.verdict(seconds <= bar)
    table.add(database, ids, "seconds, beside a writer", seconds, "" if bar is None else f"<= {bar:.0f}", verdict)
    table.add(database, ids, "(seconds to plan it)", found["plan"], "", "")
    met = measure.verdict(worst <= WAIT_BAR_MS)
    table.add(database, ids, "others' worst wait ms", worst, f"<= {WAIT_BAR_MS:.0f}", met)
    table.add(database, ids, "others' p50 wait ms", measure.percentile(found["waits"], 50) * 1000, "", "")


def _measure(db: str, count: int, folder: Path) -> dict[str, Any]:
    writer = measure.start_worker("bench_prune", "write", db, folder=folder)
    assert writer.stdout is not None
    writer.stdout.readline()  # it has begun its run
    found = measure.run_worker("bench_prune", "prune", db, count, folder=folder)
    return {**found, "waits": measure.finish_worker(writer)}  # which closes its stdin, and so ends it


def _sessions(count: int, new_id: Callable[[], str]) -> Iterator["SessionImport"]:
    from lionstudio.domain.conversation import ASSISTANT_CLASS, Branch, MessageDraft
    from lionstudio.domain.session import InvocationKind, Session, SessionStatus, SourceKind
    from lionstudio.services.imports import BranchImport, SessionImport

    first = time.time() - YEAR
    for number in range(count):
        at = first + number * YEAR / count
        drafts = [
            MessageDraft(
                "assistant",
                {"assistant_response": message_text(place)},
                ASSISTANT_CLASS,
                id=new_id(),
                created_at=at + place,
            )
            for place in range(MESSAGES_EACH)
        ]
        session = Session(
            id=new_id(),
            created_at=at,
            updated_at=at + MESSAGES_EACH,
            progression_id=new_id(),
            name=f"run {number}",
            status=SessionStatus.COMPLETED,
            started_at=at,
            ended_at=at + MESSAGES_EACH,
            invocation_kind=InvocationKind.AGENT,
            source_kind=SourceKind.IMPORTED_CLAUDE,
            agent_name="bench",
        )
        branch = Branch(new_id(), at, session.id, new_id(), name="main")
        yield SessionImport(session, [BranchImport(branch, drafts)])


def _build(db: str, ids: str, count: str) -> int:
    from lionstudio.services.context import new_id, open_context
    from lionstudio.services.imports import import_sessions
    from lionstudio.settings import load_settings

    chance = random.Random(7)
    make = new_id if ids == "by time" else lambda: str(uuid.UUID(int=chance.getrandbits(128), version=4))
    ctx = open_context(load_settings(db=db))
    added = import_sessions(ctx, _sessions(int(count), make)).sessions_added
    ctx.db.close()
    return added


def _prune(db: str, count: str) -> dict[str, float]:
    from lionstudio.services.context import open_context
    from lionstudio.services.prune import DAY, plan_prune, prune
    from lionstudio.settings import load_settings

    ctx = open_context(load_settings(db=db))
    began = time.perf_counter()
    plan = plan_prune(ctx, keep_days=YEAR / 2 / DAY)
    planned = time.perf_counter()
    result = prune(ctx, plan, actor="bench")
    ended = time.perf_counter()
    ctx.db.close()
    assert abs(result.removed.sessions - int(count) // 2) <= 2
    return {"plan": planned - began, "seconds": ended - planned}


def _write(db: str) -> list[float]:
    """Write until stdin is closed."""
    import threading

    import lionstudio

    told = threading.Event()
    waits: list[float] = []

    def listen() -> None:
        sys.stdin.read()
        told.set()

    with lionstudio.record("bench", agent="bench", db=db) as run:
        print("ready", flush=True)
        threading.Thread(target=listen, daemon=True).start()
        while not told.wait(PAUSE):
            began = time.perf_counter()
            run.assistant(message_text(len(waits)))
            waits.append(time.perf_counter() - began)
    return waits


if __name__ == "__main__":
    work: dict[str, Any] = {"build": _build, "prune": _prune, "write": _write}
    print(json.dumps(work[sys.argv[1]](*sys.argv[2:])))
