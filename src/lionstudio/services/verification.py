"""Whether the database holds together: its file, its references, and every rule that we promise to keep."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from math import isclose
from operator import itemgetter
from typing import Any

from lionstudio.domain.errors import DatabaseDamaged
from lionstudio.domain.finding import Finding
from lionstudio.domain.json_text import from_json
from lionstudio.domain.usage import NO_USAGE, TOKEN_KINDS, Usage, usage_of
from lionstudio.services.context import Context
from lionstudio.store import checks
from lionstudio.store.texts import text_in

RESTORE = "li state restore FILE, with the newest backup that verifies"
NOT_MENDED = f"{RESTORE}; without one, li runs export RUN keeps what can be read of it"
PROMISES = {
    "length": "how many messages an order says it has",
    "branches": "every run has a branch",
    "membership": "a run has the messages of its branches",
    "forks": "a fork begins within what it was forked from",
    "last message": "the last message of a run stands in it",
    "status": "what runs has not ended",
    "members": "how many members a team says it has",
    "news": "no number of the news is given twice",
}
NO_FILE = "a server looks after its own files; its tools are pg_amcheck and pg_checksums"

OnCheck = Callable[[str], None]  # told what is looked at next
Consumed = dict[str, Usage]  # by model


def verify_database(ctx: Context, on_check: OnCheck = lambda check: None) -> Iterator[Finding]:
    """Everything in the database that is not as it should be. Nothing is changed."""
    for name, look in _CHECKS.items():
        on_check(name)
        try:
            yield from look(ctx)
        except DatabaseDamaged as error:
            yield Finding(name, ctx.db.dialect.location, f"This could not be looked at: {error.message}", RESTORE)


def why_not_checked(ctx: Context) -> str | None:
    """Why the file itself is not checked, where it is not."""
    return NO_FILE if ctx.db.dialect.check_integrity is None else None


def _integrity(ctx: Context) -> Iterator[Finding]:
    with ctx.db.read() as tx:
        for sentence in checks.list_damage(tx.connection, tx.dialect):
            yield Finding("integrity", ctx.db.dialect.location, sentence, RESTORE)


def _references(ctx: Context) -> Iterator[Finding]:
    with ctx.db.read() as tx:
        broken = checks.list_broken_references(tx.connection, tx.dialect)
    yield from (Finding("references", found.subject, f"{found.sentence}.", RESTORE) for found in broken)


def _promise(name: str) -> Callable[[Context], Iterator[Finding]]:
    def look(ctx: Context) -> Iterator[Finding]:
        with ctx.db.read() as tx:
            broken = checks.list_broken_promises(tx, name)
        yield from (Finding(PROMISES[name], found.subject, f"{found.sentence}.", NOT_MENDED) for found in broken)

    return look


def _view(ctx: Context) -> Iterator[Finding]:
    """What SQL readers see of an order is what its entries say (R14)."""
    with ctx.db.read() as tx:
        for shown, entries in checks.read_orders(tx):
            ids: dict[str, list[str]] = {}
            for progression_id, message_id in entries:
                ids.setdefault(progression_id, []).append(message_id)
            for progression_id, collection, owner in shown:
                if from_json(collection) != ids.get(progression_id, []):
                    sentence = f"The view shows the order {progression_id} otherwise than its entries."
                    yield Finding("view", owner, sentence, RESTORE)


def _usage(ctx: Context) -> Iterator[Finding]:
    """What was counted for a run is what its messages report."""
    with ctx.db.read() as tx:
        reported = _by_session(checks.read_usage_reports(tx), _reported)
        counted = _by_session(checks.read_counted_usage(tx), _counted)
        for session_id, told, kept in _side_by_side(reported, counted):
            wrong = sorted(model for model in {*told, *kept} if not _same(told.get(model), kept.get(model)))
            if wrong:
                sentence = f"Its usage of {', '.join(wrong)} is not what its messages report."
                yield Finding("usage", session_id, sentence, NOT_MENDED)


def _by_session(
    rows: Iterable[tuple[Any, ...]], consumed: Callable[[Iterable[tuple[Any, ...]]], Consumed]
) -> Iterator[tuple[str, Consumed]]:
    for session_id, of_session in groupby(rows, key=itemgetter(0)):
        yield session_id, consumed(of_session)


def _reported(rows: Iterable[tuple[Any, ...]]) -> Consumed:
    total: Consumed = {}
    for _, node_metadata in rows:
        metadata = from_json(node_metadata)
        reported = usage_of(metadata) if isinstance(metadata, dict) else None
        if reported is not None:
            model = text_in(reported[0]) or ""
            total[model] = total.get(model, NO_USAGE).plus(reported[1])
    return total


def _counted(rows: Iterable[tuple[Any, ...]]) -> Consumed:
    return {model: Usage(*numbers) for _, model, *numbers in rows}


def _side_by_side(
    one: Iterator[tuple[str, Consumed]], other: Iterator[tuple[str, Consumed]]
) -> Iterator[tuple[str, Consumed, Consumed]]:
    """Both, session by session; they come in the same order, and either may leave some out."""
    mine, theirs = next(one, None), next(other, None)
    while mine is not None or theirs is not None:
        session_id = min(pair[0] for pair in (mine, theirs) if pair is not None)
        told, kept = Consumed(), Consumed()
        if mine is not None and mine[0] == session_id:
            told, mine = mine[1], next(one, None)
        if theirs is not None and theirs[0] == session_id:
            kept, theirs = theirs[1], next(other, None)
        yield session_id, told, kept


def _same(one: Usage | None, other: Usage | None) -> bool:
    one, other = one or NO_USAGE, other or NO_USAGE
    tokens = all(getattr(one, kind) == getattr(other, kind) for kind in TOKEN_KINDS)
    return tokens and isclose(one.cost_usd or 0.0, other.cost_usd or 0.0, rel_tol=1e-6, abs_tol=1e-9)


_CHECKS: dict[str, Callable[[Context], Iterator[Finding]]] = {
    "integrity": _integrity,
    "references": _references,
    **{sentence: _promise(name) for name, sentence in PROMISES.items()},
    "view": _view,
    "usage": _usage,
}
