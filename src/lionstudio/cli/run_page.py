"""One run in full: what `li runs show` prints."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from lionstudio.cli.command import Call
from lionstudio.cli.output import Cell, Column
from lionstudio.cli.run_rows import activity_object, activity_text, chain_words, moment, took
from lionstudio.cli.team_rows import message_object
from lionstudio.domain.activity import Activity, ActivityKind
from lionstudio.domain.chain import state_chain
from lionstudio.domain.conversation import Branch
from lionstudio.domain.labels import KIND_LABELS, SOURCE_LABELS
from lionstudio.domain.printable import one_line
from lionstudio.domain.reasons import EvidenceKind, EvidenceRef
from lionstudio.domain.session import Session
from lionstudio.domain.usage import Usage
from lionstudio.services.forking import history_length
from lionstudio.services.run_values import row_values
from lionstudio.services.runs import SessionDetail, SessionSummary
from lionstudio.services.team_pages import TeamMessagePage

TOOL_ERROR_FIELDS = ("tool", "sentence", "times", "first_at", "last_at", "last_message_id")

Facts = Iterator[tuple[str, str | Cell]]


def print_detail(call: Call, detail: SessionDetail, written: TeamMessagePage) -> None:
    """One run, for a person, with the newest of what it wrote to its teams."""
    out, now, summary = call.out, call.ctx.now(), detail.summary
    chain = " · ".join(chain_words(summary.session, summary.verdict, tool_errors=_count_errors(detail)))
    out.say_data(f"{out.paint(one_line(summary.display_name), 'strong')}  {one_line(summary.session.id)}")
    out.say_data(out.paint(one_line(chain), summary.state.tone))
    if summary.activity is not None:
        out.say_data(one_line(activity_text(summary.activity, now=now)))
    _print_reasons(call, summary, now=now)
    out.say_data("")
    out.facts((name, value) for name, value in _facts(detail, now=now) if value)
    _print_branches(call, detail, now=now)
    if detail.tool_errors:
        out.say_data("")
        columns = (Column("TOOL ERRORS"), Column("TIMES", right=True), Column("LAST"), Column("WHAT", grows=True))
        out.table(
            columns,
            [
                (errors.tool or "unknown", f"{errors.times:,}", moment(errors.last_at, now=now), errors.sentence)
                for errors in detail.tool_errors
            ],
        )
    if detail.usage:
        out.say_data("")
        _print_usage(call, detail.usage)
    _print_written(call, written, now=now)
    _print_history(call, detail, now=now)


def _print_written(call: Call, written: TeamMessagePage, *, now: float) -> None:
    if not written.items:
        return
    call.out.say_data("")
    columns = (Column("TO ITS TEAMS"), Column("TEAM"), Column("FROM"), Column("TO"), Column("WHAT", grows=True))
    rows = [
        (moment(one.created_at, now=now), written.team_names[one.team_id], one.sender, one.recipient,
         one.summary or one.content)
        for one in reversed(written.items)
    ]  # fmt: skip
    call.out.table(columns, rows)
    if written.next_cursor is not None:
        call.out.say(f"These are its newest: li team show {written.team_names[written.items[0].team_id]} shows all.")


def _count_errors(detail: SessionDetail) -> int:
    return sum(errors.times for errors in detail.tool_errors)


def _print_reasons(call: Call, summary: SessionSummary, *, now: float) -> None:
    out = call.out
    for reason in summary.state.reasons:
        out.say_data("")
        out.say_data(f"{one_line(reason.sentence)}  {out.paint(reason.code, 'muted')}")
        for ref in reason.evidence:
            out.say_data(f"    {one_line(_evidence_text(ref, now=now))}")


def _evidence_text(ref: EvidenceRef, *, now: float) -> str:
    if ref.detail is None:
        return f"{ref.kind} {ref.ref}"
    detail = ref.detail
    if ref.kind is EvidenceKind.FACT and ref.ref.endswith("_at"):
        with suppress(ValueError):
            detail = moment(float(detail), now=now)
    return f"{ref.kind} {ref.ref}: {detail}"


def _facts(detail: SessionDetail, *, now: float) -> Facts:
    session = detail.summary.session
    yield "kind", "" if session.invocation_kind is None else KIND_LABELS[session.invocation_kind]
    yield "recorded", "" if session.source_kind is None else SOURCE_LABELS[session.source_kind]
    yield "agent", session.agent_name or ""
    yield "playbook", session.playbook_name or ""
    yield "show", " / ".join(part for part in (session.show_topic, session.show_play_name) if part)
    for topic, play in detail.plays:
        yield "play", f"{topic} / {play.name} ({play.status}, attempt {play.attempt})"
    if session.parent_session_id is not None:
        yield "started by", session.parent_session_id if detail.parent is None else _run_text(detail, detail.parent)
    for child in detail.children:
        yield "started", _run_text(detail, child)
    yield "user", session.user or ""
    yield "began", moment(session.started_at, now=now)
    yield "ended", moment(session.ended_at, now=now)
    yield "took", took(session, now=now)
    yield "last message", moment(session.last_message_at, now=now)
    yield "updated", moment(session.updated_at, now=now)
    yield "exit code", "" if session.exit_code is None else str(session.exit_code)
    yield "artifacts", session.artifacts_path or ""
    yield "messages", f"{session.message_count:,}"
    yield "branches", f"{session.branch_count:,}"
    if session.messages_lost:
        yield "messages lost", Cell(f"{session.messages_lost:,}", "danger")
    for record, look in detail.processes:
        yield f"{record.role} process", look.sentence
        yield "  command", record.command or ""


def _run_text(detail: SessionDetail, session: Session) -> str:
    return f"{detail.names[session.id]} ({session.id}) {session.status or 'legacy'}"


def _print_branches(call: Call, detail: SessionDetail, *, now: float) -> None:
    """Branches as a tree: a fork stands below the branch it was forked from."""
    call.out.say_data("")
    rows = []
    for depth, branch, activity in _tree(detail.branches):
        indent = "" if depth == 0 else f"{'   ' * (depth - 1)}└─ "
        fork = "" if branch.forked_at_ord is None else f"fork at {branch.forked_at_ord:,}"
        doing = moment(branch.last_at, now=now)
        if activity is not None and activity.kind is not ActivityKind.UNKNOWN:
            doing = activity_text(activity, now=now)
        sizes = (f"{branch.message_count:,}", f"{history_length(branch):,}")
        rows.append((f"{indent}{branch.name or branch.id}", *sizes, fork, doing))
    own, whole = Column("MESSAGES", right=True), Column("WITH INHERITED", right=True)
    call.out.table((Column("BRANCH", grows=True), own, whole, Column("FORK"), Column("LAST", grows=True)), rows)


def _tree(branches: Sequence[tuple[Branch, Activity | None]]) -> Iterator[tuple[int, Branch, Activity | None]]:
    """Each branch below its parent, with how deep it stands; one whose parent is elsewhere stands at the top."""
    known = {branch.id for branch, _ in branches}
    below: dict[str | None, list[tuple[Branch, Activity | None]]] = {}
    for branch, activity in branches:
        parent = branch.parent_branch_id if branch.parent_branch_id in known else None
        below.setdefault(parent, []).append((branch, activity))
    # Without recursion: forks of forks may be deeper than Python's stack.
    todo = [(0, *pair) for pair in reversed(below.get(None, ()))]
    while todo:
        depth, branch, activity = todo.pop()
        yield depth, branch, activity
        todo += [(depth + 1, *pair) for pair in reversed(below.get(branch.id, ()))]


def _print_usage(call: Call, usage: Mapping[str, Usage]) -> None:
    titles = ("INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "REASONING", "COST")
    columns = (Column("MODEL", grows=True), *(Column(title, right=True) for title in titles))
    call.out.table(columns, [(model, *_usage_cells(used)) for model, used in usage.items()])


def _usage_cells(used: Usage) -> Iterator[str]:
    *tokens, cost = used
    yield from (f"{count:,}" for count in tokens)
    yield "" if cost is None else f"${cost:,.4f}"


def _print_history(call: Call, detail: SessionDetail, *, now: float) -> None:
    """How the run came to its status, and what operators did to it, oldest first."""
    rows: list[tuple[float, str, str, str]] = []
    for step in detail.history:
        move = f"{step.from_status or '·'} → {step.to_status or 'deleted'}"
        rows.append((step.at, step.actor, move, step.telling or step.reason_code or ""))
    for event in detail.events:
        why = event.details.get("sentence") or event.details.get("reason") or ""
        rows.append((event.created_at, event.actor, event.action, str(why)))
    if rows:
        call.out.say_data("")
        columns = (Column("HISTORY"), Column("WHO"), Column("WHAT"), Column("WHY", grows=True))
        call.out.table(columns, [(moment(at, now=now), *rest) for at, *rest in sorted(rows, key=lambda row: row[0])])


def detail_object(detail: SessionDetail, written: TeamMessagePage) -> dict[str, Any]:
    """One run, for programs, with the newest of what it wrote to its teams."""
    session = detail.summary.session
    more = ("exit_code", "end_actor", "end_reason", "messages_lost", "artifacts_path", "user", "node_metadata")
    return {
        **row_values(detail.summary),
        **{name: getattr(session, name) for name in more},
        "chain": list(state_chain(session, detail.summary.verdict, tool_errors=_count_errors(detail))),
        "idle_seconds": detail.summary.verdict.idle_seconds,
        "branches": [
            {**branch._asdict(), "history_length": history_length(branch), "activity": activity_object(activity)}
            for branch, activity in detail.branches
        ],
        "tool_errors": [{name: getattr(errors, name) for name in TOOL_ERROR_FIELDS} for errors in detail.tool_errors],
        "usage_by_model": {model: used._asdict() for model, used in detail.usage.items()},
        "processes": [
            {**record._asdict(), "place": record.place._asdict(), "state": look.state, "sentence": look.sentence}
            for record, look in detail.processes
        ],
        "plays": [{"show": topic, "play": play.name, "status": play.status} for topic, play in detail.plays],
        "parent": None if detail.parent is None else _run_object(detail, detail.parent),
        "children": [_run_object(detail, child) for child in detail.children],
        "history": [step._asdict() for step in detail.history],
        "events": [event._asdict() for event in detail.events],
        "team_messages": [message_object(message) for message in reversed(written.items)],
    }


def _run_object(detail: SessionDetail, session: Session) -> dict[str, Any]:
    return {"id": session.id, "display_name": detail.names[session.id], "status": session.status}
