"""The spool: files for what could not be written to the database, and their way back.

One file a run and process, a record a line, mode 0600, named by the time it was begun. Its writer holds a lock on it as
long as it lives, so whoever gets the lock knows that the writer is gone and may replay the file. Replaying a record
twice changes nothing.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lionstudio.domain.errors import NotFound, Unavailable
from lionstudio.domain.json_text import from_json, to_json
from lionstudio.recorders.applying import REFUSED_FOR_GOOD, apply
from lionstudio.services.context import Context
from lionstudio.services.sessions import count_lost, get_session

SUFFIX = ".jsonl"
REJECTED = ".rejected"  # what the database refuses for good stays here, for a person
CHUNK = 4 * 1024 * 1024


class BeginningWaits(Unavailable):
    """The run or branch of a record is not there yet: an older file of the same run holds it."""


class Waiting(NamedTuple):
    """What one spool file holds."""

    path: Path
    records: int
    size: int


class SpoolFile:
    """The file of one run in this process."""

    def __init__(self, folder: Path, session_id: str) -> None:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        self.path = folder / f"{time.time_ns():020}.{os.getpid()}.{_safe_name(session_id)}{SUFFIX}"
        self._file = _create_locked(self.path)
        self._replayed = 0
        self._rejections = 0
        self.rejected: Path | None = None

    def keep(self, line: bytes) -> None:
        """Add a record; it survives any kill of this process when this returns. Raises OSError, changing nothing."""
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except BaseException:
            os.ftruncate(self._file, end)
            raise

    def replay(self, ctx: Context) -> None:
        """Write what was not yet replayed into the database. Others may `keep` meanwhile."""
        for line, end in _lines(self._file, self._replayed):
            rejected = apply_or_reject(ctx, line, self.path)
            if rejected is not None:
                self.rejected = rejected
                self._rejections += 1
            self._replayed = end

    def take_rejections(self) -> int:
        """How many records the database refused for good since the last call."""
        rejections, self._rejections = self._rejections, 0
        return rejections

    def clear(self) -> None:
        """Forget everything, once it is all replayed and nobody adds to it."""
        os.ftruncate(self._file, 0)
        self._replayed = 0

    def close(self) -> None:
        """Give the file up, removing it if nothing waits in it."""
        if os.lseek(self._file, 0, os.SEEK_END) == 0:
            self.path.unlink(missing_ok=True)
        os.close(self._file)

    def leave_to_parent(self) -> None:
        """In the child of a fork: the file is the parent's, and the lock must be gone when the parent is."""
        os.close(self._file)


def _safe_name(session_id: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in session_id)[:100]


def _create_locked(path: Path) -> int:
    """Create a file and hold its lock, making sure that nobody replayed and removed it between the two."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        if _is_still_at(file, path):
            return file
        os.close(file)


def _is_still_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


def spool_folder(spool: Path, *, database_id: str | None, location: str) -> Path:
    """Where records for a database wait; named by its place where the database could not say its id."""
    if database_id:
        return spool / database_id
    from _blake2 import blake2b  # as in `hashlib`, which loads OpenSSL for its other functions: 3 ms at every open

    return spool / f"at-{blake2b(os.fsencode(location), digest_size=16).hexdigest()}"


def replay_left_behind(ctx: Context, spool: Path, location: str, *, strict: bool = False) -> int:
    """Write what dead processes left for this database, oldest file first; how many records went.

    A file that cannot be read does not hold up the others; when `strict`, the first such error is raised after them.
    """
    count, failure = 0, None
    files = (path for folder in _folders_of(ctx, spool, location) for path in _files(folder))
    for path in sorted(files, key=lambda path: path.name):
        try:
            count += _replay_abandoned(ctx, path)
        except BeginningWaits:
            continue
        except OSError as error:
            failure = failure or error
    if strict and failure is not None:
        raise failure
    return count


def count_left_behind(ctx: Context, spool: Path, location: str, session_id: str) -> int:
    """How many records of one run wait for this database."""
    count, name = 0, _safe_name(session_id)
    for path in (path for folder in _folders_of(ctx, spool, location) for path in _files(folder)):
        if _run_of(path) == name:
            with suppress(OSError):  # replayed just now
                count += _count_lines(path)
    return count


def _folders_of(ctx: Context, spool: Path, location: str) -> list[Path]:
    return [
        spool_folder(spool, database_id=ctx.db.dialect.database_id, location=location),
        spool_folder(spool, database_id=None, location=location),
    ]


def waits_for(spool: Path, location: str) -> bool:
    """Whether something waits for a database that nobody could open yet."""
    return bool(_files(spool_folder(spool, database_id=None, location=location)))


def list_waiting(spool: Path) -> list[Waiting]:
    """Every file in which something waits, for any database."""
    return _list_filled(spool, SUFFIX)


def list_rejected(spool: Path) -> list[Waiting]:
    """Every file of what a database refused for good."""
    return _list_filled(spool, REJECTED)


def _list_filled(spool: Path, suffix: str) -> list[Waiting]:
    found = []
    for folder in sorted(spool.iterdir()) if spool.is_dir() else []:
        for path in _files(folder, suffix):
            with suppress(OSError):  # replayed just now
                size = path.stat().st_size
                if size:
                    found.append(Waiting(path, _count_lines(path), size))
    return found


def _count_lines(path: Path) -> int:
    """However large the file is, little of it is in memory at a time."""
    with open(path, "rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(CHUNK), b""))


def _files(folder: Path, suffix: str = SUFFIX) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(suffix)]
    except OSError:
        return []


def _replay_abandoned(ctx: Context, path: Path) -> int:
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0  # someone else has just replayed it
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0  # its writer lives, or someone else is at it
        if not _is_still_at(file, path):
            return 0
        rejected = [apply_or_reject(ctx, line, path) is not None for line, _ in _lines(file, 0)]
        if any(rejected):
            with suppress(NotFound):  # the run itself was refused, or is deleted
                count_lost(ctx, get_session(ctx, _run_of(path)).id, sum(rejected))
        path.unlink(missing_ok=True)
        return len(rejected)
    finally:
        os.close(file)


def apply_or_reject(ctx: Context, line: bytes, path: Path) -> Path | None:
    """Write one record; what the database refuses for good must not hold up the rest, and is kept in the file given."""
    try:
        apply(ctx, from_json(line.decode()))
        return None
    except REFUSED_FOR_GOOD as error:
        if isinstance(error, NotFound) and _begins_elsewhere(path):
            raise BeginningWaits from error
        return _reject(path, line, error)


def _begins_elsewhere(path: Path) -> bool:
    """Whether an older file of the same run holds something: the child of a fork may be replayed before its parent."""
    older = [other for other in path.parent.parent.glob(f"*/*.{_run_of(path)}{SUFFIX}") if other.name < path.name]
    return any(other.stat().st_size for other in older if other.exists())


def _run_of(path: Path) -> str:
    """The run that a spool file belongs to; its id, as those that are given to runs can stand in a name."""
    return path.name.split(".")[-2]


def _lines(file: int, start: int) -> Iterator[tuple[bytes, int]]:
    """Whole lines from an offset on, each with the offset of its end. One cut short by a crash was never promised."""
    rest = b""
    while chunk := os.pread(file, CHUNK, start + len(rest)):  # a shared position would move while others append
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            start += len(line) + 1
            yield line, start


def _reject(path: Path, line: bytes, error: Exception) -> Path:
    entry = {"why": f"{type(error).__name__}: {error}", "record": line.decode(errors="replace")}
    rejected = path.with_suffix(REJECTED)
    mode = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with open(os.open(rejected, mode, 0o600), "ab") as file:
        file.write(to_json(entry).encode() + b"\n")
    return rejected
