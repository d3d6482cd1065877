"""When a database should be looked after: rules that say yes or no with the numbers behind it (R176)."""

from typing import NamedTuple

# A vacuum writes the whole file anew. It is worth that when much of it, and not just little, is given back.
FREE_SHARE, FREE_BYTES = 0.25, 64_000_000
LOG_BYTES = 64_000_000  # a log that is moved every 1,000 pages never gets there unless something is in the way
# A server vacuums by itself from a fifth of dead rows on. Half says that it does not get to it.
DEAD_SHARE, DEAD_ROWS = 0.5, 100_000


class Advice(NamedTuple):
    """Whether to do something, and why."""

    recommended: bool
    sentence: str


def advise_checkpoint(*, log_size: int) -> Advice:
    """Whether the log of an SQLite file should be moved by hand: it has grown far beyond what it is kept at."""
    waiting = f"{_megabytes(log_size)} are in the log"
    if log_size >= LOG_BYTES:
        return Advice(True, f"{waiting}; a reader or a large write kept them there.")
    return Advice(False, f"{waiting}; it is moved by itself every few megabytes.")


def advise_vacuum_of_file(*, size: int, free_size: int) -> Advice:
    """Whether an SQLite file should be written anew: a quarter of it is unused, and that is at least 64 MB."""
    share = free_size / size if size else 0.0
    unused = f"{_megabytes(free_size)} of {_megabytes(size)} are unused ({share:.0%})"
    if share >= FREE_SHARE and free_size >= FREE_BYTES:
        return Advice(True, f"{unused}; a vacuum gives them back to the disk.")
    limits = f"{FREE_SHARE:.0%} and {_megabytes(FREE_BYTES)}"
    return Advice(False, f"{unused}; a vacuum is worth it from {limits} on.")


def advise_vacuum_on_server(*, live_rows: int, dead_rows: int) -> Advice:
    """Whether a server that vacuums by itself needs help: half of all rows are dead, and at least 100,000."""
    total = live_rows + dead_rows
    share = dead_rows / total if total else 0.0
    dead = f"About {dead_rows:,} of {total:,} rows are dead ({share:.0%})"
    if share >= DEAD_SHARE and dead_rows >= DEAD_ROWS:
        return Advice(True, f"{dead}; the server's own vacuum does not keep up.")
    return Advice(False, f"{dead}; the server vacuums by itself.")


def estimate_export(*, size: int, log_size: int | None, free_size: int | None) -> int:
    """About how many bytes a copy of everything takes: all that is there, without what is unused."""
    return max(0, size + (log_size or 0) - (free_size or 0))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
