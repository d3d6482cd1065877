"""What the dashboard counts. Which sessions belong to a view is said by the list of sessions, and asked of it here."""

from collections.abc import Sequence
from typing import NamedTuple

from lionstudio.domain.dashboard import WINDOW, EndedRun
from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.session_list import SessionFilter, View
from lionstudio.domain.show import Play, PlayStatus
from lionstudio.store import pages, session_list
from lionstudio.store.session_list import ENDED_ITSELF, VIEWS
from lionstudio.store.sessions import SESSION_FACTS, to_session
from lionstudio.store.shows import PLAY_COLUMNS, SELECT_PLAY_WITH_TOPIC, PlayWithTopic, to_play, to_play_with_topic
from lionstudio.store.transaction import Tx

EVERY = 2**62
_WORDS = {status.value: status for status in SessionStatus}  # to ask the enum for thousands of words takes longer


class EndedSession(NamedTuple):
    """A session that has ended: as much of it as sorting takes."""

    id: str
    status: SessionStatus
    ended_at: float


LIST_RUNNING = f"""
    SELECT {SESSION_FACTS}, 0
      FROM sessions AS session JOIN progression_heads AS head ON head.id = session.progression_id
     WHERE session.is_running = 1
"""


def list_running(tx: Tx) -> list[Session]:
    """Every session that runs. Their branches are not counted, which would take as long as all the rest."""
    return [to_session(row) for row in tx.all(LIST_RUNNING)]


def list_last_ended(tx: Tx, *, now: float, limit: int) -> list[Session]:
    """The sessions that ended last, the last one first."""
    question = session_list.ask(tx, SessionFilter(), now=now)
    return session_list.list_ended(tx, question, before=None, limit=limit)


def count_view(tx: Tx, view: View, *, now: float) -> int:
    """How many sessions a view lists."""
    return int(tx.value(f"SELECT count(*) {VIEWS[view].source}", now=now))


def list_ids(tx: Tx, view: View, *, now: float) -> set[str]:
    """The sessions that a view lists."""
    return {row[0] for row in tx.all(f"SELECT listed.id {VIEWS[view].source}", now=now)}


def list_ended_of_view(tx: Tx, view: View, *, now: float) -> list[EndedSession]:
    """The sessions that a view lists, which all have ended."""
    sql = f"SELECT listed.id, listed.status, listed.ended_at {VIEWS[view].source}"
    return [EndedSession(row[0], _WORDS[row[1]], row[2]) for row in tx.all(sql, now=now)]


def list_ended_runs(tx: Tx, *, now: float) -> list[EndedRun]:
    """What ended in the last 24 h. How long one took that somebody ended later says nothing, so it is not told."""
    started_at = f"CASE WHEN {ENDED_ITSELF.replace('session.', 'listed.')} THEN listed.started_at END"
    sql = f"SELECT listed.status, {started_at}, listed.ended_at {VIEWS[View.ENDED_24H].source}"
    return [EndedRun(_WORDS[row[0]], row[1], row[2]) for row in tx.all(sql, now=now)]


# A legacy session is no part of what the dashboard counts, whatever it left behind.
LIST_WITH_LEFTOVERS = """
    SELECT session.id, session.status, COALESCE(session.ended_at, session.updated_at)
      FROM session_evidence AS evidence CROSS JOIN sessions AS session
     WHERE session.id = evidence.session_id AND evidence.leftovers > 0 AND session.status <> 'running'
"""


def list_with_leftovers(tx: Tx) -> list[EndedSession]:
    """Ended sessions that left locks or temporary files behind."""
    return [EndedSession(row[0], _WORDS[row[1]], row[2]) for row in tx.all(LIST_WITH_LEFTOVERS)]


# When a play came to its status: its last move there, which may be days after its agent ended. Of one that was stored
# in that status nobody saw a move, so its row has to tell.
JUDGED_AT = """COALESCE((SELECT max(step.at) FROM status_transitions AS step
                   WHERE step.entity = 'play' AND step.entity_id = play.id AND step.to_status = play.status
                     AND step.from_status IS NOT NULL), play.ended_at, play.updated_at)"""
TROUBLED_PLAYS = f"""
    SELECT show.topic, {JUDGED_AT}, {PLAY_COLUMNS}
      FROM plays AS play JOIN shows AS show ON show.id = play.show_id
     WHERE show.status IN ('active', 'imported') AND play.status IN ({{words}})
"""


class TroubledPlay(NamedTuple):
    """A play in trouble, the topic of its show, and since when."""

    topic: str
    play: Play
    since: float


def list_troubled_plays(tx: Tx, statuses: Sequence[PlayStatus]) -> list[TroubledPlay]:
    """Plays in these statuses, of shows that go on, or of which nothing tells that they ended."""
    words = {f"status_{number}": status for number, status in enumerate(statuses)}
    sql = TROUBLED_PLAYS.format(words=", ".join(f":{name}" for name in words))
    return [TroubledPlay(row[0], to_play(row[2:]), row[1]) for row in tx.all(sql, **words)]


TOPICS_OF_RUNNING = """
    SELECT session.id, show.topic
      FROM sessions AS session CROSS JOIN plays AS play CROSS JOIN shows AS show
     WHERE session.is_running = 1 AND play.session_id = session.id AND show.id = play.show_id
     ORDER BY play.created_at, play.id
"""


def find_topics_of_running(tx: Tx) -> dict[str, str]:
    """The shows that sessions which run work for, by session: of the newest play that names it."""
    return {row[0]: row[1] for row in tx.all(TOPICS_OF_RUNNING)}


REFUSED_TODAY = f"play.status = 'gate_failed' AND {JUDGED_AT} > :now - {WINDOW}"
COUNT_REFUSED = f"SELECT count(*) FROM plays AS play WHERE {REFUSED_TODAY}"
LIST_REFUSED = f"""
    {SELECT_PLAY_WITH_TOPIC} WHERE {REFUSED_TODAY} AND (play.created_at, play.id) < (:before_at, :before_id)
     ORDER BY play.created_at DESC, play.id DESC
     LIMIT :limit
"""
FROM_THE_NEWEST = (1e300, "")


def count_refused_plays(tx: Tx, *, now: float) -> int:
    """How many plays a gate refused in the last 24 h."""
    return int(tx.value(COUNT_REFUSED, now=now))


def list_refused_plays(tx: Tx, *, now: float, before: pages.Key | None, limit: int) -> list[PlayWithTopic]:
    """Plays that a gate refused in the last 24 h, newest first, from the one after `before`."""
    before_at, before_id = before or FROM_THE_NEWEST
    rows = tx.all(LIST_REFUSED, now=now, before_at=before_at, before_id=before_id, limit=limit)
    return [to_play_with_topic(row) for row in rows]


COUNT_ACTIVE_TEAMS = "SELECT count(*) FROM teams WHERE status = 'active'"


def count_active_teams(tx: Tx) -> int:
    return int(tx.value(COUNT_ACTIVE_TEAMS))


COUNT_ACTIVE_SHOWS = "SELECT count(*) FROM shows WHERE status = 'active'"


def count_active_shows(tx: Tx) -> int:
    return int(tx.value(COUNT_ACTIVE_SHOWS))
