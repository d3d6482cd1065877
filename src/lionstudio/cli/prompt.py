"""What an agent is asked: typed, in a file, or piped in."""

import os
import select
import sys
import time
from collections.abc import Sequence

from lionstudio.cli.command import WrongUsage
from lionstudio.domain.errors import InvalidContent, NotFound, Unavailable
from lionstudio.domain.printable import one_line
from lionstudio.recorders.stopping import check_timeout
from lionstudio.services.confined_files import why_not

STDIN = "-"
INPUT = "Standard input"
PATIENCE = 3.0  # seconds of silence, after which a person is told what is waited for
LARGEST = 16 * 1024 * 1024  # bytes


class TimeWasOver(Unavailable):
    """As a run ends whose time is over, though none has begun."""

    exit_code = 124


def read_prompt(
    words: Sequence[str], file: str | None, *, wanted: bool = True, within: float | None = None
) -> str | None:
    """The prompt: the words, `-` for standard input, or a file, with what is piped in behind it; None if there is none.

    Where one is wanted and none is typed, standard input is read whatever it is; it has to end `within` so many
    seconds. Raises WrongUsage, NotFound, InvalidContent and TimeWasOver.
    """
    check_timeout(within)
    if words and file is not None:
        raise WrongUsage("There are two prompts: one is typed, and one is in a file.", hint="Leave out one of them.")
    if file == STDIN or list(words) == [STDIN]:
        return _require(_read_input(within), INPUT)
    prompt = _require(_read_file(file), file) if file is not None else " ".join(words).strip()
    is_given = _is_given()
    piped = _read_input(within) if is_given or (wanted and not prompt and _is_piped()) else ""
    if prompt and piped:
        return f"{prompt}\n\n{piped}"
    if wanted and is_given and not prompt:
        return _require(piped, INPUT)
    return prompt or piped or None


def _is_piped() -> bool:
    return sys.stdin is not None and not sys.stdin.isatty()


def _is_given() -> bool:
    """Whether somebody has put something before us: a pipe or a file. Others may stay open and never say anything."""
    import stat

    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # there is none
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def _read_input(within: float | None) -> str:
    give_up = None if within is None else time.monotonic() + within
    quiet_from: float | None = time.monotonic() + PATIENCE
    read = bytearray()
    while len(read) <= LARGEST:
        waits = [until - time.monotonic() for until in (give_up, quiet_from) if until is not None]
        if select.select([sys.stdin], [], [], max(0.0, min(waits)) if waits else None)[0]:
            more = os.read(sys.stdin.fileno(), LARGEST)
            if not more:
                break
            read += more
            quiet_from = None
        elif give_up is not None and time.monotonic() >= give_up:
            said = f"{INPUT} did not end within {within:g} s, so nothing was run."
            raise TimeWasOver(said, hint="Without one, type: li … < /dev/null")
        elif quiet_from is not None:
            quiet_from = None
            print("li: Waiting for the end of standard input. Without one, type: li … < /dev/null", file=sys.stderr)
    return _checked(bytes(read), INPUT)


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
    try:
        return read.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        said = f"li: {where} is not all UTF-8, so the agent gets \ufffd for what is not."
        print(one_line(f"{said} Of another encoding: iconv -f latin1 -t utf-8"), file=sys.stderr)
        return read.decode("utf-8-sig", errors="replace").strip()


def _require(text: str, where: str) -> str:
    if not text:
        raise InvalidContent(f"{where} holds no prompt: it is empty.")
    return text
