"""Teams as people look at them: lists page by page, one team in full, and what was written in it (R119 to R126).

A page takes a fixed number of questions to the database, however many teams or messages it is about.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.errors import InvalidRequest, MessageNotFound
from lionstudio.domain.session import Session
from lionstudio.domain.session_list import PAGE_LIMIT, Cursor, decode_cursor
from lionstudio.domain.team import RESERVED_NAMES, Team, TeamMessage, TeamStatus, require_members
from lionstudio.domain.team_list import Beside, Member, MessageFilter, derive_members
from lionstudio.domain.words import parse_word
from lionstudio.services import runs, sessions
from lionstudio.services.context import Context
from lionstudio.services.naming import names_in
from lionstudio.services.runs import SessionSummary
from lionstudio.services.team_list import ListedTeam, find_meant, list_names, no_team
from lionstudio.services.teams import WAY_TO_MESSAGES
from lionstudio.store import audit, team_counts, team_pages, teams
from lionstudio.store import sessions as session_rows
from lionstudio.store.transaction import Tx

PAGE = 100
RUNS_SHOWN = 100
TEXT_AT_ONCE = 8 * 1024 * 1024  # characters of a page: it ends earlier rather than grow without end


class TeamPage(NamedTuple):
    """One page of teams, newest first, and where the next one begins."""

    items: tuple[ListedTeam, ...]
    next_cursor: str | None


class LinkedRun(NamedTuple):
    """A run that coordinated through a team (R122)."""

    run: SessionSummary
    messages: int  # that it wrote to the team


class TeamDetail(NamedTuple):
    """One team in full."""

    listed: ListedTeam
    members: tuple[Member, ...]  # in the order of the team, then the others
    runs: tuple[LinkedRun, ...]  # the newest ones
    run_count: int
    history: tuple[StatusTransition, ...]


class TeamMessagePage(NamedTuple):
    """One page of messages, where the next one begins, and what the messages refer to."""

    items: tuple[TeamMessage, ...]
    next_cursor: str | None
    team_names: Mapping[str, str]
    sessions: Mapping[str, Session]
    session_names: Mapping[str, str]


def page_teams(ctx: Context, *, status: str | None = None, cursor: str | None = None, limit: int = PAGE) -> TeamPage:
    """Teams in this status, with how much was written in them; raises InvalidRequest or UnknownWord."""
    wanted = None if status is None else parse_word(TeamStatus, status, what="status of a team")
    limit = max(1, min(limit, PAGE_LIMIT))
    before = None if cursor is None else decode_cursor(cursor)[1:]
    with ctx.db.read() as tx:
        found = teams.list_newest(tx, status=wanted, before=before, limit=limit + 1)
        counts = team_counts.count_in(tx, [team.id for team in found])
    items = tuple(ListedTeam(team, *counts.get(team.id, (0, None))) for team in found[:limit])
    last = items[-1].team if len(found) > limit else None
    return TeamPage(items, None if last is None else Cursor(0, last.created_at, last.id).encode())


def get_meant(ctx: Context, typed: str) -> Team:
    """The team of this id or name; raises TeamNotFound or Ambiguous."""
    team = find_meant(ctx, typed)
    if team is None:
        raise no_team(typed, list_names(ctx))
    return team


def get_team_detail(ctx: Context, typed: str) -> TeamDetail:
    """One team in full, by its id or name; raises TeamNotFound or Ambiguous."""
    team = get_meant(ctx, typed)
    with ctx.db.read() as tx:
        count, last_at = team_counts.count_in_one(tx, team.id)
        written = team_pages.list_written(tx, team.id)
        by_run = team_counts.count_by_run(tx, team.id)
        linked = teams.list_runs(tx, team.id, limit=RUNS_SHOWN)
        history = audit.list_transitions(tx, "team", team.id)
    return TeamDetail(
        ListedTeam(team, count, last_at),
        derive_members(team, written),
        tuple(LinkedRun(run, by_run.get(run.session.id, 0)) for run in runs.summarise(ctx, linked)),
        len(by_run),
        tuple(history),
    )


def page_messages(
    ctx: Context,
    typed: str,
    wanted: MessageFilter | None = None,
    *,
    newest_first: bool = True,
    cursor: str | None = None,
    limit: int = PAGE,
) -> TeamMessagePage:
    """What was written in a team; raises TeamNotFound, Ambiguous, or InvalidRequest for a name nobody has."""
    team = get_meant(ctx, typed)
    wanted = (wanted or MessageFilter())._replace(team_id=team.id)
    if wanted.is_unread and wanted.member is None:
        raise InvalidRequest("Only a member has unread messages.", hint="Say whose: member=NAME")
    with ctx.db.read() as tx:
        for name in (wanted.member, wanted.sender, wanted.recipient):
            if name is not None and name not in RESERVED_NAMES and not team_pages.has_name(tx, team.id, name):
                require_members(team, [name])
        return _page(tx, wanted, newest_first=newest_first, cursor=cursor, limit=limit)


def page_messages_of_session(
    ctx: Context,
    session_id: str,
    *,
    beside: bool = False,
    newest_first: bool = False,
    cursor: str | None = None,
    limit: int = PAGE,
) -> TeamMessagePage:
    """What a run wrote to its teams, or all that was written there meanwhile; raises SessionNotFound."""
    with ctx.db.read() as tx:
        session = sessions.get(tx, session_id)
        since = session.created_at if session.started_at is None else session.started_at
        until = ctx.now() if session.ended_at is None else session.ended_at
        span = Beside(session.id, since, until)
        wanted = MessageFilter(beside=span) if beside else MessageFilter(session_id=session.id)
        return _page(tx, wanted, newest_first=newest_first, cursor=cursor, limit=limit)


def get_message(ctx: Context, typed: str, message_id: str) -> TeamMessagePage:
    """One message of a team, as a page of one; raises TeamNotFound, Ambiguous or MessageNotFound."""
    team = get_meant(ctx, typed)
    with ctx.db.read() as tx:
        message = teams.find_message(tx, message_id)
        if message is None or message.team_id != team.id:
            raise MessageNotFound(f"The team {team.name!r} has no message {message_id!r}.", hint=WAY_TO_MESSAGES)
        return _referred(tx, (message,), None)


def _page(tx: Tx, wanted: MessageFilter, *, newest_first: bool, cursor: str | None, limit: int) -> TeamMessagePage:
    limit = max(1, min(limit, PAGE_LIMIT))
    key = None if cursor is None else decode_cursor(cursor)[1:]
    found = team_pages.list_messages(tx, wanted, newest_first=newest_first, key=key, limit=limit + 1)
    items = _not_too_much(found[:limit])
    last = items[-1] if len(items) < len(found) else None
    return _referred(tx, items, None if last is None else Cursor(0, last.created_at, last.id).encode())


def _not_too_much(messages: Sequence[TeamMessage]) -> tuple[TeamMessage, ...]:
    """As many of the messages as an answer may hold, and at least one."""
    size = 0
    for number, message in enumerate(messages):
        size += len(message.content)
        if size > TEXT_AT_ONCE and number:
            return tuple(messages[:number])
    return tuple(messages)


def _referred(tx: Tx, items: tuple[TeamMessage, ...], next_cursor: str | None) -> TeamMessagePage:
    linked = session_rows.find_many(tx, {one.session_id for one in items if one.session_id is not None})
    names = team_pages.find_names(tx, {one.team_id for one in items})
    return TeamMessagePage(items, next_cursor, names, linked, names_in(tx, linked.values()))
