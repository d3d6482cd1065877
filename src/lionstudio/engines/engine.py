"""Engines: one small interface behind which each kind of agent turns what it does into what we record.

An engine does one task and tells what happens in events. It stores nothing: `working.py` does, so that an engine whose
agent is a process is a pure reader of its stream, which a captured one can test.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from lionstudio.domain.conversation import Message
from lionstudio.recorders.stopping import Stopping

COMMAND_ENGINE = "exec"  # the name of the engine whose model is a command


class Task(NamedTuple):
    """What one agent is asked to do."""

    prompt: str
    model: str | None = None  # as the engine calls it, without the engine's own name
    system: str | None = None
    effort: str | None = None
    tools: tuple[str, ...] | None = None  # None: whatever the agent has by itself
    resume: str | None = None  # the agent's own id of a conversation to go on with
    fork: bool = False  # go on with a copy of it
    totals: Mapping[str, Any] = {}  # what that conversation had consumed before, as its agent counts
    history: tuple[Message, ...] = ()  # what was said before, for agents that keep no conversation
    arguments: tuple[str, ...] = ()  # a whole command, for the engine that runs any
    cwd: str | None = None
    env: Mapping[str, str] = {}  # beside our own
    system_is_known: bool = False  # the branch has it already, so that it is not said again
    ends_with_us: bool = False  # it is told to stop if we are killed; else it works on


class Begun(NamedTuple):
    """The agent told who it is. It may do so again, when it knows more."""

    native_id: str | None = None  # its own id of the conversation, by which it can be resumed
    model: str | None = None
    tools: tuple[str, ...] = ()
    facts: Mapping[str, Any] = {}
    totals: Mapping[str, Any] = {}  # what the conversation has consumed so far, where later counts include that


class Process(NamedTuple):
    """The agent is a process, and this is it."""

    pid: int
    command: str


class NewBranch(NamedTuple):
    """A subagent begins: a line of its own."""

    key: str  # the agent's own id of it
    name: str | None = None
    parent: str | None = None  # the key of the branch that spawned it; None is the agent's own
    model: str | None = None
    facts: Mapping[str, Any] = {}


class Said(NamedTuple):
    """One message, in lionagi's shapes. One whose key is known already is overwritten in place."""

    role: str
    lion_class: str
    content: Any
    key: str  # the agent's own id of it, or one made from its place in the stream
    branch: str | None = None  # a NewBranch's key; None is the agent's own
    metadata: Mapping[str, Any] = {}  # with `model` and `usage`, where this message is what they belong to
    at: float | None = None
    answers: str | None = None  # of a tool result: the key of its call
    is_native: bool = False  # the key is in the agent's own files, too, so that reading those finds the same message
    id: str | None = None  # the id to store it with, where the agent's own is one of ours already


class Unknown(NamedTuple):
    """Something that this engine does not know. It is kept and counted, and nothing is guessed from it."""

    line: str


class Noise(NamedTuple):
    """What an agent's process printed beside its stream, to its standard error for instance."""

    text: str


Event = Begun | Process | NewBranch | Said | Unknown | Noise
Tell = Callable[[Event], None]


class Verdict(NamedTuple):
    """How it ended: by the exit code of its process, and by its own words, which an exit code may contradict."""

    exit_code: int = 0  # as a shell says it
    failed: bool | None = None  # None: it did not say
    reason: str | None = None  # a registered code
    sentence: str | None = None  # for people
    answer: str | None = None  # the last thing the agent itself said
    left_out: int = 0  # characters that are missing in the middle of that, because it has no end
    has_replaced: bool = False  # some of what it printed was not UTF-8


class Engine(Protocol):
    """One kind of agent."""

    @property
    def name(self) -> str: ...

    def require(self) -> None:
        """Raise an Error that says how to install it, if it is not here."""

    def run(self, task: Task, tell: Tell, stopping: Stopping) -> Verdict:
        """Do a task, telling what happens as it happens; raises InvalidRequest for what this agent cannot do."""


class Reader(Protocol):
    """Reads the stream of one process, line by line, from its beginning to its end."""

    def read(self, line: str) -> Iterable[Event]:
        """What a line means; never raises, whatever the line is."""

    def rest(self) -> Iterable[Event]:
        """What is to be told before the next line comes, which may take long."""

    def end(self) -> Iterable[Event]:
        """What is known only once the stream has ended; asked once, after the last line."""

    def verdict(self, exit_code: int) -> Verdict:
        """What the stream said about its end; asked once, after `end`."""
