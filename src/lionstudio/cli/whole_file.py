"""Files that are there whole or not at all."""

import errno
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from lionstudio import machine
from lionstudio.domain.errors import DatabaseFull, InvalidRequest
from lionstudio.domain.json_text import to_json


def write_lines(path: str, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write JSON lines beside a file and put them in its place when they are whole and on disk.

    Raises InvalidRequest where nothing can be written, DatabaseFull when the disk is full; then all is as before.
    """
    path = os.path.abspath(path)
    part = f"{path}.{os.getpid()}.part"
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        # Transcripts may hold secrets: only their owner reads them.
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
            for line in lines:
                file.write(to_json(line, what="export").encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        machine.sync_folder(os.path.dirname(path))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DatabaseFull(f"No room is left for {path}; nothing was written.") from error
        raise InvalidRequest(
            f"{path} cannot be written: {error.strerror}.", hint="Name a file in a folder that is there: --output FILE"
        ) from error
    finally:
        with suppress(OSError):
            os.unlink(part)
