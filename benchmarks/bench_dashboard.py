"""The dashboard: all its numbers, and the first page of what needs a look, at ten thousand and a million sessions."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.bench_feed import _postgres

SMALL, BIG, QUICK_BIG = 10_000, 1_000_000, 100_000
BAR_MS = 100.0
CALLS = 20
COPIED = ("progression_heads", "sessions", "branches", "session_processes", "session_evidence", "shows", "plays")


def run(*, quick: bool) -> list[measure.Table]:
    big = QUICK_BIG if quick else BIG
    table = measure.Table(
        f"dashboard: {CALLS} calls, 1,000 sessions run, 1,000 left files behind",
        ("database", "what", "which", f"ms at {big:,}", f"ms at {SMALL:,}", "ratio", "bar", "verdict"),
        note="all numbers of the dashboard, and 100 rows of what needs a look; each call looks at every process",
    )
    with measure.fresh_folder() as folder:
        now = time.time()
        paths = {count: folder / f"{count}.db" for count in (SMALL, big)}
        for count, path in paths.items():
            built = measure.run_worker("list_data", path, count, now, folder=folder)
            print(f"  built {count:,} sessions in {built['seconds']:.0f} s", flush=True)
        found = [_measure(now, path, folder) for path in paths.values()]
        _add(table, "SQLite", *found)
        found = []
        for count, path in paths.items():
            with measure.fresh_folder() as other, _postgres(other) as url:
                copied = measure.run_worker("bench_dashboard", "copy", path, url, folder=folder)
                print(f"  copied {count:,} sessions to PostgreSQL in {copied:.0f} s", flush=True)
                found.append(_measure(now, url, folder))
        _add(table, "PostgreSQL", *found)
    return [table]


def _measure(now: float, location: object, folder: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = measure.run_worker("bench_dashboard", "measure", now, location, folder=folder)
    return found


def _add(table: measure.Table, database: str, small: dict[str, list[float]], large: dict[str, list[float]]) -> None:
    for name, taken in large.items():
        for which, pick in (("best", min), ("median", measure.median)):
            slow, fast = pick(taken), pick(small[name])
            met = measure.verdict(slow <= BAR_MS)
            table.add(database, name, which, slow, fast, slow / fast, f"<= {BAR_MS:.0f} ms", met)


def _time(call: Callable[[], object]) -> list[float]:
    """Milliseconds of each call, after one to warm up."""
    call()
    taken = []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def measure_calls(now: str, location: str) -> dict[str, list[float]]:
    from lionstudio.services.attention import list_attention
    from lionstudio.services.context import Context
    from lionstudio.services.dashboard import get_stats
    from lionstudio.store.open import open_database

    ctx = Context(open_database(location), now=lambda: float(now))
    return {"stats": _time(lambda: get_stats(ctx)), "attention": _time(lambda: list_attention(ctx, limit=100))}


LIST_INDEXES = """
    SELECT indexname, indexdef FROM pg_indexes
     WHERE schemaname = 'public' AND indexname LIKE 'ix_%'
"""


def copy(path: str, url: str) -> float:
    """Bring the sessions of an SQLite file into a new PostgreSQL database; its indexes are made last."""
    import apsw
    import psycopg

    from lionstudio.store.open import open_database

    began = time.perf_counter()
    open_database(url).close()
    source = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    with psycopg.connect(url) as target:
        indexes = target.execute(LIST_INDEXES).fetchall()
        for name, _ in indexes:
            target.execute(f"DROP INDEX {name}".encode())
        target.execute("SET session_replication_role = replica")  # foreign keys were checked when the file was made
        for table in COPIED:
            _copy_table(source, target, table)
        for _, sql in indexes:
            target.execute(sql.encode())
    with psycopg.connect(url, autocommit=True) as target:
        target.execute("VACUUM ANALYZE")
    return time.perf_counter() - began


def _copy_table(source: Any, target: Any, table: str) -> None:
    columns = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]  # without generated ones
    names = ", ".join(f'"{column}"' for column in columns)
    rows = source.execute(f"SELECT {names} FROM {table}")
    with target.cursor().copy(f"COPY {table} ({names}) FROM STDIN") as copying:
        for row in rows:
            copying.write_row(row)


if __name__ == "__main__":
    work: dict[str, Any] = {"measure": measure_calls, "copy": copy}
    print(json.dumps(work[sys.argv[1]](*sys.argv[2:])))
