"""What needs a person's look: found in one way, whether it is only counted or listed row by row."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.attention import (
    Concern,
    Signal,
    Subject,
    derive_ended_concern,
    derive_running_concern,
    derive_show_concerns,
    place_of,
    play_address,
    session_address,
    show_address,
    slow_reason,
)
from lionstudio.domain.chain import play_chain, show_chain, state_chain
from lionstudio.domain.health import (
    HEALTH_ACTIONS,
    Evidence,
    Health,
    OperatorAction,
    classify_health,
    derive_health,
    last_activity_at,
)
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.session_list import PAGE_LIMIT, Cursor, View, decode_cursor
from lionstudio.domain.show import Play
from lionstudio.domain.state import (
    SHOW_TROUBLES,
    NormalizedState,
    derive_play_state,
    derive_session_state,
    derive_show_state,
)
from lionstudio.services.context import Context
from lionstudio.services.health import glance
from lionstudio.services.naming import names_in
from lionstudio.store import dashboard, shows
from lionstudio.store import sessions as session_rows
from lionstudio.store.dashboard import TroubledPlay
from lionstudio.store.transaction import Tx


class RunningRun(NamedTuple):
    """A run that runs, and what was seen of it."""

    session: Session
    evidence: Evidence
    health: Health


class Found(NamedTuple):
    """Everything that needs a look at one moment, and what it was found by."""

    concerns: tuple[Concern, ...]
    running: Mapping[str, RunningRun]
    plays: Mapping[str, TroubledPlay]
    topics: Mapping[str, str]  # of shows, by id


class AttentionRow(NamedTuple):
    """One thing that needs a look."""

    subject: Subject
    id: str
    title: str
    signals: tuple[Signal, ...]
    since: float
    state: NormalizedState  # with its severity, and all reasons
    chain: tuple[str, ...]  # the state in words
    leads_to: str  # where the thing itself is read
    session_id: str | None = None  # of a run, or of a play's latest attempt
    topic: str | None = None  # of a play or a show
    play_name: str | None = None
    heard_at: float | None = None  # when a run that runs was last heard
    actions: tuple[OperatorAction, ...] = ()  # what an operator is offered for a run


class AttentionPage(NamedTuple):
    """One page of what needs a look, and where the next one begins."""

    items: tuple[AttentionRow, ...]
    next_cursor: str | None


def list_attention(
    ctx: Context, *, signal: Signal | None = None, cursor: str | None = None, limit: int = 100
) -> AttentionPage:
    """What needs a look, the most urgent first; raises InvalidRequest for a bad cursor.

    Who pages on sees everything that stays as urgent as it is. What became worse meanwhile is on the first page.
    """
    limit = max(1, min(limit, PAGE_LIMIT))
    after = None if cursor is None else decode_cursor(cursor)
    now = ctx.now()
    with ctx.db.read() as tx:
        found = find_concerns(tx, look_at_running(tx, now=now), now=now)
        given = (one for one in found.concerns if signal is None or signal in one.signals)
        wanted = sorted((one for one in given if after is None or place_of(one) > after), key=place_of)
        page = wanted[:limit]
        rows = _Rows(tx, found, page, now=now)
        items = tuple(rows.read(concern) for concern in page)
    following = Cursor(*place_of(page[-1])).encode() if len(wanted) > limit else None
    return AttentionPage(items, following)


def look_at_running(tx: Tx, *, now: float) -> list[RunningRun]:
    """Every run that runs, and how it is doing."""
    seen = glance(tx, dashboard.list_running(tx), now=now)
    return [RunningRun(session, evidence, derive_health(session, evidence, now=now)) for session, evidence in seen]


def find_concerns(tx: Tx, running: Sequence[RunningRun], *, now: float) -> Found:
    """Everything that needs a look, each thing once."""
    plays = dashboard.list_troubled_plays(tx, tuple(SHOW_TROUBLES))
    concerns = [
        *_concerns_of_running(tx, running, now=now),
        *_concerns_of_ended(tx, now=now),
        *derive_show_concerns((play, since) for _, play, since in plays),
    ]
    return Found(
        tuple(concerns),
        {one.session.id: one for one in running},
        {found.play.id: found for found in plays},
        {play.show_id: topic for topic, play, _ in plays},
    )


def _concerns_of_running(tx: Tx, running: Sequence[RunningRun], *, now: float) -> Iterator[Concern]:
    slow = dashboard.list_ids(tx, View.SLOW, now=now)
    for session, _, health in running:
        concern = derive_running_concern(session, health, is_slow=session.id in slow)
        if concern is not None:
            yield concern


def _concerns_of_ended(tx: Tx, *, now: float) -> Iterator[Concern]:
    failed = {one.id: one for one in dashboard.list_ended_of_view(tx, View.FAILED_24H, now=now)}
    left_files = {one.id: one for one in dashboard.list_with_leftovers(tx)}
    for id, status, ended_at in {**left_files, **failed}.values():
        yield derive_ended_concern(id, status, ended_at, has_failed=id in failed, left_files=id in left_files)


class _Rows:
    """The things behind some concerns, read together."""

    def __init__(self, tx: Tx, found: Found, concerns: Sequence[Concern], *, now: float) -> None:
        self._tx, self._found, self._now = tx, found, now
        of_sessions = {concern.id for concern in concerns if concern.subject is Subject.SESSION}
        self._shows = {
            concern.id: shows.list_plays(tx, concern.id) for concern in concerns if concern.subject is Subject.SHOW
        }
        own = (found.plays[concern.id].play for concern in concerns if concern.subject is Subject.PLAY)
        plays = [*own, *(play for each in self._shows.values() for play in each)]
        linked = {play.session_id for play in plays if play.session_id is not None}
        ended = session_rows.find_many(tx, (of_sessions | linked) - found.running.keys())
        self._seen = {session.id: (session, seen) for session, seen in glance(tx, list(ended.values()), now=now)}
        self._seen |= {id: (one.session, one.evidence) for id, one in found.running.items()}
        self._names = names_in(tx, [self._seen[session_id][0] for session_id in of_sessions])

    def read(self, concern: Concern) -> AttentionRow:
        match concern.subject:
            case Subject.SESSION:
                return self._session(concern)
            case Subject.PLAY:
                return self._play(concern)
            case Subject.SHOW:
                return self._show(concern)

    def _session(self, concern: Concern) -> AttentionRow:
        session, evidence = self._seen[concern.id]
        verdict = classify_health(session, evidence, now=self._now)
        state = derive_session_state(session, verdict)
        if Signal.SLOW in concern.signals:
            state = state._replace(reasons=(*state.reasons, slow_reason(session, now=self._now)))
        return AttentionRow(
            concern.subject,
            session.id,
            self._names[session.id],
            concern.signals,
            concern.since,
            state,
            state_chain(session, verdict),
            session_address(session.id),
            session_id=session.id,
            topic=session.show_topic,
            play_name=session.show_play_name,
            heard_at=last_activity_at(session) if session.status is SessionStatus.RUNNING else None,
            actions=HEALTH_ACTIONS[verdict.health],
        )

    def _play(self, concern: Concern) -> AttentionRow:
        topic, play, _ = self._found.plays[concern.id]
        state = self._state_of_play(play)
        return AttentionRow(
            concern.subject,
            play.id,
            f"{topic} / {play.name}",
            concern.signals,
            concern.since,
            state,
            play_chain(play, state),
            play_address(topic, play.name),
            session_id=play.session_id,
            topic=topic,
            play_name=play.name,
        )

    def _show(self, concern: Concern) -> AttentionRow:
        topic = self._found.topics[concern.id]
        show, plays = shows.find(self._tx, topic), self._shows[concern.id]
        assert show is not None  # the transaction sees one moment
        return AttentionRow(
            concern.subject,
            show.id,
            topic,
            concern.signals,
            concern.since,
            derive_show_state(show, [(play, self._state_of_play(play)) for play in plays]),
            show_chain(show, [play.status for play in plays]),
            show_address(topic),
            topic=topic,
        )

    def _state_of_play(self, play: Play) -> NormalizedState:
        """The state of a play of a show that goes on; its run may have been pruned."""
        seen = self._seen.get(play.session_id or "")
        if seen is None:
            return derive_play_state(play)
        session, evidence = seen
        return derive_play_state(play, derive_session_state(session, classify_health(session, evidence, now=self._now)))
