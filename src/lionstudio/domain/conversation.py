"""Messages, branches and progressions: what was said, by whom, in which order."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

_MESSAGES = "lionagi.protocols.messages"
SYSTEM_CLASS = f"{_MESSAGES}.system.System"
INSTRUCTION_CLASS = f"{_MESSAGES}.instruction.Instruction"
ASSISTANT_CLASS = f"{_MESSAGES}.assistant_response.AssistantResponse"
ACTION_REQUEST_CLASS = f"{_MESSAGES}.action_request.ActionRequest"
ACTION_RESPONSE_CLASS = f"{_MESSAGES}.action_response.ActionResponse"
UNKNOWN_CLASS = "__unknown__"  # R12: storing never fails for want of a class

# R11: the ids these classes have in every database.
SEEDED_CLASSES: tuple[str, ...] = (
    UNKNOWN_CLASS,
    SYSTEM_CLASS,
    INSTRUCTION_CLASS,
    ASSISTANT_CLASS,
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
)


class MessageKind(StrEnum):
    """What a message is to a reader, whichever runtime wrote it."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    OTHER = "other"


KIND_BY_CLASS: Mapping[str, MessageKind] = {
    SYSTEM_CLASS: MessageKind.SYSTEM,
    INSTRUCTION_CLASS: MessageKind.USER,
    ASSISTANT_CLASS: MessageKind.ASSISTANT,
    ACTION_REQUEST_CLASS: MessageKind.TOOL_CALL,
    ACTION_RESPONSE_CLASS: MessageKind.TOOL_RESULT,
}
KIND_BY_ROLE: Mapping[str, MessageKind] = {
    "system": MessageKind.SYSTEM,
    "developer": MessageKind.SYSTEM,
    "user": MessageKind.USER,
    "assistant": MessageKind.ASSISTANT,
}
TOOL_ROLES = frozenset({"action", "tool"})  # lionagi says action, most others tool


# lionagi's shape of each kind: its class, and the fields of which it has one. Text that is said goes into the first.
_SHAPES: Mapping[MessageKind, tuple[str, tuple[str, ...]]] = {
    MessageKind.SYSTEM: (SYSTEM_CLASS, ("system_message",)),
    MessageKind.USER: (INSTRUCTION_CLASS, ("instruction",)),
    MessageKind.ASSISTANT: (ASSISTANT_CLASS, ("assistant_response",)),
    MessageKind.TOOL_CALL: (ACTION_REQUEST_CLASS, ("function",)),
    MessageKind.TOOL_RESULT: (ACTION_RESPONSE_CLASS, ("output", "action_request_id")),
}


def spoken(role: str, content: Any) -> tuple[Any, str]:
    """Content as lionagi keeps it, and the class it has there: text takes the shape of its role, and what has the shape
    of its kind the class; anything else stays as it is.
    """
    lion_class, fields = _SHAPES.get(kind_of(UNKNOWN_CLASS, role, content), (UNKNOWN_CLASS, ()))
    if isinstance(content, str) and role in KIND_BY_ROLE:
        return {fields[0]: content}, lion_class
    has_shape = isinstance(content, Mapping) and any(field in content for field in fields)
    return content, lion_class if has_shape else UNKNOWN_CLASS


class MessageDraft(NamedTuple):
    """A message as a writer hands it in. Without an id or a time it gets them when it is stored."""

    role: str
    content: Any
    lion_class: str = UNKNOWN_CLASS
    sender: str | None = None
    recipient: str | None = None
    channel: str | None = None
    node_metadata: Mapping[str, Any] | None = None
    embedding: Sequence[float] | None = None
    id: str | None = None
    created_at: float | None = None

    @property
    def kind(self) -> MessageKind:
        return kind_of(self.lion_class, self.role, self.content)


class Message(NamedTuple):
    """A stored message, as it comes back."""

    id: str
    created_at: float
    role: str
    content: Any
    lion_class: str = UNKNOWN_CLASS
    sender: str | None = None
    recipient: str | None = None
    channel: str | None = None
    node_metadata: Mapping[str, Any] | None = None
    embedding: tuple[float, ...] | None = None
    position: int | None = None  # its place in the history it was read from, counted from 1

    @property
    def kind(self) -> MessageKind:
        return kind_of(self.lion_class, self.role, self.content)


class Branch(NamedTuple):
    """A line of messages within a session; a fork shares its parent's up to `forked_at_ord`."""

    id: str
    created_at: float
    session_id: str
    progression_id: str
    name: str | None = None
    user: str | None = None
    system_msg_id: str | None = None
    parent_branch_id: str | None = None
    forked_at_ord: int | None = None  # how many messages of the parent's history this branch begins with
    last_kind: MessageKind | None = None
    last_tool: str | None = None
    last_at: float | None = None
    node_metadata: Mapping[str, Any] | None = None
    message_count: int = 0  # its own messages; what it inherited is not counted again

    @property
    def model(self) -> str | None:
        """The model it was begun with, where that was said."""
        return _text_at(self.node_metadata, "model")


class BranchTip(NamedTuple):
    """As much of a branch as its activity is derived from: lists read nothing else of it."""

    id: str
    last_kind: MessageKind | None
    last_tool: str | None
    last_at: float | None


class Line(NamedTuple):
    """Where a branch's next message goes: the ends of its own and of its session's progression, which never change."""

    session_id: str
    branch_id: str
    session_progression_id: str
    branch_progression_id: str


class MessagePlace(NamedTuple):
    """Where a message stands: in which branch, and at which position of that branch's history."""

    branch_id: str
    position: int


class OpenCall(NamedTuple):
    """A tool call of a branch that has no result yet."""

    branch_id: str
    call_id: str
    tool: str | None
    since: float


class Sign(NamedTuple):
    """What a message shows about its branch: what that does, and for which tool calls it waits (D5)."""

    kind: MessageKind
    tool: str | None = None  # that is called, or has answered
    answers: str | None = None  # the call that has its result now

    @property
    def opens_call(self) -> bool:
        return self.kind is MessageKind.TOOL_CALL

    @property
    def abandons_calls(self) -> bool:
        """A new turn: calls that have no result yet get none any more."""
        return self.kind is MessageKind.USER


def sign_of(draft: MessageDraft) -> Sign:
    """What a message shows about the branch that it is new to."""
    kind = draft.kind
    if kind is MessageKind.TOOL_CALL:
        return Sign(kind, tool_of(draft.content))
    if kind is MessageKind.TOOL_RESULT:
        return Sign(kind, tool_of(draft.content), _text_at(draft.content, "action_request_id"))
    return Sign(kind)


def kind_of(lion_class: str, role: str, content: Any) -> MessageKind:
    """What a message is to a reader: its class decides, else its role, and for tools the shape of its content."""
    known = KIND_BY_CLASS.get(lion_class) or KIND_BY_ROLE.get(role)
    if known is not None:
        return known
    if isinstance(content, Mapping):
        if "action_request_id" in content or "output" in content:
            return MessageKind.TOOL_RESULT
        if "function" in content:
            return MessageKind.TOOL_CALL
    return MessageKind.TOOL_RESULT if role in TOOL_ROLES else MessageKind.OTHER


def is_tool_error(message: Message) -> bool:
    """Whether a tool result says that the tool failed. A diagnosis, never a status (R105)."""
    return message.kind is MessageKind.TOOL_RESULT and bool(error_in(message.content))


def error_in(content: Any) -> Any:
    """What a tool result says went wrong: True, or in words; nothing if all went well.

    lionagi puts it into the output, beside the call that it repeats there.
    """
    if not isinstance(content, Mapping):
        return None
    output = content.get("output")
    if isinstance(output, Mapping) and "function" in output and output["function"] == content.get("function"):
        return content.get("error") or output.get("error")
    return content.get("error")


def tool_of(content: Any) -> str | None:
    """The tool that a tool call or a tool result is about."""
    return _text_at(content, "function")


def _text_at(content: Any, key: str) -> str | None:
    value = content.get(key) if isinstance(content, Mapping) else None
    return value if isinstance(value, str) else None
