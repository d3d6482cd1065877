"""One run's life in this process: begun, written to, forked, ended once."""

import os
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import suppress
from contextvars import Token
from typing import TYPE_CHECKING, Any

from lionstudio import machine
from lionstudio.domain.conversation import Branch
from lionstudio.domain.drafts import snapshot
from lionstudio.domain.errors import BranchNotFound, Error, InvalidRequest
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.domain.reasons import reason_for_exit
from lionstudio.domain.session import RUN_ACTOR, Session, SessionStatus
from lionstudio.recorders import ambient
from lionstudio.recorders.command_lines import own_command
from lionstudio.recorders.endings import Ending, ending_of_exception
from lionstudio.recorders.keeper import Keeper
from lionstudio.recorders.records import Record, finish_record, start_record
from lionstudio.recorders.signals import signals
from lionstudio.services.context import Context
from lionstudio.services.sessions import SessionDraft, finish_session, first_branch_of, session_of, start_session

if TYPE_CHECKING:
    from concurrent.futures import Future

    from lionstudio.recorders.worker import Worker

LOOK_AGAIN_AFTER = 1.0  # seconds after which who waits for a job looks whether the run still goes on
DYING_PATIENCE = 8.0  # seconds a signal handler waits for the thread that writes: one try at a busy database, and some


class Storing:
    """Something on its way to the database, off the event loop. Awaiting it raises what refused it."""

    __slots__ = ("_done", "_unheard")

    def __init__(self, done: "Future[None]", unheard: list[Error]) -> None:
        self._done = done
        self._unheard = unheard  # refusals that nobody was told yet

    def __await__(self) -> Generator[Any, None, None]:
        from asyncio import shield, wrap_future

        try:
            yield from shield(wrap_future(self._done)).__await__()  # who stops waiting does not take it back
        except Error as error:
            with suppress(ValueError):  # awaited a second time
                self._unheard.remove(error)
            raise

    def require_branch(self) -> None:
        """Raise BranchNotFound if this was a branch and was refused. Only for what is written after it."""
        if (refusal := self._done.exception()) is not None:
            raise BranchNotFound(f"This branch was refused, and so is all that is said in it. {refusal}") from refusal


class Recording:
    """A run that this process records. Its end is written by whoever comes first: the block, `finish`, or a signal."""

    def __init__(self, keeper: Keeper, draft: SessionDraft) -> None:
        self.keeper = keeper
        self.line = draft.line
        self._draft = draft
        self._ending: Ending | None = None
        self._announced = False
        self._begun = False
        self._over = False
        self._killed = False  # a signal ended it, and the process is dying of that
        self._is_parents = False  # we are in the child of a fork, and the run is not ours to end
        self._token: Token[str | None] | None = None
        self._worker: Worker | None = None  # writes for an event loop
        self._last_job: Future[None] | None = None
        self._unheard: list[Error] = []
        self.last_words: Callable[[], None] | None = None  # writes what is known only when the run ends
        self.when_ended: Callable[[Context], None] | None = None  # looks at the whole run while the database is open

    @property
    def told(self) -> Session:
        """The run as it was announced and ended here, whether the database has heard of it or not."""
        begun = session_of(self._draft)
        if self._ending is None:
            return begun
        status, at = SessionStatus(self._ending["status"]), float(self._ending["at"])
        code = self._ending.get("exit_code")
        reason = self._ending.get("reason") or reason_for_exit(status, code)
        return begun._replace(
            status=status, ended_at=at, updated_at=at, exit_code=code, end_actor=RUN_ACTOR, end_reason=reason
        )

    @property
    def first_branch(self) -> Branch:
        """The branch that it began with, as it was announced."""
        return first_branch_of(self._draft, self._draft.started_at or 0.0)

    def begin(self) -> None:
        """Begin the run; raises what makes that impossible, leaving nothing behind."""
        draft = self._announce()
        try:
            with signals:
                self._start(draft)
        except BaseException as error:
            with signals:
                self._over = True
                self._finish(ending_of_exception(error))
            self._leave()
            raise
        self._token = ambient.enter(self.line, draft.parent_session_id)

    async def begin_off_loop(self) -> None:
        """The same, and from now on everything is written by a thread, in order, while the event loop goes on."""
        from asyncio import shield, wrap_future

        from lionstudio.recorders.worker import Worker

        draft = self._announce()
        self._worker = Worker()
        try:
            await shield(wrap_future(self._worker.submit(lambda: self._start(draft))))
        except BaseException as error:  # refused, or cancelled while it was begun
            self._finish_later(ending_of_exception(error))
            self._worker.stay_until_done()
            self._leave()
            raise
        self._token = ambient.enter(self.line, draft.parent_session_id)

    def write_in_a_thread(self) -> None:
        """From now on everything is written by a thread, in order: for those who may be on an event loop or not."""
        from lionstudio.recorders.worker import Worker

        self._worker = Worker()

    def do(self, job: Callable[[], None], *, wait: bool) -> None:
        """Let a job write by itself when it is its turn. Once the run has ended nothing is done, or waited for."""
        if not self.is_open:
            return
        if self._worker is None:
            job()
            return
        from concurrent.futures import wait as wait_for

        done = self._worker.submit(job)
        while wait and not done.done() and self.is_open:
            wait_for([done], timeout=LOOK_AGAIN_AFTER)

    @property
    def is_open(self) -> bool:
        return self._begun and not self._over

    @property
    def jobs_waiting(self) -> int:
        return 0 if self._worker is None else self._worker.waiting

    def write(
        self,
        action: Callable[..., Any],
        *arguments: Any,
        record: Callable[[], Record],
        branch: Storing | None = None,
    ) -> Storing | None:
        """Keep something: it is kept when this returns, or on an event loop when what is returned was awaited.

        `branch` is the branch it belongs to, where that may still be refused. Raises Invalid and Conflict.
        """
        if not self._begun or self._over:
            if self._killed:
                return None  # a thread that goes on while the process dies must not fill its last words with errors
            raise self._not_open()
        with signals:
            if self._worker is not None:
                job = self._worker.submit(lambda: self._write_later(action, *arguments, record=record, branch=branch))
                return Storing(job, self._unheard)
            self.keeper.write(action, *arguments, record=record)
            return None

    def _not_open(self) -> InvalidRequest:
        if self._over:
            return InvalidRequest("This run has ended.", hint="Record a new one: with lionstudio.record(…) as run:")
        return InvalidRequest(
            "This run is not open.", hint="Use it as a context manager: with lionstudio.record(…) as run:"
        )

    def own(self, value: Any) -> Any:
        """The value, or a copy if it is written later than the caller may change it."""
        return value if self._worker is None else snapshot(value)

    def end(self, ending: Ending) -> None:
        """End the run. A second time it does nothing; in the child of a fork it only writes what waits."""
        if not self._begun:
            raise InvalidRequest("This run was not begun.", hint="Call start(), or use it as a context manager.")
        try:
            with signals:
                if self._over:
                    return
                if self._worker is None:
                    self._over = True
                    self._finish(ending)
                else:
                    self._finish_later(ending).result()
        finally:
            self._leave()

    async def end_off_loop(self, ending: Ending) -> None:
        from asyncio import shield, wrap_future

        assert self._worker is not None
        try:
            if not self._over:
                await shield(wrap_future(self._finish_later(ending)))
        except BaseException:
            self._worker.stay_until_done()
            raise
        finally:
            self._leave()

    def _announce(self) -> SessionDraft:
        if self._announced:
            raise InvalidRequest("This run was begun already.", hint="Call lionstudio.record() for a new one.")
        self._announced = True
        _RECORDINGS.add(self)
        signals.add(self.line.session_id, self._end_by_signal)  # before it is begun, so that no signal comes between
        parent = self._draft.parent_session_id or ambient.parent_session_id()
        self._draft = self._draft._replace(parent_session_id=parent, started_at=time.time())
        return self._draft

    def _start(self, draft: SessionDraft) -> None:
        self.keeper.open()
        process = _own_process(draft.line.session_id)
        self.keeper.write(start_session, draft, process, record=lambda: start_record(draft, process))
        self._begun = True

    def _write_later(
        self, action: Callable[..., Any], *arguments: Any, record: Callable[[], Record], branch: Storing | None
    ) -> None:
        try:
            if branch is not None:
                branch.require_branch()
            self.keeper.write(action, *arguments, record=record)
        except Error as error:
            self._unheard.append(error)
            self.keeper.say("refused", f"Something was not recorded: {error}")  # perhaps nobody awaits it
            raise

    def _finish(self, ending: Ending) -> None:
        if self._unheard:
            self.keeper.say("unheard", f"Refused in this run without anybody awaiting it: {len(self._unheard)}.")
        if not self._begun or self._is_parents:
            return self.keeper.finish(patience=None if self._begun else 0.0)
        session_id, ending = self.line.session_id, {"at": time.time(), **ending}
        self._ending = ending
        if self.last_words is not None:
            with suppress(Exception):  # how the run ended is written in any case
                self.last_words()
        try:
            self.keeper.write(
                lambda ctx: finish_session(ctx, session_id, **ending), record=lambda: finish_record(session_id, ending)
            )
            if self.when_ended is not None and not self.keeper.is_behind:
                self.when_ended(self.keeper.ctx)
        finally:
            self.keeper.finish()

    def _finish_later(self, ending: Ending) -> "Future[None]":
        assert self._worker is not None
        with signals:
            self._over = True
            self._last_job = self._worker.submit(lambda: self._finish(ending))
            self._worker.stop()
            return self._last_job

    def _end_by_signal(self, ending: Ending) -> None:
        self._killed = True
        if self._worker is not None:
            last = self._last_job or self._finish_later(ending)
            with suppress(TimeoutError):
                last.result(DYING_PATIENCE)
        elif not self._over:
            self._over = True
            self._finish(ending)

    def _leave(self) -> None:
        signals.remove(self.line.session_id)
        ambient.leave(self.line, self._token)
        self._token = None

    def _after_fork(self) -> None:
        self._is_parents = True
        self._worker = None  # its thread stayed in the parent
        self.keeper.after_fork()


def _own_process(session_id: str) -> ProcessRecord:
    seen = machine.own_identity()
    return ProcessRecord(
        session_id=session_id,
        role=ProcessRole.AGENT,
        place=machine.here(),
        pid=seen.pid,
        start_time=seen.start_time,
        pgid=os.getpgid(0),
        owns_group=False,
        command=own_command(),
    )


_RECORDINGS: "weakref.WeakSet[Recording]" = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for recording in list(_RECORDINGS):
        recording._after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
