"""Team files on disk: read and changed under `flock`, so that nothing is lost between us and lionagi.

lionagi locks the file itself and writes it in place, so a file that is replaced would lose what lionagi writes next to
the one that is gone. We write in place too, but first beside the file: whoever finds a file that a dying process left
half-written takes what stands beside it. Half of a JSON object is none, so a whole file is known by being readable.
"""

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from lionstudio.domain.errors import AlreadyExists, Error, InvalidContent, Unavailable
from lionstudio.domain.team_files import TeamFile, file_name_of, parse_team_file, render_team_file

SUFFIX = ".json"
BESIDE = ".new"  # what is being written; lionagi looks only at names that end in .json
LOCKED_FOR_TOO_LONG = 10.0  # seconds
LOOK_AGAIN = 0.002  # seconds, growing while the lock is held by others


def list_paths(folder: str) -> list[str]:
    """The team files in a folder, by name; none where there is no folder. Raises Unavailable."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _unavailable(folder, "read", error) from error
    return [os.path.join(folder, name) for name in names if name.endswith(SUFFIX) and not name.startswith(".")]


def read_file(path: str) -> TeamFile:
    """One team file; raises InvalidContent for what is none, Unavailable for what cannot be read."""
    with _locked(path, fcntl.LOCK_SH) as descriptor:
        content, modified_at = _read(descriptor)
    return _parse_or_mend(path, content, modified_at)


def read_if_with(path: str, texts: Sequence[bytes]) -> TeamFile | None:
    """One team file if one of these texts occurs in it: most need not be understood to see that they are not meant."""
    with _locked(path, fcntl.LOCK_SH) as descriptor:
        content, modified_at = _read(descriptor)
    if any(text in content for text in texts) or os.path.exists(path + BESIDE):
        return _parse_or_mend(path, content, modified_at)
    return None


def read_again(path: str) -> TeamFile | None:
    """One team file as it is by now; None if it is gone, or being mended."""
    with suppress(Error):
        return read_file(path)
    return None


def change_file(path: str, change: Callable[[TeamFile], TeamFile], *, sync: bool = True) -> TeamFile:
    """Change one team file while nobody else does; what the file is then. An error of `change` leaves it as it is.

    It survives any kill of a process; with `sync` also a power loss.
    """
    with _locked(path, fcntl.LOCK_EX) as descriptor:
        before = _read_whole(path, descriptor)
        after = change(before)
        if after.fields != before.fields:
            _write_whole(path, descriptor, render_team_file(after).encode(), sync=sync)
    return after


def path_of(folder: str, team_id: str) -> str:
    """Where we put the file of a team."""
    return os.path.join(folder, file_name_of(team_id))


def create_file(folder: str, file: TeamFile) -> str:
    """Write a new team file; its path. Raises AlreadyExists if the team has one."""
    path = path_of(folder, file.team.id)
    content = render_team_file(file).encode()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError as error:
        raise AlreadyExists(f"There is a file {path} already.") from error
    except OSError as error:
        raise _unavailable(path, "written", error) from error
    try:
        with _locked(path, fcntl.LOCK_EX) as descriptor:
            _write_whole(path, descriptor, content, sync=True)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
    return path


@contextmanager
def holding(folder: str) -> Iterator[None]:
    """Keep others from making a team at the same time, so that two cannot take one name."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _unavailable(folder, "written", error) from error
    try:
        _wait_for_lock(descriptor, fcntl.LOCK_EX, folder)
        yield
    finally:
        os.close(descriptor)


def remove_file(path: str, may_go: Callable[[TeamFile], bool]) -> bool:
    """Delete a team file and what lies beside it, if it still may go once nobody else writes it; whether it is gone."""
    with _locked(path, fcntl.LOCK_EX) as descriptor:
        if not may_go(_read_whole(path, descriptor)):
            return False
        try:
            with suppress(FileNotFoundError):
                os.unlink(path + BESIDE)
            os.unlink(path)
        except OSError as error:
            raise _unavailable(path, "deleted", error) from error
    return True


def signature(path: str) -> object:
    """Something that is another once the file was written."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise _unavailable(path, "read", error) from error
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _locked(path: str, how: int) -> Iterator[int]:
    """The file, opened and locked; the one that has the name now, if somebody replaced it meanwhile."""
    access = os.O_RDONLY if how == fcntl.LOCK_SH else os.O_RDWR
    while True:
        try:
            # Without waiting: a pipe of that name must not keep us for ever.
            descriptor = os.open(path, access | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise _unavailable(path, "opened", error) from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InvalidContent("It is not a file.")
            _wait_for_lock(descriptor, how, path)
            if _is_at(path, descriptor):
                yield descriptor
                return
        finally:
            os.close(descriptor)  # which unlocks it


def _wait_for_lock(descriptor: int, how: int, path: str) -> None:
    give_up, pause = time.monotonic() + LOCKED_FOR_TOO_LONG, LOOK_AGAIN
    while True:
        try:
            return fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up:
                raise Unavailable(
                    f"Another process has kept {path} locked for {LOCKED_FOR_TOO_LONG:.0f} seconds.",
                    hint="Try again. If it stays so, see who has it open: fuser -v FILE",
                ) from None
        except OSError as error:
            raise _unavailable(path, "locked", error) from error
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False  # opening it again says so


def _read(descriptor: int) -> tuple[bytes, float]:
    found = os.fstat(descriptor)
    return os.pread(descriptor, found.st_size, 0), found.st_mtime


def _read_whole(path: str, descriptor: int) -> TeamFile:
    """The file under an exclusive lock; first mended, if its last writer died in the middle."""
    content, modified_at = _read(descriptor)
    try:
        return _parse(path, content, modified_at)
    except InvalidContent as broken:
        try:
            with open(path + BESIDE, "rb") as stream:
                meant = stream.read()
            file = _parse(path, meant, modified_at)
        except (OSError, InvalidContent):
            raise InvalidContent(f"{path} cannot be understood. {broken.message}") from None
    _write_in_place(path, descriptor, meant, sync=True)
    return file


def _parse_or_mend(path: str, content: bytes, modified_at: float) -> TeamFile:
    try:
        return _parse(path, content, modified_at)
    except InvalidContent:
        if not os.path.exists(path + BESIDE):
            raise
    with _locked(path, fcntl.LOCK_EX) as descriptor:
        return _read_whole(path, descriptor)


def _write_whole(path: str, descriptor: int, content: bytes, *, sync: bool) -> None:
    before, _ = _read(descriptor)
    try:
        beside = os.open(path + BESIDE, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            _write_all(beside, content, sync=sync)
        finally:
            os.close(beside)
    except OSError as error:
        with suppress(OSError):
            os.unlink(path + BESIDE)
        raise _unavailable(path, "written", error) from error
    try:
        _write_in_place(path, descriptor, content, sync=sync)
    except Unavailable:
        with suppress(Unavailable):  # as it was: there was room for that a moment ago
            _write_in_place(path, descriptor, before, sync=sync)
        raise


def _write_in_place(path: str, descriptor: int, content: bytes, *, sync: bool) -> None:
    try:
        os.ftruncate(descriptor, 0)  # so that a file that is not whole is the beginning of one, and seen to be broken
        _write_all(descriptor, content, sync=sync)
        os.unlink(path + BESIDE)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _unavailable(path, "written", error) from error


def _write_all(descriptor: int, content: bytes, *, sync: bool) -> None:
    done = 0
    while done < len(content):
        done += os.pwrite(descriptor, content[done:], done)
    if sync:
        os.fsync(descriptor)


def _parse(path: str, content: bytes, modified_at: float) -> TeamFile:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidContent(f"It is not UTF-8 text: {error.reason}.") from None
    return parse_team_file(text, stem=os.path.basename(path).removesuffix(SUFFIX), modified_at=modified_at)


def _unavailable(path: str, what: str, error: OSError) -> Unavailable:
    return Unavailable(f"{path} cannot be {what}: {error.strerror or error}.", hint="Check that file and its folder.")
