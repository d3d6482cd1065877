"""What a command is: its words, its options, its help, and the database it was pointed at."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from lionstudio.cli.output import Console, terminal_width
from lionstudio.domain.errors import Invalid
from lionstudio.recorders.reading import open_to_read
from lionstudio.services.context import Context
from lionstudio.settings import Settings, load_settings


class WrongUsage(Invalid):
    """The command line cannot be understood."""

    code = "wrong_usage"


class Option(NamedTuple):
    """One argument or option, as argparse takes it. `words` names the values there are, for help and completion."""

    names: tuple[str, ...]
    settings: Mapping[str, Any]
    words: Callable[[], Iterable[str]] | None = None


class Command(NamedTuple):
    """One command. `target` is the function that runs it, as module.function of this room, loaded when it runs."""

    group: str
    name: str
    target: str
    summary: str
    options: tuple[Option, ...]
    details: str = ""

    @property
    def words(self) -> str:
        return f"li {self.group} {self.name}".rstrip()  # some commands are one word


class Call:
    """One command as it was typed: its arguments, where its answer goes, and the database, opened when it is used."""

    def __init__(self, args: argparse.Namespace, out: Console) -> None:
        self.args = args
        self.out = out
        self._opened: Context | None = None

    @cached_property
    def settings(self) -> Settings:
        return load_settings(db=self.args.db)

    @property
    def ctx(self) -> Context:
        """The database, which must be there; raises DatabaseGone."""
        return self._open(create=False)

    @property
    def ctx_made(self) -> Context:
        """The database, made if it is not there yet: for commands that bring something in."""
        return self._open(create=True)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.db.close()
            self._opened = None

    def _open(self, *, create: bool) -> Context:
        if self._opened is None:
            self._opened = open_to_read(self.settings, create=create)
        return self._opened


def run_command(command: Command, words: Sequence[str]) -> int:
    """Run a command with what was typed after it; its exit code. Raises WrongUsage."""
    args = build_parser(command).parse_args(words)
    module, _, function = command.target.partition(".")
    run: Callable[[Call], int | None] = getattr(import_module(f"lionstudio.cli.{module}"), function)
    call = Call(args, Console(as_json=getattr(args, "json", False)))
    try:
        return run(call) or 0
    finally:
        call.close()


# Its few words are not translated, and looking for a translation loads `locale` in every command.
argparse._ = str  # type: ignore[attr-defined]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUsage(f"{self.prog}: {message}.", hint=f"Type: {self.prog} --help")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        # Made for every option, asked for help or not; left to itself it loads `shutil` to find the width.
        super().__init__(prog, width=terminal_width(sys.stdout) - 2)


def build_parser(command: Command) -> argparse.ArgumentParser:
    """The parser of one command; only that of the command that runs is built."""
    parser = _Parser(
        prog=command.words,
        description=command.summary,
        epilog=command.details or None,
        allow_abbrev=False,
        formatter_class=_Formatter,
    )
    for option in command.options:
        settings = dict(option.settings)
        if option.words is not None:
            settings["help"] = f"{settings['help']} ({', '.join(option.words())})"
        parser.add_argument(*option.names, **settings)
    return parser


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A sentence that offers the nearest known words, or nothing."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(near)}?" if near else ""
