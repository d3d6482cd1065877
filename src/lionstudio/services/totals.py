"""How much there is of everything."""

import os
from typing import NamedTuple

from lionstudio.services.context import Context
from lionstudio.services.show_list import count_only_on_disk
from lionstudio.store.figures import count_with_leftovers
from lionstudio.store.totals import count_stored


class Totals(NamedTuple):
    """The lengths of the lists without a filter, and where all of it is kept."""

    runs: int
    shows: int  # those that are only on disk too
    teams: int
    zombies: int  # ended runs that left something behind
    place: str


def count_everything(ctx: Context, shows_root: str) -> Totals:
    """What the front page of every list would come to."""
    with ctx.db.read() as tx:
        runs, shows, teams = count_stored(tx)
        zombies = count_with_leftovers(tx)
    shows += count_only_on_disk(ctx, shows_root)
    return Totals(runs, shows, teams, zombies, _in_short(ctx.db.dialect.location))


def _in_short(place: str) -> str:
    home = os.path.expanduser("~")
    return f"~{place[len(home) :]}" if place.startswith(home + os.sep) else place
