"""A child process with a group of its own: fed, heard, told to stop, and gone when we are done with it."""

import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, NamedTuple

from lionstudio import machine
from lionstudio.domain.reasons import as_shell_code
from lionstudio.recorders.stopping import SIGNALS, Stopping

GRACE = 10.0  # seconds between a request to stop and SIGKILL
LINGER = 1.0  # seconds that we still listen once the process itself has ended, and that the rest of its group gets
LOOK_EVERY = 0.05  # seconds between two looks, where the system does not tell of a death
CHUNK = 64 * 1024
MOST_IN_A_PIPE = 1024 * 1024  # what Linux lets anybody but root set; usually it is 64 KiB
NOT_EXECUTABLE, NOT_FOUND = 126, 127

Hear = Callable[[bytes], None]


class Exit(NamedTuple):
    """How a child ended: its exit code as a shell says it, and for one that never began, why."""

    code: int
    why: str | None = None

    @property
    def started(self) -> bool:
        return self.why is None


def run_child(
    argv: Sequence[str],
    *,
    stopping: Stopping,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    on_start: Callable[[int], None],
    on_stdout: Hear,
    on_stderr: Hear,
) -> Exit:
    """Run a command to its end, from any thread; what it says is told in this one as it comes.

    It gets a process group of its own, and nothing of that group is left when this returns or raises. Asked to stop, it
    has GRACE seconds. Without `stdin` it has nothing to read.
    """
    from subprocess import DEVNULL, PIPE, Popen

    try:
        process = Popen(
            argv,
            bufsize=0,
            stdin=DEVNULL if stdin is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=cwd,
            env=env,
            process_group=0,
        )
    except OSError as error:
        return why_not_started(argv[0], error)
    with process, Guard(process.pid) as guard, stopping.each(guard.ask):
        assert process.stdout is not None and process.stderr is not None
        on_start(process.pid)
        talk = _Talk(guard, {process.stdout.fileno(): on_stdout, process.stderr.fileno(): on_stderr})
        if process.stdin is not None:
            talk.feed(process.stdin, stdin or b"")
        talk.go_on_until_its_end()
        guard.end_group()
        return Exit(as_shell_code(process.wait()))


def why_not_started(program: str, error: OSError) -> Exit:
    """What a shell would say of a command that could not be started."""
    found = not isinstance(error, FileNotFoundError | NotADirectoryError)
    where = "" if error.filename in (None, program) else f" ({error.filename})"
    return Exit(NOT_EXECUTABLE if found else NOT_FOUND, f"{program}: {error.strerror or error}{where}")


class Guard:
    """Watches over a process that leads its group: when it ends, and that it does when it is asked to.

    Until `__exit__` the process is not collected, so its number and that of its group belong to nobody else.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._asked: list[int] = []  # causes that were not yet passed on
        self._kill_at: float | None = None
        try:
            self._wakes, self._wake = _pipe()
            self._death = _watch_death(pid)
        except OSError:
            self.signal(signal.SIGKILL)
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
    def descriptors(self) -> list[int]:
        """What becomes readable when there is something to do."""
        return [self._wakes] if self._death is None else [self._wakes, self._death]

    @property
    def patience(self) -> float | None:
        """For how many seconds nothing needs to be done, if nothing else happens."""
        looks = LOOK_EVERY if self._death is None else None
        if self._kill_at is None:
            return looks
        left = max(0.0, self._kill_at - time.monotonic())
        return left if looks is None else min(left, looks)

    def ask(self, cause: int) -> None:
        """Ask it to stop, from any thread or the middle of a signal handler."""
        self._asked.append(cause)
        with suppress(OSError):  # woken already, or over
            os.write(self._wake, b"!")

    def pass_on(self) -> None:
        """Tell the group what was asked for, and kill it when its time is over."""
        with suppress(BlockingIOError):
            os.read(self._wakes, CHUNK)
        while self._asked:
            self.signal(SIGNALS[self._asked.pop(0)])
            self.signal(signal.SIGCONT)  # one that is stopped could not hear it
            self._kill_at = self._kill_at or time.monotonic() + GRACE
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self.signal(signal.SIGKILL)
            self._kill_at = None

    def has_ended(self) -> bool:
        """Whether the process has ended; it is not collected yet."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):  # all of them just ended, or became somebody else's
            os.killpg(self.pid, number)

    def end_group(self) -> None:
        """End what the process left behind in its group: politely, then not."""
        if not machine.list_group(self.pid):
            return
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        give_up = time.monotonic() + LINGER
        while machine.list_group(self.pid):
            if time.monotonic() > give_up:
                self.signal(signal.SIGKILL)
            time.sleep(LOOK_EVERY)


def _pipe() -> tuple[int, int]:
    reads, writes = os.pipe()  # not pipe2, which macOS has not
    os.set_blocking(reads, False)
    os.set_blocking(writes, False)
    return reads, writes


def _watch_death(pid: int) -> int | None:
    with suppress(ProcessLookupError):  # it has ended already; whoever looks will see that
        return machine.watch_death(pid)
    return None


class _Talk:
    """What goes in and comes out, in one thread, so that neither can wait for the other."""

    def __init__(self, guard: Guard, hear: dict[int, Hear]) -> None:
        self._guard = guard
        self._hear = hear
        self._poll = select.poll()
        for descriptor in hear:
            os.set_blocking(descriptor, False)
        for descriptor in (*hear, *guard.descriptors):
            self._poll.register(descriptor, select.POLLIN)
        self._feeds: IO[bytes] | None = None
        self._food = memoryview(b"")

    def feed(self, into: IO[bytes], food: bytes) -> None:
        """Write something to it while it goes on, and then close that."""
        os.set_blocking(into.fileno(), False)
        self._feeds, self._food = into, memoryview(food)
        self._poll.register(into, select.POLLOUT)

    def go_on_until_its_end(self) -> None:
        """Until the process has ended and all it said is heard; what others still hold open is not waited for."""
        stop_listening: float | None = None
        while self._hear or stop_listening is None:
            patience = self._guard.patience
            if stop_listening is not None:
                patience = max(0.0, stop_listening - time.monotonic())
            for descriptor, _ in self._poll.poll(None if patience is None else patience * 1000):
                if descriptor in self._hear:
                    self._listen(descriptor)
                elif self._feeds is not None and descriptor == self._feeds.fileno():
                    self._feed_more(self._feeds)
            self._guard.pass_on()
            if stop_listening is not None:
                if time.monotonic() >= stop_listening:
                    self._hear_the_rest()
                    break
            elif self._guard.has_ended():
                stop_listening = time.monotonic() + LINGER
                for descriptor in self._guard.descriptors[1:]:
                    self._poll.unregister(descriptor)  # it stays readable from now on

    def _hear_the_rest(self) -> None:
        """What lies in the pipes: there may be more than we had time for, and somebody may write for ever."""
        for descriptor in list(self._hear):
            for _ in range(MOST_IN_A_PIPE // CHUNK):
                if not self._listen(descriptor):
                    break

    def _listen(self, descriptor: int) -> bool:
        """Hear what is there; whether there may be more."""
        try:
            heard = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return False
        if heard:
            self._hear[descriptor](heard)
            return True
        self._poll.unregister(descriptor)
        del self._hear[descriptor]
        return False

    def _feed_more(self, into: IO[bytes]) -> None:
        try:
            self._food = self._food[os.write(into.fileno(), self._food) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it does not want to read all of it
            self._food = memoryview(b"")
        if not self._food:
            self._poll.unregister(into)
            into.close()
            self._feeds = None
