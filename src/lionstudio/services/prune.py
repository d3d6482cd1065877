"""Prune: delete old runs by the rules of ADR 0016, first as a plan, then as planned.

Ended means not running. A legacy run counts as ended here as it does for its health, by the time it was last touched;
the plan says how many of them it takes. "Newest" is by creation, among all runs, running ones too.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from enum import StrEnum
from hashlib import sha256
from math import inf, isfinite, nextafter
from typing import Any, NamedTuple

from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.change import Topic
from lionstudio.domain.errors import Conflict, DatabaseBusy, Error, InvalidRequest
from lionstudio.domain.phrases import count_of
from lionstudio.services.admin import add_event
from lionstudio.services.context import Context
from lionstudio.services.sessions import lock_sessions
from lionstudio.store import audit, maintenance
from lionstudio.store.maintenance import OldSession, Removed
from lionstudio.store.transaction import Tx

DAY = 24 * 3600.0
KEEP_DAYS = 30.0
KEEP_N = 100
# Where message ids are in no order, every transaction rewrites most pages of the indexes on them, so that many small
# ones take much longer than few large ones. While nobody else wants to write, a transaction goes from batch to batch.
SESSIONS_AT_ONCE = 250
MESSAGES_AT_ONCE = 5_000
SECONDS_ALONE = 2.0  # after which a transaction ends anyway, so that the log stays small and progress is seen
SECONDS_WANTED = 0.2  # after which it ends when others wait; they wait for the batch and the commit, too
IDS_IN_EVENT = 1_000  # more would make the event hard to read; the history of each run says that it was pruned
TRIES = 3  # when somebody needs a run at the very moment it is deleted, another look finds that out

Progress = Callable[[int, int], None]  # runs dealt with so far, and of how many


class WhyKept(StrEnum):
    """What keeps a run that is old enough to go."""

    PLAY = "play"  # a play points to it
    FORK = "fork"  # a branch of another run descends from one of its branches
    CHANGED = "changed"  # it was written to after the plan was made


class KeptSession(NamedTuple):
    """A run that is old enough and stays all the same."""

    session_id: str
    why: WhyKept
    sentence: str


class PrunePlan(NamedTuple):
    """What a prune takes, what it leaves, and why."""

    keep_days: float
    keep_n: int
    ended_before: float
    batches: tuple[tuple[str, ...], ...]  # the runs that go, oldest first; what must go together is together
    removed: Removed
    legacy: int  # how many of them have no status
    kept: tuple[KeptSession, ...]
    kept_newest: int  # how many more are old enough but among the newest

    @property
    def session_ids(self) -> tuple[str, ...]:
        return tuple(session_id for batch in self.batches for session_id in batch)

    @property
    def name(self) -> str:
        """What tells two plans apart: the same runs have the same name, however they are asked for."""
        return sha256("\n".join(sorted(self.session_ids)).encode()).hexdigest()[:32]


class Archive(NamedTuple):
    """A file that holds runs, with how many messages of each."""

    path: str
    lengths: Mapping[str, int]


class PruneResult(NamedTuple):
    """What was deleted, or would be; `kept` are the runs that the plan kept, and those that had to be kept since."""

    removed: Removed
    kept: tuple[KeptSession, ...] = ()
    event_id: str | None = None  # of a dry run, none
    orphans: tuple[str, ...] = ()  # of a sweep, the progressions that nobody owned when it began
    gone: tuple[str, ...] = ()  # the runs that were deleted


def plan_prune(
    ctx: Context, *, keep_days: float = KEEP_DAYS, keep_n: int = KEEP_N, only_legacy: bool = False
) -> PrunePlan:
    """What pruning would do now: runs that ended more than `keep_days` ago, without the `keep_n` newest of all."""
    if not isfinite(keep_days) or keep_days < 0 or keep_n < 0:
        raise InvalidRequest("How many days and how many runs to keep must be 0 or more.")
    ended_before = ctx.now() - keep_days * DAY
    with ctx.db.read() as tx:
        if only_legacy:  # however far ahead of ours the clock was that dated them
            ended_before = max(ended_before, nextafter(maintenance.find_last_legacy(tx), inf))
        old = maintenance.list_old(tx, ended_before=ended_before)
        if only_legacy:
            old = [session for session in old if session.status is None]
        candidates = {session.id: session for session in _beyond_newest(tx, old, keep_n)}
        kept = find_kept(tx, candidates)
        going = [session for session in candidates.values() if session.id not in kept]
        batches = put_in_batches(tx, going)
        removed = maintenance.count_sessions(tx, {session.id for session in going})
    return PrunePlan(
        keep_days=keep_days,
        keep_n=keep_n,
        ended_before=ended_before,
        batches=batches,
        removed=removed,
        legacy=sum(session.status is None for session in going),
        kept=tuple(kept.values()),
        kept_newest=len(old) - len(candidates),
    )


def prune(
    ctx: Context,
    plan: PrunePlan,
    *,
    actor: str,
    dry_run: bool = False,
    agreed: str | None = None,
    archive: Archive | None = None,
    on_progress: Progress | None = None,
) -> PruneResult:
    """Do what was planned, in several transactions; what changed since the plan was made is looked at again.

    Every deleted run is one line of news and one step of history; the whole is one admin event. Messages that stood in
    no deleted run stay, as do those that anything else still holds. With an archive only what is in it is deleted.
    `agreed` is the name of the plan that somebody saw: for another one Conflict is raised, and nothing is deleted.
    """
    if agreed is not None and agreed != plan.name:
        raise Conflict(
            "Which runs would be deleted has changed since the plan was made.", hint="Look at the plan again."
        )
    if dry_run:
        return PruneResult(plan.removed, plan.kept)
    if not actor.strip():
        raise InvalidRequest("Who prunes must be known.")
    about = {"keep_days": plan.keep_days, "keep_n": plan.keep_n}
    order = Order(plan.batches, plan.ended_before, actor, about, kept=plan.kept, archive=archive)
    return carry_out(ctx, order, on_progress=on_progress)


class Order(NamedTuple):
    """What is to be deleted, for whom, and what the event says of it."""

    batches: Sequence[Sequence[str]]
    ended_before: float  # who ended later, or runs again, is kept
    actor: str
    about: Mapping[str, Any]
    kept: Sequence[KeptSession] = ()  # by the plan
    archive: Archive | None = None
    target_id: str | None = None


def carry_out(ctx: Context, order: Order, *, on_progress: Progress | None = None) -> PruneResult:
    """Delete what was ordered, batch by batch, looking at each run again; others may write in between.

    The event is written together with the last batch.
    """
    done, asked = _Done(order.kept), sum(map(len, order.batches))
    try:
        while not done.is_over:
            done = _prune_patiently(ctx, order, done)
            if on_progress is not None and asked:
                on_progress(done.looked_at, asked)
    except BaseException as error:
        if not done.gone or done.is_over:
            raise
        is_on_record = _record_what_is_done(ctx, order, done)  # what is deleted is deleted
        if not isinstance(error, Error):
            raise
        where = "the event log says which" if is_on_record else "that could not be written into the event log"
        gone = count_of(len(done.gone), "run was", "runs were")
        raise type(error)(f"{error.message} Before that, {gone} deleted; {where}.", hint=error.hint) from error
    finally:
        ctx.db.end_bulk()
    return PruneResult(done.removed, tuple(done.kept), done.event_id, gone=tuple(done.gone))


class _Pruned(NamedTuple):
    """What became of one batch."""

    removed: Removed
    kept: Sequence[KeptSession]
    gone: Sequence[str]


class _Done:
    """What a prune has done so far."""

    def __init__(self, kept: Iterable[KeptSession]) -> None:
        self.removed = Removed()
        self.kept = list(kept)
        self.gone: list[str] = []
        self.batches = self.looked_at = 0
        self.is_over = False
        self.event_id: str | None = None

    def copy(self) -> "_Done":
        copied = copy(self)
        copied.kept, copied.gone = [*self.kept], [*self.gone]
        return copied

    def add(self, batch: Sequence[str], pruned: _Pruned) -> None:
        self.removed = self.removed.plus(pruned.removed)
        self.kept += pruned.kept
        self.gone += pruned.gone
        self.batches += 1
        self.looked_at += len(batch)


def sweep_orphan_progressions(
    ctx: Context, *, actor: str, dry_run: bool = False, only: Collection[str] | None = None
) -> PruneResult:
    """Delete progressions that no run and no branch owns, and the messages that only they held (R108).

    `only` names the progressions that somebody agreed to, as a dry run told them; any other stays.
    """
    agreed = None if only is None else frozenset(only)
    with ctx.db.read() as tx:
        orphans = [row for row in maintenance.list_orphans(tx) if agreed is None or row[0] in agreed]
        ids = tuple(row[0] for row in orphans)
        if dry_run:
            return PruneResult(maintenance.count_orphans(tx, ids), orphans=ids)
    removed = Removed()
    for batch in _batches([OldSession(row[0], 0.0, None, row[1])] for row in orphans):
        with ctx.db.write() as tx:
            maintenance.take_turn(tx, at=ctx.now())
            removed = removed.plus(maintenance.delete_unowned(tx, batch))
    with ctx.db.write() as tx:
        details = {"orphan_progressions": True, **_counts(removed)}
        event = add_event(ctx, tx, "prune", details=details, actor=actor)
    return PruneResult(removed, event_id=event.id, orphans=ids)


def _beyond_newest(tx: Tx, old: Sequence[OldSession], keep_n: int) -> list[OldSession]:
    if keep_n == 0:
        return list(old)
    oldest_kept = maintenance.find_oldest_kept(tx, keep_n)
    if oldest_kept is None:
        return []
    return [session for session in old if (session.created_at, session.id) < oldest_kept]


def find_kept(tx: Tx, candidates: Collection[str]) -> dict[str, KeptSession]:
    """Which of the sessions must be kept, all others being deleted together."""
    kept: dict[str, KeptSession] = {}
    if not candidates:
        return kept
    for session_id, play, topic in maintenance.list_plays(tx, candidates):
        sentence = f"The play {play} of the show {topic} points to it."
        kept.setdefault(session_id, KeptSession(session_id, WhyKept.PLAY, sentence))
    parents: dict[str, list[str]] = {}
    for parent, child in maintenance.list_forks(tx, candidates):
        parents.setdefault(child, []).append(parent)
    # Whoever stays keeps those it descends from, and they in turn theirs.
    staying = [child for child in parents if child in kept or child not in candidates]
    while staying:
        child = staying.pop()
        for parent in parents.get(child, ()):
            if parent not in kept:
                sentence = f"A branch of the run {child} descends from one of its branches."
                kept[parent] = KeptSession(parent, WhyKept.FORK, sentence)
                staying.append(parent)
    return kept


def put_in_batches(tx: Tx, going: Collection[OldSession]) -> tuple[tuple[str, ...], ...]:
    """Sessions that may go, in batches that hold up others for a moment only; what must go together is together."""
    ids = {session.id for session in going}
    ties = [*maintenance.list_forks(tx, ids), *maintenance.list_borrowers(tx, ids)] if ids else []
    return tuple(_batches(_components(going, ties)))


def _components(going: Iterable[OldSession], ties: Iterable[Sequence[Any]]) -> list[list[OldSession]]:
    """Sessions in groups that must go at once: forks refer to each other, and a message may be lent as a prompt."""
    groups = {session.id: [session] for session in going}
    for one, other in ties:
        if one in groups and other in groups and groups[one] is not groups[other]:
            larger, smaller = sorted((groups[one], groups[other]), key=len, reverse=True)
            larger += smaller
            for session in smaller:
                groups[session.id] = larger
    return list({id(group): group for group in groups.values()}.values())


def _batches(groups: Iterable[Sequence[OldSession]]) -> Iterator[tuple[str, ...]]:
    batch: list[str] = []
    messages = 0
    for group in groups:
        coming = sum(one.length for one in group)
        if batch and (len(batch) + len(group) > SESSIONS_AT_ONCE or messages + coming > MESSAGES_AT_ONCE):
            yield tuple(batch)
            batch, messages = [], 0
        batch += (one.id for one in group)
        messages += coming
    if batch:
        yield tuple(batch)


def _prune_patiently(ctx: Context, order: Order, done: _Done) -> _Done:
    for _ in range(TRIES - 1):
        try:
            return _prune_while_alone(ctx, order, done)
        except (Conflict, DatabaseBusy):
            continue
    return _prune_while_alone(ctx, order, done)


def _prune_while_alone(ctx: Context, order: Order, done: _Done) -> _Done:
    """The next batches, in one transaction, which ends soon after somebody else wants to write; what is done then."""
    done = done.copy()
    with ctx.db.write_in_bulk() as tx:
        began = time.monotonic()
        maintenance.take_turn(tx, at=ctx.now())
        for batch in order.batches[done.batches :]:
            done.add(batch, _prune_batch(ctx, tx, order, batch))
            taken = time.monotonic() - began
            if taken >= SECONDS_ALONE or (taken >= SECONDS_WANTED and tx.connection.is_wanted):
                break
        done.is_over = done.batches == len(order.batches)
        is_ours = done.gone or done.kept or not order.batches  # else somebody else deleted all of it a moment before
        if done.is_over and is_ours:
            done.event_id = _record(ctx, tx, order, done)
    return done


def _prune_batch(ctx: Context, tx: Tx, order: Order, batch: Sequence[str]) -> _Pruned:
    lock_sessions(tx, {*batch, *maintenance.list_children(tx, batch)})
    old = maintenance.list_still_old(tx, batch, ended_before=order.ended_before)
    if order.archive is not None:
        lengths = order.archive.lengths
        old = {id: session for id, session in old.items() if session.length == lengths.get(id)}
    kept = _changed(tx, batch, old) | find_kept(tx, old)
    gone = [session_id for session_id in old if session_id not in kept]
    removed = delete_runs(ctx, tx, {id: old[id].status for id in gone}, order.actor) if gone else Removed()
    return _Pruned(removed, list(kept.values()), gone)


def delete_runs(ctx: Context, tx: Tx, statuses: Mapping[str, str | None], actor: str) -> Removed:
    """Delete runs, given with their statuses, that nothing keeps; each is a step of history and a line of news."""
    now, gone = ctx.now(), list(statuses)
    touched = set(maintenance.list_children(tx, gone)).difference(gone)
    teams = maintenance.list_teams(tx, gone)
    removed = maintenance.delete_sessions(tx, gone)
    audit.add_transitions(
        tx, (StatusTransition(ctx.new_id(), "session", id, statuses[id], None, now, actor) for id in gone)
    )
    for session_id in (*gone, *sorted(touched)):
        tx.tell(Topic.SESSION, session_id, session_id=session_id, at=now)
    for team_id in teams:
        tx.tell(Topic.TEAM, team_id, at=now)
    return removed


def _changed(tx: Tx, batch: Collection[str], old: Collection[str]) -> dict[str, KeptSession]:
    """Sessions that are there but not old any more. Those that are not there were deleted by someone else."""
    missing = set(batch).difference(old)
    sentence = "It was written to after the plan was made."
    present = maintenance.list_present(tx, missing) if missing else ()
    return {session_id: KeptSession(session_id, WhyKept.CHANGED, sentence) for session_id in present}


def _record_what_is_done(ctx: Context, order: Order, done: _Done) -> bool:
    """Write down a prune that broke off; whether that could be done."""
    try:
        with ctx.db.write() as tx:
            _record(ctx, tx, order, done)
    except Error:
        return False
    return True


def _record(ctx: Context, tx: Tx, order: Order, done: _Done) -> str:
    details = {
        **order.about,
        "complete": done.is_over,
        **_counts(done.removed),
        "kept": len(done.kept),
        "session_ids": done.gone[:IDS_IN_EVENT],
        "session_ids_left_out": max(0, len(done.gone) - IDS_IN_EVENT),
        **({} if order.archive is None else {"archive": order.archive.path}),
    }
    return add_event(ctx, tx, "prune", target_id=order.target_id, details=details, actor=order.actor).id


def _counts(removed: Removed) -> dict[str, int]:
    return removed._asdict()
