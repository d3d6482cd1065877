"""What an import came to: what was new, and every file that could not be read, by name."""

from collections.abc import Mapping
from typing import NamedTuple

ADDED, UPDATED = "added", "brought up to date"  # how the names of such counts end


class Problem(NamedTuple):
    """Something that was left out, and why. The rest was brought in."""

    where: str  # a file, or a row of a database
    message: str


class ImportReport(NamedTuple):
    """The outcome of an import. Counts are in the words of a person: {"runs added": 3}."""

    counts: Mapping[str, int]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()  # what a person should know, and is no problem
