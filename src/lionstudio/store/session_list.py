"""Lists of sessions by any filter, a page at a time, as fast at a million rows as at ten thousand.

A list is one or two *groups* in turn (running, then the rest), each newest first. A filter is a *listing*: the sessions
that one index finds, most often in exactly that order. One filter is read from its index. Of several, a short one leads
and its sessions are looked up in the others; where none is short, all are walked through side by side.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.session import RUN_ACTOR, Session, SessionStatus
from lionstudio.domain.session_list import SessionFilter, View
from lionstudio.store.asking import ASKS_A_PERSON
from lionstudio.store.sessions import SELECT_SESSION, SESSION_COLUMNS, to_session, words_of
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

Key = tuple[float, str]  # the time and the id of a session

WORDS_LIMIT = 8  # words of one search that are looked for
FEW_WORDS = 100  # different words a prefix may stand for and still be read word by word
FEW_ROWS, MANY_ROWS = 1_500, 30_000  # of a listing that leads: to look up a session costs as much as to walk past ten
NEAR, FAR = (1 / 512, 1 / 64), (1 / 8, 1.0)  # how far to walk while no listing is that short, as parts of the time left

FILTERS: Mapping[str, str] = {  # each has an index by group and time
    "kind": "session.invocation_kind = :kind",
    "source": "session.source_kind = :source",
    "agent": "session.agent_name = :agent",
    "playbook": "session.playbook_name = :playbook",
    "show": "session.show_topic = :show",
}
RUNNING, NOT_RUNNING = 1, 0
NO_LEFTOVERS = """NOT EXISTS (
    SELECT 1 FROM session_evidence AS evidence WHERE evidence.session_id = session.id AND evidence.leftovers > 0)"""


class Reach(Enum):
    """How much of a listing has to be read for its newest sessions."""

    ROW = "row"  # no more than those: it is in the order of lists
    STRETCH = "stretch"  # any stretch of time, which then is sorted
    WHOLE = "whole"


class Listing(NamedTuple):
    """The sessions of one filter."""

    condition: str  # on a `session` that is read whole
    source: str  # where they are found
    check: str  # whether a `session`, of which only time and id are known, is one of them
    reach: Reach
    at: str
    id: str
    select: str = "SELECT"

    @property
    def rows(self) -> str:
        """SQL for the times and ids of those within a stretch of time."""
        stretch = STRETCH.format(at=self.at, id=self.id)
        return f"{self.select} {self.at} AS created_at, {self.id} AS id {self.source} AND {stretch}"


STRETCH = "{at} >= :since AND ({at}, {id}) < (:until_at, :until_id)"
# Sums and joined texts tell SQLite's planner what not to use: an index by time where all is read, one by id where the
# next session is a step away in an index by time, and what it knows about a session for another one of the same time.
# A value that is compared, where EXISTS would do, keeps PostgreSQL from reading the whole listing for a join.
CHECK_BY_TIME = "(SELECT 1 {source} AND {at} = session.created_at + 0 AND {id} || '' = session.id LIMIT 1) = 1"
CHECK_BY_ID = "(SELECT 1 {source} AND {id} = session.id LIMIT 1) = 1"


def _sessions(condition: str, reach: Reach = Reach.ROW) -> Listing:
    source = f"FROM sessions AS listed WHERE {condition.replace('session.', 'listed.')}"
    at, id = "listed.created_at", "listed.id"
    if reach is Reach.ROW:
        return Listing(condition, source, CHECK_BY_TIME.format(source=source, at=at, id=id), reach, at, id)
    return Listing(condition, source, CHECK_BY_ID.format(source=source, id=id), reach, f"{at} + 0", id)


ACTIVE = _sessions("session.is_running = :group")
RUNNING_NOW = _sessions("session.is_running = 1")
OF_STATUS = _sessions("session.status = :status")
BY_ID = _sessions("session.id >= :id_prefix AND session.id < :id_beyond", Reach.WHOLE)
NEEDS_REVIEW = "SELECT play.session_id FROM plays AS play WHERE play.status IN ('gated', 'escalated', 'blocked')"
DAY = 86_400
LAST_DAY = f"session.ended_at > :now - {DAY}"
ENDED_TODAY = f"{LAST_DAY} AND session.status <> 'running'"  # a legacy session has no status, and is in no such view
ENDED_ITSELF = f"COALESCE(session.end_actor, '{RUN_ACTOR}') = '{RUN_ACTOR}'"  # and not by an operator, hours later
VIEWS: Mapping[View, Listing] = {
    View.WAITING: _sessions(ASKS_A_PERSON, Reach.WHOLE),
    View.SLOW: _sessions("session.status = 'running' AND session.started_at < :now - 3600"),
    View.OVER_60M: _sessions(
        f"{ENDED_TODAY} AND {ENDED_ITSELF} AND session.ended_at - session.started_at > 3600", Reach.WHOLE
    ),
    View.NEEDS_REVIEW: _sessions(f"session.id IN ({NEEDS_REVIEW}) AND session.status IS NOT NULL", Reach.WHOLE),
    View.FAILED_24H: _sessions(f"{LAST_DAY} AND session.status IN ('failed', 'timed_out')", Reach.WHOLE),
    View.ENDED_24H: _sessions(ENDED_TODAY, Reach.WHOLE),
    View.LEGACY: _sessions("session.status IS NULL"),
}
ONE_GROUP: Mapping[View, int] = {  # these fix the status, or whether the run has ended
    View.WAITING: RUNNING,
    View.SLOW: RUNNING,
    View.LEGACY: NOT_RUNNING,
    View.OVER_60M: NOT_RUNNING,
    View.FAILED_24H: NOT_RUNNING,
    View.ENDED_24H: NOT_RUNNING,
}


class Question(NamedTuple):
    """A filter as SQL."""

    filters: tuple[str, ...]  # conditions of FILTERS
    listings: tuple[Listing, ...]
    params: Mapping[str, Any]
    since: float
    group: int | None  # the only group that can match
    checks: tuple[str, ...] = ()  # on the id of a `session`

    def and_also(self, check: str) -> "Question":
        return self._replace(checks=(*self.checks, check))


UUID_BEGINS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]*\Z")
ANY_ID_BEGINS = "SELECT 1 FROM sessions WHERE id >= :prefix AND id < :beyond LIMIT 1"


def ask(tx: Tx, wanted: SessionFilter, *, now: float) -> Question:
    """The SQL of a filter, all but its health, which is judged outside of the database."""
    params: dict[str, Any] = {name: value for name in FILTERS if (value := getattr(wanted, name)) is not None}
    filters = tuple(FILTERS[name] for name in params)
    listings: list[Listing] = []
    group = None
    if wanted.status is not None:
        listings.append(OF_STATUS)
        params["status"] = wanted.status
        group = int(wanted.status is SessionStatus.RUNNING)
    if wanted.view is not None:
        listings.append(VIEWS[wanted.view])
        params["now"] = now
        group = ONE_GROUP.get(wanted.view, group)
    if wanted.ids is not None:
        named = {f"one_of_{number}": id for number, id in enumerate(wanted.ids)}
        listings.append(_one_of(tuple(named)))
        params |= named
    text = (wanted.search or "").strip().casefold()
    words = sorted(set(words_of(text)), key=len, reverse=True)[:WORDS_LIMIT]
    if text and not words:
        raise InvalidRequest(
            f"Nothing in {text[:40]!r} can be searched for.",
            hint="Runs are found by the words of their names, which are letters and digits.",
        )
    # Words end at a dash, ids do not: a text with dashes may be meant as the id that it begins.
    as_id = bool(words) and words != [text] and _begins_an_id(tx, text)
    if as_id:
        params |= {"id_prefix": text, "id_beyond": _beyond(text)}
        if UUID_BEGINS.match(text) or not all(_begins_a_word(tx, word) for word in words):
            words = []  # nobody is named so
    found = []
    for number, word in enumerate(words):
        listing, spelled = _listing_of_word(tx, f"word_{number}", word)
        found.append(listing)
        params |= spelled
    listings += [_by_id_or(found)] if as_id else found
    since = -math.inf if wanted.since is None else wanted.since
    return Question(filters, tuple(listings), params, since, group)


def _one_of(names: Sequence[str]) -> Listing:
    """The sessions whose ids are these parameters."""
    return _sessions(f"session.id IN ({', '.join(f':{name}' for name in names) or 'NULL'})", Reach.WHOLE)


def _begins_an_id(tx: Tx, text: str) -> bool:
    return text_in(text) == text and tx.one(ANY_ID_BEGINS, prefix=text, beyond=_beyond(text)) is not None


def _begins_a_word(tx: Tx, text: str) -> bool:
    return bool(tx.all(KNOWN_WORDS, prefix=text, beyond=_beyond(text), limit=1))


def _by_id_or(words: Sequence[Listing]) -> Listing:
    """The sessions whose id begins so, and those that have all of the words."""
    if not words:
        return BY_ID
    condition = " AND ".join(listing.condition for listing in words)
    check = " AND ".join(listing.check for listing in words)
    rows = " INTERSECT ".join(listing.rows for listing in words)
    return Listing(
        f"({BY_ID.condition} OR {condition})",
        f"FROM ({rows} UNION {BY_ID.rows}) AS either WHERE TRUE",
        f"({BY_ID.condition} OR {check})",
        Reach.WHOLE,
        "either.created_at",
        "either.id",
    )


def _beyond(prefix: str) -> str:
    """The first text after all that begin with `prefix`."""
    return prefix + "\U0010ffff"


BEGINS = "FROM session_words AS named WHERE named.word >= :{name} AND named.word < :{name}_beyond"
KNOWN_WORDS = """
    WITH RECURSIVE known (word) AS (
        SELECT min(word) FROM session_words WHERE word >= :prefix AND word < :beyond
        UNION ALL
        SELECT (SELECT min(next.word) FROM session_words AS next WHERE next.word > known.word AND next.word < :beyond)
          FROM known WHERE known.word IS NOT NULL
    )
    SELECT word FROM known WHERE word IS NOT NULL LIMIT :limit
"""


def _listing_of_word(tx: Tx, name: str, prefix: str) -> tuple[Listing, dict[str, str]]:
    """The sessions with a word that begins so, and the parameters of that. A prefix stands for words that we know."""
    at, id, source = "named.created_at", "named.session_id", BEGINS.format(name=name)
    params = {name: prefix, f"{name}_beyond": _beyond(prefix)}
    has_word = CHECK_BY_ID.format(source=source, id=id)
    words = [row[0] for row in tx.all(KNOWN_WORDS, prefix=prefix, beyond=_beyond(prefix), limit=FEW_WORDS + 1)]
    if not 0 < len(words) <= FEW_WORDS:
        return Listing(has_word, source, has_word, Reach.WHOLE, at, id, "SELECT DISTINCT"), params
    known = {f"{name}_{number}": word for number, word in enumerate(words)}
    source = f"FROM session_words AS named WHERE named.word IN ({', '.join(f':{each}' for each in known)})"
    if len(words) > 1:
        return Listing(has_word, source, has_word, Reach.STRETCH, at, id, "SELECT DISTINCT"), params | known
    check = CHECK_BY_TIME.format(source=source, at=at, id=id)
    return Listing(has_word, source, check, Reach.ROW, at, id), params | known


def list_group(tx: Tx, question: Question, group: int, *, before: Key | None, limit: int) -> list[Session]:
    """Sessions of one group that answer the question, newest first, from the one after `before`."""
    if question.group not in (None, group):
        return []
    listings = [_sessions(f"{condition} AND {ACTIVE.condition}") for condition in question.filters]
    if question.group is None and not listings:
        listings = [ACTIVE]  # nothing else says which group
    listings += question.listings
    params = {**question.params, "group": group, **_stretch(question.since, before)}
    walked = [listing for listing in listings if listing.reach is not Reach.WHOLE]
    if listings == [VIEWS[View.ENDED_24H]]:
        return _follow_ended(tx, question, listings[0], params, limit=limit)
    if len(listings) == 1:
        return _follow(tx, question, listings[0], [], params, limit=limit)
    found: list[Session] = []
    for short, parts in ((FEW_ROWS, NEAR), (MANY_ROWS, FAR)):
        lead = _find_short(tx, listings, params, short)
        if lead is None and len(walked) < 2:
            # Alone, a walk may go through all sessions to fill the last page.
            whole = [listing for listing in listings if listing.reach is Reach.WHOLE]
            lead = _find_short(tx, whole, params, MANY_ROWS) or (walked[0] if walked else listings[0])
        if lead is not None:
            others = [listing for listing in listings if listing != lead]
            return found + _follow(tx, question, lead, others, params, limit=limit - len(found))
        checks = [*question.checks, *(listing.check for listing in listings if listing not in walked)]
        for since in _stops(tx, params, parts):
            stretch = {**params, "since": since}
            found += _read(tx, _side_by_side(walked, group), checks, stretch, limit=limit - len(found))
            if len(found) == limit:
                return found
            params |= _stretch(question.since, (since, ""))
    return found


def _follow(
    tx: Tx, question: Question, lead: Listing, others: Sequence[Listing], params: Mapping[str, Any], *, limit: int
) -> list[Session]:
    """The newest sessions of one listing that are in all the others too."""
    checks = [*question.checks, *(listing.check for listing in others)]
    if others or lead.reach is not Reach.ROW or lead.id != "listed.id":
        return _read(tx, lead.rows, checks, params, limit=limit)
    checks += [lead.condition, STRETCH.format(at="session.created_at", id="session.id")]
    return _scan(tx, SELECT_SESSION + "WHERE ", checks, "created_at", params, limit=limit)


def _follow_ended(tx: Tx, question: Question, ended: Listing, params: dict[str, Any], *, limit: int) -> list[Session]:
    """The newest sessions that ended today. Nearly all that began today are among them: no need to sort those."""
    day = params["now"] - DAY
    checks = [
        *question.checks,
        ACTIVE.condition,
        ended.condition,
        STRETCH.format(at="session.created_at", id="session.id"),
    ]
    young = {**params, "since": max(params["since"], day)}
    found = _scan(tx, SELECT_SESSION + "WHERE ", checks, "created_at", young, limit=limit)
    if len(found) < limit:
        until = min((params["until_at"], params["until_id"]), (day, ""))
        old = {**params, **_stretch(params["since"], until)}
        found += _read(tx, ended.rows, question.checks, old, limit=limit - len(found))
    return found


COUNT = "SELECT count(*) FROM (SELECT 1 {source} LIMIT :limit) AS counted"


def _find_short(tx: Tx, listings: Sequence[Listing], params: Mapping[str, Any], at_most: int) -> Listing | None:
    """The shortest listing, unless it has more rows than that."""
    limit, shortest = at_most + 1, None
    for listing in listings:
        count = tx.value(COUNT.format(source=listing.source), **params, limit=limit)
        if count < limit:
            limit, shortest = count, listing
    return shortest


def _side_by_side(listings: Sequence[Listing], group: int) -> str:
    """SQL for the sessions that are in all of these; SQLite walks through ordered listings only as far as it must."""
    if group == RUNNING or ACTIVE not in listings:
        return " INTERSECT ".join(listing.rows for listing in listings)
    # Nearly all sessions are in this group: it is shorter to walk through those that are not.
    others = " INTERSECT ".join(listing.rows for listing in listings if listing != ACTIVE)
    return f"{others} EXCEPT {RUNNING_NOW.rows}"


def _stretch(since: float, before: Key | None) -> dict[str, Any]:
    until_at, until_id = (math.inf, "") if before is None else before
    return {"since": since, "until_at": until_at, "until_id": until_id}


SPAN = f"""
    SELECT (SELECT created_at FROM ({ACTIVE.rows} ORDER BY created_at DESC LIMIT 1) AS newest),
           (SELECT created_at FROM ({ACTIVE.rows} ORDER BY created_at LIMIT 1) AS oldest)
"""


def _stops(tx: Tx, params: Mapping[str, Any], parts: Sequence[float]) -> Iterator[float]:
    """Times to walk back to before looking whether the page is full, further each time: nobody knows where it will be.

    PostgreSQL reads a stretch to its end, however early the page is full.
    """
    newest, oldest = tx.one(SPAN, **params) or (None, None)
    if newest is not None and oldest is not None:
        yield from (newest - (newest - oldest) * part if part < 1 else params["since"] for part in parts)


# CROSS JOIN keeps SQLite from beginning with another table; to PostgreSQL it is like any join.
SELECT_FOUND = f"""
    SELECT {SESSION_COLUMNS}
      FROM ({{rows}} ORDER BY created_at DESC, id DESC LIMIT :limit) AS found
           CROSS JOIN sessions AS session CROSS JOIN progression_heads AS head
     WHERE session.id = found.id AND head.id = session.progression_id
     ORDER BY session.created_at DESC, session.id DESC
"""
CHECKED = "SELECT session.created_at AS created_at, session.id AS id FROM ({rows}) AS session WHERE {checks}"


def _read(tx: Tx, rows: str, checks: Sequence[str], params: Mapping[str, Any], *, limit: int) -> list[Session]:
    """The newest of these rows that pass the checks. Only they are read whole, not all that were looked at."""
    if checks:
        rows = CHECKED.format(rows=rows, checks=" AND ".join(checks))
    return [to_session(row) for row in tx.all(SELECT_FOUND.format(rows=rows), **params, limit=limit)]


def list_ended(tx: Tx, question: Question, *, before: Key | None, limit: int) -> list[Session]:
    """Sessions that have ended, the last one first."""
    return _list_by(tx, "ended_at", question, "session.ended_at IS NOT NULL", before=before, limit=limit)


def list_not_ended(tx: Tx, question: Question, *, before: Key | None, limit: int) -> list[Session]:
    """Sessions that have no end, newest first."""
    return _list_by(tx, "created_at", question, "session.ended_at IS NULL", before=before, limit=limit)


SELECT_LED = f"""
    SELECT {SESSION_COLUMNS}
      FROM ({{rows}}) AS led CROSS JOIN sessions AS session CROSS JOIN progression_heads AS head
     WHERE session.id = led.id AND head.id = session.progression_id AND
"""


def _list_by(tx: Tx, time: str, question: Question, condition: str, *, before: Key | None, limit: int) -> list[Session]:
    """Sessions of both groups in the order of one of their times: its index leads, or a short listing does."""
    params = {**question.params, **_stretch(question.since, None)}
    conditions = [condition, *_conditions(question)]
    if before is not None:
        conditions.append(f"(session.{time}, session.id) < (:before_at, :before_id)")
        params |= {"before_at": before[0], "before_id": before[1]}
    lead = _find_short(tx, [*map(_sessions, question.filters), *question.listings], params, FEW_ROWS)
    select = SELECT_SESSION + "WHERE " if lead is None else SELECT_LED.format(rows=lead.rows)
    return _scan(tx, select, conditions, time, params, limit=limit)


def _conditions(question: Question) -> list[str]:
    """The whole question, to be asked of one session after another."""
    listed = [listing.condition for listing in question.listings]
    return ["session.created_at >= :since", *question.filters, *listed]


def _scan(
    tx: Tx, select: str, conditions: Sequence[str], time: str, params: Mapping[str, Any], *, limit: int
) -> list[Session]:
    sql = f"{select} {' AND '.join(conditions)} ORDER BY session.{time} DESC, session.id DESC LIMIT :limit"
    return [to_session(row) for row in tx.all(sql, **params, limit=limit)]


LIST_WITH_LEFTOVERS = f"""
    SELECT {SESSION_COLUMNS}
      FROM session_evidence AS evidence CROSS JOIN sessions AS session CROSS JOIN progression_heads AS head
     WHERE session.id = evidence.session_id AND head.id = session.progression_id
       AND evidence.leftovers > 0 AND session.is_running = 0
       AND (evidence.session_created_at, evidence.session_id) < (:until_at, :until_id) AND {{conditions}}
     ORDER BY evidence.session_created_at DESC, evidence.session_id DESC
     LIMIT :limit
"""


def list_with_leftovers(tx: Tx, question: Question, *, before: Key | None, limit: int) -> list[Session]:
    """Ended sessions that left locks or temporary files behind, newest first."""
    sql = LIST_WITH_LEFTOVERS.format(conditions=" AND ".join(_conditions(question)))
    params = {**question.params, **_stretch(question.since, before)}
    return [to_session(row) for row in tx.all(sql, **params, limit=limit)]
