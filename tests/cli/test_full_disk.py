"""A database on a disk without any room, which nobody else holds open: SQLite cannot make its files there."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import lionstudio
from lionstudio.domain.errors import DatabaseFull
from lionstudio.services.context import Context
from lionstudio.services.session_list import list_sessions
from lionstudio.store.open import open_database
from tests.cli.test_read_only_places import die_with_a_log, record
from tests.factories import start_run


class FullDisk:
    """A small disk with a database, on which `fill` leaves no room."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "state.db"
        self.filler = folder / "filler"

    def fill(self) -> None:
        with suppress(OSError), open(self.filler, "wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)
        assert os.statvfs(self.filler).f_bavail == 0

    def li(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "lionstudio", *words, "--db", str(self.path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.fixture
def disk(small_disk: Path, home: Path) -> FullDisk:
    return FullDisk(small_disk)


@pytest.mark.parametrize("words", ["state ls", "state stats", "runs ls", "runs show triage", "runs tail triage"])
def test_what_was_recorded_can_be_read(disk: FullDisk, words: str) -> None:
    record(disk.path, "triage")
    disk.fill()
    answer = disk.li(*words.split())
    assert (answer.returncode, answer.stderr) == (0, "")
    assert ("hello" if "tail" in words else "sessions" if "stats" in words else "triage") in answer.stdout


def test_it_can_be_saved_to_another_disk_and_read_there(disk: FullDisk, tmp_path: Path) -> None:
    record(disk.path, "triage")
    disk.fill()
    for words in ("backup {}.db", "export --output {}.jsonl", "export --format sqlite --output {}-2.db"):
        answer = disk.li("state", *words.format(tmp_path / "copy").split())
        assert answer.returncode == 0, answer.stderr
    assert "triage" in (tmp_path / "copy.jsonl").read_text()
    for name in ("copy.db", "copy-2.db"):
        with lionstudio.open(tmp_path / name) as reader:
            assert [run.name for run in reader.sessions()] == ["triage"]


def test_a_backup_can_be_read_and_restored_from_there(disk: FullDisk, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    record(other, "triage")
    save = [sys.executable, "-m", "lionstudio", "--db", str(other), "state"]
    subprocess.run([*save, "backup", str(disk.path)], check=True, capture_output=True)
    disk.fill()
    answer = disk.li("state", "ls")
    assert (answer.returncode, answer.stderr, "triage" in answer.stdout) == (0, "", True)
    subprocess.run([*save, "restore", str(disk.path)], check=True, capture_output=True)


def test_changes_in_a_log_are_not_passed_over(disk: FullDisk) -> None:
    record(disk.path, "triage")
    die_with_a_log(disk.path, "later")
    disk.path.with_name("state.db-shm").unlink()
    disk.fill()
    answer = disk.li("state", "ls")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "making a file beside it, but there is no room left on that disk." in answer.stderr
    assert "Copy both into a folder on another disk" in answer.stderr
    disk.filler.unlink()
    assert "later" in disk.li("state", "ls").stdout


def test_prune_says_that_it_needs_room_itself_and_what_helps(disk: FullDisk) -> None:
    record(disk.path, "triage")
    disk.fill()
    answer = disk.li("state", "prune", "--keep-n", "0", "--keep-days", "0")
    assert answer.returncode == 1
    assert "There is no room left for the database" in answer.stderr
    assert "Deleting needs some room itself" in answer.stderr
    assert f"li --db {disk.path} state backup /another/disk/state.db" in answer.stderr
    disk.filler.unlink()
    assert disk.li("state", "prune", "--keep-n", "0", "--keep-days", "0").returncode == 0


def test_the_doctor_shows_what_it_cannot_keep(disk: FullDisk) -> None:
    code = "import lionstudio, sys; lionstudio.record('left', db=sys.argv[1]).start()"
    subprocess.run([sys.executable, "-c", code, str(disk.path)], check=True)
    disk.fill()
    answer = disk.li("state", "doctor")
    assert (answer.returncode, "left" in answer.stdout) == (0, True)
    assert "There is no room left" in answer.stderr


def test_whoever_stays_writes_again_when_there_is_room(disk: FullDisk) -> None:
    record(disk.path, "triage")
    disk.fill()
    ctx = Context(open_database(str(disk.path), create=False))
    for _ in range(3):
        with pytest.raises(DatabaseFull, match="There is no room left"):
            start_run(ctx, "run-1")
    disk.filler.unlink()
    start_run(ctx, "run-1")
    assert len(list_sessions(ctx).items) == 2
    ctx.db.close()
