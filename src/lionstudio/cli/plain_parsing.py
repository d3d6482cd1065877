"""What was typed, where it is plain: every option by its whole name, and no mistake. The rest is argparse's."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from lionstudio.cli.command import REST, Command, Option

UNDERSTOOD = frozenset({"help", "metavar", "dest", "default", "action", "type", "nargs"})  # settings of options


class NotPlain(Exception):
    """Somebody else has to read it."""


def parse_plain(command: Command, words: Sequence[str]) -> SimpleNamespace | None:
    """The arguments, as argparse would give them; None where that has to be asked. The options come first."""
    end = words.index("--") if "--" in words else len(words)
    options = {name: one for one in command.options if not one.is_argument for name in one.names}
    arguments = [option for option in command.options if option.is_argument and not option.is_rest]
    try:
        found = {_name(option): _default(option) for option in command.options}
        _read_options(found, options, words[:end])
        _read_arguments(found, arguments, words[end + 1 :])
    except (NotPlain, ValueError):
        return None
    return SimpleNamespace(**found)


def _name(option: Option) -> str:
    long = next((name for name in option.names if name.startswith("--")), option.names[0])
    return str(option.settings.get("dest") or long.lstrip("-").replace("-", "_"))


def _default(option: Option) -> Any:
    if option.settings.keys() - UNDERSTOOD:
        raise NotPlain
    usual: Any = (
        False if option.settings.get("action") == "store_true" else [] if _nargs(option) in ("*", REST) else None
    )
    return option.settings.get("default", usual)


def _nargs(option: Option) -> Any:
    return option.settings.get("nargs")


def _read_options(found: dict[str, Any], options: Mapping[str, Option], words: Sequence[str]) -> None:
    left = list(reversed(words))
    while left:
        name, has_value, value = left.pop().partition("=")
        option = options.get(name)
        if option is None or _nargs(option) is not None or (has_value and not name.startswith("--")):
            raise NotPlain
        match option.settings.get("action"):
            case "store_true" if not has_value:
                found[_name(option)] = True
            case None | "append" as action:
                if not has_value and (not left or left[-1].startswith("-")):
                    raise NotPlain
                read = _convert(option, value if has_value else left.pop())
                found[_name(option)] = read if action is None else [*(found[_name(option)] or []), read]
            case _:
                raise NotPlain


def _read_arguments(found: dict[str, Any], arguments: Sequence[Option], words: Sequence[str]) -> None:
    left = list(words)
    for number, option in enumerate(arguments):
        is_last = number == len(arguments) - 1
        needed = sum(_nargs(later) in (None, "+") for later in arguments[number + 1 :])
        match _nargs(option):
            case None if left:
                found[_name(option)] = _convert(option, left.pop(0))
            case "?":
                if len(left) > needed:
                    found[_name(option)] = _convert(option, left.pop(0))
            case "*" | "+" as many if is_last and (left or many == "*"):
                if left:
                    found[_name(option)] = [_convert(option, word) for word in left]
                left = []
            case _:
                raise NotPlain
    if left:
        raise NotPlain


def _convert(option: Option, word: str) -> Any:
    return option.settings.get("type", str)(word)
