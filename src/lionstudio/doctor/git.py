"""Asking git about a folder that nobody vouches for: nothing of it is run, and nobody waits for long."""

import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import NamedTuple

MOST_OUTPUT = 64 * 1024  # bytes; what comes first is enough
ENDED_WITHIN = 1.0  # seconds after SIGKILL
# Whatever a repository's own settings say: no daemon, no hook, no download, no write.
SAFE_OPTIONS = (
    *("-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never"),
    *("--no-optional-locks", "--no-pager", "--literal-pathspecs"),
)
OWN_SCOPES = ("local", "worktree")  # settings that lie in the folder itself, unlike the user's own
PROGRAMS = (".clean", ".smudge", ".process")  # of a `filter`: `git status` would run them


class CannotAsk(Exception):
    """git does not tell; the message says why."""


class GitState(NamedTuple):
    """What git says about a checkout."""

    branch: str | None  # None on no branch
    changed: tuple[str, ...]  # some of the files that differ from the last commit; none if nothing does


def read_state(folder: str, *, seconds: float) -> GitState:
    """The branch of a checkout and what is not committed; raises CannotAsk."""
    give_up = time.monotonic() + seconds
    _require_harmless(folder, give_up)
    status = ("status", "--porcelain=v2", "--branch", "-z", "--no-renames", "--ignore-submodules=all")
    lines = _ask(folder, *status, give_up=give_up).split(b"\0")
    head = next((line.removeprefix(b"# branch.head ") for line in lines if line.startswith(b"# branch.head ")), b"")
    changed = [_file_in(line) for line in lines if line and not line.startswith(b"# ")]
    branch = None if head in (b"", b"(detached)") else head.decode(errors="replace")
    return GitState(branch, tuple(os.fsdecode(name) for name in changed))


def _file_in(line: bytes) -> bytes:
    """The file that an entry of porcelain format 2 is about."""
    fields = {b"1": 8, b"u": 10}.get(line[:1], 1)
    return line.split(b" ", fields)[-1]


def _require_harmless(folder: str, give_up: float) -> None:
    listed = _ask(folder, "config", "--list", "--show-scope", "--name-only", "-z", give_up=give_up)
    fields = listed.split(b"\0")
    for scope, name in zip(fields[::2], fields[1::2], strict=False):
        setting = name.decode(errors="replace").lower()
        if scope.decode() in OWN_SCOPES and setting.startswith("filter.") and setting.endswith(PROGRAMS):
            raise CannotAsk(f"Its own git settings would run a program ({setting}); look yourself: git status")
    if len(listed) >= MOST_OUTPUT:
        raise CannotAsk("Its git settings are too many to be read.")


def _ask(folder: str, *arguments: str, give_up: float) -> bytes:
    """The beginning of what git prints."""
    command = ["git", *SAFE_OPTIONS, "-C", folder, *arguments]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(folder),
            start_new_session=True,  # so that whatever it starts ends with it
        )
    except OSError as error:
        raise CannotAsk(f"git cannot be run ({error.strerror}).") from error
    try:
        output, is_whole = _read(process, give_up)
    finally:
        _end(process)
    if is_whole and process.returncode != 0:
        raise CannotAsk("git does not take it for a checkout, or may not read it.")
    return output


def _read(process: "subprocess.Popen[bytes]", give_up: float) -> tuple[bytes, bool]:
    """What it printed, and whether that is all of it."""
    assert process.stdout is not None
    output, waiting = b"", select.poll()
    waiting.register(process.stdout, select.POLLIN)
    while len(output) < MOST_OUTPUT:
        left = give_up - time.monotonic()
        if left <= 0 or not waiting.poll(left * 1000):
            raise CannotAsk("git took too long.")
        piece = os.read(process.stdout.fileno(), MOST_OUTPUT)
        if not piece:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, give_up - time.monotonic()))
            return output, True
        output += piece
    return output, False


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # a file system that does not answer keeps it for ever
            process.wait(ENDED_WITHIN)
    assert process.stdout is not None
    process.stdout.close()


def _environment(folder: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "GIT_CEILING_DIRECTORIES": os.path.dirname(folder),  # a folder around it is another checkout
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }
