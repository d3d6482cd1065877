"""Going on with a recorded conversation, in a run of its own: from its end, or with a copy of it from any position.

An agent that keeps its conversations goes on with its own. Any other, and one that is to go on from the middle, is
given what was said as it was recorded.
"""

import re
import shlex
from contextlib import suppress
from typing import Any, NamedTuple

from lionstudio.domain.conversation import Branch, Message, MessageKind
from lionstudio.domain.errors import Conflict, ForkOutOfRange, InvalidRequest, SessionIsRunning, SessionNotFound
from lionstudio.domain.phrases import count_of
from lionstudio.domain.session import InvocationKind, Session, SourceKind, steps_of
from lionstudio.engines.engine import COMMAND_ENGINE, Task
from lionstudio.engines.history import tell_history
from lionstudio.engines.known import engine_name
from lionstudio.engines.launch import Parent
from lionstudio.engines.working import NATIVE_ID, resumed
from lionstudio.services.branches import find_own_branch, list_forks, walk_history
from lionstudio.services.context import Context
from lionstudio.services.following import may_still_be_written_to
from lionstudio.services.forking import history_length
from lionstudio.services.session_finding import resolve_session

COPIES = frozenset({"claude", "codex"})  # engines whose agents can go on with a copy of a conversation
TAKES_MESSAGES = frozenset({"lionagi"})  # engines that are given messages, and need no text
POSITION = re.compile(r"(.+):(\d{1,9})", re.DOTALL)
LAST_POSITION = 999_999_999
SPOKEN = frozenset({MessageKind.SYSTEM, MessageKind.USER, MessageKind.ASSISTANT})


class Conversation(NamedTuple):
    """A recorded conversation, as far as a new run goes on with it."""

    session: Session
    branch: Branch
    position: int
    history: tuple[Message, ...]
    is_running: bool  # somebody may still write to it
    is_copied: bool  # the new run leaves the agent's own conversation as it is
    has_gone_on: bool  # the agent's own conversation was gone on with in another run

    @property
    def is_ours(self) -> bool:
        """It was recorded here. What another machine wrote is material, and never says what is run, where, or how."""
        return self.session.source_kind is SourceKind.LIVE

    @property
    def parent(self) -> Parent:
        return Parent(self.session.id, self.branch.id, self.position)

    @property
    def which(self) -> str | None:
        """Whose conversation it is, where the run had several agents."""
        return f"It goes on with {self.branch.name}, the last step of the run." if steps_of(self.session) else None

    @property
    def engine(self) -> str | None:
        """The name of its engine."""
        return self._text("provider")

    @property
    def model(self) -> str | None:
        """ENGINE/MODEL, as it can be typed; raises Conflict for a command that somebody else has written."""
        engine, model = self.engine, self._text("model")
        if engine is None or model is None:
            named = engine
        else:
            named = model if model.partition("/")[0] == engine else f"{engine}/{model}"
        if named is not None and not self.is_ours and engine_name(named) == COMMAND_ENGINE:
            raise _not_ours(self.session, named)
        return named

    @property
    def system(self) -> str | None:
        return self._text("prompt")

    @property
    def effort(self) -> str | None:
        return self._text("effort")

    @property
    def cwd(self) -> str | None:
        """Where its agent worked."""
        cwd = (self.session.node_metadata or {}).get("cwd") if self.is_ours else None
        return cwd if isinstance(cwd, str) else None

    @property
    def tools(self) -> tuple[str, ...] | None:
        tools = self._told("tools") if self.is_ours else None
        return tuple(map(str, tools)) if isinstance(tools, list) else None

    def _text(self, name: str) -> str | None:
        value = self._told(name)
        return value if isinstance(value, str) and value else None

    def _told(self, name: str) -> Any:
        return (self.branch.node_metadata or {}).get(name)


def find_to_resume(ctx: Context, typed: str) -> Conversation:
    """The conversation of a run that has ended, or that nobody will end; raises SessionNotFound and Conflict."""
    session = resolve_session(ctx, typed)
    if may_still_be_written_to(ctx, session):
        raise SessionIsRunning(
            f"The run {typed!r} still runs, and only one agent can go on with it.",
            hint=f"li runs wait {session.id} waits for its end; --fork-from {session.id} goes on with a copy now.",
        )
    return _read(ctx, session, None, is_copied=False)


def find_to_fork(ctx: Context, typed: str) -> Conversation:
    """The conversation of RUN[:POSITION]; raises SessionNotFound, ForkOutOfRange, Conflict."""
    found = POSITION.fullmatch(typed)
    try:
        return _read(ctx, resolve_session(ctx, typed), None, is_copied=True)
    except SessionNotFound:
        if found is None:
            _require_number(ctx, typed)
            raise
    return _read(ctx, resolve_session(ctx, found[1]), int(found[2]), is_copied=True)


def _require_number(ctx: Context, typed: str) -> None:
    """Raise InvalidRequest if a run is named rightly, and its position is none."""
    name, colon, position = typed.rpartition(":")
    if colon and name:
        with suppress(SessionNotFound):
            resolve_session(ctx, name)
            raise InvalidRequest(
                f"{position!r} is no position: that is a number from 0 to {LAST_POSITION}.",
                hint=f"li runs tail {shlex.quote(name)} shows the position of each message.",
            )


def go_on(task: Task, engine: str, conversation: Conversation) -> tuple[Task, str | None]:
    """The task within a conversation, and what a person should know about how that is done."""
    task = task._replace(system_is_known=bool(task.system) and task.system == _system_said(conversation))
    native = resumed(task, conversation.branch)._replace(fork=conversation.is_copied)
    why_not = _why_not_natively(engine, conversation, native.resume)
    if why_not is None:
        return native, None
    task = task._replace(history=conversation.history)
    if engine in TAKES_MESSAGES or not tell_history(conversation.history):
        return task, None
    return task, f"{why_not}, so it is given what was said before as text."


def _why_not_natively(engine: str, conversation: Conversation, native_id: str | None) -> str | None:
    """Why an agent cannot go on with its own conversation; None if it can."""
    if engine != conversation.engine:
        return f"The conversation is one of {conversation.engine or 'nobody that is known'}"
    if not conversation.is_ours:
        return "The run was imported"
    if native_id is None:
        return f"{engine} keeps no conversation"
    if conversation.position < history_length(conversation.branch):
        return f"{engine} cannot go on from the middle of a conversation"
    if conversation.is_running:
        return "The run still runs"
    if conversation.has_gone_on:
        return f"The conversation that {engine} keeps has gone on since"
    if conversation.is_copied and engine not in COPIES:
        return f"{engine} cannot copy a conversation"
    return None


def _read(ctx: Context, session: Session, position: int | None, *, is_copied: bool) -> Conversation:
    branch = find_own_branch(ctx, session)
    if branch is None:
        raise _no_last_word(session)
    length = history_length(branch)
    if position is not None and position > length:
        raise ForkOutOfRange(
            f"The run {session.id} has {count_of(length, 'message')} and cannot be forked at {position}.",
            hint=f"Choose a position from 0 (nothing is kept) to {length} (everything is kept).",
        )
    is_command = session.invocation_kind is InvocationKind.COMMAND
    if is_command or not any(message.kind in SPOKEN for message in walk_history(ctx, branch)):
        raise _no_conversation(session)
    at = length if position is None else position
    history = tuple(walk_history(ctx, branch, upto=at))
    is_running = may_still_be_written_to(ctx, session)
    return Conversation(session, branch, at, history, is_running, is_copied, _has_gone_on(ctx, branch))


def _has_gone_on(ctx: Context, branch: Branch) -> bool:
    native_id = (branch.node_metadata or {}).get(NATIVE_ID)
    forks = list_forks(ctx, branch.id)
    return any((fork.node_metadata or {}).get(NATIVE_ID) == native_id for fork in forks if native_id is not None)


def _system_said(conversation: Conversation) -> str | None:
    """The system prompt that a fork of the conversation is under."""
    said = [message for message in conversation.history if message.kind is MessageKind.SYSTEM]
    content = said[-1].content if said else None
    text = content.get("system_message") if isinstance(content, dict) else None
    return text if isinstance(text, str) else None


def _not_ours(session: Session, named: str) -> Conflict:
    """Who imports a run has not read the command in it."""
    command = named.partition("/")[2].strip()
    shown = f": {command}" if command else ""
    return Conflict(
        f"The run {session.id} was imported, so the command that its agent was is not run unread{shown}",
        hint=f'Type the command that you trust: li agent exec "…" --resume {shlex.quote(session.id)} -- CMD',
    )


def _no_conversation(session: Session) -> Conflict:
    what = "it is a command" if session.invocation_kind is InvocationKind.COMMAND else "nothing was said in it"
    return Conflict(
        f"The run {session.id} has no conversation of an agent: {what}.",
        hint="li runs ls --kind agent shows the runs of agents.",
    )


def _no_last_word(session: Session) -> Conflict:
    names = ", ".join(steps_of(session))
    return Conflict(
        f"The run {session.id} had several agents, and none that began had the last word: {names}.",
        hint=f"Pipe in what another agent is to know: li runs tail {shlex.quote(session.id)} | li agent ENGINE …",
    )


def require_one(resume: str | None, fork_from: str | None) -> None:
    """Raise InvalidRequest for who wants to go on with a run and with a copy of it."""
    if resume is not None and fork_from is not None:
        raise InvalidRequest("--resume and --fork-from are two ways to go on.", hint="Leave out one of them.")
