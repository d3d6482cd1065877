"""The engine `exec`: any command is an agent. It gets the prompt, and what it prints is its answer."""

import shlex
import time
from collections.abc import Iterable, Sequence

from lionstudio.domain.errors import InvalidRequest
from lionstudio.engines.engine import Event, Said, Task, Tell, Verdict
from lionstudio.engines.history import whole_prompt
from lionstudio.engines.process import run_process
from lionstudio.engines.saying import answer
from lionstudio.recorders.stopping import Stopping

PROMPT = "{prompt}"  # in an argument: where the prompt goes; without it the command reads it from its standard input
HALF_KEPT = 512 * 1024  # characters of an answer that is kept, at its beginning and at its end
SHORT = 16 * 1024  # characters of an answer that is shown with everything that comes to it
GROWN = 1.1  # by how much a longer one grows before it is shown again …
SHOW_EVERY = 1.0  # … or after how many seconds
KEY = "answer"


class CommandEngine:
    """Any command. Which one is said by the task, or in the place of a model: `exec/./my-agent --fast`."""

    name = "exec"

    def require(self) -> None:
        """Nothing has to be installed."""

    def run(self, task: Task, tell: Tell, stopping: Stopping) -> Verdict:
        argv = command_of(task)
        prompt = whole_prompt(task) if not task.system else f"{task.system}\n\n{whole_prompt(task)}"
        if any(PROMPT in argument for argument in argv):
            argv = [argument.replace(PROMPT, prompt) for argument in argv]
            return run_process(argv, task, stdin=None, reader=CommandReader(), tell=tell, stopping=stopping)
        return run_process(argv, task, stdin=prompt, reader=CommandReader(), tell=tell, stopping=stopping)


def command_of(task: Task) -> Sequence[str]:
    """The command of a task; raises InvalidRequest for one that has none, or asks for what a command cannot do."""
    if task.tools is not None or task.effort is not None:
        asked = "tools" if task.tools is not None else "effort"
        raise InvalidRequest(f"A command has no {asked}.", hint=f"Leave out {asked}, or choose another engine.")
    try:
        argv = list(task.arguments) or shlex.split(task.model or "")
    except ValueError as error:
        raise InvalidRequest(f"{task.model!r} is not a command: {error}.", hint="Close every quote.") from None
    if not argv:
        raise InvalidRequest(
            "The engine exec needs a command.", hint=f"Write it after a slash: 'exec/./my-agent {PROMPT}'"
        )
    return argv


class CommandReader:
    """What a command prints, as one answer that grows."""

    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self._length = 0
        self._show_at = float("-inf")
        self._shown_length = 0

    def read(self, line: str) -> Iterable[Event]:
        self._keep(line + "\n")
        return ()

    def rest(self) -> Iterable[Event]:
        now = time.monotonic()
        # Each time all of it is written: what is long is shown again when it has grown, or after a while.
        is_due = self._length <= SHORT or self._length >= self._shown_length * GROWN or now >= self._show_at
        if not is_due or self._length == self._shown_length:
            return ()
        self._show_at, self._shown_length = now + SHOW_EVERY, self._length
        return [self._said()]

    def end(self) -> Iterable[Event]:
        return [self._said()] if self._length > self._shown_length else []

    def verdict(self, exit_code: int) -> Verdict:
        return Verdict(exit_code, answer=self._text() or None)

    def _keep(self, text: str) -> None:
        self._length += len(text)
        room = HALF_KEPT - len(self._head)
        self._head += text[:room] if room > 0 else ""
        self._tail = (self._tail + text[max(0, room) :])[-HALF_KEPT:]

    def _said(self) -> Said:
        return answer(self._text(), KEY)

    def _text(self) -> str:
        left_out = self._length - len(self._head) - len(self._tail)
        cut = f"\n… {left_out:,} characters are left out …\n" if left_out else ""
        return (self._head + cut + self._tail).rstrip("\n")
