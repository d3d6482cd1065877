"""One round of the doctor: look at every run that runs, judge it, and write down what is new."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.domain.health import Health
from lionstudio.domain.health_words import URGENCY
from lionstudio.domain.process import ProcessState
from lionstudio.services.context import Context
from lionstudio.services.examination import Examined, examine_running, keep_examined


class Scan(NamedTuple):
    """What one round found."""

    examined: tuple[Examined, ...]  # those that need somebody first, then newest first
    changed: int  # runs that are doing otherwise than at the last look; of a round that keeps nothing, 0

    @property
    def counts(self) -> Mapping[Health, int]:
        """How many runs are doing how, in words that nobody has too."""
        found = Counter(one.verdict.health for one in self.examined)
        return {health: found[health] for health in Health}

    @property
    def confirmed_dead(self) -> tuple[Examined, ...]:
        """Runs that are stale and whose process was seen to be gone: those that an operator may fail (R133)."""
        return tuple(one for one in self.examined if is_confirmed_dead(one))


def is_confirmed_dead(one: Examined) -> bool:
    return one.verdict.health is Health.STALE and one.verdict.process is ProcessState.DEAD


def scan(ctx: Context, *, keep: bool = True, requested_by: str | None = None) -> Scan:
    """Look at every run that runs. No status is changed; what is new is kept for lists, unless `keep` is False."""
    examined = list(examine_running(ctx))
    changed = keep_examined(ctx, examined, requested_by=requested_by) if keep else 0
    examined.sort(key=lambda one: URGENCY.index(one.verdict.health))
    return Scan(tuple(examined), changed)
