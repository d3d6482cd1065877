"""Many processes that write at once: how long the unluckiest append waits, and how large the log grows."""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.sample import message_text

PROCESSES, MESSAGES_EACH = 50, 40
WAIT_BAR_MS, WAL_BAR_MB = 500.0, 64.0


def run(*, quick: bool) -> list[measure.Table]:
    table = measure.Table(
        f"writers: {PROCESSES} processes x {MESSAGES_EACH} messages at once, one database",
        ("run", "what", "measured", "bar", "verdict"),
        note="a wait is the time of one append call, its commit included; all processes begin at the same moment",
    )
    for number in range(1, 2 if quick else 4):
        _add(table, number, _measure())
    return [table]


def _add(table: measure.Table, number: int, found: dict[str, Any]) -> None:
    waits = [wait * 1000 for wait in found["waits"]]
    worst, wal = max(waits), found["wal"] / 1e6
    table.add(number, "worst wait ms", worst, f"<= {WAIT_BAR_MS:.0f}", measure.verdict(worst <= WAIT_BAR_MS))
    table.add(number, "p50 wait ms", measure.percentile(waits, 50), "", "")
    table.add(number, "p99 wait ms", measure.percentile(waits, 99), "", "")
    table.add(number, "WAL peak MB", wal, f"< {WAL_BAR_MB:.0f}", measure.verdict(wal < WAL_BAR_MB))
    table.add(number, "commits a second", found["rate"], "", "")
    table.add(number, "errors, or set aside", found["errors"], "0", measure.verdict(found["errors"] == 0))
    missing = PROCESSES * MESSAGES_EACH - found["stored"]
    table.add(number, "messages missing", missing, "0", measure.verdict(missing == 0))


def _measure() -> dict[str, Any]:
    with measure.fresh_folder() as folder:
        db = folder / "state.db"
        measure.run_worker("bench_open", "create", db, folder=folder)
        workers = [measure.start_worker("bench_writers", db, folder=folder) for _ in range(PROCESSES)]
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()  # it has opened the database and begun its run
        watch = _WalWatch(db)
        go = time.time() + 1.0  # enough to tell all of them
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write(f"{go}\n")
            worker.stdin.flush()
        found = [measure.finish_worker(worker) for worker in workers]
        peak = watch.stop()
        # A stock reader from outside: the run that made the database stored one message itself.
        stored = measure.run_worker("bench_writers", "count", db, folder=folder) - 1
        spool = folder / "home" / "spool"
        waiting = sum(1 for path in spool.rglob("*") if path.is_file()) if spool.exists() else 0
    seconds = max(one["ended"] for one in found) - go
    return {
        "waits": [wait for one in found for wait in one["waits"]],
        "errors": sum(one["errors"] for one in found) + waiting,
        "rate": PROCESSES * MESSAGES_EACH / seconds,
        "stored": stored,
        "wal": peak,
    }


class _WalWatch:
    """The largest size of the log, looked at every few milliseconds."""

    def __init__(self, db: Path) -> None:
        self._wal = f"{db}-wal"
        self._peak = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._stopped.wait(0.005):
            try:
                self._peak = max(self._peak, os.stat(self._wal).st_size)
            except FileNotFoundError:
                continue

    def stop(self) -> int:
        self._stopped.set()
        self._thread.join()
        return self._peak


def _write(db: str) -> dict[str, Any]:
    import lionstudio

    waits: list[float] = []
    errors = 0
    with lionstudio.record("bench", agent="bench", db=db) as run:
        print("ready", flush=True)
        go = float(sys.stdin.readline())
        time.sleep(max(0.0, go - time.time()))
        for number in range(MESSAGES_EACH):
            began = time.perf_counter()
            try:
                run.assistant(message_text(number))
            except Exception:  # noqa: BLE001  counting them is the point
                errors += 1
            waits.append(time.perf_counter() - began)
        ended = time.time()
    return {"waits": waits, "errors": errors, "ended": ended}


def _count(db: str) -> int:
    import sqlite3

    return int(sqlite3.connect(db).execute("SELECT count(*) FROM messages").fetchone()[0])


if __name__ == "__main__":
    print(json.dumps(_count(sys.argv[2]) if sys.argv[1] == "count" else _write(sys.argv[1])))
