"""Runs, plays and shows as a test needs them: each at its edge of a rule."""

from typing import Any

from lionstudio import machine
from lionstudio.domain.conversation import Line, MessageKind
from lionstudio.domain.health import HOUR, Evidence, Health
from lionstudio.domain.process import ProcessLook, ProcessRecord, ProcessRole, ProcessState
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.session_list import SessionFilter, Sort
from lionstudio.services import sessions, shows
from lionstudio.services.attention import AttentionRow, list_attention
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.session_list import list_sessions
from lionstudio.store import branches as branch_rows
from lionstudio.store import evidence as evidence_rows
from lionstudio.store import progressions
from lionstudio.store import sessions as session_rows
from tests.factories import NOW

WHO = "test"
NO_SUCH_PID = 4_194_304  # above the largest that Linux gives


def put_run(
    ctx: Context,
    id: str,
    status: str | None,
    *,
    began: float | None = 0,
    ended: float | None = None,
    heard: float | None = None,
    messages: int = 1,
    **facts: Any,
) -> Session:
    """A run of which times are given in seconds before now."""
    created = NOW - (began or 0)
    session = Session(
        id=id,
        created_at=created,
        updated_at=created,
        progression_id=f"{id}-order",
        status=None if status is None else SessionStatus(status),
        started_at=None if began is None else created,
        ended_at=None if ended is None else NOW - ended,
        last_message_at=None if heard is None else NOW - heard,
        **facts,
    )
    with ctx.db.write() as tx:
        progressions.add_head(tx, session.progression_id, created_at=created)
        tx.run(
            "UPDATE progression_heads SET length = :length WHERE id = :id", length=messages, id=session.progression_id
        )
        session_rows.insert(tx, session)
    return session


def let_die(ctx: Context, session_id: str) -> None:
    """Record a process that is not there any more."""
    sessions.put_process(ctx, ProcessRecord(session_id, ProcessRole.AGENT, machine.here(), NO_SUCH_PID, 1))


def _let_ask(ctx: Context, session_id: str) -> None:
    """Its agent has answered, and somebody sits in front of it."""
    line = Line(session_id, f"{session_id}-main", f"{session_id}-order", f"{session_id}-main-order")
    create_branch(ctx, BranchDraft(line=line))
    with ctx.db.write() as tx:
        branch_rows.touch(tx, line.branch_id, kind=MessageKind.ASSISTANT, tool=None, at=NOW - 1)


def leave_files(ctx: Context, session: Session) -> None:
    look = ProcessLook(ProcessState.UNKNOWN, "Nobody looked.")
    seen = Evidence(look, temp_files=("/out/a.tmp",), observed_at=NOW)
    with ctx.db.write() as tx:
        evidence_rows.put_many(tx, [evidence_rows.Sight(session, seen, Health.ZOMBIE, NOW)])


def put_play(ctx: Context, topic: str, name: str, status: str, **facts: Any) -> None:
    """A play, with its show if that is new."""
    if shows.find_show(ctx, topic) is None:
        shows.put_show(ctx, topic, actor=WHO, show_dir=f"/shows/{topic}")
    shows.put_play(ctx, topic, name, actor=WHO, status=status, **facts)


def fill(ctx: Context) -> None:
    """At least one of everything the dashboard counts, and its nearest neighbours that it must not count."""
    put_run(ctx, "young", "running", began=60, heard=1, node_metadata={"interactive": True})
    _let_ask(ctx, "young")
    put_run(ctx, "just-60m", "running", began=HOUR, heard=1)
    put_run(ctx, "over-60m", "running", began=HOUR + 0.5, heard=1)
    put_run(ctx, "quiet-7h", "running", began=7 * HOUR, heard=7 * HOUR)
    put_run(ctx, "idle", "running", began=50 * 60, heard=HOUR + 1)
    put_run(ctx, "unstarted", "running", began=None, heard=1)
    put_run(ctx, "tomorrow", "running", began=-24 * HOUR, heard=-24 * HOUR)
    put_run(ctx, "dead", "running", began=120, heard=60)
    put_run(ctx, "orphan", "running", began=120, messages=0)
    for id in ("dead", "orphan"):
        let_die(ctx, id)
    _fill_ended(ctx)
    _fill_legacy(ctx)
    _fill_shows(ctx)


def _fill_ended(ctx: Context) -> None:
    day = 24 * HOUR
    put_run(ctx, "failed", "failed", began=2 * HOUR, ended=HOUR)
    put_run(ctx, "failed-just-now", "failed", began=10, ended=0)
    put_run(ctx, "failed-tomorrow", "timed_out", began=-day, ended=-day)
    put_run(ctx, "failed-24h-ago", "failed", began=day + 60, ended=day)
    put_run(ctx, "failed-within-24h", "timed_out", began=day + 60, ended=day - 0.5)
    put_run(ctx, "failed-untold-when", "failed", began=60, ended=None)
    put_run(ctx, "took-60m", "completed", began=2 * HOUR, ended=HOUR)
    put_run(ctx, "took-longer", "completed", began=2 * HOUR + 0.5, ended=HOUR)
    put_run(ctx, "took-longer-yesterday", "completed", began=day + 3 * HOUR, ended=day + HOUR)
    put_run(ctx, "ended-before-it-began", "completed", began=HOUR, ended=2 * HOUR)
    put_run(ctx, "no-beginning", "aborted", began=None, ended=5)
    put_run(ctx, "cancelled", "cancelled", began=100, ended=50)
    leave_files(ctx, put_run(ctx, "zombie", "completed", began=3 * day, ended=2 * day))
    leave_files(ctx, put_run(ctx, "failed-zombie", "failed", began=100, ended=50))
    leave_files(ctx, put_run(ctx, "endless-zombie", "cancelled", began=100, ended=None))


def _fill_legacy(ctx: Context) -> None:
    put_run(ctx, "legacy", None, began=3 * HOUR, heard=1)
    put_run(ctx, "legacy-ended", None, began=3 * HOUR, ended=60)
    leave_files(ctx, put_run(ctx, "legacy-zombie", None, began=3 * HOUR, ended=60))
    let_die(ctx, "legacy")


def _fill_shows(ctx: Context) -> None:
    put_run(ctx, "of-play", "running", began=30, heard=1)
    put_run(ctx, "of-show", "running", began=30, heard=1, show_topic="unknown show")
    put_run(ctx, "gated", "completed", began=100, ended=50)
    put_run(ctx, "escalated", "completed", began=100, ended=50)
    put_play(ctx, "ledger", "writes", "running", session_id="of-play", started_at=NOW - 30)
    put_play(ctx, "ledger", "gated", "gated", session_id="gated")
    put_play(ctx, "ledger", "escalated", "escalated", session_id="escalated", ended_at=NOW - 40)
    put_play(ctx, "ledger", "blocked", "blocked")
    put_play(ctx, "ledger", "refused", "gate_failed", ended_at=NOW - 24 * HOUR + 1)
    put_play(ctx, "docs", "refused", "gate_failed", ended_at=NOW - 24 * HOUR)
    put_play(ctx, "docs", "again", "redoing")
    put_play(ctx, "calm", "merged", "merged")
    put_play(ctx, "given up", "escalated", "escalated")
    put_play(ctx, "given up", "refused", "gate_failed")
    shows.move_show(ctx, "given up", "aborted", actor=WHO)


def every_session(ctx: Context, **wanted: Any) -> list[str]:
    """All ids of a list, however many pages it has."""
    found: list[str] = []
    cursor = None
    while True:
        page = list_sessions(ctx, SessionFilter(**wanted), sort=Sort.ACTIVE, cursor=cursor, limit=2)
        found += [session.id for session in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


def every_row(ctx: Context, *, limit: int = 3, **wanted: Any) -> list[AttentionRow]:
    """All rows of what needs a look, however many pages they have."""
    found: list[AttentionRow] = []
    cursor = None
    while True:
        page = list_attention(ctx, cursor=cursor, limit=limit, **wanted)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found
        assert len(page.items) == limit
