"""The page that describes every command, made from the table of commands itself."""

from collections.abc import Iterator

from lionstudio.cli.command import Command, Option
from lionstudio.cli.commands import DB, GROUPS, find_commands

WIDTH = 100
INTRO = """\
# Command line

`li` and `lionstudio` are the same program. `li --help` shows the commands by what people want to do, and every command
explains itself: `li runs ls --help`.

- Data goes to stdout, talk to stderr. `--json` prints one JSON object a line.
- Exit codes: 0 done, 1 failed, 2 wrong usage. An error is one line, and says what to do next.
- Every command takes `--db PLACE`, also before its name: {db}.
- In a pipe nothing is asked, coloured or cut; on a terminal a command that deletes or ends something asks first.
"""


def cli_page() -> str:
    """Every command with its usage, its options and more about it."""
    lines = INTRO.format(db=DB.settings["help"]).splitlines()
    for group, sentence in GROUPS.items():
        lines += ["", f"## li {group}", "", sentence]
        for command in find_commands(group).values():
            lines += ["", *_command(command)]
    return "\n".join(lines) + "\n"


def _command(command: Command) -> Iterator[str]:
    options = [option for option in command.options if option is not DB]
    yield from (f"### {command.words}", "", command.summary, "", "```text", *_usage(command.words, options), "```")
    if command.details:
        yield from ("", " ".join(command.details.split()))
    if options:
        yield from ("", "| argument | meaning |", "|---|---|")
        yield from (f"| {_names(option)} | {_meaning(option)} |" for option in options)


def _usage(words: str, options: list[Option]) -> Iterator[str]:
    """The command with all it takes, arguments last, on as many lines as that needs."""
    line = words
    for part in (_part(option) for option in sorted(options, key=_is_argument)):
        if len(line) + 1 + len(part) > WIDTH:
            yield line
            line = " " * len(words)
        line += f" {part}"
    yield line


def _part(option: Option) -> str:
    name, nargs = _value(option), option.settings.get("nargs")
    if _is_argument(option):
        many = {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} [{name} …]"}
        return many.get(str(nargs), name)
    said = f"{option.names[-1]} {name}".strip()
    again = " …" if option.settings.get("action") == "append" else ""
    return said if option.settings.get("required") else f"[{said}]{again}"


def _names(option: Option) -> str:
    if _is_argument(option):
        return f"`{_value(option)}`"
    return ", ".join(f"`{name} {_value(option)}`".replace(" `", "`") for name in option.names)


def _meaning(option: Option) -> str:
    said = str(option.settings.get("help", "")).replace("%%", "%")
    words = f": {', '.join(f'`{word}`' for word in option.words())}" if option.words is not None else ""
    return f"{said}{words}".replace("|", "\\|")


def _is_argument(option: Option) -> bool:
    return not option.names[0].startswith("-")


def _value(option: Option) -> str:
    """What stands for the value, or nothing for an option that takes none."""
    if option.settings.get("action") not in (None, "append"):
        return ""
    return str(option.settings.get("metavar") or option.names[-1].lstrip("-").upper())
