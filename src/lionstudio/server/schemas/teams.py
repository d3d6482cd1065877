"""Teams: rows of lists, one in full, and what its members wrote."""

from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, Field

from lionstudio.domain.chain import team_chain
from lionstudio.domain.state import derive_team_state
from lionstudio.domain.team import TeamMessage, TeamStatus
from lionstudio.domain.team_list import Member
from lionstudio.server.schemas.links import RunLink
from lionstudio.server.schemas.runs import OtherRun, Transition
from lionstudio.server.schemas.states import StateOut
from lionstudio.services.team_list import ListedTeam
from lionstudio.services.team_pages import LinkedRun, TeamDetail, TeamMessagePage


class Order(StrEnum):
    """Which message comes first."""

    NEWEST = "newest"
    OLDEST = "oldest"


class TeamRow(BaseModel):
    """A team as lists show it. A message to several members counts once."""

    id: str
    name: str
    status: TeamStatus
    chain: list[str] = Field(description="the state in words, most telling first")
    state: StateOut
    member_count: int
    message_count: int
    last_message_at: float | None
    created_at: float
    updated_at: float

    @classmethod
    def of(cls, listed: ListedTeam) -> Self:
        return cls(**_row(listed))


def _row(listed: ListedTeam) -> dict[str, Any]:
    team = listed.team
    return {
        "id": team.id,
        "name": team.name,
        "status": team.status,
        "chain": list(team_chain(team, message_count=listed.message_count)),
        "state": StateOut.of(derive_team_state(team)),
        "member_count": team.member_count,
        "message_count": listed.message_count,
        "last_message_at": listed.last_message_at,
        "created_at": team.created_at,
        "updated_at": team.updated_at,
    }


class MemberOut(BaseModel):
    """Someone who wrote in a team or is written to."""

    name: str
    is_member: bool = Field(description="false for those who left, and for notices of the system")
    sent: int
    received: int = Field(description="to them, or to all by someone else")
    unread: int
    last_at: float | None = Field(description="when they last wrote")

    @classmethod
    def of(cls, member: Member) -> Self:
        return cls(**member._asdict())


class TeamRun(RunLink):
    """A run that coordinated through a team."""

    team_messages: int = Field(description="that it wrote to the team")

    @classmethod
    def linked(cls, linked: LinkedRun) -> Self:
        return cls(**RunLink.of(linked.run).model_dump(), team_messages=linked.messages)


class TeamFull(TeamRow):
    """One team in full."""

    members: list[MemberOut] = Field(description="in the order of the team, then everyone else")
    runs: list[TeamRun] = Field(description="the newest ones")
    run_count: int
    history: list[Transition]
    node_metadata: dict[str, Any] | None

    @classmethod
    def full(cls, detail: TeamDetail) -> Self:
        metadata = detail.listed.team.node_metadata
        return cls(
            **_row(detail.listed),
            members=[MemberOut.of(member) for member in detail.members],
            runs=[TeamRun.linked(linked) for linked in detail.runs],
            run_count=detail.run_count,
            history=[Transition.of(step) for step in detail.history],
            node_metadata=None if metadata is None else dict(metadata),
        )


class TeamMessageOut(BaseModel):
    """One message between members."""

    id: str
    team_id: str
    team_name: str
    created_at: float
    sender: str
    recipient: str = Field(description="a name, or all")
    summary: str | None = Field(description="one line for a long message; null: the content is short")
    content: str | None = Field(description="null where only summaries were asked for and there is one")
    content_length: int = Field(description="in characters")
    read_by: list[str]
    session_id: str | None = Field(description="the run it was sent from")
    session: OtherRun | None
    node_metadata: dict[str, Any] | None

    @classmethod
    def of(cls, message: TeamMessage, page: TeamMessagePage, *, full: bool = True) -> Self:
        session = page.sessions.get(message.session_id or "")
        metadata = message.node_metadata
        return cls(
            id=message.id,
            team_id=message.team_id,
            team_name=page.team_names.get(message.team_id, ""),
            created_at=message.created_at,
            sender=message.sender,
            recipient=message.recipient,
            summary=message.summary,
            content=message.content if full or message.summary is None else None,
            content_length=len(message.content),
            read_by=list(message.read_by),
            session_id=message.session_id,
            session=None if session is None else OtherRun.of(session, dict(page.session_names)),
            node_metadata=None if metadata is None else dict(metadata),
        )
