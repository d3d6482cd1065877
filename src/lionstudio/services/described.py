"""Agents and playbooks, which are files and stay files (R31): read, never stored.

Their YAML is only taken apart, never built: a name or a model is text, and nothing that a file says can make objects,
grow without bounds by its anchors, or keep us busy for long. ADR 0021
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from lionstudio.domain.errors import InvalidContent
from lionstudio.services.small_files import read_text
from lionstudio.services.yaml_tree import compose

LARGEST = 256 * 1024  # bytes
MARK = "---"


class Kind(NamedTuple):
    """What is described: its folder, and how the names of its files end. Longer endings come first."""

    folder: str
    endings: tuple[str, ...]


AGENTS = Kind("agents", (".md",))
PLAYBOOKS = Kind("playbooks", (".playbook.yaml", ".playbook.yml", ".yaml", ".yml"))


class Described(NamedTuple):
    """One agent or playbook as its file describes it."""

    name: str
    path: str
    description: str | None = None
    model: str | None = None
    text: str | None = None  # None: it cannot be read
    problem: str | None = None


def list_described(home: str, kind: Kind) -> list[Described]:
    """Every agent or playbook under `home`, by name. A file that cannot be read is there with its problem."""
    found = sorted(_find(os.path.join(home, kind.folder), kind))
    first: dict[str, str] = {}
    for name, path in found:
        first.setdefault(name, path)
    return [_named(_read(name, path, kind), first[name]) for name, path in found]


def find_path(home: str, kind: Kind, name: str) -> str | None:
    """The file of one of them, without reading it: the one that is meant where several have this name."""
    return next((path for known, path in sorted(_find(os.path.join(home, kind.folder), kind)) if known == name), None)


def list_names(home: str, kind: Kind) -> list[str]:
    """Their names alone, without reading them."""
    return sorted({name for name, _ in _find(os.path.join(home, kind.folder), kind)})


def _named(one: Described, first: str) -> Described:
    """The same, with a word about another one that is called so and comes before it."""
    if one.path == first:
        return one
    why = f"{os.path.basename(first)} has this name, too, and is the one that is meant by it."
    return one._replace(problem=why if one.problem is None else f"{one.problem} {why}")


def _find(folder: str, kind: Kind) -> Iterator[tuple[str, str]]:
    """Names and files: `architect.md`, or `architect/architect.md`."""
    try:
        entries = os.listdir(folder)
    except OSError:
        return
    for entry in entries:
        path = os.path.join(folder, entry)
        nested = os.path.join(path, entry + kind.endings[0])
        ending = next((ending for ending in kind.endings if entry.endswith(ending)), None)
        if entry.startswith("."):
            continue
        if ending is not None and not os.path.isdir(path):
            yield entry.removesuffix(ending), path
        elif kind is AGENTS and os.path.isfile(nested):
            yield entry, nested


def _read(name: str, path: str, kind: Kind) -> Described:
    try:
        text = read_text(path, largest=LARGEST) or ""
    except InvalidContent as error:
        return Described(name, path, problem=error.message)
    problem = None
    body = ""
    told: dict[str, str] = {}
    try:
        if not text.strip():
            raise InvalidContent("The file is empty.")
        front, body = (text, "") if kind is PLAYBOOKS else split_head(text)
        told = _top_level(front)
    except InvalidContent as error:
        problem = error.message
    description = told.get("description") or _first_paragraph(body)
    return Described(name, path, description, told.get("model"), text, problem)


def split_head(text: str) -> tuple[str, str]:
    """Front matter and body of a Markdown file; raises InvalidContent if that is not told."""
    lines = text.splitlines(keepends=True)
    if lines and lines[0].rstrip() == MARK:
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == MARK:
                return "".join(lines[1:number]), "".join(lines[number + 1 :])
        raise InvalidContent(f"Its head begins with {MARK} and has no end: a second {MARK} is missing.")
    return "", text


def _top_level(text: str) -> dict[str, str]:
    """The plain values at the top of a YAML text; raises InvalidContent."""
    root = compose(text)
    if root is None:
        return {}
    if root.id != "mapping":
        raise InvalidContent("It holds no YAML mapping.")
    return {
        key.value: " ".join(value.value.split())
        for key, value in root.value
        if key.id == "scalar" and value.id == "scalar"
    }


def _first_paragraph(text: str) -> str | None:
    found: list[str] = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            found.append(line.strip())
        elif found:
            break
    return " ".join(found) or None
