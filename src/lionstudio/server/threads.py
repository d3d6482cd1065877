"""Threads for what takes its time: each kind of work has its own few, and none can take those that others wait for.

Whatever a route does runs in a thread, and a thread that waits for the database is taken. Plain reads have the threads
that every server of this kind has.
"""

from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

P = ParamSpec("P")
R = TypeVar("R")


class Lane:
    """So many threads at once for one kind of work; whoever comes later waits without one."""

    def __init__(self, name: str, *, most: int) -> None:
        self._most = most
        self._limiter: RunVar[CapacityLimiter] = RunVar(f"lionstudio {name}")  # one for each event loop

    async def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await to_thread.run_sync(lambda: call(*args, **kwargs), limiter=self._own())

    def _own(self) -> CapacityLimiter:
        limiter = self._limiter.get(None)
        if limiter is None:
            limiter = CapacityLimiter(self._most)
            self._limiter.set(limiter)
        return limiter


WRITES: Final = Lane("writes", most=40)  # while another program holds the file, all of them wait for it
SLOW: Final = Lane("slow acts", most=4)  # what reads or moves the whole database, or walks through folders
STREAMS: Final = Lane("streams", most=8)  # reads of many streams, none of which takes long
