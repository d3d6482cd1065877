"""Teams: members who write to each other by name."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from lionstudio.domain.errors import Ambiguous, IllegalTransition, InvalidRequest

SYSTEM_SENDER = "system"  # R115: not a member; notices about the team itself
ALL_RECIPIENTS = "all"  # R115: every member
RESERVED_NAMES = frozenset({ALL_RECIPIENTS, SYSTEM_SENDER})
SUMMARY_FROM = 200  # R116: a longer message gets a summary
SUMMARY_LENGTH = 120  # one line of a list
SHOWN_CHOICES = 5  # teams that a name may mean


class TeamStatus(StrEnum):
    """Whether a team is in use."""

    ACTIVE = "active"
    ARCHIVED = "archived"  # kept to read; only an archived team may be pruned


TEAM_MOVES: Mapping[TeamStatus, frozenset[TeamStatus]] = {
    TeamStatus.ACTIVE: frozenset({TeamStatus.ARCHIVED}),
    TeamStatus.ARCHIVED: frozenset({TeamStatus.ACTIVE}),
}


class Team(NamedTuple):
    """A named group of agents and people (R111)."""

    id: str
    name: str
    created_at: float
    updated_at: float
    members: tuple[str, ...] = ()
    status: TeamStatus = TeamStatus.ACTIVE
    node_metadata: Mapping[str, Any] | None = None

    @property
    def member_count(self) -> int:
        return len(self.members)


class TeamMessage(NamedTuple):
    """One message between members (R113)."""

    id: str
    team_id: str
    created_at: float
    sender: str
    content: str
    recipient: str = ALL_RECIPIENTS
    summary: str | None = None
    read_by: tuple[str, ...] = ()
    session_id: str | None = None  # the run it was sent from
    node_metadata: Mapping[str, Any] | None = None  # what its file says and no other field holds


MESSAGE_TEXTS = ("sender", "recipient", "content", "summary")  # the fields of a message that may hold any text


def require_team_move(before: TeamStatus, after: TeamStatus) -> None:
    """Raise IllegalTransition unless a team in `before` may become `after`."""
    if after not in TEAM_MOVES[before]:
        raise IllegalTransition(f"A team that is {before} cannot become {after}.", hint=f"It is already {before}.")


def choose_meant(typed: str, teams: Sequence[Team], *, status: TeamStatus = TeamStatus.ACTIVE) -> Team | None:
    """The team that a person means by an id, a name or the beginning of an id; raises Ambiguous.

    Of several teams of one name those in this status are meant, if there are any.
    """
    if whole := [team for team in teams if team.id == typed]:
        return whole[0]
    named = [team for team in teams if team.name == typed]
    begun = [team for team in teams if typed and team.id.startswith(typed)]
    meant = [team for team in named if team.status is status] or named or begun
    if len(meant) > 1:
        meant.sort(key=lambda team: team.created_at, reverse=True)
        choices = ", ".join(f"{team.id} ({team.name}, {team.status})" for team in meant[:SHOWN_CHOICES])
        more = ", and more" if len(meant) > SHOWN_CHOICES else ""
        way_on = "Type the id of the one that you mean." if named else "Type more of the id."
        raise Ambiguous(f"{typed!r} may mean {choices}{more}.", hint=way_on)
    return meant[0] if meant else None


def summarise(content: str) -> str | None:
    """One line for a list when the content is too long for one; None when the content itself will do (R116)."""
    if len(content) <= SUMMARY_FROM:
        return None
    line = " ".join(content.split()).lstrip("# ")
    if len(line) <= SUMMARY_LENGTH:
        return line
    cut = line[: SUMMARY_LENGTH - 1]
    words = cut.rpartition(" ")[0]
    # A text without spaces (a URL, a hash, many languages) is cut where it must be.
    return (words if len(words) > SUMMARY_LENGTH // 2 else cut).rstrip(" ,;:.") + "…"


def is_for(message: TeamMessage, member: str) -> bool:
    """Whether a message belongs in a member's inbox: sent to them, or to all by someone else."""
    return message.recipient == member or (message.recipient == ALL_RECIPIENTS and message.sender != member)


def mark_read(message: TeamMessage, member: str) -> TeamMessage:
    """The message with `member` among its readers, each of whom is named once."""
    return message if member in message.read_by else message._replace(read_by=(*message.read_by, member))


def require_members(team: Team, names: Iterable[str], *, known: Collection[str] = ()) -> None:
    """Raise InvalidRequest for a name that is no member, and not otherwise known; it offers those that are."""
    for name in names:
        if name in team.members or name in known:
            continue
        from difflib import get_close_matches

        near = get_close_matches(name, team.members, n=3)
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        raise InvalidRequest(
            f"The team {team.name!r} has no member {name!r}.",
            hint=f"{meant}Its members are: {', '.join(team.members) or 'nobody yet'}. "
            "li team members TEAM --add NAME lets someone in.",
        )


def require_member_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once; raises InvalidRequest for one that no member can have."""
    if isinstance(names, str):
        raise InvalidRequest("Members are a list of names.")
    kept = tuple(dict.fromkeys(names))
    for name in kept:
        if not name.strip() or name in RESERVED_NAMES:
            raise InvalidRequest(
                f"{name!r} cannot be the name of a member.", hint="all means everyone, and system writes notices."
            )
    return kept
