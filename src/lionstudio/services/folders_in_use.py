"""Which folders running runs work in: what lies there may be theirs, whoever else named the same folder."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from lionstudio.services.context import Context
from lionstudio.store import session_folders


class FolderInUse(NamedTuple):
    """A folder, and a run that works in it."""

    session_id: str
    folder: str


class FoldersInUse:
    """The folders of all runs that run, read when the first one asks. Links are followed, so that no name hides one."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._folders: dict[str, FolderInUse] | None = None
        self._around: dict[str, FolderInUse] = {}  # what each of them lies in

    def find_sharing(self, folder: str) -> FolderInUse | None:
        """A folder in use that is this one, lies in it, or holds it."""
        if self._folders is None:
            self._folders = self._read()
        own = os.path.realpath(folder)
        holding = (self._folders[path] for path in _with_parents(own) if path in self._folders)
        return self._around.get(own) or next(holding, None)

    def _read(self) -> dict[str, FolderInUse]:
        with self._ctx.db.read() as tx:
            named = {path: session_id for session_id, path in session_folders.list_running_folders(tx)}
        found = {}
        for path, session_id in named.items():
            if not os.path.isabs(path):  # it says nothing without the folder that it was said in
                continue
            real = os.path.realpath(path)
            found[real] = FolderInUse(session_id, real)
            self._around |= dict.fromkeys(_with_parents(real), found[real])
        return found


def _with_parents(path: str) -> Iterator[str]:
    yield path
    while (parent := os.path.dirname(path)) != path:
        yield (path := parent)
