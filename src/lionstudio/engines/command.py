"""The engine `exec`: any command is an agent. It gets the prompt, and what it prints is its answer."""

import shlex
import time
from collections.abc import Iterable, Sequence

from lionstudio.domain.errors import InvalidRequest
from lionstudio.engines.both_ends import BothEnds
from lionstudio.engines.engine import COMMAND_ENGINE, Event, Said, Task, Tell, Verdict
from lionstudio.engines.history import whole_prompt
from lionstudio.engines.process import run_process
from lionstudio.engines.saying import answer
from lionstudio.recorders.stopping import Stopping

PROMPT = "{prompt}"  # in an argument: where the prompt goes; without it the command reads it from its standard input
WITHOUT_ARGUMENT = f"Leave out {PROMPT}, and the command reads the prompt from standard input."
HALF_RECORDED = 512 * 1024  # characters of an answer that are recorded, of its beginning and of its end
HALF_KEPT = 32 * 1024 * 1024  # … and that who asked is given: whoever prints without end must not fill the memory
SHORT = 16 * 1024  # characters of an answer that is shown with everything that comes to it
GROWN = 1.1  # by how much a longer one grows before it is shown again …
SHOW_EVERY = 1.0  # … or after how many seconds
KEY = "answer"


class CommandEngine:
    """Any command. Which one is said by the task, or in the place of a model: `exec/./my-agent --fast`."""

    name = COMMAND_ENGINE

    def require(self) -> None:
        """Nothing has to be installed."""

    def run(self, task: Task, tell: Tell, stopping: Stopping) -> Verdict:
        argv = command_of(task)
        prompt = whole_prompt(task) if not task.system else f"{task.system}\n\n{whole_prompt(task)}"
        if any(PROMPT in argument for argument in argv):
            argv = [argument.replace(PROMPT, prompt) for argument in argv]
            return run_process(
                argv,
                task,
                stdin=None,
                reader=CommandReader(),
                tell=tell,
                stopping=stopping,
                if_too_long=WITHOUT_ARGUMENT,
            )
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
    """What a command prints, as one answer that grows. Who asked gets all of it, within reason; less is recorded."""

    def __init__(self) -> None:
        self._recorded = BothEnds(HALF_RECORDED)
        self._whole = BothEnds(HALF_KEPT)
        self._show_at = float("-inf")
        self._shown_length = 0

    def read(self, line: str) -> Iterable[Event]:
        for kept in (self._recorded, self._whole):
            kept.add(line + "\n")
        return ()

    def rest(self) -> Iterable[Event]:
        now, length = time.monotonic(), self._whole.length
        # Each time all of it is written: what is long is shown again when it has grown, or after a while.
        is_due = length <= SHORT or length >= self._shown_length * GROWN or now >= self._show_at
        if not is_due or length == self._shown_length:
            return ()
        self._show_at, self._shown_length = now + SHOW_EVERY, length
        return [self._said()]

    def end(self) -> Iterable[Event]:
        return [self._said()] if self._whole.length > self._shown_length else []

    def verdict(self, exit_code: int) -> Verdict:
        whole = self._whole.text().rstrip("\n")
        return Verdict(exit_code, answer=whole or None, left_out=self._whole.left_out)

    def _said(self) -> Said:
        return answer(self._recorded.text().rstrip("\n"), KEY)
