"""One run folder, read from the disk: run.json, the branches, and the order of everything that was said."""

import os
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.json_text import from_json
from lionstudio.domain.lionagi_messages import ProgressionDraft, progression_draft
from lionstudio.domain.run_files import FileTimes, RunFile, read_run_file
from lionstudio.domain.run_telling import BRANCHES_FOLDER, ORDER_FILE, RUN_FILE
from lionstudio.importers.report import Problem
from lionstudio.services.import_parts import NAMESPACE
from lionstudio.services.small_files import read_text

LARGEST_FILE = 512 * 1024 * 1024  # bytes; reading one takes several times that in memory
LONGEST_ID = 200  # characters; more than any index takes


class FolderRead(NamedTuple):
    """A run folder, read."""

    id: str
    folder: str
    file: RunFile
    branches: Mapping[str, Mapping[str, Any]]  # by their files
    order: ProgressionDraft | None  # of all its messages, where a file tells it
    times: FileTimes


def read_folder(folder: str, problems: list[Problem]) -> FolderRead | None:
    """What a run folder holds, None if that cannot be read at all; whatever cannot be read is a problem."""
    place = os.path.join(folder, RUN_FILE)
    try:
        file = read_run_file(_read_json(place))
        run_id = _storable(file.run_id or os.path.basename(os.path.abspath(folder)))
        branches = _read_branches(folder, run_id, problems)
        return FolderRead(run_id, folder, file, branches, _read_order(folder, problems), _times(folder, place))
    except OSError as error:
        problems.append(Problem(place, _reason(error)))
    except InvalidContent as error:
        problems.append(Problem(place, error.message))
    return None


def _read_branches(folder: str, run_id: str, problems: list[Problem]) -> dict[str, Mapping[str, Any]]:
    """The branches by their files, oldest first; one that cannot be read is a problem of its own."""
    inside = os.path.join(folder, BRANCHES_FOLDER)
    try:
        names = sorted(name for name in os.listdir(inside) if name.endswith(".json") and not name.startswith("."))
    except FileNotFoundError:
        return {}
    except OSError as error:
        problems.append(Problem(inside, _reason(error)))
        return {}
    found: dict[str, Mapping[str, Any]] = {}
    for name in names:
        path = os.path.join(inside, name)
        try:
            found[path] = _branch(_read_json(path), run_id, name)
        except InvalidContent as error:
            problems.append(Problem(path, error.message))
    return dict(sorted(found.items(), key=lambda item: _began(item[1])))


def _read_order(folder: str, problems: list[Problem]) -> ProgressionDraft | None:
    """The order of all messages of a run; one without it is ordered by the times of its messages."""
    path = os.path.join(folder, ORDER_FILE)
    if not os.path.lexists(path):
        return None
    try:
        return progression_draft(_read_json(path))
    except InvalidContent as error:
        problems.append(Problem(path, error.message))
        return None


def _branch(told: Any, run_id: str, name: str) -> Mapping[str, Any]:
    """A branch with an id: its own, else one for this file of this run. Other runs have files of the same name."""
    if not isinstance(told, Mapping):
        raise InvalidContent("It holds no JSON object.")
    id = told.get("id") or str(uuid.uuid5(NAMESPACE, ascii(f"{run_id}/{name}")))
    return {**told, "id": _storable(id) if isinstance(id, str) else id}


def _began(branch: Mapping[str, Any]) -> float:
    at = branch.get("created_at")
    return at if isinstance(at, int | float) else 0.0


def _read_json(path: str) -> Any:
    """What a JSON file holds; raises InvalidContent, which says what is wrong with it."""
    text = read_text(path, largest=LARGEST_FILE)
    if text is None:
        raise InvalidContent("The file is missing.")
    if not text.strip():
        raise InvalidContent("The file is empty.")
    try:
        return from_json(text)
    except RecursionError:
        raise InvalidContent("It is nested too deeply.") from None
    except ValueError as error:
        raise InvalidContent(f"It is no whole JSON: {error}.") from None


def _times(folder: str, run_file: str) -> FileTimes:
    found = [os.stat(folder), os.stat(run_file)]
    first = min(at for status in found for at in (status.st_ctime, status.st_mtime))
    return FileTimes(first, found[1].st_mtime)


def _reason(error: OSError) -> str:
    return f"It cannot be read ({error.strerror})."


def _storable(name: str) -> str:
    """An id as it is, unless no database or terminal could take it: then one that always comes out the same."""
    return name if len(name) <= LONGEST_ID and name.isprintable() else str(uuid.uuid5(NAMESPACE, ascii(name)))
