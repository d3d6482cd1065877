"""`li record -- CMD…`: a command as a recorded run."""

import sys

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.domain.errors import ForeignDatabase
from lionstudio.recorders.ambient import AGENT_VARIABLE, DB_VARIABLE, TEAM_VARIABLE
from lionstudio.recorders.command import Wanted, run_recorded
from lionstudio.recorders.stopping import check_timeout

SWITCH_SECONDS = 0.0005  # who passes the output on should not wait for who writes it down


class NothingRun(ForeignDatabase):
    """Not 1, which is how a command fails that was run."""

    exit_code = 2


def record(call: Call) -> int:
    """Run a command as if alone, and record it; its own exit code, or the signal that ended it as a negative number."""
    args = call.args
    if not args.argv or not args.argv[0]:
        raise WrongUsage("li record: The command is missing.", hint="Type it after --, such as: li record -- pytest -q")
    if not all(pattern.strip() for pattern in args.expect or ()):
        raise WrongUsage("--expect names no file.", hint="Name what the command is to leave: --expect 'out/*.md'")
    check_timeout(args.timeout)
    wanted = Wanted(
        args.argv,
        name=args.name,
        kind=args.kind,
        agent=args.agent,
        save=None if args.save is None else _folder(args.save),
        expect=args.expect or (),
        timeout=args.timeout,
        db=args.db,
    )
    if args.team is not None:
        _join(call, args.team, args.agent)
    told = {
        AGENT_VARIABLE: args.agent,
        TEAM_VARIABLE: args.team,
        DB_VARIABLE: None if call.settings.db_is_default else call.settings.db,
    }
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        ended = run_recorded(wanted, {name: value for name, value in told.items() if value})
    except ForeignDatabase as error:  # the one database that can never be written, now or later
        raise NothingRun(f"{error.message} Nothing was run.", hint=error.hint) from error
    if not ended.has_begun:
        from lionstudio.domain.printable import one_line

        print(one_line(f"li: {ended.sentence}."), file=sys.stderr)
    return ended.way_to_end


def _folder(typed: str) -> str:
    from lionstudio.recorders.saving import make_folder

    return make_folder(typed)


def _join(call: Call, team: str, agent: str | None) -> None:
    from lionstudio.recorders.team_joining import join_team

    call.require_place()
    members = (agent,) if agent else ()
    join_team(call.settings, team, members, say=lambda sentence: print(f"li: {sentence}", file=sys.stderr))
