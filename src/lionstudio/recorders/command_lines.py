"""Commands as one would type them, to be kept with a run: not endless, and our own without a password."""

import sys
from collections.abc import Sequence

LONGEST = 1_000  # characters
HARMLESS = frozenset("%+,-./:=@_")  # in a word that a shell takes as it is


def shell_line(argv: Sequence[str]) -> str:
    """A command as one would type it."""
    return " ".join(map(_quoted, argv))


def own_command() -> str | None:
    """What our process was started with, as it may be kept and shown."""
    return kept(shell_line([_without_password(word) for word in sys.argv]))


def kept(command: str) -> str | None:
    """As much of a command as is kept."""
    return command[:LONGEST] or None


def _quoted(word: str) -> str:  # as `shlex` does it, which takes longer to load than the command may take
    if word and all(letter in HARMLESS or (letter.isascii() and letter.isalnum()) for letter in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _without_password(word: str) -> str:
    if "://" not in word:
        return word
    from lionstudio.domain.addresses import without_password

    name, equals, address = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{name}{equals}{without_password(address)}"
