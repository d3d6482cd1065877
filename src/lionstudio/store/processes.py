"""Which process does a run's work, and which writes it down."""

from collections.abc import Collection, Mapping, Sequence

from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.store.dialect import Row
from lionstudio.store.encoding import IDS, ids_in
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

PUT_PROCESS = """
    INSERT INTO session_processes (
        session_id, role, host, boot_id, pid_namespace, pid, start_time, pgid, owns_group, command, heartbeat_at)
    VALUES (
        :session_id, :role, :host, :boot_id, :pid_namespace, :pid, :start_time, :pgid, :owns_group, :command,
        :heartbeat_at)
    ON CONFLICT (session_id, role) DO UPDATE
       SET host = excluded.host, boot_id = excluded.boot_id, pid_namespace = excluded.pid_namespace,
           pid = excluded.pid, start_time = excluded.start_time, pgid = excluded.pgid,
           owns_group = excluded.owns_group, command = excluded.command, heartbeat_at = excluded.heartbeat_at
"""


def put(tx: Tx, process: ProcessRecord) -> None:
    """Record a process; a later one of the same role takes its place."""
    tx.run(
        PUT_PROCESS,
        session_id=process.session_id,
        role=process.role,
        host=text_in(process.place.host),
        boot_id=text_in(process.place.boot_id),
        pid_namespace=text_in(process.place.pid_namespace),
        pid=process.pid,
        start_time=process.start_time,
        pgid=process.pgid,
        owns_group=int(process.owns_group),
        command=text_in(process.command),
        heartbeat_at=process.heartbeat_at,
    )


BEAT = "UPDATE session_processes SET heartbeat_at = :at WHERE session_id = :session_id AND role = :role"


def beat(tx: Tx, session_id: str, role: str, *, at: float) -> bool:
    """Write down a sign of life; whether such a process is known."""
    return tx.run(BEAT, session_id=session_id, role=role, at=at) > 0


ROLES: Mapping[str, ProcessRole] = {word.value: word for word in ProcessRole}
SELECT_PROCESS = """
    SELECT session_id, role, host, boot_id, pid_namespace, pid, start_time, pgid, owns_group, command, heartbeat_at
      FROM session_processes
"""
LIST_OF_SESSION = SELECT_PROCESS + "WHERE session_id = :session_id ORDER BY role"
FIND_MANY = f"{SELECT_PROCESS} WHERE session_id IN {IDS}"


def list_of_session(tx: Tx, session_id: str) -> list[ProcessRecord]:
    return [_process(row) for row in tx.all(LIST_OF_SESSION, session_id=session_id)]


def find_many(tx: Tx, session_ids: Sequence[str]) -> dict[str, list[ProcessRecord]]:
    """The processes of these sessions."""
    if not session_ids:
        return {}
    found: dict[str, list[ProcessRecord]] = {}
    for row in tx.all(FIND_MANY, ids=ids_in(session_ids)):
        found.setdefault(row[0], []).append(_process(row))
    return found


LIST_OF_RUNNING = """
    SELECT process.session_id, process.role, process.host, process.boot_id, process.pid_namespace, process.pid,
           process.start_time, process.pgid, process.owns_group, process.command, process.heartbeat_at
      FROM sessions AS session JOIN session_processes AS process ON process.session_id = session.id
     WHERE session.is_running = 1
       AND process.host = :host AND process.boot_id = :boot_id AND process.pid_namespace = :pid_namespace
"""


def list_of_running(tx: Tx, place: Place, *, session_ids: Collection[str] | None = None) -> list[ProcessRecord]:
    """The processes in one place of all sessions that run, or of those among these."""
    params = {"host": text_in(place.host), "boot_id": place.boot_id, "pid_namespace": place.pid_namespace}
    if session_ids is None:
        return [_process(row) for row in tx.all(LIST_OF_RUNNING, **params)]
    rows = tx.all(f"{LIST_OF_RUNNING} AND session.id IN {IDS}", ids=ids_in(session_ids), **params)
    return [_process(row) for row in rows]


def _process(row: Row) -> ProcessRecord:
    # By position: a list reads a hundred of them.
    session_id, role, host, boot_id, pid_namespace, pid, start_time, pgid, owns_group, command, heartbeat_at = row
    place = Place(host, boot_id, pid_namespace)
    owns = bool(owns_group)
    return ProcessRecord(session_id, ROLES[role], place, pid, start_time, pgid, owns, command, heartbeat_at)
