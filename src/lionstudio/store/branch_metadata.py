"""What is known of a branch beside its messages, where it is learned later than the branch begins."""

from collections.abc import Mapping
from typing import Any

from lionstudio.store.encoding import json_out, optional_json_in
from lionstudio.store.transaction import Tx

FIND_METADATA = "SELECT node_metadata FROM branches WHERE id = :branch_id AND session_id = :session_id"
SET_METADATA = "UPDATE branches SET node_metadata = :node_metadata WHERE id = :branch_id"


def merge(tx: Tx, session_id: str, branch_id: str, facts: Mapping[str, Any]) -> bool | None:
    """Add facts to the metadata of a branch, over those of the same name; whether that changed it, None without one."""
    row = tx.one(FIND_METADATA, session_id=session_id, branch_id=branch_id)
    if row is None:
        return None
    before = json_out(row[0]) or {}
    after = {**before, **facts}
    if after == before:
        return False
    tx.run(SET_METADATA, branch_id=branch_id, node_metadata=optional_json_in(after))
    return True
