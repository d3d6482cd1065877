"""What a command is: its words, its options, its help, and the database it was pointed at."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from lionstudio.domain.errors import Invalid
from lionstudio.domain.near_words import did_you_mean
from lionstudio.recorders.reading import open_to_read
from lionstudio.services.context import Context
from lionstudio.settings import Settings, load_settings

if TYPE_CHECKING:
    from lionstudio.cli.output import Console

REST = "..."  # what argparse calls all that follows


class WrongUsage(Invalid):
    """The command line cannot be understood."""

    code = "wrong_usage"


class Option(NamedTuple):
    """One argument or option, as argparse takes it. `words` names the values there are, for help and completion."""

    names: tuple[str, ...]
    settings: Mapping[str, Any]
    words: Callable[[], Iterable[str]] | None = None

    @property
    def is_argument(self) -> bool:
        return not self.names[0].startswith("-")

    @property
    def takes_value(self) -> bool:
        return self.settings.get("action") in (None, "append")

    @property
    def is_rest(self) -> bool:
        """Whether it is a whole command of somebody else's, whose options are not ours."""
        return self.settings.get("nargs") == REST


class Command(NamedTuple):
    """One command. `target` is the function that runs it, as module.function of this room, loaded when it runs."""

    group: str
    name: str
    target: str
    summary: str
    options: tuple[Option, ...]
    details: str = ""

    @property
    def words(self) -> str:
        return f"li {self.group} {self.name}".rstrip()  # some commands are one word


class Call:
    """One command as it was typed: its arguments, where its answer goes, and the database, opened when it is used."""

    def __init__(self, args: Any) -> None:
        self.args = args
        self._opened: Context | None = None

    @cached_property
    def out(self) -> "Console":
        """Where its answer goes."""
        from lionstudio.cli.output import Console

        return Console(as_json=getattr(self.args, "json", False), db=self.args.db)

    @cached_property
    def settings(self) -> Settings:
        return load_settings(db=self.args.db)

    @property
    def ctx(self) -> Context:
        """The database, which must be there; raises DatabaseGone."""
        return self._open(create=False)

    @property
    def ctx_made(self) -> Context:
        """The database, made if it is not there yet: for commands that bring something in. Raises NotFound."""
        self.require_place()
        return self._open(create=True)

    def require_place(self) -> None:
        """Raise NotFound where a database would need a folder that is not there; only our own home is made for it."""
        folder = self.settings.missing_folder
        if folder is not None:
            from lionstudio.services.whole_file import require_folder

            require_folder(folder)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.db.close()
            self._opened = None

    def _open(self, *, create: bool) -> Context:
        if self._opened is None:
            self._opened = open_to_read(self.settings, create=create)
        return self._opened


def run_command(command: Command, words: Sequence[str]) -> int:
    """Run a command with what was typed after it; its exit code. Raises WrongUsage."""
    args = parse(command, words)
    module, _, function = command.target.partition(".")
    run: Callable[[Call], int | None] = getattr(import_module(f"lionstudio.cli.{module}"), function)
    call = Call(args)
    try:
        return run(call) or 0
    except BrokenPipeError:
        if call.out.is_planning:
            call.out.say("Nothing was changed: whoever was to read the plan has gone. To throw it away: >/dev/null")
        raise
    finally:
        call.close()


def parse(command: Command, words: Sequence[str]) -> Any:
    """The arguments of a command, by what was typed after it; raises WrongUsage."""
    words, rest = split_rest(command, words)
    ordered = options_first(command, words)
    from lionstudio.cli.plain_parsing import parse_plain

    args: Any = parse_plain(command, ordered)
    if args is None:  # help, a mistake or something rare: argparse takes longer to load than most commands to run
        from lionstudio.cli.parser import build_parser

        args = build_parser(command).parse_args(ordered)
    for name in (option.names[0] for option in command.options if option.is_rest):
        setattr(args, name, rest)
    return args


def split_rest(command: Command, words: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """What is ours of what was typed, and the command in it: all after --.

    One that is all that a command takes begins with the first word that is no option, too.
    """
    if not any(option.is_rest for option in command.options):
        return words, []
    is_all = not any(option.is_argument and not option.is_rest for option in command.options)
    takes_value = _takes_value(command)
    is_awaited = False
    for number, word in enumerate(words):
        if word == "--" and not is_awaited:
            return words[:number], [*words[number + 1 :]]
        if is_awaited:
            is_awaited = False
        elif _is_option(word, takes_value):
            is_awaited = _awaits_value(command, word, takes_value)
        elif is_all:
            return words[:number], [*words[number:]]
    return words, []


def _takes_value(command: Command) -> dict[str, bool]:
    known = {name: one.takes_value for one in command.options if not one.is_argument for name in one.names}
    return known | {"--help": False, "-h": False}


def options_first(command: Command, words: Sequence[str]) -> list[str]:
    """What was typed after a command with its options first, so that any order will do.

    Left to itself argparse takes an argument that may be left out for left out as soon as an option follows.
    Raises WrongUsage for an option that there is not.
    """
    takes_value = _takes_value(command)
    options: list[str] = []
    arguments: list[str] = []
    is_awaited = False  # whether the option before takes this word
    for number, word in enumerate(words):
        if word == "--":
            arguments += words[number + 1 :]
            break
        if _is_option(word, takes_value):
            options.append(word)
            is_awaited = _awaits_value(command, word, takes_value)
        else:
            (options if is_awaited else arguments).append(word)
            is_awaited = False
    if "--" in arguments:  # argparse would drop it, or fail
        raise WrongUsage(f"{command.words}: -- cannot be an argument.", hint="It says that only arguments follow.")
    takes_arguments = any(option.is_argument for option in command.options)
    return [*options, *(["--"] if arguments and takes_arguments else []), *arguments]


def _is_option(word: str, known: Mapping[str, bool]) -> bool:
    """Whether a word is meant as an option: neither text that begins with a dash, nor a number below zero."""
    if not word.startswith("-") or word == "-":
        return False
    if word.partition("=")[0] in known or word[:2] in known:
        return True
    return " " not in word and not word[1:].replace(".", "", 1).isdecimal()


def _awaits_value(command: Command, word: str, known: Mapping[str, bool]) -> bool:
    """Whether the next word is the value of this option. One letter may follow another, and a value its letter."""
    name, has_value, _ = word.partition("=")
    if name in known:
        return known[name] and not has_value
    for number, letter in enumerate(word[1:], start=2):
        if f"-{letter}" not in known:
            break
        if known[f"-{letter}"]:
            return number == len(word)
    else:
        return False
    raise WrongUsage(
        f"{command.words}: There is no option {name}.{did_you_mean(name, known)}", hint=f"Type: {command.words} --help"
    )
