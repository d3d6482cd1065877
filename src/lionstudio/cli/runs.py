"""`li runs`: see runs and act on them."""

import math

from lionstudio.cli.command import Call, WrongUsage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from lionstudio.cli.output import Cell
    from lionstudio.domain.session_list import SessionFilter
    from lionstudio.services.killing import Killed, KillPlan
    from lionstudio.services.runs import SessionSummary

WORD_FILTERS = ("status", "kind", "source", "health", "agent", "playbook", "show", "search", "view")
FILTERS = (*WORD_FILTERS, "since")


def ls(call: Call) -> None:
    """List runs: those that run first, then the newest."""
    from lionstudio.cli.run_rows import COLUMNS, list_rows
    from lionstudio.services.run_values import row_values

    require_count("--limit", call.args.limit)
    wanted = _read_filter(call)
    found, cursor = _list(call, wanted)
    if call.out.as_json:
        for summary in found:
            call.out.json(row_values(summary))
        if cursor is not None:
            call.out.json({"next_cursor": cursor})
        return
    if not found:
        call.out.say(_nothing_found(call))
        return
    rows = list_rows(found, now=call.ctx.now(), whole_ids=not call.out.is_terminal)
    call.out.table(COLUMNS, rows)
    if cursor is not None:
        call.out.say(f"More: li runs ls {_as_typed(call, ('limit', 'sort', *FILTERS))}--cursor {cursor}")


def show(call: Call) -> None:
    """One run: its state and why, what it is doing, its branches, tool errors, source, and what it wrote to teams."""
    from lionstudio.cli.run_page import detail_object, print_detail
    from lionstudio.services.runs import get_detail
    from lionstudio.services.team_pages import page_messages_of_session

    detail = get_detail(call.ctx, _find(call, call.args.run))
    written = page_messages_of_session(call.ctx, detail.summary.session.id, newest_first=True)
    if call.out.as_json:
        call.out.json(detail_object(detail, written))
    else:
        print_detail(call, detail, written)


def tail(call: Call) -> None:
    """The last messages of runs, and with -f what they say from now on."""
    from lionstudio.cli.run_following import print_tail

    require_count("--lines", call.args.lines, least=0)
    print_tail(call, _find_all(call), lines=call.args.lines, follow=call.args.follow)


def wait(call: Call) -> int:
    """Wait until runs have ended. The exit code says how."""
    from lionstudio.cli.run_following import NothingToWaitFor, wait_for
    from lionstudio.domain.errors import Ambiguous, SessionNotFound

    timeout = call.args.timeout
    if timeout is not None and not (timeout >= 0 and math.isfinite(timeout)):
        raise WrongUsage("--timeout must be 0 seconds or more.")
    try:
        found = _find_all(call)
    except (SessionNotFound, Ambiguous) as error:
        raise NothingToWaitFor(error) from error
    return wait_for(call, found, timeout=timeout)


def kill(call: Call) -> int | None:
    """End the process of a run, prove that it is gone, and keep who did it and why."""
    from lionstudio.cli.operator import operator
    from lionstudio.recorders.run_folder import finish_left
    from lionstudio.services import killing

    grace = call.args.grace
    if not 0 <= grace <= killing.LONGEST_GRACE:
        raise WrongUsage("--grace must be between 0 seconds and a day.")
    plan = killing.plan_kill(call.ctx, _find(call, call.args.run))
    if call.args.dry_run:
        if call.out.as_json:
            call.out.json({**_plan_object(plan, grace), "dry_run": True})
        else:
            call.out.facts(_plan_facts(call, plan, grace))
        call.out.say_dry_run()
        return None
    if call.out.can_ask and not call.args.yes:
        for name, value in _plan_facts(call, plan, grace):
            call.out.say(f"{name}: {value}")
    if not call.out.confirm("End it?", yes=call.args.yes):
        return 1
    done = killing.kill(call.ctx, plan, actor=operator(), reason=call.args.reason, grace=grace)
    if (why_not := finish_left(call.ctx, call.settings, plan.session.id)) is not None:
        call.out.say(why_not)
    if call.out.as_json:
        call.out.json(_killed_object(done, grace))
    else:
        call.out.facts(_killed_facts(call, done))
    if done.not_recorded is None:
        return None
    why = f"{done.not_recorded.message} {done.not_recorded.hint or ''}".rstrip()
    call.out.say(
        f"The process is gone, but that could not be written down: {why} Until then the run seems to run; when it can "
        "be written: li state doctor --transition-stale"
    )
    return 1


def export(call: Call) -> None:
    """Write whole runs as JSON lines: the run, its branches and its messages."""
    from lionstudio.services.exporting import export_lines

    session_ids = _find_all(call)
    lines = export_lines(call.ctx, session_ids)
    if call.args.output is None:
        for line in lines:
            call.out.json(line)
        return
    from lionstudio.domain.phrases import count_of
    from lionstudio.services.database_export import write_lines

    write_lines(call.args.output, lines)
    call.out.say(f"{count_of(len(session_ids), 'run is', 'runs are')} in {call.args.output}.")


def require_count(option: str, number: int, *, least: int = 1) -> None:
    if number < least:
        raise WrongUsage(f"{option} must be {least} or more.")


def _find(call: Call, typed: str) -> str:
    from lionstudio.services.session_finding import resolve_session

    return resolve_session(call.ctx, typed).id


def _find_all(call: Call) -> list[str]:
    """The ids of the runs that were typed, each once; all of them are found before anything is done."""
    return list(dict.fromkeys(_find(call, typed) for typed in call.args.runs))


def _read_filter(call: Call) -> "SessionFilter":
    from lionstudio.domain.session_list import parse_filter

    words: dict[str, Any] = {name: getattr(call.args, name) for name in WORD_FILTERS}
    if call.args.since is not None:
        from lionstudio.domain.moments import parse_since

        words["since"] = parse_since(call.args.since, now=call.ctx.now())
    return parse_filter(words)


def _list(call: Call, wanted: "SessionFilter") -> "tuple[list[SessionSummary], str | None]":
    """As many runs as asked for, and where the next page begins."""
    from lionstudio.domain.session_list import PAGE_LIMIT, Sort
    from lionstudio.domain.words import parse_word
    from lionstudio.services.runs import summarise
    from lionstudio.services.session_list import list_sessions

    order = parse_word(Sort, call.args.sort, what="order")
    found: list[SessionSummary] = []
    cursor: str | None = call.args.cursor
    while True:
        limit = min(call.args.limit - len(found), PAGE_LIMIT)
        page = list_sessions(call.ctx, wanted, sort=order, cursor=cursor, limit=limit)
        found += summarise(call.ctx, page.items)
        cursor = page.next_cursor
        if cursor is None or len(found) >= call.args.limit:
            return found, cursor


def _nothing_found(call: Call) -> str:
    if typed := _as_typed(call, FILTERS).strip():
        return f"No run matches {typed}. All of them: li runs ls"
    if call.args.cursor is not None:
        return "There are no more runs. From the beginning: li runs ls"
    return "There are no runs yet. Bring past ones in: li state import. Or record one: lionstudio.record(…) in Python."


def _as_typed(call: Call, names: "Iterable[str]") -> str:
    """Options as a person would type them again."""
    from shlex import quote

    usual = {"limit": 50, "sort": "active"}
    given = {name: getattr(call.args, name) for name in names}
    return "".join(
        f"--{name} {quote(str(value))} "
        for name, value in given.items()
        if value is not None and value != usual.get(name)
    )


def _plan_facts(call: Call, plan: "KillPlan", grace: float) -> "Iterator[tuple[str, str | Cell]]":
    from lionstudio.services.naming import name_of

    process = plan.process
    yield "run", f"{name_of(call.ctx, plan.session)} ({plan.session.id})"
    yield "process", f"{process.role} pid {process.pid} on {process.place.host}"
    if process.command:
        yield "command", process.command
    yield "known by", plan.sentence
    yield "told to end", _whom(plan)
    yield "how", f"SIGTERM; SIGKILL if it is not gone after {grace:g} s"
    yield "then", "the run is cancelled, unless it writes its own end"


def _whom(plan: "KillPlan") -> str:
    """Who is told to end, and who is not."""
    from lionstudio.domain.phrases import count_of

    pid = plan.process.pid
    if plan.group is None:
        return f"only pid {pid}; processes that it started may live on"
    return f"the whole group {pid}: {count_of(len(plan.group), 'member')}, pid {', '.join(map(str, plan.group))}"


def _plan_object(plan: "KillPlan", grace: float) -> "dict[str, Any]":
    process = plan.process
    return {
        "id": plan.session.id,
        "name": plan.session.name,
        "pid": process.pid,
        "role": process.role,
        "host": process.place.host,
        "command": process.command,
        "known_by": plan.sentence,
        "whole_group": plan.group is not None,
        "group": None if plan.group is None else list(plan.group),
        "grace": grace,
    }


def _killed_facts(call: Call, done: "Killed") -> "Iterator[tuple[str, str | Cell]]":
    from lionstudio.cli.operator import operator
    from lionstudio.domain.chain import by_whom
    from lionstudio.domain.labels import status_label
    from lionstudio.services.naming import name_of

    by = "by itself" if done.ended_by_itself else by_whom(done.session.end_actor, operator())
    written = f"written {by}" if done.not_recorded is None else "for its end could not be written"
    yield "run", f"{name_of(call.ctx, done.session)} ({done.session.id})"
    yield "status", f"{status_label(done.session.status)}, {written}"
    yield "told to end", _whom(done.plan)
    yield "signals", ", ".join(done.signals)
    yield "proof", done.proof


def _killed_object(done: "Killed", grace: float) -> "dict[str, Any]":
    return {
        **_plan_object(done.plan, grace),
        "dry_run": False,
        "status": done.session.status,
        "signals": list(done.signals),
        "sigkill_needed": "SIGKILL" in done.signals,
        "proof": done.proof,
        "ended_by_itself": done.ended_by_itself,
        "event_id": done.event_id,
        "not_recorded": None if done.not_recorded is None else done.not_recorded.message,
    }
