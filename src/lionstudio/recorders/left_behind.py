"""What the recorders of dead processes left in the spool, for whoever repairs their runs."""

from pathlib import Path

from lionstudio.recorders.spool import count_left_behind, replay_left_behind
from lionstudio.services.context import Context


class LeftBehind:
    """The spool of one database."""

    def __init__(self, ctx: Context, spool: Path, location: str) -> None:
        self._ctx = ctx
        self._spool = spool
        self._location = location

    def count(self, session_id: str) -> int:
        """How many records of a run wait to be written."""
        return count_left_behind(self._ctx, self._spool, self._location, session_id)

    def replay(self) -> int:
        """Write what dead processes left for the database; how many records. Doing it twice changes nothing."""
        return replay_left_behind(self._ctx, self._spool, self._location)
