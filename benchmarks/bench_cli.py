"""Starting a command: `li --help`, `li state ls` and `li team send`, against a Python that does nothing."""

import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks import measure

RATIO_BAR = 5.0
BARE = "python -c pass"
LI = (str(Path(sys.executable).with_name("li")),)  # as people start it
COMMANDS = {
    BARE: (sys.executable, "-c", "pass"),
    "li --help": (*LI, "--help"),
    "li state ls": (*LI, "state", "ls"),
    "li team send": (*LI, "team", "send", "ops", "The parser is done.", "--from", "ana"),
}
SENT_BEFORE = 100  # messages that the team has already


def run(*, quick: bool) -> list[measure.Table]:
    times = 9 if quick else 40
    with measure.fresh_folder() as folder:
        _prepare(folder)
        for words in COMMANDS.values():
            _measure(words, folder)  # so that everything is compiled
        found = measure.alternate(
            {name: partial(_measure, words, folder) for name, words in COMMANDS.items()}, times=times
        )
    table = measure.Table(
        f"cli: a whole process, {times} times, taking turns",
        ("command", "best ms", "median ms", "bare best ms", "bare median ms", "best ratio", "ratio", "bar", "verdict"),
        note=f"a database with a run, a team with {SENT_BEFORE} messages; on a busy machine read the best",
    )
    bare = found[BARE]
    for name, seconds in found.items():
        if name == BARE:
            continue
        best, ratio = min(seconds) / min(bare), measure.median(seconds) / measure.median(bare)
        sides = (min(seconds), measure.median(seconds), min(bare), measure.median(bare))
        met = measure.verdict(ratio <= RATIO_BAR)
        table.add(name, *(side * 1000 for side in sides), best, ratio, f"<= {RATIO_BAR:.0f}", met)
    return [table]


def _prepare(folder: Path) -> None:
    """A home with a run and a team in it."""
    measure.run_worker("bench_open", "create", folder / "home" / "state.db", folder=folder)
    _measure((*LI, "team", "create", "ops", "ana", "bo"), folder)
    code = (
        "from lionstudio.cli.main import main\n"
        f"for n in range({SENT_BEFORE}): main(['team', 'send', 'ops', f'message {{n}}', '--from', 'ana'])"
    )
    _measure((sys.executable, "-c", code), folder)


def _measure(words: tuple[str, ...], folder: Path) -> float:
    environment = measure.worker_environment(folder)
    began = time.perf_counter()
    subprocess.run(words, env=environment, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - began
