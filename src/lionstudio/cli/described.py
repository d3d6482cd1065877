"""Agents and playbooks in the terminal: they are files, and this only reads them."""

from typing import Any

from lionstudio.cli.command import Call
from lionstudio.cli.output import Cell, Column
from lionstudio.domain.errors import NotFound
from lionstudio.domain.near_words import did_you_mean
from lionstudio.domain.printable import many_lines, one_line
from lionstudio.services.described import AGENTS, PLAYBOOKS, Described, Kind, list_described

COLUMNS = (Column("NAME"), Column("MODEL"), Column("DESCRIPTION", grows=True))


def list_agents(call: Call) -> int:
    """li agents ls"""
    return _list(call, AGENTS)


def show_agent(call: Call) -> int:
    """li agents show"""
    return _show(call, AGENTS)


def list_playbooks(call: Call) -> int:
    """li playbooks ls"""
    return _list(call, PLAYBOOKS)


def show_playbook(call: Call) -> int:
    """li playbooks show"""
    return _show(call, PLAYBOOKS)


def _list(call: Call, kind: Kind) -> int:
    found = list_described(call.settings.home_folder, kind)
    if call.out.as_json:
        for one in found:
            call.out.json(_as_json(one))
    elif found:
        call.out.table(COLUMNS, (_row(one) for one in found))
    else:
        name = f"{call.settings.home_folder}/{kind.folder}/NAME{kind.endings[0]}"
        call.out.say(f"There are no {kind.folder} yet. Each is a file: {name}")
    return 0


def _row(one: Described) -> tuple[str | Cell, ...]:
    told = one.description or ""
    description = Cell(told) if one.problem is None else Cell(f"{one.problem} {told}".rstrip(), "warning")
    return one.name, one.model or "", description


def _show(call: Call, kind: Kind) -> int:
    typed = call.args.name
    found = list_described(call.settings.home_folder, kind)
    one = next((one for one in found if one.name == typed), None)
    if one is None:
        near = did_you_mean(typed, [one_line(one.name) for one in found])
        word = kind.folder.removesuffix("s")
        raise NotFound(f"There is no {word} {typed!r}.{near}", hint=f"li {kind.folder} ls shows what there is.")
    if call.out.as_json:
        call.out.json({**_as_json(one), "text": one.text})
    elif one.text is not None:
        call.out.say_data(many_lines(one.text).removesuffix("\n"))
    if one.problem is not None:
        call.out.say(f"{one.path}: {one.problem}")
    return 1 if one.text is None else 0


def _as_json(one: Described) -> dict[str, Any]:
    return {
        "name": one.name,
        "model": one.model,
        "description": one.description,
        "path": one.path,
        "problem": one.problem,
    }
