"""`li record`: what it adds to a command that does nothing, and what passing much output through costs."""

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks import measure

ADDED_BAR, THROUGH_BAR = 5.0, 1.5
LI = str(Path(sys.executable).with_name("li"))  # as people start it
MEGABYTES = 100


def run(*, quick: bool) -> list[measure.Table]:
    with measure.fresh_folder() as folder:
        _run((LI, "record", "--", "true"), folder)  # so that everything is compiled and the database is there
        return [_start(folder, times=9 if quick else 40), _through(folder, times=5 if quick else 15)]


def _start(folder: Path, *, times: int) -> measure.Table:
    sides = {
        "bare": (sys.executable, "-c", "pass"),
        "true": ("true",),
        "li": (LI, "record", "--", "true"),
    }
    found = measure.alternate({name: partial(_run, words, folder) for name, words in sides.items()}, times=times)
    table = measure.Table(
        f"record: what `li record -- true` adds to `true`, {times} times, taking turns",
        ("", "li record ms", "true ms", "python -c pass ms", "added / bare", "bar", "verdict"),
        note="on a busy machine read the best",
    )
    for name, choose in (("best", min), ("median", measure.median)):
        ours, alone, bare = (choose(found[side]) for side in ("li", "true", "bare"))
        ratio = (ours - alone) / bare
        table.add(
            name,
            ours * 1000,
            alone * 1000,
            bare * 1000,
            ratio,
            f"<= {ADDED_BAR:.0f}",
            measure.verdict(ratio <= ADDED_BAR),
        )
    return table


def _through(folder: Path, *, times: int) -> measure.Table:
    text = folder / "text"
    line = b"0123456789" * 9 + b"\n"
    text.write_bytes(line * (MEGABYTES * 1_000_000 // len(line)))
    sides = {
        "bare": ("sh", "-c", f"cat {text} | cat"),
        "empty": (LI, "record", "--", "cat", os.devnull),
        "li": (LI, "record", "--", "cat", str(text)),
    }
    found = measure.alternate({name: partial(_run, words, folder) for name, words in sides.items()}, times=times)
    table = measure.Table(
        f"record: {MEGABYTES} MB of output through `li record -- cat FILE` against `cat FILE | cat`, {times} times",
        ("", "li record ms", "its start-up ms", "cat | cat ms", "through / bare", "bar", "verdict"),
        note="both into a pipe that somebody empties; start-up is the same with an empty file",
    )
    for name, choose in (("best", min), ("median", measure.median)):
        ours, start, bare = (choose(found[side]) for side in ("li", "empty", "bare"))
        ratio = (ours - start) / bare
        table.add(
            name,
            ours * 1000,
            start * 1000,
            bare * 1000,
            ratio,
            f"<= {THROUGH_BAR}",
            measure.verdict(ratio <= THROUGH_BAR),
        )
    return table


def _run(words: tuple[str, ...], folder: Path) -> float:
    environment = measure.worker_environment(folder) | {"LIONAGI_HOME": str(folder / "home")}
    began = time.perf_counter()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        while os.read(process.stdout.fileno(), 1024 * 1024):
            pass
    seconds = time.perf_counter() - began
    assert process.returncode == 0
    return seconds
