"""Names for runs, lengths of time and counts, as people read them."""

import math

from lionstudio.domain.session import Session

SHORT_ID_LENGTH = 8  # what a table has room for, and what people compare by eye
NAME_LENGTH = 60  # as much of an instruction as one table line shows
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_DAYS_FROM = 2 * _DAY  # `26h 10m` says more than `1d 2h`; past two days the hours no longer matter


def display_name(session: Session, *, first_instruction: str | None = None) -> str:
    """The best name people have for a run: the first of its names that says anything."""
    if name := _tidy(session.name):  # what most have; a page of a list asks for a hundred names
        return name
    show_play = " / ".join(part for part in (_tidy(session.show_topic), _tidy(session.show_play_name)) if part)
    return (
        show_play
        or _tidy(session.playbook_name)
        or _tidy(session.agent_name)
        or first_words(_tidy(first_instruction))
        or short_id(session.id)
    )


def first_words(text: str) -> str:
    """As much of a text as a line of a table shows."""
    if len(text) <= NAME_LENGTH:
        return text
    cut = text[: NAME_LENGTH - 1]
    words = cut.rpartition(" ")[0]
    # A text without spaces (a URL, many languages) is cut where it must be.
    return (words if len(words) > NAME_LENGTH // 2 else cut).rstrip(" ,;:.") + "…"


def short_id(full_id: str) -> str:
    """The part of an id that is shown; the whole of it is what gets copied."""
    return full_id[:SHORT_ID_LENGTH]


def format_duration(seconds: float, *, brief: bool = False) -> str:
    """A length of time as `8s`, `3m 12s`, `47m`, `9h 14m` or `2d`; `brief` keeps one unit once there are two of it."""
    if not math.isfinite(seconds):
        return "unknown"  # a foreign row may hold any float
    whole = int(seconds)  # rounded down: nothing is shown as over before it is
    if whole < _MINUTE:
        return f"{max(0, whole)}s"
    if whole < _HOUR:
        return _two_units(whole, _MINUTE, "m", 1, "s", brief=brief)
    if whole < _DAYS_FROM:
        return _two_units(whole, _HOUR, "h", _MINUTE, "m", brief=brief)
    return f"{whole // _DAY:,}d"


def count_of(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun, and with the verb where there is one: `1 message`, `12,806 messages are`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def _two_units(whole: int, large: int, large_name: str, small: int, small_name: str, *, brief: bool) -> str:
    count, rest = whole // large, whole % large // small
    if rest == 0 or (brief and count > 1):
        return f"{count}{large_name}"
    return f"{count}{large_name} {rest:02d}{small_name}"  # two digits, so that a column of them lines up


def _tidy(text: str | None) -> str:
    return " ".join(text.split()) if text else ""
