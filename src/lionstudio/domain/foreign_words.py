"""Words that other programs use where we have a closed vocabulary: ours for it, or none and the original (SPEC 4)."""

from typing import Generic, NamedTuple, TypeVar

from lionstudio.domain.session import InvocationKind, SessionStatus, status_from_foreign
from lionstudio.domain.words import find_word

Word = TypeVar("Word")


class Foreign(NamedTuple, Generic[Word]):
    """Our word for what was read; `original` is there when that was another one, and is kept with what it is about."""

    word: Word | None
    original: object = None


def read_status(value: object) -> Foreign[SessionStatus]:
    """A session's status; what says nothing we know is legacy."""
    word = status_from_foreign(_tidy(value))
    return Foreign(word, None if word is not None and word == value else value)


def read_kind(value: object) -> Foreign[InvocationKind]:
    """What started a session."""
    word = find_word(InvocationKind, _tidy(value).replace("_", "-"))
    return Foreign(word, None if word is not None and word == value else value)


def _tidy(value: object) -> str:
    return value.strip().casefold() if isinstance(value, str) else ""
