"""Which plays may start, what holds the others back, and which chain of plays takes longest.

Everything here walks with explicit stacks and queues, never by recursion, and visits each play and each dependency
once: ten thousand plays in one chain are as good as any other plan.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from types import MappingProxyType
from typing import NamedTuple

from lionstudio.domain.errors import InvalidRequest, PlayGraphCycle
from lionstudio.domain.show import Play, PlayStatus

# A play in one of these words holds back those that wait for it until a person or another attempt moves it.
STUCK = frozenset({PlayStatus.GATE_FAILED, PlayStatus.ESCALATED, PlayStatus.BLOCKED, PlayStatus.ABORTED_AFTER_FINISH})
UNKNOWN_DURATION = 1.0  # a play of unknown length weighs as much as any other one


class UnknownDependency(NamedTuple):
    """A dependency that names no play of the show."""

    play: str
    depends_on: str


class Obstacle(NamedTuple):
    """What keeps a play from starting."""

    play: str
    waits_for: tuple[str, ...]  # direct dependencies that are not merged
    because_of: tuple[str, ...]  # the stuck plays behind them that are not themselves held back by another stuck play
    unknown: tuple[str, ...]  # dependencies that name no play: it can never start


class PlayGraph(NamedTuple):
    """The plays of one show and who waits for whom. Build it with `PlayGraph.of`."""

    plays: Mapping[str, Play]  # by name, in the order of the plan
    dependencies: Mapping[str, tuple[str, ...]]  # known names only, each once
    dependents: Mapping[str, tuple[str, ...]]
    unknown: tuple[UnknownDependency, ...] = ()

    @classmethod
    def of(cls, plays: Iterable[Play]) -> "PlayGraph":
        """The graph of these plays; raises InvalidRequest when two have one name, but allows a cycle: see `order`."""
        ordered = sorted(plays, key=lambda play: (play.sort_order, play.name))
        by_name = {play.name: play for play in ordered}
        if len(by_name) != len(ordered):
            twice = sorted({play.name for play in ordered if by_name[play.name] is not play})
            raise InvalidRequest(f"Two plays have the same name: {', '.join(twice)}.")
        dependencies: dict[str, tuple[str, ...]] = {}
        dependents: dict[str, list[str]] = {name: [] for name in by_name}
        unknown: list[UnknownDependency] = []
        for play in ordered:
            wanted = dict.fromkeys(play.depends_on)
            dependencies[play.name] = tuple(name for name in wanted if name in by_name)
            unknown.extend(UnknownDependency(play.name, name) for name in wanted if name not in by_name)
            for name in dependencies[play.name]:
                dependents[name].append(play.name)
        return cls(
            plays=MappingProxyType(by_name),
            dependencies=MappingProxyType(dependencies),
            dependents=MappingProxyType({name: tuple(names) for name, names in dependents.items()}),
            unknown=tuple(unknown),
        )

    def ready(self) -> tuple[Play, ...]:
        """Pending plays that may start now: every dependency exists and is merged. In the order of the plan."""
        waiting_for_nobody = {lost.play for lost in self.unknown}
        return tuple(
            play
            for name, play in self.plays.items()
            if play.status is PlayStatus.PENDING
            and name not in waiting_for_nobody
            and all(self._merged(other) for other in self.dependencies[name])
        )

    def find_cycle(self) -> tuple[str, ...] | None:
        """Plays of which each waits for the next, and the last for the first; None if there are none."""
        settled: set[str] = set()
        for start in self.plays:
            if start in settled:
                continue
            path: list[str] = [start]
            place = {start: 0}
            walks = [iter(self.dependencies[start])]
            while walks:
                following = next(walks[-1], None)
                if following is None:
                    walks.pop()
                    done = path.pop()
                    del place[done]
                    settled.add(done)
                elif following in place:
                    return _from_smallest(path[place[following] :])
                elif following not in settled:
                    place[following] = len(path)
                    path.append(following)
                    walks.append(iter(self.dependencies[following]))
        return None

    def order(self) -> tuple[Play, ...]:
        """Every play after all it depends on, else as in the plan; raises PlayGraphCycle, which names the cycle."""
        names = list(self.plays)
        rank = {name: index for index, name in enumerate(names)}
        open_count = {name: len(self.dependencies[name]) for name in names}
        free = [rank[name] for name in names if open_count[name] == 0]
        heapify(free)
        ordered: list[Play] = []
        while free:
            name = names[heappop(free)]
            ordered.append(self.plays[name])
            for follower in self.dependents[name]:
                open_count[follower] -= 1
                if open_count[follower] == 0:
                    heappush(free, rank[follower])
        if len(ordered) < len(names):
            cycle = self.find_cycle() or ()
            raise PlayGraphCycle(
                f"These plays wait for each other: {' -> '.join((*cycle, *cycle[:1]))}.",
                hint="Remove one of these dependencies from the plan.",
            )
        return tuple(ordered)

    def blocked_by(self) -> tuple[Obstacle, ...]:
        """What keeps each pending or blocked play from starting, in the order of the plan; raises PlayGraphCycle."""
        lost: dict[str, list[str]] = {}
        for missing in self.unknown:
            lost.setdefault(missing.play, []).append(missing.depends_on)
        roots = self._roots(frozenset(lost))
        obstacles = {}
        for name, play in self.plays.items():
            if play.status not in (PlayStatus.PENDING, PlayStatus.BLOCKED):
                continue
            waits_for = tuple(other for other in self.dependencies[name] if not self._merged(other))
            if waits_for or name in lost:
                causes = tuple(dict.fromkeys(cause for other in waits_for for cause in roots[other]))
                obstacles[name] = Obstacle(name, waits_for, causes, tuple(lost.get(name, ())))
        return tuple(obstacles.values())

    def critical_path(self, seconds: Mapping[str, float] | None = None) -> tuple[Play, ...]:
        """The chain of plays that decides how long the show takes; raises PlayGraphCycle.

        A play weighs what `seconds` says, else the time from its start to its end, else the mean of the plays whose
        time is known, so that known and unknown ones compare; where none is known, each weighs UNKNOWN_DURATION. Among
        equal chains the one with more plays wins, then the one whose last play stands first in the plan.
        """
        ordered = self.order()
        weight = self._weights(seconds or {})
        best: dict[str, tuple[float, int]] = {}
        before: dict[str, str | None] = {}
        rank = {name: index for index, name in enumerate(self.plays)}

        def value(name: str) -> tuple[float, int, int]:
            return (*best[name], -rank[name])

        for play in ordered:
            name = play.name
            previous = max(self.dependencies[name], key=value, default=None)
            length, count = best[previous] if previous is not None else (0.0, 0)
            best[name], before[name] = (length + weight[name], count + 1), previous
        step = max(self.plays, key=value, default=None)
        path: list[Play] = []
        while step is not None:
            path.append(self.plays[step])
            step = before[step]
        return tuple(reversed(path))

    def _merged(self, name: str) -> bool:
        return self.plays[name].status is PlayStatus.MERGED

    def _roots(self, lost: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
        """Per play, the root causes at or above it. Merged plays hold nobody back, whatever is above them."""
        roots: dict[str, tuple[str, ...]] = {}
        for play in self.order():
            name = play.name
            if play.status is PlayStatus.MERGED:
                roots[name] = ()
                continue
            above = tuple(dict.fromkeys(cause for other in self.dependencies[name] for cause in roots[other]))
            itself = play.status in STUCK or name in lost
            roots[name] = above or ((name,) if itself else ())
        return roots

    def _weights(self, seconds: Mapping[str, float]) -> Mapping[str, float]:
        known = {
            name: max(0.0, length)
            for name, play in self.plays.items()
            if (length := seconds.get(name, _length(play))) is not None
        }
        other = sum(known.values()) / len(known) if known else UNKNOWN_DURATION
        return {name: known.get(name, other) for name in self.plays}


def _length(play: Play) -> float | None:
    return None if play.started_at is None or play.ended_at is None else play.ended_at - play.started_at


def _from_smallest(cycle: Sequence[str]) -> tuple[str, ...]:
    """The same cycle begun at its first name in the alphabet, so that it reads the same each time."""
    at = min(range(len(cycle)), key=lambda index: cycle[index])
    return (*cycle[at:], *cycle[:at])
