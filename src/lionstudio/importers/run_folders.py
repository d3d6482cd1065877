"""Run folders in: one folder a run, as lionagi leaves them under runs/. Artifacts stay where they are (R59)."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from lionstudio.domain.errors import InvalidContent, NotFound, SessionNotFound
from lionstudio.domain.lionagi_messages import with_model, without_class
from lionstudio.domain.lionagi_sessions import session_draft
from lionstudio.domain.phrases import count_of
from lionstudio.domain.run_files import (
    RunFile,
    branch_config,
    names_own_session,
    session_id_of,
    session_of,
)
from lionstudio.domain.run_telling import ARTIFACTS_FOLDER, RUN_FILE
from lionstudio.domain.session import SessionStatus
from lionstudio.importers.report import ADDED, UPDATED, ImportReport, Problem, StrangeStatuses
from lionstudio.importers.run_folder_files import FolderRead, read_folder
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.import_parts import lost_parent
from lionstudio.services.imports import BranchImport, SessionImport, import_sessions
from lionstudio.services.lionagi import session_import
from lionstudio.services.play_runs import link_plays

MOST_NAMES = 5  # of run folders that wait
Step = Callable[[int], None]


class _Kin:
    """Which run folders go on with each other: by a session or branch that both name, directly or through others.

    Only their names are kept, because what they hold may be large.
    """

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, list[str]]] = {}  # by the ids in it: the ids of each of its folders

    def join(self, folder: str, found: SessionImport) -> tuple[str, ...]:
        """Add a folder; those before it of its group, in their order."""
        named = (id for part in found.branches for id in (part.branch.id, lost_parent(part.branch)))
        ids = [found.session.id, *(id for id in named if id is not None)]
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
    return not found.branches and not found.is_own and (found.session.status is SessionStatus.RUNNING or bool(problems))


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
    run = read_folder(folder, problems)
    if run is None:
        return None
    try:
        return _session_import(run, _session_id(ctx, run, held), problems)
    except InvalidContent as error:
        problems.append(Problem(os.path.join(folder, RUN_FILE), error.message))
        return None


def _session_import(run: FolderRead, session_id: str, problems: list[Problem]) -> SessionImport:
    is_own = names_own_session(run.file)
    try:
        draft = session_draft({"id": session_id, "branches": list(run.branches.values())}, infer_models=not is_own)
    except InvalidContent:
        good = _good_branches(run.branches, problems)
        draft = session_draft({"id": session_id, "branches": good}, infer_models=not is_own)
    found = session_import(draft, at=run.times.first)
    said = [draft.created_at for part in found.branches for draft in part.messages if draft.created_at is not None]
    session = session_of(run.file, found.session, files=run.times, said=said, artifacts=_artifacts(run))
    if run.order is not None:
        session = session._replace(progression_id=run.order.id or session.progression_id)
    return SessionImport(
        session,
        [_as_recorded(part) if is_own else _with_config(part, run.file) for part in found.branches],
        known_by_branch=True,
        alias=run.id,
        order=() if run.order is None else run.order.order,
        is_own=is_own,
    )


def _session_id(ctx: Context, run: FolderRead, held: dict[str, set[str]]) -> str:
    """lionagi's own id of the session, if its branches tell it, else that of the run.

    One that two runs without a common branch tell is no session's: some programs write their user's id there. The
    other run may be one of this import, or one that is stored already.
    """
    if names_own_session(run.file):
        return run.id
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


def _as_recorded(part: BranchImport) -> BranchImport:
    """A branch that was recorded here, with its messages as they were: a file says their class for lionagi, too."""
    return BranchImport(part.branch, [without_class(draft) for draft in part.messages])


def _with_config(part: BranchImport, file: RunFile) -> BranchImport:
    """The branch with what run.json says about its agent, and its file does not."""
    metadata = {**branch_config(file, part.branch.id), **(part.branch.node_metadata or {})}
    messages = [with_model(draft, metadata.get("model")) for draft in part.messages]
    return BranchImport(part.branch._replace(node_metadata=metadata), messages)


def _artifacts(run: FolderRead) -> str | None:
    """Where the run's files lie: where it says, or beside it if the folder has moved since."""
    told = run.file.artifacts_path
    beside = os.path.abspath(os.path.join(run.folder, ARTIFACTS_FOLDER))
    return beside if os.path.isdir(beside) and not (told and os.path.isdir(told)) else told
