"""The list of runs: any filter at a million sessions against the same at ten thousand, and every pair of filters."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import list_data, measure

if TYPE_CHECKING:
    from lionstudio.domain.session_list import SessionFilter
    from lionstudio.services.context import Context

SMALL, BIG, QUICK_BIG = 10_000, 1_000_000, 100_000
RATIO_BAR, PAIR_BAR_MS = 1.5, 50.0
FAST_ENOUGH_MS = 1.0
CALLS, PAIR_CALLS = 20, 3
DEEP_PAGE = 50
WORST = 10

Case = tuple[str, dict[str, Any]]


def run(*, quick: bool) -> list[measure.Table]:
    big = QUICK_BIG if quick else BIG
    with measure.fresh_folder() as folder:
        now = time.time()
        paths = {count: folder / f"{count}.db" for count in (SMALL, big)}
        for count, path in paths.items():
            built = measure.run_worker("list_data", path, count, now, folder=folder)
            print(f"  built {count:,} sessions in {built['seconds']:.0f} s, {built['bytes'] / 1e6:,.0f} MB", flush=True)
        singles = measure.run_worker("bench_list", "singles", now, paths[SMALL], paths[big], folder=folder)
        pairs = measure.run_worker("bench_list", "pairs", now, paths[big], folder=folder)
    return [_singles(singles, big), _pairs(pairs, big)]


def _singles(found: dict[str, Any], big: int) -> measure.Table:
    table = measure.Table(
        f"list: 100 newest of {SMALL:,} and of {big:,} sessions, median of {CALLS} calls that take turns",
        ("filter", f"ms at {big:,}", f"ms at {SMALL:,}", "ratio", "rows", f"rows at {SMALL:,}", "bar", "verdict"),
        note=f"met if ratio <= {RATIO_BAR} or the large one is under {FAST_ENOUGH_MS} ms; rows: how many were listed, "
        "a page that is not full at the small size is cheaper there for that reason alone",
    )
    for name, ((fast, few), (slow, many)) in found.items():
        met = slow / fast <= RATIO_BAR or slow < FAST_ENOUGH_MS
        table.add(name, slow, fast, slow / fast, many, few, f"<= {RATIO_BAR}", measure.verdict(met))
    return table


def _pairs(found: list[tuple[str, float, int]], big: int) -> measure.Table:
    late = sum(1 for _, milliseconds, _ in found if milliseconds > PAIR_BAR_MS)
    table = measure.Table(
        f"list: the slowest {WORST} of {len(found)} pairs of filters at {big:,} sessions, best of {PAIR_CALLS} calls",
        ("filters", "ms", "rows", "bar", "verdict"),
        note=f"{late} of {len(found)} pairs are over {PAIR_BAR_MS:.0f} ms; the median pair takes "
        f"{measure.median([milliseconds for _, milliseconds, _ in found]):.2f} ms",
    )
    for name, milliseconds, rows in sorted(found, key=lambda one: -one[1])[:WORST]:
        met = measure.verdict(milliseconds <= PAIR_BAR_MS)
        table.add(name, milliseconds, rows, f"<= {PAIR_BAR_MS:.0f} ms", met)
    return table


def filters(now: float, some_id: str) -> Iterator[Case]:
    """Each filter with each of its values, or with a few of them where they are anyone's."""
    from lionstudio.domain.health import Health
    from lionstudio.domain.session import InvocationKind, SessionStatus, SourceKind
    from lionstudio.domain.session_list import View

    for name, words in (("status", SessionStatus), ("kind", InvocationKind), ("source", SourceKind),
                        ("health", Health), ("view", View)):  # fmt: skip
        for word in words:
            yield f"{name}={word.value}", {name: word}
    yield "agent", {"agent": list_data.AGENTS[3]}
    yield "playbook", {"playbook": list_data.PLAYBOOKS[3]}
    yield "show", {"show": list_data.SHOWS[3]}
    yield "since 30 days", {"since": now - 30 * list_data.DAY}
    yield "since 1 day", {"since": now - list_data.DAY}
    yield "search common word", {"search": list_data.COMMON}
    yield "search rare word", {"search": list_data.RARE}
    yield "search 3 letters", {"search": list_data.WORDS[40][:3]}
    yield "search 1 letter", {"search": "a"}
    yield "search two words", {"search": f"{list_data.WORDS[2]} {list_data.WORDS[7]}"}
    yield "search id prefix", {"search": some_id[:13]}


def _open(path: Path, now: float) -> "Context":
    from lionstudio.services.context import Context
    from lionstudio.store.open import open_database

    return Context(open_database(str(path)), now=lambda: now)


def _some_id(ctx: "Context") -> str:
    from lionstudio.domain.session_list import SessionFilter
    from lionstudio.services.session_list import list_sessions

    return list_sessions(ctx, SessionFilter(search=list_data.RARE), limit=1).items[0].id


def _measure_singles(now: float, small: str, large: str) -> dict[str, list[tuple[float, int]]]:
    """For each filter, what it takes in the small and in the large database."""
    from lionstudio.domain.session_list import SessionFilter, Sort

    contexts = [_open(Path(path), now) for path in (small, large)]
    ids = [_some_id(ctx) for ctx in contexts]
    assert ids[0][:13] == ids[1][:13], "the rare sessions are the same at every size"
    found = {}
    for name, wanted in (("no filter", {}), *filters(now, ids[0])):
        found[name] = _time(contexts, SessionFilter(**wanted))
    for sort in (Sort.CREATED, Sort.ENDED):
        found[f"sort {sort.value}"] = _time(contexts, SessionFilter(), sort=sort)
    cursors = [_turn_pages(ctx, DEEP_PAGE - 1) for ctx in contexts]
    found[f"page {DEEP_PAGE}"] = _time(contexts, SessionFilter(), cursors=cursors)
    return found


def _turn_pages(ctx: "Context", pages: int) -> str | None:
    from lionstudio.services.session_list import list_sessions

    cursor = None
    for _ in range(pages):
        cursor = list_sessions(ctx, cursor=cursor).next_cursor
    return cursor


def _measure_pairs(now: float, large: str) -> list[tuple[str, float, int]]:
    from lionstudio.domain.session_list import SessionFilter

    ctx = _open(Path(large), now)
    found = []
    for (first, one), (second, other) in combinations(filters(now, _some_id(ctx)), 2):
        if one.keys() != other.keys():
            best, rows = _time([ctx], SessionFilter(**one, **other), calls=PAIR_CALLS, pick=min)[0]
            found.append((f"{first} + {second}", best, rows))
    return found


def _time(
    contexts: list["Context"],
    wanted: "SessionFilter",
    *,
    cursors: Sequence[str | None] = (None, None),
    calls: int = CALLS,
    pick: Any = measure.median,
    **how: Any,
) -> list[tuple[float, int]]:
    """Milliseconds of one list in each database, after a call to warm up, and how many rows it had."""
    from lionstudio.services.session_list import list_sessions

    sides = list(zip(contexts, cursors, strict=False))
    rows = [len(list_sessions(ctx, wanted, cursor=cursor, **how).items) for ctx, cursor in sides]
    taken: list[list[float]] = [[] for _ in sides]
    for _ in range(calls):
        for (ctx, cursor), times in zip(sides, taken, strict=True):
            began = time.perf_counter()
            list_sessions(ctx, wanted, cursor=cursor, **how)
            times.append((time.perf_counter() - began) * 1000)
    return [(pick(times), count) for times, count in zip(taken, rows, strict=True)]


if __name__ == "__main__":
    work: dict[str, Any] = {"singles": _measure_singles, "pairs": _measure_pairs}
    print(json.dumps(work[sys.argv[1]](float(sys.argv[2]), *sys.argv[3:])))
