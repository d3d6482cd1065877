"""A lionagi database: whatever it has comes in, once; it is only read; what is wrong in it is named."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lionstudio.domain.conversation import INSTRUCTION_CLASS, UNKNOWN_CLASS
from lionstudio.domain.errors import DatabaseDamaged, DatabaseGone, Error, InvalidRequest
from lionstudio.domain.session import SessionStatus, SourceKind
from lionstudio.domain.show import PlayStatus, ShowStatus
from lionstudio.domain.state import end_reason_code
from lionstudio.domain.team import TeamStatus
from lionstudio.domain.usage import Usage
from lionstudio.importers.lionagi_db import import_lionagi_db
from lionstudio.importers.report import ImportReport, Problem
from lionstudio.importers.run_folders import import_run_folders
from lionstudio.services import branches, messages, sessions, shows, teams
from lionstudio.services.admin import list_events
from lionstudio.services.context import Context
from lionstudio.services.foreign import open_foreign
from lionstudio.services.rehearsal import rehearse_in_a_copy
from lionstudio.services.verification import verify_database
from lionstudio.store.open import open_database
from tests.factories import NOW
from tests.importers.test_run_folders import REAL, REAL_BRANCH, REAL_SESSION

FIXTURES = Path(__file__).parents[1] / "fixtures" / "lionagi_db"
FIRST, NEWEST = "first-schema.sql", "lionagi-0.36.0.sql"


def change(path: Path, sql: str) -> None:
    """What another program does to its own file."""
    connection = apsw.Connection(str(path))
    connection.execute(sql).fetchall()
    connection.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file with a row of every kind, in the schema that lionagi began with."""
    path = tmp_path / "there" / "state.db"
    path.parent.mkdir()
    change(path, (FIXTURES / FIRST).read_text())
    return path


@pytest.fixture
def newest(tmp_path: Path) -> Path:
    """What lionagi 0.36 wrote for the run in the fixtures of run folders."""
    path = tmp_path / "lionagi.db"
    change(path, (FIXTURES / NEWEST).read_text())
    return path


def bring(ctx: Context, path: Path) -> ImportReport:
    with open_foreign(str(path)) as file:
        return import_lionagi_db(ctx, file, shows_root="/shows")


def new(report: ImportReport) -> dict[str, int]:
    """What changed."""
    return {name: count for name, count in report.counts.items() if count and name != "runs"}


def everything(ctx: Context) -> dict[str, list[str]]:
    with ctx.db.read() as tx:
        tables = [row[0] for row in tx.all(tx.dialect.list_tables)]
        return {table: sorted(map(repr, tx.all(f"SELECT * FROM {table}"))) for table in tables}


def test_every_kind_of_row_comes_in_and_only_once(ctx: Context, source: Path) -> None:
    report = bring(ctx, source)
    assert report.problems == report.notes == ()
    assert new(report) == {
        "runs added": 1, "messages added": 5, "shows added": 1, "plays added": 2, "teams added": 1,
        "team messages added": 1,
    }  # fmt: skip
    before = everything(ctx)
    assert new(bring(ctx, source)) == {}
    assert everything(ctx) == before


def test_a_run_keeps_its_ids_names_times_and_metadata(ctx: Context, source: Path) -> None:
    bring(ctx, source)
    session = sessions.get_session(ctx, "s-1")
    assert (session.name, session.user, session.progression_id) == ("hunt", "ana", "p-session")
    assert (session.created_at, session.updated_at) == (1700000000.0, 1700000004.0)
    assert (session.status, session.source_kind) == (None, SourceKind.IMPORTED_DB)
    assert (session.first_msg_id, session.last_msg_id, session.message_count) == ("m-system", "m-3", 4)
    assert session.node_metadata is not None
    assert session.node_metadata["note"] == "kept"


def test_branches_forks_and_messages_are_as_they_were(ctx: Context, source: Path) -> None:
    bring(ctx, source)
    main, fork = (branches.get_branch(ctx, id) for id in ("b-main", "b-fork"))
    assert (main.progression_id, main.system_msg_id, main.message_count) == ("p-main", "m-system", 3)
    assert (fork.parent_branch_id, fork.forked_at_ord, fork.message_count) == ("b-main", 2, 1)
    history = messages.list_messages(ctx, "s-1", "b-fork")
    assert [message.id for message in history] == ["m-system", "m-1", "m-3"]
    said = history[1]
    assert (said.lion_class, said.content, said.embedding) == (
        INSTRUCTION_CLASS,
        {"instruction": "Find it"},
        (1.0, 2.0),
    )


def test_a_message_of_no_run_comes_in_by_itself(ctx: Context, source: Path) -> None:
    bring(ctx, source)
    free = messages.get_message(ctx, "m-free")
    assert (free.content, free.role, free.lion_class) == ("no JSON at all", "unset", UNKNOWN_CLASS)


def test_shows_and_plays_are_linked_to_their_runs(ctx: Context, source: Path) -> None:
    bring(ctx, source)
    show = shows.get_show(ctx, "bugs")
    assert (show.goal, show.status, show.show_dir) == ("No more bugs", ShowStatus.IMPORTED, "/shows/bugs")
    find, mend = shows.list_plays(ctx, "bugs")
    assert (find.name, find.status, find.session_id, find.exit_code) == ("find", PlayStatus.MERGED, "s-1", 0)
    assert (mend.name, mend.status, mend.depends_on) == ("mend", PlayStatus.RUNNING_COMPLETE, ("find",))


def test_teams_come_with_what_was_said(ctx: Context, source: Path) -> None:
    bring(ctx, source)
    team = teams.get_team(ctx, "team-1")
    assert (team.name, team.members, team.status) == ("hunters", ("ana", "ben"), TeamStatus.ACTIVE)
    (said,) = teams.list_messages(ctx, "team-1")
    assert (said.content, said.recipient, said.read_by, said.session_id) == ("Yours.", "ben", ("ben",), "s-1")


def test_what_happened_there_since_is_all_that_comes_the_next_time(ctx: Context, source: Path) -> None:
    bring(ctx, source)
    later = NOW + 1_000_000_000
    change(
        source,
        f"""
        INSERT INTO messages SELECT 'm-4', 1700000010.0, NULL, content, NULL, NULL, NULL, NULL, role, 3
                               FROM messages WHERE id = 'm-2';
        UPDATE progressions SET collection = '["m-system", "m-1", "m-2", "m-4"]' WHERE id = 'p-main';
        UPDATE plays SET status = 'gate_failed', updated_at = {later} WHERE id = 'play-2';
        UPDATE team_messages SET read_by = '["ben", "cat"]';
        INSERT INTO team_messages VALUES ('t-2', 'team-1', 1700000008.0, 'ben', 'all', 'Mine.', NULL, NULL);
        """,
    )
    assert new(bring(ctx, source)) == {
        "runs brought up to date": 1, "messages added": 1, "plays brought up to date": 1, "team messages added": 1,
        "team messages brought up to date": 1,
    }  # fmt: skip
    assert sessions.get_session(ctx, "s-1").last_msg_id == "m-4"
    assert shows.get_play(ctx, "bugs", "mend").status is PlayStatus.GATE_FAILED
    assert new(bring(ctx, source)) == {}


def test_what_was_changed_here_since_stays(ctx: Context, source: Path) -> None:
    bring(ctx, source)
    shows.put_show(ctx, "bugs", actor="ana", status="completed")
    teams.archive_team(ctx, "team-1", actor="ana")
    assert new(bring(ctx, source)) == {}
    assert shows.get_show(ctx, "bugs").status is ShowStatus.COMPLETED
    assert teams.get_team(ctx, "team-1").status is TeamStatus.ARCHIVED


def test_what_lionagi_writes_today_comes_in(ctx: Context, newest: Path) -> None:
    report = bring(ctx, newest)
    wanted = {"runs added": 1, "messages added": 5, "steps of histories added": 2}
    assert (new(report), report.problems) == (wanted, ())
    assert report.notes == ("Not brought in, because there is no place for it here: session_signals (2).",)
    session = sessions.get_session(ctx, REAL_SESSION)
    assert (session.status, session.invocation_kind) == ("completed", "agent")
    assert session.artifacts_path == "/home/dev/project"
    assert session.node_metadata is not None
    assert session.node_metadata["state_db"]["run_id"] == "20261115T194239-41e9c3"
    stored = branches.get_branch(ctx, REAL_BRANCH).node_metadata
    assert stored is not None
    assert (stored["provider"], "chat_model" in stored) == ("scripted", False)


def test_which_model_answered_what_it_cost_and_how_the_run_ended_are_known(ctx: Context, newest: Path) -> None:
    bring(ctx, newest)
    consumed = Usage(input_tokens=100, output_tokens=20, cost_usd=0.0012)
    assert sessions.get_usage(ctx, REAL_SESSION) == {"scripted-test": consumed}
    session = sessions.get_session(ctx, REAL_SESSION)
    assert (end_reason_code(session), session.end_actor) == ("run.imported", "run")
    assert list(verify_database(ctx)) == []


def test_a_run_without_a_branch_gets_one(ctx: Context, newest: Path) -> None:
    apsw.Connection(str(newest)).execute("DELETE FROM branches; DELETE FROM progressions")
    bring(ctx, newest)
    assert [branch.name for branch in branches.list_branches(ctx, REAL_SESSION)] == ["main"]
    assert list(verify_database(ctx)) == []
    assert new(bring(ctx, newest)) == {}


def test_the_folder_and_the_row_of_a_run_are_one_run(ctx: Context, newest: Path) -> None:
    bring(ctx, newest)
    assert new(import_run_folders(ctx, str(REAL))) == {"run folders": 1, "runs brought up to date": 1}
    assert new(import_run_folders(ctx, str(REAL))) == {"run folders": 1}
    assert new(bring(ctx, newest)) == {}


def test_whichever_comes_first(ctx: Context, newest: Path) -> None:
    import_run_folders(ctx, str(REAL))
    assert new(bring(ctx, newest)) == {"runs brought up to date": 1, "steps of histories added": 2}
    assert new(bring(ctx, newest)) == {}
    assert new(import_run_folders(ctx, str(REAL))) == {"run folders": 1}


def test_how_a_run_came_to_its_status_comes_in_under_its_own_ids(ctx: Context, newest: Path) -> None:
    bring(ctx, newest)
    brought, began, ended = sessions.list_history(ctx, REAL_SESSION)  # the clock of the tests is behind
    assert (began.id, began.from_status, began.to_status) == ("1c70c6c32bac48e3bca81d37fad938fd", None, "running")
    assert (began.actor, began.at, began.sentence) == ("create_session", 1794771760.1884592, None)
    assert (ended.from_status, ended.to_status) == ("running", "completed")
    assert (ended.sentence, ended.reason_code) == ("Run completed successfully.", None)
    assert ended.evidence == {"state_db": {"reason_code": "run.completed.ok", "source": "executor"}}
    assert (brought.actor, brought.reason_code) == ("import", "run.imported")


STEP = """
    INSERT INTO status_transitions
           (id, entity_type, entity_id, previous_status, status, reason_code, source, created_at)
    VALUES ('{id}', '{entity}', '{entity_id}', {before}, {after}, '{code}', 'admin', 1794771761.0);
"""


def add_step(path: Path, id: str, entity: str, entity_id: str, before: str, after: str, code: str = "x.y") -> None:
    change(path, STEP.format(id=id, entity=entity, entity_id=entity_id, before=before, after=after, code=code))


def test_shows_plays_and_teams_have_their_history_under_the_ids_they_have_here(ctx: Context, newest: Path) -> None:
    change(
        newest,
        """
        INSERT INTO shows (id, topic, show_dir, created_at, updated_at) VALUES ('their-show', 'bugs', '/b', 1.0, 1.0);
        INSERT INTO plays (id, show_id, name, status, created_at, updated_at)
        VALUES ('their-play', 'their-show', 'find', 'merged', 1.0, 1.0);
        INSERT INTO teams (id, name, created_at, updated_at) VALUES ('team-1', 'hunters', 1.0, 1.0);
        """,
    )
    add_step(newest, "h-1", "show", "their-show", "NULL", "'active'")
    add_step(newest, "h-2", "play", "their-play", "'gated'", "'merged'", code="play.merged.integrated")
    add_step(newest, "h-3", "team", "team-1", "'active'", "'archived'")
    assert bring(ctx, newest).counts["steps of histories added"] == 5
    assert "h-1" in [step.id for step in shows.list_show_history(ctx, "bugs")]
    merged = shows.list_play_history(ctx, "bugs", "find")[-1]
    assert (merged.id, merged.from_status, merged.reason_code) == ("h-2", "gated", "play.merged.integrated")
    archived = next(step for step in teams.list_team_history(ctx, "team-1") if step.id == "h-3")
    assert (archived.to_status, archived.actor) == ("archived", "admin")
    assert new(bring(ctx, newest)) == {}


def test_steps_that_have_no_place_are_counted_and_left_out(ctx: Context, newest: Path) -> None:
    add_step(newest, "h-1", "invocation", "any", "NULL", "'running'")
    add_step(newest, "h-2", "session", "nowhere", "NULL", "'running'")
    add_step(newest, "h-3", "session", REAL_SESSION, "'running'", "'pondering'")
    add_step(newest, "h-4", "session", REAL_SESSION, "'pondering'", "'error'")
    report = bring(ctx, newest)
    assert report.problems == ()
    assert "status_transitions (3)" in report.notes[0]
    (known,) = [step for step in sessions.list_history(ctx, REAL_SESSION) if step.id.startswith("h-")]
    assert (known.id, known.from_status, known.to_status) == ("h-4", None, "failed")
    assert known.evidence is not None
    assert (known.evidence["state_db"]["previous_status"], known.evidence["state_db"]["status"]) == (
        "pondering",
        "error",
    )


def test_what_operators_did_to_another_database_stays_there(ctx: Context, newest: Path) -> None:
    change(newest, "INSERT INTO admin_events VALUES ('e', 1794771761.0, 'vacuum', NULL, '{}', 'admin')")
    assert "admin_events (1)" in bring(ctx, newest).notes[0]
    assert list_events(ctx) == []


VALUES = ["NULL", "-1", "2.5", "9e999", "''", "'x'", "x'00ff'", "'[]'", "'[1, null, {}]'", "'{\"a\": [1]}'", "char(0)",
          "CAST(x'ff' AS TEXT)", "'1e400'", "9223372036854775807", "'system'", "'b-fork'"]  # fmt: skip
STEP_COLUMNS = (
    "id entity_type entity_id previous_status status reason_code reason_summary evidence_refs source actor created_at"
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nothing_that_a_step_can_hold_stops_an_import(ctx: Context, tmp_path: Path, data: Any) -> None:
    path = tmp_path / "any.db"
    path.unlink(missing_ok=True)
    change(
        path, re.sub(" NOT NULL|PRIMARY KEY .id.,?", "", (FIXTURES / NEWEST).read_text()).replace(",\n    \n)", "\n)")
    )
    for column in data.draw(st.lists(st.sampled_from(STEP_COLUMNS.split()), min_size=1, max_size=3)):
        change(path, f"UPDATE status_transitions SET {column} = {data.draw(st.sampled_from(VALUES))}")
    first, again = bring(ctx, path), bring(ctx, path)
    assert (new(again), again.problems) == ({}, first.problems)


@pytest.mark.parametrize("entity", ["session", "team"])
def test_a_step_of_an_id_that_no_database_takes_is_of_nobody_here(ctx: Context, newest: Path, entity: str) -> None:
    change(newest, f"UPDATE status_transitions SET entity_type = '{entity}', entity_id = char(0)")
    assert bring(ctx, newest).problems == ()


def test_a_play_leads_to_the_run_that_its_own_run_went_on_with(ctx: Context, source: Path, tmp_path: Path) -> None:
    """A run that was imported from its folder, under another id, is found by its branch."""
    folder = tmp_path / "runs" / "r1"
    (folder / "branches").mkdir(parents=True)
    (folder / "run.json").write_text('{"run_id": "r1"}')
    (folder / "branches" / "b.json").write_text('{"id": "b-main"}')
    import_run_folders(ctx, str(folder))
    report = bring(ctx, source)
    assert (report.problems, report.counts["runs added"], report.counts["runs brought up to date"]) == ((), 0, 1)
    assert shows.get_play(ctx, "bugs", "find").session_id == "r1"
    assert teams.list_messages(ctx, "team-1")[0].session_id == "r1"


@pytest.mark.parametrize(
    ("word", "status", "original"),
    [
        ("running", "running", None),
        ("timed_out", "timed_out", None),
        ("completed_empty", "completed", "completed_empty"),
        ("error", "failed", "error"),
        ("pondering", None, "pondering"),
        (None, None, None),
    ],
)
def test_a_status_of_another_vocabulary_becomes_ours_or_none(
    ctx: Context, newest: Path, word: str | None, status: str | None, original: str | None
) -> None:
    change(newest, f"UPDATE sessions SET status = {'NULL' if word is None else repr(word)}, invocation_kind = 'engine'")
    bring(ctx, newest)
    session = sessions.get_session(ctx, REAL_SESSION)
    assert (session.status, session.invocation_kind) == (status, None)
    kept = {"invocation_kind": "engine"} if original is None else {"status": original, "invocation_kind": "engine"}
    assert (session.node_metadata or {})["original"] == kept


@pytest.mark.parametrize("table", ["sessions", "branches", "messages", "progressions", "shows", "plays", "teams"])
def test_a_missing_table_does_not_keep_the_others_out(ctx: Context, source: Path, table: str) -> None:
    change(source, f"DROP TABLE {table}")
    report = bring(ctx, source)
    wrong = {"messages": "progressions", "shows": "plays", "teams": "team_messages"}.get(table)
    assert {problem.where.split()[0] for problem in report.problems} == ({wrong} if wrong else set())
    rest = {"shows added": 1, "plays added": 2, "teams added": 1, "team messages added": 1}
    for name in {"shows": ("shows", "plays"), "plays": ("plays",), "teams": ("teams", "team messages")}.get(table, ()):
        del rest[f"{name} added"]
    found = new(report)
    assert {name: found.get(name) for name in rest} == rest
    assert found.get("messages added", 0) == (0 if table == "messages" else 5)
    assert found["runs added"] == 1
    assert new(bring(ctx, source)) == {}


def test_sessions_that_only_their_branches_know_are_legacy_runs(ctx: Context, source: Path) -> None:
    change(source, "DELETE FROM sessions")
    bring(ctx, source)
    session = sessions.get_session(ctx, "s-1")
    assert (session.status, session.branch_count, session.message_count) == (None, 2, 4)
    assert session.created_at == 1700000000.0


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("sessions", "created_at updated_at name user node_metadata progression_id first_msg_id last_msg_id"),
        ("branches", "created_at name user node_metadata system_msg_id parent_branch_id forked_at_ord"),
        ("messages", "created_at node_metadata embedding sender recipient channel role lion_class"),
        ("shows", "goal status show_dir created_at updated_at"),
        ("plays", "status session_id exit_code started_at depends_on created_at updated_at"),
        ("teams", "name members created_at updated_at"),
        ("team_messages", "created_at sender recipient read_by session_id"),
    ],
)
def test_missing_columns_are_filled(ctx: Context, source: Path, table: str, columns: str) -> None:
    change(source, ";".join(f"ALTER TABLE {table} DROP COLUMN {column}" for column in columns.split()))
    report = bring(ctx, source)
    assert report.problems == ()
    assert new(report) == {
        "runs added": 1, "messages added": 5, "shows added": 1, "plays added": 2, "teams added": 1,
        "team messages added": 1,
    }  # fmt: skip
    assert new(bring(ctx, source)) == {}


def test_columns_of_a_newer_version_are_kept(ctx: Context, source: Path) -> None:
    change(source, "ALTER TABLE sessions ADD COLUMN mood TEXT DEFAULT 'sunny'")
    change(source, "ALTER TABLE messages ADD COLUMN weight BLOB DEFAULT x'00ff'")
    bring(ctx, source)
    assert (sessions.get_session(ctx, "s-1").node_metadata or {})["state_db"] == {"mood": "sunny"}
    assert (messages.get_message(ctx, "m-2").node_metadata or {})["state_db"] == {"weight": "00ff"}


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        pytest.param(
            "DELETE FROM messages WHERE id = 'm-2'",
            Problem("progressions p-main", "Of 3 messages 1 cannot be found."),
            id="a message that is gone",
        ),
        pytest.param(
            "UPDATE progressions SET collection = '[\"m-' WHERE id = 'p-fork'",
            Problem("progressions p-fork", "Its collection is no list."),
            id="half an order",
        ),
        pytest.param(
            "UPDATE plays SET show_id = 'gone' WHERE id = 'play-2'",
            Problem("plays play-2", "Its show is missing."),
            id="a play without a show",
        ),
        pytest.param("UPDATE plays SET name = NULL WHERE id = 'play-2'", Problem("plays play-2", "It has no name.")),
        pytest.param("UPDATE shows SET topic = ''", Problem("shows show-1", "It has no topic.")),
        pytest.param(
            "INSERT INTO sessions (name) VALUES ('nobody')",
            Problem("sessions", "1 row has no id that can be used."),
            id="no id",
        ),
        pytest.param(
            "UPDATE team_messages SET team_id = NULL",
            Problem("team_messages t-1", "Its team is missing."),
            id="a message without a team",
        ),
    ],
)
def test_what_is_wrong_is_named_by_table_and_row_and_the_rest_comes_in(
    ctx: Context, source: Path, sql: str, problem: Problem
) -> None:
    change(source, sql)
    report = bring(ctx, source)
    assert report.problems[0] == problem
    assert report.counts["runs added"] == 1


def test_text_that_is_no_text_comes_in_with_marks(ctx: Context, source: Path) -> None:
    change(source, "UPDATE sessions SET name = CAST(x'6875ff6e74' AS TEXT)")
    assert bring(ctx, source).problems == ()
    assert sessions.get_session(ctx, "s-1").name == "hu�nt"


def test_a_fork_of_a_branch_of_another_run_brings_its_whole_history(ctx: Context, source: Path) -> None:
    change(
        source,
        "INSERT INTO sessions (id, created_at, progression_id) VALUES ('s-0', 1600000000.0, 'p-fork');"
        "UPDATE branches SET session_id = 's-0' WHERE id = 'b-fork'",
    )
    assert bring(ctx, source).problems == ()
    assert branches.get_branch(ctx, "b-fork").parent_branch_id is None
    assert [message.id for message in messages.list_messages(ctx, "s-0", "b-fork")] == ["m-system", "m-1", "m-3"]


def test_trying_it_first_tells_what_then_happens_and_keeps_nothing(ctx: Context, source: Path) -> None:
    change(source, "DELETE FROM messages WHERE id = 'm-2'")
    before = everything(ctx)
    with rehearse_in_a_copy(ctx) as trial:
        rehearsed = bring(trial, source)
    assert everything(ctx) == before
    assert rehearsed == bring(ctx, source)


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_the_file_and_its_folder_stay_as_they_were(ctx: Context, source: Path, mode: str) -> None:
    change(source, f"PRAGMA journal_mode = {mode}")
    before = {path.name: path.read_bytes() for path in source.parent.iterdir()}
    bring(ctx, source)
    assert {path.name: path.read_bytes() for path in source.parent.iterdir()} == before


LEAVE_A_LOG = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("UPDATE sessions SET name = 'late'")
connection.commit()
os._exit(0)
"""


def test_what_a_dead_process_left_in_the_log_is_read_and_left_there(ctx: Context, source: Path) -> None:
    subprocess.run([sys.executable, "-c", LEAVE_A_LOG, str(source)], check=True)
    log = source.with_name("state.db-wal")
    before = (source.read_bytes(), log.read_bytes())
    assert before[1]
    bring(ctx, source)
    assert sessions.get_session(ctx, "s-1").name == "late"
    assert (source.read_bytes(), log.read_bytes()) == before


@contextmanager
def writer(path: Path) -> Iterator[Any]:
    """Another process that writes when it is told to."""
    code = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('PRAGMA journal_mode = WAL').fetchall()\n"
        "print('ready', flush=True)\n"
        "for line in sys.stdin:\n"
        "    connection.executescript(line)\n"
        "    print('done', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        heard, said = process.stdout, process.stdin
        heard.readline()

        def write(sql: str) -> None:
            said.write(sql + "\n")
            said.flush()
            assert heard.readline() == "done\n"

        yield write
        said.close()


def test_a_file_that_is_written_meanwhile_is_read_as_of_one_moment(ctx: Context, source: Path) -> None:
    with writer(source) as write, open_foreign(str(source)) as file:
        write("DELETE FROM messages; DELETE FROM branches; UPDATE teams SET name = 'others';")
        report = import_lionagi_db(ctx, file, shows_root="/shows")
    assert (report.problems, report.counts["messages added"]) == ((), 5)
    assert teams.get_team(ctx, "team-1").name == "hunters"
    assert teams.list_messages(ctx, "team-1")


@pytest.mark.parametrize(
    ("make", "error", "complaint"),
    [
        pytest.param(lambda path: None, DatabaseGone, "There is no file", id="nothing"),
        pytest.param(lambda path: path.mkdir(), InvalidRequest, "is a folder", id="a folder"),
        pytest.param(lambda path: os.mkfifo(path), InvalidRequest, "is a pipe", id="a pipe"),
        pytest.param(lambda path: path.write_bytes(b""), DatabaseDamaged, "not an SQLite database", id="empty"),
        pytest.param(lambda path: path.write_text("x" * 999), DatabaseDamaged, "not an SQLite database", id="text"),
        pytest.param(
            lambda path: path.write_bytes(b"SQLite format 3\0" + b"\1" * 4096),
            DatabaseDamaged,
            "not a whole database",
            id="damaged",
        ),
    ],
)
def test_what_is_no_database_is_refused(tmp_path: Path, make: Any, error: type[Error], complaint: str) -> None:
    path = tmp_path / "state.db"
    make(path)
    with pytest.raises(error, match=complaint), open_foreign(str(path)):
        pass


def test_a_database_of_ours_is_refused_and_can_still_be_used(sqlite_path: Path) -> None:
    ours = Context(open_database(str(sqlite_path)))
    with pytest.raises(InvalidRequest, match="is a database of Lion Studio already"), open_foreign(str(sqlite_path)):
        pass
    teams.put_team(ours, "team-1", name="hunters", actor="ana")
    ours.db.close()


def test_a_database_about_other_things_is_refused(ctx: Context, tmp_path: Path) -> None:
    change(tmp_path / "other.db", "CREATE TABLE recipes (id)")
    with pytest.raises(InvalidRequest, match="none of the tables"):
        bring(ctx, tmp_path / "other.db")


PEER = "import sys; from lionagi.cli.main import main; sys.argv[0] = 'li'; main()"


def test_a_run_that_lionagi_itself_records_now_is_one_run_from_both_its_places(ctx: Context, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"version": 1, "mode": "auto", "responses": [{"type": "text", "content": "Hi."}]}))
    home = tmp_path / "home"
    env = {**os.environ, "LIONAGI_HOME": str(home), "HOME": str(tmp_path), "LIONAGI_TEST_SCRIPT": str(script)}

    def li(*words: str) -> None:
        subprocess.run([sys.executable, "-c", PEER, *words], env=env, cwd=tmp_path, check=True, capture_output=True)

    li("agent", "scripted/scripted-test", "Say hi")
    assert new(import_run_folders(ctx, str(home / "runs"))) == {"run folders": 1, "runs added": 1, "messages added": 2}
    assert new(bring(ctx, home / "state.db")) == {"runs brought up to date": 1, "steps of histories added": 2}
    (branch,) = [path.stem for path in (home / "runs").glob("*/branches/*.json")]
    li("agent", "-r", branch, "And again")
    again = new(bring(ctx, home / "state.db"))
    assert again.pop("steps of histories added") > 0
    assert again == {"runs brought up to date": 1, "messages added": 2}
    assert "messages added" not in new(import_run_folders(ctx, str(home / "runs")))
    assert new(import_run_folders(ctx, str(home / "runs"))) == {"run folders": 2}
    assert new(bring(ctx, home / "state.db")) == {}
    session = sessions.get_session(ctx, branches.get_branch(ctx, branch).session_id)
    assert (session.status, session.message_count) == (SessionStatus.COMPLETED, 4)


COLUMNS = {
    "messages": "id created_at node_metadata content embedding sender recipient channel role lion_class",
    "message_types": "type_id lion_class",
    "progressions": "id collection",
    "sessions": "id created_at node_metadata name user progression_id updated_at",
    "branches": "id created_at node_metadata session_id progression_id system_msg_id parent_branch_id forked_at_ord",
    "shows": "id topic goal status show_dir created_at updated_at",
    "plays": "id show_id name status session_id exit_code started_at depends_on created_at updated_at",
    "teams": "id name members created_at updated_at",
    "team_messages": "id team_id created_at sender recipient content read_by session_id",
}
LOOSE = re.sub(" PRIMARY KEY| NOT NULL| UNIQUE", "", (FIXTURES / FIRST).read_text())
PLACES = [(table, column) for table, columns in COLUMNS.items() for column in columns.split()]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(VALUES)), min_size=1, max_size=3))
def test_nothing_that_a_column_can_hold_stops_an_import(ctx: Context, tmp_path: Path, changes: Any) -> None:
    path = tmp_path / "any.db"
    path.unlink(missing_ok=True)
    change(path, LOOSE)
    for (table, column), value in changes:
        change(path, f"UPDATE {table} SET {column} = {value}")
    first = bring(ctx, path)
    again = bring(ctx, path)
    assert (new(again), again.problems) == ({}, first.problems)
