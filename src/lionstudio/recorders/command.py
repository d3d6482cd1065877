"""Any command as a recorded run: it does what it would do alone, and ends us as it ends."""

import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from lionstudio.domain.session import InvocationKind
from lionstudio.domain.words import parse_word
from lionstudio.recorders.ambient import PLAY_VARIABLE, TOPIC_VARIABLE
from lionstudio.recorders.command_lines import shell_line
from lionstudio.recorders.flows import Hear
from lionstudio.recorders.keeper import Keeper, prepare
from lionstudio.recorders.output import Output
from lionstudio.recorders.processes import put_processes, see_processes
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.recording import Recording
from lionstudio.recorders.records import open_call_record, session_facts_record
from lionstudio.recorders.running import Ended, told_before, way_of
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.context import new_line
from lionstudio.services.open_calls import open_call
from lionstudio.services.sessions import SessionDraft
from lionstudio.settings import load_settings

if TYPE_CHECKING:
    from lionstudio.recorders.run_folder import RunFolder
    from lionstudio.recorders.saving import Saved

FOLDER_AFTER = 1.0  # seconds: what writes a run folder takes longer to load than a short command may be held up
LEFT_OPEN = (
    "The command has ended, and others keep its output open. "
    "What they say from now on is passed on, but no longer recorded."
)


class Wanted(NamedTuple):
    """A command that is to be recorded, and how."""

    argv: Sequence[str]
    name: str | None = None
    kind: str = "command"
    agent: str | None = None
    save: str | None = None  # a folder that is there
    expect: Sequence[str] = ()  # patterns of files, in the folder where the command runs
    timeout: float | None = None
    db: str | None = None


def run_recorded(wanted: Wanted, env: Mapping[str, str]) -> Ended:
    """Record a command from its beginning to its end; our own exit code should be its. Only in the main thread.

    Raises what makes the run impossible, before the command is begun. From then on only the command counts.
    """
    run = _announce(wanted)
    told = {**os.environ, **env, **run.variables}
    stopping = Stopping()
    with way_of(wanted.argv, told) as way, stopping.listen(), run:  # a terminal is made before there is any thread
        run.user(shell_line(wanted.argv), node_metadata={"argv": list(wanted.argv)})
        heard = Heard(run, wanted)
        try:
            if stopping.cause is not None:
                ended = told_before(stopping.cause)
            else:
                with stopping.within(wanted.timeout):  # of the command: what recording took before is not its time
                    ended = way.go(heard, stopping)
            heard.finish(ended)
            run.finish(exit_code=ended.code, reason=ended.reason, sentence=ended.sentence)
        finally:
            heard.finish_folder()
        return ended


class Heard:
    """Everything that is done with what a command says, and what is known of it at its end."""

    def __init__(self, run: Run, wanted: Wanted) -> None:
        self._run = run
        self._wanted = wanted
        self._output = Output(run, when_idle=prepare)
        self._saved = None if wanted.save is None else _save_to(wanted.save, run.session_id)
        self._folder: RunFolder | None = None
        self._folder_timer = threading.Timer(FOLDER_AFTER, lambda: self._output.do(self._begin_folder))

    def begun(self, pid: int, *, leads_group: bool) -> None:
        """The command is this process."""
        seen = see_processes(self._run, pid, shell_line(self._wanted.argv), leads_group=leads_group)
        self._output.do(lambda: put_processes(self._run, *seen))

    def lasts(self) -> None:
        """It will be seen at work."""
        self._output.do(self._show_at_work)
        self._output.start()
        self._folder_timer.daemon = True
        self._folder_timer.start()

    def _show_at_work(self) -> None:
        """Let the run wait for its command until it ends, as others wait for a tool (D5)."""
        recording, program, began = self._run._recording, os.path.basename(self._wanted.argv[0]), time.time()
        line, call_id = recording.line, recording.line.branch_id
        recording.write(
            open_call, line, call_id, program, began, record=lambda: open_call_record(line, call_id, program, began)
        )

    def _begin_folder(self) -> None:
        """Show the run in a folder, too."""
        from lionstudio.recorders.run_folder import RunFolder

        self._folder = RunFolder(self._run, cwd=_cwd())
        self._folder.begin()

    def finish_folder(self) -> None:
        """Let the folder say how the run ended, which it has."""
        if self._folder is not None:
            self._folder.finish()

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
        self._folder_timer.cancel()
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
        from lionstudio.services.describing import describe_session

        try:
            facts = {DELIVERY: look_for(self._wanted.expect, os.getcwd())}
        except OSError as error:
            return self.say("expect", f"What the command was to leave could not be looked for: {error.strerror}.")
        session_id = self._run.session_id
        record = session_facts_record(session_id, facts)
        self._run._recording.write(describe_session, session_id, facts, record=lambda: record)
        return None


def _save_to(folder: str, session_id: str) -> "Saved":
    from lionstudio.recorders.saving import Saved

    return Saved(folder, session_id)


def _announce(wanted: Wanted) -> Run:
    """The run, as `record` makes it, but ready sooner."""
    line = new_line()
    draft = SessionDraft(
        line=line,
        name=wanted.name,
        kind=parse_word(InvocationKind, wanted.kind, what="kind of run").value,
        agent=wanted.agent,
        show_topic=os.environ.get(TOPIC_VARIABLE),
        show_play=os.environ.get(PLAY_VARIABLE),
        artifacts_path=wanted.save,
        branch_name="main",
        node_metadata=_metadata(wanted),
    )
    settings = load_settings(db=wanted.db)
    keeper = Keeper(settings, line.session_id, is_prepared=False, makes_folder=False, hurries=True)
    return Run(Recording(keeper, draft), name=wanted.name, model=None)


def _metadata(wanted: Wanted) -> dict[str, Any]:
    cwd = _cwd()
    facts: dict[str, Any] = {} if cwd is None else {"cwd": cwd}
    if wanted.timeout is not None:
        facts["timeout"] = wanted.timeout
    if wanted.expect:
        from lionstudio.domain.delivery import DELIVERY

        facts[DELIVERY] = {"expected": list(wanted.expect)}
    return facts


def _cwd() -> str | None:
    with suppress(OSError):  # it was deleted
        return os.getcwd()
    return None
