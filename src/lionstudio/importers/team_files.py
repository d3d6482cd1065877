"""Team files in: every team of a folder, and what is new in those that are known. Doing it again changes nothing."""

from collections.abc import Callable, Iterable
from functools import partial

from lionstudio.domain.errors import Error, Invalid
from lionstudio.domain.team_entries import by_message
from lionstudio.domain.team_files import TeamFile, problems_in
from lionstudio.importers.report import ImportReport, Problem
from lionstudio.services.context import Context
from lionstudio.services.team_merge import Merged, TeamTold, merge_latest, merge_team, told_by

Progress = Callable[[int], None]  # files dealt with so far
ReadAgain = Callable[[str], TeamFile | None]  # the file at a path as it is by now, if it can be read


def import_team_files(
    ctx: Context | None,
    files: Iterable[tuple[str, TeamFile | Error]],
    *,
    read_again: ReadAgain,
    actor: str,
    is_primary: bool,
    dry_run: bool = False,
    on_progress: Progress | None = None,
) -> ImportReport:
    """Merge team files, as they were read or could not be, into the database; a bad one is a problem, the rest goes on.

    Where files are the primary store, what a file says wins; else nothing is changed but what is missing. A dry run
    needs no database: without one, everything is new. Others may go on writing: `read_again` sees to it that no older
    facts are left behind.
    """
    merged: list[Merged] = []
    problems: list[Problem] = []
    for path, file in files:
        if isinstance(file, Error):
            problems.append(Problem(path, file.message))
        else:
            problems += [Problem(path, sentence) for sentence in problems_in(file)]
            try:
                told = told_by(file, is_primary=is_primary)
                if ctx is None or dry_run:
                    merged.append(_rehearse(ctx, told, actor=actor))
                else:
                    merged.append(merge_latest(ctx, told, partial(read_again, path), actor=actor))
            except Invalid as error:
                problems.append(Problem(path, error.message))
        if on_progress is not None:
            on_progress(len(merged) + len(problems))
    return ImportReport(_counts(merged), tuple(problems))


def _rehearse(ctx: Context | None, told: TeamTold, *, actor: str) -> Merged:
    if ctx is None:
        return Merged(team_added=True, messages_added=len(by_message(told.messages)))
    return merge_team(ctx, told, actor=actor, dry_run=True)


def _counts(merged: Iterable[Merged]) -> dict[str, int]:
    done = list(merged)
    return {
        "teams added": sum(one.team_added for one in done),
        "teams changed": sum(one.team_changed for one in done),
        "teams unchanged": sum(one.is_nothing for one in done),
        "messages added": sum(one.messages_added for one in done),
        "messages changed": sum(one.messages_changed for one in done),
    }
