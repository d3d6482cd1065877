"""Moments as people type them: so long ago, or a date."""

import math
import re
from datetime import datetime, tzinfo

from lionstudio.domain.errors import InvalidRequest

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")


def parse_since(text: str, *, now: float, zone: tzinfo | None = None) -> float:
    """The moment that `30m`, `12h`, `7d` or an ISO date means; raises InvalidRequest.

    A date without a time zone is of `zone`, by default that of the machine: people type what their clock shows.
    """
    typed = text.strip()
    if age := _AGE.fullmatch(typed.lower()):
        return now - float(age[1]) * UNITS[age[2]]
    try:
        moment = datetime.fromisoformat(typed)
        at = (moment if moment.tzinfo or zone is None else moment.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        at = math.nan
    if not math.isfinite(at):
        raise InvalidRequest(
            f"{text!r} is neither an age nor a date.", hint="Type 30m, 12h, 7d, 2026-05-01 or 2026-05-01T14:30."
        )
    return at
