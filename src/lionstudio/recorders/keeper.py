"""Keeps what a recorder says: in the database, else in a backlog, so that the agent never fails for it."""

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

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
    UnusablePlace,
)
from lionstudio.domain.phrases import count_of
from lionstudio.domain.process import HEARTBEAT_EVERY, ProcessRole
from lionstudio.recorders.backlog import Backlog
from lionstudio.recorders.command_lines import shell_line
from lionstudio.recorders.reading import has_spooled
from lionstudio.recorders.records import Record
from lionstudio.recorders.signals import signals
from lionstudio.services.context import Context, open_context
from lionstudio.services.sessions import beat, count_lost, get_session
from lionstudio.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

BUSY_PATIENCE = 10.0  # seconds a busy database is waited for before the message is set aside
LEAVING_PATIENCE = 30.0  # seconds that leaving the block tries to write what was set aside
HURRIED_PATIENCE = 3.0  # either of them, where somebody waits for a command and not for its recording
RETRY_EVERY = 1.0
LOOK_AGAIN_AFTER = 0.1  # seconds between two tries of a block that is being left
OUR_MODULES = frozenset({"lionstudio", "apsw", "psycopg", "json", "threading", "os", "posixpath"})
WILL_NOT_PASS = (DatabaseDamaged, ForeignDatabase, NewerDatabase, UnusablePlace)  # waiting does not help


class Keeper:
    """One run's way to the database. Once something is set aside, everything after it follows until all is written."""

    def __init__(
        self,
        settings: Settings,
        session_id: str,
        *,
        is_prepared: bool = True,
        makes_folder: bool = True,
        hurries: bool = False,
    ) -> None:
        """Without being prepared it begins sooner; call `prepare` as soon as there is time for it.

        Who makes no folder waits for a disk that is not there, and never begins another database in its place.
        """
        self._settings = settings
        self._makes_folder = makes_folder
        self._hurries = hurries
        if is_prepared:
            prepare()
        self._session_id = session_id
        self._ctx: Context | None = None
        self._begin_in_this_process(waiting=False)

    def _begin_in_this_process(self, *, waiting: bool) -> None:
        self._backlog = Backlog(self._session_id, waiting=waiting)
        self._opening = threading.Lock()
        self._hopeless = False
        self._said: set[str] = set()
        self._missing = 0  # records that the database will not have, said on the run
        self._run_is_gone = False
        self._must_beat = False
        self._wrote_at = time.monotonic()
        self._helper: threading.Thread | None = None
        self._leaving = threading.Event()

    def after_fork(self) -> None:
        """In the child of a fork: begin anew, but behind what the parent has set aside."""
        self._backlog.leave_to_parent()
        self._begin_in_this_process(waiting=self._backlog.waiting)

    @property
    def ctx(self) -> Context:
        """The open database; raises Unavailable."""
        return self._ctx or self._open()

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def is_behind(self) -> bool:
        """Whether something waits that the database does not have yet."""
        return self._backlog.waiting

    def open(self) -> None:
        """Open the database now. One that belongs to another program is a mistake of the user, so that is raised."""
        if not self._try(lambda ctx: None, ()):
            self._backlog.waiting = True
            return
        if self._must_beat:
            self._start_helper()
        with suppress(Exception):  # what others left behind waits for the next open then
            if has_spooled(self._settings):
                from lionstudio.recorders.spool import replay_left_behind

                replay_left_behind(self.ctx, self._settings.spool, self._settings.db)

    def write(self, action: Callable[..., Any], *arguments: Any, record: Callable[[], Record]) -> None:
        """Do `action(ctx, *arguments)`, or set `record()` aside if the database does not take it now.

        Raises Invalid and Conflict, which are mistakes of the caller; nothing else.
        """
        if not self._backlog.waiting and self._try(action, arguments):
            return
        if not self._backlog.add(record(), self._folder()):
            self.say("lost", "Messages are being lost: neither the database nor the disk nor memory takes them.")
        elif self._backlog.in_memory:
            self.say("memory", f"{self._settings.spool} cannot be written either: messages wait in memory only.")
        self._start_helper()

    def finish(self, *, patience: float | None = None) -> None:
        """Write what was set aside, for as long as `patience`; what is left then waits on disk for the next open."""
        give_up = time.monotonic() + (self._at_most(LEAVING_PATIENCE) if patience is None else patience)
        while self._backlog.waiting and not self._catch_up():
            if self._hopeless or signals.told_to_stop or time.monotonic() >= give_up:
                break
            time.sleep(LOOK_AGAIN_AFTER)
        self._leaving.set()
        if self._helper is not None:  # it may be about to say how much is missing
            self._helper.join(timeout=RETRY_EVERY)
        if self._backlog.is_used:
            self._backlog.close(self._folder())
        self._report_lost()
        self._say_missing()
        if self._ctx is not None:
            with suppress(Exception):
                self._ctx.db.close()

    def say(self, what: str, sentence: str) -> None:
        """Tell a person on stderr, once for each kind of thing."""
        if what in self._said or sys.stderr is None:
            return
        self._said.add(what)
        from lionstudio.domain.printable import one_line  # a name or a path may be an agent's

        with suppress(OSError, ValueError, RuntimeError):  # closed, or interrupted in the middle of another line
            print(one_line(f"lionstudio: {sentence}"), file=sys.stderr)  # noqa: T201  the one place a recorder may speak

    def _open(self) -> Context:
        with self._opening:
            if self._ctx is None:
                if not self._makes_folder and (folder := self._settings.missing_folder) is not None:
                    make = shell_line(["mkdir", "-p", folder])
                    raise UnusablePlace(f"The folder {folder} does not exist.", hint=f"Make it with {make}")
                self._ctx = open_context(self._settings)
            self._must_beat = not self._ctx.db.dialect.local or machine.may_be_unseen()
            return self._ctx

    def _try(self, action: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
        """Do it, waiting while the database is busy; False if it was not possible."""
        began = time.monotonic()
        while True:
            try:
                action(self._ctx or self._open(), *arguments)
                self._wrote_at = time.monotonic()
                return True
            except (Invalid, Conflict):
                raise
            except NotFound as error:  # someone deleted the run under our feet, or restored a time before it
                self.say(
                    "gone", f"{error} What it says goes to a file in {self._settings.spool} that ends in .rejected."
                )
                return False
            except DatabaseBusy as error:
                if time.monotonic() - began >= self._at_most(BUSY_PATIENCE) or signals.told_to_stop:
                    self._say_waiting(error)
                    return False
                time.sleep(0.01)
            except Exception as error:
                if _is_agents_own(error) or (self._ctx is None and isinstance(error, ForeignDatabase)):
                    raise
                self._say_waiting(error)
                return False

    def _at_most(self, patience: float) -> float:
        return min(patience, HURRIED_PATIENCE) if self._hurries else patience

    def _catch_up(self) -> bool:
        """Write everything that waits, in order; whether it worked."""
        try:
            self._backlog.replay(self.ctx)
        except Exception as error:  # noqa: BLE001  whatever it is, the agent goes on and the records stay
            self._hopeless = isinstance(error, WILL_NOT_PASS)
            return False
        self._report_lost()
        if (rejected := self._backlog.rejected) is not None:
            self.say("rejected", f"The database refused some messages; they are in {rejected}.")
        return True

    def _folder(self) -> "Path":
        from lionstudio.recorders.spool import spool_folder

        database_id = None if self._ctx is None else self._ctx.db.dialect.database_id
        return spool_folder(self._settings.spool, database_id=database_id, location=self._settings.db)

    def _start_helper(self) -> None:
        """A thread that writes what waits, and shows signs of life where nobody can look at this process."""
        if self._helper is None or not self._helper.is_alive():
            helper = threading.Thread(target=self._help, name="lionstudio-keeper", daemon=True)
            with suppress(RuntimeError):  # no threads any more: leaving the block still writes what waits
                helper.start()
                self._helper = helper

    def _help(self) -> None:
        while not self._leaving.wait(RETRY_EVERY):
            if self._backlog.waiting:
                self._catch_up()
            elif self._must_beat and time.monotonic() - self._wrote_at >= HEARTBEAT_EVERY:
                with suppress(Exception):  # the next one may get through
                    beat(self.ctx, self._session_id, ProcessRole.AGENT)
                self._wrote_at = time.monotonic()

    def _report_lost(self) -> None:
        """Write on the run how much of it is missing, if the run is there."""
        lost = self._backlog.take_lost()
        if not lost:
            return
        try:
            get_session(self.ctx, self._session_id)
            count_lost(self.ctx, self._session_id, lost)
        except NotFound:
            self._run_is_gone = True
        except Exception:  # noqa: BLE001  the database is still away
            self._backlog.add_lost(lost)
            return
        self._missing += lost

    def _say_missing(self) -> None:
        """Tell a person at the end how much the database does not have, and where that is."""
        uncounted, refused = self._backlog.take_lost(), self._backlog.refused
        lost = self._missing + uncounted - refused
        is_counted = not uncounted and not self._run_is_gone
        if lost:
            where = "not in the database, which says so on the run" if is_counted else "lost"
            self.say("missing", f"{count_of(lost, 'record of this run is', 'records of this run are')} {where}.")
        if refused:
            are = count_of(refused, "record of this run is", "records of this run are")
            why = ": the run is not in it any more" if self._run_is_gone else ""
            why = ", which says so on the run" if is_counted else why
            self.say("refused", f"{are} not in the database{why}. What it refused is in {self._backlog.rejected}.")

    def _say_waiting(self, error: Exception) -> None:
        self._hopeless = isinstance(error, WILL_NOT_PASS)
        hint = f" {error.hint}" if isinstance(error, Error) and error.hint else ""
        self.say("waiting", f"{error} The run goes on; its messages wait in {self._settings.spool}.{hint}")


def prepare() -> None:
    """Load what is needed when the database fails; by then perhaps nothing can be loaded, for want of files."""
    import lionstudio.recorders.spool  # noqa: F401


def _is_agents_own(error: Exception) -> bool:
    """Whether the agent itself raised it, in a signal handler that ran in the middle of our work: a deadline, say."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return where.split(".")[0] not in OUR_MODULES
