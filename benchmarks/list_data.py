"""A large database for the list: sessions spread over a year, built fast and the same way at every size.

The sessions that run, those that left files behind, and those that wait for a review are the same at every size.
"""

import json
import os
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

YEAR, DAY, HOUR = 365 * 86_400.0, 86_400.0, 3_600.0
SPECIAL = 1_000  # sessions that run, and as many that left something behind
LONG_FAILURES = 150  # sessions that failed within the last day after more than an hour
ROWS_AT_ONCE = 50_000
REVIEWS = 60
RARE, RARE_COUNT = "quetzal", 20
SYLLABLES = ("ba", "cor", "del", "fen", "gra", "hul", "jin", "kes", "lom", "mir", "nov", "pra", "quo", "ras", "sil")
WORDS = tuple(first + last for first in SYLLABLES for last in (*SYLLABLES, "tor", "ven", "wex", "yar", "zum"))  # 300
COMMON = WORDS[0]
AGENTS = tuple(f"agent-{number:02}" for number in range(20))
PLAYBOOKS = tuple(f"playbook-{number:02}" for number in range(12))
SHOWS = tuple(f"show-{number:02}" for number in range(30))
STATUSES = (("completed", 75), ("failed", 12), ("timed_out", 4), ("aborted", 4), ("cancelled", 4), (None, 1))
KINDS = (("agent", 50), ("play", 15), ("flow", 8), ("fanout", 5), ("show-play", 12), ("command", 10))
SOURCES = (("live", 60), ("imported_fs", 15), ("imported_db", 3), ("imported_claude", 12), ("imported_codex", 8),
           ("demo", 2))  # fmt: skip


@dataclass(slots=True)
class Row:
    """One session of the sample, before it becomes rows."""

    at: float
    status: str | None
    leftovers: bool = False
    rare: bool = False
    seconds: float | None = None


LIST_INDEXES = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"


def _choose(chance: random.Random, weighted: tuple[tuple[Any, int], ...]) -> Any:
    return chance.choices([value for value, _ in weighted], [weight for _, weight in weighted])[0]


def plan(count: int, now: float) -> list[Row]:
    """All sessions, oldest first. The special ones come from a seed of their own, so every size has the same."""
    chance = random.Random(1)
    rows = [Row(now - chance.random() * (2 * DAY if n % 2 else YEAR), "running") for n in range(SPECIAL)]
    rows += [Row(now - 2 * HOUR - chance.random() * YEAR, "failed", leftovers=True) for _ in range(SPECIAL)]
    rows += [Row(now - 2 * HOUR - chance.random() * YEAR, "completed", rare=True) for _ in range(RARE_COUNT)]
    rows += [Row(now - (2 + 20 * chance.random()) * HOUR, "failed", seconds=HOUR + 60) for _ in range(LONG_FAILURES)]
    chance = random.Random(2)
    values, weights = [value for value, _ in STATUSES], [weight for _, weight in STATUSES]
    statuses = chance.choices(values, weights, k=count - len(rows))
    rows += [Row(now - 2 * HOUR - chance.random() * YEAR, status) for status in statuses]
    rows.sort(key=lambda row: row.at)
    return rows


def build(path: Path, count: int, now: float) -> None:
    """Fill a new database of ours; secondary indexes are made last, which is several times faster."""
    import apsw

    from lionstudio.store.open import open_database

    open_database(str(path)).close()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -500000;").fetchall()
    connection.execute("PRAGMA foreign_keys = OFF; PRAGMA temp_store = FILE").fetchall()
    indexes = connection.execute(LIST_INDEXES).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    connection.execute("CREATE TEMP TABLE loose_words (word TEXT, created_at REAL, session_id TEXT)")
    chance = random.Random(3)
    sample: list[str] = []
    rows = plan(count, now)
    for first in range(0, count, ROWS_AT_ONCE):
        connection.execute("BEGIN")
        _insert(connection, list(_sessions(rows[first : first + ROWS_AT_ONCE], chance, sample)), now)
        connection.execute("COMMIT")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO session_words SELECT DISTINCT * FROM loose_words ORDER BY 1, 2, 3")
    _insert_shows(connection, sample, now)
    for _, sql in indexes:
        connection.execute(str(sql))
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.close()


def _uuid(chance: random.Random, at: float) -> str:
    """An id as `services.context.new_id` makes them, for another moment."""
    tail = chance.getrandbits(74)
    text = f"{int(at * 1000):012x}7{tail >> 62:03x}{0x8000 << 48 | tail & 0x3FFF_FFFFFFFFFFFF:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _sessions(rows: list[Row], chance: random.Random, sample: list[str]) -> Iterator[dict[str, Any]]:
    for row in rows:
        kind = _choose(chance, KINDS)
        of_show = kind in ("show-play", "play", "flow")
        name = [WORDS[min(int(chance.paretovariate(0.6)), 300) - 1] for _ in range(chance.randint(2, 4))]
        if row.rare:
            name.append(RARE)
        ended_at = None if row.status in ("running", None) else row.at + (row.seconds or chance.expovariate(1 / 1200))
        session_id = _uuid(chance, row.at)
        if row.rare or (row.leftovers and len(sample) < REVIEWS):
            sample.append(session_id)
        yield {
            "id": session_id,
            "created_at": row.at,
            "updated_at": ended_at or row.at,
            "name": " ".join(name),
            "progression_id": _uuid(chance, row.at),
            "last_message_at": None if chance.random() < 0.05 else ended_at or row.at + 60,
            "status": row.status,
            "started_at": row.at,
            "ended_at": ended_at,
            "invocation_kind": kind,
            "source_kind": "live" if row.status == "running" else _choose(chance, SOURCES),
            "playbook_name": chance.choice(PLAYBOOKS) if of_show else None,
            "agent_name": chance.choice(AGENTS),
            "show_topic": chance.choice(SHOWS) if of_show else None,
            "show_play_name": f"play {chance.randint(1, 9)}" if of_show else None,
            "branch_id": _uuid(chance, row.at),
            "branch_progression_id": _uuid(chance, row.at),
            "length": chance.randint(0, 200),
            "leftovers": row.leftovers,
        }


INSERT_SESSION = """
    INSERT INTO sessions (id, created_at, updated_at, name, progression_id, last_message_at, status, started_at,
        ended_at, invocation_kind, source_kind, playbook_name, agent_name, show_topic, show_play_name)
    VALUES (:id, :created_at, :updated_at, :name, :progression_id, :last_message_at, :status, :started_at,
        :ended_at, :invocation_kind, :source_kind, :playbook_name, :agent_name, :show_topic, :show_play_name)
"""
INSERT_BRANCH = """
    INSERT INTO branches (id, created_at, name, session_id, progression_id)
    VALUES (:branch_id, :created_at, 'main', :id, :branch_progression_id)
"""
INSERT_EVIDENCE = """
    INSERT INTO session_evidence (session_id, session_created_at, observed_at, process, process_sentence, temp_files,
        leftovers, health)
    VALUES (:id, :created_at, :now, 'dead', 'Its process has ended.', '["out.tmp"]', 1, 'zombie')
"""
INSERT_PROCESS = """
    INSERT INTO session_processes (session_id, role, host, boot_id, pid_namespace, pid, start_time)
    VALUES (?, 'agent', ?, ?, ?, ?, ?)
"""


def _insert(connection: Any, sessions: list[dict[str, Any]], now: float) -> None:
    from lionstudio.store.sessions import words_of

    heads = ((row[key], row["created_at"], row["length"]) for row in sessions
             for key in ("progression_id", "branch_progression_id"))  # fmt: skip
    connection.executemany("INSERT INTO progression_heads (id, created_at, length) VALUES (?, ?, ?)", heads)
    connection.executemany(INSERT_SESSION, sessions)
    connection.executemany(INSERT_BRANCH, sessions)
    names = ("name", "agent_name", "playbook_name", "show_topic", "show_play_name")
    words = (
        (word, row["created_at"], row["id"])
        for row in sessions
        for word in {row["id"], *words_of(" ".join(row[name] or "" for name in names))}
    )
    connection.executemany("INSERT INTO loose_words VALUES (?, ?, ?)", words)
    left = [{**row, "now": now} for row in sessions if row["leftovers"]]
    connection.executemany(INSERT_EVIDENCE, left)
    running = [row["id"] for row in sessions if row["status"] == "running"]
    connection.executemany(INSERT_PROCESS, _processes(running))


def _processes(session_ids: list[str]) -> Iterator[tuple[Any, ...]]:
    """Half of the running sessions have a living process (ours), a quarter a dead one, a quarter one elsewhere."""
    from lionstudio import machine

    here, own = machine.here(), machine.look_at(os.getppid())
    assert own is not None
    for number, session_id in enumerate(session_ids):
        match number % 4:
            case 0 | 1:
                yield session_id, here.host, here.boot_id, here.pid_namespace, own.pid, own.start_time
            case 2:
                yield session_id, here.host, here.boot_id, here.pid_namespace, 4_194_303, 1
            case _:
                yield session_id, "elsewhere", "another boot", "pid:[1]", 4711, 1


def _insert_shows(connection: Any, session_ids: list[str], now: float) -> None:
    for number, topic in enumerate(SHOWS):
        show = f"show-id-{number}"
        connection.execute(
            "INSERT INTO shows (id, topic, show_dir, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
            (show, topic, "/nowhere", now, now),
        )
        for place in range(10):
            waits = session_ids.pop() if session_ids and place < 2 else None
            connection.execute(
                "INSERT INTO plays (id, show_id, name, status, session_id, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (f"{show}-{place}", show, f"play {place}", "escalated" if waits else "merged", waits, now, now),
            )


if __name__ == "__main__":
    began = time.perf_counter()
    build(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    print(json.dumps({"seconds": time.perf_counter() - began, "bytes": os.stat(sys.argv[1]).st_size}))
