"""Files that people write, read whole: only real files, only so large, only UTF-8."""

import errno
import os
import stat

from lionstudio.domain.errors import InvalidContent

LARGEST = 1024 * 1024  # bytes; a plan, a verdict or a playbook is far below


def read_text(path: str, *, largest: int = LARGEST) -> str | None:
    """The text of a file, None where there is none; raises InvalidContent, which says why it cannot be read."""
    try:
        # A pipe that nobody writes to would let an ordinary open wait for ever.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if os.path.islink(path):
            raise InvalidContent("It is a link that leads nowhere.") from None
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        why = "It is a link that leads in circles." if error.errno == errno.ELOOP else _why(error)
        raise InvalidContent(why) from None
    with open(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise InvalidContent("It is not a file.")
        try:
            found = file.read(largest + 1)
        except OSError as error:
            raise InvalidContent(_why(error)) from None
    if len(found) > largest:
        raise InvalidContent(f"It is larger than {largest // 1024:,} KB.")
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidContent(f"It is not UTF-8 (byte {error.start + 1}).") from None


def _why(error: OSError) -> str:
    return f"It cannot be read ({error.strerror})."
