"""Messages, as they are sent in and as they come back."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from lionstudio.domain.conversation import Message, MessageDraft, MessageKind, spoken
from lionstudio.domain.drafts import LARGEST_TIME
from lionstudio.server.schemas.texts import Length

LARGEST_POSITION = 2**53  # what every reader of JSON takes as it is
MESSAGES_AT_ONCE = 1_000
ID_LENGTH = 200
# An id stands in addresses, so it has nothing in it that an address would take for something else.
Id = Annotated[str, Field(min_length=1, max_length=ID_LENGTH, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@+-]*$")]
Name = Annotated[str, Length(4_000)]
Role = Annotated[str, Length(100, at_least=1), Field(examples=["user", "assistant", "system", "action"])]
# Too late a time is refused with a hint: mostly it is one in milliseconds.
Seconds = Annotated[float, Field(ge=-LARGEST_TIME, allow_inf_nan=False, description="unix seconds")]


class MessageOut(BaseModel):
    """A stored message."""

    id: str
    position: int | None = Field(description="its place in the history it was read from, counted from 1")
    branch_ids: list[str] | None = Field(description="the branches it stands in, where they are known")
    created_at: float
    kind: MessageKind
    role: str
    content: Any
    sender: str | None
    recipient: str | None
    channel: str | None
    lion_class: str
    node_metadata: dict[str, Any] | None

    @classmethod
    def of(cls, message: Message, branch_ids: Sequence[str] | None = None) -> Self:
        metadata = message.node_metadata
        return cls(
            id=message.id,
            position=message.position,
            branch_ids=None if branch_ids is None else list(branch_ids),
            created_at=message.created_at,
            kind=message.kind,
            role=message.role,
            content=message.content,
            sender=message.sender,
            recipient=message.recipient,
            channel=message.channel,
            lion_class=message.lion_class,
            node_metadata=None if metadata is None else dict(metadata),
        )


class PositionsOut(BaseModel):
    """Where the messages stand that were looked for."""

    positions: list[int] = Field(description="in the history that was asked about, in order")
    is_all: bool = Field(description="false: there are more than an answer holds")


class MessageIn(BaseModel):
    """A message to store. One whose id is known is overwritten in place, and counted once."""

    model_config = ConfigDict(extra="forbid")

    role: Role
    content: JsonValue = Field(description="text, or an object in one of lionagi's shapes")
    id: Id | None = None
    branch_id: Id | None = Field(None, description="the branch it goes to (default: the run's first)")
    created_at: Seconds | None = None
    sender: Name | None = None
    recipient: Name | None = None
    channel: Name | None = None
    lion_class: Name | None = Field(None, description="a class of lionagi's; without it the role and the shape decide")
    node_metadata: dict[str, JsonValue] | None = Field(None, description="holds model and usage, and what you like")

    def draft(self) -> MessageDraft:
        content, lion_class = spoken(self.role, self.content)
        return MessageDraft(
            role=self.role,
            content=content,
            lion_class=self.lion_class or lion_class,
            sender=self.sender,
            recipient=self.recipient,
            channel=self.channel,
            node_metadata=self.node_metadata,
            id=self.id,
            created_at=self.created_at,
        )


MessagesIn = Annotated[list[MessageIn], Field(max_length=MESSAGES_AT_ONCE)]


class Stored(BaseModel):
    """The ids of what was stored, in the order it was sent. They are on disk."""

    ids: list[str]
