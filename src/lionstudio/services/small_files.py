"""Files that people write, read whole: only real files, only so large, only UTF-8."""

import os

from lionstudio.domain.errors import InvalidContent
from lionstudio.services.confined_files import LARGEST, read_opened, why_not


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
        raise InvalidContent(why_not(error)) from None
    return read_opened(number, largest=largest)
