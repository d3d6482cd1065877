"""Exports that are sent while they are read: everything, legacy runs or chosen ones, piece by piece (R188, R196).

No transaction is open between two pieces, so a slow reader keeps nobody waiting.
"""

import os
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from lionstudio.domain.errors import Error, Unavailable
from lionstudio.domain.json_text import to_json
from lionstudio.services import legacy, sessions
from lionstudio.services.admin import record_event
from lionstudio.services.archive import back_up
from lionstudio.services.context import Context
from lionstudio.services.database_export import export_database, write_runs_file
from lionstudio.services.exporting import export_lines
from lionstudio.services.refusing import refuse, require_ids
from lionstudio.services.scratch import ScratchFolder
from lionstudio.services.whole_file import make_own_folder
from lionstudio.store import maintenance

PIECE = 64 * 1024  # bytes, about; a single line may be larger
LINES, DATABASE = "application/x-ndjson", "application/vnd.sqlite3"
IDS_IN_EVENT = 1_000


class Pieces(Iterator[bytes], Protocol):
    """Bytes, one piece after the other; closed when nobody wants the rest."""

    def close(self) -> None: ...


class Export(NamedTuple):
    """Bytes to be sent, and what to call them."""

    file_name: str
    media_type: str
    size: int | None  # None if nobody can know before the end
    pieces: Pieces
    event_id: str


def export_everything(ctx: Context, *, actor: str) -> Export:
    """All there is, as JSON lines."""
    return _send_lines(ctx, "state", export_database(ctx), actor, {"what": "everything"})


def export_sessions(ctx: Context, session_ids: Sequence[str], *, actor: str) -> Export:
    """Some runs as JSON lines; raises SessionNotFound, or Refused, before the first byte.

    One that is deleted while it is sent raises Conflict in the middle: half a run must not pass for a whole one.
    """
    wanted = _require_known(ctx, session_ids)
    return _send_lines(ctx, "runs", export_lines(ctx, wanted), actor, {"what": "sessions", "session_ids": wanted})


def export_legacy(ctx: Context, *, actor: str) -> Export:
    """Every run without a status, as JSON lines; they stay."""
    wanted = legacy.list_legacy(ctx, limit=legacy.count_legacy(ctx))
    details = {"what": "legacy", "sessions": len(wanted), "session_ids": wanted[:IDS_IN_EVENT]}
    return _send_lines(ctx, "legacy", export_lines(ctx, wanted), actor, details)


def export_snapshot(ctx: Context, folder: str, *, actor: str) -> Export:
    """A verified copy of the whole database, as of one moment, as an SQLite file; `folder` needs room for it."""
    with _Scratch(folder) as path:
        back_up(ctx, path, lambda _: None)
        return _send_file(ctx, "state", path, actor, {"what": "snapshot"})


def export_sessions_file(ctx: Context, session_ids: Sequence[str], folder: str, *, actor: str) -> Export:
    """Some runs, with those they were forked from, as an SQLite file that can be opened like any database of ours."""
    wanted = _require_known(ctx, session_ids)
    with _Scratch(folder) as path:
        write_runs_file(ctx, wanted, path, lambda _: None)
        return _send_file(ctx, "runs", path, actor, {"what": "sessions", "session_ids": wanted})


def _require_known(ctx: Context, session_ids: Sequence[str]) -> list[str]:
    wanted = require_ids(session_ids)
    with ctx.db.read() as tx:
        present = maintenance.list_present(tx, wanted)
    unknown: dict[str, Error] = {id: sessions.no_session(id) for id in wanted if id not in present}
    if unknown:
        refuse(unknown, asked=len(wanted), what="exported")
    return wanted


def _send_lines(
    ctx: Context, stem: str, lines: Iterable[Mapping[str, Any]], actor: str, details: Mapping[str, Any]
) -> Export:
    file_name, event_id = _announce(ctx, stem, ".jsonl", actor, details)
    return Export(file_name, LINES, None, _encode(lines), event_id)


def _send_file(ctx: Context, stem: str, path: str, actor: str, details: Mapping[str, Any]) -> Export:
    file_name, event_id = _announce(ctx, stem, ".db", actor, details)
    return Export(file_name, DATABASE, os.path.getsize(path), _FilePieces(path), event_id)


def _announce(ctx: Context, stem: str, suffix: str, actor: str, details: Mapping[str, Any]) -> tuple[str, str]:
    """Name an export by the time, and write down that it is made; its name and the id of the event."""
    file_name = f"{stem}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(ctx.now()))}{suffix}"
    event = record_event(ctx, "export", details={**details, "file_name": file_name}, actor=actor)
    return file_name, event.id


def _encode(lines: Iterable[Mapping[str, Any]]) -> Generator[bytes]:
    piece = bytearray()
    for line in lines:
        piece += to_json(line, what="export").encode() + b"\n"
        if len(piece) >= PIECE:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)


class _FilePieces:
    """A file, piece by piece; closed at its end, or when nobody wants the rest. Its name may go: what is open stays."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115  for longer than any block

    def __iter__(self) -> "_FilePieces":
        return self

    def __next__(self) -> bytes:
        piece = b"" if self._file.closed else self._file.read(PIECE)
        if not piece:
            self.close()
            raise StopIteration
        return piece

    def close(self) -> None:
        self._file.close()

    def __del__(self) -> None:
        self.close()


class _Scratch:
    """A path in a folder of its own, both gone when the block ends."""

    def __init__(self, folder: str) -> None:
        make_own_folder(folder, hint="Let LIONAGI_HOME name a folder that may be written.")
        try:
            self._folder = ScratchFolder(folder)
        except OSError as error:
            raise Unavailable(f"Nothing can be written to {folder} ({error.strerror}).") from error

    def __enter__(self) -> str:
        return os.path.join(self._folder.path, "export.db")

    def __exit__(self, *_: object) -> None:
        self._folder.close()
