"""Two use cases at the same moment, always in the same order."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from lionstudio.services.context import Context
from lionstudio.store.transaction import Tx
from tests.waiting import wait_until


def do_within(ctx: Context, first: Callable[[], object], second: Callable[[], object]) -> tuple[Any, Any]:
    """Begin the second when all that the first does is written and not committed; what each gives back, or raises.

    The first waits for its number among the news, which is the last that it needs. Where there is one writer, nobody
    gets in between, and one is done after the other.
    """
    with ThreadPoolExecutor(2) as pool:
        if ctx.db.dialect.news_lock is None:
            return _outcome(pool.submit(first)), _outcome(pool.submit(second))
        with ctx.db.write() as tx:
            tx.all(ctx.db.dialect.news_lock)
            ahead = pool.submit(first)
            wait_until(lambda: ahead.done() or _count_waiting(tx) == 1)
            behind = pool.submit(second)
            wait_until(lambda: behind.done() or _count_waiting(tx) == 2)
        return _outcome(ahead), _outcome(behind)


def _count_waiting(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM pg_locks WHERE NOT granted"))


def _outcome(done: Future[object]) -> object:
    return done.exception() or done.result()
