"""Files that are there whole or not at all."""

import errno
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from lionstudio import machine
from lionstudio.domain.errors import AlreadyExists, DatabaseFull, NotFound, Unavailable
from lionstudio.services.scratch import ScratchFolder


@contextmanager
def whole_file(path: str) -> Iterator[str]:
    """A place to write to, which becomes the file when the block ends well, and is gone if it does not.

    Raises AlreadyExists if something is at the path, NotFound if its folder is not there, and DatabaseFull if the disk
    is full.
    """
    path = require_place(path)
    try:
        with ScratchFolder(os.path.dirname(path)) as beside:  # on the same disk
            draft = os.path.join(beside, "draft")
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            yield draft
            _put_in_place(draft, path)
    except DatabaseFull as error:
        raise _no_room(path) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _no_room(path) from error
        raise Unavailable(f"The file {path} cannot be written ({error.strerror}).") from error


def require_place(path: str) -> str:
    """The whole path of a file that may be written; raises AlreadyExists, NotFound or Unavailable where it cannot."""
    path = os.path.abspath(os.path.expanduser(path))
    _require_free(path)
    folder = os.path.dirname(path)
    require_folder(folder)
    try:
        for_us = os.access in os.supports_effective_ids
        may_write = os.access(folder, os.W_OK | os.X_OK, effective_ids=for_us)
        why = None if may_write else f"you may not write to the folder {folder}"
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            why = f"{folder} is on a file system that is mounted read-only"
    except OSError as error:
        why = str(error.strerror)
    if why is not None:
        raise Unavailable(f"The file {path} cannot be written: {why}.", hint="Name a file in another folder.")
    return path


def _require_free(path: str) -> None:
    if os.path.lexists(path):
        raise AlreadyExists(f"{path} is there already.", hint="Choose another name, or move that file away first.")


def require_folder(folder: str) -> None:
    """Raise NotFound unless the folder is there: a name that was mistyped must not become a tree of folders."""
    if os.path.isdir(folder):
        return
    if os.path.lexists(folder):
        raise NotFound(f"{folder} is not a folder.", hint="Name a file in a folder.")
    raise NotFound(f"The folder {folder} does not exist.", hint=f"Make it with mkdir -p {shlex.quote(folder)}")


def make_own_folder(folder: str, *, hint: str) -> None:
    """Make a folder that is ours by its place, for ourselves alone; raises Unavailable with what to do then."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"The folder {folder} cannot be made ({error.strerror}).", hint=hint) from error


def _put_in_place(draft: str, path: str) -> None:
    _flush(draft)
    try:
        os.link(draft, path)  # unlike a rename, refuses to overwrite what came there meanwhile
    except FileExistsError:
        _require_free(path)
    except OSError:  # a file system without links
        _require_free(path)
        os.rename(draft, path)
    with suppress(OSError):  # the file is there; only a power cut right now could undo that
        machine.sync_folder(os.path.dirname(path))


def _flush(path: str) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _no_room(path: str) -> DatabaseFull:
    return DatabaseFull(f"There is no room left on the disk for {path}; nothing of it was kept.")
