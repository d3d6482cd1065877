"""What an operator may do to runs by hand. Each act is guarded, all or nothing, and leaves a trace."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import (
    Conflict,
    Error,
    InvalidRequest,
    NotFound,
    ProcessIsAlive,
    SessionIsHealthy,
    Unavailable,
)
from lionstudio.domain.health import Evidence, Health, HealthVerdict, classify_health, last_activity_at
from lionstudio.domain.process import ProcessState
from lionstudio.domain.reasons import REASON_CODES, EndReason
from lionstudio.domain.session import ADMIN_TARGETS, RUN_ACTOR, Session, SessionStatus, require_move
from lionstudio.domain.session_list import PAGE_LIMIT, SessionFilter
from lionstudio.domain.words import unknown_word
from lionstudio.services import health, sessions
from lionstudio.services.admin import add_event, keep_history
from lionstudio.services.context import Context
from lionstudio.services.refusing import refuse, require_ids
from lionstudio.services.session_list import list_sessions
from lionstudio.store import sessions as session_rows
from lionstudio.store.transaction import Tx

REASON_CODE = "run.ended.by_operator"


class Intervention(NamedTuple):
    """One run that an operator ended, or would end."""

    session: Session  # as it is afterwards; of a dry run, as it is
    previous_status: SessionStatus
    verdict: HealthVerdict
    event_id: str | None = None  # of a dry run, none


class _Order(NamedTuple):
    """What the operator wants, checked."""

    to: SessionStatus
    reason: str  # a sentence
    reason_code: str | None  # of the registry, if it was chosen from there
    actor: str
    note: str | None
    force: bool


def transition(
    ctx: Context,
    session_ids: Sequence[str],
    *,
    to: str,
    reason: str,
    actor: str,
    note: str | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> list[Intervention]:
    """End runs that cannot end themselves; their messages stay (R168).

    `reason` is a sentence, or the code of an EndReason, which stands for its sentence in the registry.
    One refused run means that none is changed: its own error for a single run, Refused with one entry each for several.
    Healthy and idle runs are refused; one that is unresponsive too, unless `force` is given with a note.
    """
    order = _require_order(to, reason, actor, note, force)
    wanted = require_ids(session_ids)
    # Looking at processes and files takes time and needs no lock; what the rows say is read again below.
    seen: dict[str, Evidence | Error] = {session_id: _look(ctx, session_id) for session_id in wanted}
    with ctx.db.read() if dry_run else ctx.db.write() as tx:
        allowed = _examine(ctx, tx, seen, order, lock=not dry_run)
        if dry_run:
            return [Intervention(session, _running(session), verdict) for session, verdict in allowed]
        return [_end(ctx, tx, session, verdict, order) for session, verdict in allowed]


def transition_stale(
    ctx: Context, *, actor: str, dry_run: bool = False, only: Collection[str] | None = None
) -> list[Intervention]:
    """Fail every run that is stale and whose process is confirmed dead (R133); what was ended, each with its reasons.

    `only` names the runs that somebody agreed to; any other stays as it is. Runs whose process cannot be seen are left
    alone, and so is one that ends or speaks meanwhile.
    """
    ended: list[Intervention] = []
    for session_id in _list_stale(ctx) if only is None else only:
        with suppress(Conflict, NotFound):
            verdict = health.judge(ctx, session_id)[1]
            if verdict.health is not Health.STALE or verdict.process is not ProcessState.DEAD:
                continue
            reason = " ".join(cause.sentence for cause in verdict.reasons)
            ended += transition(ctx, [session_id], to="failed", reason=reason, actor=actor, dry_run=dry_run)
    return ended


def _list_stale(ctx: Context) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = list_sessions(ctx, SessionFilter(health=Health.STALE), cursor=cursor, limit=PAGE_LIMIT)
        found += [session.id for session in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


def _require_order(to: str, reason: str, actor: str, note: str | None, force: bool) -> _Order:
    if to not in ADMIN_TARGETS:
        raise unknown_word(to, what="status that an operator may set", allowed=sorted(ADMIN_TARGETS))
    if not reason.strip():
        raise InvalidRequest("A reason is needed to end a run by hand.", hint="Say what makes you sure it is dead.")
    if not actor.strip() or actor == RUN_ACTOR:
        raise InvalidRequest("Who ends the run must be known.")
    said = reason.strip()
    code = EndReason(said).value if said in set(EndReason) else None
    sentence = said if code is None else REASON_CODES[code]
    return _Order(SessionStatus(to), sentence, code, actor, (note or "").strip() or None, force)


def _look(ctx: Context, session_id: str) -> Evidence | Error:
    try:
        return health.look(ctx, session_id)[1]
    except Error as error:
        return error


def _examine(
    ctx: Context, tx: Tx, seen: Mapping[str, Evidence | Error], order: _Order, *, lock: bool
) -> list[tuple[Session, HealthVerdict]]:
    """Every run with its verdict if all of them may be ended; else raises what stands against it."""
    allowed: dict[str, tuple[Session, HealthVerdict]] = {}
    refused: dict[str, Error] = {}
    # In one order for everyone, so that two operators never wait for each other.
    for session_id in sorted(seen):
        evidence = seen[session_id]
        try:
            if isinstance(evidence, Error):
                raise evidence
            session = sessions.get(tx, session_id, lock=lock)
            allowed[session_id] = session, _require_dead(session, evidence, order, now=ctx.now())
        except Unavailable:
            raise  # that is no refusal, and the transaction is of no use any more
        except Error as error:
            refused[session_id] = error
    if refused:
        in_order = {session_id: refused[session_id] for session_id in seen if session_id in refused}
        refuse(in_order, asked=len(seen), what="ended by hand")
    return [allowed[session_id] for session_id in seen]


def _require_dead(session: Session, evidence: Evidence, order: _Order, *, now: float) -> HealthVerdict:
    """How the run is doing; raises if that forbids ending it by hand."""
    require_move(session.status, order.to)
    verdict = classify_health(session, evidence, now=now)
    because = verdict.reasons[0].sentence
    if verdict.health in (Health.HEALTHY, Health.IDLE):
        raise SessionIsHealthy(
            f"The run {session.id} is {verdict.health} and must not be ended by hand. {because}",
            hint=_way_to_stop(session, evidence),
        )
    if verdict.health is Health.UNRESPONSIVE and not (order.force and order.note):
        missing = "Say in a note why it is ended all the same." if order.force else "Or use force, with a note."
        raise ProcessIsAlive(
            f"The run {session.id} is unresponsive, but its process lives. {because}",
            hint=f"Stop its process: li runs kill {session.id}. {missing}",
        )
    return verdict


def _way_to_stop(session: Session, evidence: Evidence) -> str:
    if evidence.process.pid is None:
        return (
            "No process was recorded for it, so nobody here can stop it. "
            "When it was quiet for too long, it can be ended."
        )
    return f"To stop it, stop its process: li runs kill {session.id}"


def _end(ctx: Context, tx: Tx, session: Session, verdict: HealthVerdict, order: _Order) -> Intervention:
    now, before = ctx.now(), _running(session)
    # Two clocks differ, and clocks jump back. What the run said before it was ended must not look late (D6).
    ended_at = max(now, last_activity_at(session))
    session_rows.end(
        tx, session.id, status=order.to, at=ended_at, exit_code=None, actor=order.actor, reason=REASON_CODE
    )
    facts = _facts(verdict)
    sentence = order.reason if order.note is None else f"{order.reason} ({order.note})"
    keep_history(
        ctx, tx, "session", session.id,
        before=before, after=order.to, at=ended_at, actor=order.actor, reason=REASON_CODE, sentence=sentence,
        evidence=facts,
    )  # fmt: skip
    event = add_event(
        ctx,
        tx,
        "transition",
        target_id=session.id,
        details={
            "previous_status": before.value,
            "target_status": order.to.value,
            "reason": order.reason,
            "reason_code": order.reason_code,
            "note": order.note,
            "forced": verdict.health is Health.UNRESPONSIVE,
            **facts,
        },
        actor=order.actor,
    )
    tx.tell(Topic.SESSION, session.id, session_id=session.id, at=now)
    return Intervention(sessions.get(tx, session.id), before, verdict, event.id)


def _facts(verdict: HealthVerdict) -> dict[str, Any]:
    return {
        "health": verdict.health.value,
        "process": verdict.process.value,
        "idle_seconds": verdict.idle_seconds,
        "reasons": [{"code": reason.code, "sentence": reason.sentence} for reason in verdict.reasons],
    }


def _running(session: Session) -> SessionStatus:
    assert session.status is not None  # require_move let it through
    return session.status
