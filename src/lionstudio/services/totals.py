"""How much there is of everything."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.domain.team import TeamStatus
from lionstudio.services.context import Context
from lionstudio.services.show_list import LISTED_STATUSES, UNKNOWN, count_only_on_disk
from lionstudio.store.figures import count_with_leftovers
from lionstudio.store.totals import count_stored


class Totals(NamedTuple):
    """The lengths of the lists without a filter and by status, and where all of it is kept."""

    runs: int
    shows: int  # those that are only on disk too
    teams: int
    shows_by_status: Mapping[str, int]
    teams_by_status: Mapping[str, int]
    zombies: int  # ended runs that left something behind
    place: str


def count_everything(ctx: Context, shows_root: str) -> Totals:
    """What the front page of every list would come to."""
    with ctx.db.read() as tx:
        runs, stored_shows, stored_teams = count_stored(tx)
        zombies = count_with_leftovers(tx)
    shows: dict[str, int] = {status: stored_shows.get(status, 0) for status in LISTED_STATUSES}
    shows[UNKNOWN] = count_only_on_disk(ctx, shows_root)
    teams = {status.value: stored_teams.get(status, 0) for status in TeamStatus}
    place = _in_short(ctx.db.dialect.location)
    return Totals(runs, sum(shows.values()), sum(teams.values()), shows, teams, zombies, place)


def _in_short(place: str) -> str:
    home = os.path.expanduser("~")
    return f"~{place[len(home) :]}" if place.startswith(home + os.sep) else place
