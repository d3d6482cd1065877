"""The arguments of a playbook: what its file declares, and what somebody typed for them."""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.near_words import did_you_mean
from lionstudio.engines.form import Field, Form, is_null
from lionstudio.engines.placeholders import INPUT
from lionstudio.services.yaml_tree import Node

KEYS = ("type", "default", "help", "choices")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
TYPED = re.compile(rf"({NAME.pattern})=(.*)", re.ASCII | re.DOTALL)
RESERVED = (INPUT, "steps")
HINTED = re.compile(r"\[--([A-Za-z][A-Za-z0-9_-]*)(?:\s+([^\]\s]+))?\]", re.ASCII)  # [--mode MODE] [--strict]
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


class Argument(NamedTuple):
    """One argument. Its values are text, checked to be of its type."""

    name: str
    type: str = "str"
    default: str | None = None  # None: it must be given
    help: str | None = None
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> str:
        """The value that a text says; raises ValueError, which says what is allowed."""
        value, wanted = _READERS[self.type]
        try:
            read = value(text)
        except ValueError:
            raise ValueError(f"{self.name} is {wanted}, not {text!r}.") from None
        if self.choices and read not in self.choices:
            near = did_you_mean(read, self.choices)
            raise ValueError(f"{self.name} is one of {', '.join(self.choices)}, not {text!r}.{near}")
        return read


def _truth(text: str) -> str:
    word = text.strip().casefold()
    if word not in TRUE + FALSE:
        raise ValueError
    return "true" if word in TRUE else "false"


_READERS: Mapping[str, tuple[Callable[[str], str], str]] = {
    "str": (str, "a text"),
    "int": (lambda text: str(int(text)), "a whole number"),
    "float": (lambda text: str(float(text)), "a number"),
    "bool": (_truth, "true or false"),
}


def read_arguments(form: Form, told: Field | None) -> dict[str, Argument]:
    """What a file declares under `args`."""
    if told is None:
        return {}
    found: dict[str, Argument] = {}
    for name, field in form.entries(told.value, "args").items():
        if NAME.fullmatch(name) is None:
            form.complain(field.key, f"{name!r} cannot be an argument: letters, digits, _ and - make a name.")
        elif name in RESERVED:
            form.complain(field.key, f"{name!r} cannot be an argument, for {{{name}}} means something else.")
        else:
            found[name] = _argument(form, name, field.value)
    return found


def read_hint(hint: str) -> dict[str, Argument]:
    """What `argument-hint` declares in a playbook of lionagi that has no `args`."""
    found = {flag.replace("-", "_"): value for flag, value in HINTED.findall(hint)}
    return {
        name: Argument(name, default="") if value else Argument(name, "bool", "false") for name, value in found.items()
    }


def bind_arguments(arguments: Mapping[str, Argument], typed: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The value of each argument, and what is wrong with what was typed."""
    values: dict[str, str] = {}
    problems = [
        f"There is no argument {name!r}.{did_you_mean(name, arguments)} {name_arguments(arguments)}"
        for name in typed
        if name not in arguments
    ]
    for name, argument in arguments.items():
        text = typed.get(name, argument.default)
        if text is None:
            problems.append(f"The argument {name} is missing: {describe(argument)}")
            continue
        try:
            values[name] = argument.read(text)
        except ValueError as error:
            problems.append(str(error))
    return values, problems


def split_typed(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """What was typed as key=value, and the other words; raises InvalidRequest for a key that is there twice."""
    typed: dict[str, str] = {}
    others: list[str] = []
    for word in words:
        found = TYPED.fullmatch(word)
        if found is None:
            others.append(word)
        elif found[1] in typed:
            raise InvalidRequest(f"The argument {found[1]} is given twice.", hint=f"Give it once: {word!r}")
        else:
            typed[found[1]] = found[2]
    return typed, others


def name_arguments(arguments: Mapping[str, Argument]) -> str:
    """Which arguments there are, as a sentence."""
    if not arguments:
        return "It takes none."
    return f"It takes: {', '.join(f'{name}=…' for name in arguments)}."


def describe(argument: Argument) -> str:
    """How an argument is given, and what it means."""
    way = "|".join(argument.choices) or argument.type.upper()
    return f"{argument.name}={way}" + (f", {argument.help.rstrip('.')}." if argument.help else ".")


def _argument(form: Form, name: str, node: Node) -> Argument:
    """One that is declared: by a mapping, by its default alone, or by nothing but its name."""
    if is_null(node):
        return Argument(name)
    told = {"default": Field(node, node)} if node.id == "scalar" else form.fields(node, KEYS, f"The argument {name}")
    type_ = form.word(told["type"].value, "type", _READERS) if "type" in told else None
    help_ = form.text(told["help"].value, "help") if "help" in told else None
    choices = form.texts(told["choices"].value, "choices") if "choices" in told else []
    argument = Argument(name, type_ or "str", help=help_, choices=tuple(choice.value for choice in choices))
    if "default" not in told or is_null(told["default"].value):
        return argument
    default = told["default"].value
    if default.id != "scalar":
        form.complain(default, "default is a text, a number, or true or false.")
        return argument
    try:
        return argument._replace(default=argument.read(default.value))
    except ValueError as error:
        form.complain(default, f"The default does not fit: {error}")
        return argument
