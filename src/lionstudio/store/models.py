"""Which model a session works with, as far as anyone said."""

from collections.abc import Sequence

from lionstudio.store.encoding import json_out
from lionstudio.store.transaction import Tx

# Of the branches only the first: what the run was begun with.
LIST_FIRST_BRANCHES = """
    SELECT branch.session_id, branch.node_metadata FROM branches AS branch
     WHERE branch.session_id IN ({ids})
       AND branch.id = (SELECT first.id FROM branches AS first WHERE first.session_id = branch.session_id
                         ORDER BY first.created_at, first.id LIMIT 1)
"""
LIST_USED = """
    SELECT session_id, model FROM session_usage WHERE session_id IN ({ids}) ORDER BY output_tokens, model DESC
"""


def find_models(tx: Tx, session_ids: Sequence[str]) -> dict[str, str]:
    """The model that each of these sessions was begun with, else the one that answered most; nothing for the rest."""
    if not session_ids:
        return {}
    params = {f"id_{number}": session_id for number, session_id in enumerate(session_ids)}
    ids = ", ".join(f":{name}" for name in params)
    found = {row[0]: row[1] for row in tx.all(LIST_USED.format(ids=ids), **params)}  # the last one wins
    for session_id, metadata in tx.all(LIST_FIRST_BRANCHES.format(ids=ids), **params):
        model = (json_out(metadata) or {}).get("model")
        if isinstance(model, str) and model:
            found[session_id] = model
    return found
