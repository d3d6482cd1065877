"""Runs of several agents for tests: files that ask for them, agents that are scripts, commands that are processes."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from lionstudio.domain.session import Session
from lionstudio.services.context import Context
from lionstudio.services.session_list import list_sessions
from tests.cli.conftest import Answer

DEADLINE = 60.0
ECHO = "exec/cat"  # an agent that answers with what it is asked


def type_li(*words: str, stdin: str | None = None, **variables: str) -> Answer:
    """A command as a process of its own; without text there is nothing to read."""
    ended = subprocess.run(
        [sys.executable, "-m", "lionstudio", *words],
        stdin=subprocess.DEVNULL if stdin is None else None,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env={**os.environ, **variables},
    )
    return Answer(ended.returncode, ended.stdout, ended.stderr)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def agent(path: Path, script: str) -> str:
    """The model of an agent that is a shell script."""
    return f"exec/sh {write(path, script)}"


def runs(ctx: Context) -> list[Session]:
    """What is recorded, oldest first."""
    return sorted(list_sessions(ctx).items, key=lambda session: session.created_at)
