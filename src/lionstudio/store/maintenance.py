"""Deleting what nobody needs any more: old sessions, and progressions that belong to no one."""

from collections.abc import Collection
from typing import NamedTuple

from lionstudio.store.dialect import Row
from lionstudio.store.encoding import IDS, ids_in
from lionstudio.store.transaction import Tx


class Removed(NamedTuple):
    """How many rows went, or would go."""

    sessions: int = 0
    branches: int = 0
    progressions: int = 0
    entries: int = 0
    messages: int = 0

    def plus(self, other: "Removed") -> "Removed":
        return Removed(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class OldSession(NamedTuple):
    """An ended session whose time has come."""

    id: str
    created_at: float
    status: str | None
    length: int  # messages


# The order of "newest" has an index for running sessions and one for the others, none across.
FIND_OLDEST_KEPT = """
    SELECT created_at, id FROM (
        SELECT created_at, id FROM (
            SELECT created_at, id FROM sessions WHERE is_running = 1 ORDER BY created_at DESC, id DESC LIMIT :keep_n
        ) AS running
        UNION ALL
        SELECT created_at, id FROM (
            SELECT created_at, id FROM sessions WHERE is_running = 0 ORDER BY created_at DESC, id DESC LIMIT :keep_n
        ) AS ended
    ) AS newest
     ORDER BY created_at DESC, id DESC
     LIMIT 1 OFFSET :keep_n - 1
"""
IS_OLD = "session.is_running = 0 AND COALESCE(session.ended_at, session.updated_at) < :ended_before"
LIST_OLD = f"""
    SELECT session.id, session.created_at, session.status, head.length
      FROM sessions AS session JOIN progression_heads AS head ON head.id = session.progression_id
     WHERE {IS_OLD}
     ORDER BY session.created_at, session.id
"""
LIST_STILL_OLD = f"""
    SELECT session.id, session.created_at, session.status, head.length
      FROM sessions AS session JOIN progression_heads AS head ON head.id = session.progression_id
     WHERE session.id IN {IDS} AND {IS_OLD}
"""


def find_oldest_kept(tx: Tx, keep_n: int) -> Row | None:
    """Creation time and id of the last of the `keep_n` newest sessions; None if there are not that many."""
    return tx.one(FIND_OLDEST_KEPT, keep_n=keep_n)


def list_old(tx: Tx, *, ended_before: float) -> list[OldSession]:
    """Sessions that are not running and ended, or were last touched, before this time; oldest first."""
    return [OldSession._make(row) for row in tx.all(LIST_OLD, ended_before=ended_before)]


FIND_LAST_LEGACY = "SELECT max(COALESCE(ended_at, updated_at)) FROM sessions WHERE status IS NULL"


def find_last_legacy(tx: Tx) -> float:
    """When the last legacy session ended, or was last touched; 0 if there is none."""
    return float(tx.value(FIND_LAST_LEGACY) or 0)


def list_still_old(tx: Tx, ids: Collection[str], *, ended_before: float) -> dict[str, OldSession]:
    """Those of the sessions that are there and old."""
    rows = tx.all(LIST_STILL_OLD, ids=ids_in(ids), ended_before=ended_before)
    return {row[0]: OldSession._make(row) for row in rows}


LIST_PRESENT = f"SELECT id FROM sessions WHERE id IN {IDS}"
LIST_PLAYS = f"""
    SELECT play.session_id, play.name, show.topic
      FROM plays AS play JOIN shows AS show ON show.id = play.show_id
     WHERE play.session_id IN {IDS}
     ORDER BY show.topic, play.name
"""
LIST_FORKS = f"""
    SELECT DISTINCT parent.session_id, child.session_id
      FROM branches AS parent JOIN branches AS child ON child.parent_branch_id = parent.id
     WHERE parent.session_id IN {IDS} AND child.session_id <> parent.session_id
     ORDER BY parent.session_id, child.session_id
"""
# A branch may point to a system message that stands in another session's order only.
LIST_BORROWERS = f"""
    SELECT DISTINCT branch.session_id, COALESCE(session.id, other.session_id)
      FROM branches AS branch
      JOIN progression_entries AS entry ON entry.message_id = branch.system_msg_id
      LEFT JOIN sessions AS session ON session.progression_id = entry.progression_id
      LEFT JOIN branches AS other ON other.progression_id = entry.progression_id
     WHERE branch.session_id IN {IDS}
       AND NOT EXISTS (SELECT 1
                         FROM sessions AS own JOIN progression_entries AS held
                           ON held.progression_id = own.progression_id
                        WHERE own.id = branch.session_id AND held.message_id = branch.system_msg_id)
"""
LIST_CHILDREN = f"SELECT id FROM sessions WHERE parent_session_id IN {IDS}"
LIST_TEAMS = f"SELECT DISTINCT team_id FROM team_messages WHERE session_id IN {IDS}"


def list_present(tx: Tx, ids: Collection[str]) -> set[str]:
    """Those of the sessions that are there."""
    return {row[0] for row in tx.all(LIST_PRESENT, ids=ids_in(ids))}


def list_plays(tx: Tx, session_ids: Collection[str]) -> list[Row]:
    """Session, name and show's topic of every play that points to one of the sessions."""
    return tx.all(LIST_PLAYS, ids=ids_in(session_ids))


def list_forks(tx: Tx, session_ids: Collection[str]) -> list[Row]:
    """Each of the sessions with another one that has a branch forked from its branches."""
    return tx.all(LIST_FORKS, ids=ids_in(session_ids))


def list_borrowers(tx: Tx, session_ids: Collection[str]) -> list[Row]:
    """Each of the sessions with another one that holds the system message of its branches."""
    return tx.all(LIST_BORROWERS, ids=ids_in(session_ids))


def list_children(tx: Tx, session_ids: Collection[str]) -> list[str]:
    """The sessions that were started inside these."""
    return [row[0] for row in tx.all(LIST_CHILDREN, ids=ids_in(session_ids))]


def list_teams(tx: Tx, session_ids: Collection[str]) -> list[str]:
    """The teams whose messages were sent from these sessions."""
    return [row[0] for row in tx.all(LIST_TEAMS, ids=ids_in(session_ids))]


TAKE_TURN = """
    INSERT INTO schema_meta (key, value) VALUES ('pruned_at', :at)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""


def take_turn(tx: Tx, *, at: float) -> None:
    """Wait until nobody else prunes: two who each see the other's hold on a message would both leave it behind."""
    tx.run(TAKE_TURN, at=repr(at))


# What counts is compared with what there is: whatever has more owners or holders than those that go, stays.
GONE_WITH_SESSIONS = f"""
    doomed AS (SELECT id, progression_id FROM sessions WHERE id IN {IDS}),
    lines AS (SELECT branch.id, branch.progression_id, branch.system_msg_id
                FROM doomed JOIN branches AS branch ON branch.session_id = doomed.id),
    owned AS (SELECT progression_id AS id, count(*) AS times
                FROM (SELECT progression_id FROM doomed UNION ALL SELECT progression_id FROM lines) AS owner
               GROUP BY progression_id),
    gone AS (SELECT id FROM owned
              WHERE times = (SELECT count(*) FROM sessions WHERE progression_id = owned.id)
                          + (SELECT count(*) FROM branches WHERE progression_id = owned.id))
"""
GONE_AS_ORPHANS = f"""
    lines AS (SELECT id, progression_id, system_msg_id FROM branches WHERE 1 = 0),
    gone AS (SELECT head.id FROM progression_heads AS head WHERE head.id IN {IDS})
"""
COUNT_GONE = """
    held AS (SELECT message_id, count(*) AS times
               FROM gone JOIN progression_entries ON progression_id = gone.id GROUP BY message_id),
    prompted AS (SELECT system_msg_id AS message_id, count(*) AS times
                   FROM lines WHERE system_msg_id IS NOT NULL GROUP BY system_msg_id)
    SELECT (SELECT count(*) FROM lines),
           (SELECT count(*) FROM gone),
           COALESCE((SELECT sum(times) FROM held), 0),
           (SELECT count(*)
              FROM held LEFT JOIN prompted ON prompted.message_id = held.message_id
             WHERE held.times = (SELECT count(*) FROM progression_entries WHERE message_id = held.message_id)
               AND COALESCE(prompted.times, 0) =
                   (SELECT count(*) FROM branches WHERE system_msg_id = held.message_id)
               AND NOT EXISTS (SELECT 1 FROM exchange WHERE message_id = held.message_id))
"""
COUNT_WITH_SESSIONS = f"WITH {GONE_WITH_SESSIONS}, {COUNT_GONE}"
COUNT_ORPHANS = f"WITH {GONE_AS_ORPHANS}, {COUNT_GONE}"


def count_sessions(tx: Tx, session_ids: Collection[str]) -> Removed:
    """What `delete_sessions` would remove, were all of them given to it."""
    row = tx.one(COUNT_WITH_SESSIONS, ids=ids_in(session_ids)) if session_ids else None
    return Removed() if row is None else Removed(len(session_ids), *map(int, row))


LIST_PROGRESSIONS = f"""
    SELECT progression_id FROM sessions WHERE id IN {IDS}
    UNION
    SELECT progression_id FROM branches WHERE session_id IN {IDS}
"""
# Branches before sessions: all in one statement, so that forks among them need no order.
DELETE_BRANCHES = f"DELETE FROM branches WHERE session_id IN {IDS}"
DELETE_SESSIONS = f"DELETE FROM sessions WHERE id IN {IDS}"
LIST_UNOWNED = f"""
    SELECT head.id FROM progression_heads AS head
     WHERE head.id IN {IDS}
       AND NOT EXISTS (SELECT 1 FROM sessions WHERE progression_id = head.id)
       AND NOT EXISTS (SELECT 1 FROM branches WHERE progression_id = head.id)
"""
LIST_HELD = f"SELECT message_id FROM progression_entries WHERE progression_id IN {IDS}"
DELETE_ENTRIES = f"DELETE FROM progression_entries WHERE progression_id IN {IDS}"
DELETE_HEADS = f"DELETE FROM progression_heads WHERE id IN {IDS}"
DELETE_MESSAGES = f"""
    DELETE FROM messages
     WHERE id IN {IDS}
       AND NOT EXISTS (SELECT 1 FROM progression_entries WHERE message_id = messages.id)
       AND NOT EXISTS (SELECT 1 FROM branches WHERE system_msg_id = messages.id)
       AND NOT EXISTS (SELECT 1 FROM exchange WHERE message_id = messages.id)
"""


def delete_sessions(tx: Tx, session_ids: Collection[str]) -> Removed:
    """Delete sessions with all that is theirs alone; whatever else refers to them forgets them."""
    ids = ids_in(session_ids)
    progressions = [row[0] for row in tx.all(LIST_PROGRESSIONS, ids=ids)]
    branches = tx.run(DELETE_BRANCHES, ids=ids)
    sessions = tx.run(DELETE_SESSIONS, ids=ids)
    return Removed(sessions, branches).plus(delete_unowned(tx, progressions))


def delete_unowned(tx: Tx, progression_ids: Collection[str]) -> Removed:
    """Delete those of the progressions that no session and no branch owns, and the messages that only they held."""
    gone = ids_in(row[0] for row in tx.all(LIST_UNOWNED, ids=ids_in(progression_ids)))
    held = ids_in(row[0] for row in tx.all(LIST_HELD, ids=gone))
    entries = tx.run(DELETE_ENTRIES, ids=gone)
    progressions = tx.run(DELETE_HEADS, ids=gone)
    return Removed(progressions=progressions, entries=entries, messages=tx.run(DELETE_MESSAGES, ids=held))


LIST_ORPHANS = """
    SELECT head.id, head.length FROM progression_heads AS head
     WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE progression_id = head.id)
       AND NOT EXISTS (SELECT 1 FROM branches WHERE progression_id = head.id)
     ORDER BY head.created_at, head.id
"""


def list_orphans(tx: Tx) -> list[Row]:
    """Id and length of every progression that no session and no branch owns, oldest first (R108)."""
    return tx.all(LIST_ORPHANS)


def count_orphans(tx: Tx, progression_ids: Collection[str]) -> Removed:
    """What `delete_unowned` would remove, were all of them given to it."""
    row = tx.one(COUNT_ORPHANS, ids=ids_in(progression_ids)) if progression_ids else None
    return Removed() if row is None else Removed(0, *map(int, row))
