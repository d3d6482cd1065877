"""An agent that is a process: fed with its prompt, its stream read line by line, asked to stop when the run is."""

import os
from codecs import getincrementaldecoder
from collections.abc import Sequence

from lionstudio.engines.engine import Noise, Process, Reader, Task, Tell, Verdict
from lionstudio.engines.lines import Lines
from lionstudio.recorders.child import run_child
from lionstudio.recorders.command_lines import shell_line
from lionstudio.recorders.stopping import Stopping

LONGEST_ARGUMENT = 131_071  # bytes that Linux takes


def run_process(
    argv: Sequence[str], task: Task, *, stdin: str | None, reader: Reader, tell: Tell, stopping: Stopping
) -> Verdict:
    """Run a command to its end, telling what its stream means as it comes."""
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
    if not ended.started:
        return Verdict(ended.code, failed=True, sentence=f"It could not be started: {ended.why}.{_way_out(argv)}")
    return reader.verdict(ended.code)._replace(has_replaced=lines.has_replaced)


def _way_out(argv: Sequence[str]) -> str:
    """What to do about a command that the operating system does not take."""
    if max(len(argument.encode()) for argument in argv) <= LONGEST_ARGUMENT:
        return ""
    return " The prompt is too long for an argument: leave out {prompt}, and the command reads it from standard input."


def _plain(text: str) -> str:
    """Text that the operating system takes: it knows no NUL and no half characters."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()
