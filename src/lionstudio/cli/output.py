"""What a command prints: data on stdout, talk on stderr; coloured tables for people, plain lines for programs."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TextIO

from lionstudio.domain.printable import many_lines, one_line

ELLIPSIS = "…"
GAP = 2  # places between two columns
NARROWEST = 8  # places that a column keeps when there is no room
WIDEST_IN_A_PIPE = 60  # places that one long text gives its whole column; it is longer than that itself, and not cut
READABLE = 30  # places of a column that may be cut, before others are left out for it
STYLES = {
    "danger": "31",
    "warning": "33",
    "info": "36",
    "success": "32",
    "neutral": "",
    "person": "35",
    "muted": "2",
    "strong": "1",
}
PROGRESS_EVERY = 0.1  # seconds


class Column(NamedTuple):
    """One column of a table. `grows` says that it may be cut to fit the terminal, below `readable` only at last.

    Where there is no room even so, columns are left out: those in which nothing stands, then the one with the highest
    `leaves`, those with 0 never.
    """

    title: str
    right: bool = False
    grows: bool = False
    leaves: int = 0
    readable: int = READABLE


class Cell(NamedTuple):
    """A text with a tone. Plain text is a cell too."""

    text: str
    style: str = "neutral"


class Console:
    """Where one command prints."""

    def __init__(
        self,
        *,
        as_json: bool = False,
        db: str | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        """`db` is the database that was named in the command, if one was; its hints name it too."""
        self._db = db
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr
        self.as_json = as_json
        self.is_planning = False  # what is printed will be done only if it is read and meant
        self.is_terminal = self._stdout.isatty()
        self._asked_on = self._stderr if self._stderr.isatty() else self._stdout
        self.can_ask = self._asked_on.isatty() and sys.stdin is not None and sys.stdin.isatty()
        self._shows_progress = self._stderr.isatty()
        self._colours = self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def say(self, sentence: str) -> None:
        """Talk to a person."""
        print(one_line(self.hint(sentence)), file=self._stderr)

    def hint(self, sentence: str) -> str:
        """What to type next, for the database of this command; what is said needs no such help."""
        if self._db is None:
            return sentence
        from lionstudio.cli.hints import name_database

        return name_database(sentence, self._db)

    @property
    def is_watched(self) -> bool:
        """Whether a person sees what is said, as it is said."""
        return self._shows_progress

    def say_live(self, line: str) -> None:
        """Tell a person at a terminal what goes on just now; a log and a pipe are not told."""
        if self._shows_progress:
            print(cut(one_line(line), terminal_width(self._stderr)), file=self._stderr, flush=True)

    def say_data(self, text: str) -> None:
        """Print an answer."""
        print(_encodable(text, self._stdout), file=self._stdout)

    def say_answer(self, text: str) -> None:
        """Print what an agent wrote: to a program or a file as it is, to a terminal so that it steers nothing."""
        self.say_data(many_lines(text) if self.is_terminal else text)

    def json(self, value: Mapping[str, Any]) -> None:
        """Print an answer for programs: one object, one line."""
        from lionstudio.domain.json_text import to_json

        print(to_json(value, what="answer"), file=self._stdout)

    def paint(self, text: str, style: str) -> str:
        code = STYLES[style]
        return f"\x1b[{code}m{text}\x1b[0m" if code and self._colours else text

    def table(self, columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]]) -> None:
        """Rows under titles, fitted to the terminal; in a pipe nothing is cut."""
        cells = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
        cells = [[Cell(one_line(cell.text), cell.style) for cell in row] for row in cells]
        widths = [
            max(width_of(column.title), *(width_of(row[number].text) for row in cells), 0)
            for number, column in enumerate(columns)
        ]
        if self.is_terminal:
            available = terminal_width(self._stdout)
            shown = list(range(len(columns)))
            if sum(widths) + GAP * (len(widths) - 1) > available:
                said = [number for number in shown if any(row[number].text for row in cells)]
                shown = _places(columns, widths, said or shown, available)
            columns, widths = [columns[number] for number in shown], [widths[number] for number in shown]
            cells = [[row[number] for number in shown] for row in cells]
            widths = _fitted(columns, widths, available)
        else:
            widths = [min(width, WIDEST_IN_A_PIPE) for width in widths]
        self._line(columns, widths, [Cell(column.title, "muted") for column in columns])
        for row in cells:
            self._line(columns, widths, row)

    def facts(self, pairs: Iterable[tuple[str, str | Cell]]) -> None:
        """Names and values, one a line."""
        known = [(name, value if isinstance(value, Cell) else Cell(value)) for name, value in pairs]
        width = max((len(name) for name, _ in known), default=0)
        for name, value in known:
            self.say_data(f"{self.paint(name.ljust(width), 'muted')}  {self.paint(one_line(value.text), value.style)}")

    def confirm(self, question: str, *, yes: bool, declined: str = "Nothing was changed.") -> bool:
        """Whether to go on: asked on a terminal; in a pipe, and with --yes, what was typed is what is meant.

        Who says no is told so; the command then ends with exit code 1.
        """
        if not yes and self.can_ask:
            print(f"{one_line(question)} [y/N] ", end="", file=self._asked_on, flush=True)
        if yes or not self.can_ask or sys.stdin.readline().strip().casefold() in ("y", "yes"):
            self.is_planning = False
            return True
        self.say(declined)
        return False

    def say_dry_run(self) -> None:
        """End what only showed what would be done."""
        self.say("Nothing was changed. Without --dry-run this would be done.")

    @contextmanager
    def progress(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Show how far long work has come, on a terminal; call what is given with the number that is done."""
        shown = 0.0

        def step(done: int) -> None:
            nonlocal shown
            if not self._shows_progress or time.monotonic() - shown < PROGRESS_EVERY:
                return
            shown = time.monotonic()
            of = f" of {total:,}" if total is not None else ""
            print(f"\r\x1b[K{what}: {done:,}{of}", end="", file=self._stderr, flush=True)

        try:
            yield step
        finally:
            if shown:
                print("\r\x1b[K", end="", file=self._stderr, flush=True)

    def _line(self, columns: Sequence[Column], widths: Sequence[int], cells: Sequence[Cell]) -> None:
        parts = []
        for column, width, cell in zip(columns, widths, cells, strict=True):
            text = cut(cell.text, width) if self.is_terminal else cell.text
            room = " " * (width - width_of(text))
            painted = self.paint(text, cell.style)
            parts.append(room + painted if column.right else painted + room)
        self.say_data((" " * GAP).join(parts).rstrip())


def terminal_width(stream: TextIO) -> int:
    """How many places a line has; 80 where there is no terminal."""
    try:
        return max(40, int(os.environ.get("COLUMNS") or os.get_terminal_size(stream.fileno()).columns))
    except (OSError, ValueError):
        return 80


def width_of(text: str) -> int:
    """How many places of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def cut(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis."""
    if width_of(text) <= width:
        return text
    kept = ""
    for letter in text:
        if width_of(kept + letter) >= width:
            break
        kept += letter
    return kept + ELLIPSIS


def _places(columns: Sequence[Column], widths: Sequence[int], shown: list[int], available: int) -> list[int]:
    """Those of the columns that the terminal has room for, by their numbers, with enough of each to be read."""
    while True:
        needed = [
            min(widths[number], columns[number].readable) if columns[number].grows else widths[number]
            for number in shown
        ]
        going = max(shown, key=lambda number: columns[number].leaves)
        if sum(needed) + GAP * (len(shown) - 1) <= available or not columns[going].leaves:
            return shown
        shown.remove(going)


def _fitted(columns: Sequence[Column], widths: Sequence[int], available: int) -> list[int]:
    """Widths that the terminal has room for: the widest of those that may be cut gives way, place by place.

    First those give way that can still be read then.
    """
    fitted = list(widths)
    over = sum(fitted) + GAP * (len(fitted) - 1) - available
    for least in ([column.readable for column in columns], [NARROWEST] * len(columns)):
        while over > 0:
            giving = [
                number for number, column in enumerate(columns) if column.grows and fitted[number] > least[number]
            ]
            if not giving:
                break
            fitted[max(giving, key=fitted.__getitem__)] -= 1
            over -= 1
    return fitted


def _encodable(text: str, stream: TextIO) -> str:
    """The text as far as the terminal's encoding can show it."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
