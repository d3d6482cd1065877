"""Files under one folder and never outside of it, whatever names, links or other programs try.

A path is first resolved and must then lie under the root. What it resolved to is opened step by step, through no link
at all, so that whoever puts a link in its place meanwhile gains nothing.
"""

import errno
import os
import stat
from contextlib import suppress

from lionstudio.domain.errors import DatabaseFull, InvalidContent, Unavailable

LARGEST = 1024 * 1024  # bytes; a plan, a verdict or a playbook is far below
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe that nobody writes to would let an ordinary open wait for ever.
FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
DRAFT = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def locate(root: str, path: str) -> str | None:
    """Where a path leads, None where nothing is; raises InvalidContent if that is not under the root."""
    try:
        place, top = os.path.realpath(path, strict=True), os.path.realpath(root)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):
            raise InvalidContent("It is a link that leads nowhere.") from None
        return None
    except ValueError:  # a name that no file system has
        return None
    except OSError as error:
        raise InvalidContent(why_not(error)) from None
    if not is_beneath(top, place):
        raise InvalidContent(f"It leads out of {top}, and is not read.")
    return place


def is_beneath(top: str, place: str) -> bool:
    """Whether a resolved path is a resolved folder, or lies in it."""
    return place == top or place.startswith(top.rstrip("/") + "/")


def read_within(root: str, path: str, *, largest: int = LARGEST) -> str | None:
    """The text of a file under the root, None where there is none; raises InvalidContent, which says why."""
    place = locate(root, path)
    if place is None:
        return None
    try:
        return read_opened(_open(root, place, FILE), largest=largest)
    except (FileNotFoundError, NotADirectoryError):
        return None  # it was taken away in this moment
    except OSError as error:
        raise InvalidContent(why_not(error)) from None


def read_opened(number: int, *, largest: int = LARGEST) -> str:
    """The text of an open file, which is closed; raises InvalidContent."""
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise InvalidContent("It is not a file.")
    with open(number, "rb") as file:
        try:
            found = file.read(largest + 1)
        except OSError as error:
            raise InvalidContent(why_not(error)) from None
    if len(found) > largest:
        raise InvalidContent(f"It is larger than {largest // 1024:,} KB.")
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidContent(f"It is not UTF-8 (byte {error.start + 1}).") from None


def write_within(root: str, folder: str, files: dict[str, str]) -> None:
    """Write files into a folder under the root, each whole or not at all; raises Unavailable.

    Nothing is overwritten in place: whoever reads meanwhile gets the old file or the new one.
    """
    try:
        place = locate(root, folder)
        if place is None:
            raise Unavailable(f"The folder {folder} is not there.")
        number = _open(root, place, FOLDER)
    except InvalidContent as error:
        raise Unavailable(f"The folder {folder} cannot be written. {error.message}") from None
    except OSError as error:
        raise _cannot_write(folder, error) from None
    try:
        for name, text in files.items():
            _replace(number, name, text)
        with suppress(OSError):  # the files are there; only a power cut right now could undo that
            os.fsync(number)
    except OSError as error:
        raise _cannot_write(folder, error) from None
    finally:
        os.close(number)


def _replace(folder: int, name: str, text: str) -> None:
    draft = f".{name}.{os.urandom(6).hex()}"
    try:
        with open(os.open(draft, DRAFT, 0o666, dir_fd=folder), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise


def _open(root: str, place: str, flags: int) -> int:
    """Open a resolved path from the root downwards, through no link."""
    top = os.path.realpath(root)
    parts = [part for part in os.path.relpath(place, top).split("/") if part != "."]
    number = os.open(top, FOLDER)
    for depth, part in enumerate(parts, 1):
        try:
            following = os.open(part, flags if depth == len(parts) else FOLDER, dir_fd=number)
        finally:
            os.close(number)
        number = following
    return number


def why_not(error: OSError) -> str:
    """Why a file cannot be read, as a sentence."""
    if error.errno == errno.ELOOP:
        return "It is a link that leads in circles."
    return f"It cannot be read ({error.strerror})."


def _cannot_write(folder: str, error: OSError) -> Unavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DatabaseFull(f"There is no room left on the disk of {folder}; nothing was changed.")
    return Unavailable(
        f"The folder {folder} cannot be written ({error.strerror}); nothing was changed.",
        hint="Check who owns that folder, then try again.",
    )
