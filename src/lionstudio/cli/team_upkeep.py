"""Prune, export, import and watch teams: what is done rarely, or for long."""

import os
import sys
import time
from collections.abc import Iterator

from lionstudio.cli.command import Call
from lionstudio.cli.operator import operator
from lionstudio.cli.team_rows import listed_object, print_message, team_table
from lionstudio.domain.change import Change, Topic
from lionstudio.domain.errors import Error, NoDatabaseYet, NotFound
from lionstudio.domain.phrases import count_of
from lionstudio.domain.printable import one_line
from lionstudio.domain.team import Team, TeamMessage
from lionstudio.domain.team_files import TeamFile, new_team_file, with_missing, with_team
from lionstudio.recorders import team_files, team_finding
from lionstudio.services import team_list
from lionstudio.services.context import Context
from lionstudio.services.team_list import ListedTeam
from lionstudio.services.team_merge import merge_team, told_by
from lionstudio.services.team_prune import TeamPrunePlan, plan_team_prune, prune_team, record_prune
from lionstudio.services.whole_file import require_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionstudio.recorders.database_teams import DatabaseTeams
    from lionstudio.recorders.file_teams import FileTeams

LOOK_AT_FILE_EVERY = 1.0  # seconds: lionagi writes to files only, and tells no database


def prune_teams(call: Call) -> int:
    """Delete archived teams and their files, as planned; 1 if something could not be."""
    ctx = call.ctx
    plan = plan_team_prune(ctx, keep_days=call.args.keep_days)
    files = {listed.team.id: _file_of(call, listed.team) for listed in plan.teams}
    call.out.is_planning = bool(plan.teams) and not call.args.dry_run
    if call.out.as_json:
        for listed in plan.teams:
            more = {"file": files[listed.team.id], "dry_run": call.args.dry_run}
            call.out.json({**listed_object(listed), **more})
    elif plan.teams:
        team_table(call.out, plan.teams)
        for listed in plan.teams:
            if path := files[listed.team.id]:
                call.out.say(f"With {listed.team.name!r} goes its file {path}.")
    if not plan.teams:
        call.out.say(f"No team was archived and then left alone for {call.args.keep_days:g} days.")
        return 0
    if call.args.dry_run:
        call.out.say_dry_run()
        return 0
    question = f"Delete {count_of(len(plan.teams), 'team')} with all messages?"
    if not call.out.confirm(question, yes=call.args.yes, declined="Nothing was pruned."):
        return 1
    gone: list[ListedTeam] = []
    files_left: list[Team] = []
    try:
        gone.extend(listed for listed in plan.teams if _prune_one(call, ctx, plan, listed.team, files_left))
    finally:  # what is deleted is deleted, and has to be on record
        if gone:
            record_prune(ctx, plan, gone, actor=operator())
    call.out.say(f"Deleted {count_of(len(gone), 'team')}.")
    return 0 if len(gone) == len(plan.teams) and not files_left else 1


def _file_of(call: Call, team: Team) -> str | None:
    found = team_finding.find_file(call.settings.teams_folder, team.id)
    return None if found is None else found.path


def _prune_one(call: Call, ctx: Context, plan: TeamPrunePlan, team: Team, files_left: list[Team]) -> bool:
    """Delete one team and its file, if neither changed since the plan was made; whether the database forgot it."""
    is_gone = False

    def may_go(file: TeamFile) -> bool:
        nonlocal is_gone
        # What only the file knows comes in first, so that a team that is in use again is seen to be.
        merge_team(ctx, told_by(file, is_primary=_files_are_primary(call)), actor=operator())
        is_gone = prune_team(ctx, plan, team.id, actor=operator())
        return is_gone

    try:
        found = team_finding.find_file(call.settings.teams_folder, team.id)
        if found is None:
            is_gone = prune_team(ctx, plan, team.id, actor=operator())
        else:
            team_files.remove_file(found.path, may_go)
    except Error as error:
        if is_gone:
            call.out.say(
                f"{team.name!r} is deleted, but its file is still there and would bring it back: {error.message}"
            )
            files_left.append(team)
        else:
            call.out.say(f"Kept {team.name!r}: {error.message}")
        return is_gone
    if not is_gone:
        call.out.say(f"Kept {team.name!r}: something happened to it since.")
    return is_gone


def export_teams(call: Call) -> int:
    """Write what the database knows into files; what only a file knows stays in it. 1 if one could not be written."""
    ctx, failed = call.ctx, 0
    folder = call.settings.teams_folder
    if call.args.output:
        folder = os.path.abspath(call.args.output)
        require_folder(folder)
    chosen = [_find(ctx, typed) for typed in call.args.teams] if call.args.teams else _every_team(ctx)
    for team in chosen:
        try:
            path, is_new = _export_one(call, ctx, folder, team)
        except Error as error:
            call.out.say(f"Left out: {team.name!r}: {error.message}")
            failed += 1
            continue
        if call.out.as_json:
            call.out.json({"id": team.id, "name": team.name, "file": path, "is_new": is_new})
        else:
            call.out.say_data(one_line(path))
    call.out.say(f"Wrote {count_of(len(chosen) - failed, 'team')} to {folder}.")
    return 1 if failed else 0


def _export_one(call: Call, ctx: Context, folder: str, team: Team) -> tuple[str, bool]:
    messages = team_list.list_all_messages(ctx, team.id)
    found = team_finding.find_file(folder, team.id)
    if found is None:
        file = with_missing(new_team_file(team), messages, at=time.time())
        return team_files.create_file(folder, file), True
    is_primary = _files_are_primary(call) and _is_usual(call, folder)

    def change(file: TeamFile) -> TeamFile:
        return with_missing(file if is_primary else with_team(file, team), messages, at=time.time())

    team_files.change_file(found.path, change)
    return found.path, False


def _every_team(ctx: Context) -> list[Team]:
    return [listed.team for listed in reversed(team_list.list_with_counts(ctx))]


def _find(ctx: Context, typed: str) -> Team:
    team = team_list.find_meant(ctx, typed)
    if team is None:
        raise team_list.no_team(typed, team_list.list_names(ctx))
    return team


def import_folder(call: Call) -> int:
    """Merge the team files of a folder into the database; 1 if one could not be read."""
    from lionstudio.cli.reports import print_outcome, print_report
    from lionstudio.importers.team_files import import_team_files

    folder = os.path.abspath(call.args.folder) if call.args.folder else call.settings.teams_folder
    if call.args.folder:
        _require_readable(folder)
    paths = team_files.list_paths(folder)
    if not paths:
        call.out.say(f"There are no team files in {folder}. li team create NAME MEMBER… makes one.")
    call.require_place()
    ctx = _database_if_there(call) if call.args.dry_run else call.ctx_made
    with call.out.progress("Team files", len(paths)) as step:
        report = import_team_files(
            ctx,
            team_finding.read_each(folder),
            read_again=team_files.read_again,
            actor=operator(),
            is_primary=_files_are_primary(call) and _is_usual(call, folder),
            dry_run=call.args.dry_run,
            on_progress=step,
        )
    return print_outcome(call, report) if paths else print_report(call, report)


def _require_readable(folder: str) -> None:
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise NotFound(
            f"The folder {folder} cannot be read ({error.strerror}).", hint="Name the folder that holds the team files."
        ) from error


def _database_if_there(call: Call) -> Context | None:
    try:
        return call.ctx
    except NoDatabaseYet:
        return None


def watch_team(call: Call, teams: "FileTeams | DatabaseTeams", typed: str) -> None:
    """Print each message of a team once, as it is written, until the team is deleted or somebody stops it."""
    shown = teams.show(typed, 0)
    ctx = call.ctx_made
    teams.refresh(shown.team.id)
    if call.out.is_terminal:
        call.out.say(f"Watching {shown.team.name!r}. Ctrl-C ends it.")
    for team_message in _follow(ctx, teams, shown.team.id):
        print_message(call.out, team_message)
        sys.stdout.flush()  # whoever reads a pipe sees it now
    call.out.say(f"The team {shown.team.name!r} was deleted.")


def _follow(ctx: Context, teams: "FileTeams | DatabaseTeams", team_id: str) -> Iterator[TeamMessage]:
    """Every message that is new from now on, each once, until the team is gone."""
    from lionstudio.services.change_feed import ChangeFeed

    cursor, seen = team_list.begin_watch(ctx, team_id)
    looked_at = time.monotonic()
    with ChangeFeed(ctx) as feed:
        while True:
            for change in feed.follow(cursor, idle=LOOK_AT_FILE_EVERY):
                cursor = change.seq
                for message in _told_by(ctx, change, team_id):
                    if message.id not in seen:
                        seen.add(message.id)
                        yield message
                if change.entity_id == team_id and team_list.get_listed(ctx, team_id) is None:
                    return
                if time.monotonic() - looked_at > LOOK_AT_FILE_EVERY:
                    break  # others write so much that the feed is never idle
            looked_at = time.monotonic()
            teams.refresh(team_id)


def _told_by(ctx: Context, change: Change, team_id: str) -> list[TeamMessage]:
    """The messages of a team that a change may be about."""
    if change.topic is Topic.TEAM_MESSAGE:
        message = team_list.find_message(ctx, change.entity_id)
        return [message] if message is not None and message.team_id == team_id else []
    if change.topic is Topic.RELOAD or change.entity_id == team_id:
        return team_list.list_all_messages(ctx, team_id)
    return []


def _files_are_primary(call: Call) -> bool:
    return call.settings.teams == "files"


def _is_usual(call: Call, folder: str) -> bool:
    return os.path.realpath(folder) == os.path.realpath(call.settings.teams_folder)
