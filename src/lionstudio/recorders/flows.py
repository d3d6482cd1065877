"""Bytes on their way from one descriptor to another, untouched, and told to whoever listens."""

import errno
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

READ_BYTES = 256 * 1024
PIPE_BYTES = 1024 * 1024  # that a pipe of ours may hold: fewer and longer strides through much output
MOST_STRIDES = 16  # of one flow before anybody else is looked at
AT_ONCE = 0.02  # seconds that a command takes that does next to nothing
ATOMIC = 512  # bytes that POSIX promises a pipe to take at once when it takes any
WRITABLE = select.POLLOUT | select.POLLERR | select.POLLHUP
READABLE = select.POLLIN | select.POLLERR | select.POLLHUP

if TYPE_CHECKING:
    from typing import Protocol

    class Watched(Protocol):
        """Whose bytes these are: somebody who ends one day, and may be told to."""

        @property
        def descriptors(self) -> Sequence[int]:
            """What becomes readable when there is something to do for them."""

        @property
        def patience(self) -> float | None:
            """For how many seconds nothing needs to be done, if nothing else happens."""

        @property
        def is_told(self) -> bool:
            """Whether they were told to end, so that nobody should be waited for."""

        def attend(self) -> None:
            """Do what is to be done now."""

        def has_ended(self) -> bool: ...


Hear = Callable[[bytes], None]
Write = Callable[[memoryview], int]


def make_pipe() -> tuple[int, int]:
    """A pipe that is read without waiting, and holds as much as the system lets it."""
    reads, writes = os.pipe()
    os.set_blocking(reads, False)
    _widen(writes, PIPE_BYTES)
    return reads, writes


def _widen(pipe: int, size: int) -> None:
    """Let a pipe hold so much: who writes and who reads then wake each other less often."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # it is no pipe, or somebody has used up what users may have of it
            if fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ) < size:
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, size)


class Target:
    """Where bytes go. It is written without waiting, whatever it is, and without changing it for who shares it."""

    def __init__(self, descriptor: int, *, is_ours: bool = False) -> None:
        self.descriptor = descriptor
        self.given = descriptor
        self._reopened: int | None = None
        mode = os.fstat(descriptor).st_mode
        if is_ours:
            os.set_blocking(descriptor, False)
            self._write = _writes_to(descriptor)
        elif stat.S_ISSOCK(mode):
            self._write = _writes_to_socket(descriptor)
        elif not (stat.S_ISFIFO(mode) or os.isatty(descriptor)):
            self._write = _writes_to(descriptor)  # a file: no reader could make us wait
        elif (reopened := _reopen(descriptor)) is not None:
            self._reopened = self.descriptor = reopened
            _widen(reopened, READ_BYTES)
            self._write = _writes_to(reopened)
        else:
            self._write = _writes_little_to(descriptor)

    def write(self, data: memoryview) -> int:
        """Write some of it; how much. Raises OSError."""
        with suppress(BlockingIOError):
            return self._write(data)
        return 0

    def close(self) -> None:
        if self._reopened is not None:
            os.close(self._reopened)
            self._reopened = None


def _writes_to(descriptor: int) -> Write:
    return lambda data: os.write(descriptor, data)


def _writes_to_socket(descriptor: int) -> Write:
    import socket

    own = socket.socket(fileno=os.dup(descriptor))
    return lambda data: own.send(data, socket.MSG_DONTWAIT)


def _writes_little_to(descriptor: int) -> Write:
    """What a pipe takes without waiting once it takes anything; slow, but it may be somebody else's."""

    def write(data: memoryview) -> int:
        _, is_ready, _ = select.select([], [descriptor], [], 0)
        return os.write(descriptor, data[:ATOMIC]) if is_ready else 0

    return write


def _reopen(descriptor: int) -> int | None:
    """The same pipe or terminal with flags of its own: others who have it open must not find that it does not wait."""
    if sys.platform != "linux":
        return None
    with suppress(OSError):  # somebody else's
        return os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    return None


class Flow:
    """One way that bytes take. What its target does not take yet waits here, and nothing more is read meanwhile."""

    def __init__(self, source: int, target: Target | None, hear: Hear | None = None) -> None:
        self.source: int | None = source
        self.target = target
        self.failure: OSError | None = None  # why the target took no more; what is said is still heard
        self.when_refused: Callable[[], None] | None = None
        self._hear = hear
        self._waiting = memoryview(b"")

    def carry(self) -> bool:
        """Take what is there, or pass on what waits; whether anything moved."""
        if self._waiting:
            return self._pass_on()
        if self.source is None:
            return False
        try:
            data = os.read(self.source, READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:  # a terminal whose other end is closed
            data = b""
        if not data:
            self.close()
            return False
        if self._hear is not None:
            self._hear(data)
        self._waiting = memoryview(data)
        return self._pass_on()

    def _pass_on(self) -> bool:
        if self.target is None:
            self._waiting = memoryview(b"")
            return True
        try:
            written = self.target.write(self._waiting)
        except OSError as error:
            self._give_up(error)
            return True
        self._waiting = self._waiting[written:]
        return written > 0

    def _give_up(self, error: OSError) -> None:
        self.target, self._waiting = None, memoryview(b"")
        if error.errno == errno.EPIPE:
            self.close()  # so that the command is told by its own next write, as it would have been
            if self.when_refused is not None:
                self.when_refused()
        else:
            self.failure = error

    def close(self) -> None:
        """Read no more."""
        if self.source is not None:
            os.close(self.source)
            self.source = None

    @property
    def is_open(self) -> bool:
        return self.source is not None or self.is_held_up

    @property
    def is_held_up(self) -> bool:
        """Whether the target is slower than the source."""
        return bool(self._waiting)

    @property
    def wanted(self) -> tuple[int, int] | None:
        """What it waits for: a descriptor and the events there."""
        if self._waiting and self.target is not None:
            return self.target.descriptor, WRITABLE
        return None if self.source is None else (self.source, READABLE)


class Feed(Flow):
    """Bytes that we have, on their way into a pipe that is closed after them.

    Nobody waits for it: what a process has not read when it ends is not for those who hold its input after it.
    """

    def __init__(self, data: bytes, into: int) -> None:
        super().__init__(into, Target(into, is_ours=True))
        self._waiting = memoryview(data)

    def carry(self) -> bool:
        moved = bool(self._waiting) and self._pass_on()
        if not self._waiting:
            self.close()
        return moved

    @property
    def is_open(self) -> bool:
        return False

    @property
    def is_held_up(self) -> bool:
        return False

    @property
    def wanted(self) -> tuple[int, int] | None:
        return None if self.source is None else (self.source, WRITABLE)


class Pump:
    """Keeps flows going, in one thread."""

    def __init__(self, flows: Sequence[Flow], watched: "Watched") -> None:
        self._flows = flows
        self._watched = watched
        self._poll = select.poll()
        self._registered: dict[int, int] = {}

    def run(self, *, linger: float, if_it_lasts: Callable[[], None] | None = None) -> bool:
        """Until the watched one has ended and its flows have, or `linger` seconds later; whether they all have.

        Who reads slowly is waited for, unless somebody was told to end. `if_it_lasts` is called after a moment.
        """
        lasts_from = time.monotonic() + AT_ONCE
        while not self._watched.has_ended():
            patience = self._watched.patience
            if if_it_lasts is not None:
                if (left := lasts_from - time.monotonic()) > 0:
                    self._wait(left, self._watched.descriptors)
                else:
                    if_it_lasts()
                    if_it_lasts = None
                self._watched.attend()
                continue
            woken = self._wait(patience, self._watched.descriptors)
            if woken or patience is not None:
                self._watched.attend()
        give_up = time.monotonic() + linger
        while any(flow.is_open for flow in self._flows):
            if any(flow.is_held_up for flow in self._flows) and not self._watched.is_told:
                until_it_lasts = None if if_it_lasts is None else max(0.0, lasts_from - time.monotonic())
                if if_it_lasts is not None and until_it_lasts == 0:
                    if_it_lasts()
                    if_it_lasts = None
                self._wait(until_it_lasts, self._watched.descriptors[:1])
                self._watched.attend()
                give_up = time.monotonic() + linger
            elif (patience := give_up - time.monotonic()) > 0:
                self._wait(patience, ())
            else:
                return self._carry_the_rest()
        return True

    def _wait(self, patience: float | None, others: Sequence[int]) -> bool:
        """Wait for something to happen, carry on where it did; whether there was something else."""
        flows, wanted = {}, dict.fromkeys(others, READABLE)
        for flow in self._flows:
            if (want := flow.wanted) is not None:
                flows[want[0]], wanted[want[0]] = flow, want[1]
        self._register(wanted)
        woken = False
        for number, _ in self._poll.poll(None if patience is None else patience * 1000):
            if number in flows:
                strides = MOST_STRIDES
                while strides and flows[number].carry():
                    strides -= 1
            else:
                woken = True
        return woken

    def _register(self, wanted: dict[int, int]) -> None:
        if wanted == self._registered:
            return
        for number in self._registered.keys() - wanted.keys():
            self._poll.unregister(number)
        for number, events in wanted.items():
            self._poll.register(number, events)
        self._registered = wanted

    def _carry_the_rest(self) -> bool:
        """What lies in the pipes: there may be more than we had time for, and somebody may write for ever."""
        for flow in self._flows:
            carried = 0
            while carried < PIPE_BYTES and flow.carry():
                carried += READ_BYTES
        return not any(flow.is_open for flow in self._flows)
