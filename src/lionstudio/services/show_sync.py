"""Bringing one show up to what its folder says: all of it in one transaction, and nothing at all if it says no more."""

from typing import Any, NamedTuple

from lionstudio.domain.change import Topic
from lionstudio.domain.show import Play, Show
from lionstudio.domain.show_sync import Complaint, PlayOnDisk, ShowOnDisk, play_as_on_disk, show_as_on_disk
from lionstudio.services.admin import keep_history
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.play_runs import find_run
from lionstudio.services.sessions import find_locked
from lionstudio.services.shows import store_play
from lionstudio.store import sessions, shows
from lionstudio.store.rehearsal import is_rehearsal
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

ACTOR = "import"


class Difference(NamedTuple):
    """What the files change about a show or one of its plays."""

    topic: str
    play: str | None
    is_new: bool
    fields: tuple[tuple[str, Any, Any], ...] = ()  # name, before, after


class Synced(NamedTuple):
    """What bringing a show up to its folder came to."""

    differences: tuple[Difference, ...]
    plays: int  # on disk
    linked: int  # of which have a run
    complaints: tuple[Complaint, ...]


class _Comparison(NamedTuple):
    """A show and its plays before and after. None: it is new."""

    before: Show | None
    after: Show
    reason: str
    plays: tuple[tuple[Play | None, Play], ...]
    complaints: tuple[Complaint, ...]


@again_if_undone
def sync_show(ctx: Context, disk: ShowOnDisk) -> Synced:
    """Store what the files of a show say; raises Unavailable. Where they say nothing new, nothing is written.

    A rehearsal only compares: no show depends on another, and who only looks needs no right to write.
    """
    with ctx.db.read() as tx:
        compared = _compare(ctx, tx, disk, shows.find(tx, disk.topic))
    if _differences(compared) and not is_rehearsal(ctx.db):
        with ctx.db.write() as tx:
            known = shows.find(tx, disk.topic, lock=True)
            compared = _compare(ctx, tx, disk, known, lock=True)
            if not _store(ctx, tx, compared):  # somebody stored the show in this moment
                known = shows.find(tx, disk.topic, lock=True)
                compared = _compare(ctx, tx, disk, known, lock=True)
                _store(ctx, tx, compared)
    linked = sum(after.session_id is not None for _, after in compared.plays)
    return Synced(_differences(compared), len(compared.plays), linked, compared.complaints)


def _compare(ctx: Context, tx: Tx, disk: ShowOnDisk, known: Show | None, *, lock: bool = False) -> _Comparison:
    now = ctx.now()
    show = known or Show(ctx.new_id(), disk.topic, disk.folder, created_at=disk.created_at or now, updated_at=now)
    stored = {play.name: play for play in shows.list_plays(tx, show.id)} if known else {}
    plays: list[tuple[Play | None, Play]] = []
    complaints: list[Complaint] = []
    for one in disk.plays:
        before = stored.pop(one.name, None)
        new = Play(ctx.new_id(), show.id, one.name, created_at=one.created_at or show.created_at, updated_at=now)
        after, said = play_as_on_disk(one, before or new, is_new=before is None)
        after = after._replace(session_id=_find_run(tx, disk.topic, one, before, lock=lock))
        plays.append((before, shows.play_as_stored(after)))
        complaints += said
    complaints += [
        Complaint(name, f"The database knows this play as {play.status}, but it is not on disk any more.")
        for name, play in stored.items()
    ]
    after_show, reason, said = show_as_on_disk(disk, show, [after for _, after in plays], is_new=known is None)
    return _Comparison(known, shows.show_as_stored(after_show), reason, tuple(plays), (*complaints, *said))


def _find_run(tx: Tx, topic: str, disk: PlayOnDisk, before: Play | None, *, lock: bool) -> str | None:
    """The run of a play: the one that its files name, else the newest that is its own. A link never goes back."""
    told = disk.meta.facts.get("session_id") if disk.meta else None
    linked = before.session_id if before else None
    named = sessions.find(tx, text_in(told) or "") if told else None
    found = named or find_run(tx, topic, disk.name)
    if named is None and linked is not None:
        known = sessions.find(tx, linked)
        if found is None or (known is not None and known.created_at >= found.created_at):
            return linked
    if found is not None and lock and find_locked(tx, found.id) is None:
        return linked  # it was pruned in this moment
    return None if found is None else found.id


def _store(ctx: Context, tx: Tx, compared: _Comparison) -> bool:
    """Write what differs; False when the show was meant to be new and is there."""
    before, after = compared.before, compared.after
    now = ctx.now()
    if before is None and not shows.insert(tx, after):
        return False
    if before is not None and after != before:
        after = after._replace(updated_at=now)
        shows.update(tx, after)
    was = None if before is None else before.status
    if was is not after.status:
        keep_history(
            ctx, tx, "show", after.id, before=was, after=after.status, at=now, actor=ACTOR, reason=compared.reason
        )
    if before is None or after != before:
        tx.tell(Topic.SHOW, after.id, at=now)
    for known, play in compared.plays:
        store_play(ctx, tx, after, known, play, actor=ACTOR)
    return True


def _differences(compared: _Comparison) -> tuple[Difference, ...]:
    topic = compared.after.topic
    pairs: list[tuple[str | None, Show | Play | None, Show | Play]] = [(None, compared.before, compared.after)]
    pairs += [(after.name, before, after) for before, after in compared.plays]
    found = []
    for play, before, after in pairs:
        if before is None:
            found.append(Difference(topic, play, is_new=True))
        elif before != after:
            told = zip(after._fields, before, after, strict=True)
            changed = tuple((name, old, new) for name, old, new in told if old != new)
            found.append(Difference(topic, play, is_new=False, fields=changed))
    return tuple(found)
