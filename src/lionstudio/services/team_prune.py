"""Prune archived teams (R124): first as a plan, then as planned."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.team import Team, TeamStatus
from lionstudio.services.admin import keep_history, record_event
from lionstudio.services.context import Context
from lionstudio.services.team_list import ListedTeam
from lionstudio.store import team_counts, teams

DAY = 24 * 3600.0
IDS_IN_EVENT = 1_000  # more would make the event hard to read; the history of each team says that it is gone


class TeamPrunePlan(NamedTuple):
    """The archived teams that would go, oldest first."""

    keep_days: float
    untouched_since: float
    teams: Sequence[ListedTeam]


def plan_team_prune(ctx: Context, *, keep_days: float) -> TeamPrunePlan:
    """What pruning would take now: archived teams to which nothing happened for `keep_days`."""
    if not isfinite(keep_days) or keep_days < 0:
        raise InvalidRequest("How many days to keep must be 0 or more.")
    untouched_since = ctx.now() - keep_days * DAY
    with ctx.db.read() as tx:
        counts = team_counts.count_in_all(tx)
        old = teams.list_archived(tx, before=untouched_since)
    return TeamPrunePlan(
        keep_days, untouched_since, [ListedTeam(team, *counts.get(team.id, (0, None))) for team in old]
    )


def prune_team(ctx: Context, plan: TeamPrunePlan, team_id: str, *, actor: str) -> bool:
    """Delete one team of the plan with its messages, unless something happened to it since; whether it went."""
    now = ctx.now()
    with ctx.db.write() as tx:
        team = teams.find(tx, team_id, lock=True)
        if team is None or not _may_go(team, plan):
            return False
        teams.delete(tx, team.id)
        keep_history(ctx, tx, "team", team.id, before=team.status, after=None, at=now, actor=actor)
        tx.tell(Topic.TEAM, team.id, at=now)
    return True


def record_prune(ctx: Context, plan: TeamPrunePlan, gone: Sequence[ListedTeam], *, actor: str) -> str:
    """Put on record what a prune of teams deleted (R190); the id of the event."""
    ids = [listed.team.id for listed in gone]
    details = {
        "keep_days": plan.keep_days,
        "teams": len(ids),
        "team_messages": sum(listed.message_count for listed in gone),
        "team_ids": ids[:IDS_IN_EVENT],
    }
    return record_event(ctx, "prune", details=details, actor=actor).id


def _may_go(team: Team, plan: TeamPrunePlan) -> bool:
    return team.status is TeamStatus.ARCHIVED and team.updated_at < plan.untouched_since
