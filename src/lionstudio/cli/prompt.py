"""What an agent is asked: typed, in a file, or piped in."""

import os
import sys
from collections.abc import Sequence

from lionstudio.cli.command import WrongUsage
from lionstudio.domain.errors import InvalidContent, NotFound
from lionstudio.services.confined_files import why_not

STDIN = "-"
LARGEST = 16 * 1024 * 1024  # bytes


def read_prompt(words: Sequence[str], file: str | None, *, wanted: bool = True) -> str | None:
    """The prompt: the words, `-` for standard input, or a file; None if there is none.

    Where one is wanted and nothing says which, a pipe is read. Raises WrongUsage, NotFound and InvalidContent.
    """
    if words and file is not None:
        raise WrongUsage("There are two prompts: one is typed, and one is in a file.", hint="Leave out one of them.")
    if file is not None and file != STDIN:
        return _read_file(file)
    if file == STDIN or list(words) == [STDIN] or (wanted and not words and _is_piped()):
        return _checked(sys.stdin.buffer.read(LARGEST + 1), "Standard input")
    return " ".join(words).strip() or None


def _is_piped() -> bool:
    return sys.stdin is not None and not sys.stdin.isatty()


def _read_file(path: str) -> str:
    try:
        with open(os.path.expanduser(path), "rb") as file:
            return _checked(file.read(LARGEST + 1), path)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"There is no file {path}.", hint="Name the file that the prompt is in.") from None
    except OSError as error:
        raise InvalidContent(f"{path}: {why_not(error)}") from None


def _checked(read: bytes, where: str) -> str:
    if len(read) > LARGEST:
        raise InvalidContent(f"{where} holds more than {LARGEST // 1024 // 1024} MB, which no model reads.")
    text = read.decode("utf-8-sig", errors="replace").strip()
    if not text:
        raise InvalidContent(f"{where} holds no prompt: it is empty.")
    return text
