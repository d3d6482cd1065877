"""The commands `li` and `lionstudio`."""

import sys

from lionstudio.version import __version__

HELP = f"""\
lionstudio {__version__}: the flight recorder for people who run many AI agents.

The command line is being built. What works today is recording from Python:

    import lionstudio
    with lionstudio.record("triage", agent="architect") as run:
        run.user("Find the failing test")

Options:
    --version   say the version and stop
    --help      say this and stop"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; its exit code."""
    match sys.argv[1:] if arguments is None else arguments:
        case ["--version"]:
            print(f"lionstudio {__version__}")
        case [] | ["--help" | "-h"]:
            print(HELP)
        case [first, *_]:
            print(f"li: there is no command {first!r} yet. Type: li --help", file=sys.stderr)
            return 2
    return 0
