"""Shows and plays as people look at them: lists page by page, and one show in full.

A page takes a fixed number of questions to the database, however many shows, plays and runs it is about.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.chain import play_chain, show_chain
from lionstudio.domain.health import classify_health
from lionstudio.domain.play_graph import Obstacle, PlayGraph
from lionstudio.domain.session_list import PAGE_LIMIT, Cursor, decode_cursor
from lionstudio.domain.show import Play, PlayStatus, Show, ShowStatus
from lionstudio.domain.state import NormalizedState, derive_play_state, derive_session_state, derive_show_state
from lionstudio.domain.words import find_word, parse_word, unknown_word
from lionstudio.services import health, runs
from lionstudio.services.context import Context
from lionstudio.services.runs import SessionSummary
from lionstudio.services.show_pages import FolderSummary, glance_at_folder, iterate_topics_on_disk
from lionstudio.services.shows import get, get_play_of
from lionstudio.store import audit, sessions, show_list, shows
from lionstudio.store.transaction import Tx

PAGE = 100
UNKNOWN = "unknown"  # the status of a show that nobody brought in (R66)
LISTED_STATUSES = (*ShowStatus, UNKNOWN)
STORED, ON_DISK = 0, 1  # what a page shows first, and what then
SIGHT_OF_DISK_HOLDS_FOR = 5.0  # seconds
FINAL_GATE_FAILED = "show.failed.final_gate"


class ShowSummary(NamedTuple):
    """What a list shows of a show."""

    show: Show
    plays: Mapping[PlayStatus, int]
    state: NormalizedState
    chain: tuple[str, ...]


class PlaySummary(NamedTuple):
    """A play with its state and the run of its latest attempt."""

    topic: str
    play: Play
    state: NormalizedState
    chain: tuple[str, ...]
    run: SessionSummary | None


class ShowDetail(NamedTuple):
    """One show in full, as far as the database knows it."""

    summary: ShowSummary
    plays: tuple[PlaySummary, ...]
    graph: PlayGraph
    cycle: tuple[str, ...]  # plays that wait for each other: then there is neither a critical path nor an obstacle
    critical_path: tuple[str, ...]
    obstacles: tuple[Obstacle, ...]
    history: tuple[StatusTransition, ...]


class PlayDetail(NamedTuple):
    """One play in full, as far as the database knows it."""

    show: Show
    summary: PlaySummary
    history: tuple[StatusTransition, ...]


class ShowPage(NamedTuple):
    """One page of shows: those that are stored, newest first, then those that are only on disk, by name."""

    items: tuple[ShowSummary | FolderSummary, ...]
    next_cursor: str | None


class PlayPage(NamedTuple):
    """One page of plays, and where the next one begins."""

    items: tuple[PlaySummary, ...]
    next_cursor: str | None


def page_shows(
    ctx: Context,
    root: str | None,
    *,
    status: str | None = None,
    cursor: str | None = None,
    limit: int = PAGE,
) -> ShowPage:
    """Shows in this status; without a root only those that are stored. Raises InvalidRequest or UnknownWord."""
    if status is not None and status not in LISTED_STATUSES:
        raise unknown_word(status, what="status of a show", allowed=LISTED_STATUSES)
    limit = max(1, min(limit, PAGE_LIMIT))
    begin = Cursor(STORED, 0.0, "") if cursor is None else decode_cursor(cursor)
    items: list[ShowSummary | FolderSummary] = []
    if begin.group == STORED and status != UNKNOWN:
        before = None if cursor is None else (begin.at, begin.id)
        stored = _list_stored(ctx, find_word(ShowStatus, status), before, limit + 1)
        items += stored[:limit]
        if len(stored) > limit:
            last = stored[limit - 1].show
            return ShowPage(tuple(items), Cursor(STORED, last.created_at, last.id).encode())
    if root is None or status not in (None, UNKNOWN):
        return ShowPage(tuple(items), None)
    room = limit - len(items)
    topics = _topics_only_on_disk(ctx, root, after=begin.id if begin.group == ON_DISK else "", limit=room + 1)
    shown, is_all = topics[:room], len(topics) <= room
    items += [glance_at_folder(root, topic) for topic in shown]
    # A page that the stored ones fill names no folder yet, and the next one begins with the first.
    last_shown = shown[-1] if shown else ""
    return ShowPage(tuple(items), None if is_all else Cursor(ON_DISK, 0.0, last_shown).encode())


def count_only_on_disk(ctx: Context, root: str) -> int:
    """How many shows `page_shows` lists beside those that are stored.

    Asked with every change of a show, so what is on disk is only looked at again when a folder came or went, or after a
    few seconds; what is stored is asked each time.
    """
    topics = _seen_on_disk(root, now=ctx.now())
    with ctx.db.read() as tx:
        known = show_list.list_known_topics(tx, topics) if topics else set()
    return sum(topic not in known for topic in topics)


def _seen_on_disk(root: str, *, now: float) -> tuple[str, ...]:
    try:
        changed_at = os.stat(root).st_mtime_ns
    except OSError:
        return ()
    seen = _SEEN.get(root)
    if seen is None or seen.changed_at != changed_at or not 0 <= now - seen.at <= SIGHT_OF_DISK_HOLDS_FOR:
        seen = _SEEN[root] = _Sight(now, changed_at, tuple(iterate_topics_on_disk(root)))
    return seen.topics


class _Sight(NamedTuple):
    """The topics under a root, when they were looked for, and when the last of their folders came or went."""

    at: float
    changed_at: int
    topics: tuple[str, ...]


_SEEN: dict[str, _Sight] = {}  # a process serves one root


def page_plays(ctx: Context, statuses: Sequence[str] = (), *, cursor: str | None = None, limit: int = PAGE) -> PlayPage:
    """Plays of every show in any of these statuses, newest first (R87); raises InvalidRequest or UnknownWord."""
    wanted = [parse_word(PlayStatus, status, what="status of a play") for status in dict.fromkeys(statuses)]
    limit = max(1, min(limit, PAGE_LIMIT))
    before = None if cursor is None else decode_cursor(cursor)[1:]
    with ctx.db.read() as tx:
        found = shows.list_newest_plays(tx, statuses=wanted, before=before, limit=limit + 1)
        plays = [play for _, play in found[:limit]]
        by_id = show_list.find_shows(tx, {play.show_id for play in plays})
    items = _summarise_plays(ctx, [(by_id[play.show_id], play) for play in plays])
    last = plays[-1] if len(found) > limit else None
    return PlayPage(tuple(items), None if last is None else Cursor(0, last.created_at, last.id).encode())


def get_show_detail(ctx: Context, topic: str) -> ShowDetail:
    """One show in full; raises ShowNotFound."""
    with ctx.db.read() as tx:
        show = get(tx, topic)
        rows = shows.list_plays(tx, show.id)
        history = audit.list_transitions(tx, "show", show.id)
    plays = tuple(_summarise_plays(ctx, [(show, play) for play in rows]))
    last_reason = history[-1].reason_code if history else None
    graph = PlayGraph.of(rows)
    cycle = graph.find_cycle() or ()
    return ShowDetail(
        _summarise(show, [(summary.play, summary.state) for summary in plays], last_reason),
        plays,
        graph,
        cycle,
        () if cycle else tuple(play.name for play in graph.critical_path()),
        () if cycle else graph.blocked_by(),
        tuple(history),
    )


def get_play_detail(ctx: Context, topic: str, name: str) -> PlayDetail:
    """One play in full; raises ShowNotFound or PlayNotFound."""
    with ctx.db.read() as tx:
        show = get(tx, topic)
        play = get_play_of(tx, show, name)
        history = audit.list_transitions(tx, "play", play.id)
    return PlayDetail(show, _summarise_plays(ctx, [(show, play)])[0], tuple(history))


def _list_stored(
    ctx: Context, status: ShowStatus | None, before: tuple[float, str] | None, limit: int
) -> list[ShowSummary]:
    with ctx.db.read() as tx:
        rows = shows.list_newest(tx, status=status, before=before, limit=limit)
        plays = show_list.list_plays_in(tx, [show.id for show in rows])
        aborted = [show.id for show in rows if show.status is ShowStatus.ABORTED]
        reasons = show_list.find_last_reasons(tx, aborted) if aborted else {}
        # Only a show that has not ended is as well as its plays are; of the others they are only counted.
        going_on = (ShowStatus.ACTIVE, ShowStatus.IMPORTED)
        active = [play for show in rows if show.status in going_on for play in plays[show.id]]
        states = _states_of_runs(ctx, tx, active)
    return [
        _summarise(
            show,
            [
                (play, derive_play_state(play, states.get(play.session_id or ""), show_status=show.status))
                for play in plays[show.id]
            ],
            reasons.get(show.id),
        )
        for show in rows
    ]


def _states_of_runs(ctx: Context, tx: Tx, plays: Iterable[Play]) -> dict[str, NormalizedState]:
    ids = {play.session_id for play in plays if play.session_id is not None}
    if not ids:
        return {}
    rows = list(sessions.find_many(tx, ids).values())
    now = ctx.now()
    return {
        session.id: derive_session_state(session, classify_health(session, seen, now=now))
        for session, seen in health.glance(tx, rows, now=now)
    }


def _summarise(show: Show, plays: Sequence[tuple[Play, NormalizedState]], last_reason: str | None) -> ShowSummary:
    final_gate_passed = False if last_reason == FINAL_GATE_FAILED else None
    words = [play.status for play, _ in plays]
    state = derive_show_state(show, plays, final_gate_passed=final_gate_passed)
    return ShowSummary(show, Counter(words), state, show_chain(show, words))


def _summarise_plays(ctx: Context, plays: Sequence[tuple[Show, Play]]) -> list[PlaySummary]:
    ids = {play.session_id for _, play in plays if play.session_id is not None}
    with ctx.db.read() as tx:
        rows = list(sessions.find_many(tx, ids).values()) if ids else []
    found = {summary.session.id: summary for summary in runs.summarise(ctx, rows)} if rows else {}
    summaries = []
    for show, play in plays:
        run = found.get(play.session_id or "")
        state = derive_play_state(play, None if run is None else run.state, show_status=show.status)
        summaries.append(PlaySummary(show.topic, play, state, play_chain(play, state), run))
    return summaries


def _topics_only_on_disk(ctx: Context, root: str, *, after: str, limit: int) -> list[str]:
    topics = iterate_topics_on_disk(root, after=after)
    found: list[str] = []
    while len(found) < limit and (some := list(islice(topics, PAGE))):
        with ctx.db.read() as tx:
            known = show_list.list_known_topics(tx, some)
        found += [topic for topic in some if topic not in known]
    return found[:limit]
