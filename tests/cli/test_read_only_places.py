"""A database where nothing can be written: on a disk that is mounted read-only, in a folder of somebody else."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import lionstudio
from lionstudio.domain.errors import DatabaseReadOnly
from lionstudio.store.migrate import Migration, create_or_upgrade, load_migrations
from lionstudio.store.sqlite import SqliteDialect

POWERLESS = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]  # root who is bound by the modes of files


@contextmanager
def mounted_read_only(folder: Path) -> Iterator[None]:
    for command in (["mount", "--bind", folder, folder], ["mount", "-o", "remount,bind,ro", folder]):
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip("Only root may mount a folder read-only.")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def without_permission(folder: Path) -> Iterator[None]:
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


class ReadOnlyPlace:
    """A folder that `close` lets nobody write to any more, and how to run a program that is bound by that."""

    def __init__(self, folder: Path, kind: str, stack: ExitStack) -> None:
        self.path = folder / "state.db"
        self._kind = kind
        self._stack = stack
        self.why = f"{folder} is on a file system that is mounted read-only"
        if kind == "folder":
            self.why = f"you may not write to the folder {folder}"

    def close(self) -> None:
        guard = mounted_read_only if self._kind == "mount" else without_permission
        self._stack.enter_context(guard(self.path.parent))

    def command(self, *words: str) -> list[str]:
        powerless = POWERLESS if self._kind == "folder" and os.geteuid() == 0 else []
        return [*powerless, sys.executable, *words]

    def li(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = self.command("-m", "lionstudio", *words, "--db", str(self.path))
        return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.fixture(params=["mount", "folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path, home: Path) -> Iterator[ReadOnlyPlace]:
    if request.param == "folder" and os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("Root may write everywhere, and there is no setpriv to take that away.")
    folder = tmp_path / "place"
    folder.mkdir()
    with ExitStack() as stack:
        yield ReadOnlyPlace(folder, request.param, stack)


def record(path: Path, name: str) -> None:
    """A run by a process of its own, which leaves one file when it ends."""
    code = "import lionstudio, sys\nwith lionstudio.record(sys.argv[2], db=sys.argv[1]) as run: run.user('hello')"
    subprocess.run([sys.executable, "-c", code, str(path), name], check=True)


def die_with_a_log(path: Path, name: str) -> None:
    code = "import lionstudio, os, sys\nlionstudio.record(sys.argv[2], db=sys.argv[1]).start()\nos._exit(0)"
    subprocess.run([sys.executable, "-c", code, str(path), name], check=True)
    assert path.with_name("state.db-wal").stat().st_size


@pytest.mark.parametrize("words", ["state ls", "state stats", "runs ls", "runs show triage", "runs tail triage"])
def test_what_was_recorded_can_be_read(place: ReadOnlyPlace, words: str) -> None:
    record(place.path, "triage")
    place.close()
    answer = place.li(*words.split())
    assert (answer.returncode, answer.stderr) == (0, "")
    assert ("hello" if "tail" in words else "sessions" if "stats" in words else "triage") in answer.stdout


def test_python_reads_it(place: ReadOnlyPlace) -> None:
    record(place.path, "triage")
    place.close()
    code = "import lionstudio, sys; print(*(run.name for run in lionstudio.open(sys.argv[1]).sessions()))"
    answer = subprocess.run(place.command("-c", code, str(place.path)), capture_output=True, text=True, timeout=60)
    assert (answer.stdout, answer.stderr) == ("triage\n", "")


def test_a_backup_can_be_read_where_it_lies(place: ReadOnlyPlace, tmp_path: Path) -> None:
    record(tmp_path / "other.db", "triage")
    command = [
        sys.executable,
        "-m",
        "lionstudio",
        "state",
        "backup",
        str(place.path),
        "--db",
        str(tmp_path / "other.db"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    place.close()
    answer = place.li("state", "ls")
    assert (answer.returncode, answer.stderr, "triage" in answer.stdout) == (0, "", True)


@pytest.mark.parametrize("words", ["state checkpoint", "state vacuum", "state prune --keep-n 0 --keep-days 0"])
def test_what_writes_says_that_the_place_is_read_only(place: ReadOnlyPlace, words: str) -> None:
    record(place.path, "triage")
    place.close()
    answer = place.li(*words.split())
    assert answer.returncode == 1
    assert f"may only be read: {place.why}." in answer.stderr.splitlines()[-1]


def test_the_doctor_shows_what_it_cannot_keep(place: ReadOnlyPlace) -> None:
    code = "import lionstudio, sys; lionstudio.record('left', db=sys.argv[1]).start()"
    subprocess.run([sys.executable, "-c", code, str(place.path)], check=True)
    place.close()
    answer = place.li("state", "doctor")
    assert (answer.returncode, "left" in answer.stdout) == (0, True)
    assert answer.stderr == (
        f"The database {place.path} may only be read: {place.why}. What is new here is shown, and not kept for lists.\n"
    )


def test_a_database_that_cannot_be_made_there_says_so(place: ReadOnlyPlace, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    place.close()
    answer = place.li("state", "import", str(tmp_path / "runs"))
    assert (answer.returncode, answer.stdout) == (1, "")
    assert place.why in answer.stderr


def test_changes_in_a_log_are_read_where_its_index_is_there(place: ReadOnlyPlace) -> None:
    record(place.path, "triage")
    die_with_a_log(place.path, "later")
    place.close()
    assert "later" in place.li("state", "ls").stdout


def test_changes_in_a_log_that_cannot_be_used_are_not_passed_over(place: ReadOnlyPlace, tmp_path: Path) -> None:
    record(place.path, "triage")
    die_with_a_log(place.path, "later")
    place.path.with_name("state.db-shm").unlink()
    place.close()
    answer = place.li("state", "ls")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert f"are in its log, {place.path}-wal." in answer.stderr
    assert place.why in answer.stderr
    # What it says to do helps.
    (tmp_path / "copy").mkdir()
    advice = f"cp {place.path} {place.path}-wal FOLDER"
    assert advice in answer.stderr
    subprocess.run(advice.replace("FOLDER", str(tmp_path / "copy")).split(), check=True)
    with lionstudio.open(tmp_path / "copy" / "state.db") as reader:
        assert {run.name for run in reader.sessions()} == {"later", "triage"}


def test_an_old_schema_says_that_it_has_to_be_upgraded_elsewhere(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "place" / "state.db"
    path.parent.mkdir()
    record(path, "triage")
    with mounted_read_only(path.parent):
        dialect = SqliteDialect(str(path))
        steps = load_migrations(dialect)
        newer = Migration(steps[-1].number + 1, "0002_mood.sql", "CREATE TABLE moods (id TEXT)")
        with pytest.raises(DatabaseReadOnly, match="has to be upgraded first") as caught:
            create_or_upgrade(dialect, steps=[*steps, newer])
    assert "--db COPY" in (caught.value.hint or "")


FOLLOW = """if True:
    import sys
    from lionstudio.services.context import Context
    from lionstudio.services.session_list import list_sessions
    from lionstudio.store.open import open_database

    db = open_database(sys.argv[1], create=False)
    watch = db.watch()
    print(len(list_sessions(Context(db)).items), flush=True)
    for _ in sys.stdin:
        woken = watch.wait(20)
        print(len(list_sessions(Context(db)).items) if woken else "not woken", flush=True)
"""


def test_who_may_only_read_sees_what_the_owner_writes_later(tmp_path: Path, home: Path) -> None:
    """Nobody writes when it is opened; SQLite would show that moment forever."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("Needs one who may write to the folder and one who may not: root, and setpriv.")
    path = tmp_path / "place" / "state.db"
    path.parent.mkdir()
    record(path, "one")
    with without_permission(path.parent):
        command = [*POWERLESS, sys.executable, "-c", FOLLOW, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            seen = [reader.stdout.readline()]
            for name in ("two", "three"):
                record(path, name)
                reader.stdin.write("look\n")
                reader.stdin.flush()
                seen.append(reader.stdout.readline())
            reader.stdin.close()
    assert seen == ["1\n", "2\n", "3\n"]
