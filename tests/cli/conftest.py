"""Commands, run as a person or a program would."""

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lionstudio.cli.main import main

DRY_RUN = "Nothing was changed. Without --dry-run this would be done.\n"  # how each of them ends


class Answer(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The answer of a command with --json."""
        return [json.loads(line) for line in self.out.splitlines()]


class Terminal(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        return True


class Keyboard(Terminal):
    """What a person types."""


Li = Callable[..., Answer]


def run_li(*words: str, terminal: bool = False) -> Answer:
    """Run one command in this process, in a pipe or on a terminal."""
    stream = Terminal if terminal else io.StringIO
    out, err = stream(), stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return Answer(code, out.getvalue(), err.getvalue())


@pytest.fixture
def li(location: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Li:
    """`li` pointed at a database, once for each engine; `ctx` is the same database."""
    monkeypatch.setenv("LIONAGI_DB", location)
    monkeypatch.setenv("COLUMNS", "120")
    return run_li
