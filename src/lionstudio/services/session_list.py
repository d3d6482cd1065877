"""Lists of runs: any filter, any order, page by page."""

import heapq
from collections.abc import Callable, Iterator
from typing import NamedTuple

from lionstudio.domain.health_words import Health
from lionstudio.domain.session import Session
from lionstudio.domain.session_list import PAGE_LIMIT, Cursor, SessionFilter, Sort, View, decode_cursor
from lionstudio.services.context import Context
from lionstudio.store import session_list
from lionstudio.store.session_list import NOT_RUNNING, RUNNING, Question
from lionstudio.store.transaction import Tx

Key = tuple[float, str]
Group = Callable[[Key | None, int], list[Session]]  # a page of one group, after a key
Judge = Callable[[list[Session]], list[Session]]


class SessionPage(NamedTuple):
    """One page of a list, and where the next one begins."""

    items: tuple[Session, ...]
    next_cursor: str | None


def list_sessions(
    ctx: Context,
    wanted: SessionFilter | None = None,
    *,
    sort: Sort = Sort.ACTIVE,
    cursor: str | None = None,
    limit: int = 100,
) -> SessionPage:
    """Runs that match, in the order asked for; raises InvalidRequest for a cursor that is none.

    Who pages while runs end may see a run twice, and never misses one: an ended run moves behind the running ones.
    """
    wanted = wanted or SessionFilter()
    limit = max(1, min(limit, PAGE_LIMIT))
    start = None if cursor is None else decode_cursor(cursor)
    with ctx.db.read() as tx:
        question = session_list.ask(tx, wanted, now=ctx.now())
        rows: list[tuple[int, Session]] = []
        for number, group in _groups(tx, question, wanted.health, sort, _judge(ctx, tx, wanted)):
            if start is not None and number > start.group:
                continue  # groups come in falling numbers: this one was read to its end
            before = (start.at, start.id) if start is not None and number == start.group else None
            rows += [(number, session) for session in group(before, limit + 1 - len(rows))]
            if len(rows) > limit:
                break
    items = rows[:limit]
    following = None
    if len(rows) > limit:
        number, last = items[-1]
        following = Cursor(number, _time(last, number, sort), last.id).encode()
    return SessionPage(tuple(session for _, session in items), following)


def _time(session: Session, group: int, sort: Sort) -> float:
    ended = sort is Sort.ENDED and group == 0
    return session.ended_at if ended and session.ended_at is not None else session.created_at


def _judge(ctx: Context, tx: Tx, wanted: SessionFilter) -> Judge | None:
    """What the database cannot tell of the rows it gives: how they are doing, and whether they are gone."""
    health, living = wanted.health, wanted.view is View.WAITING
    if health is None and not living:
        return None
    from lionstudio.services.health import select_by_health, select_living  # a plain list is quick, and judges nobody

    def judge(rows: list[Session]) -> list[Session]:
        rows = select_living(ctx, tx, rows) if living else rows
        return rows if health is None else select_by_health(ctx, tx, rows, health)

    return judge


def _groups(
    tx: Tx, question: Question, health: Health | None, sort: Sort, judge: Judge | None
) -> Iterator[tuple[int, Group]]:
    """The groups of a list in their order, numbered downwards."""

    def running(before: Key | None, limit: int) -> list[Session]:
        if health is Health.ZOMBIE:
            return []  # only an ended run leaves something behind
        return _pages(judge, lambda b, n: _group(tx, question, RUNNING, b, n), before=before, limit=limit)

    def not_running(before: Key | None, limit: int) -> list[Session]:
        if health is Health.ZOMBIE:
            return session_list.list_with_leftovers(tx, question, before=before, limit=limit)
        if health is not None and health is not Health.HEALTHY:
            return []  # only a running run can be idle, unresponsive, stale or orphaned
        asked = question if health is None else question.and_also(session_list.NO_LEFTOVERS)
        return _group(tx, asked, NOT_RUNNING, before, limit)

    def by_creation(before: Key | None, limit: int) -> list[Session]:
        merged = heapq.merge(
            running(before, limit), not_running(before, limit), key=lambda s: (s.created_at, s.id), reverse=True
        )
        return list(merged)[:limit]

    def ended(before: Key | None, limit: int) -> list[Session]:
        def page(key: Key | None, count: int) -> list[Session]:
            return session_list.list_ended(tx, question, before=key, limit=count)

        return _pages(judge, page, before=before, limit=limit, key=lambda session: session.ended_at or 0.0)

    def not_ended(before: Key | None, limit: int) -> list[Session]:
        def page(key: Key | None, count: int) -> list[Session]:
            return session_list.list_not_ended(tx, question, before=key, limit=count)

        return _pages(judge, page, before=before, limit=limit)

    match sort:
        case Sort.ACTIVE:
            yield RUNNING, running
            yield NOT_RUNNING, not_running
        case Sort.CREATED:
            yield 0, by_creation
        case Sort.ENDED:
            # What has not ended comes first, so that a run that ends meanwhile moves to where it is still to be read.
            yield 1, not_ended
            yield 0, ended


def _group(tx: Tx, question: Question, group: int, before: Key | None, limit: int) -> list[Session]:
    return session_list.list_group(tx, question, group, before=before, limit=limit)


def _pages(
    judge: Judge | None,
    page: Group,
    *,
    before: Key | None,
    limit: int,
    key: Callable[[Session], float] = lambda session: session.created_at,
) -> list[Session]:
    """The rows that are left, reading on until there are enough: they are judged outside of the database."""
    if judge is None:
        return page(before, limit)
    found: list[Session] = []
    while len(found) < limit:
        rows = page(before, PAGE_LIMIT)
        found += judge(rows)
        if len(rows) < PAGE_LIMIT:
            break
        before = (key(rows[-1]), rows[-1].id)
    return found[:limit]
