"""The last facts that were seen about a session, with their date, and what was made of them."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from lionstudio.domain.health import Evidence, Health
from lionstudio.domain.process import ProcessLook, ProcessState
from lionstudio.domain.session import Session
from lionstudio.store.dialect import Row
from lionstudio.store.encoding import IDS, ids_in, json_in, json_out
from lionstudio.store.sessions import SESSION_COLUMNS, to_session
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx


class StoredEvidence(NamedTuple):
    """Facts as they were seen, and the health they meant at that time."""

    evidence: Evidence
    health: Health


PUT_EVIDENCE = """
    INSERT INTO session_evidence (
        session_id, session_created_at, observed_at, process, process_sentence, has_artifacts, stale_locks,
        temp_files, leftovers, health)
    VALUES (
        :session_id, :session_created_at, :observed_at, :process, :process_sentence, :has_artifacts, :stale_locks,
        :temp_files, :leftovers, :health)
    ON CONFLICT (session_id) DO UPDATE
       SET session_created_at = excluded.session_created_at, observed_at = excluded.observed_at,
           process = excluded.process, process_sentence = excluded.process_sentence,
           has_artifacts = excluded.has_artifacts, stale_locks = excluded.stale_locks,
           temp_files = excluded.temp_files, leftovers = excluded.leftovers, health = excluded.health
"""


class Sight(NamedTuple):
    """What was seen of a session, when, and what it means."""

    session: Session
    evidence: Evidence
    health: Health
    observed_at: float


def put_many(tx: Tx, sights: Iterable[Sight]) -> None:
    """Keep what was seen; what was seen before is forgotten."""
    tx.many(
        PUT_EVIDENCE,
        [
            {
                "session_id": session.id,
                "session_created_at": session.created_at,
                "observed_at": observed_at,
                "process": evidence.process.state,
                "process_sentence": text_in(evidence.process.sentence),
                "has_artifacts": None if evidence.has_artifacts is None else int(evidence.has_artifacts),
                "stale_locks": json_in(list(evidence.stale_locks), what="list of files"),
                "temp_files": json_in(list(evidence.temp_files), what="list of files"),
                "leftovers": len(evidence.stale_locks) + len(evidence.temp_files),
                "health": health,
            }
            for session, evidence, health, observed_at in sights
        ],
    )


# A date moves back only from the future, where a clock had put it that has been set right since.
DATE = f"""
    UPDATE session_evidence SET observed_at = :observed_at
     WHERE session_id IN {IDS} AND (observed_at < :observed_at OR observed_at > :now)
"""


def date(tx: Tx, session_ids: Collection[str], *, observed_at: float, now: float) -> None:
    """Say that the same was seen again, unless somebody has seen it later."""
    tx.run(DATE, ids=ids_in(session_ids), observed_at=observed_at, now=now)


# The three parts have nothing in common, and each has its index. Which runs' files lie on this host is the rule of
# `services.health`: those that were recorded here, and those of which nobody says where. CROSS JOIN keeps SQLite from
# beginning with another table.
LIST_UNSETTLED = f"""
      WITH candidate AS (
        SELECT id FROM sessions WHERE ended_at >= :since
        UNION ALL
        SELECT id FROM sessions WHERE ended_at IS NULL AND updated_at >= :since
        UNION ALL
        SELECT old.id FROM session_evidence AS unclean CROSS JOIN sessions AS old
         WHERE unclean.leftovers > 0 AND old.id = unclean.session_id AND COALESCE(old.ended_at, old.updated_at) < :since
      ), chosen AS (
        SELECT session.id AS id, COALESCE(evidence.observed_at, 0) AS seen_at
          FROM candidate CROSS JOIN sessions AS session
          LEFT JOIN session_evidence AS evidence ON evidence.session_id = session.id
         WHERE session.id = candidate.id AND session.is_running = 0
           AND (session.artifacts_path IS NOT NULL OR evidence.health NOT IN ('healthy', 'zombie'))
           AND (EXISTS (SELECT 1 FROM session_processes AS process
                         WHERE process.session_id = session.id AND process.host = :host)
                OR NOT EXISTS (SELECT 1 FROM session_processes AS process
                                WHERE process.session_id = session.id AND process.host IS NOT NULL))
         ORDER BY seen_at, id
         LIMIT :limit
      )
    SELECT {SESSION_COLUMNS}
      FROM chosen CROSS JOIN sessions AS session CROSS JOIN progression_heads AS head
     WHERE session.id = chosen.id AND head.id = session.progression_id
     ORDER BY chosen.seen_at, chosen.id
"""


def list_unsettled(tx: Tx, *, since: float, host: str | None, limit: int) -> list[Session]:
    """Ended sessions that may have left something on this host, or whose last verdict is from when they ran.

    Those that ended since, and those that were not clean; those first that nobody looked at for longest.
    """
    return [to_session(row) for row in tx.all(LIST_UNSETTLED, since=since, host=text_in(host), limit=limit)]


# The sign of life is kept with the process, where it is renewed without anyone looking.
SELECT_EVIDENCE = """
    SELECT evidence.session_id, evidence.process, evidence.process_sentence, evidence.has_artifacts,
           evidence.stale_locks, evidence.temp_files, evidence.observed_at, evidence.health,
           (SELECT max(process.heartbeat_at) FROM session_processes AS process
             WHERE process.session_id = evidence.session_id)
      FROM session_evidence AS evidence
"""
FIND_EVIDENCE = SELECT_EVIDENCE + "WHERE evidence.session_id = :session_id"
FIND_MANY = f"{SELECT_EVIDENCE} WHERE evidence.session_id IN {IDS}"


def find(tx: Tx, session_id: str) -> StoredEvidence | None:
    """What was last seen of a session, if anyone looked."""
    row = tx.one(FIND_EVIDENCE, session_id=session_id)
    return None if row is None else _stored(row)


def find_many(tx: Tx, session_ids: Sequence[str]) -> dict[str, StoredEvidence]:
    """What was last seen of each of these sessions, where anyone looked."""
    if not session_ids:
        return {}
    return {row[0]: _stored(row) for row in tx.all(FIND_MANY, ids=ids_in(session_ids))}


def _stored(row: Row) -> StoredEvidence:
    _, state, sentence, has_artifacts, stale_locks, temp_files, observed_at, health, heartbeat_at = row
    evidence = Evidence(
        process=ProcessLook(ProcessState(state), sentence),
        heartbeat_at=heartbeat_at,
        has_artifacts=None if has_artifacts is None else bool(has_artifacts),
        stale_locks=tuple(json_out(stale_locks)),
        temp_files=tuple(json_out(temp_files)),
        observed_at=observed_at,
    )
    return StoredEvidence(evidence, Health(health))
