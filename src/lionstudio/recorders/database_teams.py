"""Teams that are kept in the database only; `li team export` writes their files."""

from collections.abc import Sequence

from lionstudio.domain.team import Team, TeamMessage, TeamStatus, summarise
from lionstudio.domain.team_entries import new_fields, rows_of
from lionstudio.recorders.teams import (
    Inbox,
    Places,
    Post,
    Shown,
    choose_shown,
    members_after,
    new_team,
    require_reader,
    require_recipients,
)
from lionstudio.services import team_list, teams
from lionstudio.services.context import Context, new_id
from lionstudio.services.team_list import ListedTeam
from lionstudio.services.team_names import create_team


class DatabaseTeams:
    """Teams whose primary store is the database."""

    trouble = None  # a database that cannot be read is no answer here, but an error

    def __init__(self, places: Places) -> None:
        self._places = places

    def create(self, name: str, members: Sequence[str], description: str | None) -> Team:
        """Make a team; raises AlreadyExists if one of that name is in use."""
        team, ctx = new_team(name, members, description), self._places.to_write()
        return create_team(ctx, team, actor=self._places.actor())

    def list_teams(self) -> list[ListedTeam]:
        """Every team, newest first."""
        return team_list.list_with_counts(self._places.to_read())

    def show(self, typed: str, limit: int) -> Shown:
        """One team and its last messages; raises TeamNotFound."""
        ctx, team = self._find(typed)
        listed = team_list.get_listed(ctx, team.id)
        messages = team_list.list_last_messages(ctx, team.id, limit=limit)
        return Shown(team, listed.message_count if listed else 0, messages)

    def send(self, typed: str, post: Post) -> tuple[Team, Sequence[TeamMessage]]:
        """Say something to members of a team; raises TeamNotFound, and InvalidRequest for who is no member."""
        ctx, team = self._find(typed)
        require_recipients(team, post)
        draft = TeamMessage(new_id(), team.id, ctx.now(), post.sender, post.content, summary=summarise(post.content))
        # The rows that its file would bring in, so that an export makes one message of them again.
        fields = new_fields(draft, post.recipients)
        rows = rows_of(fields, team_id=team.id, message_id=draft.id, written_at=draft.created_at)
        return team, [
            teams.add_message(
                ctx, team.id, id=row.id, sender=row.sender, content=row.content, recipient=row.recipient,
                created_at=row.created_at, session_id=post.session_id, node_metadata=row.node_metadata,
            )
            for row in rows
        ]  # fmt: skip

    def receive(self, typed: str, member: str, *, everything: bool, peek: bool, limit: int) -> Inbox:
        """What is there for a member, which then counts as read unless it is a peek."""
        ctx, team = self._find(typed)
        messages = teams.list_inbox(ctx, team.id, member, unread_only=not everything, limit=team_list.EVERY)
        require_reader(team, messages, member)
        inbox = choose_shown(team, messages, everything=everything, limit=limit)
        if not peek:
            teams.mark_read(ctx, [message.id for message in inbox.messages], member)
        return inbox

    def change_members(self, typed: str, add: Sequence[str], remove: Sequence[str]) -> Team:
        """Let members in or go."""
        ctx, team = self._find(typed)
        members_after(team, add, remove)  # so that nothing is done if a part of it cannot be
        if add:
            team = teams.add_members(ctx, team.id, add, actor=self._places.actor())
        if remove:
            team = teams.remove_members(ctx, team.id, remove, actor=self._places.actor())
        return team

    def set_status(self, typed: str, status: TeamStatus) -> Team:
        """Archive a team, or take it back; raises IllegalTransition if it is so already."""
        # Who takes a team back means the archived one.
        is_back = status is TeamStatus.ACTIVE
        ctx, team = self._find(typed, TeamStatus.ARCHIVED if is_back else TeamStatus.ACTIVE)
        move = teams.archive_team if status is TeamStatus.ARCHIVED else teams.reactivate_team
        return move(ctx, team.id, actor=self._places.actor())

    def refresh(self, team_id: str) -> None:
        """Nobody but us writes to the database."""

    def _find(self, typed: str, status: TeamStatus = TeamStatus.ACTIVE) -> tuple[Context, Team]:
        ctx = self._places.to_read()
        team = team_list.find_meant(ctx, typed, status=status)
        if team is None:
            raise team_list.no_team(typed, team_list.list_names(ctx))
        return ctx, team
