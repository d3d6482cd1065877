"""The process between us and a command that has a terminal of its own.

A command can be stopped from its terminal (Ctrl-Z) only if its parent is in the same session and another group. We
cannot be that, because we are in the session of the shell. So a fork of us is: it makes the session, begins the command
in front of the terminal, and tells us when it stops and how it ends. If we are killed, it puts our terminal in order.
"""

import errno
import fcntl
import os
import select
import signal
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from lionstudio import machine

GO, BYE = b"g", b"b"
STARTED, REFUSED, STOPPED, ENDED = "started", "refused", "stopped", "ended"
DEFAULTS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTTOU, signal.SIGHUP)  # that Python or we changed


class Place(NamedTuple):
    """What a command is begun with."""

    argv: Sequence[str]
    env: Mapping[str, str]
    terminal: str  # the path of its own one
    streams: Mapping[int, int | None]  # which descriptor each of its streams is; None is its terminal
    outer: int  # the terminal that we are on
    modes: list[Any]  # of that, as they were


def monitor(place: Place, *, control: int, status: int) -> NoReturn:
    """Live for as long as the command, in a process of its own."""
    try:
        os.setsid()
        terminal = os.open(place.terminal, os.O_RDWR)  # whoever leads a session and has no terminal gets this one
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)  # or has to ask for it
        hears_hangup = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        wakes, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        pid = None
        if os.read(control, 1) == GO:
            pid = _begin(place, terminal, status, ignores_hangup=hears_hangup is signal.SIG_IGN)
            if pid is not None:
                _watch(pid, terminal, control, status, wakes)
        if os.read(control, 1) != BYE:
            _put_in_order(place)
        elif pid is not None:
            _stay(pid, place, control)
    finally:
        os._exit(0)


def tell(status: int, what: str, number: int) -> None:
    with suppress(OSError):  # nobody listens any more
        os.write(status, f"{what} {number}\n".encode())


def _begin(place: Place, terminal: int, status: int, *, ignores_hangup: bool) -> int | None:
    reads, writes = os.pipe()  # closed by the very begin of the command, and told if that fails
    pid = os.fork()
    if pid == 0:
        _become(place, terminal, writes, ignores_hangup=ignores_hangup)
    for descriptor in (writes, *filter(None, place.streams.values())):
        os.close(descriptor)  # only the command has it, so that its end can be seen
    with suppress(OSError):
        os.setpgid(pid, pid)  # it does so itself, and whoever is first is right
    failure = os.read(reads, 16)
    os.close(reads)
    if failure:
        os.waitpid(pid, 0)
        tell(status, REFUSED, int(failure))
        return None
    tell(status, STARTED, pid)
    return pid


def _become(place: Place, terminal: int, failure: int, *, ignores_hangup: bool) -> NoReturn:
    """Be the command, in front of its terminal."""
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # nobody is in front yet, so asking to be would stop us
        os.tcsetpgrp(terminal, os.getpgrp())
        for number in DEFAULTS:
            signal.signal(number, signal.SIG_DFL)
        if ignores_hangup:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for stream, descriptor in place.streams.items():
            os.dup2(terminal if descriptor is None else descriptor, stream)
        execute(place.argv, place.env)
    except OSError as error:
        os.write(failure, str(error.errno or errno.EIO).encode())
    finally:
        os._exit(127)


def execute(argv: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Become a command; a script that does not name its interpreter is the shell's. Raises OSError."""
    try:
        os.execvpe(argv[0], list(argv), env)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    os.execve("/bin/sh", ["/bin/sh", find_program(argv[0]), *argv[1:]], env)


def find_program(name: str) -> str:
    """The file that a command means."""
    from shutil import which

    return which(name) or name


def _watch(pid: int, terminal: int, control: int, status: int, wakes: int) -> None:
    """Tell what becomes of it, until it has ended or we are alone.

    It is not collected before we end, so that its number and that of its group belong to nobody else.
    """
    waits = select.poll()
    waits.register(wakes, select.POLLIN)
    waits.register(control, 0)  # which tells only that it was closed
    while True:
        stopped, code = machine.child_news(pid)
        if code is not None:
            os.close(terminal)  # ours was the last one: now everything that was written there can be read
            return tell(status, ENDED, code)
        if stopped is not None:
            tell(status, STOPPED, stopped)
        for descriptor, _ in waits.poll():
            if descriptor == control:
                return None
            os.read(wakes, 1024)


def _stay(pid: int, place: Place, control: int) -> None:
    """Keep the terminal for who still writes to it: it ends with us, and with it who stands in front of it."""
    os.waitpid(pid, 0)
    for descriptor in (0, 1, 2, place.outer):
        os.close(descriptor)
    os.read(control, 1)


def _put_in_order(place: Place) -> None:
    with suppress(OSError, termios.error):
        termios.tcsetattr(place.outer, termios.TCSANOW, place.modes)
