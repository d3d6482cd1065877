"""`li state verify`: whether the database is whole, and agrees with the files on disk."""

import os
from collections.abc import Callable, Iterator

from lionstudio.cli.command import Call
from lionstudio.cli.output import Cell
from lionstudio.domain.errors import Unavailable
from lionstudio.domain.finding import Finding
from lionstudio.domain.phrases import count_of
from lionstudio.services.verification import verify_database, why_not_checked

MOST_FINDINGS = 50  # named on a terminal; --json names all


def verify(call: Call) -> int:
    """Look through everything, change nothing, and say which command mends what differs."""
    found = 0
    looked_at: list[str] = []
    with call.out.progress("Checks done") as step:

        def begin(check: str) -> None:
            step(len(looked_at))
            looked_at.append(check)

        for finding in _find(call, begin):
            found += 1
            if call.out.as_json:
                call.out.json(finding._asdict())
            elif found <= MOST_FINDINGS:
                _print(call, finding)
    _sum_up(call, found, looked_at)
    return 1 if found else 0


def _find(call: Call, begin: Callable[[str], None]) -> Iterator[Finding]:
    yield from verify_database(call.ctx, begin)
    begin("team files")
    yield from _teams(call)
    begin("shows on disk")
    yield from _shows(call)
    begin("spool")
    yield from _spool(call)


def _teams(call: Call) -> Iterator[Finding]:
    from lionstudio.importers.comparing import compare_team_files
    from lionstudio.recorders.team_finding import read_each

    settings = call.settings
    yield from compare_team_files(call.ctx, read_each(settings.teams_folder), is_primary=settings.teams == "files")


def _shows(call: Call) -> Iterator[Finding]:
    from lionstudio.cli.shows import FORGET, describe, is_gone
    from lionstudio.importers.show_folders import import_show_folders
    from lionstudio.services.rehearsal import open_rehearsal

    root = call.settings.shows_folder
    if not os.path.isdir(root):
        return
    try:
        with open_rehearsal(call.settings) as trial:
            found = import_show_folders(trial, root)
    except Unavailable as error:
        yield Finding("shows on disk", root, f"They could not be compared: {error.message}", error.hint or "Try again.")
        return
    for difference in found.differences:
        sentence = f"On disk it is otherwise: {describe(difference)}"
        yield Finding("shows on disk", difference.topic, sentence, "li state import-shows")
    for problem in found.report.problems:
        mend = f"Put it back, or type: {FORGET}" if is_gone(problem) else "Mend or remove that file or folder"
        yield Finding("shows on disk", problem.where, problem.message, mend)


def _spool(call: Call) -> Iterator[Finding]:
    from lionstudio.recorders.spool import list_rejected, list_waiting, spool_folder

    spool, place = call.settings.spool, call.settings.db
    id = call.ctx.db.dialect.database_id
    ours = {spool_folder(spool, database_id=known, location=place) for known in (id, None)}
    for waiting in list_waiting(spool):
        if waiting.path.parent in ours:
            records = count_of(waiting.records, "record waits", "records wait")
            sentence = f"{records} to be written, while the process lives or something is in the way."
            yield Finding(
                "spool", str(waiting.path), sentence, "li state stats, which opens the database and writes them"
            )
    for rejected in list_rejected(spool):
        if rejected.path.parent in ours:
            sentence = f"{count_of(rejected.records, 'record was', 'records were')} refused by the database for good."
            yield Finding("spool", str(rejected.path), sentence, "Read that file, then move it away")


def _print(call: Call, finding: Finding) -> None:
    call.out.facts(
        [
            (finding.check, Cell(f"{finding.subject}: {finding.sentence}", "danger")),
            ("", call.out.hint(f"Mend it: {finding.mend}")),
        ]
    )


def _sum_up(call: Call, found: int, looked_at: list[str]) -> None:
    unchecked = why_not_checked(call.ctx)
    if call.out.as_json:
        summary = {"ok": not found, "findings": found, "checks": looked_at, "location": call.ctx.db.dialect.location}
        call.out.json({"summary": True, **summary, "file_not_checked": unchecked})
        return
    if found > MOST_FINDINGS:
        call.out.say(f"… and {found - MOST_FINDINGS:,} more; --json names all of them.")
    if unchecked:
        call.out.say(f"The files of the database were not checked: {unchecked}.")
    if found:
        things = count_of(found, "thing is not as it", "things are not as they")
        call.out.say(f"{things} should be in {call.ctx.db.dialect.location}.")
    else:
        call.out.say_data(
            f"{call.ctx.db.dialect.location} is whole, and agrees with the files ({count_of(len(looked_at), 'check')})."
        )
