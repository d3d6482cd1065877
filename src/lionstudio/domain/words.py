"""How a closed vocabulary answers a word it does not know."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar

from lionstudio.domain.errors import UnknownWord

Word = TypeVar("Word", bound=StrEnum)


def parse_word(vocabulary: type[Word], value: str, *, what: str) -> Word:
    """The member that `value` names; raises UnknownWord, which lists the allowed words."""
    try:
        return vocabulary(value)
    except ValueError:
        raise unknown_word(value, what=what, allowed=vocabulary) from None


def find_word(vocabulary: type[Word], value: str | None) -> Word | None:
    """The member that `value` names, if it names one: for words that other programs wrote."""
    return vocabulary(value) if value in {word.value for word in vocabulary} else None


def unknown_word(value: object, *, what: str, allowed: Iterable[str]) -> UnknownWord:
    """The error for a value outside a vocabulary."""
    article = "an" if what[0] in "aeiou" else "a"
    return UnknownWord(f"{value!r} is not {article} {what}.", hint=f"Use one of: {', '.join(allowed)}.")
