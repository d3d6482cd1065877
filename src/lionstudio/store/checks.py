"""Whether a database holds together: its file, the references between its rows, and what we promise about them.

A statement that looks for something wrong gives what it is about, and then the words of its sentence.
"""

from __future__ import annotations

from typing import NamedTuple

from lionstudio.domain.phrases import count_of
from lionstudio.store.row_sums import quoted

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Iterator

    from lionstudio.store.dialect import Connection, Dialect, Row
    from lionstudio.store.transaction import Tx


class Broken(NamedTuple):
    """Something that should never be: what it is about, and what is wrong with it."""

    subject: str
    sentence: str


def list_damage(connection: Connection, dialect: Dialect) -> list[str]:
    """What the database itself finds wrong with its file; nothing where it has none."""
    if dialect.check_integrity is None:
        return []
    return [str(row[0]) for row in connection.all(dialect.check_integrity, {}) if row[0] != "ok"]


FIND_BROKEN_REFERENCES = """
    SELECT own.{column}, count(*) FROM {table} AS own
     WHERE own.{column} IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM {other} AS other WHERE other.{other_column} = own.{column})
     GROUP BY own.{column} ORDER BY own.{column} LIMIT 100
"""


def list_broken_references(connection: Connection, dialect: Dialect) -> list[Broken]:
    """Rows that refer to something that is not there."""
    return [
        Broken(
            f"{table}.{column}",
            f"{count_of(count, f'row of {table} refers', f'rows of {table} refer')} by {column} to {value!r}, "
            f"which is not in {other}",
        )
        for table, column, other, other_column in connection.all(dialect.list_foreign_keys, {})
        for value, count in connection.all(
            FIND_BROKEN_REFERENCES.format(
                table=quoted(table), column=quoted(column), other=quoted(other), other_column=quoted(other_column)
            ),
            {},
        )
    ]


OWNER = """
    COALESCE((SELECT min(id) FROM sessions WHERE progression_id = head.id),
             (SELECT min(session_id) FROM branches WHERE progression_id = head.id), head.id)
"""
# Positions are at least 1 and each is there once, so their number equals the highest exactly if none is missing.
WRONG_LENGTHS = f"""
    SELECT {OWNER},
           'the order ' || head.id || ' says that its length is ' || head.length || ', and it is ' || found.times
           || ', the last position ' || found.highest
      FROM progression_heads AS head
      JOIN (SELECT heads.id, count(entry.position) AS times, COALESCE(max(entry.position), 0) AS highest
              FROM progression_heads AS heads LEFT JOIN progression_entries AS entry ON entry.progression_id = heads.id
             GROUP BY heads.id) AS found ON found.id = head.id
     WHERE head.length <> found.times OR head.length <> found.highest
     ORDER BY head.id
"""
WITHOUT_BRANCH = """
    SELECT id, 'it has no branch' FROM sessions
     WHERE NOT EXISTS (SELECT 1 FROM branches WHERE session_id = sessions.id) ORDER BY id
"""
ONLY_IN_BRANCH = """
    SELECT branch.session_id,
           'the branch ' || branch.id || ' has messages that the run itself lacks: ' || CAST(count(*) AS text)
      FROM branches AS branch
      JOIN sessions AS session ON session.id = branch.session_id
      JOIN progression_entries AS entry ON entry.progression_id = branch.progression_id
     WHERE NOT EXISTS (SELECT 1 FROM progression_entries AS whole
                        WHERE whole.message_id = entry.message_id AND whole.progression_id = session.progression_id)
     GROUP BY branch.session_id, branch.id ORDER BY branch.session_id, branch.id
"""
FORKED_BEYOND = """
    SELECT child.session_id,
           'the branch ' || child.id || ' begins after message ' || child.forked_at_ord || ' of one that has '
           || (COALESCE(parent.forked_at_ord, 0) + head.length)
      FROM branches AS child
      JOIN branches AS parent ON parent.id = child.parent_branch_id
      JOIN progression_heads AS head ON head.id = parent.progression_id
     WHERE child.forked_at_ord > COALESCE(parent.forked_at_ord, 0) + head.length
     ORDER BY child.id
"""
WRONG_LAST_MESSAGE = """
    SELECT session.id, 'its last message ' || COALESCE(session.last_msg_id, 'is not known, though it has some')
           || CASE WHEN session.last_msg_id IS NULL THEN '' ELSE ' does not stand in it' END
      FROM sessions AS session JOIN progression_heads AS head ON head.id = session.progression_id
     WHERE head.length > 0
       AND NOT EXISTS (SELECT 1 FROM progression_entries AS entry
                        WHERE entry.message_id = session.last_msg_id
                          AND entry.progression_id = session.progression_id)
     ORDER BY session.id
"""
ENDED_AND_RUNNING = """
    SELECT id, 'it is running and has ended' FROM sessions WHERE is_running = 1 AND ended_at IS NOT NULL ORDER BY id
"""
WRONG_MEMBER_COUNTS = """
    SELECT id, 'the team counts its members as ' || member_count || ' and lists ' || json_array_length(members)
      FROM teams WHERE member_count <> json_array_length(members) ORDER BY id
"""
NUMBERS_GIVEN_TWICE = """
    SELECT 'changes', 'the newest of the news has the number ' || COALESCE(max(seq), 0)
           || ', though those up to ' || COALESCE((SELECT value FROM schema_meta WHERE key = 'changes_trimmed_to'), '0')
           || ' were given: numbers would be given twice'
      FROM changes
    HAVING COALESCE(max(seq), 0) < CAST(COALESCE(
               (SELECT value FROM schema_meta WHERE key = 'changes_trimmed_to'), '0') AS bigint)
"""
PROMISES = {
    "length": WRONG_LENGTHS,
    "branches": WITHOUT_BRANCH,
    "membership": ONLY_IN_BRANCH,
    "forks": FORKED_BEYOND,
    "last message": WRONG_LAST_MESSAGE,
    "status": ENDED_AND_RUNNING,
    "members": WRONG_MEMBER_COUNTS,
    "news": NUMBERS_GIVEN_TWICE,
}


def list_broken_promises(tx: Tx, promise: str) -> list[Broken]:
    """Where one of our own rules does not hold."""
    return [Broken(str(subject), str(sentence)) for subject, sentence in tx.all(PROMISES[promise])]


LIST_HEADS = "SELECT id FROM progression_heads WHERE id > :after ORDER BY id LIMIT 200"
READ_VIEW = f"""
    SELECT head.id, head.collection, {OWNER}
      FROM progressions AS head WHERE head.id > :after AND head.id <= :last ORDER BY head.id
"""
READ_ENTRIES = """
    SELECT progression_id, message_id FROM progression_entries
     WHERE progression_id > :after AND progression_id <= :last ORDER BY progression_id, position
"""


def read_orders(tx: Tx) -> Iterator[tuple[list[Row], list[Row]]]:
    """Every progression twice, some at a time: as the view shows it to SQL readers, and entry by entry."""
    after = ""
    while heads := tx.all(LIST_HEADS, after=after):
        last = heads[-1][0]
        yield tx.all(READ_VIEW, after=after, last=last), tx.all(READ_ENTRIES, after=after, last=last)
        after = last


READ_REPORTS = """
    SELECT session.id, message.node_metadata
      FROM sessions AS session
      JOIN progression_entries AS entry ON entry.progression_id = session.progression_id
      JOIN messages AS message ON message.id = entry.message_id
     WHERE CAST(message.node_metadata AS text) LIKE '%"usage"%'
     ORDER BY session.id
"""
LIST_COUNTED = """
    SELECT session.id, usage.model, usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens,
           usage.output_tokens, usage.reasoning_tokens, usage.cost_usd
      FROM sessions AS session JOIN session_usage AS usage ON usage.session_id = session.id
     ORDER BY session.id
"""


def read_usage_reports(tx: Tx) -> Iterator[Row]:
    """Session and metadata of every message that reports usage, session by session."""
    for rows in tx.connection.pieces(READ_REPORTS, {}, size=1_000):
        yield from rows


def read_counted_usage(tx: Tx) -> Iterator[Row]:
    """Session, model and what was counted for them, session by session."""
    for rows in tx.connection.pieces(LIST_COUNTED, {}, size=1_000):
        yield from rows
