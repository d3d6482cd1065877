"""What is known of a session beside its columns, where it is learned later than the session begins."""

from collections.abc import Mapping
from typing import Any

from lionstudio.store.encoding import optional_json_in
from lionstudio.store.transaction import Tx

SET_METADATA = "UPDATE sessions SET node_metadata = :node_metadata WHERE id = :session_id"


def replace(tx: Tx, session_id: str, node_metadata: Mapping[str, Any]) -> None:
    tx.run(SET_METADATA, session_id=session_id, node_metadata=optional_json_in(node_metadata))
