"""Fresh folders, workers in processes of their own, fair statistics, tables and JSON."""

import atexit
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MET, MISSED = "met", "missed"
BYTECODE = tempfile.mkdtemp(prefix="lionstudio-bench-bytecode-")
atexit.register(shutil.rmtree, BYTECODE, ignore_errors=True)


@dataclass
class Table:
    """One table of a benchmark: every row has both sides of its ratio, the bar, and whether it was met."""

    title: str
    columns: Sequence[str]
    note: str = ""
    rows: list[Sequence[Any]] = field(default_factory=list)

    def add(self, *row: Any) -> None:
        self.rows.append(row)

    def print(self) -> None:
        cells = [[show(value) for value in row] for row in [self.columns, *self.rows]]
        widths = [max(len(row[number]) for row in cells) for number in range(len(self.columns))]
        print(f"\n{self.title}")
        for row, values in zip(cells, [self.columns, *self.rows], strict=True):
            line = "  ".join(_align(*cell) for cell in zip(row, widths, values, strict=True))
            print(f"  {line.rstrip()}")
        if self.note:
            print(f"  ({self.note})")

    def as_json(self) -> dict[str, Any]:
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "note": self.note, "rows": rows}


def show(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _align(cell: str, width: int, value: Any) -> str:
    return cell.rjust(width) if isinstance(value, int | float) else cell.ljust(width)


def verdict(is_met: bool) -> str:
    return MET if is_met else MISSED


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that `percent` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


@contextmanager
def fresh_folder() -> Iterator[Path]:
    """An empty folder on one and the same disk, gone afterwards. TMPDIR chooses the disk."""
    folder = Path(tempfile.mkdtemp(prefix="lionstudio-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def worker_environment(folder: Path) -> dict[str, str]:
    """An environment in which nothing of this user's own runs is seen or changed."""
    dropped = ("LIONAGI_", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    path = os.pathsep.join(filter(None, (kept.get("PYTHONPATH"), str(ROOT))))
    # Compiled files as an installed package has them, without leaving any in the source tree.
    return {**kept, "LIONAGI_HOME": str(folder / "home"), "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": BYTECODE}


def start_worker(module: str, *arguments: object, folder: Path) -> "subprocess.Popen[str]":
    """Begin `python -m benchmarks.<module> …`; it prints one line of JSON at its end."""
    return subprocess.Popen(
        [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)],
        env=worker_environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finish_worker(process: "subprocess.Popen[str]") -> Any:
    """What a worker printed; raises if it failed."""
    output, _ = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
    return json.loads(output.splitlines()[-1])


def run_worker(module: str, *arguments: object, folder: Path) -> Any:
    return finish_worker(start_worker(module, *arguments, folder=folder))


def alternate(sides: Mapping[str, Callable[[], Any]], *, times: int) -> dict[str, list[Any]]:
    """Measure each side in turn, again and again, so that other load on the machine falls on all of them alike."""
    found: dict[str, list[Any]] = {name: [] for name in sides}
    for turn in range(times):
        for name in sorted(sides, reverse=turn % 2 == 1):
            found[name].append(sides[name]())
    return found


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    import platform

    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": load(),
    }


def load() -> str:
    """The load average of the last 1, 5 and 15 minutes: above zero before a run means that others were at work."""
    return " ".join(f"{value:.2f}" for value in os.getloadavg())
