"""The verbs of a recorded branch."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

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
from lionstudio.domain.drafts import require_mapping, require_position, require_texts, require_whole_number
from lionstudio.domain.errors import InvalidRequest
from lionstudio.recorders import ambient
from lionstudio.recorders.recording import Recording, Storing
from lionstudio.recorders.records import branch_record, describe_record, message_record, send_record
from lionstudio.recorders.signals import signals
from lionstudio.services.context import Context, new_id, new_line
from lionstudio.services.messages import append_message, list_inbox, list_outbox, send_message

Seen = Message | int | None  # a message of the inbox or its position: what comes after it is new


class Recorded:
    """A message that was recorded. Await it inside `async with` to know that it is stored."""

    __slots__ = ("_written", "arguments", "function", "id")

    def __init__(self, id: str, written: Storing | None = None) -> None:
        self.id = id
        self.function: str | None = None  # of a tool call
        self.arguments: Any = None
        self._written = written

    def __await__(self) -> Generator[Any, None, "Recorded"]:
        if self._written is not None:
            yield from self._written.__await__()
        return self

    def __repr__(self) -> str:
        return f"Recorded({self.id!r})"


class BranchRecorder:
    """One line of a run's messages. Its verbs return when the message is stored; inside `async with`, await them."""

    def __init__(
        self,
        recording: Recording,
        line: Line,
        *,
        name: str | None,
        model: str | None,
        created: Storing | None = None,
    ) -> None:
        self._recording = recording
        self._line = line
        self._created = created
        self.name = name
        self.model = model

    def __await__(self) -> Generator[Any, None, "BranchRecorder"]:
        if self._created is not None:
            yield from self._created.__await__()
        return self

    def __repr__(self) -> str:
        return f"<Branch {self.name!r} {self.id}>"

    @property
    def id(self) -> str:
        return self._line.branch_id

    @property
    def variables(self) -> dict[str, str]:
        """What the environment of a child process says that belongs to this branch."""
        return ambient.child_variables(self._line)

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
        try:
            metadata = dict(more.pop("node_metadata", None) or {})
            if usage is not None:
                metadata["usage"] = dict(usage)
        except (TypeError, ValueError):
            raise InvalidRequest(
                "usage and node_metadata must be mappings.", hint='Write usage={"input_tokens": 900}.'
            ) from None
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
        call_id = call if isinstance(call, str) else getattr(call, "id", None)
        if not isinstance(call_id, str):
            raise InvalidRequest(
                f"A tool result belongs to a call, which {type(call).__name__} is not.",
                hint="Give what tool_call returned, or its id.",
            )
        content: dict[str, Any] = {
            "function": getattr(call, "function", None),
            "arguments": getattr(call, "arguments", None),
            "output": output,
            "action_request_id": call_id,
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
        own = self._recording.own
        line, at, message_id = self._line, time.time(), id or new_id()
        draft = MessageDraft(
            role, own(content), lion_class, sender, recipient, channel,
            own(node_metadata), own(embedding), message_id, created_at,
        )  # fmt: skip
        written = self._recording.write(
            append_message, line, draft, at, record=lambda: message_record(line, draft, at), branch=self._created
        )
        return Recorded(message_id, written)

    def send(self, recipient: str, content: Any, *, channel: str | None = None, **more: Any) -> Recorded:
        """Put a message into the inbox of another run, agent or branch. It stands in no transcript."""
        own = self._recording.own
        session_id, message_id = self._line.session_id, more.pop("id", None) or new_id()
        more = {"role": "user", "sender": self._sender, "created_at": time.time()} | own(more)
        draft = MessageDraft(content=own(content), recipient=recipient, channel=channel, id=message_id, **more)
        written = self._recording.write(
            send_message, session_id, draft, record=lambda: send_record(session_id, draft), branch=self._created
        )
        return Recorded(message_id, written)

    def inbox(self, after: Seen = None, *, channel: str | None = None) -> list[Message]:
        """What was sent here, oldest first, after a message that was seen; raises Unavailable."""
        return self._box(list_inbox, after, channel)

    def outbox(self, after: Seen = None, *, channel: str | None = None) -> list[Message]:
        """What was sent from here, oldest first, after a message that was seen; raises Unavailable."""
        return self._box(list_outbox, after, channel)

    def describe(self, facts: Mapping[str, Any]) -> None:
        """Add to what is known of this branch (its metadata), over what was said of it under the same names."""
        from lionstudio.services.describing import describe_branch

        line, facts = self._line, self._recording.own(facts)
        self._recording.write(
            describe_branch, line, facts, record=lambda: describe_record(line, facts), branch=self._created
        )

    def fork(
        self,
        name: str | None = None,
        *,
        at: int | None = None,
        model: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> "BranchRecorder":
        """A new branch that begins with the first `at` messages of this one's history; with all of them by default.

        Nothing is copied. Raises ForkOutOfRange.
        """
        require_position(at)
        return self._begin(name, model or self.model, metadata, parent_branch_id=self._line.branch_id, forked_at_ord=at)

    branch = fork

    def _begin(
        self, name: str | None, model: str | None, metadata: Mapping[str, Any] | None, **fork: Any
    ) -> "BranchRecorder":
        from lionstudio.services.branches import BranchDraft, create_branch

        require_texts({"name of a branch": name, "model": model})
        require_mapping("metadata", metadata)
        line = new_line(self._line.session_id)._replace(session_progression_id=self._line.session_progression_id)
        told = {**({"model": model} if model else {}), **(metadata or {})}
        draft = BranchDraft(line, name=name, node_metadata=told or None, created_at=time.time(), **fork)
        created = self._recording.write(create_branch, draft, record=lambda: branch_record(draft), branch=self._created)
        return BranchRecorder(self._recording, line, name=name, model=model, created=created)

    @property
    def _sender(self) -> str:
        return self._line.branch_id

    def _names(self, ctx: Context) -> Sequence[str]:
        return [name for name in (self._line.branch_id, self.name) if name]

    def _box(self, read: Callable[..., list[Message]], after: Seen, channel: str | None) -> list[Message]:
        seen = (after.position if isinstance(after, Message) else after) or 0
        require_whole_number("after", seen)
        require_texts({"channel": channel})
        with signals:
            ctx = self._recording.keeper.ctx
        return read(ctx, self._names(ctx), channel=channel, after=seen)
