"""Team files in: every team of a folder, and what is new in those that are known. Doing it again changes nothing."""

from collections.abc import Callable, Iterable

from lionstudio.domain.errors import Error, Invalid
from lionstudio.domain.team_files import TeamFile, messages_in, problems_in
from lionstudio.importers.report import ImportReport, Problem
from lionstudio.services.context import Context
from lionstudio.services.team_merge import Merged, TeamTold, merge_team

Progress = Callable[[int], None]  # files dealt with so far


def import_team_files(
    ctx: Context | None,
    files: Iterable[tuple[str, TeamFile | Error]],
    *,
    actor: str,
    is_primary: bool,
    dry_run: bool = False,
    on_progress: Progress | None = None,
) -> ImportReport:
    """Merge team files, as they were read or could not be, into the database; a bad one is a problem, the rest goes on.

    Where files are the primary store, what a file says wins; else nothing is changed but what is missing. A dry run
    needs no database: without one, everything is new.
    """
    merged: list[Merged] = []
    problems: list[Problem] = []
    for path, file in files:
        if isinstance(file, Error):
            problems.append(Problem(path, file.message))
        else:
            problems += [Problem(path, sentence) for sentence in problems_in(file)]
            told = TeamTold(file.team, messages_in(file), file.says_status, is_primary)
            try:
                merged.append(_merge(ctx, told, actor=actor, dry_run=dry_run))
            except Invalid as error:
                problems.append(Problem(path, error.message))
        if on_progress is not None:
            on_progress(len(merged) + len(problems))
    return ImportReport(_counts(merged), tuple(problems))


def _merge(ctx: Context | None, told: TeamTold, *, actor: str, dry_run: bool) -> Merged:
    if ctx is None:
        return Merged(team_added=True, messages_added=len({message.id for message in told.messages}))
    return merge_team(ctx, told, actor=actor, dry_run=dry_run)


def _counts(merged: Iterable[Merged]) -> dict[str, int]:
    done = list(merged)
    return {
        "teams added": sum(one.team_added for one in done),
        "teams changed": sum(one.team_changed for one in done),
        "teams unchanged": sum(one.is_nothing for one in done),
        "messages added": sum(one.messages_added for one in done),
        "messages changed": sum(one.messages_changed for one in done),
    }
