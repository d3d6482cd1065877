"""Teams whose files are the primary store (R118).

What was said is in the team's file when a call returns. The database is written after the file is unlocked; if it does
not take it, that is said, and whatever is done next with the team brings it in.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial

from lionstudio.domain.errors import AlreadyExists, Conflict, Error, Invalid, InvalidContent, NoDatabaseYet, Unavailable
from lionstudio.domain.team import Team, TeamMessage, TeamStatus, choose_meant, require_team_move
from lionstudio.domain.team_entries import by_message, last_messages
from lionstudio.domain.team_files import (
    TeamFile,
    messages_in,
    new_team_file,
    with_members,
    with_message,
    with_missing,
    with_reader,
    with_status,
)
from lionstudio.recorders import team_files, team_finding
from lionstudio.recorders.team_finding import Found
from lionstudio.recorders.teams import (
    Inbox,
    Places,
    Post,
    Shown,
    inbox_of,
    members_after,
    new_team,
    require_recipients,
)
from lionstudio.services.context import Context, new_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lionstudio.services.team_list import ListedTeam

REPAIRED_BY = "It is in the file; the next li team command on it, or li state import-teams, brings it in."


class FileTeams:
    """Teams whose files are the primary store."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._folder = places.folder
        self.trouble: Unavailable | None = None  # why the database could not be read: what only it knows is missing
        self._watched: str | None = None  # the file that is looked at again and again
        self._seen: object = None

    def create(self, name: str, members: Sequence[str], description: str | None) -> Team:
        """Make a team; raises AlreadyExists if one of that name is in use."""
        team = new_team(name, members, description)
        with team_files.holding(self._folder):
            self._require_free(name)
            path = team_files.create_file(self._folder, new_team_file(team))
        self._store(Found(path, team_files.read_file(path)))
        return team

    def list_teams(self) -> "list[ListedTeam]":
        """Every team: those that have a file, then those that only the database knows.

        A database that cannot be read is said and leaves its teams out; where no file can answer, it is raised.
        """
        from lionstudio.services.team_list import ListedTeam, list_with_counts

        rows = {}
        for found in self._read_all():
            messages = self._bring_in(found)
            last_at = max((message.created_at for message in messages), default=None)
            rows[found.file.team.id] = ListedTeam(found.file.team, len(by_message(messages)), last_at)
        ctx = self._database(needed=not rows)
        for listed in list_with_counts(ctx) if ctx else []:
            known = rows.setdefault(listed.team.id, listed)
            if known.team.status is not listed.team.status:  # lionagi's files do not say that a team is archived
                rows[listed.team.id] = known._replace(team=known.team._replace(status=listed.team.status))
        return sorted(rows.values(), key=lambda row: (row.team.created_at, row.team.id), reverse=True)

    def show(self, typed: str, limit: int) -> Shown:
        """One team and its last messages; raises TeamNotFound."""
        found = self._find(typed)
        messages = self._bring_in(found)
        team = self._with_status(found.file)
        return Shown(team, len(by_message(messages)), last_messages(messages, limit), found.path)

    def send(self, typed: str, post: Post) -> tuple[Team, Sequence[TeamMessage]]:
        """Say something to members of a team; raises TeamNotFound, and InvalidRequest for who is no member."""
        message_id = new_id()

        def change(file: TeamFile) -> TeamFile:
            require_recipients(file.team, post)
            return with_message(
                file, id=message_id, sender=post.sender, recipients=post.recipients, content=post.content,
                at=time.time(), session_id=post.session_id,
            )  # fmt: skip

        written = self._write(self._find_to_write(typed).path, change)
        messages = self._store(written)
        return written.file.team, [message for message in messages if message.id.split(":")[0] == message_id]

    def receive(self, typed: str, member: str, *, everything: bool, peek: bool, limit: int) -> Inbox:
        """What is there for a member, which then counts as read unless it is a peek."""
        found = self._find(typed) if peek else self._find_to_write(typed)
        inbox = inbox_of(found.file.team, messages_in(found.file), member, everything=everything, limit=limit)
        if peek or not inbox.messages:
            self._bring_in(found)
            return inbox

        def change(file: TeamFile) -> TeamFile:
            # Read again under the lock: nobody else's message is between what is shown and what counts as read.
            nonlocal inbox
            inbox = inbox_of(file.team, messages_in(file), member, everything=everything, limit=limit)
            return with_reader(file, [message.id for message in inbox.messages], member, at=time.time())

        self._store(self._write(found.path, change))
        return inbox

    def change_members(self, typed: str, add: Sequence[str], remove: Sequence[str]) -> Team:
        """Let members in or go."""
        if not add and not remove:
            return self.show(typed, 0).team

        def change(file: TeamFile) -> TeamFile:
            return with_members(file, members_after(file.team, add, remove))

        written = self._write(self._find_to_write(typed).path, change)
        self._store(written)
        return written.file.team

    def set_status(self, typed: str, status: TeamStatus) -> Team:
        """Archive a team, or take it back; raises IllegalTransition if it is so already."""
        is_back = status is TeamStatus.ACTIVE
        # Who takes a team back means the archived one.
        found = self._find_to_write(typed, TeamStatus.ARCHIVED if is_back else TeamStatus.ACTIVE)
        require_team_move(self._with_status(found.file).status, status)
        with team_files.holding(self._folder):
            if is_back:
                self._require_free(found.file.team.name, unless=found.file.team.id)
            written = self._write(found.path, lambda file: with_status(file, status, at=time.time()))
        self._store(written)
        return written.file.team

    def refresh(self, team_id: str) -> None:
        """Bring into the database what others wrote into the file of a team."""
        found = team_finding.find_file(self._folder, team_id) if self._watched is None else None
        path = found.path if found else self._watched
        if path is None:
            return
        self._watched = path
        with suppress(Error):  # it is gone, or being mended: the next look tells
            seen = team_files.signature(path)
            if seen != self._seen:
                self._bring_in(Found(path, team_files.read_file(path)))
                self._seen = seen

    def _require_free(self, name: str, *, unless: str | None = None) -> None:
        """Raise AlreadyExists if a team of this name is in use, but this one: in a file or only in the database."""
        from lionstudio.services.team_names import list_named, require_free

        for found in team_finding.list_named(self._folder, name):
            if found.file.team.id != unless:
                require_free(name, self._with_status(found.file))
        ctx = self._database()
        for stored in list_named(ctx, name) if ctx else ():
            if stored.id != unless and not self._has_file(stored.id):  # else its file was asked, and knows better
                require_free(name, stored)

    def _has_file(self, team_id: str) -> bool:
        each = team_finding.read_each(self._folder)
        return any(isinstance(file, TeamFile) and file.team.id == team_id for _, file in each)

    def _write(self, path: str, change: Callable[[TeamFile], TeamFile]) -> Found:
        return Found(path, team_files.change_file(path, change, sync=self._places.sync))

    def _find(self, typed: str, status: TeamStatus = TeamStatus.ACTIVE) -> Found:
        """The team that is meant: from its file, or else as the file that the database would make of it.

        Of several teams of one name those in this status are meant, if there are any; raises Ambiguous.
        """
        files = {found.file.team.id: found for found in team_finding.list_candidates(self._folder, typed)}
        named = [found for found in files.values() if found.file.team.name == typed]
        if typed in files:
            return files[typed]
        ctx = self._database(needed=not any(typed and id.startswith(typed) for id in files) and not named)
        told = [self._with_status(found.file) if found in named else found.file.team for found in files.values()]
        team = choose_meant(typed, [*told, *self._only_stored(ctx, typed, files)], status=status)
        if team is not None and team.id in files:
            return files[team.id]
        if ctx is None or team is None:
            raise self._not_found(typed, ctx)
        from lionstudio.services.team_list import list_all_messages

        file = with_missing(new_team_file(team), list_all_messages(ctx, team.id), at=time.time())
        return Found("", file)

    def _only_stored(self, ctx: Context | None, typed: str, files: Collection[str]) -> Iterator[Team]:
        """The teams that may be meant, and that only the database knows: what a file says goes before that."""
        if ctx is not None:
            from lionstudio.services.team_list import list_candidates

            found = (team for team in list_candidates(ctx, typed) if team.id not in files)
            yield from (team for team in found if not self._has_file(team.id))

    def _find_to_write(self, typed: str, status: TeamStatus = TeamStatus.ACTIVE) -> Found:
        found = self._find(typed, status)
        if found.path:
            return found
        path = team_files.path_of(self._folder, found.file.team.id)
        with suppress(AlreadyExists):  # somebody did the same in this moment, or what is there cannot be read
            team_files.create_file(self._folder, found.file)
        try:
            return Found(path, team_files.read_file(path))
        except InvalidContent as error:
            raise Conflict(
                f"The team file {path} cannot be used. {error.message}",
                hint=f"Mend it, or move it away and type: li team export {found.file.team.id}",
            ) from error

    def _not_found(self, typed: str, ctx: Context | None) -> Error:
        from lionstudio.services.team_list import list_names, no_team

        return no_team(
            typed, [*(found.file.team.name for found in self._read_all()), *(list_names(ctx) if ctx else [])]
        )

    def _read_all(self) -> Iterator[Found]:
        """Every team file; what cannot be read is named."""
        for path, file in team_finding.read_each(self._folder):
            if isinstance(file, Error):
                self._places.say(f"Left out: {path}: {file.message}")
            else:
                yield Found(path, file)

    def _database(self, *, needed: bool = False) -> Context | None:
        """The database, if there is one; reading creates none. One that cannot be read is said once, or raised."""
        if self.trouble is None:
            try:
                return self._places.to_read()
            except NoDatabaseYet:
                return None
            except Unavailable as error:
                self.trouble = error
                if not needed:
                    self._places.say(f"The database could not be read: {error.message} {error.hint or ''}".rstrip())
        if needed:
            raise self.trouble
        return None

    def _with_status(self, file: TeamFile) -> Team:
        """The team with what the database says where the file does not say whether it is archived."""
        ctx = None if file.says_status else self._database()
        if ctx is None:
            return file.team
        from lionstudio.services.team_list import get_listed

        listed = get_listed(ctx, file.team.id)
        return file.team if listed is None else file.team._replace(status=listed.team.status)

    def _bring_in(self, found: Found) -> Sequence[TeamMessage]:
        """Repair a database that lacks something of the file, where one is there; the messages of the file."""
        ctx = self._database() if found.path else None  # without a file, the database itself told it
        if ctx is not None:
            with suppress(Unavailable, Invalid):  # nobody asked for it; who imports or verifies is told
                self._merge(ctx, found)
        return sorted(messages_in(found.file), key=lambda message: message.created_at)

    def _store(self, written: Found) -> Sequence[TeamMessage]:
        """Write to the database what is in the file now; say so if it cannot be. The messages that were written."""
        try:
            if self.trouble is not None:
                raise self.trouble
            ctx = self._places.to_write()
            # Opening the database may have taken long: others may have written since.
            latest = team_files.read_again(written.path) or written.file
            self._merge(ctx, Found(written.path, latest), is_news=True)
        except Unavailable as error:
            why = f": {error.message}" if self.trouble is None else "."  # else it was said why
            self._places.say(f"The database did not take it{why} {REPAIRED_BY}")
        return messages_in(written.file)

    def _merge(self, ctx: Context, found: Found, *, is_news: bool = False) -> None:
        from lionstudio.services.team_merge import merge_latest, told_by

        again = partial(team_files.read_again, found.path)
        merge_latest(ctx, told_by(found.file), again, actor=self._places.actor(), is_news=is_news)
