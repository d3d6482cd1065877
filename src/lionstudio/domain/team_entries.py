"""One message of a team's file: which rows it becomes, and what the file says again when it is made of rows.

The columns of a row do not hold all that a file may say: lionagi's `kind`, `from_op` and `artifacts`, when somebody
read it, how older versions named things. Where the file says something else than we would write from the columns alone,
the row keeps that in its metadata: under `file` what it says, under `file_lacks` the names of what it leaves out.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import Any

from lionstudio.domain.drafts import is_time
from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.json_text import to_json
from lionstudio.domain.team import ALL_RECIPIENTS, MESSAGE_TEXTS, SYSTEM_SENDER, TeamMessage, summarise

EVERYONE = "*"  # how lionagi writes `all`
# Names that other versions and other programs gave to the same thing, the present one first.
SENDER = ("from", "sender")
RECIPIENTS = ("to", "recipient", "recipients")
CONTENT = ("content", "text", "message", "body")
WRITTEN_AT = ("timestamp", "created_at", "time", "ts")
MILLISECONDS_FROM = 1e11  # no message is from the year 5138: such a number counts milliseconds
FILE, LACKS = "file", "file_lacks"  # keys of a row's metadata
ORIGINAL = "original"  # … which holds texts that no database takes as they are

Fields = Mapping[str, Any]


def rows_of(fields: Fields, *, team_id: str, message_id: str, written_at: float) -> list[TeamMessage]:
    """The rows of a message, one for each recipient: the first has its id, the others one made of it."""
    content, found = _content(fields), []
    lasting = _with_identity(fields, message_id, written_at)
    for recipient, id in row_ids(fields, message_id).items():
        row = TeamMessage(
            id=id,
            team_id=team_id,
            created_at=written_at,
            sender=name_in(first_of(fields, SENDER)) or SYSTEM_SENDER,
            content=content,
            recipient=recipient,
            summary=name_in(fields.get("summary")) or summarise(content),
            read_by=readers_in(fields),
            session_id=id_in(fields.get("session_id")),
        )
        found.append(row._replace(node_metadata=_said_otherwise(lasting, new_fields(row, [recipient]))))
    return found


def with_run(metadata: Mapping[str, Any] | None, session_id: str) -> Mapping[str, Any]:
    """Metadata that keep the run that a file names, where no column can: it is not recorded here."""
    known = metadata or {}
    return {**known, FILE: {"session_id": session_id, **known.get(FILE, {})}}


def fields_of(message: TeamMessage) -> dict[str, Any]:
    """The message of a row as a file has it: as its own file said it, if it came from one."""
    metadata = message.node_metadata or {}
    original, says, lacks = (metadata.get(key) for key in (ORIGINAL, FILE, LACKS))
    if isinstance(original, Mapping):
        message = message._replace(
            **{name: original[name] for name in MESSAGE_TEXTS if isinstance(original.get(name), str)}
        )
    written = new_fields(message, [message.recipient])
    left_out = lacks if isinstance(lacks, list) else ()
    fields = {name: value for name, value in written.items() if name not in left_out}
    fields |= says if isinstance(says, Mapping) else {}
    return with_readers(fields, message.read_by, "")  # the database does not know when


def new_fields(message: TeamMessage, recipients: Sequence[str]) -> dict[str, Any]:
    """A message as we write it into a file."""
    fields: dict[str, Any] = {
        "id": message.id,
        "from": message.sender,
        "to": [EVERYONE] if ALL_RECIPIENTS in recipients else list(recipients),
        "content": message.content,
        "timestamp": time_text(message.created_at),
        "read_by": dict.fromkeys(message.read_by, ""),
        "kind": "message",
    }
    more = {"summary": message.summary, "session_id": message.session_id}
    return fields | {name: value for name, value in more.items() if value}


def row_ids(fields: Fields, message_id: str) -> dict[str, str]:
    """The id of the row to each recipient."""
    to = first_of(fields, RECIPIENTS)
    listed = to if isinstance(to, list) else [to]
    names = [name for name in map(name_in, listed) if name]
    if not names or EVERYONE in names or ALL_RECIPIENTS in names:
        return {ALL_RECIPIENTS: message_id}
    return {
        name: f"{message_id}:{number}" if number else message_id for number, name in enumerate(dict.fromkeys(names))
    }


def copied_id(message: TeamMessage) -> str:
    """The id of a row whose own is taken: its file began as a copy of another team's."""
    return f"{message.id}@{message.team_id}"


def id_in_file(message: TeamMessage) -> str:
    """The id that the row of a message has in its own team's file."""
    return message.id.removesuffix(f"@{message.team_id}")


def by_message(rows: Iterable[TeamMessage]) -> list[list[TeamMessage]]:
    """The rows of each message of a team together: people count one to several members once."""
    listed = list(rows)
    known = {id_in_file(row) for row in listed}
    found: dict[str, list[TeamMessage]] = {}
    for row in listed:
        id = id_in_file(row)
        first, _, number = id.rpartition(":")
        is_further = first in known and number.isascii() and number.isdecimal()
        found.setdefault(first if is_further else id, []).append(row)
    return list(found.values())


def last_messages(rows: Iterable[TeamMessage], limit: int) -> list[TeamMessage]:
    """The rows of the last messages of a team, where rows are in the order of time."""
    return [row for message in by_message(rows)[-limit:] for row in message] if limit else []


def readers_in(fields: Fields) -> tuple[str, ...]:
    """Who has read a message: the names in its map, or in the list that older files have."""
    readers = fields.get("read_by")
    if isinstance(readers, str):
        readers = [readers]
    names = readers if isinstance(readers, dict | list) else ()
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))


def with_readers(fields: dict[str, Any], names: Iterable[str], when: str | float) -> dict[str, Any]:
    """The message with these readers too; as it is, if they are all known."""
    known = readers_in(fields)
    fresh = [name for name in names if name not in known]
    if not fresh:
        return fields
    stands = fields.get("read_by")
    kept = stands if isinstance(stands, dict) else dict.fromkeys(known, "")
    return {**fields, "read_by": {**kept, **dict.fromkeys(fresh, when)}}


def first_of(fields: Fields, names: Iterable[str]) -> Any:
    """The first of these fields that says something."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def name_in(value: Any) -> str | None:
    """A name: text that is not blank, or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return value if isinstance(value, str) and value.strip() else None


def id_in(value: Any) -> str | None:
    """An id that every database takes."""
    name = name_in(value)
    return name if name and name.isprintable() else None


def time_in(value: Any, otherwise: float) -> float:
    """A time as unix seconds, from a number or from ISO text; without a zone it is UTC."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if MILLISECONDS_FROM <= abs(value) < MILLISECONDS_FROM**2 else value
        return float(seconds) if is_time(seconds) else otherwise
    if not isinstance(value, str):
        return otherwise
    calendar = _calendar()
    try:
        moment = calendar.datetime.fromisoformat(value)
    except ValueError:
        return otherwise
    return float((moment if moment.tzinfo else moment.replace(tzinfo=calendar.timezone.utc)).timestamp())


def time_text(at: float) -> str | float:
    """A time as lionagi writes it; one that no calendar holds stays a number, which is read as that time again."""
    calendar = _calendar()
    try:
        return str(calendar.datetime.fromtimestamp(at, calendar.timezone.utc).isoformat())
    except (ValueError, OverflowError, OSError):
        return at * 1000 if MILLISECONDS_FROM <= abs(at) < MILLISECONDS_FROM**2 else at


def _with_identity(fields: Fields, message_id: str, written_at: float) -> Fields:
    """The message with the id and the time that it has where it stands, and would not have in another place."""
    if id_in(fields.get("id")) is None:
        fields = {**fields, "id": message_id}
    if time_in(first_of(fields, WRITTEN_AT), nan) != written_at:
        fields = {**fields, "timestamp": time_text(written_at)}
    return fields


def _said_otherwise(fields: Fields, written: Fields) -> dict[str, Any] | None:
    says = {name: value for name, value in fields.items() if name not in written or written[name] != value}
    lacks = [name for name in written if name not in fields]
    return ({FILE: says} if says else {}) | ({LACKS: lacks} if lacks else {}) or None


def _content(fields: Fields) -> str:
    content = first_of(fields, CONTENT)
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    try:
        return to_json(content)
    except InvalidContent:  # a number that JSON does not have; who stores the message is told
        return str(content)


def _calendar() -> Any:
    """`datetime`, or the part of it that is written in C: the other one costs a command a twentieth of its time."""
    try:
        import _datetime  # type: ignore[import-not-found]  # typeshed does not describe it
    except ImportError:
        import datetime

        return datetime
    return _datetime
