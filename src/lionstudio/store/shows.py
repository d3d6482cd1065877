"""Shows and their plays: structure and status. Prose and artifacts stay on disk (R59)."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lionstudio.domain.show import Play, PlayStatus, Show, ShowStatus, StatusSource
from lionstudio.store import pages
from lionstudio.store.dialect import Row
from lionstudio.store.encoding import IDS, ids_in, json_in, json_out
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

SELECT_SHOW = """
    SELECT id, topic, show_dir, created_at, updated_at, status, status_source, goal, repo, base_branch,
           integration_branch
      FROM shows
"""
FIND_SHOW = SELECT_SHOW + "WHERE topic = :topic"
# Writing a row as it is keeps other writers of the same show away until this use case is done, on both databases.
LOCK_SHOW = "UPDATE shows SET topic = topic WHERE topic = :topic"
SHOW_TEXTS = ("topic", "show_dir", "goal", "repo", "base_branch", "integration_branch")


def to_show(row: Row) -> Show:
    """A show from the columns of SELECT_SHOW."""
    source = None if row[6] is None else StatusSource(row[6])
    columns: list[Any] = [*row[:5], ShowStatus(row[5]), source, *row[7:]]
    return Show(*columns)


def find(tx: Tx, topic: str, *, lock: bool = False) -> Show | None:
    """The show of this topic, kept from other writers if asked."""
    if lock:
        tx.run(LOCK_SHOW, topic=text_in(topic))
    row = tx.one(FIND_SHOW, topic=text_in(topic))
    return None if row is None else to_show(row)


def list_newest(tx: Tx, *, status: ShowStatus | None, before: pages.Key | None, limit: int) -> list[Show]:
    """Shows newest first, from the one after `before`."""
    return [to_show(row) for row in pages.list_newest(tx, SELECT_SHOW, before=before, limit=limit, status=status)]


def show_as_stored(show: Show) -> Show:
    """The show as it will come back: texts that both databases take."""
    texts: dict[str, Any] = {name: text_in(getattr(show, name)) for name in SHOW_TEXTS}
    return show._replace(**texts)


INSERT_SHOW = """
    INSERT INTO shows (
        id, topic, show_dir, created_at, updated_at, status, status_source, goal, repo, base_branch,
        integration_branch)
    VALUES (
        :id, :topic, :show_dir, :created_at, :updated_at, :status, :status_source, :goal, :repo, :base_branch,
        :integration_branch)
    ON CONFLICT (topic) DO NOTHING
"""
UPDATE_SHOW = """
    UPDATE shows
       SET show_dir = :show_dir, created_at = :created_at, updated_at = :updated_at, status = :status,
           status_source = :status_source, goal = :goal, repo = :repo, base_branch = :base_branch,
           integration_branch = :integration_branch
     WHERE id = :id
"""
TOUCH_SHOW = "UPDATE shows SET updated_at = :at WHERE id = :show_id AND updated_at < :at"
DELETE_SHOW = "DELETE FROM shows WHERE id = :show_id"


def insert(tx: Tx, show: Show) -> bool:
    """Store a show unless its topic is taken; whether it was new."""
    return tx.run(INSERT_SHOW, topic=show.topic, **_show_params(show)) == 1


def update(tx: Tx, show: Show) -> None:
    """Store a show over the row that has its id."""
    tx.run(UPDATE_SHOW, **_show_params(show))


def touch(tx: Tx, show_id: str, *, at: float) -> None:
    """A play of the show changed."""
    tx.run(TOUCH_SHOW, show_id=show_id, at=at)


def delete(tx: Tx, show_id: str) -> None:
    """Forget a show and, with it, its plays (R58)."""
    tx.run(DELETE_SHOW, show_id=show_id)


def _show_params(show: Show) -> dict[str, Any]:
    return {
        "id": show.id,
        "show_dir": show.show_dir,
        "created_at": show.created_at,
        "updated_at": show.updated_at,
        "status": show.status,
        "status_source": show.status_source,
        "goal": show.goal,
        "repo": show.repo,
        "base_branch": show.base_branch,
        "integration_branch": show.integration_branch,
    }


class PlayWithTopic(NamedTuple):
    """A play and the topic of its show."""

    topic: str
    play: Play


PLAY_COLUMNS = """
    play.id, play.show_id, play.name, play.created_at, play.updated_at, play.status, play.attempt, play.playbook,
    play.effort, play.session_id, play.started_at, play.ended_at, play.exit_code, play.worktree, play.branch,
    play.merge_sha, play.merged_at, play.gate_passed, play.gate_feedback, play.depends_on, play.sort_order
"""
SELECT_PLAY = f"SELECT {PLAY_COLUMNS} FROM plays AS play "
SELECT_PLAY_WITH_TOPIC = f"""
    SELECT show.topic, {PLAY_COLUMNS} FROM plays AS play JOIN shows AS show ON show.id = play.show_id
"""
FIND_PLAY = SELECT_PLAY + "WHERE play.show_id = :show_id AND play.name = :name"
LIST_PLAYS = SELECT_PLAY + "WHERE play.show_id = :show_id ORDER BY play.sort_order, play.name"
LIST_OF_SESSION = (
    SELECT_PLAY_WITH_TOPIC + "WHERE play.session_id = :session_id ORDER BY play.created_at DESC, play.id DESC"
)
LIST_WITHOUT_RUN = SELECT_PLAY_WITH_TOPIC + "WHERE play.session_id IS NULL ORDER BY play.id"
GATES_OF_PEOPLE = f"""
    SELECT session_id, min(updated_at) FROM plays
     WHERE session_id IN {IDS} AND status = 'gated' AND gate_passed IS NULL
     GROUP BY session_id
"""
PLAY_TEXTS = ("name", "playbook", "effort", "worktree", "branch", "merge_sha", "gate_feedback")


def to_play(row: Row) -> Play:
    """A play from the columns of SELECT_PLAY."""
    gate_passed = None if row[17] is None else bool(row[17])
    depends_on = tuple(json_out(row[19]))
    columns: list[Any] = [*row[:5], PlayStatus(row[5]), *row[6:17], gate_passed, row[18], depends_on, row[20]]
    return Play(*columns)


def find_play(tx: Tx, show_id: str, name: str) -> Play | None:
    row = tx.one(FIND_PLAY, show_id=show_id, name=text_in(name))
    return None if row is None else to_play(row)


def list_plays(tx: Tx, show_id: str) -> list[Play]:
    """A show's plays in the order of its plan."""
    return [to_play(row) for row in tx.all(LIST_PLAYS, show_id=show_id)]


def list_plays_of_session(tx: Tx, session_id: str) -> list[PlayWithTopic]:
    """The plays that a session worked for, newest first (R78)."""
    return [to_play_with_topic(row) for row in tx.all(LIST_OF_SESSION, session_id=text_in(session_id))]


def find_gates_of_people(tx: Tx, session_ids: Iterable[str]) -> dict[str, float]:
    """Since when a person is asked to let a play of these sessions pass, by session."""
    return dict(tx.all(GATES_OF_PEOPLE, ids=ids_in(session_ids)))


def list_plays_without_run(tx: Tx) -> list[PlayWithTopic]:
    """Every play that no session is known to have worked for."""
    return [to_play_with_topic(row) for row in tx.all(LIST_WITHOUT_RUN)]


def list_newest_plays(
    tx: Tx, *, statuses: Sequence[PlayStatus], before: pages.Key | None, limit: int
) -> list[PlayWithTopic]:
    """Plays of every show in any of these statuses, or in any at all if none is named; newest first (R87)."""
    rows = pages.list_newest(
        tx, SELECT_PLAY_WITH_TOPIC, before=before, limit=limit, table="play.", status=tuple(statuses) or None
    )
    return [to_play_with_topic(row) for row in rows]


def play_as_stored(play: Play) -> Play:
    """The play as it will come back: texts that both databases take."""
    texts: dict[str, Any] = {name: text_in(getattr(play, name)) for name in PLAY_TEXTS}
    return play._replace(**texts)


INSERT_PLAY = """
    INSERT INTO plays (
        id, show_id, name, created_at, updated_at, status, attempt, playbook, effort, session_id, started_at,
        ended_at, exit_code, worktree, branch, merge_sha, merged_at, gate_passed, gate_feedback, depends_on,
        sort_order)
    VALUES (
        :id, :show_id, :name, :created_at, :updated_at, :status, :attempt, :playbook, :effort, :session_id,
        :started_at, :ended_at, :exit_code, :worktree, :branch, :merge_sha, :merged_at, :gate_passed,
        :gate_feedback, :depends_on, :sort_order)
"""
UPDATE_PLAY = """
    UPDATE plays
       SET created_at = :created_at, updated_at = :updated_at, status = :status, attempt = :attempt,
           playbook = :playbook, effort = :effort, session_id = :session_id, started_at = :started_at,
           ended_at = :ended_at, exit_code = :exit_code, worktree = :worktree, branch = :branch,
           merge_sha = :merge_sha, merged_at = :merged_at, gate_passed = :gate_passed,
           gate_feedback = :gate_feedback, depends_on = :depends_on, sort_order = :sort_order
     WHERE id = :id
"""
DELETE_PLAY = "DELETE FROM plays WHERE id = :play_id"


def insert_play(tx: Tx, play: Play) -> None:
    """Store a new play; raises AlreadyExists when the show has one of its name."""
    tx.run(INSERT_PLAY, show_id=play.show_id, name=play.name, **_play_params(play))


def update_play(tx: Tx, play: Play) -> None:
    """Store a play over the row that has its id."""
    tx.run(UPDATE_PLAY, **_play_params(play))


def delete_play(tx: Tx, play_id: str) -> None:
    tx.run(DELETE_PLAY, play_id=play_id)


def _play_params(play: Play) -> dict[str, Any]:
    return {
        "id": play.id,
        "created_at": play.created_at,
        "updated_at": play.updated_at,
        "status": play.status,
        "attempt": play.attempt,
        "playbook": play.playbook,
        "effort": play.effort,
        "session_id": play.session_id,
        "started_at": play.started_at,
        "ended_at": play.ended_at,
        "exit_code": play.exit_code,
        "worktree": play.worktree,
        "branch": play.branch,
        "merge_sha": play.merge_sha,
        "merged_at": play.merged_at,
        "gate_passed": None if play.gate_passed is None else int(play.gate_passed),
        "gate_feedback": play.gate_feedback,
        "depends_on": json_in(list(play.depends_on), what="list of dependencies"),
        "sort_order": play.sort_order,
    }


def to_play_with_topic(row: Row) -> PlayWithTopic:
    return PlayWithTopic(row[0], to_play(row[1:]))
