"""Watching over a process: when it ends, and that it does when it is asked to."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from lionstudio import machine
from lionstudio.recorders.stopping import CAUSES, SIGNALS

GRACE = 10.0  # seconds between a request to stop and SIGKILL
LINGER = 1.0  # seconds that we still listen once the process itself has ended, and that the rest of its group gets
ONE_KEY = 0.3  # seconds within which two interrupts may be one: of the terminal, and of whoever started us
LOOK_EVERY = 0.05  # seconds between two looks, where the system does not tell of a death
INTERRUPT = CAUSES[signal.SIGINT]


class Guard:
    """The guard of a child of ours, and of the group that it leads, unless that is ours as well.

    Until it is collected its number and that of its group belong to nobody else, so a signal reaches them or nobody.
    """

    def __init__(self, pid: int, *, leads_group: bool = True, asks_once: bool = False) -> None:
        """One that `asks_once` kills at the second interrupt; else what two of them mean is the process's affair."""
        self.pid = pid
        self._asks_once = asks_once
        self.told: int | None = None  # the cause that it was first told, while it lived
        self.was_killed = False  # because it did not end in time
        self.leads_group = leads_group
        self._asked: list[int] = []  # causes that were not yet passed on
        self._kill_at: float | None = None
        self._told_at = 0.0
        self._interrupted_at: float | None = None
        made: tuple[int, ...] = ()
        try:
            made = self._wakes, self._wake = os.pipe()
            os.set_blocking(self._wakes, False)
            os.set_blocking(self._wake, False)
            self._death = self._watch_death()
        except OSError:
            self.signal(signal.SIGKILL)
            for descriptor in made:
                os.close(descriptor)
            raise

    def __enter__(self) -> "Guard":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:  # something went wrong on our side
            self.signal(signal.SIGKILL)
        for descriptor in (self._wakes, self._wake, self._death):
            if descriptor is not None:
                os.close(descriptor)

    @property
    def descriptors(self) -> Sequence[int]:
        """What becomes readable when somebody asks it to stop, or it has ended."""
        return [self._wakes] if self._death is None else [self._wakes, self._death]

    @property
    def holds(self) -> int | None:
        """What must stay open for as long as others write to its output."""
        return None

    @property
    def patience(self) -> float | None:
        """For how many seconds nothing needs to be done, if nothing else happens."""
        waits = [LOOK_EVERY] if self._must_look else []
        if self._kill_at is not None and not self.was_killed:
            waits.append(max(0.0, self._kill_at - time.monotonic()))
        return min(waits, default=None)

    @property
    def _must_look(self) -> bool:
        """Whether nobody tells us of its death."""
        return self._death is None

    @property
    def is_told(self) -> bool:
        return self._kill_at is not None or self.was_killed

    def ask(self, cause: int) -> None:
        """Ask it to stop, from any thread or the middle of a signal handler."""
        self._asked.append(cause)
        self.wake()

    def wake(self) -> None:
        """Let whoever waits for us look at what is to be done."""
        with suppress(OSError):  # woken already
            os.write(self._wake, b"!")

    def attend(self) -> None:
        """Tell it what was asked for, and kill it when its time is over."""
        with suppress(BlockingIOError):
            os.read(self._wakes, 1024)
        while self._asked:
            self._tell(self._asked.pop(0))
        if self._kill_at is not None and time.monotonic() >= self._kill_at and not self.was_killed:
            self.was_killed = True
            self.signal(signal.SIGKILL)

    def _tell(self, cause: int) -> None:
        if not self.leads_group and cause == INTERRUPT:
            # The terminal has told everyone in front of it, and whether that ends it is its own affair.
            self._interrupted_at = time.monotonic()
            return
        if not self.has_ended():
            now = time.monotonic()
            if self.told is None:
                self.told, self._told_at = cause, now
            elif self._asks_once and cause == INTERRUPT and now - self._told_at > ONE_KEY:
                self._kill_at = now
            self.signal(SIGNALS[cause])
            self.signal(signal.SIGCONT)  # one that is stopped could not hear it
        self._kill_at = self._kill_at or time.monotonic() + GRACE

    @property
    def cause(self) -> int | None:
        """What ended it, if it was not itself: what it was told, or an interrupt a moment ago."""
        if self.told is None and self._interrupted_at is not None:
            return INTERRUPT if time.monotonic() - self._interrupted_at <= GRACE else None
        return self.told

    def has_ended(self) -> bool:
        """Whether the process has ended; it is not collected yet."""
        return machine.has_child_ended(self.pid)

    def collect(self) -> int:
        """Its exit code; a signal that it died of is a negative number. From now on its own may be anybody's."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def signal(self, number: int) -> None:
        """Send it to the process and everything that it started."""
        if self.leads_group:
            with suppress(ProcessLookupError, PermissionError):  # all of them just ended, or became somebody else's
                os.killpg(self.pid, number)
            return
        for pid in (*machine.list_descendants(self.pid), self.pid):  # our group is not theirs alone
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def end_group(self) -> None:
        """End what the process left behind in its group: politely, then not."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not machine.list_group(self.pid):
                return
            self.signal(number)
            self.signal(signal.SIGCONT)
            give_up = time.monotonic() + LINGER
            while machine.list_group(self.pid) and time.monotonic() < give_up:
                time.sleep(LOOK_EVERY)

    def _watch_death(self) -> int | None:
        with suppress(ProcessLookupError):  # it has ended already; whoever looks will see that
            return machine.watch_death(self.pid)
        return None
