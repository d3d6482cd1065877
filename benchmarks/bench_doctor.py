"""The doctor over many running sessions: how long a round takes, how soon a death is seen, and what watching costs."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.bench_feed import _postgres

SESSIONS, QUICK_SESSIONS = 10_000, 2_000
LIVING_PART, DEAD_PART = 10, 2  # every tenth has a living process here, every second a dead one; the rest is elsewhere
DEATHS, QUICK_DEATHS = 30, 5
IDLE_SECONDS, QUICK_IDLE_SECONDS = 20, 5
NEVER = 3600.0  # seconds between rounds while deaths and idleness are measured
ROUND_BAR, DEATH_BAR_MS, IDLE_BAR_PERCENT = 2.0, 2000.0, 0.5


def run(*, quick: bool) -> list[measure.Table]:
    sessions = QUICK_SESSIONS if quick else SESSIONS
    table = measure.Table(
        f"doctor: {sessions:,} running sessions, {sessions // LIVING_PART:,} with a living process of this machine",
        ("database", "what", "measured", "bar", "verdict"),
        note="first round: every verdict is new, half of them are events. Death: from the kill to the event, as a "
        "reader of the feed sees it; told by the kernel, or found by looking once a second. Idle: the whole doctor "
        "with all living processes watched",
    )
    with measure.fresh_folder() as folder:
        _add(table, "SQLite", _measure(str(folder / "state.db"), folder, quick=quick))
    with measure.fresh_folder() as folder, _postgres(folder) as url:
        _add(table, "PostgreSQL", _measure(url, folder, quick=quick))
    return [table]


def _measure(db: str, folder: Path, *, quick: bool) -> dict[str, Any]:
    measure.run_worker("bench_open", "create", db, folder=folder)
    found: dict[str, Any] = measure.run_worker("bench_doctor", db, int(quick), folder=folder)
    return found


def _add(table: measure.Table, name: str, found: dict[str, Any]) -> None:
    for what, seconds in found["rounds"].items():
        table.add(name, f"{what}, s", seconds, f"<= {ROUND_BAR}", measure.verdict(seconds <= ROUND_BAR))
    for how, deaths in found["deaths"].items():
        table.add(name, f"death {how}, p50 ms", measure.median(deaths), "", "")
        met = measure.verdict(max(deaths) <= DEATH_BAR_MS)
        table.add(name, f"death {how}, max ms", max(deaths), f"<= {DEATH_BAR_MS:.0f}", met)
    for how, percent in found["idle"].items():
        met = measure.verdict(percent <= IDLE_BAR_PERCENT) if how == "told" else ""
        bar = f"<= {IDLE_BAR_PERCENT}" if how == "told" else ""
        table.add(name, f"idle CPU, deaths {how}, % of a core", percent, bar, met)


def _work(db: str, quick: bool) -> dict[str, Any]:
    from lionstudio.doctor.scan import scan
    from lionstudio.services.context import open_context
    from lionstudio.settings import load_settings

    ctx = open_context(load_settings(db=db))
    count = QUICK_SESSIONS if quick else SESSIONS
    with _living(count // LIVING_PART) as processes:
        _build(ctx, count, processes)
        rounds = {}
        for what in ("first round", "next round"):
            began = time.perf_counter()
            assert len(scan(ctx).examined) == count
            rounds[what] = time.perf_counter() - began
        deaths, idle = {}, {}
        for how, most in (("told", None), ("looked for", 0)):
            victims = [processes.pop() for _ in range(QUICK_DEATHS if quick else DEATHS)]
            deaths[how], idle[how] = _watch(ctx, victims, most, QUICK_IDLE_SECONDS if quick else IDLE_SECONDS)
    return {"rounds": rounds, "deaths": deaths, "idle": idle}


@contextmanager
def _living(count: int) -> Iterator[list["subprocess.Popen[bytes]"]]:
    started = [subprocess.Popen(["sleep", "3600"]) for _ in range(count)]
    try:
        yield list(started)
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()


def _build(ctx: Any, count: int, processes: "list[subprocess.Popen[bytes]]") -> None:
    from lionstudio import machine
    from lionstudio.domain.conversation import INSTRUCTION_CLASS, MessageDraft
    from lionstudio.domain.process import ProcessRecord, ProcessRole
    from lionstudio.services.context import new_line
    from lionstudio.services.messages import append_message
    from lionstudio.services.sessions import SessionDraft, start_session

    here = machine.here()
    with _living(1) as [gone]:
        seen = machine.look_at(gone.pid)
    assert seen is not None
    rest = iter(processes)
    for number in range(count):
        line, place, process = new_line(), here, seen
        if number % LIVING_PART == 1:
            living = machine.look_at(next(rest).pid)
            assert living is not None
            process = living
        elif number % DEAD_PART:
            place = here._replace(host="elsewhere")
        record = ProcessRecord(line.session_id, ProcessRole.AGENT, place, process.pid, process.start_time)
        start_session(ctx, SessionDraft(line, name=f"run {number}", agent="bench", kind="agent"), record)
        append_message(ctx, line, MessageDraft("user", {"instruction": "go"}, INSTRUCTION_CLASS))


def _watch(
    ctx: Any, victims: "list[subprocess.Popen[bytes]]", most_notices: int | None, idle_seconds: int
) -> tuple[list[float], float]:
    """Milliseconds from each death to its event, and percent of a core while nothing happens."""
    from lionstudio.doctor.loop import Doctor
    from lionstudio.domain.change import Topic
    from lionstudio.services.change_feed import ChangeFeed, newest_number

    doctor = Doctor(ctx, every=NEVER, most_notices=most_notices)
    doctor.start()
    while doctor.report().last_round is None or doctor.report().watched_processes < len(victims):
        time.sleep(0.05)
    time.sleep(5)  # what the start looked at is no idleness and no news
    found = []
    for victim in victims:
        with ChangeFeed(ctx) as feed:
            after, began = newest_number(ctx), time.monotonic()
            victim.kill()
            assert any(change.topic is Topic.SESSION for change in feed.follow(after, idle=15))
            found.append((time.monotonic() - began) * 1000)
    began, cpu = time.perf_counter(), time.process_time()
    time.sleep(idle_seconds)
    percent = (time.process_time() - cpu) / (time.perf_counter() - began) * 100
    assert doctor.stop()
    return found, percent


if __name__ == "__main__":
    print(json.dumps(_work(sys.argv[1], bool(int(sys.argv[2])))))
