"""One agent at work: what an engine tells, written into one branch of a run and into those of its subagents."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from lionstudio.domain.conversation import UNKNOWN_CLASS, Branch
from lionstudio.domain.errors import Error, Invalid
from lionstudio.domain.reasons import signal_of
from lionstudio.engines.engine import (
    COMMAND_ENGINE,
    Begun,
    Engine,
    Event,
    NewBranch,
    Noise,
    Process,
    Said,
    Task,
    Unknown,
    Verdict,
)
from lionstudio.engines.pausing import OnProcess, pausing
from lionstudio.engines.saying import NOTICE
from lionstudio.recorders.branch import BranchRecorder
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.context import new_id
from lionstudio.services.native_ids import message_id_in, native_message_id

NOISE_KEPT = 64 * 1024  # characters of what an agent printed beside its stream, its last
UNKNOWN_KEPT = 100  # lines that an engine did not know, its first
UNKNOWN_LENGTH = 2_000  # characters of each
SENTENCE_LENGTH = 500
COMPLAINT = re.compile("error|exception|fatal|panicked", re.IGNORECASE)  # what says more than the last line may
REPORTED = "run.failed.reported"

# What the metadata of a branch says about the conversation that its agent keeps itself.
NATIVE_ID = "native_id"
NATIVE_TOTALS = "native_totals"
ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,127}", re.ASCII)  # nothing that a program would take for an option

Watch = Callable[[Event], None]  # is told every event, after it was recorded


class Worked(NamedTuple):
    """What came of one agent's work."""

    answer: str | None
    exit_code: int  # by D2: what stopped it, else how its process ended; never 0 for one that failed
    reason: str | None = None  # a registered code, where the exit code alone does not tell it
    sentence: str | None = None  # for people
    native_id: str | None = None  # the agent's own id of the conversation
    model: str | None = None  # as the agent told it
    unknown_lines: int = 0
    noise: str = ""  # the last of what it printed beside its stream
    left_out: int = 0  # characters that are missing in the middle of the answer
    has_replaced: bool = False  # some of what the agent printed was not UTF-8


def work(
    engine: Engine,
    task: Task,
    branch: BranchRecorder,
    *,
    stopping: Stopping,
    watch: Watch | None = None,
    on_process: OnProcess | None = None,
) -> Worked:
    """Let an agent do a task, recording all of it into a branch.

    Whatever the agent does, and whatever becomes of the recording, this returns how the agent ended.
    """
    with pausing.joined(on_process) as begun:
        writer = Writer(engine.name, branch, watch=watch, on_process=begun)
        writer.begin(task)
        try:
            verdict = engine.run(task._replace(env={**task.env, **branch.variables}), writer.tell, stopping)
        except Error as error:  # what this agent cannot do
            verdict = Verdict(2, failed=True, reason="run.failed.exception", sentence=" ".join(_parts(error)))
    worked = _judge(engine.name, verdict, writer, stopping.cause)
    writer.end(failed=worked.exit_code != 0)
    return worked


def resumed(task: Task, branch: Branch) -> Task:
    """The task, going on with the conversation that the agent of a recorded branch keeps, if it keeps one."""
    known = branch.node_metadata or {}
    native_id, totals = known.get(NATIVE_ID), known.get(NATIVE_TOTALS)
    is_id = isinstance(native_id, str) and ID.fullmatch(native_id) is not None
    return task._replace(resume=native_id if is_id else None, totals=totals if isinstance(totals, dict) else {})


class Writer:
    """Writes down what an engine tells. An error of ours never reaches the agent: what was refused is counted."""

    def __init__(
        self, engine: str, branch: BranchRecorder, *, watch: Watch | None = None, on_process: OnProcess | None = None
    ) -> None:
        self._engine = engine
        self._own = branch
        self._scope = new_id()  # several agents may work in one branch, one after the other, and name things alike
        self._branches: dict[str, BranchRecorder] = {}
        self._described: set[str] = set()  # those whose model is known
        self._watch = watch
        self._on_process = on_process
        self._unknown: list[str] = []
        self.native_id: str | None = None
        self.model: str | None = None
        self.unknown_lines = 0
        self.noise = ""
        self.refused: list[str] = []  # why something could not be written down

    def begin(self, task: Task) -> None:
        """What was there before the agent: its configuration (R23), its system prompt (R27), what it is asked."""
        told = {
            "provider": self._engine,
            "model": task.model,
            "prompt": task.system,
            "tools": None if task.tools is None else list(task.tools),
            "effort": task.effort,
        }
        self._guarded(self._own.describe, {name: value for name, value in told.items() if value is not None})
        if task.system and not task.system_is_known:
            self._guarded(self._own.system, task.system)
        self._guarded(self._own.user, task.prompt)

    def tell(self, event: Event) -> None:
        """Write one event down, then show it to whoever watches."""
        self._guarded(self._write, event)
        if self._watch is not None:
            with suppress(Exception):  # whoever draws the screen may make mistakes; nothing is lost by it
                self._watch(event)

    def end(self, *, failed: bool) -> None:
        """What is known only now: how much was not understood, and what an agent printed beside its stream.

        Of those that speak in a stream only if they failed; to a command both ways of speaking are the same.
        """
        if self.unknown_lines > UNKNOWN_KEPT:
            self._guarded(self._write_unknown)
        if (failed or self._engine == COMMAND_ENGINE) and self.noise.strip():
            self._guarded(self._keep_notice, "stderr", self.noise)
        if self.refused:
            self._guarded(self._keep_notice, "refused", "Not recorded: " + "; ".join(self.refused))

    def _write(self, event: Event) -> None:
        match event:
            case Said():
                self._say(event)
            case NewBranch():
                self._branch_out(event)
            case Begun():
                self._introduce(event)
            case Unknown(line):
                self.unknown_lines += 1
                if self.unknown_lines <= UNKNOWN_KEPT:
                    self._unknown.append(line[:UNKNOWN_LENGTH])
                    self._write_unknown()
            case Noise(text):
                self.noise = (self.noise + text)[-NOISE_KEPT:]
            case Process() if self._on_process is not None:
                self._on_process(event)

    def _introduce(self, begun: Begun) -> None:
        self.native_id = begun.native_id or self.native_id
        self.model = begun.model or self.model
        known = {
            NATIVE_ID: begun.native_id,
            NATIVE_TOTALS: dict(begun.totals) or None,
            "model": begun.model,
            "available_tools": list(begun.tools) or None,
            **begun.facts,
        }
        self._own.describe({name: value for name, value in known.items() if value is not None})

    def _branch_out(self, new: NewBranch) -> None:
        if new.key in self._branches:
            return
        parent = self._branch_of(new.parent)
        metadata = {"provider": self._engine, NATIVE_ID: new.key, **new.facts}
        self._branches[new.key] = parent.fork(new.name or new.key, at=0, model=new.model, metadata=metadata)

    def _say(self, said: Said) -> None:
        branch = self._branch_of(said.branch)
        self._describe_subagent(said)
        content = said.content
        if said.answers is not None:
            content = {**content, "action_request_id": self._id(said._replace(key=said.answers, id=None))}
        message: dict[str, Any] = {
            "role": said.role,
            "lion_class": said.lion_class,
            "node_metadata": said.metadata or None,
            "id": self._id(said),
            "created_at": said.at,
        }
        try:
            branch.message(content=content, **message)
        except Invalid as error:  # nested too deep, or a number that is none
            note = {"unstorable": str(error), "text": repr(content)[:UNKNOWN_LENGTH]}
            branch.message(content=note, **{**message, "node_metadata": None})

    def _describe_subagent(self, said: Said) -> None:
        """A subagent may have another model than who spawned it; its first answer says which (R23)."""
        key, model = said.branch, said.metadata.get("model")
        if key in self._branches and key not in self._described and isinstance(model, str) and model:
            self._described.add(key)
            self._branches[key].describe({"model": model})

    def _id(self, said: Said) -> str:
        if said.id is not None:
            return said.id
        if said.is_native and self.native_id is not None:
            return native_message_id(self._engine, self.native_id, said.key)
        return self._named(said.key)

    def _named(self, key: str) -> str:
        return message_id_in(self._scope, key)

    def _branch_of(self, key: str | None) -> BranchRecorder:
        return self._own if key is None else self._branches.get(key, self._own)

    def _write_unknown(self) -> None:
        content = {"unknown_lines": self._unknown, "count": self.unknown_lines}
        self._own.message(role=NOTICE, content=content, lion_class=UNKNOWN_CLASS, id=self._named("unknown lines"))

    def _keep_notice(self, role: str, text: str) -> None:
        self._own.message(role=role, content=text, lion_class=UNKNOWN_CLASS, id=self._named(role))

    def _guarded(self, act: Callable[..., Any], *arguments: Any) -> None:
        try:
            act(*arguments)
        except Exception as error:  # noqa: BLE001  a mistake of ours must not end somebody else's work
            if len(self.refused) < UNKNOWN_KEPT:
                self.refused.append(f"{type(error).__name__}: {error}"[:SENTENCE_LENGTH])


def _judge(engine: str, verdict: Verdict, writer: Writer, cause: int | None) -> Worked:
    """How it ended (D2): what we stopped it for counts more than its exit code, and its own word more than a 0."""
    exit_code, reason, sentence = verdict.exit_code, verdict.reason, verdict.sentence
    if cause is not None:
        exit_code, reason = cause, None
    elif verdict.failed and exit_code == 0:
        exit_code, reason = 1, reason or REPORTED
    if exit_code != 0 and cause is None and sentence is None:
        sentence = _last_words(engine, exit_code, writer.noise)
    return Worked(
        answer=verdict.answer,
        exit_code=exit_code,
        reason=reason,
        sentence=None if sentence is None else sentence[:SENTENCE_LENGTH],
        native_id=writer.native_id,
        model=writer.model,
        unknown_lines=writer.unknown_lines,
        noise=writer.noise,
        left_out=verdict.left_out,
        has_replaced=verdict.has_replaced,
    )


def _last_words(engine: str, exit_code: int, noise: str) -> str:
    """Why an agent failed that did not say so in its stream."""
    signal = signal_of(exit_code)
    how = f"was killed by signal {signal}" if signal is not None else f"ended with exit code {exit_code}"
    said = [line.strip() for line in noise.splitlines() if line.strip()]
    if not said:
        return f"{engine} {how}."
    telling = next((line for line in reversed(said) if COMPLAINT.search(line)), said[-1])
    return f"{engine} {how}: {telling}"


def _parts(error: Error) -> list[str]:
    return [error.message, error.hint] if error.hint else [error.message]
