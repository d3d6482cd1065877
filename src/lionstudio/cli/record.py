"""`li record -- CMD…`: a command as a recorded run."""

import os
import sys
from typing import TYPE_CHECKING

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.recorders.ambient import AGENT_VARIABLE, DB_VARIABLE, TEAM_VARIABLE
from lionstudio.recorders.command import Wanted, run_recorded
from lionstudio.recorders.stopping import check_timeout

if TYPE_CHECKING:
    from lionstudio.settings import Settings

SWITCH_SECONDS = 0.0005  # who passes the output on should not wait for who writes it down


def record(call: Call) -> int:
    """Run a command as if alone, and record it; its own exit code, or the signal that ended it as a negative number."""
    args = call.args
    if not args.argv or not args.argv[0]:
        raise WrongUsage("li record: The command is missing.", hint="Type it after --, such as: li record -- pytest -q")
    check_timeout(args.timeout)
    call.require_place()
    if args.team is not None:
        _join(call.settings, args.team, args.agent)
    wanted = Wanted(
        args.argv,
        name=args.name,
        kind=args.kind,
        agent=args.agent,
        save=None if args.save is None else _make_folder(args.save),
        expect=args.expect or (),
        timeout=args.timeout,
        db=args.db,
    )
    told = {
        AGENT_VARIABLE: args.agent,
        TEAM_VARIABLE: args.team,
        DB_VARIABLE: None if call.settings.db_is_default else call.settings.db,
    }
    sys.setswitchinterval(SWITCH_SECONDS)
    ended = run_recorded(wanted, {name: value for name, value in told.items() if value})
    if not ended.has_begun:
        from lionstudio.cli.output import one_line

        print(one_line(f"li: {ended.sentence}."), file=sys.stderr)
    return ended.way_to_end


def _make_folder(typed: str) -> str:
    folder = os.path.abspath(os.path.expanduser(typed))
    os.makedirs(folder, exist_ok=True)
    return folder


def _join(settings: "Settings", team: str, agent: str | None) -> None:
    from lionstudio.recorders.team_joining import join_team

    members = (agent,) if agent else ()
    join_team(settings, team, members, say=lambda sentence: print(f"li: {sentence}", file=sys.stderr))
