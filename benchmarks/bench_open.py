"""Starting up: importing the package and opening a database, against a Python that does nothing."""

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import measure

RATIO_BAR, OPEN_BAR_MS = 3.0, 5.0
PROGRAMS = {
    "python -c pass": "pass",
    "import lionstudio": "import lionstudio",
    "lionstudio.open(db)": "import lionstudio; lionstudio.open({db!r})",
    "start and finish a run": "import lionstudio\nwith lionstudio.record('bench', db={db!r}): pass",
}
BARE = "python -c pass"
BARRED = ("import lionstudio", "lionstudio.open(db)")  # a run costs more: it is shown to be watched


def run(*, quick: bool) -> list[measure.Table]:
    times = 9 if quick else 25
    with measure.fresh_folder() as folder:
        db = folder / "state.db"
        measure.run_worker("bench_open", "create", db, folder=folder)
        for code in PROGRAMS.values():
            _measure(code.format(db=str(db)), folder)  # so that everything is compiled
        found = measure.alternate(
            {name: partial(_measure, code.format(db=str(db)), folder) for name, code in PROGRAMS.items()}, times=times
        )
        opened = measure.run_worker("bench_open", "open", db, times * 4, folder=folder)
    processes = measure.Table(
        f"open: a whole process, median of {times}, taking turns",
        ("program", "ms", f"{BARE} ms", "ratio", "bar", "verdict"),
        note="the database exists already",
    )
    bare = measure.median(found[BARE])
    for name in PROGRAMS:
        if name != BARE:
            ours = measure.median(found[name])
            bar = f"<= {RATIO_BAR:.0f}" if name in BARRED else ""
            met = measure.verdict(ours / bare <= RATIO_BAR) if bar else ""
            processes.add(name, ours * 1000, bare * 1000, ours / bare, bar, met)
    inside = measure.Table(
        "open: an existing database within a process, everything imported",
        ("statistic", "ms", "bare sqlite3 ms", "bar", "verdict"),
        note="lionstudio.open and close, against sqlite3.connect, our PRAGMAs and one read of schema_meta",
    )
    with measure.fresh_folder() as folder:
        db = folder / "state.db"
        measure.run_worker("bench_open", "create", db, folder=folder)
        beside = measure.run_worker("bench_open", "bare", db, times * 4, folder=folder)
    for name, pick in (("first", _first), ("median", measure.median)):
        ours, theirs = pick(opened), pick(beside)
        inside.add(name, ours * 1000, theirs * 1000, f"<= {OPEN_BAR_MS:.0f} ms", measure.verdict(ours * 1000 <= 5))
    return [processes, inside]


def _first(values: list[float]) -> float:
    return values[0]


def _measure(code: str, folder: Path) -> float:
    began = time.perf_counter()
    environment = measure.worker_environment(folder)
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=folder, check=True)
    return time.perf_counter() - began


def _work(what: str, db: str, times: int) -> Any:
    if what == "bare":
        return [_open_bare(db) for _ in range(times)]
    import lionstudio
    from lionstudio.store import sqlite as _loaded  # noqa: F401  so that the first open pays for no import

    if what == "create":
        with lionstudio.record("bench", db=db) as run:
            run.user("hello")
        return None
    return [_open(lionstudio.open, db) for _ in range(times)]


def _open(open: Any, db: str) -> float:
    began = time.perf_counter()
    open(db).close()
    return time.perf_counter() - began


def _open_bare(db: str) -> float:
    import sqlite3

    from benchmarks.bare import PRAGMAS

    began = time.perf_counter()
    connection = sqlite3.connect(db)
    for pragma in PRAGMAS:
        connection.execute(pragma).fetchall()
    connection.execute("SELECT key, value FROM schema_meta").fetchall()
    connection.close()
    return time.perf_counter() - began


if __name__ == "__main__":
    print(json.dumps(_work(sys.argv[1], sys.argv[2], int([*sys.argv, "0"][3]))))
