"""Names of teams: one that is in use is not given to another team."""

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import AlreadyExists
from lionstudio.domain.team import Team, TeamStatus
from lionstudio.services.admin import keep_history
from lionstudio.services.context import Context, again_if_undone
from lionstudio.store import teams


@again_if_undone
def create_team(ctx: Context, team: Team, *, actor: str) -> Team:
    """Store a team that is new; raises AlreadyExists if one of its name is in use."""
    now = ctx.now()
    after = teams.team_as_stored(team._replace(created_at=now, updated_at=now))
    with ctx.db.write() as tx:
        teams.lock_names(tx)
        require_free(after.name, teams.find_by_name(tx, after.name))
        if not teams.insert(tx, after):
            raise AlreadyExists(f"There is a team with the id {after.id!r} already.")
        keep_history(ctx, tx, "team", after.id, before=None, after=after.status, at=now, actor=actor)
        tx.tell(Topic.TEAM, after.id, at=now)
    return after


def list_named(ctx: Context, name: str) -> list[Team]:
    """The teams of exactly this name, those in use first."""
    with ctx.db.read() as tx:
        return teams.list_by_name(tx, name)


def require_free(name: str, known: Team | None) -> None:
    """Raise AlreadyExists if the team that has this name is in use."""
    if known is not None and known.status is TeamStatus.ACTIVE:
        raise AlreadyExists(
            f"There is a team {name!r} already: {known.id}.",
            hint=f"li team members adds to it; li team archive {known.id} puts it aside.",
        )
