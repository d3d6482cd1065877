"""Comparing files on disk with the database, changing neither: what differs, and which command mends it."""

import os
from collections.abc import Iterable, Iterator

from lionstudio.domain.errors import Error, Invalid
from lionstudio.domain.finding import Finding
from lionstudio.domain.phrases import count_of
from lionstudio.domain.team import Team
from lionstudio.domain.team_entries import id_in_file
from lionstudio.domain.team_files import TeamFile, file_name_of, problems_in
from lionstudio.importers.lionagi_db_groups import ACTOR as FROM_DATABASE
from lionstudio.services.context import Context
from lionstudio.services.team_merge import Merged, TeamTold, merge_team, told_by
from lionstudio.services.teams import list_messages, list_team_history, list_teams

CHECK = "team files"
IMPORT = "li state import-teams"
BY_HAND = "Mend that file, or move it away"
ACTOR = "verify"


def compare_team_files(
    ctx: Context, files: Iterable[tuple[str, TeamFile | Error]], *, is_primary: bool
) -> Iterator[Finding]:
    """What team files and the database do not both know. Where the database is the only store, files may lag behind."""
    seen: dict[str, set[str]] = {}
    unreadable: dict[str, Error] = {}
    for path, file in files:
        if isinstance(file, Error):
            unreadable[path] = file
            continue
        yield from (Finding(CHECK, path, sentence, BY_HAND) for sentence in problems_in(file))
        told = told_by(file, is_primary=is_primary)
        seen.setdefault(file.team.id, set()).update(message.id for message in told.messages)
        yield from _not_in_database(ctx, path, told)
    owners = _owners(ctx, unreadable)
    for path, error in unreadable.items():
        yield Finding(CHECK, path, error.message, _mend(error, owners.get(path)))
    if is_primary:
        yield from _not_in_files(ctx, seen, unreadable={team.id for team in owners.values()})


def _owners(ctx: Context, paths: Iterable[str]) -> dict[str, Team]:
    """The teams that the database knows, by the path of their file, where that is one of these."""
    by_name = {os.path.basename(path): path for path in paths}
    teams = _walk_teams(ctx) if by_name else ()
    return {by_name[name]: team for team in teams if (name := file_name_of(team.id)) in by_name}


def _mend(error: Error, team: Team | None) -> str:
    if not isinstance(error, Invalid):
        return error.hint or BY_HAND  # it may be whole, and cannot be opened
    return BY_HAND if team is None else f"{BY_HAND} and type: {_export(team)}"


def _not_in_database(ctx: Context, path: str, told: TeamTold) -> Iterator[Finding]:
    try:
        missing = merge_team(ctx, told, actor=ACTOR, dry_run=True)
    except Invalid as error:
        yield Finding(CHECK, path, error.message, BY_HAND)
        return
    if not missing.is_nothing:
        yield Finding(CHECK, path, f"The database lacks {_in_words(missing)}.", IMPORT)


def _in_words(missing: Merged) -> str:
    said = [
        "the team" if missing.team_added else "",
        "what has changed about the team" if missing.team_changed else "",
        count_of(missing.messages_added, "message") if missing.messages_added else "",
        f"what has changed about {count_of(missing.messages_changed, 'message')}" if missing.messages_changed else "",
    ]
    return ", ".join(part for part in said if part)


def _not_in_files(ctx: Context, seen: dict[str, set[str]], *, unreadable: set[str]) -> Iterator[Finding]:
    for team in _walk_teams(ctx):
        if team.id not in seen and team.id in unreadable:
            continue  # it has a file, which was named already
        if team.id not in seen and _never_had_one(ctx, team):
            continue
        if team.id not in seen:
            yield Finding(CHECK, team.id, f"The team {team.name} is in the database and has no file.", _export(team))
            continue
        lacking = sum(message_id not in seen[team.id] for message_id in _walk_ids(ctx, team))
        if lacking:
            sentence = f"The file of the team {team.name} lacks {count_of(lacking, 'message')} that the database has."
            yield Finding(CHECK, team.id, sentence, _export(team))


def _never_had_one(ctx: Context, team: Team) -> bool:
    """Whether a team came in from another database: then nothing is missing."""
    return any(step.actor == FROM_DATABASE and step.from_status is None for step in list_team_history(ctx, team.id))


def _export(team: Team) -> str:
    return f"li team export {team.id}"


def _walk_teams(ctx: Context) -> Iterator[Team]:
    before: tuple[float, str] | None = None
    while page := list_teams(ctx, before=before):
        before = (page[-1].created_at, page[-1].id)
        yield from page


def _walk_ids(ctx: Context, team: Team) -> Iterator[str]:
    """The ids of a team's messages, as its file has them."""
    after: tuple[float, str] | None = None
    while page := list_messages(ctx, team.id, after=after):
        after = (page[-1].created_at, page[-1].id)
        yield from map(id_in_file, page)
