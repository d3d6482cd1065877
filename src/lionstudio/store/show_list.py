"""What lists of shows need beside the rows of shows: all of a page in one question each."""

from collections.abc import Iterable

from lionstudio.domain.show import Play, Show
from lionstudio.store.encoding import IDS, ids_in
from lionstudio.store.shows import SELECT_PLAY, SELECT_SHOW, to_play, to_show
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

LIST_PLAYS_IN = SELECT_PLAY + f"WHERE play.show_id IN {IDS} ORDER BY play.show_id, play.sort_order, play.name"
FIND_SHOWS = SELECT_SHOW + f"WHERE id IN {IDS}"
LIST_KNOWN_TOPICS = f"SELECT topic FROM shows WHERE topic IN {IDS}"
LIST_REASONS = f"""
    SELECT entity_id, reason_code FROM status_transitions
     WHERE entity = 'show' AND entity_id IN {IDS} ORDER BY at, id
"""


def list_plays_in(tx: Tx, show_ids: Iterable[str]) -> dict[str, list[Play]]:
    """The plays of these shows, each show's in the order of its plan."""
    found: dict[str, list[Play]] = {show_id: [] for show_id in show_ids}
    for row in tx.all(LIST_PLAYS_IN, ids=ids_in(found)):
        play = to_play(row)
        found[play.show_id].append(play)
    return found


def find_shows(tx: Tx, show_ids: Iterable[str]) -> dict[str, Show]:
    """These shows by id, where they are there."""
    return {show.id: show for show in map(to_show, tx.all(FIND_SHOWS, ids=ids_in(show_ids)))}


def list_known_topics(tx: Tx, topics: Iterable[str]) -> set[str]:
    """Those of these topics that are stored."""
    return {topic for (topic,) in tx.all(LIST_KNOWN_TOPICS, ids=ids_in(text_in(topic) or "" for topic in topics))}


def find_last_reasons(tx: Tx, show_ids: Iterable[str]) -> dict[str, str | None]:
    """Why each of these shows came to the status it has, where that was written down."""
    return dict(tx.all(LIST_REASONS, ids=ids_in(show_ids)))
