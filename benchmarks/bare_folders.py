"""The bare side of importing run folders: the same files by `json`, the same rows by `executemany`, and no questions.

Standard library only, as in `bare`: it reads a folder, believes every word of it, and knows that nothing is there yet.
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

from benchmarks.bare import (
    INSERT_BRANCH,
    INSERT_CHANGE,
    INSERT_ENTRY,
    INSERT_HEAD,
    INSERT_SESSION,
    INSERT_WORD,
    connect,
)
from benchmarks.sample import ASSISTANT_TYPE, BATCH_ROWS, NAMESPACE, message_text

INSERT_MESSAGE = """
    INSERT INTO messages (id, created_at, node_metadata, content, sender, recipient, role, lion_class)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
ASSISTANT_CLASS = "lionagi.protocols.messages.assistant_response.AssistantResponse"


def write_folders(root: Path, count: int, messages_each: int) -> None:
    """Run folders as lionagi leaves them."""
    for number in range(count):
        run_id = f"run-{number:06}"
        session, branch = (str(uuid.uuid5(NAMESPACE, f"{part}:{number}")) for part in ("s", "b"))
        at = 1_700_000_000.0 + number
        folder = root / run_id
        (folder / "branches").mkdir(parents=True)
        told: dict[str, Any] = {
            "run_id": run_id,
            "branch_id": branch,
            "agent_name": "bench",
            "invocation_kind": "agent",
        }
        told |= {"status": "completed", "started_at": at, "ended_at": at + messages_each}
        (folder / "run.json").write_text(json.dumps(told, indent=2))
        said = [_message(number, place, at + place, session, branch) for place in range(messages_each)]
        order = {"id": str(uuid.uuid5(NAMESPACE, f"bp:{number}")), "order": [message["id"] for message in said]}
        pile = {"collections": said, "progression": order}
        source = {"id": branch, "created_at": at, "user": session, "name": "main", "messages": pile}
        (folder / "branches" / f"{branch}.json").write_text(json.dumps(source))


def _message(number: int, place: int, at: float, session: str, branch: str) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid5(NAMESPACE, f"m:{number}:{place}")),
        "created_at": at,
        "metadata": {"lion_class": ASSISTANT_CLASS},
        "content": {"assistant_response": message_text(place)},
        "embedding": None,
        "sender": branch,
        "recipient": session,
        "channel": None,
        "role": "assistant",
    }


def import_folders(folder: Path, root: Path) -> dict[str, Any]:
    """Everything under `root`, as many rows to a transaction as ours."""
    connection = connect(folder)
    began, cpu = time.perf_counter(), time.process_time()
    for batch in _batches(root):
        connection.execute("BEGIN IMMEDIATE")
        _import_batch(connection, batch)
        connection.execute("COMMIT")
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu}


def _batches(root: Path) -> Iterator[list[tuple[dict[str, Any], dict[str, Any]]]]:
    batch, rows = [], 0
    for name in sorted(os.listdir(root)):
        told = json.loads((root / name / "run.json").read_bytes())
        for file in sorted(os.listdir(root / name / "branches")):
            branch = json.loads((root / name / "branches" / file).read_bytes())
            batch.append((told, branch))
            rows += 1 + len(branch["messages"]["collections"])
        if rows >= BATCH_ROWS:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _import_batch(connection: sqlite3.Connection, batch: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    rows: dict[str, list[Any]] = {
        sql: []
        for sql in (
            INSERT_HEAD, INSERT_SESSION, INSERT_BRANCH, INSERT_WORD, INSERT_MESSAGE, INSERT_ENTRY, INSERT_CHANGE
        )
    }  # fmt: skip
    for told, branch in batch:
        session, said = branch["user"], branch["messages"]["collections"]
        line = branch["messages"]["progression"]["id"]
        session_line = str(uuid.uuid5(NAMESPACE, f"{session} order"))
        at, end = told["started_at"], told["ended_at"]
        rows[INSERT_HEAD] += [(session_line, at, len(said)), (line, at, len(said))]
        row = (session, at, end, None, session_line, told["status"], at, end, told["invocation_kind"], "imported_fs")
        last = said[-1]
        rows[INSERT_SESSION].append((*row, told["agent_name"], said[0]["id"], last["id"], last["created_at"]))
        rows[INSERT_BRANCH].append((branch["id"], at, branch["name"], session, line, "assistant", last["created_at"]))
        rows[INSERT_WORD] += [(word, at, session) for word in (told["agent_name"], session)]
        for place, message in enumerate(said, 1):
            rows[INSERT_MESSAGE].append((
                message["id"], message["created_at"], json.dumps(message["metadata"]), json.dumps(message["content"]),
                message["sender"], message["recipient"], message["role"], ASSISTANT_TYPE,
            ))  # fmt: skip
            rows[INSERT_ENTRY] += [(line, place, message["id"]), (session_line, place, message["id"])]
        rows[INSERT_CHANGE].append((time.time(), "session", session, session))
    for sql, values in rows.items():
        connection.executemany(sql, values)


if __name__ == "__main__":
    home = Path(os.environ["LIONAGI_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    print(json.dumps(import_folders(home, Path(sys.argv[1]))))
