"""The engine `lionagi`: the real lionagi runtime in this process, with any model that it can call."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lionstudio.engines.engine import Noise, Task, Tell, Verdict
from lionstudio.recorders.guard import GRACE
from lionstudio.recorders.lionagi import require_lionagi
from lionstudio.recorders.stopping import Stopping

LOOK_EVERY = 0.5  # seconds between two looks whether somebody who was asked to stop takes too long
QUIET = logging.WARNING  # what lionagi and its HTTP client say below that is for their developers


class LionagiEngine:
    """A branch of lionagi: `lionagi/openai/gpt-4o`, or `lionagi/MODEL` for a server that OPENAI_BASE_URL names."""

    name = "lionagi"

    def require(self) -> None:
        require_lionagi()

    def run(self, task: Task, tell: Tell, stopping: Stopping) -> Verdict:
        self.require()
        from lionstudio.engines.lionagi_branch import Conversation
        from lionstudio.engines.lionagi_commands import Commands

        with Commands(task.env) as commands:
            conversation = Conversation(task, tell, commands)  # raises for what cannot be asked of it
            job = Job(conversation.hold, tell, commands.end)
            with stopping.each(job.stop):
                return job.run()


class Job:
    """A conversation on an event loop in a thread of its own, so that several can be held at once, and each left."""

    def __init__(self, hold: Callable[[], Any], tell: Tell, end_commands: Callable[[], None] = lambda: None) -> None:
        self._hold = hold
        self._tell = tell
        self._end_commands = end_commands  # what it waits for, maybe where nothing can be cancelled
        self._done = threading.Event()
        self._verdict = Verdict(1, failed=True, sentence="lionagi did not answer.")
        self._loop: Any = None
        self._task: Any = None
        self._cause: int | None = None
        self._stopped_at: float | None = None

    def stop(self, cause: int) -> None:
        """Cancel it; from any thread, and in the middle of anything."""
        self._cause = self._cause or cause
        self._stopped_at = self._stopped_at or time.monotonic()
        self._end_commands()
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed by now
                self._loop.call_soon_threadsafe(self._task.cancel)

    def run(self) -> Verdict:
        """Hold the conversation to its end. What does not stop when it is asked to is left behind after a while."""
        threading.Thread(target=self._work, name="lionstudio-lionagi", daemon=True).start()
        while not self._done.wait(LOOK_EVERY):
            if self._stopped_at is not None and time.monotonic() - self._stopped_at > GRACE:
                return Verdict(self._cause or 1, sentence="lionagi went on although it was asked to stop.")
        return self._verdict

    def _work(self) -> None:
        import asyncio

        ear = Ear(self._tell, threading.get_ident())
        logging.getLogger().addHandler(ear)
        try:
            asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001  it is told to who waits, who is in another thread
            if self._cause is None:
                self._verdict = Verdict(1, failed=True, reason="run.failed.exception", sentence=sentence_of(error))
        finally:
            logging.getLogger().removeHandler(ear)
            self._done.set()

    async def _main(self) -> None:
        import asyncio

        self._task, self._loop = asyncio.current_task(), asyncio.get_running_loop()
        if self._cause is None:  # nobody asked to stop before there was anything to cancel
            try:
                self._verdict = await self._hold()
                return
            except asyncio.CancelledError:
                if self._cause is None:
                    raise
        self._verdict = Verdict(self._cause)


class Ear(logging.Handler):
    """What lionagi logs in one thread. While there is one, nobody sets up a log that a person would have to read."""

    def __init__(self, tell: Tell, thread: int) -> None:
        super().__init__(QUIET)
        self._tell = tell
        self._thread = thread

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            with suppress(Exception):
                self._tell(Noise(f"{record.levelname} {record.getMessage()}\n"))


def sentence_of(error: BaseException) -> str:
    """What went wrong, in lionagi's words and those of what it is made from."""
    told: list[str] = []
    step: BaseException | None = error
    while step is not None and len(told) < 3:
        text = str(step).strip().splitlines()
        if text and not any(text[0] in other for other in told):
            told.append(text[0])
        step = step.__cause__
    return " ".join(told) or type(error).__name__


logging.getLogger().addHandler(logging.NullHandler())  # lionagi would set up a log on stderr, and talk there
