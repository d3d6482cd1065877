"""Which messages of teams a reader asked for, and what is counted for each member."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from lionstudio.domain.team import ALL_RECIPIENTS, Team


class Beside(NamedTuple):
    """What was written, while a session lasted, in the teams that it wrote to (R123)."""

    session_id: str
    since: float
    until: float


class MessageFilter(NamedTuple):
    """What a message must be to be listed; None asks for nothing."""

    team_id: str | None = None
    session_id: str | None = None  # that it was sent from
    beside: Beside | None = None
    member: str | None = None  # it is there for this member
    is_unread: bool = False  # … who has not read it
    sender: str | None = None
    recipient: str | None = None


class Written(NamedTuple):
    """How many messages went from one name to another and were read by the same members; and when the last one did.

    A message to several members is told to each of them, and sent once: with the first.
    """

    sender: str
    recipient: str
    read_by: tuple[str, ...]
    times: int
    last_at: float
    sent: int  # those of them that went to nobody else before


class Member(NamedTuple):
    """Someone who wrote in a team or is written to. `is_member` is false for those who left, and for notices."""

    name: str
    is_member: bool
    sent: int = 0
    received: int = 0  # to them, and for members: to all by someone else
    unread: int = 0
    last_at: float | None = None  # when they last wrote


def derive_members(team: Team, written: Iterable[Written]) -> tuple[Member, ...]:
    """Everyone of a team in its order, then everyone else who wrote in it or was written to."""
    names = dict.fromkeys(team.members)
    sent, received, unread = Counter[str](), Counter[str](), Counter[str]()
    sent_to_all, read_of_all = Counter[str](), Counter[str]()
    last_at: dict[str, float] = {}
    for sender, recipient, read_by, times, at, once in written:
        names[sender] = None
        sent[sender] += once
        last_at[sender] = max(at, last_at.get(sender, at))
        if recipient == ALL_RECIPIENTS:
            sent_to_all[sender] += times
            read_of_all.update({reader: times for reader in read_by if reader != sender})
        else:
            names[recipient] = None
            received[recipient] += times
            unread[recipient] += 0 if recipient in read_by else times
    for name in team.members:  # who is no member has nothing to read of what went to all
        to_them = sent_to_all.total() - sent_to_all[name]
        received[name] += to_them
        unread[name] += to_them - read_of_all[name]
    members = frozenset(team.members)
    return tuple(
        Member(name, name in members, sent[name], received[name], unread[name], last_at.get(name)) for name in names
    )
