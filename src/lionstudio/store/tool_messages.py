"""What tools were asked and how they failed: of long messages only as much as tells it."""

from collections.abc import Iterator
from typing import Any

from lionstudio.domain.conversation import ACTION_RESPONSE_CLASS, Message, tool_of
from lionstudio.domain.files_touched import PATH_KEYS, path_in
from lionstudio.domain.message_text import members_in
from lionstudio.store.encoding import IDS, ids_in, json_out
from lionstudio.store.transaction import Tx

LETTERS_WITH_PATH = 1_000
READ_AT_ONCE = 50  # calls that are read whole
TEXT = "CAST(message.content AS text)"
# A result that says nothing of an error is not read: most are such, and many are long. Of a call the beginning is read,
# which mostly names the file: what is written into it may be long, too. Where the class does not say what a message is,
# the keys do; only a key looks like that in JSON, because within a text its quotes would have backslashes.
READ_CALLS_AND_FAILURES = f"""
    SELECT message.id, message.created_at, message.role, type.lion_class,
           CASE WHEN message.lion_class <> 4 AND ({TEXT} LIKE '%"error":%' OR {TEXT} LIKE '%"output":%'
                                                  OR {TEXT} LIKE '%"action_request_id":%')
                THEN {TEXT} ELSE substr({TEXT}, 1, :letters) END
      FROM sessions AS session
      JOIN progression_entries AS entry ON entry.progression_id = session.progression_id
      JOIN messages AS message ON message.id = entry.message_id
      JOIN message_types AS type ON type.type_id = message.lion_class
     WHERE session.id = :session_id AND (message.role IN ('action', 'tool') OR message.lion_class = 5)
       AND (message.lion_class <> 5 OR {TEXT} LIKE '%"error":%')
     ORDER BY entry.position
"""
NAMES_A_PATH = " OR ".join(f'{TEXT} LIKE \'%"{key}":"%\'' for key in PATH_KEYS)
READ_CALLS_WITH_PATHS = f"""
    SELECT message.id, message.content FROM messages AS message WHERE message.id IN {IDS} AND ({NAMES_A_PATH})
"""


def list_calls_and_failures(tx: Tx, session_id: str) -> list[Message]:
    """What tools were asked, and what they answered where that may be a failure, in order and without metadata.

    Of a long call there is only as much as names its tool and its file.
    """
    found: dict[str, Message] = {}
    unclear: list[str] = []
    rows = tx.all(READ_CALLS_AND_FAILURES, session_id=session_id, letters=LETTERS_WITH_PATH)
    for id, at, role, lion_class, text in rows:
        is_cut = lion_class != ACTION_RESPONSE_CLASS and len(text) == LETTERS_WITH_PATH
        content = members_in(text) if is_cut else json_out(text)
        found[id] = Message(id, at, role, content, lion_class)
        if is_cut and (tool_of(content) is None or path_in(content) is None):
            unclear.append(id)
    for id, named in _find_paths(tx, unclear):
        found[id] = found[id]._replace(content={**found[id].content, **named})
    return list(found.values())


def _find_paths(tx: Tx, ids: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of calls whose beginning does not name tool and file, those that may do so later: that tool and that file."""
    for start in range(0, len(ids), READ_AT_ONCE):
        for id, text in tx.all(READ_CALLS_WITH_PATHS, ids=ids_in(ids[start : start + READ_AT_ONCE])):
            content = json_out(text)
            yield id, {"function": tool_of(content), "arguments": {"path": path_in(content)}}
