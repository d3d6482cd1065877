"""What a database holds, in short."""

from typing import NamedTuple


class Contents(NamedTuple):
    """What a person recognises a database by."""

    sessions: int
    running: int
    messages: int
    shows: int
    teams: int
    newest_id: str | None
    newest_name: str | None
    newest_at: float | None
    schema: int

    @property
    def is_empty(self) -> bool:
        return not (self.sessions or self.messages or self.shows or self.teams)
