"""Keeps what a recorder says: in the database, else on disk, else in memory, so that the agent never fails for it."""

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from lionstudio import machine
from lionstudio.domain.errors import (
    Conflict,
    DatabaseBusy,
    DatabaseDamaged,
    Error,
    ForeignDatabase,
    Invalid,
    NewerDatabase,
    NotFound,
    Unavailable,
)
from lionstudio.domain.health import HEARTBEAT_EVERY
from lionstudio.domain.json_text import to_json
from lionstudio.domain.process import ProcessRole
from lionstudio.recorders.records import Record, apply
from lionstudio.recorders.spool import SpoolFile, replay_left_behind, spool_folder
from lionstudio.services.context import Context, open_context
from lionstudio.services.sessions import beat, count_lost
from lionstudio.settings import Settings

BUSY_PATIENCE = 10.0  # seconds a busy database is waited for before the message is set aside
LEAVING_PATIENCE = 30.0  # seconds that leaving the block tries to write what was set aside
RETRY_EVERY = 1.0
MEMORY_LIMIT = 64 * 1024 * 1024
WILL_NOT_PASS = (DatabaseDamaged, ForeignDatabase, NewerDatabase)  # waiting does not help


class Keeper:
    """One run's way to the database. Once something is set aside, everything after it follows until all is written."""

    def __init__(self, settings: Settings, session_id: str) -> None:
        self._settings = settings
        self._session_id = session_id
        self._ctx: Context | None = None
        self._begin_in_this_process()

    def _begin_in_this_process(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()  # around everything that is set aside
        self._behind = False
        self._spool: SpoolFile | None = None
        self._memory: deque[tuple[Record, int]] = deque()
        self._memory_size = 0
        self._lost = 0
        self._said: set[str] = set()
        self._wrote_at = time.monotonic()
        self._helper: threading.Thread | None = None
        self._leaving = threading.Event()

    def after_fork(self) -> None:
        """In the child of a fork: what waits is the parent's, and so is the file it waits in."""
        if self._spool is not None:
            self._spool.leave_to_parent()
        self._begin_in_this_process()

    @property
    def ctx(self) -> Context:
        """The open database; raises Unavailable."""
        return self._opened()

    def open(self) -> None:
        """Open the database now. One that belongs to another program is a mistake of the user, so that is raised."""
        try:
            ctx = self._opened()
            replay_left_behind(ctx, self._settings.spool, self._settings.db)
        except ForeignDatabase:
            raise
        except Unavailable as error:
            self._behind = True
            self._say_waiting(error)
        else:
            if not ctx.db.dialect.local or machine.may_be_unseen():
                self._start_helper()

    def write(self, action: Callable[..., Any], *arguments: Any, record: Callable[[], Record]) -> None:
        """Do `action(ctx, *arguments)`, or set `record()` aside if the database does not take it now.

        Raises Invalid and Conflict, which are mistakes of the caller; nothing else.
        """
        if not self._behind and self._try(action, arguments):
            return
        self._set_aside(record())

    def finish(self, *, patience: float = LEAVING_PATIENCE) -> None:
        """Write what was set aside, for as long as `patience`; what is left then waits on disk for the next open."""
        give_up = time.monotonic() + patience
        while self._behind and not self._catch_up():
            if time.monotonic() > give_up or self._hopeless:
                break
            time.sleep(0.1)
        self._leaving.set()
        with self._lock:
            if self._spool is not None:
                self._spool.close()
                self._spool = None
            self._lost += len(self._memory)
            self._memory.clear()
            self._report_lost()

    _hopeless = False

    def _opened(self) -> Context:
        if self._ctx is None:
            self._ctx = open_context(self._settings)
        return self._ctx

    def _try(self, action: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
        give_up: float | None = None
        while True:
            try:
                action(self._ctx or self._opened(), *arguments)
                self._wrote_at = time.monotonic()
                return True
            except (Invalid, Conflict):
                raise
            except NotFound as error:  # someone deleted the run under our feet: there is no place for this any more
                self._count_lost(error)
                return True
            except DatabaseBusy as error:
                now = time.monotonic()
                give_up = now + BUSY_PATIENCE if give_up is None else give_up
                if now >= give_up:
                    self._say_waiting(error)
                    return False
                time.sleep(0.01)
            except Unavailable as error:
                self._say_waiting(error)
                return False
            except Exception as error:  # noqa: BLE001  a mistake of ours must not reach the agent
                self._say_waiting(error)
                return False

    def _set_aside(self, record: Record) -> None:
        with self._lock:
            self._behind = True
            if not self._memory:
                try:
                    self._open_spool().keep(record)
                    self._start_helper()
                    return
                except OSError:
                    pass  # no room on that disk either
            size = len(to_json(record, what="record"))
            if self._memory_size + size > MEMORY_LIMIT:
                self._lost += 1
                self._say("lost", "Messages are being lost: neither the database nor the disk nor memory takes them.")
                return
            self._memory.append((record, size))
            self._memory_size += size
            self._start_helper()

    def _catch_up(self) -> bool:
        """Write everything that waits, in order; whether it worked."""
        try:
            ctx = self._opened()
            if self._spool is not None:
                self._spool.replay(ctx)  # without the lock: the run may go on adding
            with self._lock:
                if self._spool is not None:
                    self._spool.replay(ctx)
                    self._spool.clear()
                while self._memory:
                    record, size = self._memory[0]
                    self._apply(ctx, record)
                    self._memory.popleft()
                    self._memory_size -= size
                self._report_lost()
                self._behind = False
        except Unavailable as error:
            self._hopeless = isinstance(error, WILL_NOT_PASS)
            return False
        return True

    def _apply(self, ctx: Context, record: Record) -> None:
        try:
            apply(ctx, record)
        except Unavailable:
            raise
        except Error as error:
            self._count_lost(error)

    def _open_spool(self) -> SpoolFile:
        if self._spool is None:
            known = self._ctx.db.dialect.database_id if self._ctx is not None else None
            folder = spool_folder(self._settings.spool, database_id=known, location=self._settings.db)
            self._spool = SpoolFile(folder, self._session_id)
        return self._spool

    def _start_helper(self) -> None:
        """A thread that writes what waits, and shows signs of life where nobody can look at this process."""
        if self._helper is None or not self._helper.is_alive():
            self._helper = threading.Thread(target=self._help, name="lionstudio-keeper", daemon=True)
            self._helper.start()

    def _help(self) -> None:
        while not self._leaving.wait(RETRY_EVERY):
            if self._behind:
                self._catch_up()
            elif time.monotonic() - self._wrote_at >= HEARTBEAT_EVERY:
                self._try(beat, (self._session_id, ProcessRole.AGENT))

    def _count_lost(self, error: Exception) -> None:
        self._lost += 1
        self._say("lost", f"A message could not be kept: {error}")

    def _report_lost(self) -> None:
        if not self._lost or self._ctx is None:
            return
        try:
            count_lost(self._ctx, self._session_id, self._lost)
            self._lost = 0
        except Error:
            self._say("lost", f"{self._lost} messages of this run are lost.")

    def _say_waiting(self, error: Exception) -> None:
        self._hopeless = isinstance(error, WILL_NOT_PASS)
        hint = f" {error.hint}" if isinstance(error, Error) and error.hint else ""
        self._say("waiting", f"{error} The run goes on; its messages wait in {self._settings.spool}.{hint}")

    def _say(self, what: str, sentence: str) -> None:
        if what not in self._said:
            self._said.add(what)
            print(f"lionstudio: {sentence}", file=sys.stderr)  # noqa: T201  the one place a recorder may speak
