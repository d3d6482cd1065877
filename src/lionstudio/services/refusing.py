"""Acts on several runs that happen for all of them or for none, with a reason for each that stands in the way."""

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn, TypeVar

from lionstudio.domain.errors import Error, InvalidRequest, Refused, Unavailable

MOST_AT_ONCE = 1_000
NAMED_IN_HINT = 20  # all of them are in `refusals`

T = TypeVar("T")


def require_ids(session_ids: Sequence[str]) -> list[str]:
    """Each id once, in the order given; raises InvalidRequest for none, or for more than one act may take."""
    wanted = [session_ids] if isinstance(session_ids, str) else list(dict.fromkeys(session_ids))
    if not wanted:
        raise InvalidRequest("Name at least one run.")
    if len(wanted) > MOST_AT_ONCE:
        raise InvalidRequest(
            f"{len(wanted):,} runs are too many for one act that is done for all or for none.",
            hint=f"Name up to {MOST_AT_ONCE:,} at a time.",
        )
    return wanted


def examine_each(session_ids: Sequence[str], examine: Callable[[str], T], *, what: str) -> list[T]:
    """What `examine` says of each run if it raises for none; else raises why not, for each of those."""
    wanted = require_ids(session_ids)
    allowed: list[T] = []
    refused: dict[str, Error] = {}
    for session_id in wanted:
        try:
            allowed.append(examine(session_id))
        except Unavailable:
            raise  # that is no refusal
        except Error as error:
            refused[session_id] = error
    if refused:
        refuse(refused, asked=len(wanted), what=what)
    return allowed


def refuse(refused: Mapping[str, Error], *, asked: int, what: str) -> NoReturn:
    """Raise why nothing is done: the run's own error if there is one run only, else Refused with one entry each."""
    if asked == 1:
        raise next(iter(refused.values()))
    named = ", ".join(list(refused)[:NAMED_IN_HINT]) + (" …" if len(refused) > NAMED_IN_HINT else "")
    raise Refused(
        f"{len(refused):,} of {asked:,} runs cannot be {what}, so none was changed.",
        refusals=dict(refused),
        hint=f"Leave these out: {named}",
    )
