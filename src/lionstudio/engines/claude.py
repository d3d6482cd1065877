"""The engine `claude`: Claude Code, run without a terminal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lionstudio.engines.claude_stream import ClaudeReader
from lionstudio.engines.engine import Task, Tell, Verdict
from lionstudio.engines.history import whole_prompt
from lionstudio.engines.process import run_process
from lionstudio.engines.programs import Program
from lionstudio.recorders.stopping import Stopping

PROGRAM = Program("claude", "Claude Code", "LIONSTUDIO_CLAUDE", "npm install -g @anthropic-ai/claude-code")
LONGEST_ARGUMENT = 100_000  # bytes; Linux takes 131,072 in one argument
# What subagents say, too, which the program leaves out by default. Not an option, which older versions would refuse.
FORWARD = "CLAUDE_CODE_FORWARD_SUBAGENT_TEXT"


class ClaudeEngine:
    """Claude Code. It works with the permissions that its user has given it; we never ask for more."""

    name = "claude"

    def require(self) -> None:
        PROGRAM.require()

    def run(self, task: Task, tell: Tell, stopping: Stopping) -> Verdict:
        prompt = whole_prompt(task)
        reader = ClaudeReader(task._replace(prompt=prompt))
        task = task._replace(env={FORWARD: os.environ.get(FORWARD, "1"), **task.env})
        with _system_options(task.system) as system:
            argv = [PROGRAM.path, *options(task), *system]
            return run_process(argv, task, stdin=prompt, reader=reader, tell=tell, stopping=stopping)


def options(task: Task) -> Iterator[str]:
    """What the program is told beside the prompt and the system prompt."""
    # Partial messages, because only they say how long an answer became when it is there.
    yield from ("--print", "--output-format", "stream-json", "--verbose", "--include-partial-messages")
    if task.model is not None:
        yield from ("--model", task.model)
    if task.effort is not None:
        yield from ("--effort", task.effort)
    if task.resume is not None:
        yield from ("--resume", task.resume)
        if task.fork:
            yield "--fork-session"
    if task.tools is not None:
        # The agent has these and no others of its own, and need not ask for them: that is what naming them means.
        built_in = dict.fromkeys(tool.partition("(")[0] for tool in task.tools if not tool.startswith("mcp__"))
        yield from ("--tools", ",".join(built_in))
        if task.tools:
            yield from ("--allowedTools", ",".join(task.tools))


@contextmanager
def _system_options(system: str | None) -> Iterator[list[str]]:
    """How the program is told its system prompt, which is added to its own: in a file, if it is long."""
    from tempfile import NamedTemporaryFile

    told = (system or "").encode(errors="replace")
    if not told:
        yield []
    elif len(told) <= LONGEST_ARGUMENT:
        yield ["--append-system-prompt", told.decode()]
    else:
        with NamedTemporaryFile(prefix="lionstudio-", suffix=".md") as file:
            file.write(told)
            file.flush()
            yield ["--append-system-prompt-file", file.name]
