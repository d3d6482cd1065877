"""All of a command's output, in files. One that cannot be written any more is said, and harms nobody."""

import os
from contextlib import suppress

from lionstudio.domain.errors import Unavailable


class Saved:
    """The files of a run's streams, made when there is something for them."""

    def __init__(self, folder: str, session_id: str) -> None:
        self._folder = folder
        self._session_id = session_id
        self._files: dict[str, int] = {}
        self.paths: dict[str, str] = {}
        self.failures: dict[str, str] = {}  # by stream, why its file is not whole

    def add(self, stream: str, said: bytes) -> None:
        if stream in self.failures:
            return
        try:
            file = self._files.get(stream)
            if file is None:
                file = self._files[stream] = self._create(stream)
            rest = memoryview(said)
            while rest:
                rest = rest[os.write(file, rest) :]
        except OSError as error:
            path = self.paths.pop(stream, os.path.join(self._folder, f"{stream}.log"))
            self.failures[stream] = f"{path} is not whole: {error.strerror or error}."

    def close(self) -> None:
        for file in self._files.values():
            with suppress(OSError):
                os.close(file)

    def _create(self, stream: str) -> int:
        self.paths[stream] = os.path.join(self._folder, f"{stream}.log")
        file, self.paths[stream] = create_file(self._folder, f"{stream}.log", self._session_id)
        return file


def make_folder(typed: str) -> str:
    """The folder after --save, made if it is not there; raises Unavailable."""
    folder = os.path.abspath(os.path.expanduser(typed))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        why = "a file is there" if isinstance(error, FileExistsError) else error.strerror
        said = f"The folder {folder} cannot be made ({why}), so nothing was run."
        raise Unavailable(said, hint="Name another one after --save.") from error
    return folder


def create_file(folder: str, name: str, session_id: str) -> tuple[int, str]:
    """A new file of a run, open for writing, and its path; raises OSError.

    What is there already stays: another run may have used the folder before, or it is a person's own.
    """
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    stem, ending = os.path.splitext(name)
    path = os.path.join(folder, name)
    with suppress(FileExistsError):
        return os.open(path, how, 0o600), path
    path = os.path.join(folder, f"{stem}.{session_id}{ending}")
    return os.open(path, how, 0o600), path
