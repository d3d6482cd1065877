"""The commands `li` and `lionstudio`: find the one that is meant, run it, say what went wrong."""

from __future__ import annotations

import os
import sys

from lionstudio.version import __version__

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

HELP = f"""\
lionstudio {__version__}: what is running, what is stuck and why, what needs you.

Usage: li COMMAND [options]

Run agents
  agent MODEL PROMPT     one agent, one task        record -- CMD   any command, recorded
  play NAME KEY=VALUE…   what a playbook says       flow FILE       steps of agents in a file
  fanout MODEL… TASK     one task for several agents, and one answer
See what runs, and act
  studio                 serve the studio: http://127.0.0.1:8765
  runs ls                list runs, by status, health, agent, words …
  runs show RUN          one run: state, evidence, branches, tool errors
  runs tail -f RUN…      follow what they say       runs wait RUN…  until they end, and how
  runs kill RUN          end a run's process, and prove that it is gone
  state doctor           judge every run's health, with evidence
Look after the database
  state import | import-shows | import-teams | import-db FILE         bring past runs in
  state ls | stats | verify | checkpoint | vacuum | prune | legacy | export | backup | restore
Work together
  team create | list | show | send | receive | members | archive | prune | export | watch
  agents ls | show       playbooks ls | show

Every command explains itself: li runs ls --help. --db PLACE may be given to all of them,
--json to all that answer; the exports of runs and state are JSON lines anyway."""
INTERRUPTED, TOLD_TO_STOP = 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code: 0 done, 1 failed, 2 wrong usage. One below 0 is a signal to die of."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    from lionstudio.domain.errors import Error, Invalid

    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except Error as error:
        _complain(words, error.code, error.message, error.hint, *error.problems)
        usual = 2 if isinstance(error, Invalid) else 1
        return int(getattr(error, "exit_code", usual))  # few commands say more with theirs
    except KeyboardInterrupt as stop:
        _complain(words, "stopped", " ".join(["stopped.", *getattr(stop, "__notes__", ())]))  # what was done by then
        return INTERRUPTED
    except BrokenPipeError:  # `li runs ls | head`: whoever reads has seen enough
        _write_nowhere()
        return TOLD_TO_STOP
    except OSError as error:
        _write_nowhere()
        _complain(words, "system", *_explain(error))
        return 1


def _explain(error: OSError) -> tuple[str, str | None]:
    """What the system refused, and what to do about it."""
    import errno

    if error.filename is None and error.errno == errno.EBADF:
        return "The answer has nowhere to go, for stdout is closed.", "To throw it away: >/dev/null"
    if error.filename is None and isinstance(error, FileNotFoundError):
        return "The working directory was deleted.", "Go to a folder that exists: cd"
    return f"{error.strerror or error}: {error.filename or 'the place that the answer goes to'}.", None


def _write_nowhere() -> None:
    """What is still to be written goes nowhere, so that the end of the process does not fail for it again."""
    from contextlib import suppress

    with suppress(OSError, ValueError):  # it is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def entry() -> NoReturn:
    """What the shell starts. A command is over sooner without what Python does for programs that live long."""
    import gc

    gc.set_threshold(50_000)  # importing makes thousands of objects, none of them garbage
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        _open_closed_streams()
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        if code < 0:
            code = _die_of(-code)
        os._exit(code)  # the system takes memory and files back faster than the interpreter


def _die_of(number: int) -> int:
    """Die of a signal, as what we ran did. The first process of a container cannot: the exit code that says it."""
    import signal

    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


def _open_closed_streams() -> None:
    """Streams that were closed by whoever started us (`>&-`): else the next file that is opened takes their place.

    Nobody hears what is said. An answer that cannot be given is an error, so its stream refuses to be written.
    """
    for number, name, way in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, way)  # the lowest number that is free, which is this one
            setattr(sys, name, os.fdopen(opened, "w" if number else "r"))


def _run(words: list[str]) -> int:
    match words:
        case ["--version" | "-V"]:
            print(f"lionstudio {__version__}")
            return 0
        case [] | ["--help" | "-h" | "help"]:
            print(HELP)
            return 0
    from lionstudio.cli.command import WrongUsage, run_command
    from lionstudio.cli.commands import GROUPS, find_commands
    from lionstudio.domain.near_words import did_you_mean

    words, common = _split_common(words)
    if words and words[0] == "help":
        words = [*words[1:], "--help"]
    match words:
        case []:
            raise WrongUsage("A command is missing.", hint="Type: li --help")
        case [group, *_] if group not in GROUPS:
            raise WrongUsage(f"There is no command {group!r}.{did_you_mean(group, GROUPS)}", hint="Type: li --help")
        case [group, *rest] if "" in find_commands(group):  # it is a command by itself
            return run_command(find_commands(group)[""], [*common, *rest])
        case [group] | [group, "--help" | "-h"]:
            print(_help_of_group(group))
            return 0
        case [group, name, *rest]:
            commands = find_commands(group)
            if name in commands:
                return run_command(commands[name], [*common, *rest])
            near = did_you_mean(name, commands)
            raise WrongUsage(f"There is no command {f'{group} {name}'!r}.{near}", hint=f"Type: li {group} --help")
    raise AssertionError(words)


def _split_common(words: list[str]) -> tuple[list[str], list[str]]:
    """Options before the command, to be read behind it: li --db PLACE runs ls."""
    match words:
        case ["--db", place, *rest]:
            return rest, ["--db", place]
        case [first, *rest] if first.startswith("--db="):
            return rest, [first]
        case [first, *_] if first.startswith("-"):
            from lionstudio.cli.command import WrongUsage

            raise WrongUsage(f"There is no option {first} before a command.", hint="Type: li --help")
    return words, []


def _help_of_group(group: str) -> str:
    from lionstudio.cli.commands import GROUPS, find_commands

    commands = find_commands(group)
    width = max(map(len, commands))
    lines = [f"  {name:{width}}  {command.summary}" for name, command in commands.items()]
    usage = f"Usage: li {group} COMMAND [options]"
    return "\n".join(
        [usage, "", GROUPS[group], "", *lines, "", f"Each explains itself: li {group} {next(iter(commands))} --help"]
    )


def _complain(words: list[str], code: str, message: str, hint: str | None = None, *problems: str) -> None:
    """Say what went wrong: in one line for people, behind its problems; as one object for a program (--json)."""
    if hint is not None and code != "wrong_usage":
        from lionstudio.cli.hints import find_database, name_database

        hint = name_database(hint, find_database(words))
    if "--json" in words[: words.index("--") if "--" in words else None]:
        from lionstudio.domain.json_text import to_json

        told = {"code": code, "message": message, "hint": hint, **({"problems": problems} if problems else {})}
        _say(to_json({"error": told}, what="error"))
        return
    from lionstudio.domain.printable import one_line  # an error may repeat what an agent said

    for sentence in (*problems, f"li: {message} {hint or ''}".rstrip()):
        _say(one_line(sentence))


def _say(sentence: str) -> None:
    try:
        sys.stdout.flush()
        print(sentence, file=sys.stderr)
    except (OSError, ValueError):
        pass  # nobody listens any more


if __name__ == "__main__":
    entry()
