"""`li runs tail` and `li runs wait`: what runs say and how they end, as it is committed."""

import heapq
import sys
import time
from collections.abc import Iterable, Iterator, Sequence

from lionstudio.cli.command import Call
from lionstudio.cli.run_printing import Printer, Said
from lionstudio.cli.run_rows import chain_words
from lionstudio.domain.errors import Error, SessionNotFound
from lionstudio.domain.printable import one_line
from lionstudio.domain.session import SessionStatus, exit_code_of
from lionstudio.recorders.reading import bring_back
from lionstudio.services.change_feed import newest_number
from lionstudio.services.following import Death, DeathWatch, follow_sessions, way_on
from lionstudio.services.health import judge
from lionstudio.services.naming import name_of
from lionstudio.services.runs import read_stretch
from lionstudio.services.sessions import get_session

PAGE = 200
LOOK_EVERY = 1.0  # seconds after which the processes of runs are looked at again: a dead one never says that it ended
TIMED_OUT = 124
PROCESS_GONE = 125  # as of timeout(1): how it ended cannot be told
UNKNOWN_RUN = 127  # as of a shell's wait: not 1, which is how a failed run ends


class NothingToWaitFor(Error):
    """A run to wait for that is not there, or is not the only one that may be meant."""

    exit_code = UNKNOWN_RUN

    def __init__(self, why: Error) -> None:
        super().__init__(why.message, hint=why.hint)
        self.code = why.code


def print_tail(call: Call, session_ids: Sequence[str], *, lines: int, follow: bool) -> None:
    """Print the last messages of runs; then, if asked, each further one once and in order, until all have ended."""
    ctx, printer = call.ctx, Printer(call, session_ids)
    cursor = newest_number(ctx)  # before anything is read, so that nothing is committed in between
    printer.say_beginnings()
    lengths = {id: get_session(ctx, id).message_count for id in session_ids}
    begins = [_read(call, id, after=max(0, lengths[id] - lines), upto=lengths[id]) for id in session_ids]
    for said in heapq.merge(*begins, key=lambda said: said.message.created_at):
        printer.print(said)
    if not follow:
        return
    open_runs, printer.cursors = dict(lengths), dict.fromkeys(lengths, cursor)
    _print_news(call, printer, open_runs, list(open_runs))
    for changed, deaths in _follow(call, open_runs, cursor):
        _print_news(call, printer, open_runs, changed)
        for session, sentence, _ in deaths:
            if session.id in open_runs:
                _print_news(call, printer, open_runs, [session.id])
                open_runs.pop(session.id, None)
                _say_gone(call, session.id, sentence)


def wait_for(call: Call, session_ids: Sequence[str], *, timeout: float | None) -> int:
    """Wait until runs have ended, and say how each did; the exit code of the first that did not complete."""
    until = None if timeout is None else time.monotonic() + timeout
    cursor = newest_number(call.ctx)
    open_runs, codes = dict.fromkeys(session_ids, 0), dict[str, int]()
    _note_ended(call, open_runs, codes, session_ids)
    for changed, deaths in _follow(call, open_runs, cursor, until=until):
        _note_ended(call, open_runs, codes, changed)
        for session, sentence, _ in deaths:
            if session.id in open_runs:
                _note(call, open_runs, codes, session.id)
                _say_gone(call, session.id, sentence)
    if open_runs:
        _say_timed_out(call, open_runs, timeout or 0)
        return TIMED_OUT
    return next((codes[id] for id in session_ids if codes[id]), 0)


def _say_timed_out(call: Call, open_runs: Iterable[str], timeout: float) -> None:
    names = {id: name_of(call.ctx, get_session(call.ctx, id)) for id in open_runs}
    if call.out.as_json:
        for session_id, name in names.items():
            _print_waited(call, session_id, name, SessionStatus.RUNNING, code=TIMED_OUT)
        return
    shown = ", ".join(f"{name} ({session_id})" for session_id, name in names.items())
    call.out.say(f"After {timeout:g} s still running: {shown}")


def _print_waited(
    call: Call,
    session_id: str,
    name: str,
    status: SessionStatus | None,
    *,
    code: int,
    ended_at: float | None = None,
    exit_code: int | None = None,
) -> None:
    """One run that was waited for, for programs: every one of them gets an object of the same shape."""
    call.out.json(
        {
            "id": session_id,
            "display_name": name,
            "status": status,
            "ended_at": ended_at,
            "exit_code": exit_code,
            "wait_exit_code": code,
            "process_gone": code == PROCESS_GONE and status is SessionStatus.RUNNING,
            "timed_out": code == TIMED_OUT and status is SessionStatus.RUNNING,
        }
    )


def _follow(
    call: Call, open_runs: dict[str, int], after: int, *, until: float | None = None
) -> Iterator[tuple[list[str], list[Death]]]:
    """Those of the open runs that may have changed, and those that nobody will end, until no run is open."""
    if not open_runs:
        return
    watch, looked_at = DeathWatch(call.ctx), time.monotonic()
    watch.look(open_runs)
    for changed in follow_sessions(call.ctx, set(open_runs), after=after, quiet=LOOK_EVERY, until=until):
        deaths = []
        if time.monotonic() - looked_at >= LOOK_EVERY:
            deaths, looked_at = _look(call, watch, open_runs), time.monotonic()
        yield [id for id in open_runs if changed in (None, id)], deaths
        if not open_runs:
            return
    yield list(open_runs), _look(call, watch, open_runs, last=True)


def _look(call: Call, watch: DeathWatch, open_runs: dict[str, int], *, last: bool = False) -> list[Death]:
    if not watch.look(open_runs, last=last):
        return []
    bring_back(call.ctx, call.settings)  # what the dead could not store waits on disk, maybe even how they ended
    return watch.look(open_runs, last=last)


def _say_gone(call: Call, session_id: str, sentence: str) -> None:
    session, verdict = judge(call.ctx, session_id)
    if session.status is SessionStatus.RUNNING:  # unless somebody has ended it just now
        call.out.say(
            f"The process of {name_of(call.ctx, session)} ({session_id}) is gone, and the run never said how it ended. "
            f"{sentence} {way_on(session_id, verdict.health)}"
        )


def _print_news(call: Call, printer: Printer, open_runs: dict[str, int], changed: Sequence[str]) -> None:
    """Print what was said since; a run that has ended, and has nothing more to say, is not open any more."""
    for session_id in changed:
        try:
            # Its status is read before its messages: what it said before it ended is then among them.
            has_ended = get_session(call.ctx, session_id).status is not SessionStatus.RUNNING
            printer.print_grown(session_id)
            for said in _read(call, session_id, after=open_runs[session_id]):
                printer.print(said)
                open_runs[session_id] = said.message.position or 0
            if has_ended:
                _say_ended(call, session_id)
        except SessionNotFound:
            call.out.say(f"The run {session_id} was deleted.")
            has_ended = True
        if has_ended:
            del open_runs[session_id]
    sys.stdout.flush()


def _say_ended(call: Call, session_id: str) -> None:
    sys.stdout.flush()  # what it said comes before that, also where both go to one terminal
    session, verdict = judge(call.ctx, session_id)
    call.out.say(f"{name_of(call.ctx, session)} ({session_id}) has ended: {' · '.join(chain_words(session, verdict))}")


def _read(call: Call, session_id: str, *, after: int, upto: int | None = None) -> Iterator[Said]:
    while upto is None or after < upto:
        limit = PAGE if upto is None else min(PAGE, upto - after)
        stretch = read_stretch(call.ctx, session_id, after=after, limit=limit)
        for message in stretch.messages:
            yield Said(session_id, message, stretch.places.get(message.id, ()))
        if len(stretch.messages) < limit:
            return
        after += limit


def _note_ended(call: Call, open_runs: dict[str, int], codes: dict[str, int], changed: Sequence[str]) -> None:
    for session_id in changed:
        if get_session(call.ctx, session_id).status is not SessionStatus.RUNNING:
            _note(call, open_runs, codes, session_id)


def _note(call: Call, open_runs: dict[str, int], codes: dict[str, int], session_id: str) -> None:
    """A run that is not waited for any more: it has ended, or nobody will say how it did."""
    session, verdict = judge(call.ctx, session_id)
    is_gone = session.status is SessionStatus.RUNNING
    name = name_of(call.ctx, session)
    del open_runs[session_id]
    codes[session_id] = PROCESS_GONE if is_gone else exit_code_of(session)
    if call.out.as_json:
        _print_waited(
            call, session_id, name, session.status,
            code=codes[session_id], ended_at=session.ended_at, exit_code=session.exit_code,
        )  # fmt: skip
    else:
        chain = " · ".join(chain_words(session, verdict))
        call.out.say_data(f"{one_line(name)}  {one_line(session_id)}  {one_line(chain)}")
    sys.stdout.flush()
