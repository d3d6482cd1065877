"""Which file of a folder is that of a team: by its id, or among those that a person may mean."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from lionstudio.domain.errors import Conflict, Error, InvalidContent
from lionstudio.domain.json_text import to_json
from lionstudio.domain.team_files import TeamFile
from lionstudio.recorders.team_files import list_paths, path_of, read_file, read_if_with


class Found(NamedTuple):
    """A team file that was read."""

    path: str
    file: TeamFile


def find_file(folder: str, team_id: str) -> Found | None:
    """The file of the team of this id."""
    if (usual := _find_usual(folder, team_id)) is not None:
        return usual
    each = (*_read_those_with(folder, team_id), *_read_those_with(folder, ""))  # an id may be that of a file's name
    return next((found for found in each if found.file.team.id == team_id), None)


def list_candidates(folder: str, typed: str) -> list[Found]:
    """The files of teams among which is the one that a person means by an id, a name or the beginning of an id."""
    if (usual := _find_usual(folder, typed)) is not None:
        return [usual]
    files = list(_read_those_with(folder, typed)) or list(_read_those_with(folder, ""))
    return _without_copies(folder, files)


def list_named(folder: str, name: str) -> list[Found]:
    """The files of teams that have exactly this name, in use or not."""
    used = _without_copies(folder, _read_those_with(folder, name))
    return [found for found in used if found.file.team.name == name]


def read_each(folder: str) -> Iterator[tuple[str, TeamFile | Error]]:
    """Every team file of a folder, or why it cannot be used: of two files with one team, one is."""
    used: dict[str, str] = {}
    for path in list_paths(folder):
        try:
            file = read_file(path)
        except Error as error:
            yield path, error
            continue
        if file.team.id not in used:
            usual = _find_usual(folder, file.team.id)
            used[file.team.id] = path if usual is None else usual.path
        yield path, file if used[file.team.id] == path else _is_copy(file, used[file.team.id])


def _find_usual(folder: str, team_id: str) -> Found | None:
    """The file where we put that of a team, if it is one of this team."""
    path = path_of(folder, team_id)
    if os.path.exists(path):
        with suppress(InvalidContent):
            found = Found(path, read_file(path))
            return found if found.file.team.id == team_id else None
    return None


def _without_copies(folder: str, files: Iterable[Found]) -> list[Found]:
    """One file for each team: the usual one, else the first."""
    by_id: dict[str, Found] = {}
    for found in files:
        team_id = found.file.team.id
        if team_id not in by_id:
            by_id[team_id] = _find_usual(folder, team_id) or found
    return list(by_id.values())


def _is_copy(file: TeamFile, used: str) -> Conflict:
    return Conflict(
        f"It has the id {file.team.id!r}, and so has {used}, which is used.",
        hint="Move one of the two files away, or give this one another id.",
    )


def _read_those_with(folder: str, text: str) -> Iterator[Found]:
    """The files in which a text occurs."""
    needles = (to_json(text)[1:-1].encode(), text.encode("utf-8", "surrogatepass"))
    for path in list_paths(folder):
        with suppress(Error):  # what cannot be read cannot be the one that is meant; `list` and `import-teams` name it
            file = read_if_with(path, needles)
            if file is not None:
                yield Found(path, file)
