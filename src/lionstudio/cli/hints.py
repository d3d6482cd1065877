"""What to type next: a hint names the database that the command was pointed at, and never a password."""

import os
import re
from collections.abc import Sequence
from shlex import quote

from lionstudio.domain.addresses import without_password

COMMAND = re.compile(
    r"\bli (?=(?:agents|fanout|flow|play|playbooks|runs|state|studio|team) )"
    r"(?!\S+ (?:\S+ )?--(?:db|help))"  # which name a database themselves, or need none
)


def name_database(hint: str, db: str | None) -> str:
    """The hint, with the database that was named in every command: without it, that would go to the usual one."""
    if db is None:
        return hint
    named = f"li --db {quote(without_password(db) if '://' in db else _absolute(db))} "
    return COMMAND.sub(lambda _: named, hint)


def find_database(words: Sequence[str]) -> str | None:
    """The database that was named in what was typed."""
    found, waiting = None, False
    for word in words:
        if word == "--" and not waiting:
            break
        if waiting or word.startswith("--db="):
            found = word if waiting else word.removeprefix("--db=")
        waiting = word == "--db" and not waiting
    return found


def _absolute(path: str) -> str:
    """The same file wherever the hint is typed."""
    try:
        return os.path.abspath(os.path.expanduser(path))
    except FileNotFoundError:  # the working directory was deleted
        return path
