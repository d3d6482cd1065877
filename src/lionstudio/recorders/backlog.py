"""What one run has set aside, in the order it was said: on disk, and in memory where the disk refuses it too."""

import threading
from collections import deque
from typing import TYPE_CHECKING

from lionstudio.domain.json_text import from_json, to_json
from lionstudio.recorders.records import Record
from lionstudio.services.context import Context

if TYPE_CHECKING:
    from pathlib import Path

    from lionstudio.recorders.spool import SpoolFile

MEMORY_LIMIT = 64 * 1024 * 1024


class Backlog:
    """Records that wait for the database. `waiting` stays true until the last of them is written."""

    def __init__(self, session_id: str, *, waiting: bool = False) -> None:
        self.waiting = waiting
        self._session_id = session_id
        self._file: SpoolFile | None = None
        self._memory: deque[bytes] = deque()
        self._memory_size = 0
        self._lost = 0
        self.refused = 0  # how many of all that was lost the database refused; `rejected` is the file that keeps them
        self.rejected: Path | None = None
        self.is_used = waiting  # whether anything was ever set aside
        self._adding = threading.Lock()
        self._replaying = threading.Lock()  # taken first where both are needed

    def add(self, record: Record, folder: "Path") -> bool:
        """Set a record aside in this folder; False if there was no room for it anywhere. Raises InvalidContent."""
        line = to_json(record, what="message").encode() + b"\n"
        with self._adding:
            self.waiting = self.is_used = True
            self._memory.append(line)
            self._memory_size += len(line)
            self._move_to_disk(folder)
            # How a run ended is worth more than the limit.
            if self._memory_size <= MEMORY_LIMIT or record["do"] == "finish":
                return True
            self._memory_size -= len(self._memory.pop())
            self._lost += 1
            return False

    def replay(self, ctx: Context) -> None:
        """Write everything into the database, in order; raises Unavailable or OSError, and can then be called again."""
        with self._replaying:
            if self._file is not None:
                self._file.replay(ctx)  # while the run may go on adding
            with self._adding:
                if self._file is not None:
                    self._file.replay(ctx)
                    self._file.clear()
                while self._memory:
                    self._apply_first(ctx)
                self.waiting = False

    def close(self, folder: "Path") -> None:
        """Leave what is still there on disk, for whoever opens the database next."""
        with self._replaying, self._adding:
            self._move_to_disk(folder)
            while self._memory:  # what does not fit is lost; what comes after it, such as the end, may be smaller
                self._memory_size -= len(self._memory.popleft())
                self._lost += 1
                if self._file is not None:
                    self._move_to_disk(folder)
            self._note_rejections()
            if self._file is not None:
                self._file.close()
                self._file = None
            self.waiting = False

    @property
    def in_memory(self) -> bool:
        """Whether the disk refused something that waits."""
        return bool(self._memory)

    def take_lost(self) -> int:
        """How many records could be kept nowhere, or were refused for good, since the last call."""
        with self._adding:
            self._note_rejections()
            lost, self._lost = self._lost, 0
            return lost

    def add_lost(self, count: int) -> None:
        with self._adding:
            self._lost += count

    def leave_to_parent(self) -> None:
        """In the child of a fork: what waits is the parent's, and so is the file it waits in."""
        if self._file is not None:
            self._file.leave_to_parent()

    def _note_rejections(self) -> None:
        if self._file is not None and (refused := self._file.take_rejections()):
            self._lost += refused
            self.refused += refused
            self.rejected = self._file.rejected

    def _move_to_disk(self, folder: "Path") -> None:
        from lionstudio.recorders.spool import SpoolFile  # loaded by few: mostly nothing is ever set aside

        try:
            while self._memory:
                if self._file is None:
                    self._file = SpoolFile(folder, self._session_id)
                self._file.keep(self._memory[0])
                self._memory_size -= len(self._memory.popleft())
        except OSError:
            pass  # no room there either, or no permission: it stays in memory

    def _apply_first(self, ctx: Context) -> None:
        from lionstudio.recorders.applying import REFUSED_FOR_GOOD, apply

        try:
            apply(ctx, from_json(self._memory[0].decode()))
        except REFUSED_FOR_GOOD:  # and there is no file to keep it in
            self._lost += 1
        self._memory_size -= len(self._memory.popleft())
