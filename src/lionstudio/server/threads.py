"""Threads for what takes its time: each kind of work has its own few, and none can take those that others wait for.

Whatever a route does runs in a thread, and a thread that waits for the database is taken. A job is handed over and its
result handed back with as little in between as can be: that is a tenth of what storing one message costs. ADR 0030
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Job = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Lane:
    """So many threads at once for one kind of work; whoever comes later waits without one."""

    def __init__(self, name: str, *, most: int) -> None:
        self._name = f"lionstudio {name}"
        self._most = most
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._asked = 0  # jobs that are done now, or wait for a thread

    @property
    def busy(self) -> int:
        """How many of its threads are at work."""
        return min(self._asked, self._threads)

    async def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of a call; who stops waiting for it before it begins takes it back."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[R] = loop.create_future()
        self._ask_for_thread()
        self._jobs.put((partial(call, *args, **kwargs), loop, done))
        return await done

    def _ask_for_thread(self) -> None:
        with self._lock:
            self._asked += 1
            if self._threads < min(self._asked, self._most):
                self._threads += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()

    def _work(self) -> None:
        while True:
            _do(*self._jobs.get())
            with self._lock:
                self._asked -= 1


def _do(call: Callable[[], Any], loop: asyncio.AbstractEventLoop, done: "asyncio.Future[Any]") -> None:
    if done.cancelled():
        return
    try:
        settle = partial(_settle, done, done.set_result, call())
    except BaseException as error:  # noqa: BLE001  who waits for it gets it
        settle = partial(_settle, done, done.set_exception, error)
    with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
        loop.call_soon_threadsafe(settle)


def _settle(done: "asyncio.Future[Any]", settle: Callable[[Any], None], outcome: Any) -> None:
    if not done.cancelled():
        settle(outcome)


READS: Final = Lane("reads", most=40)
WRITES: Final = Lane("writes", most=40)  # while another program holds the file, all of them wait for it
LARGE: Final = Lane("large writes", most=2)  # each takes hundreds of megabytes while it is read
SLOW: Final = Lane("slow acts", most=4)  # what reads or moves the whole database, or walks through folders
STREAMS: Final = Lane("streams", most=8)  # reads of many streams, none of which takes long
