"""Run folders: runs/<id>/ of a run that is recorded here, which `li state import` reads back into an equal session.

run.json is there from the beginning, so that whoever looks into the folder sees a run that runs, and says at the end
how it ended. The branches come at the end, from the database. Trouble with any of it is said and harms no run.
"""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Any

from lionstudio.domain.conversation import Branch
from lionstudio.domain.errors import Error, Unavailable
from lionstudio.domain.json_text import to_json
from lionstudio.domain.run_telling import (
    ARTIFACTS_FOLDER,
    BRANCHES_FOLDER,
    ORDER_FILE,
    RUN_FILE,
    order_object,
    run_object,
)
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.recorders.recorder import Run
from lionstudio.services.context import Context, open_context
from lionstudio.services.sessions import get_session
from lionstudio.settings import Settings

LOCK_FILE = "run.lock"
PRIVATE = 0o700  # what agents say is for nobody else


def folder_of(settings: Settings, session_id: str) -> str:
    """Where the folder of a run is."""
    return os.path.join(settings.home_folder, "runs", session_id)


def artifacts_in(folder: str) -> str:
    """Where a run keeps its files that names no other place."""
    return os.path.join(folder, ARTIFACTS_FOLDER)


class RunFolder:
    """The folder of one run. Begin it when the run has begun, and finish it when the run has ended."""

    def __init__(self, run: Run, *, cwd: str | None = None) -> None:
        self._recording = run._recording
        self._settings = self._recording.keeper.settings
        self._cwd = cwd
        self._lock: int | None = None
        self._is_whole = False
        self.path = folder_of(self._settings, run.session_id)

    def begin(self) -> None:
        """Make the folder, with a run.json that says that the run runs."""
        with self._harmlessly():
            session = self._recording.told
            os.makedirs(self.path, mode=PRIVATE, exist_ok=True)
            os.makedirs(os.path.join(self.path, BRANCHES_FOLDER), exist_ok=True)
            if session.artifacts_path == artifacts_in(self.path):
                os.makedirs(session.artifacts_path, exist_ok=True)
            self._take_lock()
            self._write_run(session, self._recording.first_branch)
        self._recording.when_ended = self._write_end

    def finish(self) -> None:
        """See to it that the folder says how the run ended, and what it said; the lock is gone, whatever happens."""
        if not self._is_whole:  # the database was away when the run ended
            with self._harmlessly():
                self._write_end_later()
        self._drop_lock()

    def _write_end(self, ctx: Context) -> None:
        with self._harmlessly():
            self._is_whole = True  # one try: what the disk does not take now it will not take in a moment either
            self._write_stored(ctx)
        self._drop_lock()

    def _write_end_later(self) -> None:
        try:
            with closing(open_context(self._settings, create=False).db) as db:
                self._write_stored(Context(db))
        except Error as error:  # the run has ended all the same, and that is known here
            self._write_run(self._recording.told, self._recording.first_branch)
            raise Unavailable(f"{error.message} What it said is not in the folder.") from error

    def _write_stored(self, ctx: Context) -> None:
        _write_all(ctx, self.path, self._recording.line.session_id, self._cwd)

    def _write_run(self, session: Session, first: Branch) -> None:
        _write(self.path, RUN_FILE, run_object(session, first, folder=self.path, cwd=self._cwd))

    def _take_lock(self) -> None:
        """Say that somebody writes here, and who."""
        self._lock = os.open(os.path.join(self.path, LOCK_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(self._lock, f"{os.getpid()}\n".encode())

    def _drop_lock(self) -> None:
        if self._lock is None:
            return
        with suppress(OSError):
            os.unlink(os.path.join(self.path, LOCK_FILE))
        os.close(self._lock)
        self._lock = None

    @contextmanager
    def _harmlessly(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001  whatever it is, the run goes on as if there were no folder
            why = (error.strerror if isinstance(error, OSError) else None) or str(error)
            said = f"The folder {self.path} is not whole: {why.rstrip('.')}. The run itself is not harmed."
            self._recording.keeper.say("folder", said)


def finish_left(ctx: Context, settings: Settings, session_id: str) -> str | None:
    """Let the folder of a run say what it said and how it ended, if its own process died before; why it cannot."""
    path = folder_of(settings, session_id)
    if not os.path.isfile(os.path.join(path, RUN_FILE)):
        return None
    try:
        if _is_written(path):
            return None  # by the run itself, which lives
        cwd = (get_session(ctx, session_id).node_metadata or {}).get("cwd")
        _write_all(ctx, path, session_id, cwd if isinstance(cwd, str) else None)
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(path, LOCK_FILE))
    except (Error, OSError) as error:
        return f"The folder {path} is not whole: {error}."
    return None


def _is_written(path: str) -> bool:
    """Whether somebody holds the lock of a folder."""
    with suppress(FileNotFoundError), open(os.path.join(path, LOCK_FILE), "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _write_all(ctx: Context, path: str, session_id: str, cwd: str | None) -> None:
    """Write everything that the database has of a run which has ended."""
    from lionstudio.services.branches import list_branches
    from lionstudio.services.messages import find_line
    from lionstudio.services.sessions import list_message_ids

    session = get_session(ctx, session_id)
    if session.status is SessionStatus.RUNNING:
        raise Unavailable("The database has not got all of the run yet.")
    branches = list_branches(ctx, session.id)
    for branch in branches:
        _write(os.path.join(path, BRANCHES_FOLDER), f"{branch.id}.json", _branch_object(ctx, branch))
    _write(path, ORDER_FILE, order_object(session, list_message_ids(ctx, session.id)))
    # At last: who finds the end of the run in its folder finds everything.
    own = find_line(ctx, session.id).branch_id
    first = next(branch for branch in branches if branch.id == own)
    _write(path, RUN_FILE, run_object(session, first, folder=path, cwd=cwd))


def _branch_object(ctx: Context, branch: Branch) -> dict[str, Any]:
    """A branch with its whole history, as lionagi writes one."""
    from lionstudio.domain.lionagi_sessions import branch_dict
    from lionstudio.services.branches import walk_history

    told = branch_dict(branch, list(walk_history(ctx, branch)))
    told["messages"]["progression"].setdefault("id", branch.progression_id)
    return told


def _write(folder: str, name: str, told: Mapping[str, Any]) -> None:
    """Write a JSON file; whoever reads meanwhile gets the one before, or this one."""
    path, draft = os.path.join(folder, name), os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with open(draft, "w", encoding="ascii") as file:
            file.write(to_json(told, what=name))
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
