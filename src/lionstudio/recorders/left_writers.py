"""What others still write after a command has ended: passed on by a process that outlives us, as in `CMD | cat`.

Whoever started us waits for the command alone, so we cannot stay for a server that it left behind; and who writes to a
pipe that nobody reads dies of it.
"""

import os
import signal
from typing import Any

HELD = 3  # the descriptor that is kept open for as long


def pass_on(source: int, target: int, *, holds: int | None = None) -> None:
    """Let bytes go from one descriptor to another until everyone has closed the source. Raises OSError.

    Nothing else of ours is kept open, but what `holds` names: whoever waits for its end waits for these writers.
    """
    os.set_blocking(source, True)
    actions: list[Any] = [
        (os.POSIX_SPAWN_DUP2, source, 0),
        (os.POSIX_SPAWN_DUP2, target, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        *((os.POSIX_SPAWN_CLOSE, descriptor) for descriptor in inherited()),
    ]
    if holds is not None:
        actions.append((os.POSIX_SPAWN_DUP2, holds, HELD))
    # A session of its own: the keys of our terminal and its end are not meant for it.
    os.posix_spawnp("cat", ["cat"], {}, file_actions=actions, setsigdef=[signal.SIGPIPE], setsid=True)


def inherited() -> list[int]:
    """The descriptors that whoever started us meant for the command."""
    numbers = [int(name) for name in os.listdir("/dev/fd")]
    return [number for number in numbers if number > 2 and _is_inherited(number)]


def _is_inherited(number: int) -> bool:
    try:
        return os.get_inheritable(number)
    except OSError:  # it was that of the listing
        return False
