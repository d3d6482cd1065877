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
    table = measure.Table(
        f"record: what `li record -- true` adds to `true`, {times} times, taking turns",
        ("", "li record ms", "true ms", "python -c pass ms", "added / bare", "bar", "verdict"),
        note="on a busy machine read the best",
    )
    bare = (sys.executable, "-c", "pass")
    return _compared(table, folder, (LI, "record", "--", "true"), ("true",), bare, bar=ADDED_BAR, times=times)


def _through(folder: Path, *, times: int) -> measure.Table:
    text = folder / "text"
    line = b"0123456789" * 9 + b"\n"
    text.write_bytes(line * (MEGABYTES * 1_000_000 // len(line)))
    table = measure.Table(
        f"record: {MEGABYTES} MB of output through `li record -- cat FILE` against `cat FILE | cat`, {times} times",
        ("", "li record ms", "its start-up ms", "cat | cat ms", "through / bare", "bar", "verdict"),
        note="both into a pipe that somebody empties; start-up is the same with an empty file",
    )
    ours, empty = ((LI, "record", "--", "cat", file) for file in (str(text), os.devnull))
    return _compared(table, folder, ours, empty, ("sh", "-c", f"cat {text} | cat"), bar=THROUGH_BAR, times=times)


def _compared(table: measure.Table, folder: Path, *commands: tuple[str, ...], bar: float, times: int) -> measure.Table:
    """How much longer the first command takes than the second one, measured by the third one."""
    sides = dict(zip(("ours", "without", "bare"), commands, strict=True))
    found = measure.alternate({name: partial(_run, words, folder) for name, words in sides.items()}, times=times)
    for name, choose in (("best", min), ("median", measure.median)):
        ours, without, bare = (choose(found[side]) for side in sides)
        ratio = (ours - without) / bare
        row = (ours * 1000, without * 1000, bare * 1000, ratio)
        table.add(name, *row, f"<= {bar:g}", measure.verdict(ratio <= bar))
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
