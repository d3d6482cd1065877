"""Any command as a recorded run: it does what it would do alone, and ends us as it ends."""

import errno
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from lionstudio.domain.session import InvocationKind
from lionstudio.domain.words import parse_word
from lionstudio.recorders import guard
from lionstudio.recorders.child import why_not_started
from lionstudio.recorders.flows import Flow, Hear, Pump, Target, make_pipe
from lionstudio.recorders.guard import Guard
from lionstudio.recorders.keeper import Keeper, prepare
from lionstudio.recorders.output import TERMINAL, Output
from lionstudio.recorders.processes import put_processes, see_processes
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.recording import Recording
from lionstudio.recorders.saving import Saved
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.context import new_line
from lionstudio.services.sessions import SessionDraft
from lionstudio.settings import load_settings

STDERR = 2
STREAMS: Mapping[int, str] = {1: "stdout", STDERR: "stderr"}
FORWARDED = (signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)  # that would end us, and are meant for the command
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
SHELL = "/bin/sh"
HARMLESS = frozenset("%+,-./:=@_")  # in a word that a shell takes as it is
LEFT_OPEN = "The command has ended, and others keep its output open. What they say from now on is not recorded."


class Wanted(NamedTuple):
    """A command that is to be recorded, and how."""

    argv: Sequence[str]
    name: str | None = None
    kind: str = "command"
    agent: str | None = None
    team: str | None = None
    save: str | None = None  # a folder that is there
    expect: Sequence[str] = ()  # patterns of files, in the folder where the command runs
    timeout: float | None = None
    db: str | None = None


class Ended(NamedTuple):
    """How a command ended: the exit code that says it (D2), and the sentence where that is not enough."""

    code: int
    sentence: str | None = None
    has_begun: bool = True
    is_left_open: bool = False  # others go on writing to its output


def run_recorded(wanted: Wanted, env: Mapping[str, str]) -> Ended:
    """Record a command from its beginning to its end; our own exit code should be its. Only in the main thread.

    Raises what makes the run impossible, before the command is begun. From then on only the command counts.
    """
    run = _announce(wanted)
    told = {**os.environ, **env, **run.variables}
    stopping = Stopping(wanted.timeout)
    with _way(wanted.argv, told) as way, stopping.listen(), run:  # a terminal is made before there is any thread
        run.user(shell_line(wanted.argv), node_metadata={"argv": list(wanted.argv)})
        heard = Heard(run, wanted)
        try:
            ended = way.go(heard, stopping)
        except OSError as error:
            failed = why_not_started(wanted.argv[0], error)
            ended = Ended(failed.code, failed.why, has_begun=False)
        heard.finish(ended)
        run.finish(exit_code=ended.code, sentence=ended.sentence)
        return ended


class Heard:
    """Everything that is done with what a command says, and what is known of it at its end."""

    def __init__(self, run: Run, wanted: Wanted) -> None:
        self._run = run
        self._wanted = wanted
        self._output = Output(run, when_idle=prepare)
        self._saved = None if wanted.save is None else Saved(wanted.save, run.session_id)

    def begun(self, pid: int, *, leads_group: bool) -> None:
        """The command is this process."""
        seen = see_processes(self._run, pid, shell_line(self._wanted.argv), leads_group=leads_group)
        self._output.do(lambda: put_processes(self._run, *seen))

    def hear(self, stream: str) -> Hear:
        output, saved = self._output, self._saved
        if saved is None:
            return lambda said: output.add(stream, said)

        def keep(said: bytes) -> None:
            saved.add(stream, said)
            output.add(stream, said)

        return keep

    def say(self, what: str, sentence: str) -> None:
        """Tell a person on stderr."""
        self._run._recording.keeper.say(what, sentence)

    def finish(self, ended: Ended) -> None:
        """Write down the rest, before the run is ended."""
        last = [LEFT_OPEN] if ended.is_left_open else []
        if self._saved is not None:
            self._saved.close()
            for stream, failure in self._saved.failures.items():
                self.say(f"save {stream}", failure)
                last.append(failure)
        self._output.finish(kept={} if self._saved is None else self._saved.paths, last=last)
        if self._wanted.expect:
            self._look_for_delivery()

    def _look_for_delivery(self) -> None:
        from lionstudio.domain.delivery import DELIVERY
        from lionstudio.recorders.delivery import look_for
        from lionstudio.recorders.records import session_facts_record
        from lionstudio.services.describing import describe_session

        facts = {DELIVERY: look_for(self._wanted.expect, os.getcwd())}
        session_id = self._run.session_id
        self._run._recording.write(
            describe_session, session_id, facts, record=lambda: session_facts_record(session_id, facts)
        )


class Pipes:
    """A command whose output comes to us in pipes. Its input is ours, untouched."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], *, leads_group: bool) -> None:
        self._argv = argv
        self._env = env
        self._leads_group = leads_group

    def go(self, heard: Heard, stopping: Stopping) -> Ended:
        """Run the command to its end; raises OSError if it cannot be begun."""
        reads, writes = zip(*(make_pipe() for _ in STREAMS), strict=True)
        try:
            pid = _spawn(self._argv, self._env, dict(zip(STREAMS, writes, strict=True)), leads_group=self._leads_group)
        finally:
            for descriptor in writes:
                os.close(descriptor)
        flows = [
            Flow(source, Target(number), heard.hear(stream))
            for source, (number, stream) in zip(reads, STREAMS.items(), strict=True)
        ]
        heard.begun(pid, leads_group=self._leads_group)
        return conduct(Guard(pid, leads_group=self._leads_group), flows, heard, stopping)

    def close(self) -> None:
        pass


class OnTerminal:
    """A command on a terminal of its own; only what it says to another place than that comes in a pipe."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str]) -> None:
        """Raises OSError if there is no terminal for it."""
        from lionstudio.recorders.terminal import Terminal

        self._reads: int | None = None
        self._writes: int | None = None
        if not os.isatty(STDERR):
            self._reads, self._writes = make_pipe()
        self._terminal = Terminal(argv, env, stderr=self._writes)

    def go(self, heard: Heard, stopping: Stopping) -> Ended:
        """Run the command to its end; raises OSError if it cannot be begun."""
        from lionstudio.recorders.terminal import TerminalGuard

        terminal = self._terminal
        if self._writes is not None:
            os.close(self._writes)
        watched = TerminalGuard(terminal.begin(), terminal)
        flows = [Flow(terminal.inner, Target(1), heard.hear(TERMINAL)), terminal.keys()]
        if self._reads is not None:
            flows.append(Flow(self._reads, Target(STDERR), heard.hear(STREAMS[STDERR])))
        heard.begun(watched.pid, leads_group=True)
        with watched.watching():
            return conduct(watched, flows, heard, stopping)

    def close(self) -> None:
        self._terminal.close()


@contextmanager
def _way(argv: Sequence[str], env: Mapping[str, str]) -> Iterator[Pipes | OnTerminal]:
    """How a command is run here: on a terminal, or without one."""
    way: Pipes | OnTerminal | None = None
    is_on_terminal, shares_terminal = _look_at_streams()
    if is_on_terminal:
        with suppress(OSError):  # the system has none left
            way = OnTerminal(argv, env)
    # In a group of its own it could not read from the terminal, nor be stopped by its keys.
    way = way or Pipes(argv, env, leads_group=not shares_terminal)
    try:
        yield way
    finally:
        way.close()


def _look_at_streams() -> tuple[bool, bool]:
    if not any(map(os.isatty, (0, 1, 2))):
        return False, False
    from lionstudio.recorders.terminal import is_on_terminal, shares_terminal

    return is_on_terminal(), shares_terminal()


def conduct(watched: Guard, flows: Sequence[Flow], heard: Heard, stopping: Stopping) -> Ended:
    """Pass everything on until the command has ended."""
    with watched, stopping.each(watched.ask), _forwarding(watched):
        is_whole = Pump(flows, watched).run(linger=guard.LINGER)
        cause = watched.cause
        if watched.told is not None:
            watched.end_group()
        code = watched.collect()
    for flow in flows:
        if flow.failure is not None:
            heard.say("target", f"Not all of the output could be passed on: {flow.failure.strerror}.")
        flow.close()
    sentence = f"It did not end within {guard.GRACE:.0f} seconds and was killed." if watched.was_killed else None
    return Ended(code if cause is None else cause, sentence, is_left_open=not is_whole)


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


def _announce(wanted: Wanted) -> Run:
    """The run, as `record` makes it, but ready sooner."""
    line = new_line()
    draft = SessionDraft(
        line=line,
        name=wanted.name,
        kind=parse_word(InvocationKind, wanted.kind, what="kind of run").value,
        agent=wanted.agent,
        show_topic=os.environ.get("LIONAGI_SHOW_TOPIC"),
        show_play=os.environ.get("LIONAGI_SHOW_PLAY"),
        artifacts_path=wanted.save,
        branch_name="main",
        node_metadata=_metadata(wanted),
    )
    keeper = Keeper(load_settings(db=wanted.db), line.session_id, is_prepared=False)
    return Run(Recording(keeper, draft), name=wanted.name, model=None)


def _metadata(wanted: Wanted) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    with suppress(OSError):  # it was deleted
        facts["cwd"] = os.getcwd()
    if wanted.timeout is not None:
        facts["timeout"] = wanted.timeout
    if wanted.expect:
        from lionstudio.domain.delivery import DELIVERY

        facts[DELIVERY] = {"expected": list(wanted.expect)}
    return facts


def shell_line(argv: Sequence[str]) -> str:
    """A command as one would type it."""
    return " ".join(map(_quoted, argv))


def _quoted(word: str) -> str:  # as `shlex` does it, which takes longer to load than the command may take
    if word and all(letter in HARMLESS or (letter.isascii() and letter.isalnum()) for letter in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
