"""A run, as things that are not runs name it."""

from typing import Self

from pydantic import BaseModel, Field

from lionstudio.domain.chain import state_chain
from lionstudio.domain.session import SessionStatus
from lionstudio.server.schemas.states import StateOut
from lionstudio.services.runs import SessionSummary


class RunLink(BaseModel):
    """A run that a play or a team leads to."""

    id: str
    display_name: str
    status: SessionStatus | None
    chain: list[str] = Field(description="the state in words, most telling first")
    state: StateOut
    created_at: float
    last_message_at: float | None
    message_count: int

    @classmethod
    def of(cls, summary: SessionSummary) -> Self:
        session = summary.session
        return cls(
            id=session.id,
            display_name=summary.display_name,
            status=session.status,
            chain=list(state_chain(session, summary.verdict)),
            state=StateOut.of(summary.state),
            created_at=session.created_at,
            last_message_at=session.last_message_at,
            message_count=session.message_count,
        )
