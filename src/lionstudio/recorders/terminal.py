"""A command on a terminal: it gets one of its own behind ours, so that colours, prompts and Ctrl-C work as before."""

import errno
import fcntl
import os
import select
import signal
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from lionstudio.recorders.flows import Flow, Hear, Target
from lionstudio.recorders.guard import Guard
from lionstudio.recorders.monitor import BYE, ENDED, GO, REFUSED, STARTED, STOPPED, Place, monitor

SIZE_BYTES = 8  # struct winsize: four short numbers
LOCAL, CHARACTERS = 3, 6  # where the modes of a terminal say what keys do, and name them
LOOK_FOR_FRONT = 1.0  # seconds between two looks at who is in front of our terminal
LONGEST_STOP = 0.2  # seconds that it takes a process to stop


class Terminal:
    """Our terminal, the command's own one, and the process that begins the command there.

    Make it before there is any thread, for it forks. Until `begin` nothing is begun, and ours is left alone.
    """

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, stderr: tuple[int, int] | None) -> None:
        """`stderr` is the pipe that it has instead of its terminal: where that is read, and where it is written."""
        self._is_ours = False  # whether keys come as they are typed
        self.is_over = False  # whether nobody reads them any more
        self.is_interrupted = False  # whether somebody typed what interrupts
        self._interrupted_at: float | None = None  # when that was the last that was typed, and meant a signal
        # Closed where there is none in the end, for another way needs descriptors, too.
        with ExitStack() as opened, _as_os_errors():

            def keep(*descriptors: int) -> tuple[int, ...]:
                for descriptor in descriptors:
                    opened.callback(os.close, descriptor)
                return descriptors

            (self._outer,) = keep(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC))
            self._modes = termios.tcgetattr(self._outer)
            self.inner, slave = keep(*os.openpty())
            os.set_blocking(self.inner, False)
            termios.tcsetattr(slave, termios.TCSANOW, self._modes)
            self.pass_size_on()
            control, self._control = keep(*os.pipe())
            self._status, status = keep(*os.pipe())
            streams = {0: None, 1: None, 2: stderr and stderr[1]}
            place = Place(argv, env, os.ttyname(slave), streams, self._outer, self._modes)
            self._monitor = os.fork()
            opened.pop_all()
        if self._monitor == 0:
            # Nobody but us may read its stderr: when our reader has gone the command must be told by its own write.
            for descriptor in (self.inner, slave, self._control, self._status, *(stderr or ())[:1]):
                os.close(descriptor)
            monitor(place, control=control, status=status)
        for descriptor in (slave, control, status):
            os.close(descriptor)
        self._heard = b""
        self._news: list[tuple[str, int]] = []

    def begin(self) -> int:
        """Begin the command; its pid. Raises OSError."""
        os.write(self._control, GO)
        (what, number), *self._news = self.read_news()  # it answers at once, and may have ended as soon
        if what != STARTED:
            code = number if what == REFUSED else errno.EIO
            raise OSError(code, os.strerror(code))
        os.set_blocking(self._status, False)
        self.take()
        return number

    def read_news(self) -> list[tuple[str, int]]:
        """What became of the command since the last look."""
        before, self._news = self._news, []
        try:
            heard = os.read(self._status, 4096)
        except BlockingIOError:
            return before
        if not heard:  # its parent was killed: how it ended will never be known
            return [*before, (ENDED, -signal.SIGKILL)]
        *lines, self._heard = (self._heard + heard).split(b"\n")
        news = [line.decode().split() for line in lines]
        return [*before, *((what, int(number)) for what, number in news)]

    @property
    def control(self) -> int:
        """What tells the parent of the command, once it is closed, that nobody needs its terminal any more."""
        return self._control

    @property
    def status(self) -> int:
        """What becomes readable when there are news."""
        return self._status

    def take(self) -> None:
        """Let every key through as it is, if we are in front of our terminal."""
        if self._is_ours or not self.is_in_front():
            return
        with suppress(termios.error):  # it was closed
            self._modes = termios.tcgetattr(self._outer)
            termios.tcsetattr(self._outer, termios.TCSADRAIN, _raw(self._modes))
            self._is_ours = True

    @property
    def has_keys(self) -> bool:
        """Whether what is typed comes to the command."""
        return self._is_ours

    def give_back(self) -> None:
        """Let our terminal be as it was."""
        if self._is_ours:
            self._is_ours = False
            with suppress(termios.error):
                termios.tcsetattr(self._outer, termios.TCSADRAIN, self._modes)

    def is_in_front(self) -> bool:
        with suppress(OSError):
            return os.tcgetpgrp(self._outer) == os.getpgrp()
        return False

    def pass_size_on(self) -> None:
        """Let the command's terminal be as large as ours."""
        with suppress(OSError):
            size = fcntl.ioctl(self._outer, termios.TIOCGWINSZ, bytes(SIZE_BYTES))
            fcntl.ioctl(self.inner, termios.TIOCSWINSZ, size)

    def keys(self) -> "Keys":
        """What is typed, on its way to the command."""
        target = Target(os.dup(self.inner), is_ours=True)
        return Keys(os.dup(self._outer), target, self, self._hear_keys)

    @property
    def may_read(self) -> bool:
        """Whether what is typed is for the command."""
        return self._is_ours and not self.is_over

    def _hear_keys(self, typed: bytes) -> None:
        interrupts: bytes = self._modes[CHARACTERS][termios.VINTR]
        self.is_interrupted = self.is_interrupted or interrupts in typed
        # Who types on was not ended by it: at the prompt of a shell it is a key like any other.
        is_last = typed.endswith(interrupts) and self._makes_signals()
        self._interrupted_at = time.monotonic() if is_last else None

    def _makes_signals(self) -> bool:
        """Whether the command lets its terminal make signals of keys; else they are its own affair."""
        with suppress(termios.error):
            return bool(termios.tcgetattr(self.inner)[LOCAL] & termios.ISIG)
        return False

    def was_interrupted_within(self, seconds: float) -> bool:
        """Whether an interrupt was typed so short a time ago, and nothing after it."""
        return self._interrupted_at is not None and time.monotonic() - self._interrupted_at <= seconds

    def interrupt_others(self) -> None:
        """Tell who shares our place in front of our terminal what its keys did to the command.

        The script or the loop around us would have been told with the command, and ends only if it was.
        """
        if self.is_in_front():
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)
            os.kill(0, signal.SIGINT)
            signal.signal(signal.SIGINT, before)

    def close(self, *, is_left_open: bool) -> None:
        """Be done with it; where others still write to the command's terminal, that stays until they are."""
        self.give_back()
        with suppress(OSError):
            os.write(self._control, BYE)
        os.close(self._control)
        if not is_left_open:
            os.waitpid(self._monitor, 0)
        for descriptor in (self._status, self._outer):
            os.close(descriptor)


class Keys(Flow):
    """What is typed. It ends with our terminal alone, and nobody waits for it."""

    def __init__(self, source: int, target: Target, terminal: Terminal, hear: Hear) -> None:
        super().__init__(source, target, hear)
        self._terminal = terminal

    def carry(self) -> bool:
        had_terminal = self.source is not None
        moved = super().carry()
        if had_terminal and self.source is None and not self._terminal.is_over:
            # Its window was closed. A shell would tell us, but one that is killed with it cannot any more.
            os.kill(os.getpid(), signal.SIGHUP)
        return moved

    @property
    def wanted(self) -> tuple[int, int] | None:
        if self._terminal.may_read:
            return super().wanted
        return None if self.source is None or self._terminal.is_over else (self.source, 0)  # only whether it is there

    @property
    def is_open(self) -> bool:
        return False

    @property
    def is_held_up(self) -> bool:
        return False


@contextmanager
def _as_os_errors() -> Iterator[None]:
    """What a terminal refuses is an error of its own kind, for no reason that matters here."""
    try:
        yield
    except termios.error as error:
        raise OSError(*error.args) from error


class TerminalGuard(Guard):
    """The guard of a command on a terminal of its own, whose parent tells us of it."""

    def __init__(self, pid: int, terminal: Terminal) -> None:
        self._terminal = terminal
        self._code: int | None = None
        self._changed: list[int] = []
        super().__init__(pid)
        self.wake()  # it may have ended by now

    @property
    def descriptors(self) -> Sequence[int]:
        return [self._wakes, self._terminal.status]

    @property
    def holds(self) -> int | None:
        return self._terminal.control

    def has_ended(self) -> bool:
        return self._code is not None

    def collect(self) -> int:
        assert self._code is not None
        return self._code

    @property
    def patience(self) -> float | None:
        """Somebody who brings us to the front of our terminal need not tell us: a job that runs is not continued."""
        waits = [super().patience, None if self._terminal.has_keys else LOOK_FOR_FRONT]
        return min((wait for wait in waits if wait is not None), default=None)

    def attend(self) -> None:
        super().attend()
        self._terminal.take()
        while self._changed:
            if self._changed.pop() == signal.SIGWINCH:
                self._terminal.pass_size_on()
        for what, number in () if self.has_ended() else self._terminal.read_news():
            if what == ENDED and not self.has_ended():
                self._code, self._terminal.is_over = number, True
            elif what == STOPPED and not self.is_told:
                self._stop_with_it()

    def _stop_with_it(self) -> None:
        """Whoever started us sees us stop as the command did, and we go on with it."""
        self._terminal.give_back()
        self._changed.clear()
        os.kill(0, signal.SIGTSTP)
        # The threads of a process do not stop in the same moment. Nobody continues us if nobody could stop us.
        continued = select.poll()
        continued.register(self._wakes, select.POLLIN)
        continued.poll(LONGEST_STOP * 1000)
        self._terminal.take()
        self._terminal.pass_size_on()
        self.signal(signal.SIGCONT)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, a new size and being continued are noticed."""

        def notice(number: int, frame: Any) -> None:
            self._changed.append(number)
            self.wake()

        before = {number: signal.signal(number, notice) for number in (signal.SIGWINCH, signal.SIGCONT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @property
    def _must_look(self) -> bool:
        return False

    def _watch_death(self) -> int | None:
        return None  # the status of the terminal tells it


def is_on_terminal() -> bool:
    """Whether a person types here and reads here."""
    return all(_is_ours(stream) for stream in (0, 1))


def _is_ours(descriptor: int) -> bool:
    with suppress(OSError):
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) > 0
    return False


def _raw(modes: list[Any]) -> list[Any]:
    """Modes in which nothing is done to what is typed and printed, as in cfmakeraw(3)."""
    t = termios
    inputs, outputs, control, local, *rest = modes
    inputs &= ~(t.IGNBRK | t.BRKINT | t.PARMRK | t.ISTRIP | t.INLCR | t.IGNCR | t.ICRNL | t.IXON)
    local &= ~(t.ECHO | t.ECHONL | t.ICANON | t.ISIG | t.IEXTEN)
    *speeds, characters = rest
    characters = list(characters)
    characters[t.VMIN], characters[t.VTIME] = 1, 0
    return [inputs, outputs & ~t.OPOST, control & ~(t.CSIZE | t.PARENB) | t.CS8, local, *speeds, characters]
