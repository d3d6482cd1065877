"""The engine `codex`: Codex, run without a terminal."""

import time
from collections.abc import Iterator

from lionstudio.domain.errors import InvalidRequest
from lionstudio.engines.codex_rollouts import home_of, look_up
from lionstudio.engines.codex_stream import CodexReader
from lionstudio.engines.engine import Task, Tell, Verdict
from lionstudio.engines.history import whole_prompt
from lionstudio.engines.process import run_process
from lionstudio.engines.programs import Program
from lionstudio.recorders.stopping import Stopping

PROGRAM = Program("codex", "Codex", "LIONSTUDIO_CODEX", "npm install -g @openai/codex")
LONGEST_SYSTEM = 100_000  # bytes; Linux takes 131,072 in one argument


class CodexEngine:
    """Codex. It works in the sandbox that its user has configured; we never ask for more."""

    name = "codex"

    def require(self) -> None:
        PROGRAM.require()

    def run(self, task: Task, tell: Tell, stopping: Stopping) -> Verdict:
        argv = [PROGRAM.path, *options(task)]
        home = home_of(task.env)
        before = look_up(home, task.resume).totals or task.totals
        began_at = None if task.resume is None else time.time()
        reader = CodexReader(task._replace(totals=before), lambda thread: look_up(home, thread, began_at))
        return run_process(argv, task, stdin=whole_prompt(task), reader=reader, tell=tell, stopping=stopping)


def options(task: Task) -> Iterator[str]:
    """What the program is told beside the prompt; raises InvalidRequest for what it cannot do."""
    if task.tools is not None:
        raise InvalidRequest("Codex takes no list of tools.", hint="Leave out tools, or choose the engine claude.")
    yield "exec"
    if task.resume is not None:
        yield "fork" if task.fork else "resume"
    # The check is whether a folder is under git, and asks a person. What it may do there is decided by its sandbox.
    yield from ("--json", "--skip-git-repo-check")
    if task.model is not None:
        yield from ("--model", task.model)
    if task.effort is not None:
        yield from ("--config", f"model_reasoning_effort={toml_text(task.effort)}")
    if task.system:
        if len(task.system.encode(errors="replace")) > LONGEST_SYSTEM:
            raise InvalidRequest(
                "The system prompt is too long for Codex.",
                hint=f"Keep it under {LONGEST_SYSTEM:,} bytes, or put it into AGENTS.md.",
            )
        yield from ("--config", f"developer_instructions={toml_text(task.system)}")
    if task.resume is not None:
        yield task.resume
    yield "-"  # the prompt comes by standard input


def toml_text(text: str) -> str:
    """A text as TOML writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + "".join(f"\\u{ord(letter):04x}" if ord(letter) < 32 or ord(letter) == 127 else letter for letter in escaped)
        + '"'
    )
