"""The parser of one command, with its help and its complaints."""

import argparse
import sys
from typing import NoReturn

from lionstudio.cli.command import Command, WrongUsage
from lionstudio.cli.output import terminal_width

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
