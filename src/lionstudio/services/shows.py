"""Shows and plays: keep each step of them (R60), and move them by the rules.

`put_…` stores what is known, whatever the status was before: files on disk are the authored truth. `move_…` is what the
director and operators do, and is guarded. Both take facts by name; a fact that is not named stays as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.change import Topic
from lionstudio.domain.errors import InvalidRequest, PlayNotFound, ShowNotFound
from lionstudio.domain.play_graph import PlayGraph
from lionstudio.domain.show import (
    Play,
    PlayStatus,
    Show,
    ShowStatus,
    StatusSource,
    require_play_move,
    require_show_move,
)
from lionstudio.domain.words import parse_word
from lionstudio.services import sessions
from lionstudio.services.admin import keep_history
from lionstudio.services.context import Context
from lionstudio.store import audit, shows
from lionstudio.store.shows import PlayWithTopic
from lionstudio.store.transaction import Tx

PAGE = 100


class ShowFacts(TypedDict, total=False):
    """What may be said about a show. A new one needs a `show_dir`."""

    show_dir: str
    status: str
    status_source: str | None
    goal: str | None
    repo: str | None
    base_branch: str | None
    integration_branch: str | None
    created_at: float


class StepFacts(TypedDict, total=False):
    """What a step of a play may leave behind."""

    attempt: int
    playbook: str | None
    effort: str | None
    session_id: str | None
    started_at: float | None
    ended_at: float | None
    exit_code: int | None
    worktree: str | None
    branch: str | None
    merge_sha: str | None
    merged_at: float | None
    gate_passed: bool | None
    gate_feedback: str | None
    depends_on: Sequence[str]
    sort_order: int
    created_at: float


class PlayFacts(StepFacts, total=False):
    """What may be said about a play."""

    status: str


def put_show(ctx: Context, topic: str, *, actor: str, reason: str | None = None, **facts: Unpack[ShowFacts]) -> Show:
    """Store a show by its topic. The same facts again change nothing and are no news."""
    with ctx.db.write() as tx:
        return _put_show(ctx, tx, topic, facts, actor=actor, reason=reason)


def put_play(
    ctx: Context, topic: str, name: str, *, actor: str, reason: str | None = None, **facts: Unpack[PlayFacts]
) -> Play:
    """Store a play by its show and name; raises ShowNotFound, and SessionNotFound for a run nobody knows."""
    with ctx.db.write() as tx:
        show = get(tx, topic, lock=True)
        return _put_play(ctx, tx, show, name, facts, actor=actor, reason=reason)


def put_plan(
    ctx: Context, topic: str, plays: Mapping[str, PlayFacts], *, actor: str, **show: Unpack[ShowFacts]
) -> PlayGraph:
    """Store a show and its plays in the order given, all or none; raises PlayGraphCycle.

    Plays that are stored and not in the plan stay; `delete_play` takes one away.
    """
    with ctx.db.write() as tx:
        stored = _put_show(ctx, tx, topic, show, actor=actor, reason=None)
        for number, (name, facts) in enumerate(plays.items()):
            placed: PlayFacts = {"sort_order": number, **facts}
            _put_play(ctx, tx, stored, name, placed, actor=actor, reason=None)
        graph = PlayGraph.of(shows.list_plays(tx, stored.id))
        graph.order()
    return graph


def move_show(
    ctx: Context,
    topic: str,
    to: str,
    *,
    actor: str,
    reason: str | None = None,
    sentence: str | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Show:
    """Give a show its next status; raises IllegalTransition when that may not follow."""
    status = parse_word(ShowStatus, to, what="status of a show")
    now = ctx.now()
    with ctx.db.write() as tx:
        before = get(tx, topic, lock=True)
        require_show_move(before.status, status)
        after = before._replace(status=status, status_source=StatusSource.SQLITE, updated_at=now)
        shows.update(tx, after)
        keep_history(
            ctx, tx, "show", after.id, before=before.status, after=status,
            at=now, actor=actor, reason=reason, sentence=sentence, evidence=evidence,
        )  # fmt: skip
        tx.tell(Topic.SHOW, after.id, at=now)
    return after


def move_play(
    ctx: Context,
    topic: str,
    name: str,
    to: str,
    *,
    actor: str,
    reason: str | None = None,
    sentence: str | None = None,
    evidence: Mapping[str, Any] | None = None,
    **facts: Unpack[StepFacts],
) -> Play:
    """Give a play its next status, and the facts of that step; raises IllegalTransition when it may not follow."""
    status = parse_word(PlayStatus, to, what="status of a play")
    with ctx.db.write() as tx:
        show = get(tx, topic, lock=True)
        before = get_play_of(tx, show, name)
        require_play_move(before.status, status)
        after = before._replace(status=status, **_checked_play(tx, facts))
        return store_play(
            ctx, tx, show, before, after, actor=actor, reason=reason, sentence=sentence, evidence=evidence
        )


def delete_show(ctx: Context, topic: str, *, actor: str) -> None:
    """Forget a show and its plays (R58). Its files, its runs and its history stay."""
    now = ctx.now()
    with ctx.db.write() as tx:
        show = get(tx, topic, lock=True)
        for play in shows.list_plays(tx, show.id):
            tx.tell(Topic.PLAY, play.id, session_id=play.session_id, at=now)
        shows.delete(tx, show.id)
        keep_history(ctx, tx, "show", show.id, before=show.status, after=None, at=now, actor=actor)
        tx.tell(Topic.SHOW, show.id, at=now)


def delete_play(ctx: Context, topic: str, name: str, *, actor: str) -> None:
    """Take a play out of its show; raises PlayNotFound. Its run and its history stay."""
    now = ctx.now()
    with ctx.db.write() as tx:
        show = get(tx, topic, lock=True)
        play = get_play_of(tx, show, name)
        shows.delete_play(tx, play.id)
        shows.touch(tx, show.id, at=now)
        keep_history(ctx, tx, "play", play.id, before=play.status, after=None, at=now, actor=actor)
        tx.tell(Topic.PLAY, play.id, session_id=play.session_id, at=now)


def get_show(ctx: Context, topic: str) -> Show:
    """One show; raises ShowNotFound."""
    with ctx.db.read() as tx:
        return get(tx, topic)


def find_show(ctx: Context, topic: str) -> Show | None:
    """One show, if there is one of this topic."""
    with ctx.db.read() as tx:
        return shows.find(tx, topic)


def list_shows(
    ctx: Context, *, status: str | None = None, before: tuple[float, str] | None = None, limit: int = PAGE
) -> list[Show]:
    """Shows newest first, from the one after `before`, which is the (created_at, id) of the last one seen."""
    wanted = None if status is None else parse_word(ShowStatus, status, what="status of a show")
    with ctx.db.read() as tx:
        return shows.list_newest(tx, status=wanted, before=before, limit=limit)


def get_play(ctx: Context, topic: str, name: str) -> Play:
    """One play; raises ShowNotFound or PlayNotFound."""
    with ctx.db.read() as tx:
        return get_play_of(tx, get(tx, topic), name)


def list_plays(ctx: Context, topic: str) -> list[Play]:
    """A show's plays in the order of its plan; raises ShowNotFound."""
    with ctx.db.read() as tx:
        return shows.list_plays(tx, get(tx, topic).id)


def list_plays_of_session(ctx: Context, session_id: str) -> list[PlayWithTopic]:
    """The plays a run worked for, newest first: "Source: Show / Play" (R78)."""
    with ctx.db.read() as tx:
        return shows.list_plays_of_session(tx, session_id)


def get_graph(ctx: Context, topic: str) -> PlayGraph:
    """Who waits for whom in a show; raises ShowNotFound."""
    return PlayGraph.of(list_plays(ctx, topic))


def list_show_history(ctx: Context, topic: str) -> list[StatusTransition]:
    """How a show came to its status, oldest first."""
    with ctx.db.read() as tx:
        return audit.list_transitions(tx, "show", get(tx, topic).id)


def list_play_history(ctx: Context, topic: str, name: str) -> list[StatusTransition]:
    """How a play came to its status, oldest first."""
    with ctx.db.read() as tx:
        return audit.list_transitions(tx, "play", get_play_of(tx, get(tx, topic), name).id)


def get(tx: Tx, topic: str, *, lock: bool = False) -> Show:
    """One show within a transaction, kept from other writers if asked; raises ShowNotFound."""
    show = shows.find(tx, topic, lock=lock)
    if show is None:
        raise ShowNotFound(
            f"There is no show {topic!r}.",
            hint="The page Shows lists those there are; li state import-shows brings in what is on disk.",
        )
    return show


def get_play_of(tx: Tx, show: Show, name: str) -> Play:
    """One play of a show within a transaction; raises PlayNotFound."""
    play = shows.find_play(tx, show.id, name)
    if play is None:
        raise PlayNotFound(f"The show {show.topic!r} has no play {name!r}.", hint=f"li show status {show.topic}")
    return play


def _put_show(ctx: Context, tx: Tx, topic: str, facts: ShowFacts, *, actor: str, reason: str | None) -> Show:
    now = ctx.now()
    checked = _checked_show(facts)
    before = shows.find(tx, topic, lock=True)
    if before is None:
        if not topic.strip() or not facts.get("show_dir"):
            raise InvalidRequest("A new show needs a topic and the folder that holds its files.")
        new = Show(ctx.new_id(), topic, "", created_at=now, updated_at=now, status_source=StatusSource.SQLITE)
        after = shows.show_as_stored(new._replace(**checked))
        if shows.insert(tx, after):
            keep_history(ctx, tx, "show", after.id, before=None, after=after.status, at=now, actor=actor, reason=reason)
            tx.tell(Topic.SHOW, after.id, at=now)
            return after
        before = get(tx, topic, lock=True)  # somebody stored it in this moment
    after = shows.show_as_stored(before._replace(**checked))
    if after == before:
        return before
    after = after._replace(updated_at=now)
    shows.update(tx, after)
    if after.status is not before.status:
        keep_history(
            ctx, tx, "show", after.id, before=before.status, after=after.status, at=now, actor=actor, reason=reason
        )
    tx.tell(Topic.SHOW, after.id, at=now)
    return after


def _put_play(ctx: Context, tx: Tx, show: Show, name: str, facts: PlayFacts, *, actor: str, reason: str | None) -> Play:
    if not name.strip():
        raise InvalidRequest("A play needs a name.")
    before = shows.find_play(tx, show.id, name)
    now = ctx.now()
    known = before or Play(ctx.new_id(), show.id, name, created_at=now, updated_at=now)
    after = known._replace(**_checked_play(tx, facts))
    return store_play(ctx, tx, show, before, after, actor=actor, reason=reason)


def store_play(
    ctx: Context,
    tx: Tx,
    show: Show,
    before: Play | None,
    after: Play,
    *,
    actor: str,
    reason: str | None = None,
    sentence: str | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> Play:
    """Store a play within a transaction, with its history and its news; one that is as before is neither."""
    after = shows.play_as_stored(after)
    if after == before:
        return after
    now = ctx.now()
    after = after._replace(updated_at=now)
    if before is None:
        shows.insert_play(tx, after)
    else:
        shows.update_play(tx, after)
    shows.touch(tx, show.id, at=now)
    was = None if before is None else before.status
    if was is not after.status:
        keep_history(
            ctx, tx, "play", after.id, before=was, after=after.status,
            at=now, actor=actor, reason=reason, sentence=sentence, evidence=evidence,
        )  # fmt: skip
    tx.tell(Topic.PLAY, after.id, session_id=after.session_id, at=now)
    return after


def _checked_show(facts: ShowFacts) -> dict[str, Any]:
    checked: dict[str, Any] = dict(facts)
    if "status" in checked:
        checked["status"] = parse_word(ShowStatus, checked["status"], what="status of a show")
    if checked.get("status_source") is not None:
        checked["status_source"] = parse_word(StatusSource, checked["status_source"], what="source of a status")
    return checked


def _checked_play(tx: Tx, facts: PlayFacts | StepFacts) -> dict[str, Any]:
    """The facts with their words checked; raises SessionNotFound: the link must lead somewhere (R56)."""
    checked: dict[str, Any] = dict(facts)
    if "status" in checked:
        checked["status"] = parse_word(PlayStatus, checked["status"], what="status of a play")
    if "depends_on" in checked:
        checked["depends_on"] = _names(checked["depends_on"])
    if checked.get("attempt", 1) < 1:
        raise InvalidRequest("The first attempt of a play is number 1.")
    if checked.get("session_id") is not None:
        sessions.get(tx, checked["session_id"], lock=True)  # else it could be pruned before the play is stored
    return checked


def _names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InvalidRequest("A play depends on a list of names of plays.")
    return tuple(names)
