"""Runs: list them, look at one, follow it, and record one over HTTP from any language."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Response
from pydantic import Discriminator, Field, Tag

from lionstudio.domain.asking import INTERACTIVE
from lionstudio.domain.conversation import Line
from lionstudio.domain.drafts import LARGEST_TIME, require_no_future
from lionstudio.domain.errors import InvalidRequest, SessionNotFound, Unavailable
from lionstudio.domain.health import Health
from lionstudio.domain.json_text import to_json
from lionstudio.domain.message_finding import MessageQuestion, MessageShare
from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.domain.session import InvocationKind, SessionStatus, SourceKind, status_from_exit_code
from lionstudio.domain.session_list import IDS_LIMIT, SessionFilter, Sort, View
from lionstudio.server.answers import Route, answer, json_of
from lionstudio.server.dependencies import AfterPosition, Ctx, MessageLimit, PageCursor, PageLimit, StudioDep
from lionstudio.server.live import BEAT, Ear, EventStream, LiveFeed, event, place
from lionstudio.server.routes.system import STREAM, After, LastEventId
from lionstudio.server.routes.teams import Full, written
from lionstudio.server.schemas.messages import ID_LENGTH, MessageIn, MessageOut, MessagesIn, PositionsOut, Stored
from lionstudio.server.schemas.page import Page
from lionstudio.server.schemas.recording import (
    Beaten,
    BranchIn,
    FinishIn,
    HeartbeatIn,
    ProcessIn,
    SessionIn,
    Started,
)
from lionstudio.server.schemas.runs import BranchOut, SessionFull, SessionRow, TimelineOut, Transition
from lionstudio.server.schemas.teams import Order, TeamMessageOut
from lionstudio.server.threads import STREAMS
from lionstudio.services import branches, messages, runs, sessions, team_pages
from lionstudio.services.context import Context
from lionstudio.services.examination import Examined, share_look
from lionstudio.services.message_pages import find_messages as find_in_history
from lionstudio.services.message_pages import read_branch_page, read_session_page
from lionstudio.services.run_values import row_values
from lionstudio.services.session_list import list_sessions as list_page
from lionstudio.services.session_stream import SessionStream, StreamPage, parse_cursor

router = APIRouter(route_class=Route, prefix="/sessions", tags=["runs"])

SessionId = Annotated[str, Path(max_length=ID_LENGTH)]
ONE, MANY = "(one)", "(many)"  # no names of fields: what is wrong with a body is told by those alone
Words = Annotated[str | None, Query(max_length=4_000)]
# The shape says which of the two is meant, so that only what is wrong with that one is told.
Said = Annotated[
    Annotated[MessageIn, Tag(ONE)] | Annotated[MessagesIn, Tag(MANY)],
    Discriminator(lambda body: MANY if isinstance(body, list) else ONE),
]


# First, because routes are tried in order, and this one is asked more than all others.
@router.post("/{session_id:path}/messages", status_code=201)
def append_messages(
    ctx: Ctx,
    session_id: SessionId,
    body: Annotated[Said, Body(description="one message, or a list of them that is stored as a whole or not at all")],
) -> Stored:
    """Store messages. Answered when they are on disk; sending one again, with its id, stores it once."""
    said = body if isinstance(body, list) else [body]
    latest = max((one.created_at for one in said if one.created_at is not None), default=None)
    require_no_future("created_at", latest, now=ctx.now())
    return Stored(ids=messages.append_to_session(ctx, session_id, [(one.branch_id, one.draft()) for one in said]))


@router.get("", response_model=Page[SessionRow])
def list_sessions(
    ctx: Ctx,
    status: SessionStatus | None = None,
    kind: InvocationKind | None = None,
    source: SourceKind | None = None,
    health: Health | None = None,
    agent: Words = None,
    playbook: Words = None,
    show: Words = None,
    since: Annotated[
        float | None, Query(ge=-LARGEST_TIME, le=LARGEST_TIME, description="created since then, in unix seconds")
    ] = None,
    search: Annotated[
        str | None, Query(max_length=4_000, description="beginnings of words in id, name, agent, playbook or show")
    ] = None,
    view: View | None = None,
    id: Annotated[
        list[Annotated[str, Field(max_length=ID_LENGTH)]] | None,
        Query(max_length=IDS_LIMIT, description="only these; again for each"),
    ] = None,
    sort: Sort = Sort.ACTIVE,
    cursor: PageCursor = None,
    limit: PageLimit = 100,
) -> Response:
    """Runs, those that run first, then the newest."""
    ids = None if id is None else tuple(id)
    wanted = SessionFilter(status, kind, source, health, agent, playbook, show, since, search, view, ids)
    page = list_page(ctx, wanted, sort=sort, cursor=cursor, limit=limit)
    items = [row_values(summary) for summary in runs.summarise(ctx, page.items)]
    return answer({"items": items, "next_cursor": page.next_cursor})


@router.get("/{session_id:path}/messages")
def list_messages(
    ctx: Ctx,
    session_id: SessionId,
    after: AfterPosition,
    branch: Annotated[
        str | None, Query(max_length=ID_LENGTH, description="only this branch, with what it inherited")
    ] = None,
    limit: MessageLimit = 200,
) -> Page[MessageOut]:
    """What was said, in the order it was stored. A page has a megabyte at most, or one message, so it may be short."""
    if branch is None:
        page = read_session_page(ctx, session_id, after=after, limit=limit)
        items = [MessageOut.of(one, page.branch_ids.get(one.id, ())) for one in page.messages]
    else:
        page = read_branch_page(ctx, session_id, branch, after=after, limit=limit)
        items = [MessageOut.of(one) for one in page.messages]
    return Page.model_construct(items=items, next_cursor=page.next_cursor)


@router.get("/{session_id:path}/positions")
def find_messages(
    ctx: Ctx,
    session_id: SessionId,
    branch: Annotated[
        str | None, Query(max_length=ID_LENGTH, description="in this branch, with what it inherited")
    ] = None,
    share: MessageShare | None = None,
    search: Annotated[str | None, Query(max_length=1_000, description="words that they say, in any case")] = None,
) -> PositionsOut:
    """Where the messages stand that say something, or are of some kind; read them by their positions."""
    found = find_in_history(ctx, session_id, branch, MessageQuestion(share, search))
    return PositionsOut(positions=list(found.positions), is_all=found.is_all)


@router.get("/{session_id:path}/timeline")
def get_timeline(ctx: Ctx, session_id: SessionId) -> TimelineOut:
    """Who was busy when: model, tools and people, branch by branch."""
    return TimelineOut.of(runs.read_timeline(ctx, session_id))


@router.get("/{session_id:path}/history")
def list_history(ctx: Ctx, session_id: SessionId) -> Page[Transition]:
    """Every status it had, who changed it and why, oldest first. It outlives the run itself."""
    history = sessions.list_history(ctx, session_id)
    if not history:
        sessions.get_session(ctx, session_id)  # raises SessionNotFound
    return Page(items=[Transition.of(step) for step in history])


@router.get("/{session_id:path}/stream", status_code=200, response_class=EventStream, responses=STREAM)
async def stream_session(
    studio: StudioDep, session_id: SessionId, last_event_id: LastEventId = None, after: After = None
) -> EventStream:
    """Every message of a run and every new one, then its state when that changes, and `done` when it has ended."""
    stream = SessionStream(studio.ctx, session_id, parse_cursor(last_event_id or after))
    await STREAMS.run(sessions.get_session, studio.ctx, session_id)  # raises SessionNotFound
    studio.live.require_room()
    return EventStream(_events(studio.live, studio.ctx, stream, session_id))


async def _events(live: LiveFeed, ctx: Context, stream: SessionStream, session_id: str) -> AsyncGenerator[bytes]:
    with live.listen(session_id) as ear:
        try:
            async with aclosing(_follow(live, ctx, stream, ear)) as events:
                async for part in events:
                    yield part
        except SessionNotFound:
            yield event("done", to_json({"status": None, "deleted": True}, what="event"))


async def _follow(live: LiveFeed, ctx: Context, stream: SessionStream, ear: Ear) -> AsyncGenerator[bytes]:
    """What a reader is sent; raises SessionNotFound when the run is deleted meanwhile."""
    state_is_due = True
    while not live.closing:
        ear.clear()
        page, data = await STREAMS.run(_read_page, stream)
        if page.reload:
            yield event("reload", "{}")
        if data:
            yield data
        state_is_due = state_is_due or page.has_other_news
        if not page.is_all:
            continue
        if state_is_due:
            yield event("state", await STREAMS.run(_state, ctx, page.session.id))
            state_is_due = False
        if page.session.status is not SessionStatus.RUNNING:
            yield event("done", to_json({"status": page.session.status, "deleted": False}, what="event"))
            return
        if not await ear.wait():
            yield BEAT


def _read_page(stream: SessionStream) -> tuple[StreamPage, bytes]:
    """The next page, and its messages as they are sent: written in a thread, because they may be large."""
    page = stream.read()
    said = [
        event("message", f'{{"message":{json_of(MessageOut.of(one.message, one.branch_ids)).decode()}}}', one.cursor)
        for one in page.items
    ]
    return page, b"".join(said if page.passed is None else [*said, place(page.passed)])


def _state(ctx: Context, session_id: str) -> str:
    found = runs.summarise(ctx, [sessions.get_session(ctx, session_id)])
    return f'{{"session":{json_of(SessionRow.of(found[0])).decode()}}}'


@router.get("/{session_id:path}/team-messages", tags=["teams"])
def list_team_messages_of_session(
    ctx: Ctx,
    session_id: SessionId,
    beside: Annotated[
        bool, Query(description="all that was written, while the run lasted, in the teams it wrote to")
    ] = False,
    order: Order = Order.OLDEST,
    full: Full = True,
    cursor: PageCursor = None,
    limit: PageLimit = 100,
) -> Page[TeamMessageOut]:
    """What a run wrote to its teams."""
    newest_first = order is Order.NEWEST
    page = team_pages.page_messages_of_session(
        ctx, session_id, beside=beside, newest_first=newest_first, cursor=cursor, limit=limit
    )
    return written(page, full=full)


# After all others: an id from elsewhere may hold a slash.
@router.get("/{session_id:path}")
def get_session(ctx: Ctx, session_id: SessionId) -> SessionFull:
    """One run in full; its process is looked at now."""
    detail = runs.get_detail(ctx, session_id)
    with suppress(Unavailable):  # it is the lists that would have been told
        share_look(ctx, Examined(detail.summary.session, detail.evidence, detail.summary.verdict))
    return SessionFull.full(detail)


@router.post("", status_code=201, response_model=Started, responses={200: {"model": Started}})
def start_session(ctx: Ctx, body: SessionIn) -> Response:
    """Begin a run. Answered when it is stored; announcing the same id again changes nothing and answers 200."""
    require_no_future("started_at", body.started_at, now=ctx.now())
    line = Line(body.id or ctx.new_id(), body.branch_id or ctx.new_id(), ctx.new_id(), ctx.new_id())
    draft = sessions.SessionDraft(
        line=line,
        name=body.name,
        kind=body.kind,
        user=body.user,
        agent=body.agent,
        playbook=body.playbook,
        show_topic=body.show_topic,
        show_play=body.show_play,
        artifacts_path=body.artifacts_path,
        parent_session_id=body.parent_session_id,
        branch_name=body.branch_name or "main",
        node_metadata={**(body.node_metadata or {}), INTERACTIVE: True} if body.interactive else body.node_metadata,
        branch_metadata=_with_model(None, body.model),
        started_at=body.started_at,
    )
    session = sessions.start_session(ctx, draft, _process(line.session_id, body.process))
    is_new = session.progression_id == line.session_progression_id
    first = messages.find_line(ctx, session.id)
    return answer(Started(id=session.id, branch_id=first.branch_id, status=session.status), 201 if is_new else 200)


def _process(session_id: str, told: ProcessIn | None) -> ProcessRecord | None:
    if told is None:
        return None
    place = Place(told.host, told.boot_id, told.pid_namespace)
    return ProcessRecord(
        session_id, ProcessRole.AGENT, place, told.pid, start_time=told.start_time, command=told.command
    )


def _with_model(metadata: Mapping[str, Any] | None, model: str | None) -> Mapping[str, Any] | None:
    return metadata if model is None else {**(metadata or {}), "model": model}


@router.post("/{session_id:path}/branches", status_code=201)
def create_branch(ctx: Ctx, session_id: SessionId, body: BranchIn) -> BranchOut:
    """Begin a branch, or fork one."""
    if body.at is not None and body.parent_branch_id is None:
        raise InvalidRequest(
            "at says how much of its parent a branch keeps, and no parent is named.",
            hint="Name it as parent_branch_id, or leave at out.",
        )
    session = sessions.get_session(ctx, session_id)
    line = Line(session.id, body.id or ctx.new_id(), session.progression_id, ctx.new_id())
    draft = branches.BranchDraft(
        line=line,
        name=body.name,
        parent_branch_id=body.parent_branch_id,
        forked_at_ord=body.at,
        node_metadata=_with_model(body.node_metadata, body.model),
    )
    return BranchOut.of(branches.create_branch(ctx, draft))


@router.post("/{session_id:path}/finish")
def finish_session(ctx: Ctx, session_id: SessionId, body: FinishIn) -> SessionRow:
    """End a run as it ended itself. One that an operator has ended keeps the operator's status."""
    status = body.status
    if status is None:
        status = status_from_exit_code(body.exit_code or 0)
    session = sessions.finish_session(ctx, session_id, status, exit_code=body.exit_code, sentence=body.sentence)
    return SessionRow.of(runs.summarise(ctx, [session])[0])


@router.post("/{session_id:path}/heartbeat")
def beat(ctx: Ctx, session_id: SessionId, body: HeartbeatIn | None = None) -> Beaten:
    """Say that the run's process lives, where nobody here can look at it."""
    role = ProcessRole.RECORDER if body is None else body.role
    return Beaten(at=sessions.beat_from_afar(ctx, session_id, role))
