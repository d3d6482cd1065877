"""What the server says of itself."""

from pydantic import BaseModel


class PlaceOut(BaseModel):
    """Where the server runs. An agent on the same system names it with its pid, and can be watched from then on."""

    host: str | None
    boot_id: str | None
    pid_namespace: str | None


class Ready(BaseModel):
    """The server answers, and how long it has done so."""

    version: str
    started_at: float
    streams: int
    feed_problem: str | None  # why live news does not come now
    place: PlaceOut


class TotalsOut(BaseModel):
    """How much there is of everything: the lengths of the lists without a filter, and by status."""

    runs: int
    shows: int
    teams: int
    shows_by_status: dict[str, int]  # `unknown` are those that nobody brought in
    teams_by_status: dict[str, int]
    zombies: int  # ended runs that left locks or unfinished files behind
    place: str  # of the database, without a password
    version: str
