"""Finding the team that is meant, and reading what a list of teams or a watcher needs."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from lionstudio.domain.errors import TeamNotFound
from lionstudio.domain.team import SHOWN_CHOICES, Team, TeamMessage, TeamStatus, choose_meant
from lionstudio.domain.team_entries import last_messages
from lionstudio.services.context import Context
from lionstudio.store import changes, teams

EVERY = 2**62
NAMES_LOOKED_AT = 500  # of the newest teams, for one that was mistyped


class ListedTeam(NamedTuple):
    """A team as a list shows it. A message to several members counts once."""

    team: Team
    message_count: int
    last_message_at: float | None


def find_meant(ctx: Context, typed: str, *, status: TeamStatus = TeamStatus.ACTIVE) -> Team | None:
    """The team a person means by an id, a name, or the beginning of an id; raises Ambiguous.

    Of several teams of one name those in this status are meant, if there are any.
    """
    return choose_meant(typed, list_candidates(ctx, typed), status=status)


def list_candidates(ctx: Context, typed: str) -> list[Team]:
    """The teams among which is the one that a person means."""
    with ctx.db.read() as tx:
        found = teams.find(tx, typed)
        named = teams.list_by_name(tx, typed) if found is None else [found]
        return named or (teams.list_by_prefix(tx, typed, limit=SHOWN_CHOICES + 1) if typed else [])


def list_names(ctx: Context) -> list[str]:
    """Names of the newest teams, for one that was mistyped."""
    with ctx.db.read() as tx:
        return [name for _, name in teams.list_names(tx, limit=NAMES_LOOKED_AT)]


def no_team(typed: str, names: Iterable[str]) -> TeamNotFound:
    """The error for a team that is not there; it offers names that come near."""
    from difflib import get_close_matches

    known = list(dict.fromkeys(names))
    near = get_close_matches(typed, known, n=3)
    if near:
        hint = f"Did you mean {' or '.join(near)}?"
    else:
        hint = "li team list shows the teams there are." if known else "There is none yet: li team create NAME MEMBER…"
    return TeamNotFound(f"There is no team {typed!r}.", hint=hint)


def list_with_counts(ctx: Context) -> list[ListedTeam]:
    """Every team, newest first, with how much was written in it."""
    from lionstudio.store import team_counts  # sending a message finds its team here, and counts nothing

    with ctx.db.read() as tx:
        counts = team_counts.count_in_all(tx)
        found = teams.list_newest(tx, status=None, before=None, limit=EVERY)
    return [ListedTeam(team, *counts.get(team.id, (0, None))) for team in found]


def get_listed(ctx: Context, team_id: str) -> ListedTeam | None:
    """One team with how much was written in it."""
    from lionstudio.store import team_counts

    with ctx.db.read() as tx:
        team = teams.find(tx, team_id)
        return None if team is None else ListedTeam(team, *team_counts.count_in_one(tx, team_id))


def list_all_messages(ctx: Context, team_id: str) -> list[TeamMessage]:
    """Every message of a team, oldest first; one to several members for each of them."""
    with ctx.db.read() as tx:
        return teams.list_messages_since(tx, team_id, -math.inf)


def list_last_messages(ctx: Context, team_id: str, *, limit: int) -> list[TeamMessage]:
    """The last messages of a team, oldest first; one to several members for each of them, and counted once."""
    from lionstudio.store import team_counts

    with ctx.db.read() as tx:
        since = team_counts.find_nth_last(tx, team_id, limit) if limit else math.inf
        return last_messages(teams.list_messages_since(tx, team_id, -math.inf if since is None else since), limit)


def begin_watch(ctx: Context, team_id: str) -> tuple[int, set[str]]:
    """Where a watcher of a team begins: the number of the last change, and the messages there were at that moment."""
    with ctx.db.read() as tx:
        return changes.span(tx)[1], set(teams.list_marks(tx, team_id))


def find_message(ctx: Context, message_id: str) -> TeamMessage | None:
    """One message of any team."""
    with ctx.db.read() as tx:
        return teams.find_message(tx, message_id)
