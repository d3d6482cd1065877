"""`li record` as real processes, and what it left in the database."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import lionstudio
from lionstudio.domain.conversation import Message
from lionstudio.domain.errors import Unavailable
from lionstudio.domain.session import Session

DEADLINE = 60.0
LI = (sys.executable, "-m", "lionstudio")
# The same with other limits: those of every day are far too patient for a test.
IMPATIENT = """
import sys
from lionstudio.recorders import guard, keeper
from lionstudio.store import sqlite_turn
guard.GRACE, guard.LINGER = 0.5, 0.3
keeper.BUSY_PATIENCE = keeper.RETRY_EVERY = 0.1
keeper.LEAVING_PATIENCE = float(sys.argv.pop(1))
sqlite_turn.BUSY_SECONDS = 0.05
from lionstudio.cli.main import entry
entry()
"""


def impatient(*, leaving: float = 0.1) -> tuple[str, ...]:
    return (sys.executable, "-c", IMPATIENT, str(leaving))


class Done(NamedTuple):
    """What is left of a command."""

    code: int
    out: bytes
    err: str


class Recorder:
    """Records commands to one database."""

    def __init__(self, location: str) -> None:
        self.location = location

    def run(self, *words: str, li: tuple[str, ...] = LI, stdin: bytes = b"", **more: Any) -> Done:
        """Record a command from its beginning to its end."""
        with self.process(*words, li=li, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more) as process:
            out, err = process.communicate(stdin)
        return Done(process.returncode, out, err.decode())

    @contextmanager
    def process(self, *words: str, li: tuple[str, ...] = LI, **more: Any) -> Iterator["subprocess.Popen[bytes]"]:
        """Record a command; whatever happens, its recorder is gone when the block is left."""
        more = {"stderr": subprocess.PIPE, "start_new_session": True, **more}
        env = {**os.environ, "LIONAGI_DB": self.location, **more.pop("env", {})}
        with subprocess.Popen([*li, "record", *words], env=env, **more) as process:
            watchdog = threading.Timer(DEADLINE, process.kill)
            watchdog.start()
            try:
                yield process
            finally:
                watchdog.cancel()
                process.kill()

    @property
    def session(self) -> Session:
        """The run that was recorded."""
        with lionstudio.open(self.location) as db:
            sessions = list(db.sessions())
        assert len(sessions) == 1, sessions
        return sessions[0]

    @property
    def messages(self) -> list[Message]:
        session_id = self.session.id
        with lionstudio.open(self.location) as db:
            return list(db.messages(session_id, limit=1_000))

    def said(self, stream: str) -> bytes:
        """All that was recorded of a stream."""
        return b"".join(said_in(message, stream) for message in self.messages)

    @property
    def ending(self) -> tuple[str | None, int | None, str | None]:
        session = self.session
        return session.status, session.exit_code, session.end_reason

    def wait_for(self, is_so: Callable[[list[Message]], bool]) -> list[Message]:
        """Until what is recorded is as wanted."""
        for _ in range(int(DEADLINE / 0.05)):
            with suppress(Unavailable), lionstudio.open(self.location) as db:  # it may not be there yet
                for session in db.sessions():
                    messages = list(db.messages(session.id))
                    if is_so(messages):
                        return messages
            threading.Event().wait(0.05)
        raise AssertionError("it never came to be")


def said_in(message: Message, stream: str) -> bytes:
    if (message.node_metadata or {}).get("stream") != stream:
        return b""
    text: str = message.content["assistant_response"]
    return text.encode("utf-8", "surrogateescape")
