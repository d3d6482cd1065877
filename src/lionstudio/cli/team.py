"""`li team …` and `li state import-teams`: let agents and people write to each other."""

import os

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.cli.operator import operator
from lionstudio.domain.team import SYSTEM_SENDER, TeamStatus
from lionstudio.recorders.ambient import AGENT_VARIABLE, SESSION_VARIABLE, TEAM_VARIABLE
from lionstudio.recorders.teams import Places, Post, open_teams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionstudio.recorders.database_teams import DatabaseTeams
    from lionstudio.recorders.file_teams import FileTeams


def create(call: Call) -> None:
    """Make a team."""
    from lionstudio.cli.team_rows import team_object

    team = _teams(call).create(call.args.name, call.args.members, call.args.description)
    if call.out.as_json:
        call.out.json(team_object(team))
        return
    call.out.say_data(team.id)
    who = f"with {', '.join(team.members)}" if team.members else "without members yet: li team members adds some"
    call.out.say(f"Made the team {team.name!r} {who}.")


def list_teams(call: Call) -> int:
    """Every team in use; with --archived those that were put aside, too. 1 if the database could not tell its own."""
    from lionstudio.cli.team_rows import print_teams

    teams = _teams(call)
    found = teams.list_teams()
    print_teams(call, [one for one in found if call.args.archived or one.team.status is TeamStatus.ACTIVE], len(found))
    return 0 if teams.trouble is None else 1


def show(call: Call) -> None:
    """One team: its members and its last messages."""
    from lionstudio.cli.team_rows import print_team

    print_team(call, _teams(call).show(_team(call), _limit(call)))


def send(call: Call) -> None:
    """Write to members of a team."""
    args = call.args
    content = _typed_text() if args.content == "-" else args.content
    post = Post(
        # An empty name was typed, by a script whose variable is not set: nobody else may speak instead.
        sender=(os.environ.get(AGENT_VARIABLE) or SYSTEM_SENDER) if args.sender is None else args.sender,
        content=content,
        recipients=tuple(args.to or Post._field_defaults["recipients"]),
        session_id=os.environ.get(SESSION_VARIABLE) or None,
    )
    team, messages = _teams(call).send(_team(call), post)
    if post.sender not in (*team.members, SYSTEM_SENDER):
        call.out.say(f"{post.sender!r} is no member of the team, so nobody can answer by that name.")
    if call.out.as_json:
        from lionstudio.cli.team_rows import message_object

        for message in messages:
            call.out.json(message_object(message))
        return
    call.out.say(f"Sent to {', '.join(message.recipient for message in messages)} in {team.name!r}.")


def receive(call: Call) -> None:
    """What is new for a member, which then counts as read."""
    from lionstudio.cli.team_rows import print_inbox

    args = call.args
    inbox = _teams(call).receive(_team(call), args.member, everything=args.all, peek=args.peek, limit=_limit(call))
    print_inbox(call, inbox)


def members(call: Call) -> None:
    """Who belongs to a team; add or remove members."""
    from lionstudio.cli.team_rows import print_members

    print_members(call, _teams(call).change_members(_team(call), call.args.add or (), call.args.remove or ()))


def archive(call: Call) -> None:
    """Put a team aside, or take it back."""
    from lionstudio.cli.team_rows import team_object

    status = TeamStatus.ACTIVE if call.args.undo else TeamStatus.ARCHIVED
    team = _teams(call).set_status(call.args.team, status)
    if call.out.as_json:
        call.out.json(team_object(team))
    elif status is TeamStatus.ARCHIVED:
        call.out.say(f"Archived {team.name!r}. li team archive --undo takes it back, li team prune deletes it one day.")
    else:
        call.out.say(f"The team {team.name!r} is in use again.")


def prune(call: Call) -> int:
    """Delete teams that were archived long ago, after showing which."""
    from lionstudio.cli.team_upkeep import prune_teams

    return prune_teams(call)


def export(call: Call) -> int:
    """Write teams as the JSON files that lionagi reads."""
    from lionstudio.cli.team_upkeep import export_teams

    return export_teams(call)


def watch(call: Call) -> None:
    """Messages of a team, as they are written."""
    from lionstudio.cli.team_upkeep import watch_team

    watch_team(call, _teams(call), _team(call))


def import_teams(call: Call) -> int:
    """Bring team files in, and new messages of teams that are known."""
    from lionstudio.cli.team_upkeep import import_folder

    return import_folder(call)


def _teams(call: Call) -> "FileTeams | DatabaseTeams":
    places = Places(
        folder=call.settings.teams_folder,
        to_read=lambda: call.ctx,
        to_write=lambda: call.ctx_made,
        say=call.out.say,
        actor=operator,
        sync=call.settings.synchronous == "FULL",
    )
    return open_teams(places, database_only=call.settings.teams == "database")


def _team(call: Call) -> str:
    """The team that was named, or else the one that this process belongs to."""
    named: str | None = call.args.team or os.environ.get(TEAM_VARIABLE)
    if not named:
        raise WrongUsage("Which team?", hint="Name it, or set LIONAGI_TEAM. li team list shows the teams there are.")
    return named


def _limit(call: Call) -> int:
    limit: int = call.args.limit
    if limit < 0:
        raise WrongUsage("--limit cannot be below 0.")
    return limit


def _typed_text() -> str:
    import sys

    if sys.stdin is None:
        raise WrongUsage("Standard input is closed.", hint="Give the text after the team instead of -.")
    # As bytes: how text is decoded depends on the machine, and what is none must be seen to be none.
    typed = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    return typed.replace("\r\n", "\n").rstrip("\n")
