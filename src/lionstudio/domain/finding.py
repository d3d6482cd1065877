"""What a check of the database found."""

from typing import NamedTuple


class Finding(NamedTuple):
    """Something that is not as it should be, and what to do about it."""

    check: str  # which of the checks found it
    subject: str  # a run, a team, a file, a table …
    sentence: str
    mend: str  # a command, or what a person has to do
