"""What the server says of itself."""

from pydantic import BaseModel


class Ready(BaseModel):
    """The server answers, and how long it has done so."""

    version: str
    started_at: float
    streams: int
    feed_problem: str | None  # why live news does not come now


class TotalsOut(BaseModel):
    """How much there is of everything: the lengths of the lists without a filter."""

    runs: int
    shows: int
    teams: int
    place: str  # of the database, without a password
    version: str
