"""Appending one message, durable when the call returns: the public SDK against a bare `sqlite3` loop."""

import json
import sys
import time
from functools import partial
from typing import Any

from benchmarks import measure
from benchmarks.sample import TENTHS, message_text

RATE_BAR, GROWTH_BAR = 0.80, 1.2
SIZES = {1_000: 9, 10_000: 5, 100_000: 3}  # messages: repetitions
QUICK_SIZES = {1_000: 5, 10_000: 3}


def run(*, quick: bool) -> list[measure.Table]:
    rates = measure.Table(
        "append: messages a second, each call durable (synchronous NORMAL)",
        ("messages", "statistic", "ours /s", "bare /s", "ratio", "bar", "verdict", "CPU ratio"),
        note="one process each, taking turns; CPU ratio = CPU seconds of bare / of ours: other load disturbs it less",
    )
    growth = measure.Table(
        "append: growth, time of the last tenth / time of the first tenth (median of the repetitions)",
        (
            "messages",
            "ours µs first",
            "ours µs last",
            "ours",
            "bare µs first",
            "bare µs last",
            "bare",
            "bar",
            "verdict",
        ),
        note="µs a message; the growth is the median of the repetitions' growths, not the quotient of these medians",
    )
    for count, times in (QUICK_SIZES if quick else SIZES).items():
        found = measure.alternate({side: partial(_measure, side, count) for side in ("ours", "bare")}, times=times)
        _add_rates(rates, count, found["ours"], found["bare"])
        ours, bare = (_growth(count, found[side]) for side in ("ours", "bare"))
        growth.add(count, *ours, *bare, f"<= {GROWTH_BAR}", measure.verdict(ours[2] <= GROWTH_BAR))
    return [rates, growth]


def _measure(side: str, count: int) -> Any:
    with measure.fresh_folder() as folder:
        if side == "bare":
            return measure.run_worker("bare", "append", count, folder=folder)
        return measure.run_worker("bench_append", count, folder=folder)


def _add_rates(table: measure.Table, count: int, ours: list[Any], bare: list[Any]) -> None:
    cpu = min(one["cpu"] for one in bare) / min(one["cpu"] for one in ours)
    for name, pick in (("best", max), ("median", measure.median)):
        mine, theirs = (pick([count / (one["marks"][-1] - one["marks"][0]) for one in side]) for side in (ours, bare))
        met = measure.verdict(mine / theirs >= RATE_BAR)
        table.add(count, f"{name} of {len(ours)}", mine, theirs, mine / theirs, f">= {RATE_BAR:.2f}", met, cpu)


def _growth(count: int, side: list[Any]) -> tuple[float, float, float]:
    """Microseconds a message in the first and in the last tenth, and how much the last takes of the first."""
    first = [one["marks"][1] - one["marks"][0] for one in side]
    last = [one["marks"][-1] - one["marks"][-2] for one in side]
    scale = 1e6 / (count / TENTHS)
    grown = measure.median([after / before for before, after in zip(first, last, strict=True)])
    return measure.median(first) * scale, measure.median(last) * scale, grown


def _work(count: int) -> dict[str, Any]:
    import lionstudio

    with lionstudio.record("bench", agent="bench") as run:
        marks = [time.perf_counter()]
        cpu = time.process_time()
        for number in range(1, count + 1):
            run.assistant(message_text(number))
            if number % (count // TENTHS) == 0:
                marks.append(time.perf_counter())
        cpu = time.process_time() - cpu
    return {"marks": marks, "cpu": cpu}


if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]))))
