"""Branches: lines of messages, forks, and what each of them is doing."""

from collections.abc import Iterable, Mapping

from lionstudio.domain.conversation import Branch, BranchTip, MessageKind, OpenCall
from lionstudio.store.dialect import Row
from lionstudio.store.encoding import IDS, ids_in, json_out, optional_json_in, texts_in
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

SELECT_BRANCH = """
    SELECT branch.id, branch.created_at, branch.session_id, branch.progression_id, branch.name, branch."user",
           branch.system_msg_id, branch.parent_branch_id, branch.forked_at_ord, branch.last_kind, branch.last_tool,
           branch.last_at, branch.node_metadata, head.length
      FROM branches AS branch
      JOIN progression_heads AS head ON head.id = branch.progression_id
"""
FIND_BRANCH = SELECT_BRANCH + "WHERE branch.id = :branch_id"
LIST_BRANCHES = SELECT_BRANCH + "WHERE branch.session_id = :session_id ORDER BY branch.created_at, branch.id"
LIST_TIPS = f"""
    SELECT branch.session_id, branch.id, branch.last_kind, branch.last_tool, branch.last_at
      FROM branches AS branch WHERE branch.session_id IN {IDS} ORDER BY branch.created_at, branch.id
"""
KINDS: Mapping[str | None, MessageKind | None] = {None: None, **{word.value: word for word in MessageKind}}
INSERT_BRANCH = """
    INSERT INTO branches (
        id, created_at, node_metadata, "user", name, session_id, progression_id, system_msg_id, parent_branch_id,
        forked_at_ord)
    VALUES (
        :id, :created_at, :node_metadata, :user, :name, :session_id, :progression_id, :system_msg_id,
        :parent_branch_id, :forked_at_ord)
    ON CONFLICT (id) DO NOTHING
"""


def _branch(row: Row) -> Branch:
    return Branch(
        id=row[0],
        created_at=row[1],
        session_id=row[2],
        progression_id=row[3],
        name=row[4],
        user=row[5],
        system_msg_id=row[6],
        parent_branch_id=row[7],
        forked_at_ord=row[8],
        last_kind=KINDS[row[9]],
        last_tool=row[10],
        last_at=row[11],
        node_metadata=json_out(row[12]),
        message_count=row[13],
    )


def find(tx: Tx, branch_id: str) -> Branch | None:
    row = tx.one(FIND_BRANCH, branch_id=branch_id)
    return None if row is None else _branch(row)


def list_in_session(tx: Tx, session_id: str) -> list[Branch]:
    """A session's branches, oldest first."""
    return [_branch(row) for row in tx.all(LIST_BRANCHES, session_id=session_id)]


def list_tips(tx: Tx, session_ids: Iterable[str]) -> dict[str, list[BranchTip]]:
    """What the branches of each of these sessions did last, oldest branch first."""
    found: dict[str, list[BranchTip]] = {}
    for session_id, branch_id, kind, tool, at in tx.all(LIST_TIPS, ids=ids_in(session_ids)):
        found.setdefault(session_id, []).append(BranchTip(branch_id, KINDS[kind], tool, at))
    return found


def insert(tx: Tx, branch: Branch) -> bool:
    """Store a branch unless its id is taken; whether it was new. Its progression must be there."""
    texts, node_metadata = texts_in(branch.node_metadata, {"name": branch.name, "user": branch.user})
    inserted = tx.run(
        INSERT_BRANCH,
        id=branch.id,
        created_at=branch.created_at,
        node_metadata=optional_json_in(node_metadata),
        session_id=branch.session_id,
        progression_id=branch.progression_id,
        system_msg_id=branch.system_msg_id,
        parent_branch_id=branch.parent_branch_id,
        forked_at_ord=branch.forked_at_ord,
        **texts,
    )
    return inserted == 1


SET_SYSTEM_MESSAGE = "UPDATE branches SET system_msg_id = :message_id WHERE id = :branch_id"


def set_system_message(tx: Tx, branch_id: str, message_id: str) -> None:
    """Point a branch to its system prompt (R27)."""
    tx.run(SET_SYSTEM_MESSAGE, branch_id=branch_id, message_id=message_id)


TOUCH = """
    UPDATE branches
       SET last_kind = CASE WHEN :shows = 1 THEN :kind ELSE last_kind END,
           last_tool = CASE WHEN :shows = 1 THEN :tool ELSE last_tool END,
           last_at = CASE WHEN last_at > :at THEN last_at ELSE :at END
     WHERE id = :branch_id
"""
OPEN_CALL = """
    INSERT INTO open_calls (branch_id, call_id, tool, since) VALUES (:branch_id, :call_id, :tool, :since)
    ON CONFLICT DO NOTHING
"""
CLOSE_CALL = "DELETE FROM open_calls WHERE branch_id = :branch_id AND call_id = :call_id"
CLOSE_CALLS = "DELETE FROM open_calls WHERE branch_id = :branch_id"
LIST_OPEN_CALLS = f"""
    SELECT call.branch_id, call.call_id, call.tool, call.since, branch.session_id
      FROM branches AS branch JOIN open_calls AS call ON call.branch_id = branch.id
     WHERE branch.session_id IN {IDS}
     ORDER BY call.since, call.call_id
"""


def touch(tx: Tx, branch_id: str, *, kind: MessageKind, tool: str | None, at: float) -> None:
    """Remember what the last message of a branch was (D5); what is of no known kind shows nothing of that."""
    shows = int(kind is not MessageKind.OTHER)
    tx.run(TOUCH, branch_id=branch_id, kind=kind, tool=text_in(tool), at=at, shows=shows)


def open_call(tx: Tx, call: OpenCall) -> None:
    tx.run(OPEN_CALL, branch_id=call.branch_id, call_id=call.call_id, tool=text_in(call.tool), since=call.since)


def close_call(tx: Tx, branch_id: str, call_id: str) -> None:
    tx.run(CLOSE_CALL, branch_id=branch_id, call_id=text_in(call_id))


def close_calls(tx: Tx, branch_id: str) -> None:
    tx.run(CLOSE_CALLS, branch_id=branch_id)


def list_open_calls(tx: Tx, session_id: str) -> list[OpenCall]:
    """Tool calls of a session that have no result yet, longest first."""
    return list_open_calls_in(tx, [session_id]).get(session_id, [])


def list_open_calls_in(tx: Tx, session_ids: Iterable[str]) -> dict[str, list[OpenCall]]:
    """The same for each of these sessions."""
    found: dict[str, list[OpenCall]] = {}
    for *call, session_id in tx.all(LIST_OPEN_CALLS, ids=ids_in(session_ids)):
        found.setdefault(session_id, []).append(OpenCall(*call))
    return found
