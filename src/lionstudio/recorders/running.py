"""How a command is run here: on a terminal of its own, or with its output in pipes; all of it passed on untouched."""

import errno
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from lionstudio.domain.reasons import as_shell_code
from lionstudio.recorders import guard
from lionstudio.recorders.flows import Flow, Pump, Target, make_pipe
from lionstudio.recorders.guard import Guard
from lionstudio.recorders.output import TERMINAL
from lionstudio.recorders.stopping import CAUSES, DEADLINE, SIGNALS, Stopping

if TYPE_CHECKING:
    from typing import Protocol

    from lionstudio.recorders.flows import Hear

    class Listener(Protocol):
        """Who wants to know what a command does."""

        def begun(self, pid: int, *, leads_group: bool) -> None:
            """The command is this process; whether it has a group of its own."""

        def lasts(self) -> None:
            """The command takes longer than a moment."""

        def hear(self, stream: str) -> Hear:
            """What is to be called with all that is said in a stream."""

        def say(self, what: str, sentence: str) -> None:
            """Tell a person, once for each kind of thing."""


STDERR = 2
STREAMS: Mapping[int, str] = {1: "stdout", STDERR: "stderr"}
FORWARDED = (signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)  # that would end us, and are meant for the command
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
SHELL = "/bin/sh"
OUTPUT_LOST = 1  # the exit code of a command that says 0 although not all of its output arrived, as its own would be
NOT_PASSED_ON = "Not all of the output could be passed on"


class Ended(NamedTuple):
    """How a command ended: the exit code that says it (D2), and the sentence where that is not enough."""

    code: int
    sentence: str | None = None
    has_begun: bool = True
    is_left_open: bool = False  # others go on writing to its output
    died_of: int | None = None  # a signal that asks to stop: it died of it, or we passed it on
    reason: str | None = None  # the registered code, where the exit code does not say enough

    @property
    def way_to_end(self) -> int:
        """How we should end ourselves: by an exit code, or of a signal, as a negative number.

        Shells stop their script or loop only for one who dies of Ctrl-C, and say the same code either way.
        """
        return self.code if self.died_of is None else -self.died_of


class Pipes:
    """A command whose output comes to us in pipes. Its input is ours, untouched."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, leads_group: bool) -> None:
        self._argv = argv
        self._env = env
        self._leads_group = leads_group

    def go(self, heard: "Listener", stopping: Stopping) -> Ended:
        """Run the command to its end."""
        reads, writes = zip(*(make_pipe() for _ in STREAMS), strict=True)
        flows = [
            Flow(source, Target(number), heard.hear(stream))
            for source, (number, stream) in zip(reads, STREAMS.items(), strict=True)
        ]
        try:
            pid = _spawn(self._argv, self._env, dict(zip(STREAMS, writes, strict=True)), leads_group=self._leads_group)
        except OSError as error:
            return not_begun(self._argv, error)
        finally:
            for descriptor in writes:
                os.close(descriptor)
        watched = Guard(pid, leads_group=self._leads_group)
        heard.begun(pid, leads_group=self._leads_group)
        return conduct(watched, flows, heard, stopping, outlives_us=True)

    def close(self) -> None:
        pass


class OnTerminal:
    """A command on a terminal of its own; only what it says to another place than that comes in a pipe."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Raises OSError if there is no terminal for it."""
        from lionstudio.recorders.terminal import Terminal

        self._argv = argv
        self._is_interrupted = self._is_left_open = False
        self._stderr = None if os.isatty(STDERR) else make_pipe()
        try:
            self._terminal = Terminal(argv, env, stderr=self._stderr)
        except OSError:
            for descriptor in self._stderr or ():
                os.close(descriptor)
            raise

    def go(self, heard: "Listener", stopping: Stopping) -> Ended:
        """Run the command to its end."""
        from lionstudio.recorders.terminal import TerminalGuard

        terminal = self._terminal
        flows = [Flow(terminal.inner, Target(1), heard.hear(TERMINAL)), terminal.keys()]
        if self._stderr is not None:
            reads, writes = self._stderr
            flows.append(Flow(reads, Target(STDERR), heard.hear(STREAMS[STDERR])))
            os.close(writes)
        try:
            watched = TerminalGuard(terminal.begin(), terminal)
        except OSError as error:
            return not_begun(self._argv, error)
        heard.begun(watched.pid, leads_group=True)
        with watched.watching():
            ended = conduct(watched, flows, heard, stopping)
        self._is_left_open = ended.is_left_open
        if watched.cause is not None:
            return ended
        self._is_interrupted = terminal.is_interrupted and ended.died_of == signal.SIGINT
        if ended.died_of is None and terminal.was_interrupted_within(guard.GRACE):
            # It took the interrupt for itself. That is why it ended (D2), and not a reason for us to die of it.
            return ended._replace(code=guard.INTERRUPT, sentence=None, reason=None)
        return ended

    def close(self) -> None:
        self._terminal.give_back()
        if self._is_interrupted:
            self._terminal.interrupt_others()
        self._terminal.close(is_left_open=self._is_left_open)


def told_before(cause: int) -> Ended:
    """How a command ends that was told to before it began."""
    return Ended(cause, "It was told to stop before it began", has_begun=False, died_of=SIGNALS[cause])


def not_begun(argv: Sequence[str], error: OSError) -> Ended:
    from lionstudio.recorders.child import why_not_started

    why = why_not_started(argv[0], error)
    return Ended(why.code, why.why, has_begun=False)


@contextmanager
def way_of(argv: Sequence[str], env: Mapping[str, str]) -> Iterator[Pipes | OnTerminal]:
    """How a command is run here: on a terminal, or without one."""
    way: Pipes | OnTerminal | None = None
    if _is_on_terminal():
        with suppress(OSError):  # the system has none left
            way = OnTerminal(argv, env)
    # In a group of its own it could not read from the terminal, not even a password, nor be stopped by its keys.
    way = way or Pipes(argv, env, leads_group=not _has_terminal())
    try:
        yield way
    finally:
        way.close()


def _is_on_terminal() -> bool:
    if not all(map(os.isatty, (0, 1))):
        return False
    from lionstudio.recorders.terminal import is_on_terminal

    return is_on_terminal()


def _has_terminal() -> bool:
    """Whether we were started from a terminal, wherever our streams go."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def conduct(
    watched: Guard, flows: Sequence[Flow], heard: "Listener", stopping: Stopping, *, outlives_us: bool = False
) -> Ended:
    """Pass everything on until the command has ended. If we are killed, that goes on for one that `outlives_us`."""
    wills = ExitStack()

    def lasts() -> None:
        heard.lasts()
        if outlives_us:
            _write_wills(flows, wills)

    with watched, stopping.each(watched.ask):
        with _forwarding(watched), wills:  # not while it is collected, for then its number may become anybody's
            is_whole = Pump(flows, watched).run(linger=guard.LINGER, if_it_lasts=lasts)
            cause = watched.cause
            if watched.told is not None:
                watched.end_group()
        code = watched.collect()
    died_of = -code if cause is None else SIGNALS[cause]
    for flow in flows:
        if flow.failure is not None:
            heard.say("target", f"{NOT_PASSED_ON}: {flow.failure.strerror}.")
        if flow.is_open:
            _pass_on_for_others(flow, watched, heard)
        flow.close()
    # Who goes by the exit code must not be misled about stdout.
    if cause is None and code == 0 and flows and (lost := flows[0].failure):
        why = f"{NOT_PASSED_ON}: {lost.strerror}."
        return Ended(OUTPUT_LOST, why, is_left_open=not is_whole, reason="run.failed.output_lost")
    sentence = f"It did not end within {guard.GRACE:.0f} seconds and was killed." if watched.was_killed else None
    return Ended(
        as_shell_code(code) if cause is None else cause,
        sentence,
        is_left_open=not is_whole,
        died_of=died_of if died_of in CAUSES and cause != DEADLINE else None,
    )


def _write_wills(flows: Sequence[Flow], wills: ExitStack) -> None:
    with suppress(OSError, ImportError):  # what is there for the worst must do no harm
        from lionstudio.recorders.last_will import PASS_ON, LastWill

        for flow in flows:
            if flow.source is not None and flow.target is not None:
                will = LastWill(PASS_ON, streams={1: flow.target.given, 4: flow.source})
                wills.enter_context(will)
                flow.when_refused = will.tear_up  # for it reads there, too


def _pass_on_for_others(flow: Flow, watched: Guard, heard: "Listener") -> None:
    """Let what others still write reach its target without us."""
    from lionstudio.recorders.left_writers import pass_on

    if flow.source is None or flow.target is None or flow.is_held_up:
        return  # nobody took what they wrote before
    try:
        pass_on(flow.source, flow.target.given, holds=watched.holds)
    except (OSError, NotImplementedError) as error:
        heard.say("left open", f"What others still write to the output of the command is lost: {error}.")


@contextmanager
def _forwarding(watched: Guard) -> Iterator[None]:
    """Inside, signals that mean nothing to us reach the command."""

    def forward(number: int, frame: Any) -> None:
        if number != signal.SIGQUIT or watched.leads_group:  # else the keys of the terminal have told it
            watched.signal(number)

    wanted = [number for number in FORWARDED if signal.getsignal(number) is signal.SIG_DFL]
    before = {number: signal.signal(number, forward) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _spawn(argv: Sequence[str], env: Mapping[str, str], streams: Mapping[int, int], *, leads_group: bool) -> int:
    """Begin a command that has these streams; its pid. Raises OSError."""
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, number) for number, descriptor in streams.items()]
    group: dict[str, Any] = {"setpgroup": 0} if leads_group else {}
    try:
        return os.posix_spawnp(argv[0], list(argv), env, file_actions=actions, setsigdef=IGNORED_BY_PYTHON, **group)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    from lionstudio.recorders.monitor import find_program

    # A script that does not name its interpreter is the shell's.
    argv = [SHELL, find_program(argv[0]), *argv[1:]]
    return os.posix_spawnp(SHELL, argv, env, file_actions=actions, setsigdef=IGNORED_BY_PYTHON, **group)
