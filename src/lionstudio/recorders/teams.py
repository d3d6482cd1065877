"""Teams as the command line keeps them: in files first, then in the database; or in the database only, by a setting."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lionstudio.domain.errors import Conflict, InvalidRequest
from lionstudio.domain.team import (
    ALL_RECIPIENTS,
    RESERVED_NAMES,
    Team,
    TeamMessage,
    TeamStatus,
    is_for,
    require_member_names,
    require_members,
)
from lionstudio.services.context import Context, new_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionstudio.recorders.database_teams import DatabaseTeams
    from lionstudio.recorders.file_teams import FileTeams


class Places(NamedTuple):
    """Where teams are: the folder of their files, the database, and where to say what went wrong."""

    folder: str
    to_read: Callable[[], Context]  # the database, which must be there
    to_write: Callable[[], Context]  # the database, made if it is not there yet
    say: Callable[[str], None]
    actor: Callable[[], str]
    sync: bool = True  # whether files survive a power loss, not only the kill of a process


class Post(NamedTuple):
    """What someone wants to say."""

    sender: str
    content: str
    recipients: Sequence[str] = (ALL_RECIPIENTS,)
    session_id: str | None = None


class Shown(NamedTuple):
    """One team with its last messages."""

    team: Team
    message_count: int
    messages: Sequence[TeamMessage]
    path: str | None = None


class Inbox(NamedTuple):
    """What is there for a member, and how many more messages wait."""

    team: Team
    messages: Sequence[TeamMessage]
    left: int = 0


def open_teams(places: Places, *, database_only: bool) -> "FileTeams | DatabaseTeams":
    """Teams in the place where the settings keep them."""
    if database_only:
        from lionstudio.recorders.database_teams import DatabaseTeams

        return DatabaseTeams(places)
    from lionstudio.recorders.file_teams import FileTeams

    return FileTeams(places)


def new_team(name: str, members: Sequence[str], description: str | None) -> Team:
    """A team that is about to be made; raises InvalidRequest."""
    if not name.strip():
        raise InvalidRequest("A team needs a name.")
    metadata = {"description": description} if description else None
    now = time.time()
    return Team(new_id(), name, now, now, require_member_names(members), node_metadata=metadata)


def require_recipients(team: Team, post: Post) -> None:
    """Raise InvalidRequest for what cannot be sent, or not to them, and Conflict for a team that is archived."""
    if team.status is TeamStatus.ARCHIVED:
        raise Conflict(f"The team {team.name!r} is archived.", hint="li team archive --undo takes it back.")
    if not post.content.strip():
        raise InvalidRequest("There is nothing to send.", hint="Give the text after the team, or - and type it.")
    if not post.sender.strip() or post.sender == ALL_RECIPIENTS:
        raise InvalidRequest(f"{post.sender!r} cannot send.", hint="Name a member after --from, or leave it out.")
    _require_text(post.content, "The message")
    _require_text(post.sender, "The name of the sender")
    require_members(team, post.recipients, known=(ALL_RECIPIENTS,))


def _require_text(text: str, what: str) -> None:
    """Raise InvalidRequest for bytes that were taken for text: whoever receives them could not read them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        reason = "is not UTF-8"
    else:
        reason = "holds NUL bytes"
        if "\0" not in text:
            return
    raise InvalidRequest(
        f"{what} {reason}, and members of a team send each other text.",
        hint="Put data into a file and send its path. Text in another encoding: iconv -f latin1 -t utf-8 FILE",
    )


def members_after(team: Team, add: Sequence[str], remove: Sequence[str]) -> tuple[str, ...]:
    """The members once some came and some went; raises InvalidRequest."""
    require_members(team, remove)
    return tuple(dict.fromkeys(name for name in (*team.members, *require_member_names(add)) if name not in remove))


def inbox_of(team: Team, messages: Sequence[TeamMessage], member: str, *, everything: bool, limit: int) -> Inbox:
    """What is there for a member among the messages of a team; raises InvalidRequest for who is no member."""
    require_reader(team, messages, member)
    ordered = sorted(messages, key=lambda message: message.created_at)
    own = [message for message in ordered if is_for(message, member) and (everything or member not in message.read_by)]
    return choose_shown(team, own, everything=everything, limit=limit)


def require_reader(team: Team, messages: Sequence[TeamMessage], member: str) -> None:
    """Raise InvalidRequest for who is no member and was never written to; who was a member may read on."""
    require_members(team, [member], known={message.recipient for message in messages} - RESERVED_NAMES)


def choose_shown(team: Team, messages: Sequence[TeamMessage], *, everything: bool, limit: int) -> Inbox:
    """The oldest of what is new, so that nothing is skipped; of everything, the last."""
    shown = messages[max(0, len(messages) - limit) :] if everything else messages[:limit]
    return Inbox(team, shown, len(messages) - len(shown))
