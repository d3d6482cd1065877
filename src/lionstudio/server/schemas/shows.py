"""Shows and plays: rows of lists, one in full, and what a person says at a gate."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from lionstudio.domain.play_graph import Obstacle
from lionstudio.domain.show import Play, PlayStatus, ShowStatus, StatusSource
from lionstudio.domain.show_sync import Complaint
from lionstudio.server.schemas.links import RunLink
from lionstudio.server.schemas.runs import Transition
from lionstudio.server.schemas.states import StateOut
from lionstudio.services.gating import Judged, Judgement
from lionstudio.services.show_list import PlayDetail, PlaySummary, ShowDetail, ShowSummary
from lionstudio.services.show_pages import FolderSummary, PlayOnlyOnDisk, PlayPages, ShowOnlyOnDisk, ShowPages

Feedback = Annotated[str, Field(max_length=100_000)]
Chain = Annotated[list[str], Field(description="the state in words, most telling first")]


class Problem(BaseModel):
    """A file that cannot be read, and why."""

    where: str
    message: str

    @classmethod
    def of(cls, complaint: Complaint) -> Self:
        return cls(where=complaint.where, message=complaint.message)


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


class PlayMeta(BaseModel):
    """The facts of a play's latest attempt."""

    worktree: str | None
    branch: str | None
    attempt: int
    started_at: float | None
    ended_at: float | None
    exit_code: int | None
    merged_at: float | None
    merge_sha: str | None
    status: PlayStatus

    @classmethod
    def of(cls, play: Play) -> Self:
        return cls(**{name: getattr(play, name) for name in cls.model_fields})


class VerdictOut(BaseModel):
    """What the gate said last."""

    gate_passed: bool | None = Field(description="null: it has not spoken")
    feedback: str | None


class PlayRow(BaseModel):
    """A play as lists show it."""

    topic: str
    name: str
    meta: PlayMeta
    verdict: VerdictOut
    playbook: str | None
    effort: str | None
    duration_ms: float | None = Field(description="of the latest attempt; null until it ended")
    session_id: str | None
    session_name: str | None
    session: RunLink | None
    depends_on: list[str]
    chain: Chain
    state: StateOut
    created_at: float
    updated_at: float

    @classmethod
    def of(cls, summary: PlaySummary) -> Self:
        return cls(**_play(summary))


def _play(summary: PlaySummary) -> dict[str, Any]:
    play, run = summary.play, summary.run
    return {
        "topic": summary.topic,
        "name": play.name,
        "meta": PlayMeta.of(play),
        "verdict": VerdictOut(gate_passed=play.gate_passed, feedback=play.gate_feedback),
        "playbook": play.playbook,
        "effort": play.effort,
        "duration_ms": play.duration_ms,
        "session_id": play.session_id,
        "session_name": None if run is None else run.session.name,
        "session": None if run is None else RunLink.of(run),
        "depends_on": list(play.depends_on),
        "chain": list(summary.chain),
        "state": StateOut.of(summary.state),
        "created_at": play.created_at,
        "updated_at": play.updated_at,
    }


class PlayInShow(PlayRow):
    """A play of one show, with what it is meant to do."""

    intent: str | None

    @classmethod
    def told(cls, summary: PlaySummary, intent: str | None) -> Self:
        return cls(**_play(summary), intent=intent)


class PlayFull(PlayInShow):
    """One play in full, with its files."""

    status_source: Literal["sqlite"] = "sqlite"
    full_verdict: dict[str, Any] | None = Field(description="_verdict.json as it is")
    prompt: str | None
    escalation: str | None = Field(description="what a person has to decide")
    history: list[Transition]
    problems: list[Problem]

    @classmethod
    def full(cls, detail: PlayDetail, pages: PlayPages) -> Self:
        return cls(
            **_play(detail.summary),
            intent=pages.intent,
            full_verdict=None if pages.verdict is None else dict(pages.verdict),
            prompt=pages.prompt,
            escalation=pages.escalation,
            history=[Transition.of(step) for step in detail.history],
            problems=[Problem.of(complaint) for complaint in pages.complaints],
        )


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


class DiskPlay(BaseModel):
    """A play that only its files know."""

    name: str
    meta: dict[str, Any] = Field(description="_meta.json as it is")
    verdict: dict[str, Any] | None = Field(description="_verdict.json as it is")
    updated_at: float

    @classmethod
    def of(cls, play: PlayOnlyOnDisk) -> Self:
        return cls(**_disk_play(play))


def _disk_play(play: PlayOnlyOnDisk) -> dict[str, Any]:
    return {
        "name": play.name,
        "meta": dict(play.meta),
        "verdict": None if play.verdict is None else dict(play.verdict),
        "updated_at": play.updated_at,
    }


class DiskPlayFull(DiskPlay):
    """One play that only its files know, with what it is meant to do."""

    status_source: Literal["filesystem"] = "filesystem"
    topic: str
    intent: str | None
    prompt: str | None
    escalation: str | None
    problems: list[Problem]

    @classmethod
    def full(cls, topic: str, play: PlayOnlyOnDisk, pages: PlayPages) -> Self:
        return cls(
            **_disk_play(play),
            topic=topic,
            intent=pages.intent,
            prompt=pages.prompt,
            escalation=pages.escalation,
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


class GateIn(BaseModel):
    """A person's judgement of a play."""

    model_config = ConfigDict(extra="forbid")

    passed: bool
    feedback: Feedback | None = Field(None, description="for the agent of the next attempt")
    note: Feedback | None = Field(None, description="for people")
    dry_run: bool = Field(False, description="only say what would happen")

    def judgement(self) -> Judgement:
        return Judgement(self.passed, _said(self.feedback), _said(self.note))


def _said(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


class GateOut(BaseModel):
    """What a judgement came to, or would come to."""

    dry_run: bool
    topic: str
    name: str
    from_status: PlayStatus
    to_status: PlayStatus
    verdict: VerdictOut
    files: list[str] = Field(description="that were written, seen from the folder of the show")
    problems: list[Problem]
    event_id: str | None = Field(description="of the audit log; null if it was only tried")

    @classmethod
    def of(cls, topic: str, judged: Judged) -> Self:
        play = judged.play
        return cls(
            dry_run=judged.event is None,
            topic=topic,
            name=play.name,
            from_status=judged.before,
            to_status=play.status,
            verdict=VerdictOut(gate_passed=play.gate_passed, feedback=play.gate_feedback),
            files=list(judged.files),
            problems=[Problem.of(complaint) for complaint in judged.complaints],
            event_id=None if judged.event is None else judged.event.id,
        )
