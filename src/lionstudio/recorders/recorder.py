"""Recording a run from Python: the public SDK."""

import os
import sys
import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextvars import Token
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lionstudio import machine
from lionstudio.domain.conversation import (
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
    ASSISTANT_CLASS,
    INSTRUCTION_CLASS,
    SYSTEM_CLASS,
    UNKNOWN_CLASS,
    Line,
    Message,
    MessageDraft,
)
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.domain.session import InvocationKind, SessionStatus
from lionstudio.domain.words import parse_word
from lionstudio.recorders import ambient
from lionstudio.recorders.endings import (
    Ending,
    ending_of_exception,
    ending_of_exit_code,
    normal_ending,
    signals,
)
from lionstudio.recorders.keeper import LEAVING_PATIENCE, Keeper
from lionstudio.recorders.records import (
    Record,
    branch_record,
    finish_record,
    message_record,
    send_record,
    start_record,
)
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import new_id, new_line
from lionstudio.services.messages import append_message, list_inbox, list_names, send_message
from lionstudio.services.sessions import SessionDraft, finish_session, start_session
from lionstudio.settings import load_settings

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

SIGNAL_PATIENCE = 2.0  # who sent the signal will not wait long before the next one
COMMAND_LIMIT = 1_000


class Recorded:
    """A message that was recorded. Await it inside `async with` to know that it is stored."""

    __slots__ = ("_written", "arguments", "function", "id")

    def __init__(self, id: str, function: str | None = None, arguments: Any = None) -> None:
        self.id = id
        self.function = function
        self.arguments = arguments
        self._written: Future[None] | None = None

    def __await__(self) -> Generator[Any, None, "Recorded"]:
        if self._written is not None:
            from asyncio import wrap_future

            yield from wrap_future(self._written).__await__()
        return self

    def __repr__(self) -> str:
        return f"Recorded({self.id!r})"


class BranchRecorder:
    """One line of a run's messages. Its verbs return when the message is stored."""

    def __init__(self, run: "Run", line: Line, *, name: str | None, model: str | None) -> None:
        self._run = run
        self._line = line
        self.name = name
        self.model = model

    @property
    def id(self) -> str:
        return self._line.branch_id

    def system(self, text: Any, **more: Any) -> Recorded:
        """The system prompt of this branch."""
        return self.message(role="system", content={"system_message": text}, lion_class=SYSTEM_CLASS, **more)

    def user(self, text: Any, **more: Any) -> Recorded:
        """What the agent was told or asked."""
        return self.message(role="user", content={"instruction": text}, lion_class=INSTRUCTION_CLASS, **more)

    def assistant(
        self, text: Any, *, usage: Mapping[str, Any] | None = None, model: str | None = None, **more: Any
    ) -> Recorded:
        """What the model answered, and what that consumed."""
        metadata = dict(more.pop("node_metadata", None) or {})
        if usage is not None:
            metadata["usage"] = dict(usage)
        if (model or self.model) and (usage is not None or model):
            metadata.setdefault("model", model or self.model)
        content = {"assistant_response": text}
        return self.message(
            role="assistant", content=content, lion_class=ASSISTANT_CLASS, node_metadata=metadata or None, **more
        )

    def tool_call(self, function: str, arguments: Any = None, **more: Any) -> Recorded:
        """The agent uses a tool; hand the result of this call to `tool_result`."""
        arguments = {} if arguments is None else arguments
        content = {"function": function, "arguments": arguments}
        recorded = self.message(role="action", content=content, lion_class=ACTION_REQUEST_CLASS, **more)
        recorded.function, recorded.arguments = function, arguments
        return recorded

    def tool_result(self, call: Recorded | str, output: Any = None, *, error: Any = None, **more: Any) -> Recorded:
        """What a tool call came to; `error` is True or says what went wrong."""
        content: dict[str, Any] = {
            "function": getattr(call, "function", None),
            "arguments": getattr(call, "arguments", None),
            "output": output,
            "action_request_id": call if isinstance(call, str) else call.id,
        }
        if error:
            content["error"] = error
        return self.message(role="action", content=content, lion_class=ACTION_RESPONSE_CLASS, **more)

    def message(
        self,
        *,
        role: str,
        content: Any,
        lion_class: str = UNKNOWN_CLASS,
        sender: str | None = None,
        recipient: str | None = None,
        channel: str | None = None,
        node_metadata: Mapping[str, Any] | None = None,
        embedding: Sequence[float] | None = None,
        id: str | None = None,
        created_at: float | None = None,
    ) -> Recorded:
        """Any message at all. One whose id is known already is overwritten in place."""
        draft = MessageDraft(
            role, content, lion_class, sender, recipient, channel, node_metadata, embedding, id or new_id(), created_at
        )
        at = time.time()
        return self._run._record(
            Recorded(draft.id or ""),
            append_message, self._line, draft, at,
            record=lambda: message_record(self._line, draft, at),
        )  # fmt: skip

    def send(self, recipient: str, content: Any, *, channel: str | None = None, **more: Any) -> Recorded:
        """Put a message into the inbox of another run, agent or branch. It stands in no transcript."""
        sender = more.pop("sender", None) or self._sender
        draft = MessageDraft(
            more.pop("role", "user"), content, sender=sender, recipient=recipient, channel=channel, id=new_id(), **more
        )
        session_id = self._line.session_id
        return self._run._record(
            Recorded(draft.id or ""),
            send_message, session_id, draft,
            record=lambda: send_record(session_id, draft),
        )  # fmt: skip

    def fork(self, name: str | None = None, *, at: int | None = None, model: str | None = None) -> "BranchRecorder":
        """A new branch that begins with the first `at` messages of this one's history; with all of them by default.

        Nothing is copied. Raises ForkOutOfRange.
        """
        line = self._run._new_line()
        model = model or self.model
        draft = BranchDraft(
            line,
            name=name,
            parent_branch_id=self._line.branch_id,
            forked_at_ord=at,
            node_metadata={"model": model} if model else None,
            created_at=time.time(),
        )
        self._run._record(Recorded(line.branch_id), create_branch, draft, record=lambda: branch_record(draft))
        return BranchRecorder(self._run, line, name=name, model=model)

    branch = fork

    @property
    def _sender(self) -> str:
        return self._line.branch_id


class Run(BranchRecorder):
    """A recorded run: a context manager, sync or async, whose verbs write to the run's first branch."""

    def __init__(self, keeper: Keeper, draft: SessionDraft, *, model: str | None) -> None:
        super().__init__(self, draft.line, name=draft.name, model=model)
        self._keeper = keeper
        self._draft = draft
        self._owner = self._pid = os.getpid()
        self._state = "new"
        self._token: Token[str | None] | None = None
        self._worker: ThreadPoolExecutor | None = None

    @property
    def session_id(self) -> str:
        return self._line.session_id

    @property
    def env(self) -> dict[str, str]:
        """The environment for a child process that belongs to this run."""
        return {**os.environ, **ambient.child_variables(self._line)}

    def start(self) -> "Run":
        """Begin the run; the same as entering the block."""
        with signals:
            self._begin()
        self._enter()
        return self

    def finish(self, status: str | None = None, exit_code: int | None = None) -> None:
        """End the run; the same as leaving the block. A second time, and in the child of a fork, it does nothing."""
        ending = normal_ending() if exit_code is None else ending_of_exit_code(exit_code)
        if status is not None:
            final = parse_word(SessionStatus, status, what="status")
            ending = {"status": final.value, "exit_code": exit_code}
        self._finish(ending)

    def inbox(self, after: Message | int | None = None, *, channel: str | None = None) -> list[Message]:
        """What was sent to this run, its agent or its branches, oldest first, after a message that was seen."""
        seen = after.position if isinstance(after, Message) else after
        names = list_names(self._keeper.ctx, self.session_id)
        return list_inbox(self._keeper.ctx, names, channel=channel, after=seen or 0)

    def __enter__(self) -> "Run":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._finish(ending_of_exception(error))

    async def __aenter__(self) -> "Run":
        from concurrent.futures import ThreadPoolExecutor

        # One thread, so that messages are written in the order they were said.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="lionstudio-recorder")
        await self._off_loop(self._begin)
        self._enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        from asyncio import shield

        ending = ending_of_exception(error)
        await shield(self._off_loop(lambda: self._end(ending, LEAVING_PATIENCE)))
        self._leave()
        if self._worker is not None:
            self._worker.shutdown(wait=False)

    @property
    def _sender(self) -> str:
        return self._line.session_id

    def _begin(self) -> None:
        if self._state != "new":
            raise InvalidRequest(f"This run has {self._state} already.", hint="Call lionstudio.record() for a new one.")
        self._keeper.open()
        draft, process = replace(self._draft, started_at=time.time()), self._own_process()
        self._keeper.write(start_session, draft, process, record=lambda: start_record(draft, process))
        self._state = "started"
        self._owner = self._pid = os.getpid()

    def _enter(self) -> None:
        signals.add(self.session_id, self._finish_on_signal)
        self._token = ambient.enter(self._line, self._draft.parent_session_id)

    def _off_loop(self, work: Callable[[], None]) -> Awaitable[None]:
        from asyncio import get_running_loop

        return get_running_loop().run_in_executor(self._worker, work)

    def _record(
        self, recorded: Recorded, action: Callable[..., Any], *arguments: Any, record: Callable[[], Record]
    ) -> Recorded:
        if self._state != "started":
            raise InvalidRequest(
                "This run is not open." if self._state == "new" else "This run has ended.",
                hint="Use it as a context manager: with lionstudio.record(…) as run:",
            )
        if os.getpid() != self._pid:
            self._after_fork()
        if self._worker is not None:
            recorded._written = self._worker.submit(self._keeper.write, action, *arguments, record=record)
        else:
            with signals:
                self._keeper.write(action, *arguments, record=record)
        return recorded

    def _new_line(self) -> Line:
        fresh = new_line(self._line.session_id)
        return fresh._replace(session_progression_id=self._line.session_progression_id)

    def _after_fork(self) -> None:
        self._keeper.after_fork()
        self._pid = os.getpid()
        self._worker = None  # its thread stayed in the parent

    def _finish(self, ending: Ending, patience: float = LEAVING_PATIENCE) -> None:
        if self._state != "started" or os.getpid() != self._owner:
            return
        with signals:
            self._end(ending, patience)
        self._leave()

    def _end(self, ending: Ending, patience: float) -> None:
        self._state = "ended"
        session_id, ending = self.session_id, {"at": time.time(), **ending}
        self._keeper.write(
            lambda ctx: finish_session(ctx, session_id, **ending), record=lambda: finish_record(session_id, ending)
        )
        self._keeper.finish(patience=patience)

    def _leave(self) -> None:
        signals.remove(self.session_id)
        ambient.leave(self._line, self._token)
        self._token = None

    def _finish_on_signal(self, ending: Ending) -> None:
        if self._state == "started" and os.getpid() == self._owner:
            self._end(ending, SIGNAL_PATIENCE)

    def _own_process(self) -> ProcessRecord:
        seen = machine.own_identity()
        return ProcessRecord(
            session_id=self.session_id,
            role=ProcessRole.AGENT,
            place=machine.here(),
            pid=seen.pid,
            start_time=seen.start_time,
            pgid=os.getpgid(0),
            owns_group=False,
            command=" ".join(sys.argv)[:COMMAND_LIMIT] or None,
        )


def record(
    name: str | None = None,
    *,
    kind: str = InvocationKind.AGENT.value,
    agent: str | None = None,
    model: str | None = None,
    playbook: str | None = None,
    user: str | None = None,
    artifacts_path: str | os.PathLike[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    db: str | os.PathLike[str] | None = None,
) -> Run:
    """A run to record: use it as a context manager, or call `start` and `finish`.

    Raises UnknownWord for a kind that does not exist, and ForeignDatabase, when it starts, for another program's file.
    """
    parse_word(InvocationKind, kind, what="kind of run")
    line = new_line()
    draft = SessionDraft(
        line=line,
        name=name,
        kind=kind,
        user=user,
        agent=agent,
        playbook=playbook,
        show_topic=os.environ.get("LIONAGI_SHOW_TOPIC"),
        show_play=os.environ.get("LIONAGI_SHOW_PLAY"),
        artifacts_path=None if artifacts_path is None else os.path.abspath(artifacts_path),
        parent_session_id=ambient.parent_session_id(),
        branch_name="main",
        node_metadata=metadata,
        branch_metadata={"model": model} if model else None,
    )
    settings = load_settings(db=None if db is None else os.fspath(db))
    return Run(Keeper(settings, line.session_id), draft, model=model)
