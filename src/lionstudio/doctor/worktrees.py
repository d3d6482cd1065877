"""The worktrees there are, and how each is doing (R160, R193)."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

from lionstudio.doctor.git import CannotAsk, GitState, read_state
from lionstudio.domain.worktree import Worktree, WorktreeStatus, classify_worktree

MOST_WORKTREES = 200
MOST_FOLDERS = 5_000  # that are looked into for worktrees
MOST_ENTRIES = 100_000  # files among them too
SECONDS_EACH, SECONDS_ALL = 3.0, 10.0
LOOKED_AT_CHANGED = 100  # files that are not committed, for the time of the last change
GIT_FILES = ("HEAD", "index", "logs/HEAD")  # what git itself touches when somebody works
LONGEST_GIT_FILE = 4096  # bytes of a `.git` that says where the real one is


class Worktrees(NamedTuple):
    """The worktrees that were found, by path."""

    items: tuple[Worktree, ...]
    complete: bool  # whether these are all


def list_worktrees(roots: Sequence[str], *, now: float, seconds: float = SECONDS_ALL) -> Worktrees:
    """The checkouts in these folders and one level below, each looked at by git for a short while."""
    give_up = time.monotonic() + seconds
    search = _Search(roots)
    paths = list(islice(search.checkouts(), MOST_WORKTREES + 1))
    found = [_look(path, now=now, give_up=give_up) for path in paths[:MOST_WORKTREES]]
    return Worktrees(tuple(sorted(found, key=_by_path)), search.complete and len(paths) <= MOST_WORKTREES)


def _by_path(one: Worktree) -> str:
    return one.path  # two names that are no text may print alike; nothing else of them can be compared


class _Search:
    """Folders with a checkout. Links are not followed, so that nothing outside of the roots is looked at."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = list(dict.fromkeys(os.path.realpath(root) for root in roots))
        self._left, self._entries_left = MOST_FOLDERS, MOST_ENTRIES
        self.complete = True

    def checkouts(self) -> Iterator[str]:
        seen: set[str] = set()
        for root in self._roots:
            for folder in self._folders(root):
                inner = [folder] if _is_checkout(folder) else filter(_is_checkout, self._folders(folder))
                for path in inner:
                    if path not in seen:
                        seen.add(path)
                        yield path

    def _folders(self, folder: str) -> list[str]:
        try:
            with os.scandir(folder) as entries:
                looked_at = list(islice(entries, self._entries_left + 1))
        except FileNotFoundError:
            return []
        except OSError:
            self.complete = False
            return []
        found = sorted(entry.path for entry in looked_at if _is_folder(entry))
        if len(looked_at) > self._entries_left or len(found) > self._left:
            self.complete = False
        taken = found[: self._left]
        self._left -= len(taken)
        self._entries_left -= min(self._entries_left, len(looked_at))
        return taken


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_checkout(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))


def _look(path: str, *, now: float, give_up: float) -> Worktree:
    seconds = min(SECONDS_EACH, give_up - time.monotonic())
    state: GitState | None = None
    sentence: str | None = "There was no time to look at it."
    if seconds > 0:
        try:
            state, sentence = read_state(path, seconds=seconds), None
        except CannotAsk as error:
            sentence = str(error)
    changed = () if state is None else state.changed[:LOOKED_AT_CHANGED]
    modified = _last_modified(path, changed)
    uncommitted = None if state is None else bool(state.changed)
    status = classify_worktree(uncommitted_changes=uncommitted, last_modified=modified, now=now)
    branch = None if state is None else state.branch
    return Worktree(_printable(path), branch, WorktreeStatus(status), modified, uncommitted, sentence)


def _last_modified(path: str, changed: Sequence[str]) -> float | None:
    git_folder = _git_folder(path)
    files = [path, *(os.path.join(git_folder, name) for name in GIT_FILES)]
    files += [os.path.join(path, name) for name in changed]
    times: list[float] = []
    for file in files:
        with suppress(OSError, ValueError):
            times.append(os.lstat(file).st_mtime)
    return max(times, default=None)


def _git_folder(path: str) -> str:
    """Where git keeps what it knows about a checkout: a linked worktree has a file that says where."""
    place = os.path.join(path, ".git")
    with suppress(OSError, ValueError):
        fd = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)  # it may be a pipe
        try:
            first, _, rest = os.read(fd, LONGEST_GIT_FILE).partition(b"gitdir: ")
        finally:
            os.close(fd)
        if not first and rest:
            return os.path.join(path, os.fsdecode(rest.strip()))
    return place


def _printable(path: str) -> str:
    """A path that can be sent to anyone: a name need not be text."""
    return os.fsencode(path).decode(errors="replace")
