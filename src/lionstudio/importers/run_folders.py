"""Run folders in: one folder a run, as lionagi leaves them under runs/. Artifacts stay where they are (R59)."""

import os
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from lionstudio.domain.errors import InvalidContent, NotFound, SessionNotFound
from lionstudio.domain.json_text import from_json
from lionstudio.domain.lionagi_messages import with_model
from lionstudio.domain.lionagi_sessions import session_draft
from lionstudio.domain.phrases import count_of
from lionstudio.domain.run_files import (
    ARTIFACTS_FOLDER,
    BRANCHES_FOLDER,
    RUN_FILE,
    FileTimes,
    RunFile,
    branch_config,
    read_run_file,
    session_id_of,
    session_of,
)
from lionstudio.domain.session import SessionStatus
from lionstudio.importers.report import ADDED, UPDATED, ImportReport, Problem, StrangeStatuses
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.import_parts import NAMESPACE
from lionstudio.services.imports import BranchImport, SessionImport, import_sessions
from lionstudio.services.lionagi import session_import
from lionstudio.services.play_runs import link_plays
from lionstudio.services.small_files import read_text

LARGEST_FILE = 512 * 1024 * 1024  # bytes; reading one takes several times that in memory
MOST_NAMES = 5  # of run folders that wait
LONGEST_ID = 200  # characters; more than any index takes
Step = Callable[[int], None]


class _Run(NamedTuple):
    """A run folder, read."""

    id: str
    folder: str
    file: RunFile
    branches: Mapping[str, Mapping[str, Any]]  # by their files
    times: FileTimes


class _Kin:
    """Which run folders go on with each other: those with a session or a branch in common, directly or through others.

    Only their names are kept, because what they hold may be large.
    """

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, list[str]]] = {}  # by the ids in it: the ids of each of its folders

    def join(self, folder: str, found: SessionImport) -> tuple[str, ...]:
        """Add a folder; those before it of its group, in their order."""
        ids = [found.session.id, *(part.branch.id for part in found.branches)]
        group: dict[str, list[str]] = {}
        for id in ids:
            group |= self._groups.get(id, {})
        earlier = tuple(sorted(group))
        group[folder] = ids
        self._groups |= {id: group for ids in group.values() for id in ids}
        return earlier


def import_run_folders(ctx: Context, root: str, *, step: Step = lambda done: None) -> ImportReport:
    """Bring in every run under a folder, or the one run that the folder itself is; raises NotFound.

    A folder that cannot be read becomes a problem, and so does a branch; the rest is brought in. `step` is told how
    many folders are done.
    """
    problems: list[Problem] = []
    waiting: list[str] = []
    folders = _list_folders(root, problems)
    places: dict[str, str] = {}
    held: dict[str, set[str]] = {}  # which branches each session has
    kin = _Kin()
    statuses = StrangeStatuses()

    def read_again(earlier: Iterable[str]) -> Iterator[SessionImport]:
        for folder in earlier:
            found = _import_of(ctx, folder, held, [])
            if found is not None and not _must_wait(found, []):
                yield found

    def read() -> Iterator[SessionImport]:
        for number, folder in enumerate(folders):
            step(number)
            before = len(problems)
            found = _import_of(ctx, folder, held, problems)
            if found is not None and _must_wait(found, problems[before:]):
                waiting.append(os.path.basename(os.path.abspath(folder)))
            elif found is not None:
                places.setdefault(found.session.id, folder)
                statuses.add(found.session)
                yield found._replace(earlier=partial(read_again, kin.join(folder, found)))

    imported = import_sessions(ctx, read())
    problems += [Problem(places[problem.session_id], problem.message) for problem in imported.problems]
    counts = {
        "run folders": len(folders),
        f"runs {ADDED}": imported.sessions_added,
        f"runs {UPDATED}": imported.sessions_completed,
        f"messages {ADDED}": imported.messages_added,
    }
    if linked := link_plays(ctx):
        counts[f"plays {UPDATED}"] = linked
    return ImportReport(counts, tuple(problems), _notes(waiting, statuses))


def _must_wait(found: SessionImport, problems: Sequence[Problem]) -> bool:
    """Whether a run comes in only later: without a branch its session is not known, which its first one names."""
    return not found.branches and (found.session.status is SessionStatus.RUNNING or bool(problems))


def _notes(waiting: Sequence[str], statuses: StrangeStatuses) -> tuple[str, ...]:
    if not waiting:
        return statuses.notes
    what = count_of(len(waiting), "run folder has no branch", "run folders have no branch")
    names = ", ".join(waiting[:MOST_NAMES]) + (" …" if len(waiting) > MOST_NAMES else "")
    return (f"{what} yet that can be read. Import again when there is one: {names}.", *statuses.notes)


def _list_folders(root: str, problems: list[Problem]) -> list[str]:
    """The folders under `root` by name, which is by time: a run that resumes another comes after it."""
    try:
        if os.path.lexists(os.path.join(root, RUN_FILE)):
            return [root]
        names = sorted(name for name in os.listdir(root) if not name.startswith("."))
    except OSError as error:
        raise NotFound(
            f"The folder {root} cannot be read ({error.strerror}).", hint="Name the folder that holds the run folders."
        ) from error
    folders = []
    for name in names:
        path = os.path.join(root, name)
        try:
            if stat.S_ISDIR(os.stat(path).st_mode):
                folders.append(path)
        except OSError as error:  # a link that leads nowhere, or in circles
            problems.append(Problem(path, f"It cannot be looked at ({error.strerror})."))
    return folders


def _import_of(ctx: Context, folder: str, held: dict[str, set[str]], problems: list[Problem]) -> SessionImport | None:
    place = os.path.join(folder, RUN_FILE)
    try:
        file = read_run_file(_read_json(place))
        run_id = _storable(file.run_id or os.path.basename(os.path.abspath(folder)))
        run = _Run(run_id, folder, file, _read_branches(folder, run_id, problems), _times(folder, place))
        return _session_import(run, _session_id(ctx, run, held), problems)
    except OSError as error:
        problems.append(Problem(place, _reason(error)))
    except InvalidContent as error:
        problems.append(Problem(place, error.message))
    return None


def _session_import(run: _Run, session_id: str, problems: list[Problem]) -> SessionImport:
    try:
        draft = session_draft({"id": session_id, "branches": list(run.branches.values())})
    except InvalidContent:
        good = _good_branches(run.branches, problems)
        draft = session_draft({"id": session_id, "branches": good})
    found = session_import(draft, at=run.times.first)
    said = [draft.created_at for part in found.branches for draft in part.messages if draft.created_at is not None]
    session = session_of(run.file, found.session, files=run.times, said=said, artifacts=_artifacts(run))
    branches = [_with_config(part, run.file) for part in found.branches]
    return SessionImport(session, branches, known_by_branch=True, alias=run.id)


def _session_id(ctx: Context, run: _Run, held: dict[str, set[str]]) -> str:
    """lionagi's own id of the session, if its branches tell it, else that of the run.

    One that two runs without a common branch tell is no session's: some programs write their user's id there. The
    other run may be one of this import, or one that is stored already.
    """
    branches = {str(branch["id"]) for branch in run.branches.values()}
    told = session_id_of(run.branches.values())
    if told is None:
        return run.id
    known = held[told] if told in held else _stored_branches(ctx, told)
    if known is not None and not branches & known:
        return run.id
    held[told] = branches | (known or set())
    return told


def _stored_branches(ctx: Context, session_id: str) -> set[str] | None:
    """The branches of a stored session. None: there is no such session."""
    try:
        return {branch.id for branch in list_branches(ctx, session_id)}
    except SessionNotFound:
        return None


def _good_branches(branches: Mapping[str, Mapping[str, Any]], problems: list[Problem]) -> list[Mapping[str, Any]]:
    """Those that can be read; each of the others is a problem of its own."""
    good = []
    for path, branch in branches.items():
        try:
            session_draft({"id": "one", "branches": [branch]})
            good.append(branch)
        except InvalidContent as error:
            problems.append(Problem(path, error.message))
    return good


def _with_config(part: BranchImport, file: RunFile) -> BranchImport:
    """The branch with what run.json says about its agent, and its file does not."""
    metadata = {**branch_config(file, part.branch.id), **(part.branch.node_metadata or {})}
    messages = [with_model(draft, metadata.get("model")) for draft in part.messages]
    return BranchImport(part.branch._replace(node_metadata=metadata), messages)


def _artifacts(run: _Run) -> str | None:
    """Where the run's files lie: where it says, or beside it if the folder has moved since."""
    told = run.file.artifacts_path
    beside = os.path.abspath(os.path.join(run.folder, ARTIFACTS_FOLDER))
    return beside if os.path.isdir(beside) and not (told and os.path.isdir(told)) else told


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
