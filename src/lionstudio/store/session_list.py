"""Lists of sessions by any filter, a page at a time, as fast at a million rows as at ten thousand.

A list is one or two *groups* in turn (running, then the rest), each newest first. Every filter has an index in exactly
that order, so a page costs its own length.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.session_list import SessionFilter, View
from lionstudio.store.sessions import SELECT_SESSION, SESSION_COLUMNS, to_session, words_of
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

WORDS_LIMIT = 8  # words of one search that are looked for
FEW_WORDS = 100  # different words a prefix may stand for before another way of searching is cheaper
FEW_ROWS = 2_000
LOOK_AMONG = 4_000  # newest sessions that are looked through before the rows of a word are

CONDITIONS: Mapping[str, str] = {
    "status": "session.status = :status",
    "kind": "session.invocation_kind = :kind",
    "source": "session.source_kind = :source",
    "agent": "session.agent_name = :agent",
    "playbook": "session.playbook_name = :playbook",
    "show": "session.show_topic = :show",
    "since": "session.created_at >= :since",
}
VIEWS: Mapping[View, str] = {
    View.SLOW: "session.status = 'running' AND session.started_at < :now - 3600",
    View.OVER_60M: "session.ended_at > :now - 86400 AND session.ended_at - session.started_at > 3600",
    View.NEEDS_REVIEW: """session.id IN (
        SELECT play.session_id FROM plays AS play WHERE play.status IN ('gated', 'escalated', 'blocked'))""",
    View.FAILED_24H: "session.ended_at > :now - 86400 AND session.status IN ('failed', 'timed_out')",
    View.LEGACY: "session.status IS NULL",
}
# Views that only a few sessions answer, however many there are: those are found first, then looked at one by one.
FEW: Mapping[View, str] = {
    View.OVER_60M: "SELECT id FROM sessions WHERE ended_at > :now - 86400 AND ended_at - started_at > 3600",
    View.NEEDS_REVIEW: "SELECT DISTINCT session_id AS id FROM plays WHERE status IN ('gated', 'escalated', 'blocked')",
    View.FAILED_24H: "SELECT id FROM sessions WHERE ended_at > :now - 86400 AND status IN ('failed', 'timed_out')",
}
# CROSS JOIN keeps SQLite from beginning with another table; to PostgreSQL it is like any join.
CHOOSE_AMONG_FEW = "SELECT session.id FROM ({few}) AS few CROSS JOIN sessions AS session"
ALSO_FEW = ("session.id = few.id",)
SELECT_CHOSEN = f"""
    SELECT {SESSION_COLUMNS}
      FROM ({{chosen}}) AS chosen CROSS JOIN sessions AS session CROSS JOIN progression_heads AS head
     WHERE session.id = chosen.id AND head.id = session.progression_id
     ORDER BY {{order}}
"""
NO_LEFTOVERS = """NOT EXISTS (
    SELECT 1 FROM session_evidence AS evidence WHERE evidence.session_id = session.id AND evidence.leftovers > 0)"""
RUNNING, NOT_RUNNING = 1, 0
OF_GROUP = "session.is_running = :group"
ONE_GROUP: Mapping[View, int] = {  # these fix the status, or whether the run has ended
    View.SLOW: RUNNING,
    View.LEGACY: NOT_RUNNING,
    View.OVER_60M: NOT_RUNNING,
    View.FAILED_24H: NOT_RUNNING,
}


class Question(NamedTuple):
    """A filter as SQL: conditions, their parameters, the words that are searched, and the only group it can match."""

    conditions: tuple[str, ...]
    params: Mapping[str, Any]
    words: tuple[str, ...] = ()
    group: int | None = None
    few: str | None = None  # SQL for the ids of all sessions that can answer, where they are few

    def and_also(self, *conditions: str, **params: Any) -> "Question":
        return self._replace(conditions=(*self.conditions, *conditions), params={**self.params, **params})


ANY_ID_BEGINS = "SELECT 1 FROM sessions WHERE id >= :prefix AND id < :beyond LIMIT 1"
WITH_ID = "SELECT id FROM sessions WHERE id >= :id_prefix AND id < :id_beyond"
ID_BEGINS = "session.id >= :id_prefix AND session.id < :id_beyond"


def ask(tx: Tx, wanted: SessionFilter, *, now: float) -> Question:
    """The SQL of a filter, all but its health, which is judged outside of the database."""
    params: dict[str, Any] = {name: value for name in CONDITIONS if (value := getattr(wanted, name)) is not None}
    conditions = [CONDITIONS[name] for name in params]
    group = None if wanted.status is None else int(wanted.status is SessionStatus.RUNNING)
    if wanted.view is not None:
        conditions.append(VIEWS[wanted.view])
        params |= {"now": now} if ":now" in VIEWS[wanted.view] else {}
        group = ONE_GROUP.get(wanted.view, group)
    few = None if wanted.view is None else FEW.get(wanted.view)
    text = (wanted.search or "").strip().casefold()
    words = sorted(set(words_of(text)), key=len, reverse=True)[:WORDS_LIMIT]
    if words and words != [text] and _begins_an_id(tx, text):
        # Words end at a dash, ids do not: a text with dashes that an id begins with is meant as that id.
        few = WITH_ID
        conditions.append(ID_BEGINS)
        params |= {"id_prefix": text, "id_beyond": _beyond(text)}
        words = []
    return Question(tuple(conditions), params, tuple(words), group, few)


def _begins_an_id(tx: Tx, text: str) -> bool:
    return text_in(text) == text and tx.one(ANY_ID_BEGINS, prefix=text, beyond=_beyond(text)) is not None


def list_group(
    tx: Tx, question: Question, group: int, *, before: tuple[float, str] | None, limit: int
) -> list[Session]:
    """Sessions of one group that answer the question, newest first, from the one after `before`."""
    if question.group is not None:
        if question.group != group:
            return []
        # A condition on the status already says which group it is; saying it twice would mislead the planner.
    else:
        question = question.and_also(OF_GROUP, group=group)
    if question.words and question.few is None:
        return _search(tx, question, group, before=before, limit=limit)
    return _newest(tx, _with_words(question), before=before, limit=limit)


def list_ended(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    """Sessions that have ended, the last one first."""
    question = _with_words(question).and_also("session.ended_at IS NOT NULL")
    return _page(tx, question, ("session.ended_at", "session.id"), before=before, limit=limit)


def list_not_ended(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    """Sessions that have no end, newest first."""
    return _newest(tx, _with_words(question).and_also("session.ended_at IS NULL"), before=before, limit=limit)


SELECT_BY_LEFTOVERS = f"""
    SELECT {SESSION_COLUMNS}
      FROM session_evidence AS evidence CROSS JOIN sessions AS session CROSS JOIN progression_heads AS head
"""
ALSO_BY_LEFTOVERS = ("session.id = evidence.session_id", "head.id = session.progression_id", "evidence.leftovers > 0")
NEWEST = ("session.created_at", "session.id")


def list_with_leftovers(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    """Ended sessions that left locks or temporary files behind, newest first."""
    question = _with_words(question).and_also(*ALSO_BY_LEFTOVERS, "session.is_running = 0")
    order = ("evidence.session_created_at", "evidence.session_id")
    return _page(tx, question, order, select=SELECT_BY_LEFTOVERS, before=before, limit=limit)


def _newest(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    return _page(tx, question, NEWEST, before=before, limit=limit)


def _page(
    tx: Tx,
    question: Question,
    order: tuple[str, str],
    *,
    select: str | None = None,
    before: tuple[float, str] | None,
    limit: int,
) -> list[Session]:
    if select is None and question.few is not None:
        # Only the sessions of this page are read whole, not all that were looked at.
        choose = CHOOSE_AMONG_FEW.format(few=question.few)
        chosen, params = _sql(question.and_also(*ALSO_FEW), choose, order, before)
        sql = SELECT_CHOSEN.format(chosen=chosen, order=f"{order[0]} DESC, {order[1]} DESC")
        return [to_session(row) for row in tx.all(sql, **params, limit=limit)]
    sql, params = _sql(question, select or SELECT_SESSION, order, before)
    return [to_session(row) for row in tx.all(sql, **params, limit=limit)]


def _sql(
    question: Question, select: str, order: tuple[str, str], before: tuple[float, str] | None
) -> tuple[str, dict[str, Any]]:
    at, id = order
    conditions, params = list(question.conditions), dict(question.params)
    if before is not None:
        conditions.append(f"({at}, {id}) < (:before_at, :before_id)")
        params |= {"before_at": before[0], "before_id": before[1]}
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{select} {where} ORDER BY {at} DESC, {id} DESC LIMIT :limit", params


# Searching. A prefix stands for some of the words we know. When all their rows are few, those are read and sorted. When
# the words are few, their sessions are read newest first, a stretch of time after another; else nearly everything
# matches, and looking at the newest sessions one by one soon fills a page.

WORDS_WITH_PREFIX = """
    WITH RECURSIVE known (word) AS (
        SELECT min(word) FROM session_words WHERE word >= :prefix AND word < :beyond
        UNION ALL
        SELECT (SELECT min(next.word) FROM session_words AS next WHERE next.word > known.word AND next.word < :beyond)
          FROM known WHERE known.word IS NOT NULL
    )
    SELECT word FROM known WHERE word IS NOT NULL LIMIT :limit
"""
COUNT_WITH_PREFIX = """
    SELECT count(*) FROM (SELECT 1 FROM session_words WHERE word >= :prefix AND word < :beyond LIMIT :limit) AS found
"""
IN_RANGE = "SELECT DISTINCT session_id AS id FROM session_words WHERE word >= :range AND word < :range_beyond"
SELECT_BY_WORD = f"""
    SELECT {SESSION_COLUMNS}
      FROM session_words AS named CROSS JOIN sessions AS session CROSS JOIN progression_heads AS head
"""
ALSO_BY_WORD = ("named.word = :named", "session.id = named.session_id", "head.id = session.progression_id")
STEP_BACK = """
    SELECT created_at FROM session_words WHERE word = :word AND created_at < :until
     ORDER BY created_at DESC LIMIT 1 OFFSET :step
"""
NAMED_SINCE = """
    SELECT DISTINCT session_id AS id FROM session_words
     WHERE word IN ({words}) AND created_at >= :stretch_since AND created_at < :stretch_until
"""
SELECT_NEWEST_IDS = "SELECT session.id FROM sessions AS session"
HAS_WORD = """EXISTS (
    SELECT 1 FROM session_words AS found
     WHERE found.session_id = session.id AND found.word >= :{name} AND found.word < :{name}_beyond)"""


def _search(tx: Tx, question: Question, group: int, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    longest, others = question.words[0], question.words[1:]
    span = {"prefix": longest, "beyond": _beyond(longest)}
    rest = _with_words(question._replace(words=others))
    if tx.value(COUNT_WITH_PREFIX, **span, limit=FEW_ROWS + 1) <= FEW_ROWS:
        rest = rest.and_also(range=longest, range_beyond=_beyond(longest))._replace(few=IN_RANGE)
        return _newest(tx, rest, before=before, limit=limit)
    if group == RUNNING:
        return _newest(tx, _with_words(question), before=before, limit=limit)
    words = [row[0] for row in tx.all(WORDS_WITH_PREFIX, **span, limit=FEW_WORDS + 1)]
    if len(words) > FEW_WORDS:
        return _newest(tx, _with_words(question), before=before, limit=limit)
    if len(words) == 1:
        return _list_by_word(tx, rest, words[0], before=before, limit=limit)
    if question.conditions != (OF_GROUP,):
        found = _search_among_newest(tx, question, before=before, limit=limit)
        if len(found) == limit:
            return found
    return _search_by_words(tx, rest, words, before=before, limit=limit)


def _list_by_word(
    tx: Tx, question: Question, word: str, *, before: tuple[float, str] | None, limit: int
) -> list[Session]:
    order = ("named.created_at", "named.session_id")
    asked = question.and_also(*ALSO_BY_WORD, named=word)
    return _page(tx, asked, order, select=SELECT_BY_WORD, before=before, limit=limit)


def _search_among_newest(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    """Look through the newest sessions of the other filters: that is enough where the word is not rare among them."""
    newest, params = _sql(question, SELECT_NEWEST_IDS, NEWEST, before)
    few = newest.replace(":limit", ":among")
    asked = _with_words(Question((), {**params, "among": LOOK_AMONG}, question.words, few=few))
    return _newest(tx, asked, before=None, limit=limit)


def _search_by_words(
    tx: Tx, question: Question, words: Sequence[str], *, before: tuple[float, str] | None, limit: int
) -> list[Session]:
    """Look through the sessions of these words, newest first, a larger stretch of time at each step."""
    named = {f"named_{number}": word for number, word in enumerate(words)}
    few = NAMED_SINCE.format(words=", ".join(f":{name}" for name in named))
    found: list[Session] = []
    until, step = math.inf if before is None else math.nextafter(before[0], math.inf), limit
    while until > -math.inf and len(found) < limit:
        since = max((_step_back(tx, word, until, step) for word in words), default=-math.inf)
        stretch = question.and_also(**named, stretch_since=since, stretch_until=until)._replace(few=few)
        found += _newest(tx, stretch, before=before, limit=limit - len(found))
        until, step = since, step * 4
    return found


def _step_back(tx: Tx, word: str, until: float, step: int) -> float:
    """When the session was created that is `step` sessions of this word before `until`."""
    at = tx.value(STEP_BACK, word=word, until=until, step=step)
    return -math.inf if at is None else float(at)


def _with_words(question: Question) -> Question:
    """The same question with its words as conditions that are checked row by row."""
    conditions, params = list(question.conditions), dict(question.params)
    for number, word in enumerate(question.words):
        name = f"word_{number}"
        conditions.append(HAS_WORD.format(name=name))
        params |= {name: word, f"{name}_beyond": _beyond(word)}
    return question._replace(conditions=tuple(conditions), params=params, words=())


def _beyond(prefix: str) -> str:
    """The first text after all that begin with `prefix`."""
    return prefix + "\U0010ffff"
