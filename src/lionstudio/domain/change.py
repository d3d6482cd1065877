"""News: one row says what changed, never its new value."""

from enum import StrEnum
from typing import NamedTuple


class Topic(StrEnum):
    """What kind of thing a change is about."""

    SESSION = "session"
    BRANCH = "branch"
    MESSAGE = "message"
    SHOW = "show"
    PLAY = "play"
    TEAM = "team"
    TEAM_MESSAGE = "team_message"
    ADMIN = "admin"
    RELOAD = "reload"  # everything may have changed: a restore


class Change(NamedTuple):
    """One committed change. `seq` only grows and is never given twice."""

    seq: int
    at: float
    topic: Topic | str  # a word that is not ours comes from a newer program
    entity_id: str
    session_id: str | None
