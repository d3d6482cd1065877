"""Runs join teams: the team of a name, made if there is none, with who works in the run among its members."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lionstudio.domain.errors import AlreadyExists, Ambiguous, Conflict
from lionstudio.domain.session import RUN_ACTOR
from lionstudio.domain.team import Team, TeamStatus
from lionstudio.recorders.reading import open_to_read
from lionstudio.recorders.teams import Places, new_team, open_teams
from lionstudio.services.context import Context
from lionstudio.settings import Settings

if TYPE_CHECKING:
    from lionstudio.recorders.database_teams import DatabaseTeams
    from lionstudio.recorders.file_teams import FileTeams


Say = Callable[[str], None]


def require_team(settings: Settings, name: str, members: Sequence[str], *, say: Say) -> None:
    """Raise what forbids to be members of the team of this name. Nothing is made."""
    new_team(name, members, None)
    with _opened(settings, say) as teams:
        _find(teams, name)


def join_team(settings: Settings, name: str, members: Sequence[str], *, say: Say) -> Team:
    """Be members of the team of this name; raises InvalidRequest, and Conflict for one that is archived."""
    with _opened(settings, say) as teams:
        return _join(teams, name, members)


@contextmanager
def _opened(settings: Settings, say: Say) -> "Iterator[FileTeams | DatabaseTeams]":
    opened: list[Context] = []

    def database() -> Context:
        if not opened:
            opened.append(open_to_read(settings, create=True))
        return opened[0]

    places = Places(
        folder=settings.teams_folder,
        to_read=database,
        to_write=database,
        say=say,
        actor=lambda: RUN_ACTOR,
        sync=settings.synchronous == "FULL",
    )
    try:
        yield open_teams(places, database_only=settings.teams == "database")
    finally:
        for ctx in opened:
            ctx.db.close()


def _join(teams: "FileTeams | DatabaseTeams", name: str, members: Sequence[str]) -> Team:
    known = _find(teams, name)
    if known is None:
        try:
            return teams.create(name, members, None)
        except AlreadyExists:  # another run has made it in this moment
            known = _find(teams, name)
            if known is None:
                raise
    new = [member for member in members if member not in known.members]
    return teams.change_members(known.id, new, ()) if new else known


def _find(teams: "FileTeams | DatabaseTeams", name: str) -> Team | None:
    """The team of exactly this name. The beginning of an id is not meant: whoever mistypes makes a team of his own."""
    named = [listed.team for listed in teams.list_teams() if name in (listed.team.name, listed.team.id)]
    used = [team for team in named if team.status is TeamStatus.ACTIVE]
    if len(used) > 1:
        raise Ambiguous(f"{len(used)} teams are called {name!r}.", hint=f"Name one by its id: {used[0].id}")
    if named and not used:
        raise Conflict(
            f"The team {name!r} is archived.",
            hint=f"li team archive --undo {named[0].id} takes it back, or name another.",
        )
    return used[0] if used else None
