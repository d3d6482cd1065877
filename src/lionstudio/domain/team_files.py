"""What the JSON file of a team means: read any version of it, change it, render it. What we do not know stays in it.

lionagi writes id, name, members, created_at and messages; a message has id, from, to, content, timestamp and read_by.
We add `status` and `description` to a team, `session_id` and `summary` to a message. In a file, `*` means all.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.json_text import from_json, to_json
from lionstudio.domain.team import RESERVED_NAMES, Team, TeamMessage, TeamStatus, summarise
from lionstudio.domain.team_entries import (
    CONTENT,
    SENDER,
    WRITTEN_AT,
    Fields,
    fields_of,
    first_of,
    id_in,
    id_in_file,
    name_in,
    new_fields,
    readers_in,
    row_ids,
    rows_of,
    time_in,
    time_text,
    with_readers,
)

KNOWN = frozenset({"id", "name", "members", "messages", "created_at", "status", "status_at"})
LONGEST_FILE_NAME = 100  # of an id that is a file name as it is


class TeamFile(NamedTuple):
    """A team's file: everything that stands in it, and the team that this describes."""

    fields: Fields
    team: Team

    @property
    def says_status(self) -> bool:
        """Whether the file itself says if the team is archived; lionagi's files do not."""
        return self.fields.get("status") in {status.value for status in TeamStatus}


def parse_team_file(text: str, *, stem: str, modified_at: float) -> TeamFile:
    """The file as it was read; raises InvalidContent. What it does not say follows from its name and its time."""
    if not text.strip():
        raise InvalidContent("The file is empty.")
    try:
        fields = from_json(text)
    except (ValueError, RecursionError) as error:
        raise InvalidContent(f"It is not JSON: {error}.") from None
    if not isinstance(fields, dict):
        raise InvalidContent("It is JSON, but not an object.")
    if not {"id", "name", "members", "messages"} & fields.keys():
        raise InvalidContent("It is a JSON object, but none of a team: it has no id, name, members or messages.")
    if not isinstance(fields.get("messages") or [], list):
        raise InvalidContent("Its messages are not a list.")
    return _read(fields, stem=stem, modified_at=modified_at)


def new_team_file(team: Team) -> TeamFile:
    """The file of a team that has none yet, without messages."""
    fields: dict[str, Any] = {"id": team.id, "name": team.name, "members": list(team.members)}
    fields |= {"created_at": time_text(team.created_at), **_metadata(team)}
    if team.status is TeamStatus.ARCHIVED:
        fields["status"] = team.status.value
    return _read({**fields, "messages": []}, stem=team.id, modified_at=team.created_at)


def render_team_file(file: TeamFile) -> str:
    """The text of the file: one line for each message, so that a person can read it and a program writes it fast."""
    lines = [
        f"  {to_json(name)}: {to_json(value, what='team file')}"
        for name, value in file.fields.items()
        if name != "messages"
    ]
    messages = ",\n".join(f"    {to_json(message, what='team file')}" for message in file.fields.get("messages") or [])
    lines.append(f'  "messages": [\n{messages}\n  ]' if messages else '  "messages": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def file_name_of(team_id: str) -> str:
    """A file name for any id: it cannot leave its folder, and no two ids share one."""
    plain = team_id.isascii() and team_id.replace("-", "").replace("_", "").isalnum()
    if plain and len(team_id) <= LONGEST_FILE_NAME:
        return f"{team_id}.json"
    from hashlib import sha256

    return f"team-{sha256(team_id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def messages_in(file: TeamFile) -> list[TeamMessage]:
    """The messages, one for each recipient."""
    return [
        row
        for fields, message_id, written_at in _entries(file)
        for row in rows_of(fields, team_id=file.team.id, message_id=message_id, written_at=written_at)
    ]


def problems_in(file: TeamFile) -> list[str]:
    """What stands among the messages and is none; the rest of the file can be used."""
    return [
        f"Its message {number} is not an object; only that message is left out."
        for number, fields in enumerate(file.fields.get("messages") or [], start=1)
        if not isinstance(fields, dict)
    ]


def with_message(
    file: TeamFile, *, id: str, sender: str, recipients: Sequence[str], content: str, at: float, session_id: str | None
) -> TeamFile:
    """The file with one more message."""
    draft = TeamMessage(id, file.team.id, at, sender, content, session_id=session_id, summary=summarise(content))
    return _with(file, messages=[*_listed(file), new_fields(draft, recipients)])


def with_reader(file: TeamFile, ids: Collection[str], member: str, *, at: float) -> TeamFile:
    """The file in which a member has read these messages; who read them before stays."""
    return _with_readers(file, dict.fromkeys(ids, (member,)), at=at)


def with_members(file: TeamFile, members: Sequence[str]) -> TeamFile:
    """The file with these members."""
    return _with(file, members=list(members))


def with_status(file: TeamFile, status: TeamStatus, *, at: float) -> TeamFile:
    """The file of a team that is in use or archived, and since when."""
    return _with(file, status=status.value, status_at=time_text(at))


def with_team(file: TeamFile, team: Team) -> TeamFile:
    """The file with what the database says about the team."""
    facts = {"name": team.name, "members": list(team.members), **_metadata(team)}
    says = {"status": team.status.value} if file.says_status or team.status is TeamStatus.ARCHIVED else {}
    return _with(file, **facts, **says)


def with_missing(file: TeamFile, messages: Iterable[TeamMessage], *, at: float) -> TeamFile:
    """The file with those messages of the database that it does not have, and with readers it does not know."""
    told = {id_in_file(message): message for message in messages}
    file = _with_readers(file, {id: message.read_by for id, message in told.items()}, at=at)
    held = {id for fields, message_id, _ in _entries(file) for id in row_ids(fields, message_id).values()}
    missing: dict[str, dict[str, Any]] = {}
    for id, message in told.items():
        if id not in held:
            fields = fields_of(message._replace(id=id))
            base = id_in(fields["id"]) or id
            if base in held:  # the file has the message, but not to this recipient
                base, fields = id, {**fields, "id": id, "to": [message.recipient]}
            # Rows to several recipients are one message of the file.
            missing[base] = with_readers(missing.get(base, fields), readers_in(fields), "")
    return _with(file, messages=[*_listed(file), *missing.values()])


def _with_readers(file: TeamFile, readers: Mapping[str, Sequence[str]], *, at: float) -> TeamFile:
    """The file with more readers, by the id of a message."""
    messages, when = _listed(file), time_text(at)
    numbers = [number for number, fields in enumerate(messages) if isinstance(fields, dict)]
    for number, (fields, message_id, _) in zip(numbers, _entries(file), strict=True):
        names = [name for row in row_ids(fields, message_id).values() for name in readers.get(row, ())]
        messages[number] = with_readers(fields, names, when)
    return _with(file, messages=messages)


def _listed(file: TeamFile) -> list[Any]:
    return list(file.fields.get("messages") or [])


def _with(file: TeamFile, **changed: Any) -> TeamFile:
    # A file without an id gets the one it was known by, so that its name may change.
    fields = {"id": file.team.id, **file.fields, **changed}
    return _read(fields, stem=file.team.id, modified_at=file.team.created_at)


def _read(fields: dict[str, Any], *, stem: str, modified_at: float) -> TeamFile:
    team_id = id_in(fields.get("id")) or id_in(stem) or _made_id(stem, 0, fields)
    created_at = time_in(fields.get("created_at"), modified_at)
    more = {name: value for name, value in fields.items() if name not in KNOWN}
    status = TeamStatus.ARCHIVED if fields.get("status") == TeamStatus.ARCHIVED.value else TeamStatus.ACTIVE
    team = Team(
        id=team_id,
        name=name_in(fields.get("name")) or team_id,
        created_at=created_at,
        updated_at=max(created_at, time_in(fields.get("status_at"), created_at)),
        members=tuple(_members(fields.get("members"))),
        status=status,
        node_metadata=more or None,
    )
    return TeamFile(fields, team)


def _metadata(team: Team) -> dict[str, Any]:
    return {name: value for name, value in (team.node_metadata or {}).items() if name not in KNOWN}


def _members(value: Any) -> list[str]:
    """Names of members, however they are listed: as texts, as objects with a name, or as the keys of an object."""
    listed = value if isinstance(value, dict | list) else []
    names = (entry.get("name") if isinstance(entry, dict) else entry for entry in listed)
    return list(dict.fromkeys(name for name in map(name_in, names) if name and name not in RESERVED_NAMES))


def _entries(file: TeamFile) -> Iterator[tuple[dict[str, Any], str, float]]:
    """Every message of the file with its id and its time. One without an id gets the same one each time it is read."""
    at = file.team.created_at
    for number, fields in enumerate(file.fields.get("messages") or []):
        if isinstance(fields, dict):
            at = time_in(first_of(fields, WRITTEN_AT), at)
            yield fields, id_in(fields.get("id")) or _made_id(file.team.id, number, fields), at


def _made_id(team_id: str, number: int, fields: Fields) -> str:
    from hashlib import sha256

    told = [team_id, number, first_of(fields, SENDER), first_of(fields, CONTENT), first_of(fields, WRITTEN_AT)]
    try:
        text = to_json(told)
    except InvalidContent:  # a number that JSON does not have
        text = repr(told)
    return sha256(text.encode()).hexdigest()[:32]
