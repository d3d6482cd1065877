"""Waiting for a condition instead of for a time."""

import time
from collections.abc import Callable

DEADLINE = 20.0


def wait_until(condition: Callable[[], object], *, within: float = DEADLINE) -> None:
    """Return as soon as the condition holds; fail if it does not within the deadline."""
    give_up = time.monotonic() + within
    while not condition():
        if time.monotonic() > give_up:
            raise AssertionError("The condition did not come true in time.")
        time.sleep(0.002)
