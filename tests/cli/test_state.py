"""`li state ls`, `stats`, `checkpoint` and `vacuum`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.domain.conversation import MessageDraft
from lionstudio.services import admin, messages, sessions
from lionstudio.services.context import Context
from tests.cli.conftest import Li, run_li
from tests.factories import Clock, line_of, start_run, user_says
from tests.services.prune_world import put_session

HOSTILE = "evil\x1b[2J\nname"


def is_sqlite(ctx: Context) -> bool:
    return ctx.db.dialect.one_writer


def test_ls_lists_the_newest_runs(li: Li, ctx: Context, clock: Clock) -> None:
    start_run(ctx, "first", name="triage")
    clock.pass_seconds(60)
    start_run(ctx, "second", agent="architect")
    messages.append_message(ctx, line_of("second"), user_says("go"))
    sessions.finish_session(ctx, "second", "completed", exit_code=0)
    answer = li("state", "ls")
    assert (answer.code, answer.err) == (0, "")
    title, *rows = answer.out.splitlines()
    assert title.split() == ["RUN", "NAME", "STATUS", "MESSAGES", "CREATED"]
    assert [row.split()[:4] for row in rows] == [
        ["second", "architect", "completed", "1"],
        ["first", "triage", "running", "0"],
    ]


def test_ls_gives_programs_one_object_a_run(li: Li, ctx: Context) -> None:
    run = start_run(ctx, "run-1", name="triage", kind="agent")
    put_session(ctx, "old", status=None, ended_days_ago=None, touched_days_ago=60, created_days_ago=60)
    first, legacy = li("state", "ls", "--json").objects
    assert first == {
        "id": "run-1", "name": "triage", "display_name": "triage", "status": "running", "invocation_kind": "agent",
        "source_kind": "live", "created_at": run.created_at, "started_at": run.started_at, "ended_at": None,
        "last_message_at": None, "message_count": 0, "branch_count": 1,
    }  # fmt: skip
    assert (legacy["id"], legacy["status"]) == ("old", None)
    assert "legacy" in li("state", "ls").out


@pytest.mark.parametrize("limit", [1, 3, 600])
def test_ls_lists_as_many_as_asked_for(li: Li, ctx: Context, limit: int) -> None:
    for number in range(5 if limit < 10 else 520):
        put_session(ctx, f"run-{number:03}", created_days_ago=number)
    found = [run["id"] for run in li("state", "ls", "--limit", str(limit), "--json").objects]
    assert found == [f"run-{number:03}" for number in range(min(limit, 520))]


def test_ls_lists_runs_of_one_status(li: Li, ctx: Context) -> None:
    start_run(ctx, "live")
    put_session(ctx, "done")
    assert [run["id"] for run in li("state", "ls", "--status", "completed", "--json").objects] == ["done"]
    nothing = li("state", "ls", "--status", "failed")
    assert (nothing.code, nothing.out) == (0, "")
    assert "No run is failed." in nothing.err


def test_ls_refuses_what_it_does_not_know(li: Li, ctx: Context) -> None:
    answer = li("state", "ls", "--status", "done")
    assert (answer.code, answer.out) == (2, "")
    assert "running, completed, failed, timed_out, aborted, cancelled" in answer.err
    assert li("state", "ls", "--limit", "0").code == 2


def test_ls_of_nothing_says_what_to_type(li: Li, ctx: Context) -> None:
    answer = li("state", "ls")
    assert (answer.code, answer.out) == (0, "")
    assert "li state import" in answer.err
    assert li("state", "ls", "--json").out == ""


def test_a_run_has_one_name_wherever_it_is_listed(li: Li, ctx: Context) -> None:
    start_run(ctx, "0123456789-run")
    messages.append_message(ctx, line_of("0123456789-run"), user_says("Find the failing test"))
    for words in (("state", "ls"), ("runs", "ls"), ("state", "doctor"), ("runs", "show", "0123456789-run")):
        assert "Find the failing test" in li(*words).out, words
        assert li(*words, "--json").objects[0]["display_name"] == "Find the failing test", words


def test_a_name_cannot_steer_the_terminal(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name=HOSTILE)
    answer = li("state", "ls")
    assert "\x1b" not in answer.out
    assert len(answer.out.splitlines()) == 2


# The start of a command is a promise, and each of these takes a part of it.
NEEDLESS = ("health", "process", "reasons", "state", "show", "team", "labels", "conversation")


def test_ls_loads_no_rules_that_a_list_does_not_need(tmp_path: Path) -> None:
    db = str(tmp_path / "state.db")
    subprocess.run([sys.executable, "-c", f"import lionstudio; lionstudio.record(db={db!r}).start()"], check=True)
    ask = (
        "import sys; from lionstudio.cli.main import main; "
        f"main(['state', 'ls', '--db', {db!r}]); print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert "lionstudio.services.session_list" in loaded
    heavy = {"shutil", "locale", "dataclasses", "inspect", "logging", "asyncio", "pathlib", "base64"}
    assert loaded & {*(f"lionstudio.domain.{name}" for name in NEEDLESS), *heavy} == set()


def test_stats_count_everything(li: Li, ctx: Context, clock: Clock) -> None:
    start_run(ctx, "live")
    put_session(ctx, "done", says=["a", "b"])
    put_session(ctx, "old", status=None, ended_days_ago=None, touched_days_ago=60)
    [stats] = li("state", "stats", "--json").objects
    assert stats["database_id"] == ctx.db.dialect.database_id
    assert stats["schema"] == 1
    assert stats["size"] > 0
    assert {name: stats["tables"][name] for name in ("sessions", "branches", "messages", "shows")} == {
        "sessions": 3, "branches": 3, "messages": 2, "shows": 0,
    }  # fmt: skip
    assert stats["statuses"] == {
        "running": 1, "completed": 1, "failed": 0, "timed_out": 0, "aborted": 0, "cancelled": 0, "legacy": 1,
    }  # fmt: skip
    assert (sum(stats["healths"].values()), stats["ended"]) == (1, 2)
    assert set(stats["healths"]) == {"healthy", "idle", "unresponsive", "stale", "orphaned", "zombie"}
    assert stats["spool"] == {"waiting": [], "rejected": []}
    text = li("state", "stats")
    assert (text.code, text.err) == (0, "")
    for word in ("sessions", "legacy", "orphaned", ctx.db.dialect.database_id):
        assert word in text.out
    health = text.out.partition("HEALTH")[2].partition("spool")[0].split()
    assert (health[health.index("healthy") + 1], health[health.index("ended") + 1]) == ("0", "2")


def test_stats_show_what_each_engine_has(li: Li, ctx: Context) -> None:
    [stats] = li("state", "stats", "--json").objects
    if is_sqlite(ctx):
        assert stats["engine"] == "SQLite"
        assert stats["settings"] == {
            "journal_mode": "wal", "wal_autocheckpoint": 1000, "busy_timeout": 5000, "synchronous": "NORMAL",
            "foreign_keys": 1,
        }  # fmt: skip
        assert stats["log_size"] >= 0
        assert "connections" not in stats
    else:
        assert stats["engine"] == "PostgreSQL"
        assert stats["connections"] >= 1
        assert "journal_mode" not in li("state", "stats").out
        assert "log_size" not in stats


def test_stats_show_what_waits_in_the_spool(li: Li, ctx: Context, home: Path) -> None:
    folder = home / "spool" / "another-database"
    folder.mkdir(parents=True)
    (folder / "1.2.run.jsonl").write_text("{}\n{}\n")
    (folder / "1.2.run.rejected").write_text("{}\n")
    [stats] = li("state", "stats", "--json").objects
    assert [(file["records"], file["size"]) for file in stats["spool"]["waiting"]] == [(2, 6)]
    assert [file["path"] for file in stats["spool"]["rejected"]] == [str(folder / "1.2.run.rejected")]
    text = li("state", "stats").out
    assert "2 records in 1 file," in text
    assert "1.2.run.rejected" in text


@pytest.mark.parametrize("mode", ["PASSIVE", "FULL", "RESTART", "TRUNCATE", "truncate"])
def test_a_checkpoint_moves_the_log_into_the_file(li: Li, ctx: Context, mode: str) -> None:
    start_run(ctx)
    answer = li("state", "checkpoint", "--mode", mode, "--json")
    if not is_sqlite(ctx):
        assert (answer.code, answer.out) == (1, "")
        assert "A PostgreSQL server does its checkpoints itself" in answer.err
        assert admin.list_events(ctx) == []
        return
    [done] = answer.objects
    assert answer.code == 0
    assert (done["mode"], done["busy"], done["pages_left"]) == (mode.upper(), False, 0)
    assert done["pages_moved"] > 0
    assert done["log_size_before"] > 0
    assert (done["log_size_after"] == 0) == (mode.upper() == "TRUNCATE")
    [event] = admin.list_events(ctx)
    assert (event.action, event.details["mode"]) == ("checkpoint", mode.upper())
    assert "pages moved" in li("state", "checkpoint").out


def test_a_checkpoint_says_that_a_reader_was_in_the_way(li: Li, ctx: Context) -> None:
    if not is_sqlite(ctx):
        pytest.skip("a server does its checkpoints itself")
    start_run(ctx, "one")
    with ctx.db.read() as tx:
        tx.value("SELECT count(*) FROM sessions")
        start_run(ctx, "two")
        answer = li("state", "checkpoint")
    assert answer.code == 1
    assert "was in the way" in answer.err
    assert li("state", "checkpoint").code == 0


def test_a_checkpoint_refuses_a_mode_it_does_not_know(li: Li, ctx: Context) -> None:
    answer = li("state", "checkpoint", "--mode", "fast")
    assert (answer.code, answer.out) == (2, "")
    assert "'fast'" in answer.err
    assert "PASSIVE, FULL, RESTART, TRUNCATE" in answer.err


def fill(ctx: Context, count: int) -> None:
    start_run(ctx)
    for number in range(count):
        draft = MessageDraft("user", {"instruction": "x" * 4_000}, id=f"m-{number}")
        messages.append_message(ctx, line_of("run-1"), draft)


def test_a_vacuum_gives_room_back(li: Li, ctx: Context) -> None:
    fill(ctx, 100)
    with ctx.db.write() as tx:
        tx.run("DELETE FROM progression_entries")
        tx.run("DELETE FROM messages")
    answer = li("state", "vacuum", "--json")
    [done] = answer.objects
    assert (answer.code, answer.err) == (0, "")
    if is_sqlite(ctx):
        assert done["after"]["size"] < done["before"]["size"] + done["before"]["log_size"]
        assert done["after"]["log_size"] == 0
    else:
        assert done["after"]["size"] > 0
    [event] = admin.list_events(ctx)
    assert (event.action, event.details["after"]["size"]) == ("vacuum", done["after"]["size"])
    text = li("state", "vacuum")
    names = [line.rpartition("  ")[0].strip() for line in text.out.splitlines()]
    if is_sqlite(ctx):
        assert (names, text.err) == (["size before", "size after"], "")
    else:
        assert names == ["size before", "size after", "dead rows before", "dead rows after"]
        assert "the files of the server stay as large as they are" in text.err
    assert sessions.get_session(ctx, "run-1").id == "run-1"


def test_a_vacuum_without_room_on_the_disk_says_so_before_it_begins(
    home: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_DB", str(small_disk / "state.db"))
    monkeypatch.setenv("SQLITE_TMPDIR", str(small_disk))
    code = "import lionstudio\nwith lionstudio.record('x') as run:\n    for _ in range(14): run.user('y' * 30_000)"
    subprocess.run([sys.executable, "-c", code], check=True)
    answer = run_li("state", "vacuum")
    assert (answer.code, answer.out) == (1, "")
    assert "A vacuum needs about 2 MB in" in answer.err
    assert "SQLITE_TMPDIR=/another/disk li state vacuum" in answer.err
    monkeypatch.setenv("SQLITE_TMPDIR", str(home.parent))  # what it says to do helps
    assert subprocess.run([sys.executable, "-m", "lionstudio", "state", "vacuum"], capture_output=True).returncode == 0
    assert len(run_li("state", "ls", "--json").objects) == 1


def test_a_vacuum_that_does_not_fit_at_all_names_a_way_that_works(
    home: Path, small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_DB", str(small_disk / "state.db"))
    monkeypatch.setenv("SQLITE_TMPDIR", str(tmp_path))
    code = "import lionstudio\nwith lionstudio.record('x') as run:\n    for _ in range(20): run.user('y' * 30_000)"
    subprocess.run([sys.executable, "-c", code], check=True)
    room = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(b"x" * (room.f_bavail * room.f_frsize - 400_000))
    answer = run_li("state", "vacuum")
    assert (answer.code, "prune" in answer.err) == (1, False)
    assert f"1 MB in {small_disk} for a while" in answer.err
    assert "li state backup /another/disk/state.db, then li state vacuum --db /another/disk/state.db" in answer.err
    copy = str(tmp_path / "copy.db")
    assert run_li("state", "backup", copy).code == 0
    assert run_li("state", "vacuum", "--db", copy).code == 0


@pytest.mark.no_database
@pytest.mark.parametrize("command", ["ls", "stats", "checkpoint", "vacuum", "prune", "doctor"])
def test_without_a_database_each_says_how_one_comes_to_be(li: Li, command: str) -> None:
    answer = li("state", command)
    assert (answer.code, answer.out) == (1, "")
    assert "There is no database at" in answer.err
