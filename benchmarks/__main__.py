"""python -m benchmarks [name ...] [--quick] [--json FILE]"""

import argparse
import json
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import measure

NAMES = (
    "append", "import", "list", "dashboard", "feed", "open", "writers", "prune", "doctor", "cli", "record", "http",
    "browser",
)  # fmt: skip
DEFAULT_RESULTS = Path(__file__).parent / "results" / "latest.json"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Both sides of every ratio, in one run.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which to run: {', '.join(NAMES)} (all by default)")
    parser.add_argument("--quick", action="store_true", help="smaller and fewer, to see whether something is far off")
    parser.add_argument("--json", type=Path, default=DEFAULT_RESULTS, metavar="FILE", help="where the numbers go")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")

    machine = measure.machine()
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    results: dict[str, Any] = {"machine": machine, "quick": chosen.quick, "benchmarks": {}}
    crashed = False
    for name in chosen.names or NAMES:
        began, load = time.perf_counter(), measure.load()
        try:
            tables: list[measure.Table] = import_module(f"benchmarks.bench_{name}").run(quick=chosen.quick)
        except Exception:  # noqa: BLE001  one that crashes must not hide the numbers of the others
            traceback.print_exc()
            crashed = True
            continue
        for table in tables:
            table.print()
        seconds = time.perf_counter() - began
        print(f"  [{name}: {seconds:.0f} s, load before {load}, after {measure.load()}]", flush=True)
        results["benchmarks"][name] = {"load": load, "seconds": seconds, "tables": [t.as_json() for t in tables]}
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    chosen.json.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\n{summary(results)}\nwritten to {chosen.json}")
    return 1 if crashed else 0


def summary(results: dict[str, Any]) -> str:
    marks = [
        value
        for benchmark in results["benchmarks"].values()
        for table in benchmark["tables"]
        for row in table["rows"]
        for value in row.values()
    ]
    return f"{marks.count(measure.MET)} bars met, {marks.count(measure.MISSED)} missed"


if __name__ == "__main__":
    sys.exit(main())
