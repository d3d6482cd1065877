"""What an import came to: what was new, and every file that could not be read, by name."""

from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.domain.lionagi_envelope import ORIGINAL
from lionstudio.domain.phrases import count_of
from lionstudio.domain.session import Session

ADDED, UPDATED = "added", "brought up to date"  # how the names of such counts end
FORGOTTEN = "forgotten"
NEWS = (f" {ADDED}", f" {UPDATED}", " changed", f" {FORGOTTEN}")

LONGEST_WORD = 40  # characters of a status that is not known
MOST_WORDS = 10


class Problem(NamedTuple):
    """Something that was left out, and why. The rest was brought in."""

    where: str  # a file, or a row of a database
    message: str


class ImportReport(NamedTuple):
    """The outcome of an import. Counts are in the words of a person: {"runs added": 3}."""

    counts: Mapping[str, int]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()  # what a person should know, and is no problem

    @property
    def has_news(self) -> bool:
        """Whether anything came in, or would."""
        return any(count and name.endswith(NEWS) for name, count in self.counts.items())


class StrangeStatuses:
    """Counts runs that became legacy because their source says a status that is no word of ours."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, session: Session) -> None:
        """Look at a run that comes in."""
        word = ((session.node_metadata or {}).get(ORIGINAL) or {}).get("status")
        if session.status is None and word:
            name = str(word)[:LONGEST_WORD]
            self._counts[name] = self._counts.get(name, 0) + 1

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about them, if there were any."""
        if not self._counts:
            return ()
        what = count_of(sum(self._counts.values()), "run has a status", "runs have a status")
        words = ", ".join(f"{word} ({count:,})" for word, count in sorted(self._counts.items())[:MOST_WORDS])
        return (f"{what} that is not known here, and no status instead (legacy): {words}.",)
