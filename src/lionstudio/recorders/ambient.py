"""Which run are we in? Told to child processes by the environment, and to nested runs by their context."""

import os
import threading
from contextlib import suppress
from contextvars import ContextVar, Token
from itertools import pairwise

from lionstudio.domain.conversation import Line

SESSION_VARIABLE = "LIONAGI_SESSION_ID"
BRANCH_VARIABLE = "LIONAGI_BRANCH_ID"
# What else a child may be told: who it is, its team, its show, and the database that was named.
AGENT_VARIABLE, TEAM_VARIABLE, DB_VARIABLE = "LIONAGI_AGENT", "LIONAGI_TEAM", "LIONAGI_DB"
TOPIC_VARIABLE, PLAY_VARIABLE = "LIONAGI_SHOW_TOPIC", "LIONAGI_SHOW_PLAY"

_current: ContextVar[str | None] = ContextVar("lionstudio_session", default=None)
_lock = threading.Lock()
_active: list[tuple[Line, str | None]] = []  # runs of this process, with their parents
_outside: dict[str, str | None] = {}  # what the environment said before the first of them


def parent_session_id() -> str | None:
    """The run that a run started now belongs to: the one around it, else the one that started this process."""
    around = _current.get()
    with _lock:
        if any(line.session_id == around for line, _ in _active):  # not one that was ended in another context
            return around
        return _outside[SESSION_VARIABLE] if _outside else os.environ.get(SESSION_VARIABLE)


def child_variables(line: Line) -> dict[str, str]:
    """What a child process of this run is told."""
    return {SESSION_VARIABLE: line.session_id, BRANCH_VARIABLE: line.branch_id}


def enter(line: Line, parent: str | None) -> Token[str | None]:
    """From now on new runs in this context, and child processes, belong to this run."""
    with _lock:
        if not _active:
            _outside.update({name: os.environ.get(name) for name in (SESSION_VARIABLE, BRANCH_VARIABLE)})
        _active.append((line, parent))
        _tell_children()
    return _current.set(line.session_id)


def leave(line: Line, token: Token[str | None] | None) -> None:
    with _lock:
        _active[:] = [(active, parent) for active, parent in _active if active != line]
        _tell_children()
        if not _active:
            _outside.clear()
    if token is not None:
        with suppress(ValueError):  # left in another context than it was entered in: that one ends by itself
            _current.reset(token)


def _tell_children() -> None:
    # The environment belongs to the whole process: it can name a run only while each active run is inside the one
    # before it. Runs side by side would be told to the wrong children.
    nested = all(child[1] == parent[0].session_id for parent, child in pairwise(_active))
    told = child_variables(_active[-1][0]) if _active and nested else _outside
    for name, value in told.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
