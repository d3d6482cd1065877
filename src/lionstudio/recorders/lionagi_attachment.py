"""A lionagi session or branch that is listened to: what it says becomes a run.

Listening happens in whichever thread lionagi works in; there it is only looked at. All writing is done by one thread,
in the order things were heard. Who is on an event loop does not wait for it; who is not knows that it is stored.
"""

import asyncio
import atexit
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple

from lionstudio.domain.errors import InvalidRequest
from lionstudio.recorders.endings import Ending, ending_of_exception
from lionstudio.recorders.lionagi_facts import Place, session_facts
from lionstudio.recorders.lionagi_hooks import Ear, Undo, listen_to_branch, listen_to_session
from lionstudio.recorders.lionagi_objects import (
    Seen,
    branches_of,
    look_at,
    message_source,
    order_of,
    request_of,
)
from lionstudio.recorders.lionagi_writer import Followed, Writer
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.recording import Recording

JOBS_LIMIT = 10_000  # messages that may wait to be written; lionagi has those beyond it, and is asked for them again


class Listened(NamedTuple):
    """A branch that we listen to. It goes when lionagi lets it go."""

    followed: Followed
    branch: "weakref.ref[Any]"
    undo: Undo


class Attachment:
    """A lionagi session or branch that is recorded as a run: a context manager, or `detach` ends it.

    Where nobody ends it, the end of the process does.
    """

    def __init__(
        self, target: Any, session: Any, recording: Recording, writer: Writer, *, first: tuple[str, Place]
    ) -> None:
        self._run = Run(recording, name=recording.told.name, model=None)
        self._target = target
        self._session = session  # None for a branch alone
        self._recording = recording
        self._writer = writer
        self._first_name, self._first = first  # the branch that the run began with
        self._branches: dict[str, Listened] = {}  # by the id that lionagi gives them
        self._adding = threading.RLock()
        self._undo: list[Undo] = []
        self._count = 0  # branches of the session when it was last looked at
        self._failure: Ending | None = None  # of the operation that ended last, if it failed
        self._behind = False  # more waited than may wait: lionagi must be asked for the rest

    def __repr__(self) -> str:
        return f"<Attachment to {type(self._target).__name__} {self._target.id}>"

    @property
    def session_id(self) -> str:
        """The id of the run."""
        return self._run.session_id

    def detach(self, status: str | None = None, exit_code: int | None = None) -> None:
        """Stop listening, write what is missing, and end the run. A second time it does nothing."""
        self._leave()
        self._run.finish(status, exit_code)

    def __enter__(self) -> "Attachment":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._leave()
        self._recording.end(ending_of_exception(error))

    async def __aenter__(self) -> "Attachment":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._leave()
        await self._recording.end_off_loop(ending_of_exception(error))

    def listen(self) -> None:
        """Record everything that is there, and everything that comes. Raises nothing."""
        _recorded.add(str(self._target.id))
        self._recording.last_words = self._last_words
        atexit.register(self._end_with_the_process)
        self._guarded(self._listen)

    def add(self, branch: Any) -> None:
        """Record another branch in this run, from its beginning; raises InvalidRequest if it is recorded already."""
        require_unrecorded(branch)
        self._guarded(partial(self._listen_to, branch))

    # -- listening --

    def _listen(self) -> None:
        if self._session is None:
            self._listen_to(self._target)
            return
        included, ended = Ear(self._look_for_branches, self._trouble), Ear(self._note_end, self._trouble)
        self._undo.append(listen_to_session(self._session, included, ended))
        self._look_for_branches()

    def _look_for_branches(self) -> None:
        found = branches_of(self._session)
        self._count = len(found)
        for branch in found:
            self._listen_to(branch)

    def _listen_to(self, branch: Any) -> None:
        name, followed, live = str(branch.id), Followed(), weakref.ref(branch)
        with self._adding:
            if name in self._branches:
                return
            # First the ear, then the look: what is said in between is heard twice, and written once.
            undo = listen_to_branch(
                branch,
                said=Ear(lambda message: self._hear(followed, live(), message), self._trouble),
                tool=Ear(lambda tool, arguments: self._see_tool(followed, tool, arguments), self._trouble),
            )
            self._branches[name] = Listened(followed, live, undo)
            try:
                seen = self._look(branch)
            except Exception:  # the end looks at it again
                self._branches.pop(name).undo()
                raise
            _recorded.add(name)
            followed.copies, followed.length = seen.copies, len(seen.messages)
        self._do(partial(self._add, name, followed, seen))

    def _add(self, name: str, followed: Followed, seen: Seen) -> None:
        self._writer.add(followed, seen, first=self._first if name == self._first_name else None)

    def _hear(self, followed: Followed, branch: Any, message: Any) -> None:
        if self._session is not None and len(self._session.branches.collections) != self._count:
            self._look_for_branches()
        waiting = self._recording.jobs_waiting
        if self._behind or waiting >= JOBS_LIMIT:  # what comes after something left out must not overtake it
            self._behind = True
            if waiting < JOBS_LIMIT:
                self._do(self._ask_for_the_rest)
            return
        said = [message_source(item) for item in (request_of(branch, message), message) if item is not None]
        order = None if branch is None else _order_unless_longer(branch, followed, message)

        def write() -> None:
            for source in said:
                self._writer.say(followed, source)
            if order is not None:
                self._writer.keep_order(followed, order)
            if self._behind and not self._recording.jobs_waiting:
                self._ask_for_the_rest()

        self._do(write)

    def _ask_for_the_rest(self) -> None:
        if self._behind:
            self._behind = False  # first: what is said while we look comes by itself
            self._catch_up()

    def _see_tool(self, followed: Followed, tool: str, arguments: Any) -> None:
        told, at = repr(arguments), time.time()
        self._do(lambda: self._writer.open_call(followed, tool, told, at))

    def _note_end(self, failure: BaseException | None) -> None:
        self._failure = None if failure is None else ending_of_exception(failure)

    def _do(self, job: Callable[[], None]) -> None:
        self._recording.do(lambda: self._guarded(job), wait=not _on_an_event_loop())

    def _guarded(self, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001  an error of ours never reaches their run
            self._trouble(error)

    def _trouble(self, error: Exception) -> None:
        what = f"{type(error).__name__}: {error}"
        self._recording.keeper.say("lionagi", f"Something of {self!r} was not recorded. {what}")

    def _look(self, branch: Any) -> Seen:
        parent = branch.metadata.get("clone_from")
        name = str(parent.get("id") if isinstance(parent, Mapping) else getattr(parent, "id", None))
        listened = self._branches.get(name)
        if isinstance(parent, Mapping):  # as it is in a session that was restored
            parent = None if listened is None else listened.branch()
        return look_at(branch, parent, None if listened is None else listened.followed.copies)

    # -- the end --

    def _leave(self) -> None:
        atexit.unregister(self._end_with_the_process)
        for undo in (*self._undo, *(listened.undo for listened in list(self._branches.values()))):
            self._guarded(undo)
        _recorded.difference_update([str(self._target.id), *self._branches])

    def _end_with_the_process(self) -> None:
        """End the run by what ended the process, as far as that is known; else by its last operation."""
        self._leave()
        # Who types at a prompt makes mistakes that end nothing.
        uncaught = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
        with suppress(Exception):
            self._recording.end((None if uncaught else self._failure) or ending_of_exception(uncaught))

    def _last_words(self) -> None:
        """Write everything that is known only at the end. By now nobody listens any more, unless we die of a signal."""
        for branch in [self._target] if self._session is None else branches_of(self._session):
            self._guarded(partial(self._add_unheard, branch))
        self._catch_up()
        for listened in list(self._branches.values()):
            self._guarded(partial(self._describe, listened))
        self._guarded(self._describe_session)

    def _catch_up(self) -> None:
        """Write what nobody told us of: lionagi changes messages that it has added before."""
        for listened in list(self._branches.values()):
            self._guarded(partial(self._reread, listened))

    def _add_unheard(self, branch: Any) -> None:
        name = str(branch.id)
        if name not in self._branches:
            followed, seen = Followed(), self._look(branch)
            followed.copies = seen.copies
            self._branches[name] = Listened(followed, weakref.ref(branch), lambda: None)
            self._add(name, followed, seen)

    def _reread(self, listened: Listened) -> None:
        branch = listened.branch()
        if branch is not None:
            seen = self._look(branch)
            for source in seen.messages:
                self._writer.say(listened.followed, source)
            self._writer.keep_order(listened.followed, seen.order)

    def _describe_session(self) -> None:
        facts = session_facts(self._target, self._writer.branch_ids, self._recording.told.node_metadata)
        self._writer.describe_session(facts)

    def _describe(self, listened: Listened) -> None:
        branch = listened.branch()
        if branch is not None:
            self._writer.describe(listened.followed, self._look(branch))
        self._writer.close_calls(listened.followed)


_recorded: set[str] = set()  # the ids of sessions and branches of lionagi that something in this process listens to


def require_unrecorded(*targets: Any) -> None:
    """Raise InvalidRequest if any of these is recorded already: each of its messages would be counted twice."""
    for target in targets:
        if str(target.id) in _recorded:
            raise InvalidRequest(
                f"The lionagi {type(target).__name__} {target.id} is recorded already.",
                hint="Call detach() on what attach() returned before.",
            )


def _order_unless_longer(branch: Any, followed: Followed, message: Any) -> list[str] | None:
    """The order of a branch, unless it is only longer by a message at its end, as it nearly always is."""
    order = branch.msgs.messages.progression.order
    before, followed.length = followed.length, len(order)
    if followed.length == before + 1 and order[-1] == message.id:
        return None
    return order_of(branch)


def _on_an_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
