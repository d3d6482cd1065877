"""Worktrees and disk usage, on real checkouts and real files, some of them hostile."""

import os
import shutil
import stat
import subprocess
import threading
from pathlib import Path

import pytest

from lionstudio.doctor import disk_usage, worktrees
from lionstudio.doctor.disk_usage import measure_disk
from lionstudio.doctor.git import CannotAsk, read_state
from lionstudio.doctor.resources import ResourceView
from lionstudio.doctor.worktrees import list_worktrees
from lionstudio.domain.worktree import WORKTREE_STALE_AFTER, Worktree, WorktreeStatus, classify_worktree
from lionstudio.services.context import Context
from lionstudio.settings import Settings, load_settings
from lionstudio.store.open import open_database
from tests.factories import start_run
from tests.waiting import wait_until

PATIENCE = 20.0


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=ana", "-c", "user.email=ana@example.org")
    answer = subprocess.run(["git", *identity, "-C", folder, *arguments], check=True, capture_output=True, text=True)
    return answer.stdout.strip()


def checkout(folder: Path, branch: str = "main") -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", branch)
    (folder / "file").write_text("one\n")
    git(folder, "add", "file")
    git(folder, "commit", "-q", "-m", "first")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "worktrees").mkdir()
    return tmp_path / "worktrees"


def look(root: Path, *, later: float = 0) -> dict[str, Worktree]:
    found = list_worktrees([str(root)], now=os.stat(root).st_mtime + 60 + later)
    return {os.path.relpath(one.path, os.path.realpath(root)): one for one in found.items}


@pytest.mark.parametrize(
    ("uncommitted", "age", "expected"),
    [
        (False, 0.0, WorktreeStatus.ACTIVE),
        (False, WORKTREE_STALE_AFTER, WorktreeStatus.ACTIVE),
        (False, WORKTREE_STALE_AFTER + 1, WorktreeStatus.STALE),
        (True, WORKTREE_STALE_AFTER + 1, WorktreeStatus.DIRTY),
        (None, 0.0, WorktreeStatus.UNKNOWN),
        (False, None, WorktreeStatus.UNKNOWN),
        (False, -1e9, WorktreeStatus.ACTIVE),
    ],
)
def test_how_a_worktree_is_doing(uncommitted: bool | None, age: float | None, expected: WorktreeStatus) -> None:
    modified = None if age is None else 2e9 - age
    assert classify_worktree(uncommitted_changes=uncommitted, last_modified=modified, now=2e9) is expected


def test_a_worktree_has_its_branch_and_what_is_not_committed(root: Path) -> None:
    clean = checkout(root / "clean", branch="show/sweep/backend")
    git(clean, "worktree", "add", "-q", "-b", "linked-branch", str(root / "linked"))
    checkout(root / "new-file")
    (root / "new-file" / "ünd").write_text("x")
    checkout(root / "changed")
    (root / "changed" / "file").write_text("two\n")
    checkout(root / "staged")
    (root / "staged" / "file").write_text("two\n")
    git(root / "staged", "add", "file")
    checkout(root / "detached")
    git(root / "detached", "checkout", "-q", "--detach")
    (root / "no-checkout").mkdir()
    found = look(root)
    assert {name: (one.branch, one.status, one.uncommitted_changes) for name, one in found.items()} == {
        "clean": ("show/sweep/backend", "active", False),
        "linked": ("linked-branch", "active", False),
        "new-file": ("main", "dirty", True),
        "changed": ("main", "dirty", True),
        "staged": ("main", "dirty", True),
        "detached": (None, "active", False),
    }
    assert {one.status for one in look(root, later=WORKTREE_STALE_AFTER).values()} == {"stale", "dirty"}


def test_work_in_a_file_counts_as_the_last_change(root: Path) -> None:
    folder = checkout(root / "work")
    (folder / "deep").mkdir()
    (folder / "file").write_text("two\n")
    os.utime(folder / "file", (2e9, 2e9))
    assert look(root)["work"].last_modified == 2e9


def test_a_commit_in_a_linked_worktree_counts_as_the_last_change(root: Path, tmp_path: Path) -> None:
    main = checkout(tmp_path / "main")
    git(main, "worktree", "add", "-q", "-b", "linked", str(root / "linked"))
    os.utime(main / ".git" / "worktrees" / "linked" / "index", (2e9, 2e9))
    assert look(root)["linked"].last_modified == 2e9


def test_worktrees_one_level_deeper_are_found(root: Path) -> None:
    checkout(root / "topic" / "play")
    checkout(root / "topic" / "deep" / "deeper")
    assert set(look(root)) == {"topic/play"}


def run_mark(folder: Path) -> tuple[Path, Path]:
    """A program that leaves a mark, and the mark."""
    program, mark = folder / "evil.sh", folder / "mark"
    program.write_text(f'#!/bin/sh\ntouch "{mark}"\ncat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program, mark


@pytest.mark.parametrize("way", ["fsmonitor", "hook", "filter"])
def test_nothing_that_lies_in_a_worktree_is_run(root: Path, tmp_path: Path, way: str) -> None:
    program, mark = run_mark(tmp_path)
    folder = checkout(root / "evil")
    if way == "fsmonitor":
        git(folder, "config", "core.fsmonitor", str(program))
    elif way == "hook":
        shutil.copy(program, folder / ".git" / "hooks" / "post-index-change")
    else:
        (folder / ".gitattributes").write_text("* filter=evil\n")
        git(folder, "config", "filter.evil.clean", str(program))
    os.utime(folder / "file", (1, 1))  # so that git has to read it again
    found = look(root)["evil"]
    assert not mark.exists()
    if way == "filter":
        assert (found.status, found.uncommitted_changes) == ("unknown", None)
        assert found.sentence is not None
        assert "filter.evil.clean" in found.sentence
    else:
        assert (found.status, found.branch) == ("active", "main")
    git(folder, "status")
    assert mark.exists()  # so that this test could have failed


def test_a_submodule_is_not_entered(root: Path, tmp_path: Path) -> None:
    program, mark = run_mark(tmp_path)
    inner, outer = checkout(tmp_path / "inner"), checkout(root / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(outer, "commit", "-q", "-m", "sub")
    git(outer / "sub", "config", "core.fsmonitor", str(program))
    assert look(root)["outer"].status == "active"
    assert not mark.exists()


def test_what_is_no_checkout_is_unknown_and_says_so(root: Path, tmp_path: Path) -> None:
    checkout(tmp_path / "around" / "worktrees")
    root = tmp_path / "around" / "worktrees"
    (root / "garbage").mkdir()
    (root / "garbage" / ".git").write_bytes(b"\xff\x00gitdir: nowhere")
    (root / "pipe").mkdir()
    os.mkfifo(root / "pipe" / ".git")
    (root / "hollow" / ".git").mkdir(parents=True)
    (root / "lost").mkdir()
    (root / "lost" / ".git").write_text("gitdir: /nowhere/at/all\n")
    found = look(root)
    assert set(found) == {"garbage", "pipe", "hollow", "lost"}
    for one in found.values():
        assert (one.branch, one.status, one.uncommitted_changes) == (None, "unknown", None)
        assert one.sentence is not None


def test_links_lead_nowhere(root: Path, tmp_path: Path) -> None:
    checkout(tmp_path / "outside")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    assert look(root) == {}


def test_a_name_that_is_no_text_can_be_shown(root: Path) -> None:
    folder = os.path.join(os.fsencode(root), b"\xff\xfe")
    os.mkdir(folder)
    subprocess.run([b"git", b"-C", folder, b"init", b"-q"], check=True)
    [name] = look(root)
    assert name.encode()  # no half characters


def slow_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git that does not answer before somebody writes into the pipe."""
    programs, pipe = tmp_path / "programs", tmp_path / "pipe"
    programs.mkdir()
    os.mkfifo(pipe)
    (programs / "git").write_text(f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\nread line < "{pipe}"\n')
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return pipe


def test_nobody_waits_for_a_git_that_does_not_answer(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = checkout(root / "slow")
    slow_git(tmp_path, monkeypatch)
    with pytest.raises(CannotAsk, match="too long"):
        read_state(str(folder), seconds=1.0)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    found = list_worktrees([str(root)], now=2e9, seconds=-1)
    assert [(one.status, one.sentence) for one in found.items] == [("unknown", "There was no time to look at it.")]


def test_without_git_the_worktrees_are_listed_all_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(root / "work")
    monkeypatch.setenv("PATH", str(root))
    [found] = look(root).values()
    assert (found.status, found.branch) == ("unknown", None)
    assert found.sentence is not None
    assert "git cannot be run" in found.sentence


def test_a_huge_answer_is_cut_and_still_right(root: Path) -> None:
    folder = checkout(root / "huge")
    for number in range(1_500):
        (folder / f"{number:04d}-{'x' * 100}").touch()
    found = look(root)["huge"]
    assert (found.branch, found.status) == ("main", "dirty")


@pytest.mark.parametrize("limit", ["MOST_WORKTREES", "MOST_FOLDERS"])
def test_more_than_are_looked_at_is_said(root: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    for number in range(3):
        checkout(root / str(number))
    assert list_worktrees([str(root)], now=2e9).complete
    monkeypatch.setattr(worktrees, limit, 2)
    found = list_worktrees([str(root)], now=2e9)
    assert not found.complete
    assert len(found.items) <= 3


def test_a_root_that_is_not_there_has_no_worktrees(root: Path) -> None:
    assert list_worktrees([str(root / "nothing")], now=2e9) == ((), True)


@pytest.fixture
def settings(home: Path) -> Settings:
    return load_settings()


def sizes(ctx: Context, settings: Settings) -> dict[str, int | None]:
    return {folder.name: folder.size_bytes for folder in measure_disk(ctx, settings).folders}


def du(folder: Path) -> int:
    return int(
        subprocess.run(["du", "-s", "--block-size=1", folder], check=True, capture_output=True).stdout.split()[0]
    )


def test_each_folder_takes_what_du_says(ctx: Context, settings: Settings, tmp_path: Path) -> None:
    runs = settings.home / "runs"
    (runs / "a" / "b").mkdir(parents=True)
    (runs / "a" / "big").write_bytes(os.urandom(300_000))
    (runs / "a" / "b" / "small").write_text("x")
    os.link(runs / "a" / "big", runs / "a" / "b" / "same")
    (tmp_path / "elsewhere").write_bytes(os.urandom(500_000))
    (runs / "link").symlink_to(tmp_path)
    with open(runs / "sparse", "wb") as file:
        file.truncate(1 << 40)
    found = sizes(ctx, settings)
    assert found["runs_dir"] == du(runs)
    nothing = ("teams_dir", "shows_dir", "worktrees_dir", "agents_dir", "playbooks_dir", "spool_dir", "backups_dir")
    assert [found[name] for name in nothing] == [0] * 7


def test_the_database_counts_with_its_log(ctx: Context, settings: Settings, location: str) -> None:
    start_run(ctx)
    disk = measure_disk(ctx, settings)
    if location.startswith("postgresql"):
        assert disk.folders[0] == ("state_db", None, None, True)
    else:
        files = [location, f"{location}-wal", f"{location}-shm"]
        assert disk.folders[0] == ("state_db", location, sum(os.stat(file).st_blocks * 512 for file in files), True)
    assert disk.total_bytes == (disk.folders[0].size_bytes or 0)


def test_a_folder_within_another_counts_once(ctx: Context, settings: Settings) -> None:
    inner = settings.home / "runs" / "worktrees"
    inner.mkdir(parents=True)
    (inner / "big").write_bytes(os.urandom(300_000))
    whole = sizes(ctx, settings)["runs_dir"]
    assert whole is not None
    settings.worktrees_folder = str(inner)
    found = sizes(ctx, settings)
    assert (found["worktrees_dir"], found["runs_dir"]) == (du(inner), whole - du(inner))


def test_a_walk_that_was_cut_says_so(ctx: Context, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (settings.home / "runs" / str(number)).mkdir(parents=True)
    (settings.home / "agents").mkdir()
    assert measure_disk(ctx, settings).complete
    late = measure_disk(ctx, settings, seconds=-1)
    assert not late.complete
    monkeypatch.setattr(disk_usage, "MOST_ENTRIES", 3)
    cut = {folder.name: folder.complete for folder in measure_disk(ctx, settings).folders}
    assert (cut["runs_dir"], cut["agents_dir"], cut["teams_dir"]) == (False, False, True)


def test_the_room_that_is_left_is_that_of_the_home_folder(ctx: Context, settings: Settings, home: Path) -> None:
    assert not home.exists()
    disk = measure_disk(ctx, settings)
    assert disk.free_bytes is not None
    assert 0 < disk.free_bytes <= shutil.disk_usage(home.parent).total == disk.capacity_bytes


@pytest.fixture
def plain_ctx(tmp_path: Path) -> Context:
    return Context(open_database(str(tmp_path / "own.db")))


def test_what_was_seen_is_kept_for_a_minute(plain_ctx: Context, settings: Settings) -> None:
    view = ResourceView(plain_ctx, settings)
    first = view.read()
    checkout(Path(settings.worktrees_folder) / "new")
    assert view.read() is first
    at_once = ResourceView(plain_ctx, settings, kept_for=0)
    assert [len(at_once.read().worktrees.items) for _ in range(2)] == [1, 1]
    assert at_once.read() is not at_once.read()


def test_while_somebody_looks_others_get_what_was_seen_before(
    plain_ctx: Context, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = ResourceView(plain_ctx, settings, kept_for=0)
    before = view.read()
    checkout(Path(settings.worktrees_folder) / "new")
    monkeypatch.setattr(worktrees, "SECONDS_EACH", PATIENCE)
    pipe = slow_git(tmp_path, monkeypatch)
    looker = threading.Thread(target=view.read)
    looker.start()
    wait_until((tmp_path / "pid").exists)
    assert view.read() is before
    answer = os.open(pipe, os.O_RDWR)
    os.write(answer, b"\n\n")  # it asks twice
    looker.join(PATIENCE)
    os.close(answer)
    assert not looker.is_alive()
    monkeypatch.undo()  # from here on git answers at once
    assert view.read() is not before


def test_worktrees_whose_names_print_alike_are_both_listed(root: Path) -> None:
    place = os.fsencode(root)
    for name, is_checkout in ((b"a\xff", True), (b"a\xfe", False)):
        os.mkdir(os.path.join(place, name))
        if is_checkout:
            subprocess.run(["git", "init", "-q"], cwd=os.path.join(place, name), check=True)
        else:
            os.mkdir(os.path.join(place, name, b".git"))  # of which git knows no branch
    found = list_worktrees([str(root)], now=os.stat(root).st_mtime)
    assert [os.path.basename(one.path) for one in found.items] == ["a\ufffd", "a\ufffd"]
    assert found.complete


def test_files_beside_worktrees_do_not_hide_them(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktrees, "MOST_FOLDERS", 5)
    for number in range(60):
        (root / f"file-{number}").touch()
    for number in range(3):
        (root / f"tree-{number}" / ".git").mkdir(parents=True)
    found = list_worktrees([str(root)], now=0)
    assert (len(found.items), found.complete) == (3, True)
    monkeypatch.setattr(worktrees, "MOST_ENTRIES", 20)
    assert not list_worktrees([str(root)], now=0).complete


def test_a_folder_of_more_files_than_are_counted_is_not_said_to_be_counted(
    ctx: Context, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "runs").mkdir(parents=True)
    for number in range(20):
        (home / "runs" / f"file-{number}").write_text("x" * 5_000)
    for most, complete in ((10, False), (19, False), (20, True)):
        monkeypatch.setattr(disk_usage, "MOST_ENTRIES", most)
        [size] = [one for one in measure_disk(ctx, load_settings()).folders if one.name == "runs_dir"]
        assert (most, size.complete) == (most, complete)


def test_a_look_that_fails_is_told_and_not_tried_again_at_once(
    ctx: Context, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []

    def fail(folder: str) -> None:
        looks.append(folder)
        raise ValueError("the disk speaks no sense")

    monkeypatch.setattr(os, "statvfs", fail)
    view = ResourceView(ctx, load_settings(), kept_for=PATIENCE)
    for _ in range(3):
        assert view.read_soon(PATIENCE) is None
    assert view.problem == "ValueError: the disk speaks no sense"
    assert len(looks) == 1
    monkeypatch.undo()
    assert view.read() is not None
    assert view.problem is None
