"""Steps: what several agents of one run are to do, and who needs whose answer."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Worker(NamedTuple):
    """Who does a step, and how."""

    agent: str | None = None  # a profile in agents/
    model: str | None = None  # ENGINE/MODEL
    effort: str | None = None
    system: str | None = None  # with placeholders
    tools: tuple[str, ...] | None = None
    timeout: float | None = None  # seconds


class Step(NamedTuple):
    """One agent's part."""

    name: str
    prompt: str  # with placeholders
    worker: Worker = Worker()
    needs: tuple[str, ...] = ()
    settles_for_some: bool = False  # whether it begins with what there is when some of what it needs failed


def find_cycle(needs: Mapping[str, Sequence[str]]) -> tuple[str, ...] | None:
    """Steps of which each needs the next, and the last the first; None if there are none."""
    left = {name: [need for need in wanted if need in needs] for name, wanted in needs.items()}
    while free := [name for name, wanted in left.items() if not any(need in left for need in wanted)]:
        for name in free:
            del left[name]
    if not left:
        return None
    path = [next(iter(left))]  # whatever is left needs something that is left, too
    while True:
        following = next(need for need in left[path[-1]] if need in left)
        if following in path:
            return tuple(path[path.index(following) :])
        path.append(following)
