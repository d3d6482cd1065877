"""The bare side of the ratios: the same rows by the standard library's `sqlite3`, in a plain loop.

Standard library only: a process that has a database open through us must never open it with this module too. The
schema is read from the migration, so both sides fill the same tables and indexes.
"""

import json
import os
import sqlite3
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.sample import ASSISTANT_TYPE, BATCH_ROWS, NAMESPACE, TENTHS, message_text

SCHEMA = Path(__file__).parents[1] / "src/lionstudio/store/migrations/sqlite/0001_initial.sql"
PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA busy_timeout = 5000",
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA wal_autocheckpoint = 1000",
    "PRAGMA temp_store = MEMORY",
)
INSERT_MESSAGE = "INSERT INTO messages (id, created_at, content, role, lion_class) VALUES (?, ?, ?, ?, ?)"
INSERT_ENTRY = "INSERT INTO progression_entries (progression_id, position, message_id) VALUES (?, ?, ?)"
INSERT_HEAD = "INSERT INTO progression_heads (id, created_at, length) VALUES (?, ?, ?)"
INSERT_CHANGE = "INSERT INTO changes (at, topic, entity_id, session_id) VALUES (?, ?, ?, ?)"
INSERT_SESSION = """
    INSERT INTO sessions (id, created_at, updated_at, name, progression_id, status, started_at, ended_at,
                          invocation_kind, source_kind, agent_name, first_msg_id, last_msg_id, last_message_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
INSERT_BRANCH = """
    INSERT INTO branches (id, created_at, name, session_id, progression_id, last_kind, last_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
INSERT_WORD = "INSERT INTO session_words (word, created_at, session_id) VALUES (?, ?, ?)"
GROW_HEAD = "UPDATE progression_heads SET length = ? WHERE id = ?"
TOUCH_SESSION = "UPDATE sessions SET updated_at = ?, last_msg_id = ?, last_message_at = ? WHERE id = ?"
TOUCH_BRANCH = "UPDATE branches SET last_kind = 'assistant', last_at = ? WHERE id = ?"


def connect(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "state.db", isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(pragma).fetchall()
    connection.executescript(SCHEMA.read_text())
    return connection


def append(folder: Path, count: int) -> dict[str, Any]:
    """One transaction a message: its row, two entries, two heads, the session, the branch and the news."""
    connection = connect(folder)
    run = connection.execute
    session, branch, session_line, branch_line = (str(uuid.uuid4()) for _ in range(4))
    now = time.time()
    run(INSERT_HEAD, (session_line, now, 0))
    run(INSERT_HEAD, (branch_line, now, 0))
    row = (session, now, now, "bench", session_line, "running", now, None, "agent", "live", "bench", None, None, None)
    run(INSERT_SESSION, row)
    run(INSERT_BRANCH, (branch, now, "main", session, branch_line, None, None))

    marks = [time.perf_counter()]
    cpu = time.process_time()
    for number in range(1, count + 1):
        now, message = time.time(), str(uuid.uuid4())
        run("BEGIN IMMEDIATE")
        content = json.dumps({"assistant_response": message_text(number)})
        run(INSERT_MESSAGE, (message, now, content, "assistant", ASSISTANT_TYPE))
        run(INSERT_ENTRY, (branch_line, number, message))
        run(INSERT_ENTRY, (session_line, number, message))
        run(GROW_HEAD, (number, branch_line))
        run(GROW_HEAD, (number, session_line))
        run(TOUCH_SESSION, (now, message, now, session))
        run(TOUCH_BRANCH, (now, branch))
        run(INSERT_CHANGE, (now, "message", message, session))
        run("COMMIT")
        if number % (count // TENTHS) == 0:
            marks.append(time.perf_counter())
    return {"marks": marks, "cpu": time.process_time() - cpu}


def import_sessions(folder: Path, count: int, messages_each: int) -> dict[str, Any]:
    """The same sessions by `executemany`, as many to a transaction as ours."""
    connection = connect(folder)
    began, cpu = time.perf_counter(), time.process_time()
    for batch in _batches(count, messages_each):
        connection.execute("BEGIN IMMEDIATE")
        _import_batch(connection, batch, messages_each)
        connection.execute("COMMIT")
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}


def _batches(count: int, messages_each: int) -> Iterator[range]:
    size = max(1, BATCH_ROWS // (messages_each + 1))
    for first in range(0, count, size):
        yield range(first, min(count, first + size))


def _import_batch(connection: sqlite3.Connection, batch: range, messages_each: int) -> None:
    heads: list[Any] = []
    sessions: list[Any] = []
    branches: list[Any] = []
    words: list[Any] = []
    messages: list[Any] = []
    entries: list[Any] = []
    changes: list[Any] = []
    for number in batch:
        session, branch, session_line, branch_line = (
            str(uuid.uuid5(NAMESPACE, f"{part}:{number}")) for part in ("s", "b", "sp", "bp")
        )
        at = 1_700_000_000.0 + number
        ids = [str(uuid.uuid5(NAMESPACE, f"m:{number}:{place}")) for place in range(messages_each)]
        name = f"imported run {number}"
        heads += [(session_line, at, messages_each), (branch_line, at, messages_each)]
        end = at + messages_each
        row = (session, at, end, name, session_line, "completed", at, end, "agent", "imported_claude", "bench")
        sessions.append((*row, ids[0], ids[-1], end - 1))
        branches.append((branch, at, "main", session, branch_line, "assistant", end - 1))
        words += [(word, at, session) for word in (*name.split(), "bench", session)]
        for place, message in enumerate(ids):
            content = json.dumps({"assistant_response": message_text(place)})
            messages.append((message, at + place, content, "assistant", ASSISTANT_TYPE))
            entries.append((branch_line, place + 1, message))
            entries.append((session_line, place + 1, message))
        changes.append((time.time(), "session", session, session))
    connection.executemany(INSERT_HEAD, heads)
    connection.executemany(INSERT_SESSION, sessions)
    connection.executemany(INSERT_BRANCH, branches)
    connection.executemany(INSERT_WORD, words)
    connection.executemany(INSERT_MESSAGE, messages)
    connection.executemany(INSERT_ENTRY, entries)
    connection.executemany(INSERT_CHANGE, changes)


def main() -> None:
    what, *numbers = sys.argv[1:]
    folder = Path(os.environ["LIONAGI_HOME"])
    folder.mkdir(parents=True, exist_ok=True)
    work: Any = {"append": append, "import": import_sessions}[what]
    print(json.dumps(work(folder, *map(int, numbers))))


if __name__ == "__main__":
    main()
