"""Merging a team that is told elsewhere, in its file, into the database. Doing it again changes nothing.

Apart from `teams`, because every `li team send` does it and must be quick: what it needs rarely is loaded then.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.team import Team, TeamMessage
from lionstudio.domain.team_entries import FILE, LACKS, by_message, copied_id, with_run
from lionstudio.domain.team_files import TeamFile, messages_in
from lionstudio.services.context import Context, again_if_undone
from lionstudio.store import teams
from lionstudio.store.teams import Marks
from lionstudio.store.transaction import Tx

TOLD_ONE_BY_ONE = 100  # messages; more are one line of news about the team

Metadata = Mapping[str, Any] | None


class TeamTold(NamedTuple):
    """A team and its messages, as a file tells them."""

    team: Team
    messages: Sequence[TeamMessage]
    says_status: bool = False  # whether it is said if the team is archived
    is_primary: bool = True  # whether what is told wins over what the database holds


class Merged(NamedTuple):
    """What a merge changed, or would change."""

    team_added: bool = False
    team_changed: bool = False
    messages_added: int = 0
    messages_changed: int = 0

    @property
    def is_nothing(self) -> bool:
        return self == Merged()

    def plus(self, more: "Merged") -> "Merged":
        """Both, one after the other."""
        return Merged(
            self.team_added or more.team_added,
            self.team_changed or (more.team_changed and not self.team_added),
            self.messages_added + more.messages_added,
            self.messages_changed + more.messages_changed,
        )


class _Difference(NamedTuple):
    before: Team | None
    after: Team
    added: Sequence[TeamMessage]
    changed: Sequence[TeamMessage]

    def counts(self) -> Merged:
        is_changed = self.before is not None and bool(self.before != self.after or self.added or self.changed)
        return Merged(self.before is None, is_changed, len(by_message(self.added)), len(by_message(self.changed)))


def told_by(file: TeamFile, *, is_primary: bool = True) -> TeamTold:
    """What a team file tells."""
    return TeamTold(file.team, messages_in(file), file.says_status, is_primary)


def merge_latest(
    ctx: Context, told: TeamTold, read_again: Callable[[], TeamFile | None], *, actor: str, is_news: bool = False
) -> Merged:
    """Merge what a file tells, and again if it was written meanwhile: who is late must not leave older facts behind.

    The file is not kept locked for it, because a database may be waited for longer than a lock. `read_again` gives the
    file as it is then, or None when it is gone or being mended: whoever looks at it next tells.
    """
    merged = total = merge_team(ctx, told, actor=actor, is_news=is_news)
    while not merged.is_nothing:
        file = read_again()
        latest = told if file is None else told_by(file, is_primary=told.is_primary)
        if latest == told:
            break
        told = latest
        merged = merge_team(ctx, told, actor=actor)
        total = total.plus(merged)
    return total


@again_if_undone
def merge_team(ctx: Context, told: TeamTold, *, actor: str, dry_run: bool = False, is_news: bool = False) -> Merged:
    """Store what is new in a team that is told elsewhere: the team, its messages, who read them, which runs wrote them.

    Messages are never deleted. Where the teller is not primary, members are only added, and nothing else is changed.
    `is_news` says that something is new for sure.
    """
    if not is_news:
        with ctx.db.read() as tx:  # nearly always there is nothing to do, and then nobody has to wait for a writer
            counts = _compare(tx, told, teams.find(tx, told.team.id), _find_session).counts()
        if dry_run or counts.is_nothing:
            return counts
    with ctx.db.write() as tx:
        before = teams.find(tx, told.team.id, lock=True)
        if before is None and not teams.insert(tx, teams.team_as_stored(told.team)):
            before = teams.find(tx, told.team.id, lock=True)  # somebody stored it in this moment
        difference = _compare(tx, told, before, _hold_session)
        _store_team(ctx, tx, difference, actor)
        _store_messages(ctx, tx, difference)
    return difference.counts()


def _compare(tx: Tx, told: TeamTold, before: Team | None, session: Callable[[Tx, str], str | None]) -> _Difference:
    marks = {} if before is None else teams.list_marks(tx, told.team.id)
    sessions = {id: session(tx, id) for id in sorted({message.session_id or "" for message in told.messages} - {""})}
    added: dict[str, TeamMessage] = {}
    changed: dict[str, TeamMessage] = {}
    for message in map(teams.message_as_stored, told.messages):
        known_id = next((id for id in (message.id, copied_id(message)) if id in marks), None)
        stands = marks[known_id] if known_id else None
        now = _marks_after(stands, message, sessions.get(message.session_id or ""), is_primary=told.is_primary)
        complete = message._replace(id=known_id or message.id, **now._asdict())
        if known_id is None:
            added[message.id] = complete
        elif stands != now:
            changed[known_id] = complete
    after = teams.team_as_stored(_merged(before, told))
    latest = max((message.created_at for message in added.values()), default=after.updated_at)
    after = after._replace(updated_at=max(after.updated_at, latest))
    return _Difference(before, after, tuple(added.values()), tuple(changed.values()))


def _marks_after(stands: Marks | None, told: TeamMessage, linked: str | None, *, is_primary: bool) -> Marks:
    """What holds about a message once it is told; `stands` is what held before, if it was known."""
    before = stands or Marks()
    session_id = before.session_id or linked
    run = told.session_id if stands is None and session_id is None else _unlinked_run(before)
    metadata = told.node_metadata if run is None else with_run(told.node_metadata, run)
    return Marks(
        tuple(dict.fromkeys((*before.read_by, *told.read_by))),
        session_id,
        _merged_metadata(before.node_metadata, metadata, is_primary=is_primary),
    )


def _unlinked_run(stands: Marks) -> str | None:
    """The run that a message was said to come from when it was stored, if that was not recorded here."""
    run = ((stands.node_metadata or {}).get(FILE) or {}).get("session_id")
    return run if isinstance(run, str) else None


def _merged_metadata(stands: Metadata, told: Metadata, *, is_primary: bool) -> Metadata:
    """What is known about a message beside its columns: of what files say of it, the primary one is believed."""
    if not is_primary:
        return {**(told or {}), **(stands or {})} or None
    beside = {name: value for name, value in (stands or {}).items() if name not in (FILE, LACKS)}
    return {**beside, **(told or {})} or None


def _merged(before: Team | None, told: TeamTold) -> Team:
    team = told.team
    if before is None:
        return team
    if not told.is_primary:
        metadata = {**(team.node_metadata or {}), **(before.node_metadata or {})}
        return before._replace(members=(*before.members, *team.members), node_metadata=metadata or None)
    metadata = {**(before.node_metadata or {}), **(team.node_metadata or {})}
    status = team.status if told.says_status else before.status
    return before._replace(name=team.name, members=team.members, status=status, node_metadata=metadata or None)


def _store_team(ctx: Context, tx: Tx, difference: _Difference, actor: str) -> None:
    before, after, now = difference.before, difference.after, ctx.now()
    is_touched = before is not None and before == after._replace(updated_at=before.updated_at)
    if before is not None and not is_touched:
        after = after._replace(updated_at=max(now, after.updated_at))
    if before != after:
        teams.update(tx, after)
    status_before = None if before is None else before.status
    if status_before is not after.status:
        from lionstudio.services.admin import keep_history

        keep_history(ctx, tx, "team", after.id, before=status_before, after=after.status, at=now, actor=actor)
    if not is_touched or len(difference.added) + len(difference.changed) > TOLD_ONE_BY_ONE:
        tx.tell(Topic.TEAM, after.id, at=now)


def _store_messages(ctx: Context, tx: Tx, difference: _Difference) -> None:
    stored = [_insert(tx, message) for message in difference.added]
    for message in difference.changed:
        teams.update_message(tx, message)
        stored.append(message)
    if len(stored) <= TOLD_ONE_BY_ONE:
        for message in stored:
            tx.tell(Topic.TEAM_MESSAGE, message.id, session_id=message.session_id, at=ctx.now())


def _insert(tx: Tx, message: TeamMessage) -> TeamMessage:
    if teams.insert_message(tx, message):
        return message
    copied = message._replace(id=copied_id(message))
    teams.insert_message(tx, copied)
    return copied


def _find_session(tx: Tx, session_id: str) -> str | None:
    from lionstudio.store import sessions

    return session_id if sessions.find(tx, session_id) is not None else None


def _hold_session(tx: Tx, session_id: str) -> str | None:
    from lionstudio.services.sessions import known_session

    return known_session(tx, session_id)
