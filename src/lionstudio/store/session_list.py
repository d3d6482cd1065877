"""Lists of sessions by any filter, a page at a time, as fast at a million rows as at ten thousand.

A list is one or two *groups* in turn (running, then the rest), each newest first. Every filter has an index in exactly
that order, so a page costs its own length.
"""

import heapq
from collections.abc import Mapping
from typing import Any, NamedTuple

from lionstudio.domain.session import Session, SessionStatus
from lionstudio.domain.session_list import SessionFilter, View
from lionstudio.store.database import Tx
from lionstudio.store.encoding import text_in
from lionstudio.store.sessions import SELECT_SESSION, SESSION_COLUMNS, to_session, words_of

WORDS_LIMIT = 8  # words of one search that are looked for
FEW_WORDS = 32  # different words a prefix may stand for before another way of searching is cheaper
FEW_ROWS = 2_000

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
NO_LEFTOVERS = """NOT EXISTS (
    SELECT 1 FROM session_evidence AS evidence WHERE evidence.session_id = session.id AND evidence.leftovers > 0)"""
RUNNING, NOT_RUNNING = 1, 0
ONE_GROUP: Mapping[View, int] = {View.SLOW: RUNNING, View.LEGACY: NOT_RUNNING}  # these fix the status


class Question(NamedTuple):
    """A filter as SQL: conditions, their parameters, the words that are searched, and the only group it can match."""

    conditions: tuple[str, ...]
    params: Mapping[str, Any]
    words: tuple[str, ...] = ()
    group: int | None = None

    def and_also(self, condition: str) -> "Question":
        return self._replace(conditions=(*self.conditions, condition))


ANY_ID_BEGINS = "SELECT 1 FROM sessions WHERE id >= :prefix AND id < :beyond LIMIT 1"
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
    text = (wanted.search or "").strip().casefold()
    words = sorted(set(words_of(text)), key=len, reverse=True)[:WORDS_LIMIT]
    if words and words != [text] and _begins_an_id(tx, text):
        # Words end at a dash, ids do not: a text with dashes that an id begins with is meant as that id.
        conditions.append(ID_BEGINS)
        params |= {"id_prefix": text, "id_beyond": _beyond(text)}
        words = []
    return Question(tuple(conditions), params, tuple(words), group)


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
        question = question.and_also("session.is_running = :group")
        question = question._replace(params={**question.params, "group": group})
    if question.words and group == NOT_RUNNING:
        return _search(tx, question, before=before, limit=limit)
    return _newest(tx, _with_words(question), before=before, limit=limit)


def list_ended(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    """Sessions that have ended, the last one first."""
    question = _with_words(question).and_also("session.ended_at IS NOT NULL")
    return _page(tx, question, SELECT_SESSION, ("session.ended_at", "session.id"), before=before, limit=limit)


def list_not_ended(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    """Sessions that have no end, newest first."""
    return _newest(tx, _with_words(question).and_also("session.ended_at IS NULL"), before=before, limit=limit)


SELECT_BY_LEFTOVERS = f"""
    SELECT {SESSION_COLUMNS}
      FROM session_evidence AS evidence
      JOIN sessions AS session ON session.id = evidence.session_id
      JOIN progression_heads AS head ON head.id = session.progression_id
"""


def list_with_leftovers(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    """Ended sessions that left locks or temporary files behind, newest first."""
    question = _with_words(question).and_also("evidence.leftovers > 0").and_also("session.is_running = 0")
    order = ("evidence.session_created_at", "evidence.session_id")
    return _page(tx, question, SELECT_BY_LEFTOVERS, order, before=before, limit=limit)


def _newest(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    return _page(tx, question, SELECT_SESSION, ("session.created_at", "session.id"), before=before, limit=limit)


def _page(
    tx: Tx,
    question: Question,
    select: str,
    order: tuple[str, str],
    *,
    before: tuple[float, str] | None,
    limit: int,
) -> list[Session]:
    at, id = order
    conditions, params = list(question.conditions), dict(question.params)
    if before is not None:
        conditions.append(f"({at}, {id}) < (:before_at, :before_id)")
        params |= {"before_at": before[0], "before_id": before[1]}
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = f"{select} {where} ORDER BY {at} DESC, {id} DESC LIMIT :limit"
    return [to_session(row) for row in tx.all(sql, **params, limit=limit)]


# Searching. A prefix stands for some of the words we know. When they are few, each word's sessions are read newest
# first and merged; when they are many but their rows are few, the rows are read and sorted; else nearly everything
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
IN_RANGE = "session.id IN (SELECT session_id FROM session_words WHERE word >= :range AND word < :range_beyond)"
SELECT_BY_WORD = f"""
    SELECT {SESSION_COLUMNS}
      FROM session_words AS named
      JOIN sessions AS session ON session.id = named.session_id
      JOIN progression_heads AS head ON head.id = session.progression_id
"""
HAS_WORD = """EXISTS (
    SELECT 1 FROM session_words AS found
     WHERE found.session_id = session.id AND found.word >= :{name} AND found.word < :{name}_beyond)"""


def _search(tx: Tx, question: Question, *, before: tuple[float, str] | None, limit: int) -> list[Session]:
    longest, others = question.words[0], question.words[1:]
    rest = _with_words(question._replace(words=others))
    span = {"prefix": longest, "beyond": _beyond(longest)}
    words = [row[0] for row in tx.all(WORDS_WITH_PREFIX, **span, limit=FEW_WORDS + 1)]
    if len(words) <= FEW_WORDS:
        pages = [_list_by_word(tx, rest, word, before=before, limit=limit) for word in words]
        merged = heapq.merge(*pages, key=lambda session: (session.created_at, session.id), reverse=True)
        return list({session.id: session for session in merged}.values())[:limit]
    if tx.value(COUNT_WITH_PREFIX, **span, limit=FEW_ROWS + 1) <= FEW_ROWS:
        params = {**rest.params, "range": longest, "range_beyond": _beyond(longest)}
        return _newest(tx, rest._replace(params=params).and_also(IN_RANGE), before=before, limit=limit)
    return _newest(tx, _with_words(question), before=before, limit=limit)


def _list_by_word(
    tx: Tx, question: Question, word: str, *, before: tuple[float, str] | None, limit: int
) -> list[Session]:
    question = question._replace(params={**question.params, "named": word}).and_also("named.word = :named")
    order = ("named.created_at", "named.session_id")
    return _page(tx, question, SELECT_BY_WORD, order, before=before, limit=limit)


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
