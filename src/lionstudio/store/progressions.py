"""Order (D1): which messages stand where, in a branch, in a session, and through a fork's ancestors."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lionstudio.domain.conversation import (
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
    Line,
    Message,
    MessagePlace,
    kind_of,
    tool_of,
)
from lionstudio.store.dialect import Row
from lionstudio.store.encoding import IDS, POSITIONS, ids_in, json_out
from lionstudio.store.messages import MESSAGE_COLUMNS, fitting, size_of_message, to_message
from lionstudio.store.transaction import Tx

if TYPE_CHECKING:
    from lionstudio.domain.timeline import Step

INSERT_HEAD = "INSERT INTO progression_heads (id, created_at, length) VALUES (:id, :created_at, :length)"
INSERT_ENTRY = """
    INSERT INTO progression_entries (progression_id, position, message_id)
    VALUES (:progression_id, :position, :message_id)
"""
# The path of every message. Each statement changes one row and gives nothing back: for IN, RETURNING and INSERT …
# SELECT, SQLite makes a table of its own and keeps copies of pages, which took a tenth of an append.
GROW_BY_ONE = "UPDATE progression_heads SET length = length + 1 WHERE id = :progression_id"
ENTER_LAST = """
    INSERT INTO progression_entries (progression_id, position, message_id)
    VALUES (:progression_id, (SELECT length FROM progression_heads WHERE id = :progression_id), :message_id)
"""
GROW_HEAD = "UPDATE progression_heads SET length = length + :by WHERE id = :progression_id RETURNING length"
HOLDS = "SELECT 1 FROM progression_entries WHERE message_id = :message_id AND progression_id = :progression_id LIMIT 1"


SELECT_LINE = """
    SELECT session.id, branch.id, session.progression_id, branch.progression_id
      FROM branches AS branch JOIN sessions AS session ON session.id = branch.session_id
"""
FIND_LINE = SELECT_LINE + "WHERE branch.id = :branch_id AND session.id = :session_id"
# It began when its session did, by the clock of the recorder; later ones by that of whoever stored them. Asked for each
# message that comes over HTTP, so it must not look at every branch of a run that has thousands.
FIND_FIRST_LINE = f"""
    {SELECT_LINE}
     WHERE branch.session_id = :session_id AND branch.created_at = session.created_at
     ORDER BY branch.id
     LIMIT 1
"""
FIND_EARLIEST_LINE = f"""
    {SELECT_LINE}
     WHERE branch.session_id = :session_id
     ORDER BY branch.created_at, branch.id
     LIMIT 1
"""


def find_line(tx: Tx, session_id: str, branch_id: str) -> Line | None:
    """Where the next message of a branch goes."""
    row = tx.one(FIND_LINE, session_id=session_id, branch_id=branch_id)
    return None if row is None else Line._make(row)


def find_first_line(tx: Tx, session_id: str) -> Line | None:
    """Where the next message of a run goes that names no branch: the one it began with."""
    row = tx.one(FIND_FIRST_LINE, session_id=session_id) or tx.one(FIND_EARLIEST_LINE, session_id=session_id)
    return None if row is None else Line._make(row)


def add_head(tx: Tx, progression_id: str, *, created_at: float, length: int = 0) -> None:
    """Begin a progression."""
    tx.run(INSERT_HEAD, id=progression_id, created_at=created_at, length=length)


def enter(tx: Tx, progression_id: str, message_id: str) -> bool:
    """Put a message at the end of one progression; False if it is not there any more."""
    if not tx.run(GROW_BY_ONE, progression_id=progression_id):
        return False
    tx.run(ENTER_LAST, progression_id=progression_id, message_id=message_id)
    return True


FIND_POSITIONS = f"""
    SELECT entry.message_id, entry.position
      FROM sessions AS session JOIN progression_entries AS entry ON entry.progression_id = session.progression_id
     WHERE session.id = :session_id AND entry.message_id IN {IDS}
"""
# Messages are told in their order, so that the last few changes know the position; more than one of them, because a
# message that was changed is told again.
FIND_POSITION_TOLD = """
    SELECT max(entry.position)
      FROM (SELECT entity_id FROM changes
             WHERE session_id = :session_id AND seq <= :upto AND topic = 'message'
             ORDER BY seq DESC LIMIT 100) AS change
      JOIN sessions AS session ON session.id = :session_id
      JOIN progression_entries AS entry
        ON entry.message_id = change.entity_id AND entry.progression_id = session.progression_id
"""


def find_positions(tx: Tx, session_id: str, message_ids: Iterable[str]) -> dict[str, int]:
    """Where messages stand in their session's order; those that stand in none are left out."""
    rows = tx.all(FIND_POSITIONS, session_id=session_id, ids=ids_in(message_ids))
    return {row[0]: row[1] for row in rows}


def find_position_told(tx: Tx, session_id: str, *, upto: int) -> int:
    """The last position that the changes up to a number tell of; 0 if they tell of none."""
    return tx.value(FIND_POSITION_TOLD, session_id=session_id, upto=upto) or 0


LIST_HOLDERS = """
    SELECT DISTINCT session.id
      FROM progression_entries AS entry JOIN sessions AS session ON session.progression_id = entry.progression_id
     WHERE entry.message_id = :message_id
"""


def list_holders(tx: Tx, message_id: str) -> list[str]:
    """The sessions in which a message stands."""
    return [row[0] for row in tx.all(LIST_HOLDERS, message_id=message_id)]


def enter_many(tx: Tx, progression_id: str, message_ids: Sequence[str]) -> None:
    """Put many messages at the end of one progression, in order."""
    if not message_ids:
        return
    start = tx.value(GROW_HEAD, progression_id=progression_id, by=len(message_ids)) - len(message_ids)
    tx.many(
        INSERT_ENTRY,
        (
            {"progression_id": progression_id, "position": start + number, "message_id": message_id}
            for number, message_id in enumerate(message_ids, 1)
        ),
    )


def holds(tx: Tx, progression_id: str, message_id: str) -> bool:
    """Whether a progression already has this message."""
    return tx.one(HOLDS, progression_id=progression_id, message_id=message_id) is not None


READ_PROGRESSION = """
    SELECT message_id FROM progression_entries WHERE progression_id = :progression_id ORDER BY position
"""
FIND_HEAD = "SELECT created_at, length FROM progression_heads WHERE id = :progression_id"


def find_head(tx: Tx, progression_id: str) -> tuple[float, int] | None:
    """When a progression began and how long it is."""
    row = tx.one(FIND_HEAD, progression_id=progression_id)
    return None if row is None else (row[0], row[1])


def progression_ids(tx: Tx, progression_id: str) -> list[str]:
    """The ids of a progression, in order."""
    return [row[0] for row in tx.all(READ_PROGRESSION, progression_id=progression_id)]


# Positions have no gaps, so a page is a range and needs no sort beyond itself.
READ_SESSION = """
    SELECT {columns}, entry.position
      FROM sessions AS session
      JOIN progression_entries AS entry ON entry.progression_id = session.progression_id
      JOIN messages AS message ON message.id = entry.message_id
      JOIN message_types AS type ON type.type_id = message.lion_class
     WHERE session.id = :session_id AND entry.position > :after AND entry.position <= :after + :limit
     ORDER BY entry.position
"""
# A fork's own messages follow the first `forked_at_ord` of its parent's history, which may itself be a fork: walk up
# once, narrowing at each step to what the child kept (R26).
READ_BRANCH = """
    WITH RECURSIVE lineage (parent_id, progression_id, base, upto) AS (
        SELECT parent_branch_id, progression_id, COALESCE(forked_at_ord, 0), CAST(:after + :limit AS bigint)
          FROM branches WHERE id = :branch_id
        UNION ALL
        SELECT parent.parent_branch_id, parent.progression_id, COALESCE(parent.forked_at_ord, 0),
               CASE WHEN lineage.upto < lineage.base THEN lineage.upto ELSE lineage.base END
          FROM lineage JOIN branches AS parent ON parent.id = lineage.parent_id
    )
    SELECT {columns},
           lineage.base + entry.position AS place
      FROM lineage
      JOIN progression_entries AS entry
        ON entry.progression_id = lineage.progression_id
       AND entry.position > :after - lineage.base AND entry.position <= lineage.upto - lineage.base
      JOIN messages AS message ON message.id = entry.message_id
      JOIN message_types AS type ON type.type_id = message.lion_class
     ORDER BY place
"""


def list_in_session(tx: Tx, session_id: str, *, after: int, limit: int) -> list[Message]:
    """A session's messages in the order they were stored, from position `after` + 1."""
    sql = READ_SESSION.format(columns=MESSAGE_COLUMNS)
    rows = tx.all(sql, session_id=session_id, after=after, limit=limit)
    return [to_message(tx, row, row[10]) for row in rows]


def count_fitting(tx: Tx, session_id: str, *, after: int, limit: int, budget: int) -> int:
    """How many messages from position `after` + 1 a page of so many bytes takes: one at least, `limit` at most."""
    return fitting(list_sizes(tx, session_id, after=after, limit=limit), limit=limit, budget=budget)


def list_sizes(tx: Tx, session_id: str, *, after: int, limit: int) -> list[int]:
    """How many bytes of JSON the messages from position `after` + 1 have, about."""
    sql = READ_SESSION.format(columns=size_of_message(tx))
    return [row[0] for row in tx.all(sql, session_id=session_id, after=after, limit=limit)]


READ_BEGINNINGS = f"""
    SELECT session.id, type.lion_class, message.role, substr(CAST(message.content AS text), 1, :letters)
      FROM sessions AS session
      JOIN progression_entries AS entry ON entry.progression_id = session.progression_id AND entry.position <= :limit
      JOIN messages AS message ON message.id = entry.message_id
      JOIN message_types AS type ON type.type_id = message.lion_class
     WHERE session.id IN {IDS}
     ORDER BY session.id, entry.position
"""


class Beginning(NamedTuple):
    """How a message begins: its class, its role, and the first letters of its content, which is JSON."""

    lion_class: str
    role: str
    content: str


def list_beginnings(tx: Tx, session_ids: Iterable[str], *, limit: int, letters: int) -> dict[str, list[Beginning]]:
    """How the first messages of each of these sessions begin: a prompt may be megabytes long."""
    found: dict[str, list[Beginning]] = {}
    for session_id, *row in tx.all(READ_BEGINNINGS, ids=ids_in(session_ids), limit=limit, letters=letters):
        found.setdefault(session_id, []).append(Beginning(*row))
    return found


def list_in_branch(tx: Tx, branch_id: str, *, after: int, limit: int) -> list[Message]:
    """A branch's history through all its ancestors, from position `after` + 1."""
    sql = READ_BRANCH.format(columns=MESSAGE_COLUMNS)
    rows = tx.all(sql, branch_id=branch_id, after=after, limit=limit)
    return [to_message(tx, row, row[10]) for row in rows]


def count_fitting_in_branch(tx: Tx, branch_id: str, *, after: int, limit: int, budget: int) -> int:
    """The same as `count_fitting`, for a branch's history."""
    sql = READ_BRANCH.format(columns=size_of_message(tx))
    rows = tx.all(sql, branch_id=branch_id, after=after, limit=limit)
    return fitting((row[0] for row in rows), limit=limit, budget=budget)


LIST_PLACES = """
    SELECT entry.message_id, branch.id, own.position
      FROM sessions AS session
      JOIN progression_entries AS entry ON entry.progression_id = session.progression_id
      JOIN progression_entries AS own ON own.message_id = entry.message_id
      JOIN branches AS branch ON branch.progression_id = own.progression_id AND branch.session_id = session.id
     WHERE session.id = :session_id AND entry.position > :after AND entry.position <= :after + :limit
     ORDER BY entry.position, branch.created_at, branch.id
"""


def list_places(tx: Tx, session_id: str, *, after: int, limit: int) -> dict[str, list[tuple[str, int]]]:
    """In which branches of the session a page of its messages stands, and at which of their own positions."""
    found: dict[str, list[tuple[str, int]]] = {}
    for message_id, branch_id, position in tx.all(LIST_PLACES, session_id=session_id, after=after, limit=limit):
        found.setdefault(message_id, []).append((branch_id, position))
    return found


FIND_PLACES = f"""
    SELECT own.message_id, branch.id, COALESCE(branch.forked_at_ord, 0) + own.position
      FROM progression_entries AS own
      JOIN branches AS branch ON branch.progression_id = own.progression_id
     WHERE branch.session_id = :session_id AND own.message_id IN {IDS}
     ORDER BY branch.created_at DESC, branch.id DESC
"""


def find_places(tx: Tx, session_id: str, message_ids: Iterable[str]) -> dict[str, MessagePlace]:
    """Where each of these messages stands in the history of the first branch that has it as its own."""
    rows = tx.all(FIND_PLACES, session_id=session_id, ids=ids_in(message_ids))
    return {message_id: MessagePlace(branch_id, position) for message_id, branch_id, position in rows}


# Of a message whose class says that it is about a tool, its beginning names the tool; where only the shape says what it
# is, all of it is needed; and of what people and models say, nothing.
LIST_STEPS = """
    SELECT branch.id, COALESCE(branch.forked_at_ord, 0) + own.position, message.created_at,
           type.lion_class, message.role,
           CASE WHEN message.lion_class IN (4, 5) THEN substr(CAST(message.content AS text), 1, :letters)
                WHEN message.role IN ('system', 'developer', 'user', 'assistant') OR message.lion_class IN (1, 2, 3)
                THEN NULL ELSE CAST(message.content AS text) END
      FROM branches AS branch
      JOIN progression_entries AS own ON own.progression_id = branch.progression_id
      JOIN messages AS message ON message.id = own.message_id
      JOIN message_types AS type ON type.type_id = message.lion_class
     WHERE {which}
     ORDER BY branch.id, own.position
"""
STEPS_OF_BRANCHES = LIST_STEPS.format(which=f"branch.id IN {IDS}")
STEPS_AT = LIST_STEPS.format(which=f"branch.id = :branch_id AND own.position IN {POSITIONS}")
LETTERS_WITH_TOOL = 200


def list_steps(tx: Tx, branch_ids: Iterable[str]) -> "dict[str, list[Step]]":
    """What happened when, in each of these branches: their own messages, with their places in the history."""
    return _to_steps(tx.all(STEPS_OF_BRANCHES, ids=ids_in(branch_ids), letters=LETTERS_WITH_TOOL))


def list_steps_at(tx: Tx, branch_id: str, positions: Iterable[int]) -> "list[Step]":
    """The same of some messages of one branch, by their positions among its own."""
    ids = ids_in(map(str, positions))
    return _to_steps(tx.all(STEPS_AT, branch_id=branch_id, ids=ids, letters=LETTERS_WITH_TOOL)).get(branch_id, [])


def _to_steps(rows: Iterable[Row]) -> "dict[str, list[Step]]":
    from lionstudio.domain.message_text import tool_in
    from lionstudio.domain.timeline import Step

    found: dict[str, list[Step]] = {}
    for branch_id, position, at, lion_class, role, text in rows:
        if lion_class in (ACTION_REQUEST_CLASS, ACTION_RESPONSE_CLASS):
            kind, tool = kind_of(lion_class, role, None), tool_in(text)
        else:
            content = json_out(text)
            kind, tool = kind_of(lion_class, role, content), tool_of(content)
        found.setdefault(branch_id, []).append(Step(position, at, kind, tool))
    return found
