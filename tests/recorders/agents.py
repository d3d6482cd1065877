"""Real processes for tests: agents that record, programs that are in their way, and readers that know nothing of us."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

DEADLINE = 60.0

# Put before a script, it makes an agent give up early: the defaults are far too patient for a test.
IMPATIENT = """
from lionstudio.recorders import keeper
from lionstudio.store import sqlite_turn
keeper.BUSY_PATIENCE = keeper.LEAVING_PATIENCE = keeper.RETRY_EVERY = 0.1
sqlite_turn.BUSY_SECONDS = 0.05
"""

LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
print("free", flush=True)
"""

STOCK_READER = """
import json, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
with connection:
    print(json.dumps(connection.execute(sys.argv[2]).fetchall()))
connection.close()
"""


class Ended(NamedTuple):
    """What is left of a process."""

    returncode: int
    stdout: str
    stderr: str


class Agent:
    """A Python process that runs a script. Whatever happens, it is gone when the block is left."""

    def __init__(self, script: str, *arguments: object, **variables: str) -> None:
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115  a file, so that nobody has to empty it meanwhile
        self.process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            env={**os.environ, **variables},
        )
        self._watchdog = threading.Timer(DEADLINE, self.process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()

    def line(self) -> str:
        """The next line that it prints; empty when it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def tell(self, text: str = "") -> None:
        """Give it a line to read."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def end(self) -> Ended:
        """Wait until it has ended by itself."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        rest = self.process.stdout.read()  # not communicate(), which forgets what line() has read ahead
        self.process.wait()
        self._stderr.seek(0)
        return Ended(self.process.returncode, rest, self._stderr.read())

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self._stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


def run_agent(script: str, *arguments: object, **variables: str) -> Ended:
    """A process from its beginning to its end."""
    with Agent(script, *arguments, **variables) as agent:
        return agent.end()


def locked(path: object) -> Agent:
    """A process that has the write lock of an SQLite file by now; told anything, it lets go and says so."""
    locker = Agent(LOCKER, path)
    assert locker.line() == "locked"
    return locker


def let_go(locker: Agent) -> None:
    locker.tell()
    assert locker.line() == "free"


def stock_sqlite(path: object, sql: str) -> list[list[Any]]:
    """What the `sqlite3` module of a process without us answers."""
    ended = run_agent(STOCK_READER, path, sql)
    assert ended.returncode == 0, ended.stderr
    rows: list[list[Any]] = json.loads(ended.stdout)
    return rows


def spool_files(home: Path, pattern: str = "*/*.jsonl") -> list[Path]:
    """The spool files in which something waits."""
    return sorted(path for path in (home / "spool").glob(pattern) if path.stat().st_size)
