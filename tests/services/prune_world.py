"""Small worlds of runs, forks, shared messages and plays, and what pruning must make of them, told naively."""

import random
from collections.abc import Collection, Sequence
from typing import Any

from lionstudio.domain.conversation import Branch, MessageDraft
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.services import messages as message_cases
from lionstudio.services import shows, teams
from lionstudio.services.context import Context
from lionstudio.services.prune import DAY
from lionstudio.store import branches, messages, progressions, sessions
from lionstudio.store.maintenance import Removed
from lionstudio.store.transaction import Tx
from tests.factories import NOW

World = dict[str, dict[Any, Any]]

TABLES = {
    "sessions": "SELECT id, status, created_at, updated_at, ended_at, progression_id, parent_session_id FROM sessions",
    "branches": "SELECT id, session_id, progression_id, system_msg_id, parent_branch_id FROM branches",
    "progressions": "SELECT id, length FROM progression_heads",
    "entries": "SELECT progression_id, position, message_id FROM progression_entries",
    "messages": "SELECT id FROM messages",
    "exchange": "SELECT message_id FROM exchange",
    "plays": "SELECT id, session_id FROM plays",
    "team_messages": "SELECT id, session_id FROM team_messages",
}


def put_session(
    ctx: Context,
    session_id: str,
    *,
    ended_days_ago: float | None = 40.0,
    status: str | None = "completed",
    says: Sequence[str] = (),
    system: str | None = None,
    parent: str | None = None,
    touched_days_ago: float | None = None,
    created_days_ago: float | None = None,
) -> Session:
    """A run with one branch `<id>-main`; `says` are the ids of its messages, which may be there already."""
    days = 0.0 if ended_days_ago is None else ended_days_ago
    touched_at = NOW - DAY * (days if touched_days_ago is None else touched_days_ago)
    session = Session(
        id=session_id,
        created_at=NOW - DAY * (days if created_days_ago is None else created_days_ago),
        updated_at=touched_at,
        progression_id=f"{session_id}-order",
        status=None if status is None else SessionStatus(status),
        ended_at=None if ended_days_ago is None or status in (None, "running") else NOW - DAY * days,
        parent_session_id=parent,
    )
    with ctx.db.write() as tx:
        put_messages(tx, says)
        progressions.add_head(tx, session.progression_id, created_at=touched_at)
        sessions.insert(tx, session)
        progressions.enter_many(tx, session.progression_id, says)
        put_branch(tx, session_id, f"{session_id}-main", says, system=system)
    return session


def put_branch(
    tx: Tx,
    session_id: str,
    branch_id: str,
    says: Sequence[str] = (),
    *,
    system: str | None = None,
    parent: str | None = None,
) -> None:
    put_messages(tx, says if system is None else [*says, system])
    progressions.add_head(tx, f"{branch_id}-order", created_at=NOW)
    forked_at = None if parent is None else 0
    branch = Branch(
        branch_id, NOW, session_id, f"{branch_id}-order",
        system_msg_id=system, parent_branch_id=parent, forked_at_ord=forked_at,
    )  # fmt: skip
    branches.insert(tx, branch)
    progressions.enter_many(tx, f"{branch_id}-order", says)


def put_messages(tx: Tx, ids: Collection[str]) -> None:
    messages.insert_many(
        tx, (messages.message_row(tx, MessageDraft("user", {}), id=id, created_at=NOW) for id in dict.fromkeys(ids))
    )


def put_orphan(ctx: Context, progression_id: str, says: Sequence[str]) -> None:
    """A progression that nobody owns."""
    with ctx.db.write() as tx:
        put_messages(tx, says)
        progressions.add_head(tx, progression_id, created_at=NOW)
        progressions.enter_many(tx, progression_id, says)


def read_world(ctx: Context) -> World:
    """Every row that pruning is about, by its key."""
    with ctx.db.read() as tx:
        rows = {name: tx.all(sql) for name, sql in TABLES.items()}
    keys = {"entries": 2}
    return {
        name: {
            (row[: keys[name]] if name in keys else row[0]): tuple(row[keys.get(name, 1) :])
            for row in map(tuple, found)
        }
        for name, found in rows.items()
    }


def grow_world(ctx: Context, number: int, chance: random.Random) -> None:
    """Add a handful of runs to what there is, tied to each other and to older ones in every way there is."""
    world = read_world(ctx)
    said = [*sorted(world["messages"])[-6:], *(f"m{number:02}-{n}" for n in range(6))]
    lines = sorted(world["branches"])
    runs = sorted(world["sessions"])
    for n in range(chance.randint(2, 6)):
        run = f"r{number:02}-{n}"
        status = chance.choice(["running", "completed", "completed", "failed", None])
        put_session(
            ctx,
            run,
            status=status,
            ended_days_ago=chance.choice([None, 1.0, 29.0, 31.0, 50.0]),
            touched_days_ago=chance.choice([2.0, 45.0]),
            created_days_ago=chance.choice([3.0, 60.0]) + chance.random(),
            says=chance.sample(said, chance.randint(0, 4)),
            system=chance.choice([None, None, *said]),
            parent=chance.choice([None, None, *runs]),
        )
        runs.append(run)
        lines.append(f"{run}-main")
        with ctx.db.write() as tx:
            for fork in range(chance.randint(0, 2)):
                own, parent = chance.sample(said, chance.randint(0, 2)), chance.choice([None, *lines[-6:]])
                put_branch(tx, run, f"{run}-b{fork}", own, system=chance.choice([None, *own]), parent=parent)
                lines.append(f"{run}-b{fork}")
    if chance.random() < 0.4:
        shows.put_show(ctx, f"show-{number}", show_dir="/shows", actor="director")
        shows.put_play(ctx, f"show-{number}", "play", session_id=chance.choice(runs), actor="director")
    if chance.random() < 0.4:
        team = teams.put_team(ctx, f"team-{number}", name="team", members=["ana"], actor="ana")
        teams.add_message(ctx, team.id, sender="ana", content="hi", session_id=chance.choice(runs))
    message_cases.store_message(ctx, MessageDraft("user", {}, id=f"free-{number}"))
    sent = chance.choice([*said, f"sent-{number}"])
    if sent not in world["exchange"]:
        message_cases.send_message(ctx, None, MessageDraft("user", {}, id=sent, recipient="ana"))


def old_runs(world: World, *, ended_before: float, keep_n: int) -> set[str]:
    newest = sorted(world["sessions"], key=lambda id: (world["sessions"][id][1], id), reverse=True)[:keep_n]
    return {
        id
        for id, (status, _, updated_at, ended_at, *_rest) in world["sessions"].items()
        if status != "running" and (updated_at if ended_at is None else ended_at) < ended_before and id not in newest
    }


def naive_prune(world: World, *, ended_before: float, keep_n: int) -> tuple[World, Removed, set[str]]:
    """The world afterwards, what went, and the runs that are old enough but were kept."""
    old = old_runs(world, ended_before=ended_before, keep_n=keep_n)
    going = old - {session_id for (session_id,) in world["plays"].values()}
    session_of = {id: row[0] for id, row in world["branches"].items()}
    while needed := {
        session_of[row[3]]
        for id, row in world["branches"].items()
        if row[3] is not None and session_of[id] not in going and session_of[row[3]] in going
    }:
        going -= needed
    after = {name: dict(rows) for name, rows in world.items()}
    after["sessions"] = {id: row for id, row in world["sessions"].items() if id not in going}
    after["branches"] = {id: row for id, row in world["branches"].items() if row[0] not in going}
    owned = {row[4] for row in after["sessions"].values()} | {row[1] for row in after["branches"].values()}
    ended = {row[4] for id, row in world["sessions"].items() if id in going}
    ended |= {row[1] for row in world["branches"].values() if row[0] in going}
    after = without_progressions(after, ended - owned)
    after["sessions"] = {id: (*row[:5], None if row[5] in going else row[5]) for id, row in after["sessions"].items()}
    after["team_messages"] = {
        id: (None if session_id in going else session_id,) for id, (session_id,) in world["team_messages"].items()
    }
    return after, difference(world, after), old - going


def without_progressions(world: World, gone: Collection[str]) -> World:
    """The world without these progressions and without the messages that only they held."""
    after = {name: dict(rows) for name, rows in world.items()}
    after["progressions"] = {id: row for id, row in world["progressions"].items() if id not in gone}
    after["entries"] = {key: row for key, row in world["entries"].items() if key[0] not in gone}
    dropped = {row[0] for key, row in world["entries"].items() if key[0] in gone}
    held = {row[0] for row in after["entries"].values()} | {row[2] for row in after["branches"].values()}
    dropped -= held | set(after["exchange"])
    after["messages"] = {id: row for id, row in world["messages"].items() if id not in dropped}
    return after


def difference(before: World, after: World) -> Removed:
    return Removed(*(len(before[name]) - len(after[name]) for name in Removed._fields))
