"""All of a command's output, in files. One that cannot be written any more is said, and harms nobody."""

import os
from contextlib import suppress


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
        how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        for name in (
            f"{stream}.log",
            f"{stream}.{self._session_id}.log",
        ):  # another run may have used the folder before
            self.paths[stream] = os.path.join(self._folder, name)
            with suppress(FileExistsError):
                return os.open(self.paths[stream], how, 0o600)
        raise FileExistsError(17, "File exists")
