"""Which run belongs to a play: the newest that says so itself, else the newest of its name (D9, R61)."""

from lionstudio.domain.session import Session
from lionstudio.domain.show_files import session_name
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.sessions import find_locked
from lionstudio.services.shows import get, get_play_of, store_play
from lionstudio.store import sessions, shows
from lionstudio.store.transaction import Tx

ACTOR = "import"


def find_run(tx: Tx, topic: str, play: str) -> Session | None:
    """The run of a play, if there is one."""
    return sessions.find_newest_of_play(tx, topic, play) or sessions.find_newest_by_name(tx, session_name(topic, play))


def find_run_of_play(ctx: Context, topic: str, play: str) -> str | None:
    """The id of the run of a play, if there is one."""
    with ctx.db.read() as tx:
        found = find_run(tx, topic, play)
    return None if found is None else found.id


def link_plays(ctx: Context) -> int:
    """Give plays that have no run the one that came in after them; how many have one now."""
    with ctx.db.read() as tx:
        waiting = [(topic, play.name) for topic, play in shows.list_plays_without_run(tx)]
        found = [(topic, play) for topic, play in waiting if find_run(tx, topic, play) is not None]
    return sum(_link(ctx, topic, play) for topic, play in found)


@again_if_undone
def _link(ctx: Context, topic: str, name: str) -> bool:
    with ctx.db.write() as tx:
        show = get(tx, topic, lock=True)
        play = get_play_of(tx, show, name)
        run = find_run(tx, topic, name)
        if play.session_id is not None or run is None or find_locked(tx, run.id) is None:
            return False  # somebody was faster, or pruned it in this moment
        store_play(ctx, tx, show, play, play._replace(session_id=run.id), actor=ACTOR)
        return True
