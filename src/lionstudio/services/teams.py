"""Teams: keep them, write within them, read what is there for a member, and see which runs they brought together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.change import Topic
from lionstudio.domain.drafts import require_time
from lionstudio.domain.errors import AlreadyExists, InvalidRequest, MessageNotFound, TeamNotFound
from lionstudio.domain.session import Session
from lionstudio.domain.team import (
    ALL_RECIPIENTS,
    Team,
    TeamMessage,
    TeamStatus,
    require_member_names,
    require_team_move,
    summarise,
)
from lionstudio.domain.team import mark_read as with_reader
from lionstudio.domain.words import parse_word
from lionstudio.services import sessions
from lionstudio.services.admin import keep_history
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.team_names import require_free
from lionstudio.store import audit, teams
from lionstudio.store.transaction import Tx

PAGE = 200
WAY_TO_MESSAGES = "li team show TEAM --json gives the messages of a team, with their ids."


class TeamFacts(TypedDict, total=False):
    """What may be said about a team. A new one needs a `name`; a fact that is not named stays as it is."""

    name: str
    members: Sequence[str]
    node_metadata: Mapping[str, Any] | None
    status: str
    created_at: float


def put_team(ctx: Context, team_id: str, *, actor: str, reason: str | None = None, **facts: Unpack[TeamFacts]) -> Team:
    """Store a team by its id. The same facts again change nothing and are no news."""
    checked: dict[str, Any] = dict(facts)
    if "status" in checked:
        checked["status"] = parse_word(TeamStatus, checked["status"], what="status of a team")
    if "members" in checked:
        checked["members"] = require_member_names(checked["members"])
    now = ctx.now()
    with ctx.db.write() as tx:
        before = teams.find(tx, team_id, lock=True)
        if before is None:
            if not team_id.strip() or not str(checked.get("name", "")).strip():
                raise InvalidRequest("A new team needs an id and a name.")
            new = Team(team_id, "", created_at=now, updated_at=now)
            after = teams.team_as_stored(new._replace(**checked))
            if teams.insert(tx, after):
                keep_history(
                    ctx, tx, "team", after.id, before=None, after=after.status, at=now, actor=actor, reason=reason
                )
                tx.tell(Topic.TEAM, after.id, at=now)
                return after
            before = _get(tx, team_id, lock=True)  # somebody stored it in this moment
        return _store(ctx, tx, before, before._replace(**checked), actor=actor, reason=reason)


def archive_team(ctx: Context, team_id: str, *, actor: str, sentence: str | None = None) -> Team:
    """Put a team away; raises IllegalTransition if it is archived already."""
    return _move(ctx, team_id, TeamStatus.ARCHIVED, actor=actor, reason="team.archived.by_operator", sentence=sentence)


def reactivate_team(ctx: Context, team_id: str, *, actor: str, sentence: str | None = None) -> Team:
    """Take an archived team into use again.

    Raises IllegalTransition if it is in use, and AlreadyExists if another one that has its name is.
    """
    return _move(ctx, team_id, TeamStatus.ACTIVE, actor=actor, reason="team.active.open", sentence=sentence)


def add_members(ctx: Context, team_id: str, names: Sequence[str], *, actor: str) -> Team:
    """Let more members in; those who are in already stay where they are."""
    added = require_member_names(names)
    with ctx.db.write() as tx:
        team = _get(tx, team_id, lock=True)
        return _store(ctx, tx, team, team._replace(members=(*team.members, *added)), actor=actor)


def remove_members(ctx: Context, team_id: str, names: Sequence[str], *, actor: str) -> Team:
    """Let members go; what they wrote stays. Raises InvalidRequest for a name that is no member."""
    with ctx.db.write() as tx:
        team = _get(tx, team_id, lock=True)
        strangers = [name for name in names if name not in team.members]
        if strangers:
            raise InvalidRequest(
                f"The team {team.name!r} has no member {', '.join(strangers)}.",
                hint=f"Its members are: {', '.join(team.members) or 'nobody'}.",
            )
        left = tuple(name for name in team.members if name not in names)
        return _store(ctx, tx, team, team._replace(members=left), actor=actor)


def delete_team(ctx: Context, team_id: str, *, actor: str) -> None:
    """Forget a team and its messages; its history stays."""
    now = ctx.now()
    with ctx.db.write() as tx:
        team = _get(tx, team_id, lock=True)
        teams.delete(tx, team.id)
        keep_history(ctx, tx, "team", team.id, before=team.status, after=None, at=now, actor=actor)
        tx.tell(Topic.TEAM, team.id, at=now)


def get_team(ctx: Context, team_id: str) -> Team:
    """The team of this id; raises TeamNotFound."""
    with ctx.db.read() as tx:
        return _get(tx, team_id)


def list_teams(
    ctx: Context, *, status: str | None = None, before: tuple[float, str] | None = None, limit: int = PAGE
) -> list[Team]:
    """Teams newest first, from the one after `before`, which is the (created_at, id) of the last one seen."""
    wanted = None if status is None else parse_word(TeamStatus, status, what="status of a team")
    with ctx.db.read() as tx:
        return teams.list_newest(tx, status=wanted, before=before, limit=limit)


def list_team_history(ctx: Context, team_id: str) -> list[StatusTransition]:
    """How a team came to its status, oldest first; a deleted team's history is still there."""
    with ctx.db.read() as tx:
        return audit.list_transitions(tx, "team", team_id)


def add_message(
    ctx: Context,
    team_id: str,
    *,
    sender: str,
    content: str,
    recipient: str = ALL_RECIPIENTS,
    id: str | None = None,
    created_at: float | None = None,
    summary: str | None = None,
    read_by: Sequence[str] = (),
    session_id: str | None = None,
    node_metadata: Mapping[str, Any] | None = None,
) -> TeamMessage:
    """Store one message of a team; raises TeamNotFound.

    An id that is there already keeps its message: only readers and metadata are added, and the run it came from if that
    was not known. A run that is recorded elsewhere is not linked.
    """
    if not sender.strip() or not recipient.strip():
        raise InvalidRequest("A message needs a sender and a recipient.", hint="The recipient may be all.")
    if created_at is not None:
        require_time("created_at", created_at)
    now = ctx.now()
    with ctx.db.write() as tx:
        team = _get(tx, team_id, lock=True)
        message = teams.message_as_stored(
            TeamMessage(
                id=id or ctx.new_id(),
                team_id=team.id,
                created_at=now if created_at is None else created_at,
                sender=sender,
                content=content,
                recipient=recipient,
                summary=summary or summarise(content),
                read_by=tuple(read_by),
                session_id=sessions.known_session(tx, session_id),
                node_metadata=node_metadata,
            )
        )
        if not teams.insert_message(tx, message):
            return _complete(ctx, tx, message)
        teams.touch(tx, team.id, at=message.created_at)
        tx.tell(Topic.TEAM_MESSAGE, message.id, session_id=message.session_id, at=now)
    return message


def mark_read(ctx: Context, message_ids: Sequence[str], member: str) -> list[TeamMessage]:
    """Note that a member has read these messages, all or none; raises MessageNotFound."""
    read: list[TeamMessage] = []
    with ctx.db.write() as tx:
        # In one order for everyone, so that two readers never wait for each other.
        for message_id in sorted(set(message_ids)):
            message = teams.find_message(tx, message_id, lock=True)
            if message is None:
                raise MessageNotFound(f"There is no team message {message_id!r}.", hint=WAY_TO_MESSAGES)
            read.append(_keep(ctx, tx, message, with_reader(message, member)))
    by_id = {message.id: message for message in read}
    return [by_id[message_id] for message_id in dict.fromkeys(message_ids)]


def list_messages(
    ctx: Context, team_id: str, *, after: tuple[float, str] | None = None, limit: int = PAGE
) -> list[TeamMessage]:
    """A team's messages, oldest first, from the one after `after`, the (created_at, id) of the last one seen."""
    with ctx.db.read() as tx:
        return teams.list_messages(tx, _get(tx, team_id).id, after=after, limit=limit)


def list_inbox(
    ctx: Context,
    team_id: str,
    member: str,
    *,
    unread_only: bool = False,
    after: tuple[float, str] | None = None,
    limit: int = PAGE,
) -> list[TeamMessage]:
    """What is there for a member: sent to them, or to all by someone else; oldest first."""
    with ctx.db.read() as tx:
        team = _get(tx, team_id)
        if not unread_only:
            return teams.list_messages(tx, team.id, member=member, after=after, limit=limit)
        found: list[TeamMessage] = []
        for message in _walk_inbox(tx, team.id, member, after=after):
            if len(found) >= limit:
                break
            if member not in message.read_by:
                found.append(message)
    return found


def list_runs(ctx: Context, team_id: str, *, limit: int = PAGE) -> list[Session]:
    """The runs that coordinated through a team, newest first (R122)."""
    with ctx.db.read() as tx:
        return teams.list_runs(tx, _get(tx, team_id).id, limit=limit)


def _get(tx: Tx, team_id: str, *, lock: bool = False) -> Team:
    team = teams.find(tx, team_id, lock=lock)
    if team is None:
        raise TeamNotFound(f"There is no team {team_id!r}.", hint="li team list shows the teams there are.")
    return team


@again_if_undone
def _move(ctx: Context, team_id: str, to: TeamStatus, *, actor: str, reason: str, sentence: str | None) -> Team:
    with ctx.db.write() as tx:
        if to is TeamStatus.ACTIVE:
            teams.lock_names(tx)
        before = _get(tx, team_id, lock=True)
        require_team_move(before.status, to)
        if to is TeamStatus.ACTIVE:
            require_free(before.name, teams.find_by_name(tx, before.name))
        after = before._replace(status=to)
        return _store(ctx, tx, before, after, actor=actor, reason=reason, sentence=sentence)


def _store(
    ctx: Context,
    tx: Tx,
    before: Team,
    after: Team,
    *,
    actor: str,
    reason: str | None = None,
    sentence: str | None = None,
) -> Team:
    after = teams.team_as_stored(after)
    if after == before:
        return before
    now = ctx.now()
    after = after._replace(updated_at=max(now, before.updated_at))
    teams.update(tx, after)
    if after.status is not before.status:
        keep_history(
            ctx, tx, "team", after.id, before=before.status, after=after.status,
            at=now, actor=actor, reason=reason, sentence=sentence,
        )  # fmt: skip
    tx.tell(Topic.TEAM, after.id, at=now)
    return after


def _complete(ctx: Context, tx: Tx, again: TeamMessage) -> TeamMessage:
    """Add to a stored message what a second telling of it knows more."""
    stored = teams.find_message(tx, again.id, lock=True)
    if stored is None or stored.team_id != again.team_id:
        raise AlreadyExists(f"Another team has a message {again.id!r}.")
    complete = stored._replace(
        read_by=(*stored.read_by, *again.read_by),
        session_id=stored.session_id or again.session_id,
        node_metadata={**(again.node_metadata or {}), **(stored.node_metadata or {})} or None,
    )
    return _keep(ctx, tx, stored, complete)


def _keep(ctx: Context, tx: Tx, before: TeamMessage, after: TeamMessage) -> TeamMessage:
    after = teams.message_as_stored(after)
    if after != before:
        teams.update_message(tx, after)
        tx.tell(Topic.TEAM_MESSAGE, after.id, session_id=after.session_id, at=ctx.now())
    return after


def _walk_inbox(tx: Tx, team_id: str, member: str, *, after: tuple[float, str] | None) -> Iterator[TeamMessage]:
    """A member's whole inbox, read page by page: whoever asks for a few unread messages does not load it all."""
    while page := teams.list_messages(tx, team_id, member=member, after=after, limit=PAGE):
        yield from page
        after = (page[-1].created_at, page[-1].id)
