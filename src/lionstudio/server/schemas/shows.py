"""Shows: rows of lists, and one in full."""

from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from lionstudio.domain.play_graph import Obstacle
from lionstudio.domain.show import PlayStatus, ShowStatus, StatusSource
from lionstudio.server.schemas.plays import Chain, DiskPlay, PlayInShow, Problem
from lionstudio.server.schemas.runs import Transition
from lionstudio.server.schemas.states import StateOut
from lionstudio.services.show_list import ShowDetail, ShowSummary
from lionstudio.services.show_pages import FolderSummary, ShowOnlyOnDisk, ShowPages


class ShowRow(BaseModel):
    """A show as lists show it. One that is only on disk has the status `unknown` and no state."""

    topic: str
    path: str
    goal: str | None
    status: ShowStatus | Literal["unknown"]
    status_source: StatusSource = Field(description="`sqlite`: a database knows it; `filesystem`: only its folder does")
    play_count: int
    plays_by_status: dict[PlayStatus, int] = Field(description="only the statuses that some play has")
    chain: Chain
    state: StateOut | None
    created_at: float | None
    updated_at: float

    @classmethod
    def of(cls, found: ShowSummary | FolderSummary) -> Self:
        if isinstance(found, ShowSummary):
            return cls(goal=found.show.goal, **_stored(found))
        return cls(
            topic=found.topic,
            path=found.path,
            goal=found.goal,
            status="unknown",
            status_source=StatusSource.FILESYSTEM,
            play_count=found.play_count,
            plays_by_status={},
            chain=["Not imported"],
            state=None,
            created_at=None,
            updated_at=found.updated_at,
        )


def _stored(summary: ShowSummary) -> dict[str, Any]:
    show = summary.show
    return {
        "topic": show.topic,
        "path": show.show_dir,
        "status": show.status,
        "status_source": StatusSource.SQLITE,
        "play_count": sum(summary.plays.values()),
        "plays_by_status": dict(summary.plays),
        "chain": list(summary.chain),
        "state": StateOut.of(summary.state),
        "created_at": show.created_at,
        "updated_at": show.updated_at,
    }


class Edge(BaseModel):
    """A play that waits for another one."""

    play: str
    depends_on: str


class Graph(BaseModel):
    """Who waits for whom."""

    edges: list[Edge]
    unknown: list[Edge] = Field(description="dependencies that name no play: these plays can never start")
    cycle: list[str] = Field(description="plays of which each waits for the next, and the last for the first")


class ObstacleOut(BaseModel):
    """What keeps a play from starting."""

    play: str
    waits_for: list[str]
    because_of: list[str] = Field(description="the plays at the root of it")
    unknown: list[str]

    @classmethod
    def of(cls, obstacle: Obstacle) -> Self:
        return cls(
            play=obstacle.play,
            waits_for=list(obstacle.waits_for),
            because_of=list(obstacle.because_of),
            unknown=list(obstacle.unknown),
        )


class ShowFull(ShowRow):
    """One show in full: what the database knows, and what stands in its folder."""

    status_read_from: StatusSource | None = Field(description="what the stored status was derived from, when it was")
    repo: str | None
    base_branch: str | None
    integration_branch: str | None
    show_md: str | None
    plays: list[PlayInShow]
    graph: Graph
    critical_path: list[str] = Field(description="the plays that decide how long it takes; empty if there is a cycle")
    obstacles: list[ObstacleOut]
    final_verdict: dict[str, Any] | None = Field(description="_final_verdict.json as it is")
    abort_requested: bool
    history: list[Transition]
    problems: list[Problem]

    @classmethod
    def full(cls, detail: ShowDetail, pages: ShowPages) -> Self:
        show, graph = detail.summary.show, detail.graph
        edges = [Edge(play=name, depends_on=other) for name, others in graph.dependencies.items() for other in others]
        unknown = [Edge(play=lost.play, depends_on=lost.depends_on) for lost in graph.unknown]
        return cls(
            **_stored(detail.summary),
            goal=show.goal or pages.goal,
            status_read_from=show.status_source,
            repo=show.repo,
            base_branch=show.base_branch,
            integration_branch=show.integration_branch,
            show_md=pages.show_md,
            plays=[PlayInShow.told(play, pages.intents.get(play.play.name)) for play in detail.plays],
            graph=Graph(edges=edges, unknown=unknown, cycle=list(detail.cycle)),
            critical_path=list(detail.critical_path),
            obstacles=[ObstacleOut.of(obstacle) for obstacle in detail.obstacles],
            final_verdict=None if pages.final_verdict is None else dict(pages.final_verdict),
            abort_requested=pages.abort_requested,
            history=[Transition.of(step) for step in detail.history],
            problems=[Problem.of(complaint) for complaint in pages.complaints],
        )


class DiskShow(BaseModel):
    """A show that only its folder knows: nobody brought it in. li state import-shows does."""

    topic: str
    path: str
    show_md: str | None
    goal: str | None
    status: Literal["unknown"] = "unknown"
    status_source: Literal["filesystem"] = "filesystem"
    plays: list[DiskPlay]
    updated_at: float
    problems: list[Problem]

    @classmethod
    def of(cls, show: ShowOnlyOnDisk) -> Self:
        return cls(
            topic=show.topic,
            path=show.path,
            show_md=show.show_md,
            goal=show.goal,
            plays=[DiskPlay.of(play) for play in show.plays],
            updated_at=show.updated_at,
            problems=[Problem.of(complaint) for complaint in show.complaints],
        )
