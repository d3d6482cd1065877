"""Whatever keeps the database from being written, the agent's block goes on and nothing is lost."""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import lionstudio
from lionstudio.domain.errors import ForeignDatabase
from lionstudio.recorders import keeper
from lionstudio.services.archive import back_up, stage_restore
from lionstudio.services.context import Context
from lionstudio.store import maintenance
from tests.postgres_server import PostgresServer
from tests.recorders.agents import IMPATIENT, let_go, locked, run_agent, spool_files, stock_sqlite
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("impatient")


def said(location: object, run: lionstudio.Run) -> list[str]:
    """What stands in the database once it has been opened again."""
    with lionstudio.open(str(location)) as reader:
        assert (reader.session(run.session_id).status, reader.session(run.session_id).messages_lost) == ("completed", 0)
        return [message.content["instruction"][:9] for message in reader.messages(run.session_id)]


def modes(path: Path) -> tuple[str, str, str]:
    """The file's own mode, its folder's, and that of the spool."""
    first, second, third = (stat.filemode(place.stat().st_mode) for place in (path, path.parent, path.parent.parent))
    return first, second, third


PRIVATE = ("-rw-------", "drwx------", "drwx------")


def test_a_locked_database(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        run.user("message 1")
        with locked(sqlite_path) as locker:
            run.user("message 2")
            run.user("message 3")
            (waiting,) = spool_files(home)
            assert waiting.parent == home / "spool" / sqlite_ctx.db.dialect.database_id
            assert modes(waiting) == PRIVATE
            let_go(locker)
        run.user("message 4")  # follows the two that wait, or comes after them
    assert said(sqlite_path, run) == ["message 1", "message 2", "message 3", "message 4"]
    assert list((home / "spool").glob("*/*")) == []


def test_a_database_that_is_locked_from_the_start(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    with locked(sqlite_path) as locker, lionstudio.record("late", db=sqlite_path) as run:
        run.user("message 1")
        branch = run.branch("side")
        branch.user("message 2")
        run.agent("another")
        assert len(spool_files(home)) == 1
        let_go(locker)
    assert said(sqlite_path, run) == ["message 1", "message 2"]
    with lionstudio.open(sqlite_path) as reader:
        assert [(found.name, found.forked_at_ord) for found in reader.branches(run.session_id)] == [
            ("main", None),
            ("side", 1),
            ("another", None),
        ]


def test_a_database_that_stays_locked(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with locked(sqlite_path):
        with lionstudio.record(db=sqlite_path) as run:
            for number in range(1, 6):
                run.user(f"message {number}")
        assert len(spool_files(home)) == 1
    complaints = capfd.readouterr().err.splitlines()
    assert len(complaints) == 1
    assert complaints[0].startswith(f"lionstudio: The database {sqlite_path} was busy")
    assert f"The run goes on; its messages wait in {home / 'spool'}" in complaints[0]
    assert said(sqlite_path, run) == [f"message {number}" for number in range(1, 6)]
    assert spool_files(home) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a few megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("Only root may mount; a limit on the size of files stands in for a full disk below.")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(small_disk: Path, home: Path) -> None:
    path = small_disk / "state.db"
    filler = small_disk / "filler"
    with lionstudio.record(db=path) as run:
        run.user("message 1")
        with pytest.raises(OSError, match="No space left"), filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        run.user("message 2" + "x" * 100_000)
        run.user("message 3")
        (waiting,) = spool_files(home)
        assert modes(waiting) == PRIVATE
        filler.unlink()
    assert said(path, run) == ["message 1", "message 2", "message 3"]


def test_a_full_disk_from_the_start(small_disk: Path, home: Path) -> None:
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space left"), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    with lionstudio.record(db=small_disk / "state.db") as run:
        run.user("message 1")
    assert len(spool_files(home)) == 1
    filler.unlink()
    assert said(small_disk / "state.db", run) == ["message 1"]


LIMITED = (
    IMPATIENT
    + """
import resource, sys, lionstudio
signal = __import__("signal")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with lionstudio.record(db=sys.argv[1]) as run:
    run.user("message 1")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), limits[1]))  # database and spool are both full now
    run.user("message 2" + "x" * 3_000_000)
    run.user("message 3")
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    keeper.LEAVING_PATIENCE = 30.0
print(run.session_id)
"""
)


def test_no_room_for_the_database_nor_the_spool_keeps_messages_in_memory(
    sqlite_ctx: Context, sqlite_path: Path, home: Path
) -> None:
    ended = run_agent(LIMITED, sqlite_path, 2_000_000)
    assert ended.returncode == 0, ended.stderr
    with lionstudio.open(sqlite_path) as reader:
        texts = [message.content["instruction"][:9] for message in reader.messages(ended.stdout.strip())]
    assert texts == ["message 1", "message 2", "message 3"]
    assert spool_files(home) == []


READ_ONLY = (
    IMPATIENT
    + """
import os, sys, lionstudio
with lionstudio.record(db=sys.argv[2]) as run:  # loads all that will be needed, while it may still be read
    run.user("elsewhere")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
with lionstudio.record(db=sys.argv[1]) as run:
    run.user("message 1")
    run.user("message 2")
print(run.session_id)
"""
)


@pytest.fixture
def public_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that other users can reach, which those of pytest are not, with a home that belongs to one of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "home").mkdir()
        if os.geteuid() == 0:
            os.chown(folder / "home", 65534, 65534)
        monkeypatch.setenv("LIONAGI_HOME", str(folder / "home"))
        yield folder


@pytest.mark.parametrize("is_open", [True, False], ids=["while another has it open", "while nobody has it open"])
def test_a_database_that_may_only_be_read(home: Path, public_folder: Path, is_open: bool) -> None:
    folder, path = public_folder / "protected", public_folder / "protected" / "state.db"
    with lionstudio.record(db=path) as before:
        pass
    reader = lionstudio.open(path)
    reader.sessions()
    if not is_open:
        reader.close()
    for place in folder.iterdir():
        place.chmod(0o444)
    folder.chmod(0o555)
    ended = run_agent(READ_ONLY, path, public_folder / "elsewhere.db")
    folder.chmod(0o755)
    for place in folder.iterdir():
        place.chmod(0o644)
    reader.close()
    assert ended.returncode == 0, ended.stderr
    (waiting,) = spool_files(public_folder / "home")
    assert modes(waiting) == PRIVATE
    with lionstudio.open(path) as reader:
        session_id = ended.stdout.strip()
        assert [message.content["instruction"] for message in reader.messages(session_id)] == ["message 1", "message 2"]
        assert reader.session(before.session_id).status == "completed"


@pytest.mark.parametrize("whole_folder", [True, False], ids=["with its folder", "alone"])
def test_a_database_that_is_taken_away_and_brought_back(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, whole_folder: bool
) -> None:
    path = tmp_path / "place" / "state.db"
    away = tmp_path / "away"
    with lionstudio.record(db=path) as run:
        run.user("message 1")
        run._recording.keeper.ctx.db.close()  # so that all of it is in one file
        if whole_folder:
            path.parent.rename(away)
        else:
            path.rename(away)
        run.user("message 2")
        assert len(spool_files(home)) == 1
        if whole_folder:
            away.rename(path.parent)
        else:
            away.rename(path)
        run.user("message 3")
        monkeypatch.setattr(keeper, "LEAVING_PATIENCE", 30.0)
    assert said(path, run) == ["message 1", "message 2", "message 3"]


@pytest.mark.parametrize("whole_folder", [True, False], ids=["with its folder", "alone"])
def test_a_database_that_is_deleted_for_good(tmp_path: Path, home: Path, whole_folder: bool) -> None:
    path = tmp_path / "place" / "state.db"
    with lionstudio.record(db=path) as run:
        run.user("message 1")
        if whole_folder:
            shutil.rmtree(path.parent)
        else:
            path.unlink()
        run.user("message 2")
        run.user("message 3")
    (waiting,) = spool_files(home)
    kept = waiting.read_text().splitlines()
    assert ['"do":"message"' in line for line in kept] == [True, True, False]
    assert "message 2" in kept[0]
    assert not path.exists()  # it is not begun anew behind the user's back


def test_a_new_database_in_the_place_of_a_deleted_one_gets_nothing(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "state.db"
    with lionstudio.record(db=path) as run:
        run.user("message 1")
        path.unlink()
        run.user("message 2")
        with lionstudio.record("another", db=path) as another:
            pass
        run.user("message 3")
    assert len(spool_files(home)) == 1
    with lionstudio.open(path) as reader:
        assert [session.id for session in reader.sessions()] == [another.session_id]
        assert reader.session(another.session_id).status == "completed"
    assert len(spool_files(home)) == 1
    assert spool_files(home, "*/*.rejected") == []


def test_a_newer_schema(sqlite_ctx: Context, sqlite_path: Path, home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (((version,),),) = (stock_sqlite(sqlite_path, "SELECT value FROM schema_meta WHERE key = 'version'"),)
    stock_sqlite(sqlite_path, "UPDATE schema_meta SET value = '9999' WHERE key = 'version'")
    with lionstudio.record(db=sqlite_path) as run:
        run.user("message 1")
    assert len(spool_files(home)) == 1
    assert "has schema 9999" in capfd.readouterr().err
    stock_sqlite(sqlite_path, f"UPDATE schema_meta SET value = '{version}' WHERE key = 'version'")
    assert said(sqlite_path, run) == ["message 1"]


@pytest.mark.parametrize("content", [b"not a database, but a poem about one" * 10, None], ids=["a poem", "a folder"])
def test_something_that_is_no_database(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    path = tmp_path / "state.db"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with lionstudio.record(db=path) as run:
        run.user("message 1")
    assert len(spool_files(home)) == 1
    assert str(path) in capfd.readouterr().err
    if content is not None:
        assert path.read_bytes() == content
        path.unlink()
    else:
        path.rmdir()
    assert said(path, run) == ["message 1"]


def test_what_a_recorder_says_cannot_steer_the_terminal(sqlite_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        run._recording.keeper.say("save", "A file \x1b[2J of an agent\nlionstudio: All is well.")
    assert capfd.readouterr().err == "lionstudio: A file \\x1b[2J of an agent lionstudio: All is well.\n"


def test_another_programs_database_is_an_error_when_it_was_asked_for(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "state.db"
    stock_sqlite(path, "CREATE TABLE theirs (id)")
    before = path.read_bytes()
    with (
        pytest.raises(ForeignDatabase) as raised,
        lionstudio.record(db=path),
    ):
        raise AssertionError("The block must not be entered.")
    assert f"li --db OURS state import-db {path}" in str(raised.value.hint)
    assert path.read_bytes() == before
    assert spool_files(home) == []


def test_another_programs_database_in_the_default_place_is_left_alone(home: Path) -> None:
    home.mkdir()
    path = home / "state.db"
    stock_sqlite(path, "CREATE TABLE theirs (id)")
    before = path.read_bytes()
    script = 'import lionstudio\nwith lionstudio.record() as run: run.user("message 1")\nprint(run.session_id)'
    first, second = run_agent(script), run_agent(script)
    assert path.read_bytes() == before
    assert first.stderr.count("\n") == 1
    assert f"Using {home / 'lionstudio.db'} instead" in first.stderr
    assert f"li state import-db {path}" in first.stderr
    assert second.stderr == ""
    with lionstudio.open() as reader:
        assert {session.id for session in reader.sessions()} == {first.stdout.strip(), second.stdout.strip()}


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator["Switch"]:
    with postgres.new_database() as url:
        yield Switch(postgres, url)


class Switch:
    """A PostgreSQL database that can be taken away and brought back."""

    def __init__(self, server: PostgresServer, url: str) -> None:
        self._server = server
        self.url = url
        self._name = url.partition("?")[0].rpartition("/")[2]

    def take_away(self) -> None:
        self._server.execute(f"ALTER DATABASE {self._name} WITH ALLOW_CONNECTIONS false")
        self._server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self._name}'")

    def bring_back(self) -> None:
        self._server.execute(f"ALTER DATABASE {self._name} WITH ALLOW_CONNECTIONS true")


def test_a_server_that_is_away_at_the_start(server: Switch, home: Path) -> None:
    server.take_away()
    with lionstudio.record(db=server.url) as run:
        run.user("message 1")
        (waiting,) = spool_files(home)
        assert modes(waiting) == PRIVATE
        server.bring_back()
        run.user("message 2")
    assert said(server.url, run) == ["message 1", "message 2"]
    assert spool_files(home) == []


def test_a_server_that_goes_away_in_the_middle_and_comes_back(server: Switch, home: Path) -> None:
    with lionstudio.record(db=server.url) as run:
        run.user("message 1")
        server.take_away()
        run.user("message 2")
        run.user("message 3")
        (waiting,) = spool_files(home)
        assert waiting.parent == home / "spool" / run._recording.keeper.ctx.db.dialect.database_id
        server.bring_back()
        wait_until(lambda: not spool_files(home))  # the run catches up while it goes on
        run.user("message 4")
        wait_until(lambda: not spool_files(home))  # it may have come while the last of the others was written
    assert said(server.url, run) == ["message 1", "message 2", "message 3", "message 4"]


def test_a_server_that_stays_away_until_the_run_is_over(server: Switch, home: Path) -> None:
    with lionstudio.record(db=server.url) as run:
        run.user("message 1")
        server.take_away()
        run.user("message 2")
    assert len(spool_files(home)) == 1
    server.bring_back()
    assert said(server.url, run) == ["message 1", "message 2"]
    assert spool_files(home) == []


def test_a_server_that_only_dropped_the_connection_is_not_noticed(
    server: Switch, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with lionstudio.record(db=server.url) as run:
        run.user("message 1")
        server.take_away()
        server.bring_back()
        run.user("message 2")
        assert spool_files(home) == []
    assert said(server.url, run) == ["message 1", "message 2"]
    assert capfd.readouterr().err == ""


def test_what_a_run_says_after_it_was_deleted_is_kept_in_a_file(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with lionstudio.record("gone", db=sqlite_path) as run:
        run.user("one")
        with sqlite_ctx.db.write() as tx:
            maintenance.delete_sessions(tx, [run.session_id])
        run.user("two")
        run.user("three")
    (rejected,) = (home / "spool").rglob("*.rejected")
    assert [word for word in ("one", "two", "three") if word in rejected.read_text()] == ["two", "three"]
    said = capfd.readouterr().err
    assert f"There is no run {run.session_id!r}." in said
    count = len(rejected.read_text().splitlines())
    assert f"{count} records of this run are not in the database: the run is not in it any more." in said
    assert f"What it refused is in {rejected}." in said
    assert "says so on the run" not in said


def test_what_a_run_says_after_a_restore_of_a_time_before_it_is_all_counted(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    back_up(sqlite_ctx, str(tmp_path / "before.db"), lambda _: None)
    backups = str(home / "backups")
    with lionstudio.record("late", db=sqlite_path) as run:
        run.user("message 1")
        with stage_restore(sqlite_ctx, str(tmp_path / "before.db"), backups=backups, on_rows=lambda _: None) as staged:
            staged.restore(backups=backups, actor="ana", on_rows=lambda _: None)
        run.user("message 2")
        wait_until(lambda: list((home / "spool").rglob("*.rejected")))  # the first of them
        for number in range(3, 20):
            run.user(f"message {number}")
    (rejected,) = (home / "spool").rglob("*.rejected")
    count = len(rejected.read_text().splitlines())
    assert count >= 18
    assert f"{count} records of this run are not in the database: the run is not in it any more." in (
        capfd.readouterr().err
    )
