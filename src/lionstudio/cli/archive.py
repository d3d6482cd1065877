"""`li state export`, `backup` and `restore`: the database in files, and back."""

import os
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.cli.operator import operator
from lionstudio.cli.output import Column
from lionstudio.cli.state import size_text
from lionstudio.domain.contents import Contents
from lionstudio.domain.errors import Conflict, UnknownWord
from lionstudio.domain.phrases import count_of
from lionstudio.services import archive
from lionstudio.services.archive import Backup, Restored, RestorePlan

FORMATS = ("jsonl", "sqlite")
SHOWN_RUNS = 5  # of those that a restore forgets; --json names all


def export(call: Call) -> None:
    """Everything, or some runs, as JSON lines or as an SQLite file."""
    if call.args.format not in FORMATS:
        raise UnknownWord(f"{call.args.format!r} is not a format.", hint=f"Use {' or '.join(FORMATS)}.")
    wanted = _resolve(call)
    if call.args.format == "sqlite":
        _export_file(call, wanted)
    else:
        _export_lines(call, wanted)


def _resolve(call: Call) -> list[str]:
    from lionstudio.services.session_finding import resolve_session

    return list(dict.fromkeys(resolve_session(call.ctx, typed).id for typed in call.args.runs))


def _export_lines(call: Call, wanted: Sequence[str]) -> None:
    from lionstudio.services.database_export import export_database, write_lines
    from lionstudio.services.exporting import export_lines

    lines = export_lines(call.ctx, wanted) if wanted else export_database(call.ctx)
    if call.args.output is None:
        for line in lines:
            call.out.json(line)
        return
    with call.out.progress("Lines written") as step:
        count = write_lines(call.args.output, _counted(lines, step))
    call.out.say(f"{count_of(count, 'line')} written to {os.path.abspath(call.args.output)}.")


def _export_file(call: Call, wanted: Sequence[str]) -> None:
    if call.args.output is None:
        raise WrongUsage("An SQLite file cannot go to the terminal.", hint="Name a file: --output FILE")
    if not wanted:
        with _progress(call, "Rows copied and compared") as on_rows:
            copy = archive.back_up(call.ctx, call.args.output, on_rows)
        call.out.say(f"Everything was written to {copy.path} ({size_text(copy.size)}) and compared.")
        return
    from lionstudio.services.database_export import write_runs_file

    with _progress(call, "Rows copied and compared") as on_rows:
        file = write_runs_file(call.ctx, wanted, call.args.output, on_rows)
    more = len(file.session_ids) - len(wanted)
    forked = f", and {count_of(more, 'more run')} from which forks were made," if more else ""
    call.out.say(f"{count_of(len(wanted), 'run')}{forked} written to {os.path.abspath(file.path)} and compared.")


def backup(call: Call) -> None:
    """Copy the database while it is in use, and compare the copy with it."""
    target = call.args.file or archive.name_backup(call.ctx, str(call.settings.backups))
    with _progress(call, "Rows copied and compared") as on_rows:
        copy = archive.back_up(call.ctx, target, on_rows)
    if call.out.as_json:
        call.out.json(_backup_object(copy))
        return
    rows = sum(copy.rows.values())
    call.out.facts(
        [
            ("file", copy.path),
            ("size", size_text(copy.size)),
            ("verified", f"whole, and all {rows:,} rows equal to the database at that moment"),
            ("put it back", call.out.hint(f"li state restore {shlex.quote(copy.path)}")),
        ]
    )


def restore(call: Call) -> int:
    """Put a backup back into the database, which stays open for everyone."""
    backups = str(call.settings.backups)
    with _progress(call, "Pages and rows looked at") as on_rows:
        staged = archive.stage_restore(call.ctx_made, call.args.file, backups=backups, on_rows=on_rows)
    with staged:
        if call.args.dry_run or not call.out.as_json:
            _print_plan(call, staged.plan)
        if call.args.dry_run:
            call.out.say_dry_run()
            return 0
        _require_own(call, staged.plan)
        if not call.out.confirm(f"Replace what is there now, in {staged.plan.database}?", yes=call.args.yes):
            return 1
        with _progress(call, "Rows copied and compared") as on_rows:
            done = staged.restore(backups=backups, actor=operator(), on_rows=on_rows)
    _print_restored(call, done)
    return 0


def _require_own(call: Call, plan: RestorePlan) -> None:
    """Raise Conflict for a backup of another database where nobody can be asked: it may be the wrong --db."""
    if plan.other_id is not None and not call.args.yes and not call.out.can_ask:
        raise Conflict(f"{_of_another(plan)} Nothing was changed.", hint="If that is meant: --yes")


def _of_another(plan: RestorePlan) -> str:
    return (
        f"{plan.file} is a backup of another database ({plan.other_id}), and would take the place of all that is "
        f"in {plan.database}."
    )


def _print_plan(call: Call, plan: RestorePlan) -> None:
    if call.out.as_json:
        call.out.json({"dry_run": True, **_plan_object(plan)})
        return
    columns = (Column(""), Column("NOW", right=True), Column("AFTER", right=True))
    now = ["not readable"] * 6 if plan.now is None else _rows_of(plan.now)
    names = ("runs", "of them running", "messages", "shows", "teams", "newest run")
    call.out.table(columns, zip(names, now, _rows_of(plan.then), strict=True))
    call.out.say(f"Into {plan.database}, from {plan.file}, {size_text(plan.size)}, whole.")
    if plan.other_id is not None and (call.args.dry_run or call.out.can_ask or call.args.yes):  # else it is refused
        call.out.say(f"Careful: {_of_another(plan)} In a pipe that needs --yes.")
    if plan.forgotten:
        shown = ", ".join(plan.forgotten[:SHOWN_RUNS]) + (" …" if len(plan.forgotten) > SHOWN_RUNS else "")
        call.out.say(
            f"{count_of(len(plan.forgotten), 'run that runs now is', 'runs that run now are')} not in the backup "
            f"({shown}): what is said there from then on "
            "is refused, and kept in the spool."
        )


def _rows_of(found: Contents) -> list[str]:
    newest = "none"
    if found.newest_at is not None:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.newest_at))
        newest = f"{found.newest_name or found.newest_id}, {at}"
    counts = (found.sessions, found.running, found.messages, found.shows, found.teams)
    return [*(f"{count:,}" for count in counts), newest]


def _print_restored(call: Call, done: Restored) -> None:
    if call.out.as_json:
        safety = None if done.safety is None else _backup_object(done.safety)
        call.out.json({"dry_run": False, **_plan_object(done.plan), "safety_backup": safety, "rows": done.rows})
        return
    then = done.plan.then
    counts = f"{count_of(then.sessions, 'run')}, {count_of(then.messages, 'message')}"
    call.out.say(f"Restored into {done.plan.database} and compared: {counts}.")
    if done.safety is None:
        call.out.say("There was nothing before, so no safety backup was made.")
    elif done.safety.verified:
        undo = f"li state restore {shlex.quote(done.safety.path)}"
        call.out.say(f"What was there before is in {done.safety.path}. To undo: {undo}")
    else:
        call.out.say(f"What was there before was damaged; it is in {done.safety.path} as it was.")


def _plan_object(plan: RestorePlan) -> dict[str, Any]:
    return {
        "file": plan.file,
        "size": plan.size,
        "database": plan.database,
        "other_database_id": plan.other_id,
        "now": None if plan.now is None else plan.now._asdict(),
        "then": plan.then._asdict(),
        "running_sessions_forgotten": list(plan.forgotten),
    }


def _backup_object(copy: Backup) -> dict[str, Any]:
    return {"file": copy.path, "size": copy.size, "verified": copy.verified, "rows": copy.rows}


@contextmanager
def _progress(call: Call, what: str) -> Iterator[Callable[[int], None]]:
    """Progress that is told how much more is done."""
    done = 0
    with call.out.progress(what) as step:

        def more(count: int) -> None:
            nonlocal done
            done += count
            step(done)

        yield more


def _counted(lines: Iterable[dict[str, Any]], step: Callable[[int], None]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        yield line
        step(number)
