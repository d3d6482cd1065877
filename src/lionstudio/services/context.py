"""What every use case is given: the database, the clock and a source of ids."""

from __future__ import annotations

import os
import sys
import time
from functools import wraps

from lionstudio.domain.errors import ForeignDatabase
from lionstudio.store.open import open_database
from lionstudio.store.transaction import Undone

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    from lionstudio.domain.conversation import Line
    from lionstudio.settings import Settings
    from lionstudio.store.database import Database

    P = ParamSpec("P")
    R = TypeVar("R")

TRIES = 5  # of a use case that another one got in the way of

VARIANT = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))  # a random digit with the two bits of a UUID's variant


def new_id() -> str:
    """A random UUID that sorts by its time (version 7), to a quarter of a microsecond: new rows go to the end."""
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    at, random = f"{milliseconds:012x}{rest * 4096 // 1_000_000:03x}", os.urandom(8).hex()
    return f"{at[:8]}-{at[8:12]}-7{at[12:]}-{VARIANT[random[0]]}{random[1:4]}-{random[4:]}"


def new_line(session_id: str | None = None) -> Line:
    """Ids for a new branch, and for a new session around it where none is given."""
    from lionstudio.domain.conversation import Line  # opening a database does not need it, and must be quick

    return Line(session_id or new_id(), new_id(), new_id(), new_id())


class Context:
    """Given to every use case, so that tests own the clock and the ids."""

    __slots__ = ("db", "new_id", "now")

    def __init__(self, db: Database, now: Callable[[], float] = time.time, new_id: Callable[[], str] = new_id) -> None:
        self.db = db
        self.now = now
        self.new_id = new_id


def again_if_undone(use_case: Callable[P, R]) -> Callable[P, R]:
    """A use case that is tried again when the database undid it: two that wait for each other, one of which must go."""

    @wraps(use_case)
    def patient(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(TRIES - 1):
            try:
                return use_case(*args, **kwargs)
            except Undone:
                continue
        return use_case(*args, **kwargs)

    return patient


def open_context(settings: Settings, *, create: bool = True) -> Context:
    """Open the database that the settings name, creating it if it may; raises Unavailable.

    When only the default path holds another program's database, ours is the file beside it.
    """
    return Context(_open(settings, create=create))


def _open(settings: Settings, *, create: bool) -> Database:
    backups = os.path.join(settings.home_folder, "backups")
    try:
        return open_database(settings.db, create=create, synchronous=settings.synchronous, backups=backups)
    except ForeignDatabase as error:
        if not settings.db_is_default:
            raise
        beside = os.path.join(settings.home_folder, "lionstudio.db")
        _say_once(
            beside, f"{error.message} Using {beside} instead. To bring its runs in: li state import-db {settings.db}"
        )
        return open_database(beside, create=create, synchronous=settings.synchronous, backups=backups)


def _say_once(beside: str, sentence: str) -> None:
    if not os.path.exists(beside):
        print(f"lionstudio: {sentence}", file=sys.stderr)  # noqa: T201  said by whoever opens, CLI or SDK
