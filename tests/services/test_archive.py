"""Backups that are proven, and restores that nobody who has the database open must fear."""

import json
import os
import shutil
import stat
import subprocess
import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lionstudio.domain.errors import (
    AlreadyExists,
    DatabaseDamaged,
    DatabaseFull,
    ForeignDatabase,
    InvalidRequest,
    NewerDatabase,
    NotFound,
)
from lionstudio.services import admin, archive
from lionstudio.services.archive import Restored
from lionstudio.services.change_feed import newest_number, read_changes
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message, list_inbox, list_messages, send_message
from lionstudio.services.sessions import get_session
from lionstudio.store import migrate
from lionstudio.store.copies import TABLES
from lionstudio.store.open import open_database
from tests.factories import line_of, start_run, user_says
from tests.services.archive_peer import Peer
from tests.services.archive_world import fill


def ignore(_: int) -> None:
    pass


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    folder = tmp_path / "backups"
    folder.mkdir()
    return folder


@pytest.fixture
def sqlite_ctx(sqlite_path: Path) -> Iterator[Context]:
    db = open_database(str(sqlite_path))
    yield Context(db)
    db.close()


def back_up(ctx: Context, path: Path) -> str:
    return archive.back_up(ctx, str(path), ignore).path


def restore(ctx: Context, file: str, backups: Path) -> Restored:
    with archive.stage_restore(ctx, file, backups=str(backups), on_rows=ignore) as staged:
        return staged.restore(backups=str(backups), actor="ana", on_rows=ignore)


@contextmanager
def opened(path: str, *, create: bool = False) -> Iterator[Context]:
    db = open_database(path, create=create)
    yield Context(db)
    db.close()


def run_sql(path: str, *statements: str) -> str:
    """Run statements by the SQLite of Python, in a process of its own; what the last one gives."""
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    code += "for sql in sys.argv[2:]: rows = c.execute(sql).fetchall()\nprint(rows)"
    return subprocess.run(
        [sys.executable, "-c", code, path, *statements], capture_output=True, text=True, check=True
    ).stdout


def said(ctx: Context, session_id: str) -> list[object]:
    """Messages; an embedding as the 32-bit numbers that both databases keep."""
    return [
        message._replace(embedding=message.embedding and tuple(array("f", message.embedding)))
        for message in list_messages(ctx, session_id)
    ]


def message_ids(ctx: Context, session_id: str) -> list[str]:
    ids: list[str] = []
    while page := list_messages(ctx, session_id, after=len(ids)):
        ids += [message.id for message in page]
    return ids


def test_a_backup_says_what_it_holds_and_belongs_to_its_owner_alone(ctx: Context, backups: Path) -> None:
    fill(ctx)
    found = archive.back_up(ctx, str(backups / "copy.db"), ignore)
    assert (found.rows["sessions"], found.rows["messages"], found.verified) == (3, 6, True)
    assert found.size == (backups / "copy.db").stat().st_size
    assert stat.S_IMODE((backups / "copy.db").stat().st_mode) == 0o600
    assert os.listdir(backups) == ["copy.db"]


def test_a_backup_opens_as_a_database(ctx: Context, backups: Path) -> None:
    fill(ctx)
    with opened(back_up(ctx, backups / "copy.db")) as copy:
        assert get_session(copy, "run-1") == get_session(ctx, "run-1")
        assert said(copy, "run-1") == said(ctx, "run-1")


def test_a_backup_opens_in_the_sqlite_of_any_python(ctx: Context, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    assert run_sql(path, "SELECT count(*) FROM sessions") == "[(3,)]\n"


def test_a_backup_overwrites_nothing(ctx: Context, backups: Path) -> None:
    (backups / "copy.db").write_text("precious")
    with pytest.raises(AlreadyExists, match="is there already"):
        back_up(ctx, backups / "copy.db")
    assert (backups / "copy.db").read_text() == "precious"


def test_a_backup_while_another_process_writes_is_whole(ctx: Context, location: str, backups: Path) -> None:
    start_run(ctx, "run-1")
    with Peer(location) as peer:
        peer.tell("write on", "run-1")
        known = [peer.answer() for _ in range(20)]
        path = back_up(ctx, backups / "copy.db")
        peer.tell("stop")
        while (said := peer.answer()) is not None:
            known.append(said)
    with opened(path) as copy:
        held = message_ids(copy, "run-1")
    assert held[:20] == known[:20]
    assert held == known[: len(held)]


def test_a_disk_that_fills_leaves_no_half_backup(ctx: Context, small_disk: Path) -> None:
    start_run(ctx, "run-1")
    for number in range(30):
        append_message(ctx, line_of("run-1"), user_says("x" * 100_000, id=f"m-{number}"))
    with pytest.raises(DatabaseFull, match=r"no room left on the disk .* nothing of it was kept"):
        back_up(ctx, small_disk / "copy.db")
    assert os.listdir(small_disk) == []


def test_a_damaged_database_gives_no_backup(sqlite_path: Path, backups: Path) -> None:
    damage(sqlite_path)
    with opened(str(sqlite_path)) as ctx, pytest.raises(DatabaseDamaged):
        back_up(ctx, backups / "copy.db")
    assert os.listdir(backups) == []


def damage(path: Path) -> None:
    """A database with runs, and zeros where some of its messages were."""
    db = open_database(str(path))
    ctx = Context(db)
    start_run(ctx, "run-1")
    for number in range(200):
        append_message(ctx, line_of("run-1"), user_says("x" * 1000, id=f"m-{number}"))
    with db.read() as tx:
        root = tx.value("SELECT rootpage FROM sqlite_master WHERE name = 'ix_progression_entries__message_id'")
    db.close()
    with open(path, "r+b") as file:
        file.seek((root - 1) * 4096 + 8)
        file.write(b"\xff" * 2000)


def test_backups_are_named_by_their_time_and_never_alike(ctx: Context, backups: Path) -> None:
    first = back_up(ctx, Path(archive.name_backup(ctx, str(backups))))
    second = back_up(ctx, Path(archive.name_backup(ctx, str(backups))))
    assert (os.path.basename(first), os.path.basename(second)) == (
        "state-20260921-141320.db",
        "state-20260921-141320-2.db",
    )


def test_a_restore_brings_back_what_was_there(ctx: Context, backups: Path) -> None:
    fill(ctx)
    before = said(ctx, "run-1")
    path = back_up(ctx, backups / "copy.db")
    append_message(ctx, line_of("run-1"), user_says("later", id="later"))
    append_message(ctx, line_of("run-1"), user_says("overwritten", id="m-1"))
    start_run(ctx, "run-4")
    restore(ctx, path, backups)
    assert said(ctx, "run-1") == before
    with pytest.raises(NotFound):
        get_session(ctx, "run-4")


def test_a_database_of_one_kind_can_be_restored_into_the_other(
    ctx: Context, postgres: object, tmp_path: Path, backups: Path, request: pytest.FixtureRequest
) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    server = request.getfixturevalue("postgres")
    with server.new_database() as url:
        other = url if ctx.db.dialect.name == "sqlite" else str(tmp_path / "other.db")
        moved = Context(open_database(other))
        restore(moved, path, backups)
        assert said(moved, "run-1") == said(ctx, "run-1")
        assert append_message(moved, line_of("run-2"), user_says("and on", id="new")) == "new"
        moved.db.close()


def test_a_restore_keeps_what_was_there_before_in_a_backup(ctx: Context, backups: Path) -> None:
    path = back_up(ctx, backups / "empty.db")
    fill(ctx)
    done = restore(ctx, path, backups)
    assert done.safety is not None
    assert os.path.basename(done.safety.path) == "state-before-restore-20260921-141320.db"
    assert sorted(os.listdir(backups)) == ["empty.db", "state-before-restore-20260921-141320.db"]
    with opened(done.safety.path) as saved:
        assert message_ids(saved, "run-1") == ["m-1", "m-2", "m-3"]
    restore(ctx, done.safety.path, backups)
    assert message_ids(ctx, "run-1") == ["m-1", "m-2", "m-3"]


def test_a_restore_into_an_empty_database_needs_no_safety_backup(ctx: Context, tmp_path: Path, backups: Path) -> None:
    source = Context(open_database(str(tmp_path / "source.db")))
    fill(source)
    path = back_up(source, backups / "copy.db")
    source.db.close()
    assert restore(ctx, path, backups).safety is None
    assert message_ids(ctx, "run-1") == ["m-1", "m-2", "m-3"]


def test_a_restore_only_reads_its_backup(ctx: Context, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    before = Path(path).read_bytes()
    restore(ctx, path, backups)
    assert Path(path).read_bytes() == before


def test_a_restore_is_on_record(ctx: Context, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    start_run(ctx, "run-4")
    done = restore(ctx, path, backups)
    event = admin.list_events(ctx, action="restore")[0]
    assert (event.id, event.actor) == (done.event_id, "ana")
    assert event.details == {
        "file": path,
        "safety_backup": done.safety.path if done.safety else None,
        "sessions_before": 4,
        "sessions_after": 3,
        "running_sessions_forgotten": ["run-4"],
    }


def test_numbers_go_on_above_every_one_that_was_ever_given(ctx: Context, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    for number in range(50):
        append_message(ctx, line_of("run-1"), user_says("later", id=f"later-{number}"))
    highest = newest_number(ctx)
    restore(ctx, path, backups)
    for cursor in range(highest + 1):
        for session_id in (None, "run-1"):
            assert read_changes(ctx, cursor, session_id=session_id).reload
    after = newest_number(ctx)
    assert after > highest
    append_message(ctx, line_of("run-1"), user_says("next", id="next"))
    news = read_changes(ctx, after)
    assert [(change.entity_id, change.seq > after) for change in news.changes] == [("next", True)]


def test_numbers_go_on_above_those_of_a_backup_that_was_further(ctx: Context, tmp_path: Path, backups: Path) -> None:
    source = Context(open_database(str(tmp_path / "source.db")))
    fill(source)
    highest = newest_number(source)
    path = back_up(source, backups / "copy.db")
    source.db.close()
    restore(ctx, path, backups)
    assert all(read_changes(ctx, cursor).reload for cursor in range(highest + 1))


def test_a_run_misses_nothing_it_is_sent_after_a_restore(ctx: Context, backups: Path) -> None:
    start_run(ctx, "run-1")
    path = back_up(ctx, backups / "copy.db")
    for number in range(5):
        send_message(ctx, "run-1", user_says("old", id=f"old-{number}", recipient="run-1"))
    cursor = list_inbox(ctx, ["run-1"])[-1].position or 0
    restore(ctx, path, backups)
    send_message(ctx, "run-1", user_says("new", id="new", recipient="run-1"))
    assert [message.id for message in list_inbox(ctx, ["run-1"], after=cursor)] == ["new"]


def test_a_restored_database_stays_the_same_database(
    ctx: Context, location: str, tmp_path: Path, backups: Path
) -> None:
    source = Context(open_database(str(tmp_path / "source.db")))
    fill(source)
    path = back_up(source, backups / "copy.db")
    source.db.close()
    restore(ctx, path, backups)
    again = open_database(location)
    assert again.dialect.database_id == ctx.db.dialect.database_id
    again.close()


def test_history_can_still_not_be_changed_after_a_restore(ctx: Context, backups: Path) -> None:
    fill(ctx)
    restore(ctx, back_up(ctx, backups / "copy.db"), backups)
    for table in ("admin_events", "status_transitions"):
        with pytest.raises(Exception, match="append-only"), ctx.db.write() as tx:
            tx.run(f"UPDATE {table} SET actor = 'mallory'")


def test_whoever_has_the_database_open_sees_the_restored_one(ctx: Context, location: str, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    append_message(ctx, line_of("run-1"), user_says("later", id="later"))
    identity = None if ctx.db.dialect.name == "postgres" else os.stat(location).st_ino
    with Peer(location) as peer:
        assert peer.ask("messages", "run-1") == ["m-1", "m-2", "m-3", "later"]
        cursor = str(peer.ask("cursor"))
        restore(ctx, path, backups)
        assert peer.ask("messages", "run-1") == ["m-1", "m-2", "m-3"]
        assert peer.ask("follow", cursor) == ["reload"]
        assert peer.ask("follow", cursor, "run-1") == ["reload"]
        assert peer.ask("append", "run-1", "after") == "after"
    assert message_ids(ctx, "run-1") == ["m-1", "m-2", "m-3", "after"]
    assert identity is None or os.stat(location).st_ino == identity


def test_a_follower_that_waits_is_woken_by_a_restore(ctx: Context, location: str, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    with Peer(location) as peer:
        cursor = str(peer.ask("cursor"))
        peer.tell("wait", cursor)
        restore(ctx, path, backups)
        assert peer.answer() == ["reload"]


def test_a_writer_during_a_restore_loses_nothing_it_was_told_was_stored_after_it(
    ctx: Context, location: str, backups: Path
) -> None:
    fill(ctx)
    start_run(ctx, "busy")
    path = back_up(ctx, backups / "copy.db")
    with Peer(location) as peer:
        peer.tell("write on", "busy")
        told = [peer.answer() for _ in range(20)]
        done = restore(ctx, path, backups)
        marker = read_changes(ctx, 0)
        assert marker.reload
        peer.tell("stop")
        while (said := peer.answer()) is not None:
            told.append(said)
    assert all(isinstance(said, str) for said in told)  # nobody was refused
    assert done.safety is not None
    with opened(done.safety.path) as saved:
        before = message_ids(saved, "busy")
    after = message_ids(ctx, "busy")
    assert before + after == told
    assert len(after) > 0


def test_what_is_stored_while_the_safety_backup_is_made_is_in_it(ctx: Context, location: str, backups: Path) -> None:
    start_run(ctx, "run-1")
    path = back_up(ctx, backups / "copy.db")
    late: list[object] = []
    with Peer(location) as peer:

        def store_one(_: int) -> None:
            if not late:
                late.append(peer.ask("append", "run-1", "late"))

        with archive.stage_restore(ctx, path, backups=str(backups), on_rows=ignore) as staged:
            done = staged.restore(backups=str(backups), actor="ana", on_rows=store_one)
    assert late == ["late"]
    assert done.safety is not None
    assert sorted(os.listdir(backups)) == ["copy.db", os.path.basename(done.safety.path)]
    with opened(done.safety.path) as saved:
        assert message_ids(saved, "run-1") == ["late"]
    assert message_ids(ctx, "run-1") == []


def test_a_database_that_was_empty_when_the_restore_was_planned_is_kept(ctx: Context, backups: Path) -> None:
    path = back_up(ctx, backups / "copy.db")
    with archive.stage_restore(ctx, path, backups=str(backups), on_rows=ignore) as staged:
        start_run(ctx, "late")
        done = staged.restore(backups=str(backups), actor="ana", on_rows=ignore)
    assert done.safety is not None
    with opened(done.safety.path) as saved:
        assert get_session(saved, "late").status == "running"
    details = admin.list_events(ctx, action="restore")[0].details
    assert (details["sessions_before"], details["running_sessions_forgotten"]) == (1, ["late"])
    assert details["safety_backup"] == done.safety.path


def test_a_run_that_the_backup_does_not_know_is_named_in_the_plan(ctx: Context, backups: Path) -> None:
    path = back_up(ctx, backups / "copy.db")
    start_run(ctx, "run-9", name="late")
    with archive.stage_restore(ctx, path, backups=str(backups), on_rows=ignore) as staged:
        assert staged.plan.forgotten == ("run-9",)
        assert (staged.plan.now and staged.plan.now.sessions, staged.plan.then.sessions) == (1, 0)
    assert os.listdir(backups) == ["copy.db"]


def test_planning_a_restore_changes_nothing(ctx: Context, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    start_run(ctx, "run-9")
    newest = newest_number(ctx)
    with archive.stage_restore(ctx, path, backups=str(backups), on_rows=ignore):
        pass
    assert (newest_number(ctx), get_session(ctx, "run-9").id) == (newest, "run-9")


def test_what_is_no_backup_is_refused(ctx: Context, location: str, backups: Path, tmp_path: Path) -> None:
    refused = {
        "missing.db": NotFound,
        "text.db": DatabaseDamaged,
        "empty.db": DatabaseDamaged,
        "foreign.db": ForeignDatabase,
    }
    (tmp_path / "text.db").write_text("dear diary" * 100)
    (tmp_path / "empty.db").write_bytes(b"")
    run_sql(str(tmp_path / "foreign.db"), "CREATE TABLE sessions (id)")
    for name, error in refused.items():
        with pytest.raises(error):
            archive.stage_restore(ctx, str(tmp_path / name), backups=str(backups), on_rows=ignore)
    if ctx.db.dialect.name == "sqlite":
        with pytest.raises(InvalidRequest, match="from itself"):
            archive.stage_restore(ctx, location, backups=str(backups), on_rows=ignore)
    assert not backups.exists() or os.listdir(backups) == []


def test_a_backup_of_a_newer_version_is_refused(ctx: Context, backups: Path) -> None:
    path = back_up(ctx, backups / "copy.db")
    with opened(path) as copy, copy.db.write() as tx:
        tx.run("UPDATE schema_meta SET value = '9999' WHERE key = 'version'")
    with pytest.raises(NewerDatabase):
        archive.stage_restore(ctx, path, backups=str(backups), on_rows=ignore)


def test_a_damaged_backup_is_refused(ctx: Context, tmp_path: Path, backups: Path) -> None:
    damage(tmp_path / "damaged.db")
    with pytest.raises(DatabaseDamaged, match="is not whole"):
        archive.stage_restore(ctx, str(tmp_path / "damaged.db"), backups=str(backups), on_rows=ignore)
    assert os.listdir(backups) == []


def test_a_backup_with_broken_references_is_refused(ctx: Context, tmp_path: Path, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    run_sql(path, "DELETE FROM messages")
    with pytest.raises(DatabaseDamaged, match="refer by message_id"):
        archive.stage_restore(ctx, path, backups=str(backups), on_rows=ignore)


def test_a_damaged_database_is_restored_and_kept_as_it_was(sqlite_path: Path, tmp_path: Path, backups: Path) -> None:
    source = Context(open_database(str(tmp_path / "source.db")))
    fill(source)
    path = back_up(source, backups / "copy.db")
    source.db.close()
    damage(sqlite_path)
    with opened(str(sqlite_path)) as ctx:
        done = restore(ctx, path, backups)
        assert done.safety is not None and not done.safety.verified and os.path.getsize(done.safety.path) > 100_000
        assert message_ids(ctx, "run-1") == ["m-1", "m-2", "m-3"]


@pytest.mark.parametrize("table", ["changes", "exchange"])
def test_a_database_that_cannot_tell_its_numbers_is_restored(sqlite_path: Path, backups: Path, table: str) -> None:
    with opened(str(sqlite_path), create=True) as ctx:
        fill(ctx)
        path = back_up(ctx, backups / "copy.db")
        for number in range(50):
            append_message(ctx, line_of("run-1"), user_says("later", id=f"later-{number}"))
        highest = newest_number(ctx)
        with ctx.db.read() as tx:
            root = tx.value("SELECT rootpage FROM sqlite_master WHERE name = :table", table=table)
    with open(sqlite_path, "r+b") as file:
        file.seek((root - 1) * 4096)
        file.write(b"\xff" * 4096)
    with opened(str(sqlite_path)) as ctx:
        done = restore(ctx, path, backups)
        assert done.safety is not None and not done.safety.verified
        assert message_ids(ctx, "run-1") == ["m-1", "m-2", "m-3"]
        assert all(read_changes(ctx, cursor).reload for cursor in range(highest + 1))
        assert newest_number(ctx) > highest


def test_a_backup_with_pages_of_another_size_is_restored(sqlite_ctx: Context, backups: Path) -> None:
    fill(sqlite_ctx)
    path = back_up(sqlite_ctx, backups / "copy.db")
    run_sql(path, "PRAGMA page_size = 8192", "VACUUM")
    restore(sqlite_ctx, path, backups)
    assert message_ids(sqlite_ctx, "run-1") == ["m-1", "m-2", "m-3"]


def test_a_disk_that_fills_during_a_restore_leaves_what_was_there(
    small_disk: Path, tmp_path: Path, backups: Path
) -> None:
    source = Context(open_database(str(tmp_path / "source.db")))
    start_run(source, "run-1")
    for number in range(30):
        append_message(source, line_of("run-1"), user_says("x" * 100_000, id=f"m-{number}"))
    path = back_up(source, backups / "copy.db")
    source.db.close()
    ctx = Context(open_database(str(small_disk / "state.db")))
    start_run(ctx, "small")
    with pytest.raises(DatabaseFull):
        restore(ctx, path, backups)
    assert get_session(ctx, "small").status == "running"
    append_message(ctx, line_of("small"), user_says("still here", id="still"))
    assert message_ids(ctx, "small") == ["still"]
    ctx.db.close()


def test_every_table_is_restored(ctx: Context, backups: Path) -> None:
    fill(ctx)
    path = back_up(ctx, backups / "copy.db")
    rows = restore(ctx, path, backups).rows
    assert {table for table in TABLES if not rows[table]} == {"session_evidence"}
    assert json.dumps(rows)


def test_an_older_backup_is_upgraded_and_stays_as_it_is(
    location: str, tmp_path: Path, backups: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ctx = Context(open_database(location))
    fill(ctx)
    path = back_up(ctx, backups / "old.db")
    before = Path(path).read_bytes()
    ctx.db.close()
    newer = tmp_path / "migrations"
    shutil.copytree(migrate.FOLDER, newer)
    for folder in newer.iterdir():
        number = len(list(folder.iterdir())) + 1
        (folder / f"{number:04}_add_mood.sql").write_text("ALTER TABLE sessions ADD COLUMN mood TEXT DEFAULT 'calm'")
    monkeypatch.setattr(migrate, "FOLDER", str(newer))
    ctx = Context(open_database(location, backups=str(tmp_path / "upgrades")))
    with ctx.db.write() as tx:
        tx.run("UPDATE sessions SET mood = 'wild'")
    done = restore(ctx, path, backups)
    with ctx.db.read() as tx:
        assert tx.all("SELECT DISTINCT mood FROM sessions") == [("calm",)]
    assert (done.plan.then.schema, Path(path).read_bytes()) == (number, before)
    ctx.db.close()
