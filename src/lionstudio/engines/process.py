"""An agent that is a process: fed with its prompt, its stream read line by line, asked to stop when the run is."""

import errno
import os
from codecs import getincrementaldecoder
from collections.abc import Sequence

from lionstudio.engines.engine import Noise, Process, Reader, Task, Tell, Verdict
from lionstudio.engines.lines import Lines
from lionstudio.recorders.child import run_child
from lionstudio.recorders.command_lines import shell_line
from lionstudio.recorders.stopping import Stopping

TOO_LONG = os.strerror(errno.E2BIG)


def run_process(
    argv: Sequence[str],
    task: Task,
    *,
    stdin: str | None,
    reader: Reader,
    tell: Tell,
    stopping: Stopping,
    if_too_long: str = "",
) -> Verdict:
    """Run a command to its end, telling what its stream means as it comes.

    `if_too_long` is what to do about arguments that the operating system does not take.
    """
    argv = [_plain(argument) for argument in argv]
    lines = Lines()
    noise = getincrementaldecoder("utf-8")("replace")  # a character may come in two pieces

    def read(line: str) -> None:
        for event in reader.read(line):
            tell(event)

    def hear(data: bytes) -> None:
        for line in lines.feed(data):
            read(line)
        for event in reader.rest():
            tell(event)

    ended = run_child(
        argv,
        stopping=stopping,
        stdin=None if stdin is None else stdin.encode(errors="replace"),
        env={**os.environ, **{name: _plain(value) for name, value in task.env.items()}},
        cwd=task.cwd,
        ends_with_us=task.ends_with_us,
        on_start=lambda pid: tell(Process(pid, shell_line(argv))),
        on_stdout=hear,
        on_stderr=lambda data: tell(Noise(noise.decode(data))),
    )
    if cut := noise.decode(b"", final=True):
        tell(Noise(cut))
    for line in lines.end():
        read(line)
    for event in reader.end():
        tell(event)
    if ended.why is not None:
        way_out = f" {if_too_long}" if if_too_long and ended.why.endswith(TOO_LONG) else ""
        return Verdict(ended.code, failed=True, sentence=f"It could not be started: {ended.why}.{way_out}")
    return reader.verdict(ended.code)._replace(has_replaced=lines.has_replaced)


def _plain(text: str) -> str:
    """Text that the operating system takes: it knows no NUL and no half characters."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()
