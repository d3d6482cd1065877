"""A child process with a group of its own: fed, heard, and told to stop."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import NamedTuple

from lionstudio.domain.reasons import as_shell_code
from lionstudio.recorders import guard
from lionstudio.recorders.flows import Feed, Flow, Hear, Pump
from lionstudio.recorders.last_will import PASS_ON, TELL_TO_END, LastWill
from lionstudio.recorders.stopping import Stopping

NOT_EXECUTABLE, NOT_FOUND = 126, 127


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
    ends_with_us: bool = False,
    on_start: Callable[[int], None],
    on_stdout: Hear,
    on_stderr: Hear,
) -> Exit:
    """Run a command to its end, from any thread; what it says is told in this one as it comes.

    It gets a session and a process group of its own. Asked to stop, it has GRACE seconds, or until the next Ctrl-C, and
    nothing of its group is left when this returns, nor when it raises. What it left behind when it ended by itself is
    left alone (ADR 0033). Without `stdin` it has nothing to read. If we are killed it works on, unless it
    `ends_with_us`.
    """
    from subprocess import DEVNULL, PIPE, Popen

    if stopping.cause is not None:
        return Exit(stopping.cause, "it was told to stop before it began")
    try:
        process = Popen(
            argv,
            bufsize=0,
            stdin=DEVNULL if stdin is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,  # in front of no terminal: one that asks there for a password is refused at once
        )
    except OSError as error:
        return why_not_started(argv[0], error)
    flows: list[Flow] = []
    with process, guard.Guard(process.pid, asks_once=True) as watched, stopping.each(watched.ask):
        assert process.stdout is not None and process.stderr is not None
        on_start(process.pid)
        try:
            for stream, hear in ((process.stdout, on_stdout), (process.stderr, on_stderr)):
                os.set_blocking(stream.fileno(), False)
                flows.append(Flow(os.dup(stream.fileno()), None, hear))
                stream.close()
            if process.stdin is not None:
                flows.append(Feed(stdin or b"", os.dup(process.stdin.fileno())))
                process.stdin.close()
            with ExitStack() as wills:
                for will in _wills_for(process.pid, flows[:2], ends_with_us=ends_with_us):
                    wills.enter_context(will)
                Pump(flows, watched).run(linger=guard.LINGER)
            if watched.told is None:
                _let_others_write(flows[:2])
        finally:
            for flow in flows:
                flow.close()
        if watched.told is not None:
            watched.end_group()
        return Exit(as_shell_code(process.wait()))


def _let_others_write(outputs: Sequence[Flow]) -> None:
    """See to it that who still writes to the output does not die of it, though nobody hears it any more."""
    for flow in outputs:
        if flow.source is not None:
            from lionstudio.recorders.left_writers import pass_on

            with suppress(OSError, NotImplementedError), open(os.devnull, "wb") as nobody:
                pass_on(flow.source, nobody.fileno())


def _wills_for(pid: int, outputs: Sequence[Flow], *, ends_with_us: bool) -> list[LastWill]:
    if ends_with_us:
        return [LastWill(TELL_TO_END, streams={}, group=pid)]
    return [LastWill(PASS_ON, streams={4: flow.source}, group=pid) for flow in outputs if flow.source is not None]


def why_not_started(program: str, error: OSError) -> Exit:
    """What a shell would say of a command that could not be started."""
    found = not isinstance(error, FileNotFoundError | NotADirectoryError)
    where = "" if error.filename in (None, program) else f" ({error.filename})"
    return Exit(NOT_EXECUTABLE if found else NOT_FOUND, f"{program}: {error.strerror or error}{where}")
