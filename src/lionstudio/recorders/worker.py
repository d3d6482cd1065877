"""One thread that writes for an event loop, in the order things were said."""

import atexit
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any


class Worker:
    """Does what it is given, one after the other.

    Not a ThreadPoolExecutor: all of those share a lock, and a signal handler that hands in work while the interrupted
    code holds it would wait for ever.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[None], Callable[[], Any]] | None] = SimpleQueue()
        # A block that is never left, in a loop that was stopped, must not keep the process alive.
        self._thread = threading.Thread(target=self._work, name="lionstudio-recorder", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], Any]) -> "Future[None]":
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # who stops waiting for it does not take it back
        self._jobs.put((done, job))
        return done

    @property
    def waiting(self) -> int:
        """How many jobs wait for their turn."""
        return self._jobs.qsize()

    def stop(self) -> None:
        """End the thread when everything is done."""
        self._jobs.put(None)

    def stay_until_done(self) -> None:
        """Keep the process from ending before everything is done."""
        atexit.register(self._thread.join)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            done, do = job
            try:
                do()
            except BaseException as error:  # noqa: BLE001  whoever waits for it is told
                done.set_exception(error)
            else:
                done.set_result(None)
