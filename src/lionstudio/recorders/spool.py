"""The spool: a file for what could not be written to the database, and its way back.

One file a run and process, a record a line, mode 0600. Its writer holds a lock on it as long as it lives, so whoever
gets the lock knows that the writer is gone and may replay the file. Replaying a record twice changes nothing.
"""

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lionstudio.domain.errors import Error, Unavailable
from lionstudio.domain.json_text import from_json, to_json
from lionstudio.recorders.records import Record, apply
from lionstudio.services.context import Context

SUFFIX = ".jsonl"
REJECTED = ".rejected"  # what the database refuses for good stays here, for a person


@dataclass(frozen=True, slots=True)
class Waiting:
    """What one spool file holds."""

    path: Path
    records: int
    size: int


class SpoolFile:
    """The file of one run in this process."""

    def __init__(self, folder: Path, session_id: str) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        safe_name = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in session_id)[:100]
        self.path = folder / f"{safe_name}.{os.getpid()}{SUFFIX}"
        self._file = _open_locked(self.path)
        self._replayed = 0

    def keep(self, record: Record) -> None:
        """Add a record; it survives any kill of this process when this returns. Raises OSError, changing nothing."""
        line = to_json(record, what="record").encode() + b"\n"
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:
            os.ftruncate(self._file, end)
            raise

    def replay(self, ctx: Context) -> None:
        """Write what was not yet replayed into the database. Others may `keep` meanwhile."""
        for record, end in _records(self._file, self._replayed):
            _apply_or_reject(ctx, self.path, record)
            self._replayed = end

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
        """In the child of a fork: the file, and the lock on it, are the parent's."""
        os.close(self._file)


def _open_locked(path: Path) -> int:
    """Open a file and hold its lock, making sure that it is still the file of that name."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except FileNotFoundError:
            pass  # someone replayed and removed it between the two calls
        os.close(file)


def spool_folder(spool: Path, *, database_id: str | None, location: str) -> Path:
    """Where records for a database wait; by its place where the database could not say its id."""
    if database_id:
        return spool / database_id
    import hashlib

    return spool / f"at-{hashlib.sha256(location.encode()).hexdigest()[:32]}"


def replay_left_behind(ctx: Context, spool: Path, location: str) -> int:
    """Write what dead processes left for this database, oldest file first; how many records went."""
    folders = [
        spool_folder(spool, database_id=ctx.db.dialect.database_id, location=location),
        spool_folder(spool, database_id=None, location=location),
    ]
    return sum(_replay_abandoned(ctx, path) for folder in folders for path in _files(folder))


def list_waiting(spool: Path) -> list[Waiting]:
    """Every file that waits, for any database."""
    found = []
    for folder in sorted(spool.iterdir()) if spool.is_dir() else []:
        for path in _files(folder):
            text = path.read_bytes()
            if text:
                found.append(Waiting(path, text.count(b"\n"), len(text)))
    return found


def _files(folder: Path) -> list[Path]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith(SUFFIX)]
    except OSError:
        return []
    paths = [folder / name for name in names]
    return sorted(paths, key=lambda path: (path.stat().st_mtime_ns if path.exists() else 0, path.name))


def _replay_abandoned(ctx: Context, path: Path) -> int:
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return 0  # someone else has just replayed it
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return 0  # its writer lives, or someone else is at it
        count = _replay_all(ctx, file, path)
        path.unlink(missing_ok=True)
        return count
    finally:
        os.close(file)


def _replay_all(ctx: Context, file: int, path: Path) -> int:
    count = 0
    for record, _ in _records(file, 0):
        _apply_or_reject(ctx, path, record)
        count += 1
    return count


def _apply_or_reject(ctx: Context, path: Path, record: Record) -> None:
    """Write one record; what the database refuses for good must not hold up what comes after it."""
    try:
        apply(ctx, record)
    except Unavailable:
        raise
    except (Error, KeyError, TypeError, ValueError) as error:
        _reject(path, record, error)


def _records(file: int, start: int) -> Iterator[tuple[Record, int]]:
    """Whole records from an offset on, each with the offset of its end."""
    with open(os.dup(file), "rb") as lines:
        lines.seek(start)
        for line in lines:
            if not line.endswith(b"\n"):
                return  # cut short by a crash, so its call never returned
            start += len(line)
            record = from_json(line.decode())
            if isinstance(record, dict):
                yield record, start


def _reject(path: Path, record: Record, error: Exception) -> None:
    entry = {"why": f"{type(error).__name__}: {error}", "record": record}
    with open(os.open(path.with_suffix(REJECTED), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
        file.write(to_json(entry).encode() + b"\n")
